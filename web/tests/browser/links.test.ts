/** Links of a live run from the page: their models, sliders, and impairments that are undone. */
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { axe } from './axe';
import { desk, lacks, type Desk } from './server';

const patience = { timeout: 60_000 };

const SCENARIO = `version: 1
name: links
duration: 300s
nodes: {near: {kind: host}, far: {kind: host}}
links: {wan: {endpoints: [near, far], delay: 10ms, rate: 20Mbit, loss: 0.1%, queue: {limit: 1bdp}}}
traffic: {probe: {kind: ping, from: near, to: far, every: 100ms}}
`;
let here: Desk;
let page: Page;

beforeAll(async () => {
  if (lacks) return;
  here = await desk();
  writeFileSync(join(here.folder, 'links.yaml'), SCENARIO);
  page = await here.page();
  await page.keyboard.press('Control+o');
  await page.locator('dialog').getByRole('button', { name: 'links.yaml' }).first().click();
  await page.locator('dialog').waitFor({ state: 'detached' });
  await page.keyboard.press('2');
  await page.locator('.run').waitFor();
  await page.getByRole('button', { name: 'Start' }).click();
  await page.getByRole('group', { name: 'Break it' }).waitFor(patience);
}, 120_000);
afterAll(() => here?.end().catch(() => undefined));

const placeholder = (what: string) => page.locator(`#change-${what}`).getAttribute('placeholder');
const picture = async (name: string): Promise<void> => {
  if (process.env['SHOTS']) await page.screenshot({ path: join(process.env['SHOTS'], `${name}.png`) });
};
/** What the run has recorded of its changes. */
function recorded(): { change: Record<string, unknown>; cause: { by: string; words: string[] } }[] {
  const runs = join(here.folder, 'runs/links');
  const [run = ''] = readdirSync(runs).filter((name) => !name.startsWith('latest'));
  const lines = readFileSync(join(runs, run, 'raw/changes.jsonl'), 'utf8')
    .trim()
    .split('\n');
  return lines.filter(Boolean).map((line) => JSON.parse(line) as ReturnType<typeof recorded>[number]);
}

test.skipIf(lacks)('a link shows its models now, and a slider changes them by the keyboard', async () => {
  expect([await placeholder('delay'), await placeholder('rate'), await placeholder('loss')]).toEqual([
    '10ms',
    '20Mbit',
    '0.1%',
  ]);
  const slider = page.getByRole('slider', { name: 'delay of wan' });
  expect(await slider.getAttribute('aria-valuetext')).toBe('10ms');
  await slider.focus();
  await page.keyboard.press('End');
  await page
    .getByText(/wan: delay 10 ms → 1 s|wan: delay 10 → 1000 ms/)
    .first()
    .waitFor(patience);
  await expect.poll(() => placeholder('delay'), patience).toBe('1s');
  await page.locator('#change-delay').fill('10ms');
  await page.keyboard.press('Enter');
  await expect.poll(() => placeholder('delay'), patience).toBe('10ms');
});

test.skipIf(lacks)(
  'each impairment is recorded as interventions, and undo restores what was before',
  async () => {
    const group = page.getByRole('group', { name: 'Break it' });
    const models = async (): Promise<(string | null)[]> => [
      await placeholder('rate'),
      await placeholder('loss'),
      await page.getByRole('button', { name: /^(Bring up|Take down)$/ }).textContent(),
    ];
    const before = await models();
    for (const [title, changed] of [
      ['Burst loss', ['20Mbit', '{model: gilbert-elliott, mean: 5%, burst: 10.0}', 'Take down']],
      ['Brown-out', ['2Mbit', '0.1%', 'Take down']],
      ['Reorder', before],
      ['Flap', ['20Mbit', '0.1%', 'Bring up']],
    ] as const) {
      const count = recorded().length;
      await group.getByRole('button', { name: title }).focus();
      await page.keyboard.press('Enter');
      await group.getByText(`${title} is active`).waitFor(patience);
      await expect.poll(models, { timeout: 10_000, interval: 50 }).toEqual(changed);
      if (title === 'Burst loss') {
        expect(await axe(page)).toEqual([]);
        await picture('break-it');
      }
      await group.getByRole('button', { name: `Undo ${title.toLowerCase()}` }).focus();
      await page.keyboard.press('Enter');
      await group.getByRole('button', { name: title }).waitFor(patience);
      await expect.poll(models, patience).toEqual(before);
      const made = recorded().slice(count);
      expect(made.length).toBeGreaterThan(1);
      expect(made.every(({ cause }) => cause.by === 'page')).toBe(true);
      expect(made.at(-1)!.cause.words.join()).toMatch(title === 'Flap' ? /^(undo flap|up)$/ : /^undo /);
    }
  },
);

test.skipIf(lacks)('a wrong value is refused with the words of the command line', async () => {
  await page.getByLabel('Another model').selectOption('reordering');
  await page.getByLabel('Its new value').fill('{share: 1%, delay: 1ms}');
  await page.keyboard.press('Enter');
  await page.getByRole('alert').waitFor(patience);
  expect(await page.getByRole('alert').textContent()).toContain("1ms is not later than the link's delay");
});
