/** A report opened from disk, without a network: every chart is painted, and can be zoomed, hovered and printed. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
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
  cubic: {kind: tcp, from: a, to: b, cc: cubic}
  probe: {kind: ping, from: a, to: b, every: 20ms}
events: [{at: 2s, link: wan, set: {delay: 20ms}}]
expect: [{metric: flows.bulk.goodput, min: 1Mbit}]
measure: {packets: {links: [wan], window: 1s}, monitor: {links: [wan], every: 10ms}}
`;
const command = process.env['LONGHAUL'] ?? join(root, '.venv/bin/longhaul');
let folder: string;
let browser: Browser;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'longhaul-report-'));
  writeFileSync(join(folder, 'pair.yaml'), scenario);
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

const report = (options: BrowserContextOptions = {}): Promise<Page> =>
  opened('runs/pair/latest/report.html', options);

async function opened(file: string, options: BrowserContextOptions = {}): Promise<Page> {
  const context = await browser.newContext({
    viewport: { width: 1440, height: 900 },
    offline: true,
    ...options,
  });
  const page = await context.newPage();
  page.on('pageerror', (error) => {
    throw error;
  });
  await page.goto(`file://${realpathSync(join(folder, file))}`);
  if (options.javaScriptEnabled !== false)
    await expect.poll(() => page.locator('.chart:not(.drawn)').count(), { timeout: 20_000 }).toBe(0);
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
async function pixels(figure: Locator, variable: string, panel = 0, shades = 12): Promise<number> {
  return figure
    .locator('canvas')
    .nth(panel)
    .evaluate(
      (canvas: HTMLCanvasElement, [name, shade]) => {
        const pen = document.createElement('canvas').getContext('2d')!;
        pen.fillStyle = getComputedStyle(document.documentElement)
          .getPropertyValue(name as string)
          .trim();
        pen.fillRect(0, 0, 1, 1);
        const wanted = pen.getImageData(0, 0, 1, 1).data;
        const { data } = canvas.getContext('2d')!.getImageData(0, 0, canvas.width, canvas.height);
        let found = 0;
        for (let at = 0; at < data.length; at += 4) {
          const near = [0, 1, 2].every(
            (place) => Math.abs(data[at + place]! - wanted[place]!) < (shade as number),
          );
          if (near && data[at + 3]! > 200) found += 1;
        }
        return found;
      },
      [variable, shades] as const,
    );
}

test.each(['light', 'dark'] as const)(
  'time and sequence: to the retransmissions, %s',
  async (colorScheme) => {
    const page = await report({ colorScheme });
    const figure = sequences(page);
    await figure.scrollIntoViewIfNeeded();
    expect(await timeAt(page, 0.98, figure)).toBeGreaterThan(3.5);
    const far = await pixels(figure, '--bad');
    const button = figure.getByRole('button', { name: 'Show most retransmissions' }).first();
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
    await figure.getByRole('button', { name: 'Show all of it' }).first().click();
    expect(await timeAt(page, 0.98, figure)).toBeGreaterThan(3.5);
    await figure.locator('.u-series', { hasText: 'retransmitted' }).first().click();
    expect(await pixels(figure, '--bad')).toBe(0);
  },
);

/** Charts of this run, by the names of their files. */
const CHARTS = [
  'delays',
  'throughput',
  'stacked',
  'fairness',
  'round-trips',
  'windows',
  'queues',
  'monitor',
  'sequences',
  'queueing-delays',
  'rtts',
  'utilisation',
  'packets',
  'packet-delays',
];

test.each(['light', 'dark'] as const)('every chart is painted with its axes, %s', async (colorScheme) => {
  const page = await report({ colorScheme });
  const names: string[] = [];
  for (const chart of await page.locator('.chart').all()) {
    await chart.scrollIntoViewIfNeeded();
    await expect.poll(() => chart.locator('canvas').count()).toBeGreaterThan(0);
    const { name, rows } = JSON.parse((await chart.locator('script').textContent())!) as {
      name: string;
      rows: { title: string; series: { name: string; colour: string; listed?: boolean; kind: string }[] }[][];
    };
    names.push(name);
    const panels = rows.flat();
    expect(await chart.locator('canvas').count(), name).toBe(panels.length);
    for (const [at, { title, series }] of panels.entries()) {
      expect(await chart.locator('.head').nth(at).innerText(), name).toContain(title);
      const listed = series.filter((each) => each.listed !== false && each.kind !== 'bars');
      const legend = await chart.locator('.head').nth(at).innerText();
      for (const each of listed) expect(legend, name).toContain(each.name);
      for (const each of series.filter(({ kind }) => !['strokes', 'crosses'].includes(kind)))
        expect(await pixels(chart, each.colour, at, 60), `${name}: ${each.name}`).toBeGreaterThan(3);
      // Numbers and lines of the axes.
      expect(await pixels(chart, '--muted', at), name).toBeGreaterThan(20);
      expect(await pixels(chart, '--grid', at), name).toBeGreaterThan(50);
    }
  }
  expect(names.sort()).toEqual([...CHARTS].sort());
});

