/** Traces on the page: one is drawn, edited, saved, and used for a link that a run then follows. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { axe } from './axe';
import { desk, type Desk } from './server';

const patience = { timeout: 60_000 };
const SCENARIO = `version: 1
name: pair
duration: 4s
nodes: {near: {kind: host}, far: {kind: host}}
links: {wan: {endpoints: [near, far], delay: 10ms, rate: 20Mbit}}
traffic: {probe: {kind: ping, from: near, to: far, every: 100ms}}
`;
const WAN = ['t_s,rtt_ms', ...Array.from({ length: 8 }, (_, at) => `${at},${20 + 10 * (at % 2)}`), ''];

let here: Desk;
let page: Page;
beforeAll(async () => {
  here = await desk([], (folder) => {
    writeFileSync(join(folder, 'pair.yaml'), SCENARIO);
    writeFileSync(join(folder, 'wan.csv'), WAN.join('\n'));
  });
  page = await here.page();
});
afterAll(() => here.end());

async function look(name: string): Promise<void> {
  const folder = process.env['PICTURES'];
  for (const colorScheme of ['dark', 'light'] as const) {
    await page.emulateMedia({ colorScheme });
    await new Promise((resolve) => setTimeout(resolve, 150));
    expect(await axe(page), `${name}, ${colorScheme}`).toEqual([]);
    if (folder) await page.screenshot({ path: join(folder, `${name}-${colorScheme}.png`) });
  }
}

test('a trace is drawn, edited and saved as a new file; what cannot be is refused', async () => {
  await page.keyboard.press('7');
  await page.getByRole('button', { name: 'wan.csv', exact: true }).click();
  await page.getByText('8 rows, 8 s, one each 1 s').waitFor(patience);
  await page.getByRole('img', { name: 'Round-trip time, ms over time: rtt_ms' }).waitFor();
  await page.getByLabel('from', { exact: true }).fill('4');
  await page.getByRole('button', { name: 'Keep this span' }).click();
  await page.getByText('4 rows, 4 s').waitFor(patience);
  await page.getByLabel('times', { exact: true }).fill('0');
  await page.getByRole('button', { name: 'Scale' }).click();
  await page.getByRole('alert').getByText('a round trip of 0').waitFor(patience);
  await page.getByLabel('times', { exact: true }).fill('2');
  await page.getByRole('button', { name: 'Scale' }).click();
  await page.getByRole('listitem').getByText('rtt_ms times 2').waitFor(patience);
  await page.getByLabel('at', { exact: true }).fill('3');
  await page.getByLabel('value', { exact: true }).fill('80');
  await page.getByRole('button', { name: 'Set', exact: true }).click();
  await page.getByRole('listitem').getByText('rtt_ms at 3 s: 80 ms').waitFor(patience);
  await look('traces');
  expect(await page.getByRole('button', { name: 'Use it' }).isDisabled()).toBe(true);
  expect(await page.getByLabel('save as').inputValue()).toBe('wan-edited.csv');
  await page.getByRole('button', { name: 'Save as a new file' }).click();
  await page.getByText('saved wan-edited.csv, 4 rows').waitFor(patience);
  expect(readFileSync(join(here.folder, 'wan-edited.csv'), 'utf8')).toContain('0,40\n1,60\n2,40\n3,80\n');
  expect(readFileSync(join(here.folder, 'wan.csv'), 'utf8')).toBe(WAN.join('\n'));
});

test('a link uses the trace, and the pings of a simulation have its round trips', async () => {
  await page.getByRole('button', { name: 'Use it' }).click();
  await page.locator('main .edit').waitFor();
  await page.locator('.cm-content').getByText('wan-edited.csv').waitFor(patience);
  await page.keyboard.press('Control+s');
  await page.getByRole('link', { name: 'Run', exact: true }).click();
  await page.getByRole('button', { name: 'Simulated' }).click();
  await page.getByRole('button', { name: /^Start/ }).click();
  await page.getByRole('button', { name: 'Report' }).waitFor(patience);
  await page.getByRole('link', { name: 'Runs', exact: true }).click();
  await page.locator('.runs .name').first().click();
  const row = page.getByRole('row', { name: /^probe near → far/ });
  // The least round trip is that of the trace, and those that began in its last second have 80 ms.
  await row.waitFor(patience);
  expect(await row.textContent()).toMatch(/40(\.\d)? ms/);
  expect(await row.textContent()).toMatch(/80(\.\d)? ms/);
});
