/** Runs as experiments, in a browser: told apart, filtered, sorted, annotated, deleted and restored, archived, repeated. */
import { execFileSync } from 'node:child_process';
import { existsSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { axe } from './axe';
import { desk, longhaul, type Desk } from './server';

const chromium = process.env['CHROMIUM'] ?? '/usr/bin/chromium';
const lacks = existsSync(chromium) ? null : `no browser at ${chromium}; set CHROMIUM`;
const patience = { timeout: 60_000 };

const PAIR = `version: 1
name: pair
duration: 3s
params: {cc: cubic, far: 10ms}
nodes: {a: {kind: host}, b: {kind: host}}
links: {wan: {endpoints: [a, b], delay: $far, rate: 10Mbit}}
traffic:
  bulk: {kind: tcp, from: a, to: b, cc: $cc}
  probe: {kind: ping, from: a, to: b, every: 50ms}
measure: {every: 50ms}
`;
let here: Desk;
beforeAll(async () => {
  if (lacks) return;
  here = await desk();
  writeFileSync(join(here.folder, 'pair.yaml'), PAIR);
  for (const words of [['cc=cubic'], ['cc=reno'], ['cc=cubic', 'far=30ms']])
    execFileSync(longhaul, ['sim', 'pair.yaml', ...words.flatMap((each) => ['--set', each])], {
      cwd: here.folder,
      stdio: 'ignore',
    });
}, 120_000);
afterAll(() => here?.end());

const rows = (page: Page): Locator => page.locator('.table tbody tr');
const names = (page: Page): Promise<string[]> => page.locator('.table tbody .name').allTextContents();

async function opened(): Promise<Page> {
  const page = await here.page();
  await page.keyboard.press('3');
  await rows(page).first().waitFor();
  return page;
}

test.skipIf(lacks)('runs are told apart by what differs, filtered and sorted', async () => {
  const page = await opened();
  expect((await names(page)).sort()).toEqual([
    'pair, cc=cubic, delay=10 ms',
    'pair, cc=cubic, delay=30 ms',
    'pair, cc=reno, delay=10 ms',
  ]);
  expect(await page.locator('.table thead th').allTextContents()).toEqual(
    expect.arrayContaining(['cc', 'delay', 'goodput', 'RTT p50']),
  );
  expect(await axe(page)).toEqual([]);
  await page.keyboard.press('/');
  await page.keyboard.type('cc=reno');
  await expect.poll(() => names(page), patience).toEqual(['pair, cc=reno, delay=10 ms']);
  await page.getByLabel('find').fill('rtt_p50>50ms');
  await expect.poll(() => names(page), patience).toEqual(['pair, cc=cubic, delay=30 ms']);
  await page.getByLabel('find').fill('');
  await page.getByRole('button', { name: 'RTT p50' }).click();
  expect((await names(page))[0]).toBe('pair, cc=cubic, delay=30 ms');
  await page.getByRole('button', { name: 'RTT p50' }).click();
  expect((await names(page))[2]).toBe('pair, cc=cubic, delay=30 ms');
  expect(await page.locator('th[aria-sort="ascending"]').textContent()).toContain('RTT p50');
  await page.context().close();
});

test.skipIf(lacks)('a run is renamed, tagged and noted, and found by it in another tab', async () => {
  const page = await opened();
  await page.locator('.name', { hasText: 'cc=reno' }).click();
  await page.getByLabel('name', { exact: true }).fill('the baseline');
  await page.getByLabel('tags').fill('paper figure-3');
  await page.getByLabel('note').fill('before the change of the queue');
  expect(await axe(page)).toEqual([]);
  await page.getByRole('button', { name: 'Save', exact: true }).last().click();
  await page.getByText('saved', { exact: true }).waitFor();
  const other = await opened();
  await other.locator('.tag', { hasText: 'paper' }).click();
  await expect.poll(() => names(other), patience).toEqual(['the baseline']);
  expect(await rows(other).first().textContent()).toContain('pair, cc=reno');
  // What one tab writes on an old state is refused, and nothing is lost.
  await other.locator('.table .name').first().click();
  await other.getByLabel('note').fill('mine');
  await page.getByLabel('note').fill('theirs');
  await page.getByRole('button', { name: 'Save', exact: true }).last().click();
  await page.getByText('saved', { exact: true }).waitFor();
  await other.getByRole('button', { name: 'Save', exact: true }).last().click();
  await Promise.race([
    other.getByText('changed by somebody else').waitFor(),
    // The other tab may have heard of it already.
    expect.poll(() => other.getByLabel('note').inputValue(), patience).toBe('theirs'),
  ]);
  await other.context().close();
  await page.context().close();
});

test.skipIf(lacks)('a report that the page opens hands out its charts and tables', async () => {
  const page = await opened();
  await page.locator('.table .name').first().click();
  const opens = page.waitForEvent('popup');
  await page.getByRole('button', { name: 'Report' }).click();
  const report = await opens;
  for (const button of [
    report.getByRole('button', { name: /^PNG of/ }).first(),
    report.getByRole('button', { name: /^CSV of/ }).first(),
    report.getByRole('link', { name: 'links.csv' }),
  ]) {
    const begins = report.waitForEvent('download', patience);
    await button.click(patience);
    const download = await begins;
    expect(download.suggestedFilename()).toMatch(/\.(png|csv)$/);
    expect(await download.failure()).toBeNull();
  }
  await page.context().close();
});

test.skipIf(lacks)('a run is deleted, and restored by Undo and from the trash', async () => {
  const page = await opened();
  const before = (await names(page)).length;
  await page.locator('.name', { hasText: 'delay=30 ms' }).click();
  await page.getByRole('button', { name: 'Delete' }).click();
  await page.getByText('1 deleted').waitFor();
  await expect.poll(async () => (await names(page)).length, patience).toBe(before - 1);
  await page.getByRole('button', { name: 'Undo' }).click();
  await expect.poll(async () => (await names(page)).length, patience).toBe(before);
  await page.getByLabel(/^Choose all/).check();
  await page.getByRole('button', { name: 'Delete' }).first().click();
  await page.getByText(`${before} deleted`).waitFor();
  await page.reload();
  await page.getByText(`Trash: ${before} runs`).click();
  expect(await axe(page)).toEqual([]);
  for (let left = before; left > 0; left -= 1) {
    await page.getByRole('button', { name: 'Restore' }).first().click();
    await expect.poll(async () => (await names(page)).length, patience).toBe(before - left + 1);
  }
  await page.context().close();
});

test.skipIf(lacks)('runs are archived as one file, and made again with one click', async () => {
  const page = await opened();
  await page.locator('.name', { hasText: 'delay=30 ms' }).click();
  const saving = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Archive' }).click();
  const file = await saving;
  expect(file.suggestedFilename()).toMatch(/^pair-.*\.tar\.gz$/);
  expect(statSync(await file.path()).size).toBeGreaterThan(10_000);
  await page.getByRole('button', { name: 'Reproduce' }).click();
  await page.locator('.run').waitFor();
  await page.getByRole('button', { name: 'Report' }).waitFor(patience);
  expect(await page.locator('.status').textContent()).toContain('cc=cubic, delay=30 ms (2)');
  await page.keyboard.press('3');
  await expect.poll(() => names(page), patience).toContain('pair, cc=cubic, delay=30 ms (2)');
  await page.context().close();
});

test.skipIf(lacks)('runs are compared in charts over each other, with a legend that hides them', async () => {
  const page = await opened();
  await page.getByLabel('find').fill('mode=sim -(2)');
  for (const row of await rows(page).all()) await row.getByRole('checkbox').check();
  await page.getByRole('heading', { name: 'Over time' }).waitFor();
  const sides = page.getByRole('group', { name: /^Sides/ }).getByRole('button');
  expect(await sides.count()).toBe(3);
  // One colour in the list, in the legend and in charts.
  const colours = (selector: string): Promise<string[]> =>
    page.locator(selector).evaluateAll((all) => all.map((each) => getComputedStyle(each).backgroundColor));
  expect(await colours('.table .dot')).toEqual(await colours('.side i'));
  expect(await axe(page)).toEqual([]);
  // The pointer in one chart shows values in all that share its time.
  const plots = page.locator('.chart').first().locator('.u-over');
  const box = (await plots.first().boundingBox())!;
  await page.mouse.move(box.x + box.width / 2, box.y + 10);
  const times = page.locator('.chart').first().locator('.u-series:first-child .u-value');
  await expect
    .poll(async () => Number((await times.nth(1).textContent()) || NaN), patience)
    .toBeCloseTo(1.5, 0);
  await sides.nth(1).click();
  expect(await sides.nth(1).getAttribute('aria-pressed')).toBe('false');
  await expect.poll(() => page.locator('.chart .u-off').count(), patience).toBeGreaterThan(5);
  await page.getByLabel(/all \d+ metrics/).check();
  await page.locator('#metrics-filter').fill('goodput');
  await page.getByText('flows.bulk.goodput').waitFor();
  await page.context().close();
});
