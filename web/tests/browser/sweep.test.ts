import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { axe } from './axe';
import { desk, type Desk } from './server';
import { textOf as text } from './text';

const SCENARIO = `version: 1
name: varied
duration: 2s
params: {cc: reno}
nodes: {near: {kind: host}, far: {kind: host}}
links:
  wan: {endpoints: [near, far], delay: 10ms, rate: 20Mbit} # the long one
traffic:
  bulk: {kind: tcp, from: near, to: far, cc: $cc}
  other: {kind: tcp, from: far, to: near}
`;
const patience = { timeout: 60_000 };

let here: Desk;
beforeAll(async () => {
  here = await desk();
  writeFileSync(join(here.folder, 'varied.yaml'), SCENARIO);
});
afterAll(() => here.end());

async function opened(): Promise<Page> {
  const page = await here.page();
  await page.keyboard.press('Control+o');
  await page.locator('dialog').getByRole('button', { name: 'varied.yaml' }).click();
  await page.locator('dialog').waitFor({ state: 'detached' });
  await page.getByRole('link', { name: 'Run', exact: true }).click();
  await page.locator('.run').waitFor();
  return page;
}

test('a sweep is made of rows, run from the page, and shown as lines and heat map', async () => {
  const page = await opened();
  await page.getByRole('button', { name: 'Sweep' }).click();
  expect(await page.getByRole('button', { name: 'Start' }).isDisabled()).toBe(true);
  for (const [axis, values] of [
    ['cc', 'reno, cubic'],
    ['links.wan.delay', '5ms, 10ms, 20ms'],
  ] as const) {
    await page.getByLabel('Parameter or key').fill(axis);
    await page.getByLabel('Its values').fill(values);
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    await page.getByLabel(axis, { exact: true }).waitFor(patience);
  }
  await page.getByLabel('repetitions of each, with different seeds').fill('2');
  await page.getByLabel('repetitions of each, with different seeds').press('Enter');
  await page.getByText('12 runs in all').waitFor(patience);
  expect(await axe(page)).toEqual([]);
  await page.getByRole('button', { name: 'Start' }).click();
  await page.getByRole('heading', { name: 'Sweep varied' }).waitFor(patience);
  await page.getByText('12 runs of 6 variants').waitFor(patience);
  // Every variant has its cell, and each algorithm its line.
  const map = page.locator('.heat-map');
  await expect.poll(() => map.locator('tbody th').allTextContents(), patience).toEqual(['reno', 'cubic']);
  expect(await map.locator('thead th').allTextContents()).toEqual([
    'cc ↓ links.wan.delay →',
    ...['5 ms', '10 ms', '20 ms'],
  ]);
  expect(await map.locator('td[class^=shade]').count()).toBe(6);
  const lines = page.locator('.chart[data-name="flows.bulk.goodput"]');
  await lines.locator('canvas').waitFor(patience);
  for (const cc of ['reno', 'cubic']) expect(await lines.locator('.head').innerText()).toContain(cc);
  expect(await axe(page)).toEqual([]);
  // Another metric has charts of its own.
  await page.getByLabel('metric').selectOption('flows.other.goodput');
  await page.locator('.chart[data-name="flows.other.goodput"] canvas').waitFor(patience);
  // The edits are in the text, and nothing else changed.
  await page.getByRole('link', { name: 'Edit', exact: true }).click();
  const now = await text(page);
  expect(now.startsWith(SCENARIO.trimEnd())).toBe(true);
  expect(now).toMatch(/sweep:[^]*cc: \[reno, cubic\][^]*links\.wan\.delay[^]*repeat: 2/);
  await page.context().close();
});

test('the map of a running sweep has a cell for each run to come, which is read out', async () => {
  const page = await opened();
  await page.getByRole('button', { name: 'Sweep' }).click();
  for (const [axis, values] of [
    ['cc', 'reno, cubic, htcp'],
    ['duration', '1s, 100000s'],
  ] as const) {
    await page.getByLabel('Parameter or key').fill(axis);
    await page.getByLabel('Its values').fill(values);
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    await page.getByLabel(axis, { exact: true }).waitFor(patience);
  }
  await page.getByRole('button', { name: 'Start' }).click();
  const empty = page.getByRole('cell', { name: 'not run yet', exact: true });
  await expect.poll(() => empty.count(), patience).toBeGreaterThanOrEqual(3);
  expect(await page.locator('.heat-map td').count()).toBe(6);
  // Cells fill while others stay empty.
  const filled = page.locator('.heat-map td[class^=shade]');
  await expect.poll(() => filled.count(), patience).toBeGreaterThanOrEqual(1);
  expect(await empty.first().evaluate((cell) => getComputedStyle(cell).outlineStyle)).toBe('dashed');
  expect((await filled.count()) + (await empty.count())).toBe(6);
  expect(await axe(page)).toEqual([]);
  // Marks of the legend have the colour of their signs in either theme.
  const mark = page.locator('.u-series .u-marker').nth(1);
  const shades = new Set<string>();
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    shades.add(await mark.evaluate((each) => getComputedStyle(each).backgroundColor));
  }
  expect(shades.size).toBe(2);
  if (process.env['PICTURES'])
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      await page.screenshot({ path: join(process.env['PICTURES'], `running-sweep-${colorScheme}.png`) });
    }
  await page.getByRole('button', { name: 'Stop' }).click();
  await page.getByText('stopped early').waitFor(patience);
  await page.context().close();
});

test('what a sweep cannot vary is refused, with its line', async () => {
  const page = await opened();
  await page.getByRole('button', { name: 'Sweep' }).click();
  await page.getByLabel('Parameter or key').fill('links.wan.dealy');
  await page.getByLabel('Its values').fill('5ms');
  await page.getByRole('button', { name: 'Add', exact: true }).click();
  await page.getByLabel('links.wan.dealy', { exact: true }).waitFor(patience);
  await page.getByRole('button', { name: 'Start' }).click();
  await expect.poll(() => page.getByRole('alert').textContent(), patience).toMatch(/dealy/);
  await page.context().close();
});

test('traffic is marked for a mixed run by a tick, which is an edit of one line', async () => {
  const page = await opened();
  await page.getByRole('button', { name: 'Mixed' }).click();
  expect(await page.getByRole('button', { name: 'Start' }).isDisabled()).toBe(true);
  const tick = page.getByRole('checkbox', { name: /^bulk/ });
  await tick.click();
  await expect.poll(() => page.getByRole('button', { name: 'Start' }).isEnabled(), patience).toBe(true);
  expect(await axe(page)).toEqual([]);
  await page.getByRole('button', { name: 'Start' }).click();
  await page.getByText(/varied, mixed/).waitFor(patience);
  await page.getByRole('button', { name: 'Report' }).waitFor({ timeout: 120_000 });
  await tick.click();
  await page.getByText('Tick at least one').waitFor(patience);
  await page.getByRole('link', { name: 'Edit', exact: true }).click();
  await expect.poll(() => text(page), patience).toBe(SCENARIO);
  expect(readFileSync(join(here.folder, 'varied.yaml'), 'utf8')).toBe(SCENARIO);
  await page.context().close();
});