test('a change is marked on every chart over time', async () => {
  const page = await report();
  const figure = throughput(page);
  await figure.scrollIntoViewIfNeeded();
  await figure.locator('canvas').waitFor();
  const { axes } = JSON.parse((await figure.locator('script').textContent())!) as {
    axes: { reach: number[] }[];
  };
  const [begin, end] = axes[0]!.reach as [number, number];
  const { at, top } = await figure
    .locator('.u-over')
    .evaluate(
      (over: HTMLElement, share) => ({ at: over.offsetLeft + over.offsetWidth * share, top: over.offsetTop }),
      (2 - begin) / (end - begin),
    );
  const dots = await figure.locator('canvas').evaluate(
    (canvas: HTMLCanvasElement, [x, y]) => {
      const data = canvas.getContext('2d')!.getImageData(Math.round(x!) - 2, y!, 5, 100).data;
      return [...Array(100).keys()].filter((row) =>
        [0, 1, 2, 3, 4].some((place) => data[(row * 5 + place) * 4 + 3]! > 150),
      ).length;
    },
    [at, top],
  );
  expect(dots).toBeGreaterThan(25);
});

test('the bar under the pointer is named', async () => {
  const page = await report();
  const figure = page.locator('figure', { hasText: "Jain's index is 1" });
  await figure.scrollIntoViewIfNeeded();
  const box = (await figure.locator('.u-over').boundingBox())!;
  await page.mouse.move(box.x + 20, box.y + box.height * 0.25);
  await expect
    .poll(() => figure.locator('.values-at-cursor').textContent())
    .toMatch(/\((reno|cubic)\): [\d.]+ Mbit\/s/);
});

test('in a comparison each legend names a side once, and each metric has its unit', async () => {
  writeFileSync(
    join(folder, 'slow.yaml'),
    scenario.replace('10Mbit', '5Mbit').replace('name: pair', 'name: slow'),
  );
  for (const file of ['pair.yaml', 'slow.yaml'])
    for (const seed of ['1', '2'])
      execFileSync(command, ['sim', file, '--seed', seed, '--no-report', '--runs', 'both'], { cwd: folder });
  const compared = ['--compare', 'both/pair', 'both/slow', '--output', 'both.html'];
  execFileSync(command, ['report', ...compared], { cwd: folder });
  const page = await opened('both.html');
  const overTime = page.locator('figure', { hasText: 'One line for each run' });
  await overTime.scrollIntoViewIfNeeded();
  await overTime.locator('canvas').first().waitFor();
  for (const head of await overTime.locator('.head').all()) {
    const words = (await head.innerText()).split(/\s*\n\s*/);
    for (const name of ['A rate=10 Mbit/s', 'B rate=5 Mbit/s'])
      expect(words.filter((each) => each === name)).toHaveLength(1);
  }
  const metrics = page.locator('figure', { hasText: 'Every run as a dot' });
  await metrics.scrollIntoViewIfNeeded();
  const { rows, axes } = JSON.parse((await metrics.locator('script').textContent())!) as {
    rows: { title: string; x: number }[][];
    axes: { label: string }[];
  };
  const units = new Map(rows.flat().map(({ title, x }) => [title, axes[x]!.label]));
  expect(units.get('flows.bulk.goodput')).toBe('[Mbit/s]');
  // An axis for each: a zoom into one metric moves no other.
  expect(new Set(rows.flat().map(({ x }) => x)).size).toBe(rows.flat().length);
  expect(await axe(page)).toEqual([]);
});

