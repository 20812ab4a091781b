/** Export on the page: the mapping in a table, files of every format, and the download. */
import { execFileSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { axe } from './axe';
import { desk, type Desk } from './server';

const patience = { timeout: 60_000 };
const SCENARIO = `version: 1
name: ocean
duration: 10s
nodes:
  par: {kind: router}
  nyc: {kind: router}
  par1..2: {kind: host, attach: par}
  nyc1: {kind: host, attach: nyc}
links:
  wan: {endpoints: [par, nyc], delay: 38ms, rate: 100Mbit, loss: 0.1%}
traffic:
  bulk: {kind: tcp, from: par1, to: nyc1}
`;
let here: Desk;
beforeAll(async () => {
  here = await desk([], (folder) => writeFileSync(join(folder, 'ocean.yaml'), SCENARIO));
});
afterAll(() => here.end());

async function look(page: Page, name: string): Promise<void> {
  const folder = process.env['PICTURES'];
  if (folder) await page.screenshot({ path: join(folder, `${name}.png`) });
}
async function opened(colorScheme: 'light' | 'dark' = 'light'): Promise<Page> {
  // With one file alone, that one is open.
  rmSync(join(here.folder, 'machines.yaml'), { force: true });
  const page = await here.page({ colorScheme });
  await page.keyboard.press('6');
  await page.getByRole('tab', { name: 'Export to real machines' }).click();
  await page.getByLabel('address of par', { exact: true }).waitFor(patience);
  return page;
}

for (const colorScheme of ['light', 'dark'] as const)
  test(`nodes are mapped to machines by keyboard, with errors where they are, ${colorScheme}`, async () => {
    const page = await opened(colorScheme);
    for (const [at, name] of ['par', 'nyc', 'par1', 'par2', 'nyc1'].entries()) {
      await page.getByLabel(`address of ${name}`, { exact: true }).fill(`192.0.2.${at + 1}`);
      await page.keyboard.press('Enter');
    }
    await page.getByLabel('device of par at wan').fill('eth5 wrong');
    await page.keyboard.press('Enter');
    await page.getByText('is not a name of a network device').waitFor(patience);
    expect(await axe(page)).toEqual([]);
    for (const width of [800, 1440, 2560]) {
      await page.setViewportSize({ width, height: width === 2560 ? 1440 : 900 });
      await look(page, `export-${width}-${colorScheme}`);
    }
    await page.getByLabel('device of par at wan').fill('eth5');
    await page.keyboard.press('Enter');
    await expect
      .poll(() => page.getByRole('region', { name: 'Text of par.sh' }).textContent(), patience)
      .toContain('eth5');
    await page.getByLabel('Give a link a machine of its own').selectOption('wan');
    await page.getByLabel('device of wan at nyc').waitFor(patience);
    await page.getByRole('button', { name: 'Remove the machine of wan' }).click();
    await page.getByLabel('device of wan at nyc').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Save machines.yaml' }).click();
    await expect
      .poll(() => page.getByRole('button', { name: 'Save machines.yaml' }).isDisabled(), patience)
      .toBe(true);
    expect(readFileSync(join(here.folder, 'machines.yaml'), 'utf8')).toContain('192.0.2.5');
    await page.context().close();
  });

test('every format has its files, and all files are downloaded as one', async () => {
  const page = await opened();
  for (const [kind, name] of [
    ['tc', 'par.tc'],
    ['ansible', 'up.yaml'],
    ['containerlab', 'ocean.clab.yml'],
    ['shell', 'par.sh'],
  ] as const) {
    await page.getByLabel('format').selectOption(kind);
    await page.getByRole('group', { name: 'Files' }).getByRole('button', { name }).waitFor(patience);
    expect(await axe(page)).toEqual([]);
  }
  const [got] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: /^Download/ }).click(),
  ]);
  const files = execFileSync('tar', ['tzf', (await got.path())!]).toString();
  expect(files.split('\n')).toContain('ocean-shell/par.sh');
  await page.context().close();
});
