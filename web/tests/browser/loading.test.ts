/** What is seen before the application is there. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { desk, type Desk } from './server';

let here: Desk;
beforeAll(async () => {
  here = await desk();
});
afterAll(() => here.end());

test('the page is painted before its script is there, in the colours that were chosen, and replaced by it', async () => {
  const context = await here.browser.newContext({ colorScheme: 'light' });
  const page = await context.newPage();
  await context.addInitScript(() => {
    localStorage.setItem('longhaul-theme', 'dark');
    localStorage.setItem('longhaul-tour', 'seen');
  });
  let release = (): void => undefined;
  const held = new Promise<void>((resolve) => (release = resolve));
  await page.route(/assets\/index-[^/]+\.js$/, async (route) => {
    await held;
    await route.continue();
  });
  await page.goto(here.url, { waitUntil: 'commit' });
  await page.getByText('Loading…').waitFor();
  const paints = (): Promise<number> =>
    page.evaluate(() => performance.getEntriesByName('first-contentful-paint').length);
  await expect.poll(paints).toBe(1);
  expect(await page.evaluate(() => getComputedStyle(document.body).backgroundColor)).toBe('rgb(20, 23, 27)');
  expect(await page.locator('main').count()).toBe(0);
  release();
  await page.locator('main .edit').waitFor();
  expect(await page.getByText('Loading…').count()).toBe(0);
  expect(await page.evaluate(() => document.documentElement.dataset['theme'])).toBe('dark');
  await context.close();
});
