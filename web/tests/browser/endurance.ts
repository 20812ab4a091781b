/**
 * A page that shows a live run of 500 hosts for half an hour: its heap, its main thread, and the bytes that it receives.
 * `MINUTES=30 npm run endurance` writes bench/page.json, which docs/explanation/page-and-others.md shows.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { cpus, release } from 'node:os';
import { join } from 'node:path';
import type { CDPSession } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { desk, root, type Desk } from './server';

const MINUTES = Number(process.env['MINUTES'] ?? 30);
const HOSTS = 500;
const EVERY_S = 60;
/** Of the median heap of the last third of the samples to that of the first: what is kept of each sample would show. */
const MOST_GROWTH = 1.15;

const SCENARIO = `version: 1
name: five-hundred
duration: ${MINUTES + 5}min
measure: {every: 500ms}
topology:
  kind: clusters
  clusters: 5
  hosts: ${HOSTS / 5}
  access: {delay: 50us, rate: 1Gbit}
  wan: {delay: 10ms, rate: 100Mbit}
traffic:
  near: {kind: ping, from: c1-h1, to: c2-h1, every: 100ms}
  far: {kind: ping, from: c3-h1, to: c5-h1, every: 100ms}
  steady: {kind: udp, from: c1-h2, to: c4-h2, rate: 5Mbit}
  transfer: {kind: tcp, from: c2-h3, to: c5-h3, cc: reno}
`;

type Measured = { t_s: number; heap_mb: number; main_thread_s: number; received_mb: number };

let here: Desk;
beforeAll(async () => {
  here = await desk([], (folder) => writeFileSync(join(folder, 'five-hundred.yaml'), SCENARIO));
});
afterAll(() => here.end());

async function metrics(session: CDPSession): Promise<{ heap_mb: number; main_thread_s: number }> {
  await session.send('HeapProfiler.collectGarbage');
  const { metrics: all } = await session.send('Performance.getMetrics');
  const value = (name: string): number => all.find((each) => each.name === name)!.value;
  return { heap_mb: value('JSHeapUsedSize') / 1e6, main_thread_s: value('ThreadTime') };
}

const median = (values: number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1]!;

test(
  `${HOSTS} hosts, ${MINUTES} min`,
  async () => {
    const page = await here.page();
    const paint_s = await page.evaluate(
      () => performance.getEntriesByName('first-contentful-paint')[0]!.startTime / 1000,
    );
    const session = await page.context().newCDPSession(page);
    await session.send('Performance.enable');
    await session.send('Network.enable');
    let received = 0;
    session.on('Network.dataReceived', (each) => (received += each.encodedDataLength));
    await page.keyboard.press('Control+o');
    await page.locator('dialog').getByRole('button', { name: 'five-hundred.yaml' }).click();
    await page.locator('dialog').waitFor({ state: 'detached' });
    await page.getByRole('link', { name: 'Run', exact: true }).click();
    await page.getByRole('button', { name: 'Start' }).click();
    await page.locator('.status').getByText('running', { exact: true }).waitFor({ timeout: 180_000 });
    await page.waitForTimeout(10_000);
    const [first, atFirst, began] = [await metrics(session), received, performance.now()];
    const samples: Measured[] = [];
    while (samples.length < (MINUTES * 60) / EVERY_S) {
      await page.waitForTimeout(began + (samples.length + 1) * EVERY_S * 1000 - performance.now());
      const { heap_mb, main_thread_s } = await metrics(session);
      samples.push({
        t_s: (performance.now() - began) / 1000,
        heap_mb,
        main_thread_s: main_thread_s - first.main_thread_s,
        received_mb: (received - atFirst) / 1e6,
      });
      console.log(JSON.stringify(samples.at(-1)));
    }
    const last = samples.at(-1)!;
    const third = Math.max(1, Math.floor(samples.length / 3));
    const heaps = samples.map((each) => each.heap_mb);
    const growth = median(heaps.slice(-third)) / median(heaps.slice(0, third));
    const model = /model name\s*: (.*)/.exec(readFileSync('/proc/cpuinfo', 'utf-8'))?.[1] ?? 'unknown';
    const row = (what: string, value: number, unit: string, most: number): object => ({
      what: `${HOSTS} hosts, ${MINUTES} min live: ${what}`,
      value,
      unit,
      target: `at most ${most}`,
      met: value <= most,
    });
    const provenance = {
      commit: execFileSync('git', ['rev-parse', '--short=10', 'HEAD'], {
        cwd: root,
        encoding: 'utf-8',
      }).trim(),
      date: new Date().toISOString().slice(0, 10),
      machine: `${cpus().length} x ${model}, Linux ${release()}`,
      rounds: 1,
    };
    const rows = [
      row('main thread', last.main_thread_s / last.t_s, 'cores', 0.3),
      row('received in 5 min', (last.received_mb / last.t_s) * 300, 'MB', 2),
      row('heap at the end, of that at the beginning', growth, '', MOST_GROWTH),
      row('heap', median(heaps), 'MB', 50),
      row('first paint', paint_s, 's', 0.5),
    ];
    const found = { figures: { live: { provenance, rows, samples } } };
    writeFileSync(join(root, 'bench/page.json'), `${JSON.stringify(found, null, 1)}\n`);
    console.log(JSON.stringify(rows));
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.getByRole('button', { name: 'Report' }).waitFor({ timeout: 180_000 });
    await page.context().close();
    expect(growth).toBeLessThan(MOST_GROWTH);
  },
  (MINUTES + 10) * 60_000,
);
