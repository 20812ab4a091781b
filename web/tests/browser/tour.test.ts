/** The tour of the page: on the first visit, and whenever it is asked for. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { axe } from './axe';
import { desk, type Desk } from './server';

const SCENARIO = `version: 1
name: pair
duration: 1s
nodes: {near: {kind: host}, far: {kind: host}}
links: {wan: {endpoints: [near, far], delay: 10ms, rate: 20Mbit}}
traffic: {bulk: {kind: tcp, from: near, to: far}}
`;
const STEPS = [
  ['Open or draw a scenario', 'edit', '[data-tour=open]'],
  ['Simulate it', 'run', '[data-tour=sim]'],
  ['Run it live', 'run', '[data-tour=live]'],
  ['Look at the results', 'runs', '.runs .table .note'],
  ['Compare', 'runs', '.runs .list .head'],
] as const;

let here: Desk;
let readOnly: Desk;
beforeAll(async () => {
  const prepare = (folder: string): void => writeFileSync(join(folder, 'pair.yaml'), SCENARIO);
  here = await desk([], prepare);
  readOnly = await desk(['--read-only'], prepare);
});
afterAll(async () => {
  await here.end();
  await readOnly.end();
});

const tour = (page: Page): Locator => page.getByRole('dialog').filter({ has: page.locator('.card') });
const shows = async (page: Page, title: string, at: number, of: number = STEPS.length): Promise<void> => {
  await tour(page).getByRole('heading', { name: title }).waitFor();
  expect(await tour(page).textContent()).toContain(`${at + 1} of ${of}`);
};
const command = async (page: Page, words: string): Promise<void> => {
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox', { name: 'Command' }).fill(words);
  await page.keyboard.press('Enter');
};
const look = async (page: Page, name: string): Promise<void> => {
  const folder = process.env['PICTURES'];
  if (folder) await page.screenshot({ path: join(folder, `${name}.png`) });
};

/** The ring is around the thing, and the card neither over it nor out of sight. */
async function pointsAt(page: Page, selector: string): Promise<void> {
  const place = () =>
    page.evaluate((target) => {
      const box = (of: string): DOMRect | undefined => document.querySelector(of)?.getBoundingClientRect();
      const [ring, card, thing] = [box('dialog .ring'), box('dialog .card'), box(target)];
      if (!ring || !card || !thing) return 'not there';
      const isAround =
        ring.left <= thing.left + 1 &&
        ring.top <= thing.top + 1 &&
        ring.right >= Math.min(thing.right, innerWidth) - 1 &&
        ring.bottom >= Math.min(thing.bottom, innerHeight) - 8;
      const isInSight =
        card.left >= 0 && card.top >= 0 && card.right <= innerWidth && card.bottom <= innerHeight;
      return isAround && isInSight ? 'right' : JSON.stringify({ ring, card, thing });
    }, selector);
  await expect.poll(place, { timeout: 20_000 }).toBe('right');
}

for (const [colorScheme, width, height] of [
  ['light', 1440, 900],
  ['dark', 800, 600],
  ['dark', 3840, 2160],
] as const)
  test(`five steps point at real things, by the keyboard, ${width} px, ${colorScheme}`, async () => {
    const page = await here.page({ colorScheme, viewport: { width, height } }, { isFirst: true });
    for (const [at, [title, view, target]] of STEPS.entries()) {
      await shows(page, title, at);
      expect(page.url()).toMatch(new RegExp(`#(/${view}.*)?$|#/${view}`));
      await pointsAt(page, target);
      expect(await page.evaluate(() => document.activeElement?.textContent)).toBe(
        at < STEPS.length - 1 ? 'Next' : 'Done',
      );
      expect(await axe(page)).toEqual([]);
      await look(page, `tour-${at + 1}-${width}-${colorScheme}`);
      await page.keyboard.press('Enter');
    }
    await tour(page).waitFor({ state: 'detached' });
    // Back where it began.
    await page.locator('main .edit').waitFor();
    await page.reload();
    await page.locator('main .edit').waitFor();
    await page.waitForTimeout(500);
    expect(await tour(page).count()).toBe(0);
    await page.context().close();
  });

test('Escape skips it for good; the palette and the help show it again', async () => {
  const page = await here.page({}, { isFirst: true });
  await shows(page, STEPS[0][0], 0);
  // Keys of the page wait until it is over.
  await page.keyboard.press('3');
  await page.keyboard.press('ArrowRight');
  await shows(page, STEPS[1][0], 1);
  await page.keyboard.press('ArrowLeft');
  await shows(page, STEPS[0][0], 0);
  await page.keyboard.press('Escape');
  await tour(page).waitFor({ state: 'detached' });
  await page.keyboard.press('2');
  await page.locator('.run').waitFor();
  await command(page, 'tour of the page');
  await shows(page, STEPS[0][0], 0);
  await tour(page).getByRole('button', { name: /^Skip/ }).click();
  await page.locator('.run').waitFor();
  await page.keyboard.press('?');
  await page.getByRole('button', { name: 'Tour of the page' }).click();
  await shows(page, STEPS[0][0], 0);
  await page.keyboard.press('Escape');
  await page.context().close();
});

test('a read-only server has no steps that start something, and a link to a run shows the run', async () => {
  const page = await readOnly.page({}, { isFirst: true });
  for (const [at, title] of ['Open or draw a scenario', 'Look at the results', 'Compare'].entries()) {
    await shows(page, title, at, 3);
    await tour(page)
      .getByRole('button', { name: at < 2 ? 'Next' : 'Done' })
      .click();
  }
  await tour(page).waitFor({ state: 'detached' });
  await page.context().close();
  // A link to a run is not for the tour: it waits for the page Edit.
  const context = await here.browser.newContext();
  const other = await context.newPage();
  await other.goto(here.url, { waitUntil: 'commit' });
  await shows(other, STEPS[0][0], 0);
  await other.evaluate(() => localStorage.clear());
  await other.goto(`${here.url.replace(/#.*/, '')}#/runs`);
  await other.reload();
  await other.locator('.runs').waitFor();
  await other.waitForTimeout(500);
  expect(await tour(other).count()).toBe(0);
  await context.close();
});
