/** Transfers on the page: requests in a table, plans by every policy, and a run with planned beside executed. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { axe } from './axe';
import { desk, root, type Desk } from './server';

const REQUESTS = `# Two of them.
version: 1
requests:
  r1: {from: src1, to: sink1, volume: 20MB, deadline: 60s, max_rate: 20Mbit} # the first
  r2: {from: src2, to: sink2, volume: 20MB, deadline: 60s, max_rate: 20Mbit}
`;
const patience = { timeout: 60_000 };

let here: Desk;
beforeAll(async () => {
  here = await desk([], (folder) => {
    writeFileSync(join(folder, 'wanted.yaml'), REQUESTS);
    writeFileSync(
      join(folder, 'wan.yaml'),
      readFileSync(join(root, 'scenarios/transfers/two-sites.yaml'), 'utf8'),
    );
  });
});
afterAll(() => here.end());

async function opened(colorScheme: 'light' | 'dark' = 'light', width = 1440): Promise<Page> {
  const page = await here.page({ colorScheme, viewport: { width, height: 900 } });
  await page.getByRole('link', { name: 'Transfers' }).click();
  await page.getByText('requests served').waitFor(patience);
  await page.getByLabel('requests', { exact: true }).selectOption('wanted.yaml');
  await page.getByLabel('network').selectOption({ label: 'scenario: wan.yaml' });
  await page.getByText('2 of 2 requests served').waitFor(patience);
  return page;
}

async function look(page: Page, name: string): Promise<void> {
  const folder = process.env['PICTURES'];
  if (folder) await page.screenshot({ path: join(folder, `${name}.png`) });
}

test('requests are edited in the table by keyboard, with errors where they are, and saved', async () => {
  const page = await opened();
  const volume = page.getByLabel('volume of r1');
  await volume.fill('20');
  await page.keyboard.press('Enter');
  await page.getByText('"20" has no unit').waitFor(patience);
  expect(await volume.getAttribute('aria-invalid')).toBe('true');
  expect(await axe(page)).toEqual([]);
  await look(page, 'transfers-wrong-cell');
  await volume.fill('40MB');
  await page.keyboard.press('Tab');
  await expect.poll(() => volume.getAttribute('aria-invalid'), patience).toBe('false');
  // What only the network can know stands at its cell, too.
  await page.getByLabel('to of r2').fill('nowhere');
  await page.keyboard.press('Enter');
  await expect.poll(() => page.getByLabel('to of r2').getAttribute('aria-invalid'), patience).toBe('true');
  await page.getByRole('button', { name: 'Undo' }).click();
  await expect.poll(() => page.getByLabel('to of r2').inputValue(), patience).toBe('sink2');
  await page.getByRole('button', { name: 'Add a request' }).click();
  await page.getByLabel('name of r3').waitFor(patience);
  await page.getByRole('button', { name: 'Remove r3' }).click();
  await page.getByLabel('name of r3').waitFor({ state: 'detached' });
  await page.getByLabel('name of r2').fill('second');
  await page.keyboard.press('Enter');
  await page.getByLabel('volume of second').waitFor(patience);
  await page.getByRole('region', { name: 'Requests' }).getByRole('button', { name: /^Save/ }).click();
  const wanted = REQUESTS.replace('20MB', '40MB').replace('r2:', 'second:');
  await expect.poll(() => readFileSync(join(here.folder, 'wanted.yaml'), 'utf8'), patience).toBe(wanted);
  await page.context().close();
  writeFileSync(join(here.folder, 'wanted.yaml'), REQUESTS);
});

for (const colorScheme of ['light', 'dark'] as const)
  test(`plans of every policy stand side by side, ${colorScheme}`, async () => {
    const page = await opened(colorScheme);
    await page.getByRole('tab', { name: 'All policies' }).click();
    await page.getByRole('button', { name: 'Plan by every policy' }).click();
    await page.getByRole('button', { name: 'Plan again by every policy' }).waitFor(patience);
    const rows = page.locator('.shown tbody tr');
    expect(await rows.count()).toBe(17);
    expect(await page.locator('.many figure').count()).toBe(17);
    expect(await axe(page)).toEqual([]);
    for (const width of [800, 1440, 2560]) {
      await page.setViewportSize({ width, height: width === 2560 ? 1440 : 900 });
      await look(page, `transfers-policies-${width}-${colorScheme}`);
    }
    await rows.getByRole('button', { name: 'serial-edf' }).click();
    await page.locator('.sum').getByText('serial-edf').waitFor(patience);
    for (const width of [800, 1440, 2560]) {
      await page.setViewportSize({ width, height: width === 2560 ? 1440 : 900 });
      await look(page, `transfers-plan-${width}-${colorScheme}`);
    }
    await page.context().close();
  });

test('transfers run simulated, over a reload, and end with planned beside executed', async () => {
  const page = await opened();
  await page.getByLabel('policy').selectOption('serial-fcfs');
  await page.getByLabel('How to run').selectOption('sim');
  await page.getByRole('button', { name: 'Run these transfers' }).click();
  await expect.poll(() => page.url(), patience).toMatch(/#\/transfers\/two-sites/);
  await page.reload();
  await page.locator('[data-outcome=passed]').waitFor(patience);
  await page.getByText('2 of 2 requests served in time').waitFor(patience);
  expect(await axe(page)).toEqual([]);
  await look(page, 'transfers-run-ended');
  // What was on the view is there after the reload.
  expect(await page.getByLabel('policy').inputValue()).toBe('serial-fcfs');
  expect(await page.getByLabel('volume of r1').inputValue()).toBe('20MB');
  await page.context().close();
});

test('live transfers show what has arrived and how long the rest takes, and are stopped', async () => {
  const page = await opened();
  await page.getByLabel('How to run').selectOption('live');
  await page.getByLabel('volume of r1').fill('140MB');
  await page.keyboard.press('Enter');
  await page.getByText('160 MB moved').waitFor(patience);
  await page.getByRole('button', { name: 'Run these transfers' }).click();
  await page.getByText(/of 160 MB, \d of 2 requests over, .* left/).waitFor(patience);
  expect(await axe(page)).toEqual([]);
  await look(page, 'transfers-running');
  await page.getByRole('button', { name: 'Stop', exact: true }).click();
  await page.getByRole('heading', { name: 'Transfers, policy fair' }).waitFor(patience);
  await look(page, 'transfers-stopped');
  await page.context().close();
});

test('requests without the hosts of a scenario are planned, and not run', async () => {
  const page = await here.page();
  await page.keyboard.press('4');
  await page.getByText('requests served').waitFor(patience);
  await page.getByText('To run them, choose a scenario as the network.').waitFor();
  expect(await page.getByRole('button', { name: 'Run these transfers' }).isDisabled()).toBe(true);
  await page.context().close();
});
