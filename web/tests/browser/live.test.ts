/** A live run: values under the pointer, all of its history in every tab, busiest links first, and few bytes on the wire. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { axe } from './axe';
import { desk, lacks, type Desk } from './server';

const patience = { timeout: 60_000 };
/** For a run of five minutes. */
const MOST_BYTES_PER_S = 2_000_000 / 300;

const SCENARIO = `version: 1
name: live
duration: 120s
nodes:
  r1..6: {kind: router}
  a1..2: {kind: host, attach: r1}
  b1..2: {kind: host, attach: r6}
links:
  idle1: {endpoints: [r1, r2], delay: 1ms, rate: 50Mbit}
  idle2: {endpoints: [r2, r3], delay: 1ms, rate: 50Mbit}
  idle3: {endpoints: [r3, r4], delay: 1ms, rate: 50Mbit}
  idle4: {endpoints: [r4, r5], delay: 90ms, rate: 50Mbit}
  busy: {endpoints: [r5, r6], delay: 1ms, rate: 50Mbit}
  wan: {endpoints: [r1, r6], delay: 20ms, rate: 20Mbit, queue: {limit: 1bdp}}
traffic:
  bulk: {kind: tcp, from: a1, to: b1, flows: 2, cc: reno}
  probe: {kind: ping, from: a2, to: b2, every: 100ms}
events: [{at: 6s, link: wan, set: {rate: 10Mbit}}]
`;
let here: Desk;
beforeAll(async () => {
  if (lacks) return;
  here = await desk();
  writeFileSync(join(here.folder, 'live.yaml'), SCENARIO);
});
// Whatever a failure leaves running ends with the server, a moment later.
afterAll(() => here?.end().catch(() => undefined));

/** The seconds at which a chart has its first and its last value, read from the legend under the pointer. */
async function reach(page: Page, title: string): Promise<[number, number]> {
  const chart = page.locator('.charts figure', { hasText: title });
  await chart.scrollIntoViewIfNeeded();
  const box = (await chart.locator('.u-over').boundingBox())!;
  const at = async (share: number): Promise<number> => {
    await page.mouse.move(box.x + box.width * share, box.y + box.height / 2);
    const found = /at ([\d.]+) s/.exec((await chart.locator('figcaption').textContent()) ?? '');
    return Number(found?.[1] ?? NaN);
  };
  return [await at(0.01), await at(0.99)];
}

test.skipIf(lacks)('a run is watched, reloaded and looked at from a second tab', async () => {
  const page = await here.page({ viewport: { width: 1600, height: 1000 } });
  const network = await page.context().newCDPSession(page);
  await network.send('Network.enable');
  let bytes = 0;
  network.on('Network.dataReceived', (event) => (bytes += event.encodedDataLength));
  await page.keyboard.press('Control+o');
  await page.locator('dialog').getByRole('button', { name: 'live.yaml' }).first().click();
  await page.locator('dialog').waitFor({ state: 'detached' });
  await page.keyboard.press('2');
  await page.locator('.run').waitFor();
  await page.getByRole('button', { name: 'Start' }).click();
  await page.getByText('wan: rate 20 → 10 Mbit/s').waitFor(patience);

  // The link that carries most is the first; the map has its colour.
  await expect.poll(() => page.locator('.numbers tbody th').first().textContent(), patience).toBe('wan');
  expect(await page.locator('[data-id="l:wan"] .mark').count()).toBe(1);
  // Flows have the names of the scenario, and every chart its values.
  const legend = page.locator('.charts figure', { hasText: 'Goodput of TCP flows' }).locator('.item');
  await expect
    .poll(() => legend.allTextContents(), patience)
    .toEqual(expect.arrayContaining([expect.stringMatching(/^bulk a1 → b1 +[\d.]+ [kM]?bit\/s/)]));
  for (const title of ['RTT of TCP flows', 'Congestion windows', 'Retransmitted', 'Queue occupancy'])
    await page.locator('.charts figure', { hasText: title }).waitFor(patience);
  expect(await axe(page)).toEqual([]);

  const before = bytes;
  await new Promise((resolve) => setTimeout(resolve, 8000));
  expect((bytes - before) / 8).toBeLessThan(MOST_BYTES_PER_S);
  expect(bytes - before).toBeGreaterThan(1000);

  // A click on the legend hides a line; a pin keeps a link.
  const item = page.locator('.charts figure', { hasText: 'Throughput' }).locator('.item').first();
  await item.click();
  expect(await item.getAttribute('aria-pressed')).toBe('false');
  await page.getByRole('button', { name: /^All \d+ links/ }).click();
  await page.getByRole('button', { name: 'Keep charts of idle4' }).click();
  await expect.poll(() => page.locator('.numbers tbody th').first().textContent(), patience).toBe('idle4');

  await page.reload();
  await page.locator('.charts figure', { hasText: 'Throughput' }).waitFor(patience);
  const second = await page.context().newPage();
  // The token is the tab's; the address has the run.
  await second.goto(here.url.replace(/#.*/, '') + here.url.slice(here.url.indexOf('#')));
  await second.locator('main .edit').waitFor(patience);
  await second.goto(page.url());
  for (const each of [page, second]) {
    await each.bringToFront();
    await each.locator('.charts figure', { hasText: 'Throughput' }).waitFor(patience);
    for (const title of ['Throughput', 'Ping, round trip', 'Goodput of TCP flows'])
      await expect
        .poll(async () => {
          const [first, last] = await reach(each, title);
          return first < 3 && last > 10 ? 'all' : `${title}: ${first} to ${last}`;
        }, patience)
        .toBe('all');
  }
  await page.bringToFront();
  await page.getByRole('button', { name: 'Stop' }).click();
  await page.getByRole('button', { name: 'Report' }).waitFor(patience);
  await expect.poll(async () => (await reach(page, 'Goodput of TCP flows'))[0] < 3, patience).toBe(true);
  // What the run ended with stays in the legends.
  await page.mouse.move(5, 5);
  const last = page.locator('.charts figure', { hasText: 'Goodput of TCP flows' }).locator('.value');
  await new Promise((resolve) => setTimeout(resolve, 1000));
  expect(await last.allTextContents()).toEqual([
    expect.stringMatching(/bit\/s/),
    expect.stringMatching(/bit\/s/),
  ]);
  await page.context().close();
});
