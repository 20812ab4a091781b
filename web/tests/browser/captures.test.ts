/** Packets of a live run's link, captured from the page. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { axe } from './axe';
import { desk, lacks, type Desk } from './server';

const patience = { timeout: 60_000 };

const SCENARIO = `version: 1
name: captured
duration: 300s
nodes: {near: {kind: host}, far: {kind: host}, hub: {kind: router}, aside: {kind: host, attach: hub}}
links:
  wan: {endpoints: [near, far], delay: 10ms, rate: 20Mbit}
  side: {endpoints: [far, hub], delay: 1ms}
traffic:
  probe: {kind: ping, from: near, to: far, every: 100ms}
  other: {kind: ping, from: aside, to: far, every: 100ms}
  load: {kind: udp, from: far, to: near, rate: 200kbit}
`;
let here: Desk;
let page: Page;

beforeAll(async () => {
  if (lacks) return;
  here = await desk();
  writeFileSync(join(here.folder, 'captured.yaml'), SCENARIO);
  page = await here.page();
  await page.keyboard.press('Control+o');
  await page.locator('dialog').getByRole('button', { name: 'captured.yaml' }).first().click();
  await page.locator('dialog').waitFor({ state: 'detached' });
  await page.keyboard.press('2');
  await page.locator('.run').waitFor();
  await page.getByRole('button', { name: 'Start' }).click();
  await page.getByRole('group', { name: 'Break it' }).waitFor(patience);
}, 120_000);
afterAll(() => here?.end().catch(() => undefined));

const rows = () => page.locator('.capture tbody tr');
const status = () => page.locator('.capture').getByRole('status').textContent();

test.skipIf(lacks)('packets of a link are listed as they pass, and explained, by the keyboard', async () => {
  await page.getByRole('button', { name: 'Packets', exact: true }).focus();
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Capture packets' }).focus();
  await page.keyboard.press('Enter');
  await expect.poll(() => rows().count(), patience).toBeGreaterThan(20);
  const before = await status();
  await expect.poll(status, patience).not.toBe(before);

  await page.getByRole('searchbox', { name: 'Filter packets' }).fill('icmp reply');
  await expect.poll(() => rows().count(), patience).toBeGreaterThan(2);
  const texts = await rows().allTextContents();
  expect(texts.every((text) => /off\s*far\s*near\s*ICMP/.test(text))).toBe(true);
  const heads = await page.locator('.capture thead th').allTextContents();
  const cells = await rows().first().locator('td').allTextContents();
  const under = (head: string): string => cells[heads.findIndex((each) => each.trim() === head)] ?? '';
  expect([under('protocol'), under('bytes')]).toEqual(['ICMP', '84']);
  expect(under('header')).toMatch(/^echo reply/);
  await page.getByRole('searchbox', { name: 'Filter packets' }).fill('');

  await page.getByRole('button', { name: 'Pause list' }).focus();
  await page.keyboard.press('Space');
  await rows().first().getByRole('button').focus();
  await page.keyboard.press('Enter');
  const details = page.locator('.details');
  await details.waitFor(patience);
  expect(await details.locator('pre').last().textContent()).toMatch(/^0000 {2}4[56] /);
  expect(await axe(page)).toEqual([]);
  if (process.env['SHOTS']) await page.screenshot({ path: join(process.env['SHOTS'], 'capture.png') });
});

test.skipIf(lacks)(
  'the other end has the same pings the other way, and the file has all packets',
  async () => {
    await page.getByRole('combobox', { name: 'End of the link' }).selectOption('far');
    await page.getByRole('button', { name: 'Pause list' }).click();
    await page.getByRole('searchbox', { name: 'Filter packets' }).fill('echo request');
    await expect.poll(() => rows().count(), patience).toBeGreaterThan(2);
    expect((await rows().allTextContents()).every((text) => /off\s*near\s*far\s*ICMP/.test(text))).toBe(true);
    await page.getByRole('button', { name: 'Stop capture' }).click();
    await expect.poll(status, patience).toContain('capture ended');
    const count = Number(/^\s*(\d+)/.exec((await status()) ?? '')?.[1]);
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download pcapng' }).click(),
    ]);
    expect(file.suggestedFilename()).toBe('wan@far.pcapng');
    const content = readFileSync(await file.path());
    let packets = 0;
    for (let place = 0; place < content.length; place += content.readUInt32LE(place + 4))
      if (content.readUInt32LE(place) === 6) packets += 1;
    expect(packets).toBeGreaterThanOrEqual(count);
  },
);

test.skipIf(lacks)('the link of a host is chosen and captured from its menu on the map', async () => {
  await page.getByRole('searchbox', { name: 'Filter packets' }).fill('');
  await page.locator('[data-id="l:aside-hub"]').focus();
  await page.keyboard.press('Shift+F10');
  await page.getByRole('menuitem', { name: 'Capture packets of aside-hub' }).click();
  await expect.poll(() => rows().count(), patience).toBeGreaterThan(5);
  for (const name of ['Link to change', 'Link to capture'])
    expect(await page.getByRole('combobox', { name }).inputValue()).toBe('aside-hub');
});
