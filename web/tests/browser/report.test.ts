/** A report opened from disk, without a network: figures that one can drag into. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium, type Browser, type BrowserContextOptions, type Locator, type Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { axe } from './axe';

const root = join(import.meta.dirname, '../../..');
const scenario = `
version: 1
name: pair
duration: 4s
nodes: {a: {kind: host}, b: {kind: host}}
links: {wan: {endpoints: [a, b], delay: 10ms, rate: 10Mbit, loss: 0.5%}}
traffic:
  bulk: {kind: tcp, from: a, to: b, cc: reno}
  probe: {kind: ping, from: a, to: b, every: 20ms}
measure: {packets: {links: [wan], window: 1s}}
`;
let folder: string;
let browser: Browser;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'longhaul-report-'));
  writeFileSync(join(folder, 'pair.yaml'), scenario);
  const command = process.env['LONGHAUL'] ?? join(root, '.venv/bin/longhaul');
  execFileSync(command, ['sim', 'pair.yaml'], { cwd: folder });
  browser = await chromium.launch({
    executablePath: process.env['CHROMIUM'] ?? '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu'],
  });
});
afterAll(async () => {
  await browser.close();
  rmSync(folder, { recursive: true, force: true });
});

async function report(options: BrowserContextOptions = {}): Promise<Page> {
  const context = await browser.newContext({
    viewport: { width: 1440, height: 900 },
    offline: true,
    ...options,
  });
  const page = await context.newPage();
  page.on('pageerror', (error) => {
    throw error;
  });
  await page.goto(`file://${realpathSync(join(folder, 'runs/pair/latest'))}/report.html`);
  return page;
}

const throughput = (page: Page) => page.locator('figure', { hasText: 'Bits whose transmission began' });

const sequences = (page: Page) => page.locator('figure', { hasText: 'A stroke is a segment' });

/** The time that the legend shows for a share of the width, in s. */
async function timeAt(page: Page, share: number, figure = throughput(page)): Promise<number> {
  const box = (await figure.locator('.u-over').first().boundingBox())!;
  await page.mouse.move(box.x + box.width * share, box.y + box.height / 2);
  const value = figure.locator('.u-legend .u-value').first();
  await expect.poll(() => value.textContent()).toMatch(/\d/);
  return Number(await value.textContent());
}

test('one drags into a figure, and a double click goes back', async () => {
  const page = await report();
  const figure = throughput(page);
  await figure.scrollIntoViewIfNeeded();
  expect(await figure.locator('> svg').isVisible()).toBe(false);
  const whole = [await timeAt(page, 0.02), await timeAt(page, 0.98)];
  expect(whole[1]! - whole[0]!).toBeGreaterThan(3);
  const box = (await figure.locator('.u-over').first().boundingBox())!;
  await page.mouse.move(box.x + box.width * 0.5, box.y + 30);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.75, box.y + 40, { steps: 4 });
  await page.mouse.up();
  const part = [await timeAt(page, 0.02), await timeAt(page, 0.98)];
  expect(part[0]).toBeGreaterThan(1.7);
  expect(part[1]).toBeLessThan(3.3);
  await page.mouse.dblclick(box.x + box.width / 2, box.y + 30);
  expect(await timeAt(page, 0.98)).toBeCloseTo(whole[1]!, 1);
});

/** How many pixels of the first drawing have the colour of a variable, within the shades that edges have. */
async function pixels(figure: Locator, variable: string): Promise<number> {
  return figure
    .locator('canvas')
    .first()
    .evaluate((canvas: HTMLCanvasElement, name) => {
      const pen = document.createElement('canvas').getContext('2d')!;
      pen.fillStyle = getComputedStyle(document.documentElement).getPropertyValue(name).trim();
      pen.fillRect(0, 0, 1, 1);
      const wanted = pen.getImageData(0, 0, 1, 1).data;
      const { data } = canvas.getContext('2d')!.getImageData(0, 0, canvas.width, canvas.height);
      let found = 0;
      for (let at = 0; at < data.length; at += 4) {
        const near = [0, 1, 2].every((place) => Math.abs(data[at + place]! - wanted[place]!) < 12);
        if (near && data[at + 3]! > 200) found += 1;
      }
      return found;
    }, variable);
}

test.each(['light', 'dark'] as const)(
  'time and sequence: to the retransmissions, %s',
  async (colorScheme) => {
    const page = await report({ colorScheme });
    const figure = sequences(page);
    await figure.scrollIntoViewIfNeeded();
    expect(await timeAt(page, 0.98, figure)).toBeGreaterThan(3.5);
    const far = await pixels(figure, '--bad');
    const button = figure.getByRole('button', { name: 'Show most retransmissions' });
    await button.focus();
    await page.keyboard.press('Enter');
    const part = [await timeAt(page, 0.02, figure), await timeAt(page, 0.98, figure)];
    expect(part[1]! - part[0]!).toBeLessThan(0.2);
    // Close by, a retransmitted segment is longer than a dot.
    expect(await pixels(figure, '--bad')).toBeGreaterThan(Math.max(far, 20));
    expect(await pixels(figure, '--c1')).toBeGreaterThan(20);
    const legend = await figure.locator('.u-legend').first().innerText();
    const [acknowledged, sent, allowed] = ['acknowledged', 'segment', 'end of the window'].map((name) =>
      Number(RegExp(`${name}\\s*(\\d+\\.\\d+)`).exec(legend)![1]),
    );
    expect(acknowledged).toBeLessThan(sent!);
    expect(sent).toBeLessThan(allowed!);
    await figure.getByRole('button', { name: 'Show all of it' }).click();
    expect(await timeAt(page, 0.98, figure)).toBeGreaterThan(3.5);
    await figure.locator('.u-series', { hasText: 'retransmitted' }).first().click();
    expect(await pixels(figure, '--bad')).toBe(0);
  },
);

test('without scripts and in print, the drawings stay', async () => {
  const still = await report({ javaScriptEnabled: false });
  expect(await throughput(still).locator('> svg').isVisible()).toBe(true);
  const page = await report();
  expect(await throughput(page).locator('.plots').isVisible()).toBe(true);
  await page.emulateMedia({ media: 'print' });
  expect(await throughput(page).locator('> svg').isVisible()).toBe(true);
  expect(await throughput(page).locator('.plots').isVisible()).toBe(false);
  expect(await sequences(page).locator('> svg').isVisible()).toBe(true);
  expect(await sequences(page).getByText('On the left the whole flow').isVisible()).toBe(true);
});

test.each([
  ['light', 1440],
  ['dark', 1440],
  ['light', 800],
  ['dark', 800],
] as const)('nothing is wrong with it, %s and %i wide', async (colorScheme, width) => {
  const page = await report({ colorScheme, viewport: { width, height: 900 } });
  expect(await axe(page)).toEqual([]);
  const over = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
  expect(over).toBeLessThanOrEqual(0);
});
