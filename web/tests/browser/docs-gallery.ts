/** Takes the pictures of docs/gallery.md: every view of the page, a report and a comparison, in both themes. */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, test } from 'vitest';
import { desk, longhaul, root, type Desk } from './server';

const into = process.env['PICTURES'] ?? join(root, 'docs/images/gallery');
const patience = { timeout: 60_000 };
const ATLANTIC = `version: 1
name: atlantic
duration: 30s
params: {cc: cubic}
profiles:
  lan: {delay: 30us, rate: 1Gbit}
nodes:
  paris: {kind: router, at: [48.85, 2.35]}
  amsterdam: {kind: router, at: [52.37, 4.9]}
  newyork: {kind: router, at: [40.71, -74.01]}
  par1..3: {kind: host, attach: paris, profile: lan}
  ams1..2: {kind: host, attach: amsterdam, profile: lan}
  nyc1..3: {kind: host, attach: newyork, profile: lan}
links:
  par-nyc: {endpoints: [paris, newyork], delay: 38ms, rate: 50Mbit, loss: 0.01%, queue: {limit: 1bdp}}
  par-ams: {endpoints: [paris, amsterdam], delay: 5ms, rate: 100Mbit, queue: {limit: 1bdp}}
  ams-nyc: {endpoints: [amsterdam, newyork], delay: 42ms, rate: 20Mbit}
traffic:
  backup: {kind: tcp, from: par1, to: nyc1, flows: 2, cc: $cc, start: 1s}
  copy: {kind: tcp, from: ams1, to: nyc2, cc: $cc, start: 4s}
  mirror: {kind: tcp, from: par2, to: ams2, cc: $cc, start: 8s, stop: 20s}
  probe: {kind: ping, from: par3, to: nyc3, every: 100ms}
events:
  - {at: 15s, link: par-nyc, set: {rate: 25Mbit}}
measure: {every: 100ms}
sweep: {axes: {cc: [cubic, reno, bbr], links.par-nyc.loss: [0%, 0.01%, 0.1%, 1%]}, repeat: 3}
`;
/** Round trips and rates of ten minutes, with a slow swing, noise of a linear congruential sequence, and a burst. */
const EVENING = `t_s,rtt_ms,rate_mbit\n${Array.from({ length: 600 }, (_, t) => {
  const noise = ((t * 1103515245 + 12345) % 2147483648) / 2147483648;
  const burst = t > 330 && t < 372 ? 40 : 0;
  return `${t},${(76 + 9 * Math.sin(t / 70) + 6 * noise ** 3 + burst).toFixed(2)},${(48 - 12 * Math.sin(t / 70) - 5 * noise - burst / 2).toFixed(2)}`;
}).join('\n')}\n`;

let here: Desk;

beforeAll(async () => {
  mkdirSync(into, { recursive: true });
  here = await desk([], (folder) => {
    writeFileSync(join(folder, 'atlantic.yaml'), ATLANTIC);
    writeFileSync(join(folder, 'atlantic-evening.csv'), EVENING);
    cpSync(join(root, 'scenarios/relay.yaml'), join(folder, 'relay.yaml'));
    cpSync(join(root, 'studies/longcut'), join(folder, 'studies/longcut'), { recursive: true });
    cpSync(join(root, 'studies/studies.toml'), join(folder, 'studies/studies.toml'));
    cpSync(join(root, 'docs/images'), join(folder, 'docs/images'), { recursive: true });
  });
  const run = (...words: string[]): unknown =>
    execFileSync(longhaul, words, { cwd: here.folder, stdio: ['ignore', 'ignore', 'inherit'] });
  for (const cc of ['cubic', 'reno'])
    for (const seed of ['1', '2', '3'])
      run('sim', 'atlantic.yaml', '--set', `cc=${cc}`, '--seed', seed, '--runs', `runs-${cc}`);
  for (const cc of ['cubic', 'reno', 'bbr']) run('sim', 'atlantic.yaml', '--set', `cc=${cc}`);
  run('sweep', 'atlantic.yaml');
  const both = ['runs-cubic/atlantic', 'runs-reno/atlantic'];
  run('report', '--compare', ...both, '--output', 'comparison.html');
}, 300_000);
afterAll(() => here.end());

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

async function open(page: Page, name: string): Promise<void> {
  await page.keyboard.press('Control+o');
  await page.locator('dialog').getByRole('button', { name }).first().click();
  await page.locator('dialog').waitFor({ state: 'detached' });
  await page.getByRole('link', { name: 'Edit', exact: true }).focus();
}

