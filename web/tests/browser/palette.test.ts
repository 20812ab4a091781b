/** The palette of commands, by keys and by mouse. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { axe } from './axe';
import { desk, type Desk } from './server';
import { textOf, write } from './text';

const SCENARIO = `version: 1
name: pair
nodes: {near: {kind: host}, mid: {kind: router}, far: {kind: host}}
links:
  lan: {endpoints: [near, mid], delay: 1ms, rate: 20Mbit}
  wan: {endpoints: [mid, far], delay: 10ms, rate: 20Mbit}
`;

let here: Desk;
beforeAll(async () => {
  here = await desk();
  writeFileSync(join(here.folder, 'pair.yaml'), SCENARIO);
});
afterAll(() => here.end());

const field = (page: Page): Locator => page.getByRole('combobox', { name: 'Command' });
const chosen = (page: Page): Locator => page.locator('[role=option][aria-selected=true]');

async function choose(page: Page, words: string): Promise<void> {
  await page.keyboard.press('Control+k');
  await field(page).fill(words);
  await page.keyboard.press('Enter');
  await field(page).waitFor({ state: 'detached' });
}

test('files, hosts, links and views are reached by their names', async () => {
  const page = await here.page();
  await choose(page, 'open pair');
  await page.getByRole('button', { name: /^pair\.yaml: save/ }).waitFor();
  await page.locator('[data-id="l:wan"]').waitFor();
  await choose(page, 'wan');
  await page.locator('#link-delay').waitFor();
  expect(await page.locator('#link-delay').inputValue()).toBe('10ms');
  await choose(page, 'transf');
  await expect.poll(() => page.title()).toContain('Transfers');
  // From another view a host is shown where it is edited.
  await choose(page, 'host far');
  await expect.poll(() => page.title()).toContain('Edit');
  await expect.poll(() => page.getByRole('textbox', { name: 'Host' }).inputValue()).toBe('far');
});

test('arrows move the choice, which the field names, and Escape changes nothing', async () => {
  const page = await here.page();
  await page.keyboard.press('Control+k');
  expect(await chosen(page).textContent()).toContain('Edit');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowDown');
  expect(await chosen(page).textContent()).toContain('Runs');
  expect(await field(page).getAttribute('aria-activedescendant')).toBe(await chosen(page).getAttribute('id'));
  expect(await axe(page)).toEqual([]);
  await field(page).fill('no such command');
  await page.getByRole('status').getByText('No command has').waitFor();
  expect(await axe(page)).toEqual([]);
  await page.keyboard.press('Enter');
  await page.keyboard.press('Escape');
  await field(page).waitFor({ state: 'detached' });
  expect(await page.title()).toContain('Edit');
});

test('a key that follows the end of a dialog at once is not lost', async () => {
  const page = await here.page();
  const press = (key: string, ctrlKey = false): Promise<void> =>
    page.evaluate(
      async (init) => {
        document.querySelector('dialog')!.close();
        await new Promise<void>((done) => queueMicrotask(done));
        document.body.dispatchEvent(new KeyboardEvent('keydown', { ...init, bubbles: true }));
      },
      { key, ctrlKey },
    );
  await page.keyboard.press('?');
  await page.getByRole('dialog', { name: 'Keys' }).waitFor();
  await press('?');
  await page.getByRole('dialog', { name: 'Keys' }).waitFor();
  await press('k', true);
  await field(page).waitFor();
  await press('2');
  await expect.poll(() => page.title()).toContain('Run');
});

test('what is not saved is not dropped without a question', async () => {
  const page = await here.page();
  await choose(page, 'open pair');
  await page.getByRole('button', { name: /^pair\.yaml: save/ }).waitFor();
  await write(page);
  await page.keyboard.press('Control+End');
  await page.keyboard.insertText('# mine\n');
  await choose(page, 'empty page');
  await page.getByText('is not saved; opening something else drops it').waitFor();
  await page.keyboard.press('Escape');
  expect(await textOf(page)).toContain('# mine');
});

test('a word of the page is explained under the pointer, and every term by the keyboard', async () => {
  const page = await here.page();
  await choose(page, 'open pair');
  await page.getByRole('button', { name: /^pair\.yaml: save/ }).waitFor();
  await page.locator('[data-id="l:wan"]').waitFor();
  await choose(page, 'wan');
  await page.locator('#link-delay').waitFor();
  const tip = page.getByRole('tooltip');
  await page.locator('.facts').getByText('BDP').hover();
  await tip.getByText('number of bytes in flight that fill a path').waitFor();
  expect(await axe(page)).toEqual([]);
  if (process.env['SHOTS']) await page.screenshot({ path: join(process.env['SHOTS'], 'term.png') });
  await page.keyboard.press('Escape');
  await tip.waitFor({ state: 'detached' });
  await page.locator('.facts').getByText('round trip').click();
  await tip.getByText('Round-trip time (RTT)').waitFor();
  await page.mouse.move(5, 5);
  await tip.waitFor({ state: 'detached' });

  await choose(page, 'what is goodput');
  const dialog = page.getByRole('dialog', { name: 'Glossary' });
  await expect.poll(() => dialog.locator('dt').allTextContents()).toEqual(['Goodput']);
  expect(await axe(page)).toEqual([]);
  await dialog.getByRole('searchbox', { name: 'Find a term' }).fill('bytes fill path');
  await expect.poll(() => dialog.locator('dt').allTextContents()).toEqual(['Bandwidth-delay product (BDP)']);
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  await page.keyboard.press('?');
  await page.getByRole('button', { name: 'Glossary' }).click();
  await expect.poll(() => dialog.locator('dt').first().textContent()).toBe('Active queue management (AQM)');
  if (process.env['SHOTS']) await page.screenshot({ path: join(process.env['SHOTS'], 'glossary.png') });
});
