/** Errors outside the page and errors in its fields: each is reported where it can be corrected. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { axe } from './axe';
import { desk, type Desk } from './server';
import { textOf as text, write } from './text';

const SCENARIO = `version: 1
name: pair
duration: 2s
params: {way: 10ms}
nodes: {near: {kind: host}, far: {kind: host}}
links:
  wan: {endpoints: [near, far], delay: $way, rate: 20Mbit}
traffic:
  bulk: {kind: tcp, from: near, to: far}
`;
const patience = { timeout: 60_000 };

let here: Desk;
const file = (): string => join(here.folder, 'pair.yaml');
beforeAll(async () => {
  here = await desk();
});
afterAll(() => here.end());

async function opened(): Promise<Page> {
  writeFileSync(file(), SCENARIO);
  const page = await here.page();
  await page.keyboard.press('Control+o');
  await page.locator('dialog').getByRole('button', { name: 'pair.yaml' }).click();
  await page.locator('dialog').waitFor({ state: 'detached' });
  return page;
}
async function typeAtEnd(page: Page, words: string): Promise<void> {
  await write(page);
  await page.keyboard.press('Control+End');
  await page.keyboard.insertText(words);
}

test('a file that somebody else changed is loaded, overwritten or left alone, as one chooses', async () => {
  const page = await opened();
  await typeAtEnd(page, '# mine\n');
  writeFileSync(file(), `${SCENARIO}# theirs\n`);
  await page.keyboard.press('Control+s');
  await page.getByRole('alert').getByText('has been changed by somebody else').waitFor(patience);
  expect(await axe(page)).toEqual([]);
  expect(readFileSync(file(), 'utf8')).toContain('# theirs');
  await page.getByRole('button', { name: 'Load it, drop mine' }).click();
  await expect.poll(() => text(page), patience).toBe(`${SCENARIO}# theirs\n`);
  expect(await page.getByRole('alert').count()).toBe(0);

  await typeAtEnd(page, '# mine\n');
  writeFileSync(file(), SCENARIO);
  await page.keyboard.press('Control+s');
  await page.getByRole('button', { name: 'Save mine over it' }).click();
  await expect.poll(() => readFileSync(file(), 'utf8'), patience).toBe(`${SCENARIO}# theirs\n# mine\n`);

  await typeAtEnd(page, '# more\n');
  writeFileSync(file(), SCENARIO);
  await page.keyboard.press('Control+s');
  await page.getByRole('button', { name: 'Another name', exact: true }).click();
  await page.locator('#save-name').fill('other.yaml');
  await page.keyboard.press('Enter');
  await expect.poll(() => page.title(), patience).toContain('other.yaml');
  expect(readFileSync(file(), 'utf8')).toBe(SCENARIO);
  expect(readFileSync(join(here.folder, 'other.yaml'), 'utf8')).toContain('# more');
  await page.context().close();
});

test('a file that is gone is saved again', async () => {
  const page = await opened();
  await typeAtEnd(page, '# mine\n');
  rmSync(file());
  await page.keyboard.press('Control+s');
  await page.getByRole('button', { name: 'Save it again' }).click();
  await expect.poll(() => page.getByRole('alert').count(), patience).toBe(0);
  expect(readFileSync(file(), 'utf8')).toBe(`${SCENARIO}# mine\n`);
  await page.context().close();
});

test('a file is saved under another name, and no other is overwritten unasked', async () => {
  const page = await opened();
  writeFileSync(join(here.folder, 'taken.yaml'), 'theirs\n');
  await page.keyboard.press('Control+Shift+S');
  await page.locator('#save-name').fill('taken.yaml');
  await page.keyboard.press('Enter');
  await page.getByRole('alert').getByText('already exists').waitFor(patience);
  expect(readFileSync(join(here.folder, 'taken.yaml'), 'utf8')).toBe('theirs\n');
  await page.locator('#save-name').fill('../my file');
  await page.keyboard.press('Enter');
  await page.getByRole('alert').getByText('"../my file.yaml" cannot name a file').waitFor(patience);
  await page.locator('#save-name').fill('taken');
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Save mine over it' }).click();
  await expect.poll(() => page.title(), patience).toContain('taken.yaml');
  await expect.poll(() => page.locator('#save-name').count(), patience).toBe(0);
  expect(readFileSync(join(here.folder, 'taken.yaml'), 'utf8')).toBe(SCENARIO);
  await page.context().close();
});

test('an address of what is not there says so, and the page goes on', async () => {
  const page = await opened();
  for (const [address, shown] of [
    ['#/run/pair~20260101T000000Z-live-00000000', 'not started'],
    ['#/runs/pair~20260101T000000Z-live-00000000', 'Choose a run'],
    ['#/runs/pair~20260101T000000Z-sweep-00000000', 'The sweep cannot be shown'],
  ] as const) {
    await page.goto(new URL(address, here.url).href);
    await page.getByRole('alert').getByText('there is no such').waitFor(patience);
    await page.getByText(shown).first().waitFor(patience);
    await page.getByRole('button', { name: 'Dismiss' }).click();
  }
  await page.goto(new URL('#/run/%', here.url).href);
  await page.locator('.run').waitFor(patience);
  await page.goto(new URL('#/nothing', here.url).href);
  await page.locator('.edit').waitFor(patience);
  await page.context().close();
});

test('the printed address is taken up by a tab that lacks its token', async () => {
  const page = await opened();
  const tab = await page.context().newPage();
  await tab.goto(new URL('/', here.url).href);
  await tab.getByText('This address has no token').waitFor(patience);
  expect(await axe(tab)).toEqual([]);
  await tab.goto(here.url);
  await tab.locator('main .edit').waitFor(patience);
  expect(tab.url()).not.toContain('token');
  await page.context().close();
});

test('a parameter without a value is not left out in silence', async () => {
  const page = await opened();
  await page.keyboard.press('Escape');
  await page.getByRole('link', { name: 'Run', exact: true }).click();
  const start = page.getByRole('button', { name: 'Start' });
  await expect.poll(() => start.isEnabled(), patience).toBe(true);
  await page.getByLabel('Parameters').fill('way=5ms wide');
  await page.getByText('"wide" has no value: write way=10ms').waitFor(patience);
  expect(await start.isDisabled()).toBe(true);
  expect(await axe(page)).toEqual([]);
  await page.getByLabel('Parameters').fill('way=5ms');
  await expect.poll(() => start.isEnabled(), patience).toBe(true);
  await page.context().close();
});

test('when the server is gone, work goes on being shown and every view says why it has nothing', async () => {
  const mine = await desk();
  writeFileSync(join(mine.folder, 'pair.yaml'), SCENARIO);
  const page = await mine.page();
  await expect.poll(() => text(page), patience).toBe(SCENARIO);
  await page.locator('#yaml-text').waitFor(patience);
  process.kill(mine.pid, 'SIGKILL');
  await typeAtEnd(page, '# mine\n');
  await page.getByRole('alert').getByText('the server does not answer').waitFor(patience);
  await page.getByRole('link', { name: 'Runs' }).click();
  await page.getByText('The view could not be loaded').waitFor(patience);
  await page.getByRole('link', { name: 'Edit', exact: true }).click();
  await expect.poll(() => text(page), patience).toBe(`${SCENARIO}# mine\n`);
  await mine.browser.close();
  rmSync(mine.folder, { recursive: true, force: true });
});

test('an invalid name is corrected in the field where it was typed', async () => {
  const page = await opened();
  await page.keyboard.press('Control+o');
  const dialog = page.locator('dialog');
  await dialog.getByLabel('name', { exact: true }).fill('not a name');
  await dialog.getByRole('button', { name: 'pair' }).last().click();
  await dialog.getByRole('alert').getByText('not a name').waitFor(patience);
  expect(await axe(page)).toEqual([]);
  await dialog.getByLabel('name', { exact: true }).fill('better');
  await dialog.getByRole('button', { name: 'pair' }).last().click();
  await dialog.waitFor({ state: 'detached' });
  await expect.poll(() => text(page), patience).toContain('name: better');
});
