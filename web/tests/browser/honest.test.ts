/** What a page shows of a run is of that run, and figures of one instant agree. */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { desk, longhaul, type Desk } from './server';

const patience = { timeout: 60_000 };
let here: Desk;

/** Two routers on a map that are joined, and a host at each. */
const ATLANTIC = `version: 1
name: atlantic
duration: $long
params: {long: 3s}
nodes:
  par: {kind: router, at: [48.85, 2.35]}
  nyc: {kind: router, at: [40.71, -74]}
  a1: {kind: host, attach: par}
  b1: {kind: host, attach: nyc}
links:
  wan: {endpoints: [par, nyc], delay: 200ms, rate: 10Mbit, queue: 1s}
  spare: {endpoints: [par, nyc], delay: 300ms, forward: {rate: 20Mbit}}
traffic:
  probe: {kind: ping, from: a1, to: b1, every: 200ms}
  load: {kind: udp, from: a1, to: b1, rate: 8.7Mbit, arrivals: poisson}
`;
/** Others, elsewhere, without places. */
const RING = `version: 1
name: ring
duration: 3s
nodes: {x: {kind: router}, y: {kind: router}, z: {kind: router}, h: {kind: host, attach: x}, k: {kind: host, attach: z}}
links:
  x-y: {endpoints: [x, y], delay: 1ms, rate: 1Mbit}
  y-z: {endpoints: [y, z], delay: 2ms, rate: 1Mbit}
  z-x: {endpoints: [z, x], delay: 9ms, rate: 1Mbit}
traffic: {p: {kind: ping, from: h, to: k}}
`;

beforeAll(async () => {
  here = await desk();
  writeFileSync(join(here.folder, 'atlantic.yaml'), ATLANTIC);
  writeFileSync(join(here.folder, 'ring.yaml'), RING);
});
afterAll(() => here.end());

type Shown = { links: string[]; nodes: string[]; charted: string[]; colours: string[]; world: boolean };

/** What of a run does not depend on when it is looked at. */
async function shown(page: Page): Promise<Shown> {
  return page.evaluate(() => {
    const all = (selector: string): Element[] => [...document.querySelectorAll(selector)];
    const place = (each: Element): string => {
      const sign = each.querySelector('.sign')!;
      const [x, y] = ['cx', 'cy'].map((key) => Number(sign.getAttribute(key) ?? sign.getAttribute(key[1]!)));
      return `${each.getAttribute('data-id')} ${Math.round(x!)} ${Math.round(y!)}`;
    };
    return {
      links: all('.map g.link').map((each) => each.getAttribute('data-id')!),
      nodes: all('.map g.node').map(place),
      charted: all('.numbers th[rowspan]').map((each) => each.textContent!),
      colours: all('.numbers .swatch').map((each) => getComputedStyle(each).borderTopColor),
      world: document.querySelector('.run .legend') !== null,
    };
  });
}

async function open(page: Page, file: string): Promise<void> {
  await page.keyboard.press('1');
  await page.locator('main .edit').waitFor();
  await page.keyboard.press('Control+o');
  await page.locator('dialog').getByRole('button', { name: file, exact: true }).click();
  await page.locator('dialog').waitFor({ state: 'detached' });
  await expect.poll(() => page.title(), patience).toContain(file);
}

test('a run is shown on its own map, whichever file is open, in every tab and after a reload', async () => {
  execFileSync(longhaul, ['sim', 'atlantic.yaml', '--no-report'], { cwd: here.folder });
  const page = await here.page();
  await open(page, 'ring.yaml');
  await page.keyboard.press('3');
  await page.getByRole('button', { name: 'atlantic', exact: true }).click();
  await page.getByRole('button', { name: 'Charts' }).click();
  await page.getByText('The whole run').waitFor(patience);
  const first = await shown(page);
  expect([...first.links].sort()).toEqual(['l:a1-par', 'l:b1-nyc', 'l:spare', 'l:wan']);
  expect(first.charted).toEqual(['wan', 'spare']);
  expect(new Set(first.colours).size).toBeGreaterThan(1);
  expect(await page.locator('.run').textContent()).not.toContain('x-y');
  // The other file would be started, and the button says so.
  await page.getByRole('button', { name: 'Start ring.yaml' }).waitFor();

  await page.reload();
  await page.getByText('The whole run').waitFor(patience);
  expect(await shown(page)).toEqual(first);

  const address = page.url();
  const second = await page.context().newPage();
  await second.goto(here.url, { waitUntil: 'commit' });
  await second.locator('main .edit').waitFor();
  await second.goto(address);
  await second.getByText('The whole run').waitFor(patience);
  expect(await shown(second)).toEqual(first);
  // Its own file beside it, and it is the same run, which can be run again.
  await open(second, 'atlantic.yaml');
  await second.keyboard.press('2');
  await second.getByRole('button', { name: 'Run again' }).waitFor(patience);
  expect(await shown(second)).toEqual(first);
  await page.context().close();
});

