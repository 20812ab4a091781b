/** Relays on the page: one is started, carries bytes of a real connection, is changed and stopped; path maps. */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { axe } from './axe';
import { Person, words } from './person';
import { desk, type Desk } from './server';
import { write } from './text';

const patience = { timeout: 60_000 };
const NAME = `page-relay-${process.pid}`;
const SCENARIO = `version: 1
name: sites
params: {socks: 1080}
nodes: {a: {kind: router}, b: {kind: router}}
links: {wan: {endpoints: [a, b], delay: 7ms, rate: 50Mbit}}
relay:
  clusters:
    a: {gateway: 127.1.0.1, machines: 127.1.0.0/24, names: {a1: 127.1.0.11}}
    b: {gateway: 127.2.0.1, machines: 127.2.0.0/24, names: {b1: 127.2.0.11}}
  socks: $socks
`;

let here: Desk;
let page: Page;
let echo: Server;
const ends = new Set<Socket>();
beforeAll(async () => {
  echo = createServer((socket) => {
    ends.add(socket);
    socket.on('error', () => socket.destroy());
    socket.pipe(socket);
  });
  await new Promise<void>((resolve) => echo.listen(0, '127.0.0.1', resolve));
  here = await desk([], (folder) => writeFileSync(join(folder, 'sites.yaml'), SCENARIO));
  page = await here.page();
});
afterAll(async () => {
  await here.end();
  for (const each of ends) each.destroy();
  echo.close();
});

const port = (): number => (echo.address() as AddressInfo).port;

/** A connection by which so many bytes went and came back; it stays open. */
async function send(address: string, bytes: number): Promise<Socket> {
  const [host, port] = address.split(':');
  const socket = connect(Number(port), host);
  await new Promise<void>((resolve, reject) => {
    let left = bytes;
    socket.on('data', (piece) => (left -= piece.length) || resolve());
    socket.once('error', reject);
    socket.write(Buffer.alloc(bytes));
  });
  return socket;
}

const figure = async (name: string): Promise<string> =>
  words(await page.locator('.relay dl > div').filter({ hasText: name }).locator('dd').textContent());

async function look(name: string): Promise<void> {
  const folder = process.env['PICTURES'];
  for (const width of [1400, 800])
    for (const colorScheme of ['dark', 'light'] as const) {
      await page.setViewportSize({ width, height: width > 1000 ? 900 : 700 });
      await page.emulateMedia({ colorScheme });
      await new Promise((resolve) => setTimeout(resolve, 200));
      expect(await axe(page), `${name}, ${width}, ${colorScheme}`).toEqual([]);
      if (folder) await page.screenshot({ path: join(folder, `${name}-${width}-${colorScheme}.png`) });
    }
  await page.setViewportSize({ width: 1440, height: 900 });
}

