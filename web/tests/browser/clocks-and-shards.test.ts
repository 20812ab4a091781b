/** The virtual clock without a kernel, shards on the map, and runs that were divided, real ones, in the results. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { axe } from './axe';
import { desk, type Desk } from './server';

const patience = { timeout: 60_000 };
const SCENARIO = `version: 1
name: chain
duration: 1s
nodes:
  par: {kind: router, at: [48.85, 2.35]}
  ams: {kind: router, at: [52.37, 4.90]}
  nyc: {kind: router, at: [40.71, -74.01]}
  par1..2: {kind: host, attach: par}
  ams1: {kind: host, attach: ams}
  nyc1..2: {kind: host, attach: nyc}
links:
  near: {endpoints: [par, ams], rate: 50Mbit, delay: 5ms}
  far: {endpoints: [ams, nyc], rate: 50Mbit, delay: 40ms}
traffic:
  probe: {kind: ping, from: par1, to: nyc1, every: 20ms}
  load: {kind: udp, from: nyc2, to: par2, rate: 2Mbit}
`;

let here: Desk;
let page: Page;
const before = { cache: process.env['XDG_CACHE_HOME'] };
const cache = mkdtempSync(join(tmpdir(), 'longhaul-cache-'));
beforeAll(async () => {
  // A user without guest kernels.
  process.env['XDG_CACHE_HOME'] = cache;
  here = await desk([], (folder) => writeFileSync(join(folder, 'chain.yaml'), SCENARIO));
  page = await here.page();
});
afterAll(async () => {
  await here.end();
  rmSync(cache, { recursive: true });
  if (before.cache === undefined) delete process.env['XDG_CACHE_HOME'];
  else process.env['XDG_CACHE_HOME'] = before.cache;
});

/** Light and dark, and what axe finds in both. */
async function look(name: string): Promise<void> {
  const folder = process.env['PICTURES'];
  for (const colorScheme of ['dark', 'light'] as const) {
    await page.emulateMedia({ colorScheme });
    await new Promise((resolve) => setTimeout(resolve, 150));
    expect(await axe(page), `${name}, ${colorScheme}`).toEqual([]);
    if (folder) await page.screenshot({ path: join(folder, `${name}-${colorScheme}.png`) });
  }
}
const rows = (table: string): Promise<string[]> =>
  page
    .locator(table)
    .evaluateAll((all) =>
      all.map((each) =>
        [...each.children].map((cell) => cell.textContent!.replace(/\s+/g, ' ').trim()).join(' '),
      ),
    );

test('without a guest kernel the virtual clock says what is missing and how to build one', async () => {
  await page.keyboard.press('2');
  await page.getByRole('button', { name: 'Virtual', exact: true }).click();
  const panel = page.getByRole('region', { name: 'Hosts on the virtual clock' });
  await panel.getByText('This user has no guest kernel').waitFor(patience);
  await panel.getByRole('button', { name: 'Copy: longhaul kernel build' }).waitFor();
  await panel.getByText(/16 min of CPU time, and 3 GB of disk space/).waitFor();
  expect(await page.getByRole('button', { name: 'Start', exact: true }).isDisabled()).toBe(true);
  await page.getByText('build one with: longhaul kernel build').waitFor(patience);
  await look('virtual-clock');
});

test('the page Edit shows shards on the map with cuts, lookahead and the expected speed-up', async () => {
  await page.keyboard.press('1');
  await page.getByRole('tab', { name: 'Shards' }).click();
  await page.getByLabel('shards', { exact: true }).fill('2');
  await page.getByText(/Expected speed-up on 2 free CPU cores: [\d.]+/).waitFor(patience);
  const names = await page
    .locator('.map g.node')
    .evaluateAll((all) => all.map((each) => each.getAttribute('aria-label')));
  expect(names).toHaveLength(8);
  for (const [node, shard] of Object.entries({
    'router par': 0,
    'router ams': 0,
    'router nyc': 1,
    'host nyc2': 1,
  }))
    expect(names.find((name) => name!.startsWith(node))).toMatch(new RegExp(`, shard ${shard}$`));
  const cut = page.locator('[data-id="l:far"]');
  expect(await cut.getAttribute('aria-label')).toMatch(/cut between shards$/);
  expect(await page.locator('[data-id="l:near"]').getAttribute('aria-label')).not.toContain('cut');
  // 40 ms, and the time to send the smallest packet.
  expect((await rows('#panel-body table tbody tr')).at(-1)).toMatch(/^far 40 ms [\d,]+$/);
  await look('shards-edit');
  await page.getByLabel('shards', { exact: true }).fill('99');
  await page.getByText('links that can be cut divide the network into fewer parts').waitFor(patience);
  await page.getByLabel('shards', { exact: true }).fill('none');
  await page.getByText('Write a number from 1 to 1024, or auto.').waitFor();
  await page.getByLabel('shards', { exact: true }).fill('2');
});

async function runAndLook(button: string): Promise<void> {
  await page.getByRole('button', { name: button }).click();
  expect(await page.locator('#run-shards').inputValue()).toBe('2');
  await page.getByRole('button', { name: /^Start|^Run again/ }).click();
  await page.getByRole('button', { name: 'Report' }).waitFor(patience);
  await page.keyboard.press('3');
  await page.locator('.runs .name').first().click();
}

test('a simulation in two shards shows them in its results', async () => {
  await page.getByRole('button', { name: 'Simulation' }).click();
  await page.getByText(/Expected speed-up/).waitFor(patience);
  await runAndLook('Simulate with 2 shards');
  await page.getByText(/^simulated clock: 1 s in .* in 2 shards, .* digest [0-9a-f]+$/).waitFor(patience);
  const part = page.getByRole('region', { name: 'Shards of the simulation' });
  await part.locator('[data-id="n:nyc1"][aria-label$="shard 1"]').waitFor(patience);
  expect(await rows('.divided table:nth-of-type(1) tbody tr')).toEqual([
    '0: shard-0 5: par, ams, par1, par2, ams1',
    '1: shard-1 3: nyc, nyc1, nyc2',
  ]);
});

test('a live run of two engine threads shows the fidelity of each thread and of the cut', async (context) => {
  await page.keyboard.press('2');
  const live = page.getByRole('button', { name: 'Live', exact: true });
  if (await live.isDisabled()) return context.skip('live runs do not work here');
  await live.click();
  await page.keyboard.press('1');
  await page.getByRole('tab', { name: 'Shards' }).click();
  await page.getByRole('button', { name: 'Live run' }).click();
  await page.getByText('2 engine threads, each with').waitFor(patience);
  await runAndLook('Run with 2 shards');
  const part = page.getByRole('region', { name: 'Engine threads' });
  await part.getByText('lateness p50').waitFor(patience);
  const [threads, crossings] = [
    await rows('.divided table:nth-of-type(1) tbody tr'),
    await rows('.divided table:nth-of-type(2) tbody tr'),
  ];
  expect(threads).toHaveLength(2);
  for (const row of threads) expect(row).toMatch(/ \d+ [\d.]+ [nµm]?s [\d.]+ [nµm]?s [\d.]+ %$/);
  expect(crossings).toHaveLength(2);
  for (const row of crossings) expect(row).toMatch(/^shard-\d → shard-\d far \d+ \d+ \d+/);
  await look('shards-results');
});
