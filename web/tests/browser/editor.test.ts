/** The text beside the map: colours, completion, help, problems, and one history with the map. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { axe } from './axe';
import { desk, type Desk } from './server';
import { accept, textOf, write } from './text';

const patience = { timeout: 60_000 };
const PAIR = `version: 1
name: pair
duration: 10s
params: {cc: cubic}
nodes:
  par: {kind: router, at: [48.85, 2.35]}
  nyc: {kind: router, at: [40.71, -74.01]}
  par1: {kind: host, attach: par}
  nyc1: {kind: host, attach: nyc}
links:
  par-nyc: {endpoints: [par, nyc], delay: 38ms, rate: 1Gbit}  # the sea
traffic:
  bulk: {kind: tcp, from: par1, to: nyc1, cc: $cc}
`;
let here: Desk;
beforeAll(async () => {
  here = await desk([], (folder) => {
    writeFileSync(join(folder, 'pair.yaml'), PAIR);
    writeFileSync(join(folder, 'wrong.yaml'), PAIR.replace('38ms', '38').replace('rate:', 'rat:'));
  });
});
afterAll(() => here.end());

async function opened(name: string, options = {}): Promise<Page> {
  const page = await here.page(options);
  await page.keyboard.press('Control+o');
  await page.locator('dialog').getByRole('button', { name }).click();
  await page.locator('dialog').waitFor({ state: 'detached' });
  return page;
}
const options = (page: Page) => page.getByRole('listbox').getByRole('option');
const goTo = async (page: Page, word: string): Promise<void> => {
  await page.keyboard.press('Control+f');
  await page.keyboard.type(word);
  await page.keyboard.press('Enter');
  await page.keyboard.press('Escape');
};

test('keys, words and names are completed by keyboard, and Tab leaves the editor', async () => {
  const page = await opened('pair.yaml');
  await page.keyboard.press('y');
  await page.locator('#yaml-text:focus').waitFor(patience);
  await goTo(page, 'rate: 1Gbit');
  await page.keyboard.press('ArrowRight');
  await page.keyboard.type(', lo', { delay: 30 });
  await options(page).filter({ hasText: 'loss' }).waitFor(patience);
  expect(await axe(page)).toEqual([]);
  await page.keyboard.press('Enter');
  await page.keyboard.type('1%');
  await expect.poll(() => textOf(page), patience).toContain('rate: 1Gbit, loss: 1%}  # the sea');

  // A section, a mapping in it, and names of the file.
  await page.keyboard.press('Control+End');
  await page.keyboard.type('eve', { delay: 30 });
  await options(page).filter({ hasText: 'events' }).waitFor(patience);
  await accept(page);
  await page.keyboard.press('Enter');
  await page.keyboard.type('- {at: 5s, link: p', { delay: 30 });
  await options(page).filter({ hasText: 'par-nyc' }).waitFor(patience);
  await accept(page);
  await page.keyboard.type(', down: 1s');
  await expect
    .poll(() => textOf(page), patience)
    .toMatch(/events: \n {2}- \{at: 5s, link: par-nyc, down: 1s\}$/);
  await page.getByText('no problems found').waitFor(patience);
  await page.keyboard.press('Escape');
  await page.keyboard.press('y');
  await page.keyboard.press('Tab');
  expect(await page.evaluate(() => document.activeElement?.closest('.cm-editor'))).toBeNull();
  await page.context().close();
});

test('the meaning of a key is shown under the pointer, and a problem at its place', async () => {
  const page = await opened('pair.yaml');
  await page.locator('.cm-line').getByText('par-nyc').first().waitFor(patience);
  await page.locator('.cm-line span').getByText('delay', { exact: true }).hover();
  await page.locator('.cm-tooltip .about').getByText('number with unit').waitFor(patience);
  expect(await axe(page)).toEqual([]);
  await page.context().close();

  const wrong = await opened('wrong.yaml', { colorScheme: 'dark' });
  await wrong.locator('.cm-lintRange-error').first().waitFor(patience);
  const marked = await wrong.locator('.cm-lintRange-error').allTextContents();
  expect(marked).toContain('38');
  expect(marked).toContain('rat');
  await wrong.locator('.cm-lintRange-error', { hasText: '38' }).hover();
  await wrong.locator('.cm-tooltip .cm-diagnostic').getByText('no unit').waitFor(patience);
  expect(await axe(wrong)).toEqual([]);
  // By keyboard: F8 leads from one to the next.
  await write(wrong);
  await wrong.keyboard.press('Control+Home');
  await wrong.keyboard.press('F8');
  await wrong.keyboard.type('3');
  await expect.poll(() => textOf(wrong), patience).toMatch(/delay: 338?[ ,]|3: 1Gbit|delay: 3,/);
  await wrong.context().close();
});

test('map and text have one history, and an edit on the map leaves the cursor where it is', async () => {
  const page = await opened('pair.yaml');
  await write(page);
  await page.keyboard.press('Control+End');
  await page.keyboard.type('# one');
  await page.locator('[data-id="l:par-nyc"]').focus();
  await page.keyboard.press('Enter');
  await page.locator('#link-delay').fill('40ms');
  await page.locator('#link-delay').press('Enter');
  await expect.poll(() => textOf(page), patience).toContain('delay: 40ms');
  await write(page);
  await page.keyboard.type(' two');
  await expect.poll(() => textOf(page), patience).toMatch(/delay: 40ms[^]*# one two$/);
  await page.keyboard.press('Control+z');
  await expect.poll(() => textOf(page), patience).toMatch(/delay: 40ms[^]*# one$/);
  await page.keyboard.press('Control+z');
  await expect.poll(() => textOf(page), patience).toMatch(/delay: 38ms[^]*# one$/);
  await page.keyboard.press('Control+z');
  await expect.poll(() => textOf(page), patience).toBe(PAIR);
  for (let step = 0; step < 3; step++) await page.keyboard.press('Control+y');
  await expect.poll(() => textOf(page), patience).toMatch(/delay: 40ms[^]*# one two$/);
  // The editor shows what the page has.
  await expect.poll(() => page.locator('.cm-content').innerText(), patience).toContain('# one two');
  await page.context().close();
});

test('a file with the line breaks of Windows keeps them', async () => {
  writeFileSync(join(here.folder, 'windows.yaml'), PAIR.replace(/\n/g, '\r\n'));
  const page = await opened('windows.yaml');
  await write(page);
  await page.keyboard.press('Control+End');
  await page.keyboard.type('# mine');
  await expect.poll(() => textOf(page), patience).toBe(`${PAIR}# mine`.replace(/\n/g, '\r\n'));
  await page.context().close();
});

test('the page breaks no rule of its content security policy, and asks no other server', async () => {
  const page = await here.page();
  const broken: string[] = [];
  page.on('console', (message) => {
    if (/Content Security Policy/.test(message.text())) broken.push(message.text());
  });
  const asked = new Set<string>();
  page.on('request', (request) => asked.add(new URL(request.url()).host));
  await page.reload();
  await page.locator('#yaml-text').waitFor(patience);
  await write(page);
  await page.keyboard.press('Control+Space');
  await options(page).first().waitFor(patience);
  expect(broken).toEqual([]);
  expect([...asked].every((host) => host.startsWith('127.0.0.1'))).toBe(true);
  await page.context().close();
});