/** Of a link on the map, taken between two frames: its label, and the colour of its line. */
type Look = { label: string; colour: string; table: string[] };
const looks = (page: Page, link: string, many: number): Promise<Look[]> =>
  page.evaluate(
    async ([name, count]) => {
      const found: Look[] = [];
      const frame = (): Promise<void> => new Promise((resolve) => requestAnimationFrame(() => resolve()));
      const canvas = document.querySelector<HTMLCanvasElement>('.map canvas')!;
      const context = canvas.getContext('2d')!;
      for (let round = 0; round < 3000 && found.length < count; round++) {
        const read = (): Look => {
          const line = document.querySelector(`[data-id="l:${name}"]`)!;
          const ring = line.querySelector('.ring')!;
          const ratio = devicePixelRatio;
          const [x, y] = ['cx', 'cy'].map((key) => Math.round(Number(ring.getAttribute(key)) * ratio));
          const [r, g, b] = context.getImageData(x!, y!, 1, 1).data;
          const row = [...document.querySelectorAll('.numbers tr')].find(
            (each) => each.querySelector('th')?.textContent === name,
          )!;
          const cells = [...row.querySelectorAll('td.number')].map((each) => each.textContent!.trim());
          return { label: line.getAttribute('aria-label')!, colour: `${r},${g},${b}`, table: cells };
        };
        await frame();
        const before = read().label;
        await frame();
        await frame();
        const now = read();
        // What changed just now is painted in the next frame.
        if (now.label === before && found.at(-1)?.label !== now.label && /\d %/.test(now.label))
          found.push(now);
      }
      return found;
    },
    [link, many] as const,
  );

const bits = (text: string): number => {
  const [, value, unit] = /^([\d.]+) ([GMk]?)bit\/s$/.exec(text) ?? [];
  return Number(value) * { G: 1e9, M: 1e6, k: 1e3, '': 1 }[unit ?? '']!;
};

test('label, colour, throughput and utilisation of a link in a live run are of one sample', async () => {
  const page = await here.page();
  await open(page, 'atlantic.yaml');
  await page.keyboard.press('2');
  await page.getByLabel('Parameters').fill('long=14s');
  await page.getByRole('button', { name: 'Start' }).click();
  await page.getByText(/^Last \d/).waitFor(patience);
  // Another file is opened meanwhile; the run stays on its own map.
  const colours = await page.evaluate(() => {
    const probe = document.createElement('canvas').getContext('2d')!;
    const style = getComputedStyle(document.documentElement);
    return [0, 1, 2, 3, 4, 5].map((at) => {
      probe.fillStyle = style.getPropertyValue(`--l${at}`);
      probe.fillRect(0, 0, 1, 1);
      return probe.getImageData(0, 0, 1, 1).data.slice(0, 3).join();
    });
  });
  const found = await looks(page, 'wan', 14);
  expect(found.length).toBeGreaterThan(6);
  const ends = [1, 25.05, 50.05, 75.05, 90.05];
  for (const { label, colour, table } of found) {
    const percent = Number(/([\d.]+) %/.exec(label)![1]);
    expect({ label, class: colours.indexOf(colour) }).toEqual({
      label,
      class: ends.filter((end) => percent >= end).length,
    });
    // 10 Mbit/s: throughput and utilisation are one number in two units.
    const [throughput, utilisation] = table;
    const used = Number(utilisation!.replace(' %', ''));
    expect(Math.abs(bits(throughput!) / 10e6 - used / 100)).toBeLessThan(0.006);
    expect(Math.abs(percent - used)).toBeLessThan(0.06);
  }
  await open(page, 'ring.yaml');
  await page.keyboard.press('2');
  await page.locator('.run').waitFor();
  await expect
    .poll(() => shown(page).then((each) => [...each.links].sort()), patience)
    .toEqual(['l:a1-par', 'l:b1-nyc', 'l:spare', 'l:wan']);
  await page.getByRole('button', { name: 'Report' }).waitFor(patience);
  await page.getByText('The whole run').waitFor(patience);
  const ended = await shown(page);
  expect(ended.charted.slice(0, 2)).toEqual(['wan', 'spare']);
  await page.reload();
  await page.getByText('The whole run').waitFor(patience);
  expect(await shown(page)).toEqual(ended);
  await page.context().close();
});