test('a relay of one link is started, carries bytes, is changed and stopped, and has results', async () => {
  await page.keyboard.press('8');
  await page.getByRole('heading', { name: 'Start a relay' }).waitFor();
  await page.getByRole('button', { name: 'One link' }).click();
  await page.getByLabel('delay', { exact: true }).fill('10ms');
  await page.getByLabel('rate', { exact: true }).fill('10Mbit');
  await page.getByLabel('forwards').fill(`0=127.0.0.1:${port()}`);
  await page.getByLabel('name', { exact: true }).fill(NAME);
  await page.keyboard.press('Enter');
  const relay = page.getByRole('region', { name: `Relay ${NAME}` });
  await relay.getByRole('status').getByText('running', { exact: true }).waitFor(patience);
  const address = words(await relay.locator('li code').first().textContent());
  const socket = await send(address, 20_000);
  await expect.poll(() => figure('open'), patience).toBe('1');
  expect(await figure('accepted')).toBe('1');
  await expect.poll(() => figure('bytes'), patience).toBe('40 kB');
  expect(await figure('verdict so far')).toMatch(/^(faithful|degraded)$/);
  const row = relay.getByRole('row', { name: /^wan → ?forward/ });
  expect(words(await row.textContent())).toMatch(/10 ms ?10 Mbit\/s ?0 % ?20 kB ?20 kB/);
  // Charts grow while it runs, and keep what the user chose. The log is written with a later message.
  const chart = relay.locator('.chart[data-name=relayed]');
  const more = setInterval(() => socket.write('x'), 700);
  await expect.poll(() => chart.locator('canvas').count(), patience).toBe(3);
  for (const name of ['near > far', 'far > near', '1: near > far', 'median', 'p99'])
    await chart.getByText(name, { exact: true }).first().waitFor(patience);
  // At once: on a busy machine newer points come while a mouse is on its way.
  await chart.getByText('far > near', { exact: true }).first().dispatchEvent('click');
  await expect.poll(() => chart.locator('.u-series.u-off').count(), patience).toBe(1);
  const before = (await chart.locator('canvas').first().elementHandle())!;
  await expect.poll(() => before.evaluate((canvas) => canvas.isConnected), patience).toBe(false);
  await expect.poll(() => chart.locator('.u-series.u-off').count(), patience).toBe(1);
  const saved = page.waitForEvent('download');
  clearInterval(more);
  await relay.getByRole('button', { name: /^CSV of throughput and lateness/ }).click();
  expect((await saved).suggestedFilename()).toBe('relayed.csv');
  await look('relay-running');
  await relay.getByLabel('Direction').selectOption('reverse');
  await relay.locator('#relay-delay-now').fill('30');
  await relay.getByRole('button', { name: 'Change', exact: true }).click();
  await relay.getByRole('alert').getByText('has no unit').waitFor(patience);
  await relay.locator('#relay-delay-now').fill('30ms');
  await relay.getByRole('button', { name: 'Change', exact: true }).click();
  await relay.getByRole('cell', { name: 'wan reverse: delay 10 → 30 ms' }).waitFor(patience);
  await relay.getByRole('row', { name: /^wan ← ?reverse 30 ms/ }).waitFor(patience);
  expect(words(await row.textContent())).toContain('10 ms');
  socket.destroy();
  await expect.poll(() => figure('open'), patience).toBe('0');
  await relay.getByRole('button', { name: 'Stop the relay' }).click();
  await relay.getByRole('status').getByText('passed').waitFor(patience);
  await relay.getByText(/^(faithful|degraded), with 1 intervention$/).waitFor();
  expect(await figure('bytes')).toMatch(/^40(\.\d+)? kB$/);
  const [run = ''] = readdirSync(join(here.folder, 'runs/relay')).filter((each) => each.includes('-relay-'));
  expect(existsSync(join(here.folder, 'runs/relay', run, 'summary.json'))).toBe(true);
  await expect.poll(() => chart.locator('canvas').count(), patience).toBe(3);
  await look('relay-ended');
  const report = page.context().waitForEvent('page');
  await relay.getByRole('button', { name: 'Report', exact: true }).click();
  const shown = await report;
  await shown.getByRole('heading', { name: 'Throughput and lateness over time' }).waitFor(patience);
  await expect.poll(() => shown.locator('.chart canvas').count(), patience).toBe(3);
  expect(await axe(shown)).toEqual([]);
  const folder = process.env['PICTURES'];
  for (const colorScheme of ['light', 'dark'] as const) {
    await shown.emulateMedia({ colorScheme });
    if (folder)
      await shown.screenshot({ path: join(folder, `relay-report-${colorScheme}.png`), fullPage: true });
  }
  await shown.close();
  await relay.getByRole('button', { name: 'All results' }).click();
  await page.getByRole('heading', { name: /^relay, / }).waitFor(patience);
});