/** Reports of more than one run: how they are made, where they are, and the names of some of their charts. */
const OTHERS = {
  sweep: {
    command: [
      'sweep',
      'pair.yaml',
      '--axis',
      'links.wan.loss=0.1%,1%,5%',
      '--axis',
      'links.wan.delay=5ms,20ms',
      '--metric',
      'flows.bulk.goodput',
      '--runs',
      'others',
    ],
    file: 'others/pair/latest-sweep/report.html',
    charts: ['flows.bulk.goodput', 'flows.bulk.goodput-map'],
  },
  fit: {
    command: ['fit', 'gaps.txt', '--unit', 'packets', '--replicates', '0', '--report', 'fit.html'],
    file: 'fit.html',
    charts: ['survival', 'probabilities', 'quantiles'],
  },
  benchmark: {
    command: [
      'benchmark-cc',
      'reno',
      'cubic',
      '--sim',
      '--only',
      'access',
      '--only',
      'fairness',
      '--seeds',
      '1',
      '--runs',
      'others',
    ],
    file: 'others/benchmark-cc/latest/report.html',
    charts: ['effect', 'sharing'],
  },
};

test.each(Object.entries(OTHERS))(
  'the charts of a %s are drawn, in both themes and on paper',
  async (_, { command: words, file, charts }) => {
    const gaps = Array.from({ length: 60 }, (_, at) => 0.5 + ((at * 37) % 60) ** 1.5);
    writeFileSync(join(folder, 'gaps.txt'), gaps.join('\n'));
    execFileSync(command, words, { cwd: folder });
    for (const colorScheme of ['light', 'dark'] as const) {
      const page = await opened(file, { colorScheme });
      for (const name of charts)
        expect(await page.locator(`.chart[data-name="${name}"]`).count(), name).toBe(1);
      expect(await axe(page)).toEqual([]);
      await page.evaluate(() => dispatchEvent(new Event('beforeprint')));
      await page.emulateMedia({ media: 'print' });
      expect(await page.locator('.chart canvas').first().isVisible()).toBe(true);
      await page.context().close();
    }
  },
  120_000,
);

test('a heat map is a table, and is saved as picture and table', async () => {
  execFileSync(command, OTHERS.sweep.command, { cwd: folder });
  const page = await opened(OTHERS.sweep.file);
  const map = page.locator('.chart[data-name="flows.bulk.goodput-map"]');
  expect(await map.locator('td[class^=shade]').count()).toBe(6);
  const figure = page.locator('figure', { has: map });
  const files = new Map<string, Buffer>();
  for (const format of ['PNG', 'CSV']) {
    const begins = page.waitForEvent('download');
    await figure.getByRole('button', { name: RegExp(`^${format}`) }).click();
    files.set(format, readFileSync(await (await begins).path()));
  }
  expect(files.get('PNG')!.length).toBeGreaterThan(5000);
  const cells = rows(files.get('CSV')!.toString()).slice(1);
  expect(cells).toHaveLength(6);
  for (const loss of ['0.1 %', '1 %', '5 %'])
    expect(cells.filter((cell) => cell.includes(loss))).toHaveLength(2);
});

test('without scripts a report says what is missing, and has its tables', async () => {
  const still = await report({ javaScriptEnabled: false });
  expect(await still.getByText('The charts of this report need JavaScript').isVisible()).toBe(true);
  expect(await still.locator('table').first().isVisible()).toBe(true);
  const page = await report();
  expect(await page.getByText('The charts of this report need JavaScript').count()).toBe(0);
});

