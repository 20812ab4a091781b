/** Takes a picture of every view in both themes and two widths, into the folder that PICTURES names, for somebody to look at. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, test } from 'vitest';
import { desk, longhaul, root, type Desk } from './server';

const into = process.env['PICTURES'] ?? 'pictures';
const DUMBBELL = `version: 1
name: dumbbell
duration: 40s
params: {cc: cubic, wan_loss: 0.01%}
profiles:
  lan: {delay: 30us, rate: 1Gbit}
nodes:
  par: {kind: router, at: [48.85, 2.35]}
  ams: {kind: router, at: [52.37, 4.9]}
  nyc: {kind: router, at: [40.71, -74.01]}
  par1..3: {kind: host, attach: par, profile: lan}
  ams1..2: {kind: host, attach: ams, profile: lan}
  nyc1..3: {kind: host, attach: nyc, profile: lan}
links:
  par-nyc: {endpoints: [par, nyc], delay: 38ms, rate: 50Mbit, loss: $wan_loss, queue: {limit: 1bdp}}
  par-ams: {endpoints: [par, ams], delay: 5ms, rate: 100Mbit, queue: {limit: 1bdp}}
  ams-nyc: {endpoints: [ams, nyc], delay: 42ms, rate: 20Mbit}
traffic:
  backup: {kind: tcp, from: par1, to: nyc1, flows: 2, cc: $cc, start: 1s, stop: 34s}
  copy: {kind: tcp, from: ams1, to: nyc2, cc: $cc, start: 4s}
  mirror: {kind: tcp, from: par2, to: ams2, cc: $cc, start: 8s, stop: 26s}
  probe: {kind: ping, from: par3, to: nyc3, every: 100ms}
events:
  - {at: 20s, link: par-nyc, set: {rate: 25Mbit}}
measure: {every: 100ms}
expect:
  - {metric: fidelity.lateness.p99, max: 5ms}
`;
const FILES: Record<string, string> = {
  'dumbbell.yaml': DUMBBELL,
  'hundred.yaml': `version: 1
name: hundred
duration: 10s
topology: {kind: waxman, routers: 50, seed: 7}
`,
  'wrong.yaml': DUMBBELL.replace('delay: 38ms', 'delay: 38').replace('queue: {limit: 1bdp}}', 'qeue: 3}'),
  'sweep.yaml': `${DUMBBELL.replace('name: dumbbell', 'name: models').replace('duration: 40s', 'duration: 10s')}sweep: {axes: {cc: [cubic, reno, bbr], wan_loss: [0%, 0.01%, 0.1%, 1%]}, repeat: 3}
`,
};
FILES['long.yaml'] = FILES['sweep.yaml']!.replace('name: models', 'name: long').replace(
  'repeat: 3',
  'repeat: 200',
);

let here: Desk;
beforeAll(async () => {
  mkdirSync(into, { recursive: true });
  here = await desk();
  for (const [name, text] of Object.entries(FILES)) writeFileSync(join(here.folder, name), text);
  const run = (...words: string[]): unknown =>
    execFileSync(longhaul, words, { cwd: here.folder, stdio: ['ignore', 'ignore', 'inherit'] });
  for (const cc of ['cubic', 'reno', 'bbr']) run('sim', 'dumbbell.yaml', '--set', `cc=${cc}`);
  run('sweep', 'sweep.yaml');
  const cases = join(root, 'scenarios/transfers');
  run(
    ...[
      'transfer',
      'run',
      join(cases, 'two-sites-requests.yaml'),
      '--scenario',
      join(cases, 'two-sites.yaml'),
    ],
    ...['--policy', 'fair', '--sim'],
  );
}, 600_000);
afterAll(() => here.end());

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

for (const width of [1440, 800])
  for (const colorScheme of ['light', 'dark'] as const) {
    const look = async (page: Page, name: string): Promise<void> => {
      await pause(500);
      await page.screenshot({ path: join(into, `${name}-${width}-${colorScheme}.png`) });
    };
    const opened = (): Promise<Page> =>
      here.page({ viewport: { width, height: width > 1000 ? 900 : 700 }, colorScheme });
    const open = async (page: Page, name: string): Promise<void> => {
      await page.keyboard.press('Control+o');
      await page.locator('dialog').getByRole('button', { name }).first().click();
      await page.locator('dialog').waitFor({ state: 'detached' });
      await page.getByRole('link', { name: 'Edit' }).focus();
    };

    describe(`${width} ${colorScheme}`, () => {
      test('Edit and its dialogs', async () => {
        const page = await opened();
        await open(page, 'Empty page');
        await look(page, 'edit-empty');
        await page.keyboard.press('?');
        await page.getByRole('heading', { name: 'Keys' }).waitFor();
        await look(page, 'help');
        await page.keyboard.press('Escape');
        await page.locator('dialog').waitFor({ state: 'detached' });
        await page.keyboard.press('Control+o');
        await page.getByRole('heading', { name: 'Open' }).waitFor();
        await look(page, 'open');
        await page.keyboard.press('Escape');
        await page.locator('dialog').waitFor({ state: 'detached' });
        for (const name of ['dumbbell.yaml', 'hundred.yaml', 'wrong.yaml', 'three-clusters']) {
          await open(page, name);
          await look(page, `edit-${name.replace('.yaml', '')}`);
        }
        await page.getByRole('tab', { name: 'Traffic' }).click();
        await look(page, 'edit-traffic');
        if (width < 1180) {
          await page.getByRole('tab', { name: 'YAML' }).click();
          await look(page, 'edit-yaml');
        }
        await open(page, 'dumbbell.yaml');
        await page.getByRole('tab', { name: 'Selected' }).click();
        await page.locator('[data-id="l:par-nyc"]').first().click({ force: true });
        await look(page, 'edit-link');
        await page.locator('[data-id="n:par"]').first().click({ force: true });
        await look(page, 'edit-node');
        await page.context().close();
      });

      test('Run', async () => {
        const page = await opened();
        await open(page, 'wrong.yaml');
        await page.keyboard.press('2');
        await page.locator('.run').waitFor();
        await look(page, 'run-wrong');
        await page.keyboard.press('1');
        await open(page, 'long.yaml');
        await page.keyboard.press('2');
        await page.getByRole('button', { name: 'Sweep' }).click();
        await look(page, 'run-vary');
        await page.keyboard.press('Control+Enter');
        await page.getByRole('heading', { name: 'Sweep long' }).waitFor();
        await page.locator('.heat-map').first().waitFor({ timeout: 60_000 });
        await look(page, 'runs-sweep-running');
        await page.getByRole('button', { name: 'Stop' }).click();
        await page.getByText('stopped early').waitFor({ timeout: 60_000 });
        await page.keyboard.press('1');
        await open(page, 'dumbbell.yaml');
        await page.keyboard.press('2');
        await look(page, 'run-before');
        await page.getByRole('button', { name: 'Mixed' }).click();
        await page.getByRole('checkbox', { name: /^mirror/ }).check();
        await page.getByRole('checkbox', { name: /^mirror/, checked: true }).waitFor();
        await look(page, 'run-mixed');
        await page.getByRole('checkbox', { name: /^mirror/ }).uncheck();
        await page.getByText('Tick at least one').waitFor();
        await page.getByRole('button', { name: 'Live' }).click();
        await page.keyboard.press('Control+Enter');
        await page.locator('.status').getByText('running', { exact: true }).waitFor({ timeout: 60_000 });
        await pause(14_000);
        await look(page, 'run-live');
        await page.getByRole('tab', { name: /^probe/ }).click();
        await look(page, 'run-live-log');
        await page.getByRole('button', { name: 'Stop' }).click();
        await page.getByRole('button', { name: 'Report' }).waitFor({ timeout: 60_000 });
        await page.getByRole('tab', { name: 'Packets' }).click();
        await page.locator('.packets').getByText('not delivered').waitFor();
        await look(page, 'run-ended-packets');
        await page.getByRole('button', { name: 'Simulated' }).click();
        await page.keyboard.press('Control+Enter');
        await page.getByText('simulated', { exact: false }).first().waitFor();
        await look(page, 'run-sim');
        await page.getByRole('button', { name: 'Report' }).waitFor({ timeout: 60_000 });
        await page.getByRole('tab', { name: 'Messages' }).click();
        await pause(1500);
        await look(page, 'run-sim-ended');
        await page.locator('.charts').evaluate((element) => element.scrollTo(0, 100_000));
        await look(page, 'run-sim-ended-lower');
        await page.context().close();
      });

      test('Runs and Transfers', async () => {
        const page = await opened();
        await page.keyboard.press('3');
        const rows = page.locator('.runs table').first().locator('tbody tr');
        await rows.first().waitFor();
        await look(page, 'runs');
        await rows.first().locator('.name').click();
        await page.getByRole('button', { name: 'Charts' }).waitFor();
        await look(page, 'runs-one');
        await rows.filter({ hasText: 'live' }).first().locator('.name').click();
        await page.getByText('lateness').first().waitFor();
        await look(page, 'runs-live');
        await rows.first().locator('.name').click();
        for (const at of [1, 2, 3]) {
          await rows.nth(at).getByRole('checkbox').check();
          if (at === 2) continue;
          await page.getByRole('heading', { name: 'Comparison' }).waitFor();
          await look(page, `runs-compare-${at + 1}`);
        }
        await page.getByRole('button', { name: 'models' }).first().click();
        await page.getByRole('heading', { name: 'Sweep models' }).waitFor();
        await look(page, 'runs-sweep');
        await page.getByRole('button', { name: 'Charts' }).click();
        await look(page, 'runs-sweep-charts');
        await page.getByRole('button', { name: 'two-sites' }).first().click();
        await page.getByRole('heading', { name: /^Transfers, policy/ }).waitFor();
        await look(page, 'runs-transfers');
        await page.getByRole('button', { name: 'This machine' }).click();
        await page.getByRole('heading', { name: 'Certificate' }).waitFor();
        await look(page, 'runs-machine');
        await page.keyboard.press('4');
        await page.getByText('requests served').waitFor();
        await look(page, 'transfers');
        await page.getByLabel('policy').selectOption('serial-fcfs');
        await look(page, 'transfers-serial');
        await page.getByRole('button', { name: 'Text', exact: true }).click();
        await page.getByLabel('Requests, YAML or CSV').fill('version: 1\nrequests:\n  a: {from: x}\n');
        await page.getByRole('alert').waitFor();
        await look(page, 'transfers-wrong');
        await page.context().close();
      });
    });
  }

test('an empty directory', async () => {
  const bare = await desk();
  for (const width of [1440, 800]) {
    const page = await bare.page({ viewport: { width, height: 700 } });
    await page.keyboard.press('3');
    await page.getByText('No runs yet').waitFor();
    await page.screenshot({ path: join(into, `runs-none-${width}-light.png`) });
  }
  await bare.end();
});