/** The simulated runs of the list. */
const rowsOf = (page: Page): Locator =>
  page
    .locator('.runs table')
    .first()
    .locator('tbody tr')
    .filter({ hasText: /sim(passed|\s)/ });

/** What each picture shows, one after another on one page; each begins where the one before has ended. */
const VIEWS: Record<string, (page: Page) => Promise<void>> = {
  edit: async (page) => {
    await open(page, 'atlantic');
    await page.locator('[data-id="l:par-nyc"]').first().click({ force: true });
    await page.getByRole('tab', { name: 'Selected' }).click();
  },
  run: async (page) => {
    await page.keyboard.press('Escape');
    await page.getByRole('link', { name: 'Run', exact: true }).click();
    await page.getByRole('button', { name: 'Live', exact: true }).click();
    await page.getByRole('button', { name: /^Start/ }).click();
    await page.locator('.status').getByText('running', { exact: true }).waitFor(patience);
    await pause(17_000);
  },
  runs: async (page) => {
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.getByRole('button', { name: 'Report', exact: true }).waitFor(patience);
    await page.getByRole('link', { name: 'Runs', exact: true }).click();
    await rowsOf(page).first().locator('.name').click();
    await page.getByRole('button', { name: 'Charts' }).waitFor(patience);
  },
  compare: async (page) => {
    const rows = rowsOf(page);
    for (const at of [0, 1, 2]) await rows.nth(at).getByRole('checkbox').check();
    await page.getByRole('heading', { name: 'Comparison' }).waitFor(patience);
    await page.locator('.uplot canvas').first().waitFor(patience);
  },
  sweep: async (page) => {
    await page.locator('table', { hasText: 'variants' }).locator('.name').first().click();
    await page.getByRole('heading', { name: 'Sweep atlantic' }).waitFor(patience);
  },
  transfers: async (page) => {
    await page.getByRole('link', { name: 'Transfers', exact: true }).click();
    await page.getByText('requests served').waitFor(patience);
  },
  studies: async (page) => {
    await page.getByRole('link', { name: 'Studies', exact: true }).click();
    await page.getByRole('link', { name: 'longcut' }).click();
    await page.getByText('21 of 21 claims').waitFor(patience);
  },
  machines: async (page) => {
    await page.getByRole('link', { name: 'Machines', exact: true }).click();
    await page.getByRole('button', { name: 'Check', exact: true }).click();
    await page.getByRole('rowheader', { name: 'self-test' }).waitFor(patience);
  },
  traces: async (page) => {
    await page.getByRole('link', { name: 'Traces', exact: true }).click();
    await page.getByRole('button', { name: 'atlantic-evening.csv', exact: true }).click();
    await page.locator('.uplot canvas').first().waitFor(patience);
  },
  relay: async (page) => {
    await page.getByRole('link', { name: 'Edit', exact: true }).click();
    await open(page, 'relay.yaml');
    await page.getByRole('link', { name: 'Relay', exact: true }).click();
    await page.getByRole('button', { name: 'Start', exact: true }).click();
    await page.getByRole('button', { name: 'Stop the relay' }).waitFor(patience);
    await pause(1000);
  },
};
/** A file, and the heading that its picture begins with. */
const FILES: Record<string, [string, string]> = {
  report: ['runs-cubic/atlantic/latest/report.html', 'Throughput over time'],
  comparison: ['comparison.html', 'Over time'],
};

for (const colorScheme of ['light', 'dark'] as const) {
  const size = { viewport: { width: 1280, height: 800 }, colorScheme };
  const path = (name: string): string => join(into, `${name}-${colorScheme}.png`);

  test(`every view of the page, ${colorScheme}`, async () => {
    const page = await here.page(size);
    for (const [name, show] of Object.entries(VIEWS)) {
      await show(page);
      await pause(800);
      await page.screenshot({ path: path(name) });
    }
    await page.getByRole('button', { name: 'Stop the relay' }).click();
    await page.getByRole('status').getByText('passed').first().waitFor(patience);
    await page.context().close();
  }, 400_000);

  test(`the files that people share, ${colorScheme}`, async () => {
    const context = await here.browser.newContext(size);
    const page = await context.newPage();
    for (const [name, [file, at]] of Object.entries(FILES)) {
      await page.goto(`file://${join(here.folder, file)}`);
      const heading = page.getByRole('heading', { name: at, exact: true });
      await heading.evaluate((element) => element.scrollIntoView());
      await page.locator('.chart.drawn canvas').first().waitFor(patience);
      await pause(800);
      await page.screenshot({ path: path(name) });
    }
    await context.close();
  });
}