test('a printed report has every chart in the colours of paper', async () => {
  const page = await report({ colorScheme: 'dark' });
  await page.evaluate(() => dispatchEvent(new Event('beforeprint')));
  await page.emulateMedia({ media: 'print' });
  expect(await page.locator('.chart canvas').count()).toBeGreaterThan(CHARTS.length);
  const [paper, line] = await page.evaluate(() =>
    ['--paper', '--c1'].map((name) =>
      getComputedStyle(document.documentElement).getPropertyValue(name).trim(),
    ),
  );
  expect([paper, line]).toEqual(['#fff', '#1c64ad']);
  expect(await pixels(throughput(page), '--c1')).toBeGreaterThan(50);
  expect(await page.locator('.hint').first().isVisible()).toBe(false);
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

/** A file that a click saves. */
async function saved(page: Page, name: string): Promise<{ name: string; content: Buffer }> {
  const begins = page.waitForEvent('download');
  await page.getByRole('button', { name }).click();
  const download = await begins;
  return { name: download.suggestedFilename(), content: readFileSync(await download.path()) };
}

test('a chart is saved as a picture of what is in view, and as a table of its points', async () => {
  const page = await report();
  const picture = await saved(page, 'PNG of Throughput over time');
  expect(picture.name).toBe('throughput.png');
  expect([...picture.content.subarray(0, 4)]).toEqual([0x89, 0x50, 0x4e, 0x47]);
  const [width, height] = [picture.content.readUInt32BE(16), picture.content.readUInt32BE(20)];
  expect(width).toBeGreaterThan(900);
  expect(height).toBeGreaterThan(100);
  expect(picture.content.length).toBeGreaterThan(5000);

  const directory = realpathSync(join(folder, 'runs/pair/latest'));
  execFileSync(command, ['report', directory, '--format', 'csv']);
  for (const name of ['throughput', 'windows', 'stacked', 'fairness']) {
    const figure = page.locator(`.chart[data-name="${name}"]`);
    expect(await figure.count(), name).toBe(1);
    const button = page.locator('figure', { has: figure }).getByRole('button', { name: /^CSV/ });
    const begins = page.waitForEvent('download');
    await button.click();
    const download = await begins;
    expect(download.suggestedFilename()).toBe(`${name}.csv`);
    const shown = rows(readFileSync(await download.path(), 'utf8'));
    const written = rows(readFileSync(join(directory, 'figures', `${name}.csv`), 'utf8'));
    expect(shown[0], name).toEqual(written[0]);
    expect(shown.length, name).toBeGreaterThan(1);
    const [mine, theirs] = [bySeries(shown), bySeries(written)];
    expect([...mine.keys()].toSorted(), name).toEqual([...theirs.keys()].toSorted());
    for (const [series, points] of mine) {
      const others = theirs.get(series)!;
      expect(points.length, series).toBe(others.length);
      for (const [at, point] of points.entries())
        for (const [column, value] of point.entries()) {
          const other = others[at]![column]!;
          // A report has six digits of each number.
          if (value === '' || !Number.isFinite(Number(value))) expect(value, series).toBe(other);
          else
            expect(
              Math.abs(Number(value) - Number(other)) <= 1e-5 * Math.abs(Number(other)),
              `${series}: ${value} is ${other}`,
            ).toBe(true);
        }
    }
  }
});

/** The fields of CSV without quotes in quotes. */
const rows = (content: string): string[][] =>
  content
    .trim()
    .split(/\r?\n/)
    .map((line) =>
      [...line.matchAll(/(?:^|,)(?:"([^"]*)"|([^,]*))/g)].map((each) => each[1] ?? each[2] ?? ''),
    );

/** The points of each series of each panel, in their order. */
function bySeries(table: readonly string[][]): Map<string, string[][]> {
  const found = new Map<string, string[][]>();
  for (const row of table.slice(1)) {
    const series = `${row[0]}: ${row[1]}`;
    found.set(series, [...(found.get(series) ?? []), row]);
  }
  return found;
}

test('the list of contents leads to every section, and a table is sorted by mouse and keyboard', async () => {
  const page = await report();
  const contents = page.getByRole('navigation', { name: 'Contents' });
  const names = await contents.getByRole('link').allTextContents();
  expect(names).toContain('Throughput over time');
  expect(names).toEqual(await page.locator('h2').allTextContents());
  await contents.getByRole('link', { name: 'Traffic' }).click();
  expect(page.url()).toMatch(/#traffic$/);
  await expect
    .poll(() =>
      page
        .locator('#traffic')
        .boundingBox()
        .then((box) => box!.y < 300),
    )
    .toBe(true);

  const traffic = page.locator('#traffic ~ .scroll table').first();
  const goodput = traffic.getByRole('button', { name: 'goodput' });
  const at = await traffic
    .locator('thead th')
    .evaluateAll((heads) => heads.findIndex((head) => head.textContent === 'goodput'));
  const values = async (): Promise<number[]> =>
    (await traffic.locator(`tbody td:nth-child(${at + 1})`).allTextContents())
      .filter((text) => /\d/.test(text))
      .map((text) => parseFloat(text));
  const before = await values();
  await goodput.click();
  expect(await values()).toEqual(before.toSorted((one, other) => one - other));
  await page.keyboard.press('Enter');
  expect(await values()).toEqual(before.toSorted((one, other) => other - one));
  expect(await traffic.locator('th[aria-sort]').getAttribute('aria-sort')).toBe('descending');
  await page.keyboard.press('Enter');
  expect(await values()).toEqual(before);
});
