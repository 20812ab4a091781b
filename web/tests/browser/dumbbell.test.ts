import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { axe } from './axe';
import { desk, type Desk } from './server';
import { textOf as text } from './text';

const patience = { timeout: 60_000 };
let here: Desk;
beforeAll(async () => {
  here = await desk();
});
afterAll(() => here.end());

const settled = (page: Page, wanted: RegExp): Promise<void> =>
  expect.poll(() => text(page), patience).toMatch(wanted);

/** Presses Tab until what has the focus carries this name (its label, its text or its id). */
async function tabTo(page: Page, name: string, key = 'Tab'): Promise<void> {
  for (let step = 0; step < 120; step++) {
    const on = await page.evaluate(() => {
      const element = document.activeElement as HTMLElement | null;
      const label = element?.id ? document.querySelector(`label[for="${element.id}"]`)?.textContent : '';
      return [element?.id, element?.getAttribute('aria-label'), label, element?.textContent].map((each) =>
        each?.trim(),
      );
    });
    if (on.includes(name)) return;
    await page.keyboard.press(key);
  }
  throw new Error(`Tab does not lead to ${name}`);
}

/** Milliseconds of the last round trip that the page shows. */
async function lastPing(page: Page): Promise<number> {
  const told = (await page.locator('[data-probe]').first().textContent()) ?? '';
  const [, value, unit] = /([\d.]+) (ms|us|s)/.exec(told) ?? [];
  return Number(value) * ({ us: 0.001, ms: 1, s: 1000 }[unit ?? ''] ?? NaN);
}

