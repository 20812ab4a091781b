/**
 * A page that shows a live run of 500 hosts for half an hour: its heap, its main thread, and the bytes that it receives.
 * `bench/page.py` has it write its samples into the file ENDURANCE, and judges them.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CDPSession } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { desk, type Desk } from './server';

const MINUTES = Number(process.env['MINUTES'] ?? 30);
const HOSTS = 500;
/** One for each host, and one between each two of five clusters. */
const LINKS = HOSTS + 10;
const EVERY_S = 60;
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

test(
  `${HOSTS} hosts, ${MINUTES} min`,
  async () => {
    const page = await here.page();
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
    const found = { hosts: HOSTS, links: LINKS, minutes: MINUTES, samples };
    const out = process.env['ENDURANCE'];
    if (out) writeFileSync(out, JSON.stringify(found));
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.getByRole('button', { name: 'Report' }).waitFor({ timeout: 180_000 });
    await page.context().close();
    expect(samples.every((each) => each.received_mb > 0)).toBe(true);
  },
  (MINUTES + 10) * 60_000,
);
