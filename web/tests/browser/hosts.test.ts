/** Hosts of a live run from the page: a shell that a reload keeps. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { axe } from './axe';
import { desk, lacks, type Desk } from './server';

const patience = { timeout: 60_000 };

const SCENARIO = `version: 1
name: bench
duration: 300s
nodes: {near: {kind: host}, far: {kind: host}}
links: {wan: {endpoints: [near, far], delay: 10ms, rate: 20Mbit, queue: {limit: 1bdp}}}
traffic: {probe: {kind: ping, from: near, to: far, every: 100ms}}
`;
let here: Desk;
let home: string;
let page: Page;
const refused: string[] = [];
const before = { HOME: process.env['HOME'], SHELL: process.env['SHELL'] };

beforeAll(async () => {
  if (lacks) return;
  // A shell without the files of whoever runs the tests.
  home = mkdtempSync(join(tmpdir(), 'longhaul-home-'));
  Object.assign(process.env, { HOME: home, SHELL: '/bin/bash' });
  here = await desk();
  writeFileSync(join(here.folder, 'bench.yaml'), SCENARIO);
  page = await here.page();
  page.on('console', (message) => message.type() === 'error' && refused.push(message.text()));
  await page.keyboard.press('Control+o');
  await page.locator('dialog').getByRole('button', { name: 'bench.yaml' }).first().click();
  await page.locator('dialog').waitFor({ state: 'detached' });
  await page.keyboard.press('2');
  await page.locator('.run').waitFor();
  await page.getByRole('button', { name: 'Start' }).click();
  await page.locator('.status', { hasText: 'running' }).waitFor(patience);
}, 120_000);
afterAll(async () => {
  if (lacks) return;
  await here.end().catch(() => undefined);
  rmSync(home, { recursive: true, force: true });
  Object.assign(process.env, before);
});

const screen = (of: Page = page): Promise<string> =>
  of
    .locator('.xterm-rows')
    .evaluate((rows) => [...rows.children].map((row) => row.textContent?.replace(/\u00a0/g, ' ')).join('\n'));
const shows = (what: RegExp, of: Page = page): Promise<void> =>
  expect.poll(() => screen(of), patience).toMatch(what);
const picture = async (name: string): Promise<void> => {
  if (process.env['SHOTS']) await page.screenshot({ path: join(process.env['SHOTS'], `${name}.png`) });
};
const columns = async (of: Page = page): Promise<number> => {
  await of.keyboard.type('clear; echo wide=$(tput cols)\n');
  await shows(/wide=\d+/, of);
  return Number(/wide=(\d+)/.exec(await screen(of))![1]);
};

test.skipIf(lacks)(
  'a click on a host opens a shell in it, which a reload and a second tab show',
  async () => {
    await page.locator('[data-id="n:near"]').click();
    await page.locator('.xterm-rows').waitFor(patience);
    await shows(/near:.*# /);
    await page.keyboard.type('ip -br addr\n');
    await shows(/10\.\d+\.\d+\.\d+\//);
    await page.keyboard.type(String.raw`kept=still; printf '\033[38;2;1;200;3mtrue colour\033[0m\n'` + '\n');
    await shows(/\ntrue colour/);
    const colour = page.locator('.xterm-rows span', { hasText: /^true colour/ }).last();
    expect(await colour.evaluate((span) => getComputedStyle(span).color)).toBe('rgb(1, 200, 3)');
    await picture('host-terminal');
    expect(await axe(page)).toEqual([]);

    // The shell has the size of its terminal.
    const wide = await columns();
    await page.setViewportSize({ width: 1100, height: 900 });
    await expect.poll(() => columns(), patience).toBeLessThan(wide);
    await page.setViewportSize({ width: 1440, height: 900 });
    await expect.poll(() => columns(), patience).toBe(wide);

    await page.reload();
    await shows(/wide=\d+/);
    await page.keyboard.type('echo $kept-there\n');
    await shows(/\nstill-there/);
    const second = await page.context().newPage();
    await second.goto(here.url);
    await second.locator('main .edit').waitFor(patience);
    await second.goto(page.url());
    await shows(/\nstill-there/, second);
    await second.keyboard.type('echo from-$((40+2))\n');
    await shows(/\nfrom-42/);
    await second.close();
    expect(refused).toEqual([]);
  },
);

test.skipIf(lacks)(
  'a host has its processes, addresses, routes and sockets, and the logs of its programs',
  async () => {
    await page.bringToFront();
    await page.keyboard.type('sleep 1234 &\n');
    await page.getByRole('button', { name: 'Processes and sockets' }).click();
    const state = page.getByRole('group', { name: 'State of near' });
    await state.getByText('sleep 1234').waitFor(patience);
    await state
      .getByText(/10\.\d+\.\d+\.\d+\/\d+/)
      .first()
      .waitFor(patience);
    await state
      .getByText(/ping .*far|ping/)
      .first()
      .waitFor(patience);
    expect(await axe(page)).toEqual([]);
    await picture('host-state');
    await page.getByRole('button', { name: 'Log of probe' }).click();
    await page
      .getByText(/bytes from/)
      .first()
      .waitFor(patience);
    await page.getByRole('tab', { name: 'Host near' }).click();
    await shows(/still-there/);
  },
);

test.skipIf(lacks)('the keyboard opens another shell, leaves the terminal and ends it', async () => {
  await page.bringToFront();
  await page.locator('.xterm-helper-textarea').focus();
  await page.keyboard.press('Shift+Tab');
  expect(await page.evaluate(() => document.activeElement?.closest('.xterm') === null)).toBe(true);
  await page.getByRole('button', { name: 'New shell' }).focus();
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Shell 2' }).waitFor(patience);
  await shows(/near:.*# /);
  expect(await screen()).not.toContain('still-there');
  await page.locator('.xterm-helper-textarea').focus();
  await page.keyboard.type('exit\n');
  await page.getByRole('button', { name: 'Shell 2' }).waitFor({ state: 'detached', ...patience });
  await shows(/still-there/);
  await page.getByRole('button', { name: 'End shell' }).click();
  await page.getByText('The shell has ended').waitFor(patience);
  await page.locator('[data-id="n:far"]').focus();
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Host far' }).waitFor(patience);
  await shows(/far:.*# /);
});