test('the path map has the settings of each machine, and Start says what keeps a relay from running', async () => {
  await page.goto(`${page.url().split('#')[0]}#/relay`);
  await page.getByLabel('scenario', { exact: true }).selectOption('file:sites.yaml');
  await page.getByRole('heading', { name: 'Path map of sites.yaml' }).waitFor(patience);
  const cluster = page.getByRole('article', { name: 'Cluster a' });
  await cluster.getByRole('row', { name: /^b 127.1.0.1 wan 7 ms 14 ms 50 Mbit\/s/ }).waitFor(patience);
  await cluster.getByText('Settings of a machine: shell').click();
  await cluster.getByText('export ALL_PROXY=socks5h://127.1.0.1:1080').waitFor();
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await cluster.getByRole('button', { name: 'Copy: shell of a machine of a' }).click();
  expect(await page.evaluate('navigator.clipboard.readText()')).toContain('export ALL_PROXY');
  await look('relay-path-map');
  await page.getByLabel('parameters').fill('socks');
  await page.getByRole('alert').getByText('NAME=VALUE').waitFor();
  await page.getByLabel('parameters').fill('nodes=1');
  await page.getByRole('button', { name: 'Start', exact: true }).click();
  await page.getByRole('form', { name: 'Start a relay' }).getByRole('alert').waitFor(patience);
  await page.getByLabel('parameters').fill('');
});

test('the scenario on Edit is saved before its relay starts, and a reload finds the relay again', async () => {
  await page.getByRole('link', { name: 'Edit', exact: true }).click();
  await page.locator('main .edit').waitFor();
  await write(page, SCENARIO.replace('7ms', '9ms'));
  await page.getByRole('link', { name: 'Relay', exact: true }).click();
  await page.getByRole('cell', { name: '18 ms' }).first().waitFor(patience);
  await page.getByLabel('parameters').fill('socks=0');
  await page.getByLabel('name', { exact: true }).fill(`${NAME}-edit`);
  await page.getByRole('button', { name: 'Save and start' }).click();
  const relay = page.getByRole('region', { name: `Relay ${NAME}-edit` });
  await relay.getByRole('status').getByText('running', { exact: true }).waitFor(patience);
  expect(readFileSync(join(here.folder, 'sites.yaml'), 'utf8')).toContain('9ms');
  await relay.getByRole('row', { name: /^wan → ?forward 9 ms 50 Mbit/ }).waitFor();
  await page.reload();
  await relay.getByRole('status').getByText('running', { exact: true }).waitFor(patience);
  await relay.getByRole('button', { name: 'Stop the relay' }).click();
  await relay.getByRole('status').getByText('passed').waitFor(patience);
});

test('a relay that other machines can reach starts once that is accepted, and stops from the palette', async () => {
  const person = new Person(page);
  await page.getByRole('button', { name: 'One link' }).click();
  await page.getByLabel('forwards').fill('');
  await page.getByLabel('SOCKS at').fill('0.0.0.0:0');
  await page.getByLabel('name', { exact: true }).fill(`${NAME}-open`);
  await page.getByRole('button', { name: 'Start', exact: true }).click();
  await page.getByRole('alert').getByText('an open proxy').waitFor(patience);
  const start = page.getByRole('button', { name: 'Start', exact: true });
  expect(await start.isDisabled()).toBe(true);
  await look('relay-open-proxy');
  await page.getByLabel('accept connections from other machines').check();
  await start.click();
  const relay = page.getByRole('region', { name: `Relay ${NAME}-open` });
  await relay.getByRole('status').getByText('running', { exact: true }).waitFor(patience);
  await page.getByRole('button', { name: `${NAME}-open`, exact: true }).focus();
  await person.command(`stop ${NAME}-open`, `Stop relay ${NAME}-open`);
  await relay.getByRole('status').getByText('passed').waitFor(patience);
});

test('a port in use is told in the words of the command line', async () => {
  await page.getByLabel('forwards').fill(`${port()}=127.0.0.1:80`);
  await page.getByLabel('SOCKS at').fill('');
  await page.getByRole('button', { name: 'Start', exact: true }).click();
  const job = page.getByRole('region', { name: `relay ${NAME}-open`, exact: true });
  await job.getByText('failed (exit code 3)').waitFor(patience);
  await job.getByText('end what listens there').waitFor();
  await job.getByRole('button', { name: 'Dismiss' }).click();
});
