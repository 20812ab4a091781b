/** The gallery of what can be opened, and topologies with their options. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { axe } from './axe';
import { desk, type Desk } from './server';
import { textOf } from './text';

const patience = { timeout: 90_000 };
let here: Desk;
beforeAll(async () => {
  here = await desk();
});
afterAll(() => here.end());

test('every template, topology and scenario has a drawing', async () => {
  const page = await here.page();
  await page.keyboard.press('Control+o');
  const dialog = page.locator('dialog');
  const [pictures, drawn] = [dialog.locator('.picture'), dialog.locator('.picture svg')];
  await pictures.first().waitFor(patience);
  const all = await pictures.count();
  // 17 templates and 18 scenarios, or more.
  expect(all).toBeGreaterThanOrEqual(35);
  await expect.poll(() => drawn.count(), patience).toBe(all);
  for (const svg of await drawn.all()) expect(await svg.locator('circle, rect').count()).toBeGreaterThan(1);
  expect(await axe(page)).toEqual([]);
  await page.context().close();
});

test('a topology is shaped by keyboard, with its drawing beside the options', async () => {
  const page = await here.page();
  await page.keyboard.press('Control+o');
  await page.locator('[data-template="torus"]').focus();
  await page.keyboard.press('Enter');
  const form = page.getByRole('form', { name: 'Topology torus' });
  await form.getByText('16 routers, 16 hosts, 32 links').waitFor(patience);
  expect(await page.evaluate(() => document.activeElement?.id)).toBe('topology-hosts');
  expect(await axe(page)).toEqual([]);
  await page.keyboard.press('Tab');
  await page.keyboard.insertText('[3, 5]');
  await form.getByText('15 routers, 15 hosts, 30 links').waitFor(patience);
  // What is impossible is said where it is written, and cannot be created.
  await form.getByLabel('size').fill('[1, 1]');
  await form.getByRole('alert').waitFor(patience);
  expect(await form.getByRole('button', { name: /^Create/ }).isDisabled()).toBe(true);
  expect(await axe(page)).toEqual([]);
  await form.getByLabel('size').fill('[3, 4]');
  await form.getByText('12 routers').waitFor(patience);
  await page.keyboard.press('Enter');
  await page.locator('dialog').waitFor({ state: 'detached' });
  await expect.poll(() => textOf(page), patience).toMatch(/topology: \{kind: torus, size: \[3, 4\]\}/);
  await page.getByText('no problems found').waitFor(patience);
  await page.context().close();
});

test('the same by mouse, and back to the gallery', async () => {
  const page = await here.page();
  await page.getByRole('button', { name: 'Open', exact: true }).click();
  await page.locator('[data-template="ring"]').click();
  await page.getByRole('button', { name: 'Back' }).click();
  await page.locator('[data-template="ring"]:focus').waitFor(patience);
  await page.locator('[data-template="sites"]').click();
  await page.getByText('3 routers, 3 hosts, 3 links').waitFor(patience);
  await page.getByRole('button', { name: /^Create/ }).click();
  await expect.poll(() => textOf(page), patience).toContain('kind: sites, sites: {par: [48.85, 2.35]');
  await page.context().close();
});