test('an empty page shows the next step and no error', async () => {
  const page = await here.page();
  await page.getByText('nothing is drawn yet').waitFor(patience);
  expect(await page.getByRole('button', { name: /problem/ }).count()).toBe(0);
  expect(await page.locator('.yaml .bad, .yaml .error').count()).toBe(0);
  await page.keyboard.press('2');
  await page.locator('.run').waitFor();
  expect(await page.getByRole('button', { name: 'Start' }).isDisabled()).toBe(true);
  expect(await page.locator('.status').textContent()).toContain('nothing is drawn yet');
  expect(await axe(page)).toEqual([]);
  await page.keyboard.press('1');
  await page.keyboard.press('n');
  await settled(page, /a: \{kind: router/);
  await page.getByText('no problems found').waitFor(patience);
  await page.keyboard.press('h');
  await settled(page, /lan: \{delay: 15us, rate: 10Gbit\}[^]*a1: \{kind: host, attach: a, profile: lan\}/);
  await page.keyboard.press('h');
  await settled(page, /a2:/);
  expect((await text(page)).match(/lan:/g)).toHaveLength(1);
  await page.getByText('no problems found').waitFor(patience);
  await page.context().close();
});

test('a dumbbell is built by mouse, from an empty page', async () => {
  const page = await here.page();
  const map = page.getByRole('application');
  const box = (await map.boundingBox())!;
  const at = (x: number, y: number): { x: number; y: number } => ({
    x: box.x + box.width * x,
    y: box.y + box.height * y,
  });
  const click = async (x: number, y: number): Promise<void> => page.mouse.click(at(x, y).x, at(x, y).y);

  await page.getByRole('button', { name: /^Router/ }).click();
  await click(0.3, 0.5);
  await settled(page, /a: \{kind: router/);
  await click(0.7, 0.5);
  await settled(page, /b: \{kind: router/);
  await page.getByRole('button', { name: /^Host/ }).click();
  for (const [x, wanted] of [
    [0.3, /a1: \{kind: host, attach: a/],
    [0.3, /a2:/],
    [0.7, /b1: \{kind: host, attach: b/],
    [0.7, /b2:/],
  ] as const) {
    await click(x, 0.5);
    await settled(page, wanted);
  }
  await page.getByRole('button', { name: /^Link/ }).click();
  await page.mouse.move(at(0.3, 0.5).x, at(0.3, 0.5).y);
  await page.mouse.down();
  await page.mouse.move(at(0.5, 0.5).x, at(0.5, 0.5).y, { steps: 4 });
  await page.mouse.move(at(0.7, 0.5).x, at(0.7, 0.5).y, { steps: 4 });
  await page.mouse.up();
  await settled(page, /a-b: \{endpoints: \[a, b\]/);

  await page.getByLabel('delay', { exact: true }).fill('20');
  await expect.poll(() => page.locator('.side .bad').first().textContent(), patience).toContain('no unit');
  await page.getByLabel('delay', { exact: true }).fill('20ms');
  await page.getByLabel('delay', { exact: true }).press('Enter');
  await settled(page, /delay: 20ms/);
  await page.getByLabel('loss', { exact: true }).fill('0.1%');
  await page.getByLabel('loss', { exact: true }).press('Enter');
  await settled(page, /loss: 0.1%/);

  // Undo takes one step back, and redo forth again.
  await page.getByRole('button', { name: 'Undo' }).click();
  await expect.poll(() => text(page), patience).not.toContain('loss: 0.1%');
  await page.getByRole('button', { name: 'Redo' }).click();
  await settled(page, /loss: 0.1%/);

  // A node is dragged: one line changes.
  const before = (await text(page)).split('\n');
  await page.getByRole('button', { name: /^Select/ }).click();
  await page.mouse.move(at(0.7, 0.5).x, at(0.7, 0.5).y);
  await page.mouse.down();
  await page.mouse.move(at(0.75, 0.4).x, at(0.75, 0.4).y, { steps: 5 });
  await page.mouse.up();
  const changed = async (): Promise<number> =>
    (await text(page)).split('\n').filter((line, index) => line !== before[index]).length;
  await expect.poll(changed, patience).toBe(1);
  expect(await axe(page)).toEqual([]);
  await page.context().close();
});

test('the same is built by keyboard alone, saved, run live, changed, stopped, reported and compared', async () => {
  const page = await here.page();
  const press = async (...keys: string[]): Promise<void> => {
    for (const key of keys) await page.keyboard.press(key);
  };
  await press('n');
  await settled(page, /a: \{kind: router/);
  await press('n');
  await settled(page, /b: \{kind: router/);
  await press('h');
  await settled(page, /b1:/);
  await press('ArrowLeft');
  await press('h');
  await settled(page, /a1:/);
  await press('c', 'ArrowRight', 'Enter');
  await settled(page, /a-b: \{endpoints: \[a, b\]/);
  await press('Enter');
  await expect.poll(() => page.evaluate(() => document.activeElement?.id), patience).toBe('link-delay');
  await page.keyboard.insertText('20ms');
  await press('Tab');
  await settled(page, /delay: 20ms/);
  await press('Tab');
  await page.keyboard.insertText('0.1%');
  await press('Enter');
  await settled(page, /loss: 0.1%/);

  // Traffic: to the tabs, to the second, into its form.
  await press('Escape', 'p');
  await tabTo(page, 'tab-selected', 'Shift+Tab');
  await press('ArrowRight');
  await tabTo(page, 'Add traffic');
  await press('Enter');
  await settled(page, /probe: \{kind: ping, from: \w+, to: \w+, every: 100ms\}/);
  await press('Control+s');
  await tabTo(page, 'save-name');
  await press('Control+a');
  await page.keyboard.insertText('dumbbell.yaml');
  await press('Enter');
  await expect.poll(() => page.title(), patience).toContain('dumbbell.yaml');
  expect(readFileSync(join(here.folder, 'dumbbell.yaml'), 'utf8')).toBe(await text(page));

  // Live: twice 20 ms and 60 us of the attachments, then twice 60 ms.
  await press('Escape', '2');
  await page.locator('.run').waitFor();
  await press('Control+Enter');
  // The first ones may meet a machine that is still busy with starting the run.
  const quick = async (): Promise<boolean> => {
    const ping = await lastPing(page);
    return ping > 40 && ping < 60;
  };
  await expect.poll(quick, patience).toBe(true);
  expect(await axe(page)).toEqual([]);
  await tabTo(page, 'change-delay');
  await page.keyboard.insertText('60ms');
  await press('Enter');
  await tabTo(page, 'Change');
  await press('Enter');
  await expect.poll(() => lastPing(page), patience).toBeGreaterThanOrEqual(120);
  expect(await lastPing(page)).toBeLessThan(140);
  // What was done to the run is still known after a reload.
  await page.getByRole('button', { name: 'Take down' }).click();
  await page.getByText('a-b: down (intervention').waitFor(patience);
  await page.getByText(/round trip, \d+ s ago/).waitFor(patience);
  await page.reload();
  await page.getByText('a-b: down (intervention').waitFor(patience);
  await page.getByText(/round trip, \d+ s ago/).waitFor(patience);
  await page.getByRole('button', { name: 'Bring up' }).click();
  await page.getByText('a-b: up (intervention').waitFor(patience);
  await page.getByText('round trip, last').waitFor(patience);
  await tabTo(page, 'Stop', 'Shift+Tab');
  await press('Enter');
  await page.getByRole('button', { name: 'Report' }).waitFor(patience);
  await tabTo(page, 'Report');
  const [report] = await Promise.all([page.context().waitForEvent('page'), press('Enter')]);
  await report.waitForLoadState();
  await expect.poll(() => report.title(), patience).not.toBe('');
  await report.close();

  // Simulated, and compared.
  await tabTo(page, 'Simulated', 'Shift+Tab');
  await press('Enter');
  await press('Control+Enter');
  await page.getByText('simulated').first().waitFor();
  await page.getByRole('button', { name: 'Report' }).waitFor(patience);
  await tabTo(page, 'Compare');
  await press('Enter');
  await page.locator('.runs').waitFor();
  await expect.poll(() => page.locator('.runs tbody tr').count(), patience).toBeGreaterThanOrEqual(2);
  await page.getByRole('heading', { name: 'Comparison' }).waitFor(patience);
  expect(await page.locator('.detail tbody tr').count()).toBeGreaterThan(2);
  await page.context().close();
});

test('axe finds nothing in any view, light or dark, wide or narrow', async () => {
  const shots = process.env['SHOTS'];
  for (const [width, height, colorScheme] of [
    [1440, 900, 'light'],
    [800, 700, 'dark'],
    [3840, 2160, 'light'],
  ] as const) {
    const page = await here.page({ viewport: { width, height }, colorScheme });
    const look = async (name: string): Promise<void> => {
      expect(await axe(page), `${name} ${width} ${colorScheme}`).toEqual([]);
      const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      expect(over, `${name} is wider than ${width}`).toBeLessThanOrEqual(0);
      if (shots) await page.screenshot({ path: join(shots, `${name}-${width}-${colorScheme}.png`) });
    };
    await look('edit');
    await page.keyboard.press('?');
    await page.getByRole('heading', { name: 'Keys' }).waitFor();
    await look('keys');
    await page.keyboard.press('Escape');
    await page.locator('dialog').waitFor({ state: 'detached' });
    await page.keyboard.press('Control+o');
    await page.getByRole('heading', { name: 'Open' }).waitFor();
    await look('open');
    await page.keyboard.press('Escape');
    await page.locator('dialog').waitFor({ state: 'detached' });
    await page.keyboard.press('2');
    await page.locator('.run').waitFor();
    await look('run');
    await page.keyboard.press('3');
    await page.locator('.runs tbody tr').first().waitFor();
    await page.getByRole('button', { name: 'This machine' }).click();
    await page.getByRole('heading', { name: 'Certificate' }).waitFor();
    await look('machine');
    await page.getByRole('button', { name: 'This machine' }).click();
    await page.locator('.runs tbody .name').first().click();
    await page.getByRole('button', { name: 'Charts' }).waitFor();
    await look('runs');
    await page.keyboard.press('4');
    await page.getByText('requests served').waitFor(patience);
    await look('transfers');
    await page.context().close();
  }
});
