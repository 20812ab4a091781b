/** The widget of notebooks, as anywidget runs it: its module gets a model and an element. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium, type Browser, type Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { axe } from './axe';

const root = join(import.meta.dirname, '../../..');
const python = process.env['LONGHAUL_PYTHON'] ?? join(root, '.venv/bin/python');
const scenario = `
version: 1
name: pair
duration: 4s
nodes: {a: {kind: host}, b: {kind: host}}
links: {wan: {endpoints: [a, b], delay: 10ms, rate: 10Mbit, loss: 0.5%}}
traffic:
  bulk: {kind: tcp, from: a, to: b, cc: reno}
  probe: {kind: ping, from: a, to: b, every: 20ms}
`;
const script = `
import json, longhaul
one, other = (longhaul.run_sim("pair.yaml", seed=seed, report=False) for seed in (1, 2))
widgets = [one.charts(), longhaul.compare(one, other).charts("over_time", "distributions")]
print(json.dumps([{"charts": each.charts, "esm": str(each._esm), "css": str(each._css)} for each in widgets]))
`;
type Widget = { charts: unknown[]; esm: string; css: string };
let folder: string;
let browser: Browser;
let run: Widget;
let comparison: Widget;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'longhaul-notebook-'));
  writeFileSync(join(folder, 'pair.yaml'), scenario);
  const told = execFileSync(python, ['-c', script], { cwd: folder, maxBuffer: 1 << 28 });
  [run, comparison] = JSON.parse(told.toString()) as [Widget, Widget];
  browser = await chromium.launch({
    executablePath: process.env['CHROMIUM'] ?? '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu'],
  });
});
afterAll(async () => {
  await browser.close();
  rmSync(folder, { recursive: true, force: true });
});

/** A page that looks like JupyterLab to the widget, with it in a cell. */
async function cell(widget: Widget, theme: 'true' | 'false' = 'true'): Promise<Page> {
  const page = await browser.newPage({ viewport: { width: 1000, height: 900 } });
  page.on('pageerror', (error) => {
    throw error;
  });
  await page.setContent(
    `<!doctype html><html lang="en"><head><title>cell</title></head>
     <body style="background: Canvas" data-jp-theme-light="${theme}"><main><h1>notebook</h1><div id="cell" style="display: none"></div></main></body></html>`,
  );
  await page.addStyleTag({ content: widget.css });
  await page.evaluate((given) => Object.assign(window, given), widget);
  // As text: vitest would translate an import.
  await page.evaluate(`(async () => {
    const url = URL.createObjectURL(new Blob([esm], { type: 'text/javascript' }));
    const { default: module } = await import(url);
    const model = { get: () => charts, on: () => undefined, off: () => undefined };
    window.remove = module.render({ model, el: document.querySelector('#cell') });
  })()`);
  // Notebooks attach a cell before they show it.
  await page.locator('#cell').evaluate((el) => el.removeAttribute('style'));
  await expect.poll(() => page.locator('.chart.drawn').count()).toBe(widget.charts.length);
  return page;
}

/** How many colours each canvas has beside that of its paper. */
const colours = (page: Page): Promise<number[]> =>
  page.locator('.longhaul-charts canvas').evaluateAll((all) =>
    (all as HTMLCanvasElement[]).map((canvas) => {
      const { data } = canvas.getContext('2d')!.getImageData(0, 0, canvas.width, canvas.height);
      return new Set(new Uint32Array(data.buffer)).size;
    }),
  );

test('a run has the charts of its report, in the colours of the theme', async () => {
  const page = await cell(run);
  expect(run.charts.length).toBeGreaterThan(3);
  for (const each of await colours(page)) expect(each).toBeGreaterThan(2);
  const series = () =>
    page
      .locator('.longhaul-charts')
      .evaluate((each) => getComputedStyle(each).getPropertyValue('--c1').trim());
  expect(await series()).toBe('#1c64ad');
  const before = await page.locator('.longhaul-charts canvas').first().screenshot();
  await page.locator('body').evaluate((body) => body.setAttribute('data-jp-theme-light', 'false'));
  expect(await series()).toBe('#8dc5f0');
  const after = await page.locator('.longhaul-charts canvas').first().screenshot();
  expect(after.equals(before)).toBe(false);
  expect(await axe(page)).toEqual([]);
  await page.close();
});

test('a comparison has the charts of the page, which can be zoomed and go with their cell', async () => {
  const page = await cell(comparison, 'false');
  expect(await page.locator('.chart').evaluateAll((all) => all.map((each) => each.dataset['name']))).toEqual([
    'over-time',
    'distributions',
  ]);
  const plot = page.locator('.u-over').first();
  const box = (await plot.boundingBox())!;
  const before = await page.locator('.longhaul-charts canvas').first().screenshot();
  await page.mouse.move(box.x + box.width / 4, box.y + box.height / 2);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2, { steps: 5 });
  await page.mouse.up();
  await page.mouse.move(0, 0);
  expect((await page.locator('.longhaul-charts canvas').first().screenshot()).equals(before)).toBe(false);
  await page.setViewportSize({ width: 700, height: 900 });
  await expect
    .poll(() =>
      page.locator('.u-wrap').evaluateAll((all) => Math.max(...all.map((each) => each.clientWidth))),
    )
    .toBeLessThan(700);
  await page.evaluate(() => (window as unknown as { remove: () => void }).remove());
  expect(await page.locator('.chart').count()).toBe(0);
  await page.close();
});
