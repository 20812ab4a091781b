/** Machines on the page: checks with remedies, calibration as a job. */
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { axe } from './axe';
import { desk, type Desk } from './server';

const patience = { timeout: 60_000 };
let here: Desk;
beforeAll(async () => {
  here = await desk();
});
afterAll(() => here.end());

async function look(page: Page, name: string): Promise<void> {
  const folder = process.env['PICTURES'];
  if (folder) await page.screenshot({ path: join(folder, `${name}.png`) });
}

for (const colorScheme of ['light', 'dark'] as const)
  test(`a check has findings with remedies to copy, ${colorScheme}`, async () => {
    const page = await here.page({ colorScheme });
    await page.keyboard.press('6');
    await page.getByRole('button', { name: 'Check', exact: true }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('rowheader', { name: 'self-test' }).waitFor(patience);
    await page.getByRole('button', { name: 'Copy: longhaul doctor' }).waitFor();
    expect(await axe(page)).toEqual([]);
    for (const width of [800, 1440, 2560]) {
      await page.setViewportSize({ width, height: width === 2560 ? 1440 : 900 });
      await look(page, `machine-${width}-${colorScheme}`);
    }
    await page.context().close();
  });

test('a calibration shows its steps and the time that is left, and is stopped', async () => {
  const page = await here.page();
  await page.keyboard.press('6');
  await page.getByRole('button', { name: /^Calibrate/ }).click();
  const job = page.getByRole('region', { name: 'calibration' });
  await job.getByText(/about .* left/).waitFor(patience);
  expect(await axe(page)).toEqual([]);
  await look(page, 'machine-calibrating');
  await page.reload();
  await job.getByRole('button', { name: 'Stop' }).click();
  await job.getByRole('status').getByText('stopped').waitFor(patience);
  await page.context().close();
});

test('the page Run says what to expect before the start', async () => {
  const page = await here.page();
  await page.keyboard.press('Control+o');
  await page.locator('dialog').getByRole('button', { name: 'three-clusters' }).first().click();
  await page.locator('dialog').waitFor({ state: 'detached' });
  await page.getByRole('link', { name: 'Run', exact: true }).click();
  await page.getByText(/expected .*: RTT/).waitFor(patience);
  await look(page, 'run-expected');
  await page.context().close();
});
