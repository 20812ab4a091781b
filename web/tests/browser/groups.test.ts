/** Many nodes: groups that fold, several nodes at once, and the menu of the map. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { axe } from './axe';
import { desk, type Desk } from './server';
import { textOf } from './text';

const patience = { timeout: 60_000 };
const SITES = ['par', 'ams', 'lon', 'mad', 'rom'];
const AT = [
  [48.85, 2.35],
  [52.37, 4.9],
  [51.51, -0.13],
  [40.42, -3.7],
  [41.9, 12.5],
] as const;
/** Five clusters of a hundred hosts. */
const CLUSTERS = `version: 1
name: clusters
duration: 10s
profiles:
  lan: {delay: 15us, rate: 10Gbit}
nodes:
${SITES.map((name, at) => `  ${name}: {kind: router, at: [${AT[at]!.join(', ')}]}  # ${name}`).join('\n')}
${SITES.map((name) => `  ${name}-n1..100: {kind: host, attach: ${name}, profile: lan}`).join('\n')}
links:
${SITES.slice(1)
  .map((name) => `  par-${name}: {endpoints: [par, ${name}], delay: 5ms, rate: 10Gbit}`)
  .join('\n')}
`;
let here: Desk;
beforeAll(async () => {
  here = await desk([], (folder) => writeFileSync(join(folder, 'clusters.yaml'), CLUSTERS));
});
afterAll(() => here.end());

const settled = (page: Page, wanted: RegExp): Promise<void> =>
  expect.poll(() => textOf(page), patience).toMatch(wanted);
const dot = (page: Page, name: string) => page.locator(`[data-id="n:${name}"]`);
async function opened(): Promise<Page> {
  const page = await here.page();
  await dot(page, 'par').waitFor(patience);
  return page;
}

test('a cluster of 100 hosts is one sign with its number, opened and folded by mouse and by keyboard', async () => {
  const page = await opened();
  expect(await page.locator('.map g.node').count()).toBe(10);
  expect(await dot(page, 'ams-n1').getAttribute('aria-label')).toBe('100 hosts at ams');
  expect(await dot(page, 'ams-n1').locator('text').textContent()).toBe('100');
  await dot(page, 'ams-n1').click();
  await expect.poll(() => page.locator('.map g.node').count(), patience).toBe(109);
  expect(await axe(page)).toEqual([]);
  await page.keyboard.press('f');
  await expect.poll(() => page.locator('.map g.node').count(), patience).toBe(10);
  await dot(page, 'lon-n1').focus();
  await page.keyboard.press('Enter');
  await expect.poll(() => page.locator('.map g.node').count(), patience).toBe(109);
  await dot(page, 'lon').click();
  await page.getByRole('button', { name: 'Fold', exact: false }).click();
  await expect.poll(() => page.locator('.map g.node').count(), patience).toBe(10);
  await page.context().close();
});

test('several nodes are chosen, moved, aligned and deleted by mouse, each as one step', async () => {
  const page = await opened();
  const box = (await page.getByRole('application').boundingBox())!;
  // A rectangle around everything, then without one of them.
  await page.keyboard.down('Shift');
  await page.mouse.move(box.x + 4, box.y + 4);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width - 4, box.y + box.height - 4, { steps: 5 });
  await page.mouse.up();
  await page.keyboard.up('Shift');
  await page.getByRole('heading', { name: '10 nodes' }).waitFor(patience);
  await page.keyboard.press('Escape');
  await page.getByText('Select a node or a link').waitFor(patience);
  await dot(page, 'ams').click();
  await dot(page, 'lon').click({ modifiers: ['Shift'] });
  await dot(page, 'rom').click({ modifiers: ['Shift'] });
  await page.getByRole('heading', { name: '3 nodes' }).waitFor(patience);
  expect(await axe(page)).toEqual([]);
  await page.getByRole('button', { name: 'In a row' }).click();
  // The mean of 52.37, 51.51 and 41.9.
  await settled(page, /ams: \{kind: router, at: \[48\.59, 4\.9\]\} {2}# ams/);
  await settled(
    page,
    /lon: \{kind: router, at: \[48\.59, -0\.13\]\}[^]*rom: \{kind: router, at: \[48\.59, 12\.5\]\}/,
  );
  await page.getByRole('button', { name: 'Undo' }).click();
  await expect.poll(() => textOf(page), patience).toBe(CLUSTERS);
  // Dragged together.
  const ams = (await dot(page, 'ams').boundingBox())!;
  const [x, y] = [ams.x + ams.width / 2, ams.y + ams.height / 2];
  await page.mouse.move(x, y);
  await page.mouse.down();
  await page.mouse.move(x + 30, y + 20, { steps: 4 });
  await page.mouse.up();
  await expect.poll(() => textOf(page), patience).not.toContain('[52.37, 4.9]');
  const moved = await textOf(page);
  for (const gone of ['[51.51, -0.13]', '[41.9, 12.5]']) expect(moved).not.toContain(gone);
  expect(moved).toContain('[40.42, -3.7]');
  await page.getByRole('button', { name: 'Undo' }).click();
  await expect.poll(() => textOf(page), patience).toBe(CLUSTERS);
  // Deleted with their hosts and links, as one step.
  await page.getByRole('button', { name: 'Delete 3 nodes' }).click();
  await expect.poll(() => textOf(page), patience).not.toMatch(/ams|lon|rom/);
  await settled(page, /par: .*# par\n {2}mad: /);
  await page.getByRole('button', { name: 'Undo' }).click();
  await expect.poll(() => textOf(page), patience).toBe(CLUSTERS);
  await page.context().close();
});

test('the same by keyboard, and by the menu of the map', async () => {
  const page = await opened();
  await dot(page, 'ams').focus();
  await page.keyboard.press('x');
  await dot(page, 'lon').focus();
  await page.keyboard.press('x');
  await page.getByRole('heading', { name: '2 nodes' }).waitFor(patience);
  await page.keyboard.press('Shift+F10');
  const menu = page.getByRole('menu');
  await menu.waitFor(patience);
  expect(await axe(page)).toEqual([]);
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  // The mean of 4.9 and -0.13.
  await settled(
    page,
    /ams: \{kind: router, at: \[52\.37, 2\.3[89]\]\}[^]*lon: \{kind: router, at: \[51\.51, 2\.3[89]\]\}/,
  );
  await page.keyboard.press('Control+z');
  await expect.poll(() => textOf(page), patience).toBe(CLUSTERS);
  // A whole group goes as one line; the menu goes with Escape, and the focus comes back.
  await dot(page, 'mad').focus();
  await page.keyboard.press('Shift+F10');
  await menu.waitFor(patience);
  await page.keyboard.press('Escape');
  await menu.waitFor({ state: 'detached' });
  await page.locator('[data-id="n:mad"]:focus').waitFor(patience);
  await dot(page, 'mad-n1').click({ button: 'right' });
  await menu.getByRole('menuitem', { name: 'Delete 100 hosts' }).click();
  await expect.poll(() => textOf(page), patience).not.toContain('mad-n1..100');
  await settled(page, /mad: \{kind: router/);
  await page.context().close();
});

test('with 500 hosts opened a frame of a drag is short', async () => {
  const page = await opened();
  for (const name of SITES) await dot(page, `${name}-n1`).click();
  await expect.poll(() => page.locator('.map g.node').count(), patience).toBe(505);
  await page.evaluate(() => {
    const frames: number[] = [];
    let last = performance.now();
    const next = (now: number): void => {
      frames.push(now - last);
      last = now;
      requestAnimationFrame(next);
    };
    requestAnimationFrame(next);
    (window as unknown as { frames: number[] }).frames = frames;
  });
  const at = (await dot(page, 'mad').boundingBox())!;
  await page.mouse.move(at.x + 15, at.y + 15);
  await page.mouse.down();
  for (let step = 0; step < 40; step++) await page.mouse.move(at.x + 15 + step * 2, at.y + 15 + step);
  const frames = await page.evaluate(() => (window as unknown as { frames: number[] }).frames);
  await page.mouse.up();
  const sorted = [...frames].sort((a, b) => a - b);
  const p95 = sorted[Math.floor(sorted.length * 0.95)]!.toFixed(1);
  console.log(
    `drag of 500 hosts: median frame ${sorted[sorted.length >> 1]!.toFixed(1)} ms, p95 ${p95} ms, of ${frames.length}`,
  );
  expect(frames.length).toBeGreaterThan(5);
  await page.context().close();
});
