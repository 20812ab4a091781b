/** A file that is broken is not an empty one, and its error is at the line where it is. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ChartData } from '../../src/charts/data';
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
  const planned = page.waitForResponse((each) => each.url().includes('/transfers/plan'));
  await page.keyboard.press('4');
  await page.getByText('requests served').waitFor(patience);
  const chart = page.getByRole('img', { name: 'Gantt chart: when each request moves' });
  await chart.waitFor(patience);
  const { charts } = (await (await planned).json()) as { charts: ChartData[] };
  // The example asks for deadlines of 40, 60 and 70 s.
  expect(charts[0]!.axes[0]!.reach[1]).toBeGreaterThanOrEqual(70);
  // Over a bar the chart says whose it is, and how fast.
  const { x, y, width, height } = (await chart.locator('.u-over').boundingBox())!;
  const atCursor = chart.locator('.values-at-cursor');
  const words: string[] = [];
  for (let row = 0.5; row < 4; row++)
    for (let at = 0.01; at < 0.3; at += 0.02) {
      await page.mouse.move(x + at * width, y + ((row + 0.3) / 4) * height);
      words.push((await atCursor.textContent())!);
    }
  expect(words.filter((each) => /: \S+ to \S+$/.test(each) && / at .*bit\/s/.test(each))).not.toEqual([]);
  await page.context().close();
});
