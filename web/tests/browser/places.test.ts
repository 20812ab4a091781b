/** Cities by name, and delays that follow from distances. */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { axe } from './axe';
import { desk, type Desk } from './server';
import { accept, textOf, write } from './text';

const patience = { timeout: 60_000 };
let here: Desk;
beforeAll(async () => {
  here = await desk();
});
afterAll(() => here.end());

const settled = (page: Page, wanted: RegExp): Promise<void> =>
  expect.poll(() => textOf(page), patience).toMatch(wanted);
const option = (page: Page, name: string) => page.getByRole('option').filter({ hasText: name }).first();

test('three cities are joined by keyboard, with the delays of fibre', async () => {
  const page = await here.page();
  await page.getByText('An empty page').waitFor(patience);
  await page.keyboard.press('g');
  for (const [typed, name, wanted] of [
    ['paris', 'Paris', /paris: \{kind: router, at: \[48\.85, 2\.35\]\}/],
    ['nyc', 'New York City', /new-york-city: \{kind: router, at: \[40\.71, -74\.01\]\}/],
    ['zurich', 'Zürich', /zurich: \{kind: router, at: \[47\.37, 8\.55\]\}/],
  ] as const) {
    await page.keyboard.type(typed);
    await option(page, name).waitFor(patience);
    if (typed === 'nyc') expect(await axe(page)).toEqual([]);
    await page.keyboard.press('Enter');
    await settled(page, wanted);
  }
  await page.keyboard.press('Escape');
  await page.locator('[data-id="n:zurich"]:focus').waitFor(patience);
  await page.keyboard.press('c');
  await page.locator('[data-id="n:paris"]').focus();
  await page.keyboard.press('Enter');
  // 487 km apart: 1.5 times as much fibre, 4.897 us each km.
  await settled(page, /zurich-paris: \{endpoints: \[zurich, paris\], delay: 3\.5\d+ms/);
  await page.getByText('the delay follows the distance').waitFor(patience);
  expect(await axe(page)).toEqual([]);
  await page.context().close();
});

test('a delay follows a moved node and another factor until it is written by hand', async () => {
  const page = await here.page();
  await page.getByText('An empty page').waitFor(patience);
  await write(
    page,
    `version: 1
name: sea
duration: 10s
nodes:
  par: {kind: router, at: [48.85, 2.35]}
  nyc: {kind: router, at: [40.71, -74.01]}
links:
  sea: {endpoints: [par, nyc], delay: 40ms, rate: 1Gbit}
`,
  );
  await page.locator('[data-id="l:sea"]').click();
  await page.getByText(/5,838 km apart, 7,297 km of fibre/).waitFor(patience);
  await page.getByRole('button', { name: /^Use 35\.7\d+ms/ }).click();
  await settled(page, /delay: 35\.7\d+ms/);
  await page.getByText('the delay follows the distance').waitFor(patience);
  // Another factor is another delay, and stays after a move.
  await page.getByLabel('fibre ×').fill('2');
  await page.getByLabel('fibre ×').press('Enter');
  await settled(page, /delay: 57\.1\d+ms/);
  await page.getByLabel('fibre ×').fill('0.5');
  await page.getByLabel('fibre ×').press('Enter');
  await page.getByText('a factor is a number from 1 to 10').waitFor(patience);
  expect(await axe(page)).toEqual([]);
  await page.locator('[data-id="n:nyc"]').click();
  await page.locator('#node-city').fill('lond');
  await option(page, 'London').click();
  await settled(page, /nyc: \{kind: router, at: \[51\.51, -0\.13\]\}/);
  await settled(page, /delay: 3\.3\d+ms/);
  // One step of undo takes both back.
  await page.getByRole('button', { name: 'Undo' }).click();
  await settled(page, /at: \[40\.71, -74\.01\][^]*delay: 57\.1/);
  // By hand: it follows no more.
  await page.locator('[data-id="l:sea"]').click();
  await page.getByLabel('delay', { exact: true }).fill('50ms');
  await page.getByLabel('delay', { exact: true }).press('Enter');
  await settled(page, /delay: 50ms/);
  await page.locator('[data-id="n:nyc"]').click();
  await page.getByLabel('latitude').fill('45');
  await page.getByLabel('latitude').press('Enter');
  await settled(page, /at: \[45, -74\.01\][^]*delay: 50ms/);
  await page.context().close();
});

test('coordinates are completed from the name of a city in the text', async () => {
  const page = await here.page();
  await page.getByText('An empty page').waitFor(patience);
  await write(page, 'version: 1\nname: t\nnodes:\n  a: {kind: router, at: ');
  await page.keyboard.type('gren', { delay: 30 });
  await option(page, 'Grenoble').waitFor(patience);
  await accept(page);
  await settled(page, /at: \[45\.18, 5\.7[12]\]/);
  await page.context().close();
});
