/** A file that is broken is not an empty one, and its error is at the line where it is. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { desk, type Desk } from './server';
import { write } from './text';

const patience = { timeout: 60_000 };
let here: Desk;
beforeAll(async () => {
  here = await desk();
  writeFileSync(
    join(here.folder, 'broken.yaml'),
    'version: 1\nname: t\nnodes:\n  a: {kind: router\n  b: {kind: host, attach: a}\n',
  );
});
afterAll(() => here.end());

test('a broken file says what is wrong and where, and not that the page is empty', async () => {
  const page = await here.page();
  await page.reload();
  await page.getByText('The file cannot be drawn.').waitFor(patience);
  expect(await page.locator('.first').textContent()).toContain('Line 4:');
  expect(await page.getByText('An empty page').count()).toBe(0);
  const code = page.locator('.problems .code');
  expect(await code.textContent()).toBe('E0103');
  expect(await code.getAttribute('title')).toMatch(/^The text is not YAML\. /);
  expect(await page.getByRole('button', { name: '1 problem' }).count()).toBe(1);
  // What is corrected is drawn.
  await write(page, 'version: 1\nname: t\nnodes:\n  a: {kind: router}\n  b: {kind: host, attach: a}\n');
  await page.locator('[data-id="n:a"]').waitFor(patience);
  expect(await page.locator('.first').count()).toBe(0);
  await page.context().close();
});

test('the chart of transfers has every deadline on its axis', async () => {
  const page = await here.page();
  await page.keyboard.press('4');
  await page.getByText('requests served').waitFor(patience);
  const chart = page.getByRole('img', { name: 'Gantt chart: when each request is served' });
  const seconds = await chart.locator('text.tick').evaluateAll((all) =>
    all.map((each) => {
      const [, value, unit] = /^([\d.]+) (\w+)$/.exec(each.textContent!)!;
      return Number(value) * (unit === 'min' ? 60 : unit === 'ms' ? 0.001 : 1);
    }),
  );
  // The example asks for deadlines of 40, 60 and 70 s.
  expect(Math.max(...seconds)).toBeGreaterThanOrEqual(60);
  const titles = await chart.locator('path.window title').allTextContents();
  expect(titles).toEqual(['deadline 60 s', 'deadline 60 s', 'deadline 40 s', 'deadline 70 s']);
  await page.context().close();
});
