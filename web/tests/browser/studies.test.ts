/** Studies on the page: claims with filters and figures, a run with its output, Stop, and a reload. */
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { axe } from './axe';
import { desk, root, type Desk } from './server';

const patience = { timeout: 60_000 };
const prepare = (folder: string): void => {
  cpSync(join(root, 'studies/longcut'), join(folder, 'studies/longcut'), { recursive: true });
  cpSync(join(root, 'docs/images'), join(folder, 'docs/images'), { recursive: true });
  cpSync(join(root, 'tests/page/study/halves'), join(folder, 'studies/halves'), { recursive: true });
  cpSync(join(root, 'studies/studies.toml'), join(folder, 'studies/studies.toml'));
  // Pages are not written: there is no documents.py here.
};

let here: Desk;
beforeAll(async () => {
  here = await desk([], prepare);
});
afterAll(() => here.end());

async function look(page: Page, name: string): Promise<void> {
  const folder = process.env['PICTURES'];
  if (folder) await page.screenshot({ path: join(folder, `${name}.png`) });
}

for (const colorScheme of ['light', 'dark'] as const)
  test(`claims have verdicts, filters, and the figures that they are drawn in, ${colorScheme}`, async () => {
    const page = await here.page({ colorScheme });
    await page.keyboard.press('5');
    await page.getByRole('link', { name: 'longcut' }).click();
    await page.getByText('21 of 21 claims').waitFor(patience);
    expect(await axe(page)).toEqual([]);
    for (const width of [800, 1440, 2560]) {
      await page.setViewportSize({ width, height: width === 2560 ? 1440 : 900 });
      await look(page, `studies-${width}-${colorScheme}`);
    }
    await page.setViewportSize({ width: 1440, height: 900 });
    await page
      .getByRole('group', { name: 'Verdicts' })
      .getByRole('button', { name: /depends/ })
      .click();
    await page.getByText('4 of 21 claims').waitFor();
    await page.getByLabel('find').fill('bandwidth');
    await page.getByText('1 of 21 claims').waitFor();
    // From a claim by keyboard to the part that measures it, and to its figure.
    const part = page.getByRole('button', { name: 'part tables' });
    await part.focus();
    await page.keyboard.press('Enter');
    await expect.poll(() => page.evaluate(() => document.activeElement?.id)).toBe('study-part-tables');
    const figure = page.getByRole('region', { name: 'Part tables' }).locator('button[aria-pressed]').first();
    await figure.click();
    const image = page.locator('figure img');
    await image.waitFor(patience);
    expect(
      await image.evaluate((each: HTMLImageElement) => each.decode().then(() => each.naturalWidth)),
    ).toBeGreaterThan(100);
    expect(await axe(page)).toEqual([]);
    await look(page, `studies-figure-${colorScheme}`);
    await page.context().close();
  });

test('a study runs with its output and progress, over a reload, and is stopped', async () => {
  const page = await here.page();
  await page.keyboard.press('5');
  await page.getByRole('link', { name: 'halves' }).click();
  await page.getByText('Run this study').click();
  await page.getByRole('group', { name: 'Parts to run' }).getByRole('button', { name: 'quick' }).click();
  await page.getByRole('button', { name: 'Run 1 of 2 parts' }).click();
  const job = page.getByRole('region', { name: 'study halves' });
  await job.getByRole('status').getByText('done').waitFor(patience);
  await job.getByText('part 1 of 1: quick', { exact: true }).waitFor();
  expect(await job.getByRole('log').textContent()).toContain('REPRODUCED');
  await page.getByRole('group', { name: 'Parts to run' }).getByRole('button', { name: 'quick' }).click();
  await page.getByRole('group', { name: 'Parts to run' }).getByRole('button', { name: 'slow' }).click();
  await page.getByRole('button', { name: 'Run 1 of 2 parts' }).click();
  await job.getByText('part 1 of 1: slow', { exact: true }).waitFor(patience);
  expect(await axe(page)).toEqual([]);
  await look(page, 'studies-running');
  await page.reload();
  await job.getByRole('button', { name: 'Stop' }).click();
  await job.getByRole('status').getByText('stopped').waitFor(patience);
  await page.context().close();
});

test('a read-only server shows studies and runs none', async () => {
  const only = await desk(['--read-only'], prepare);
  const page = await only.page();
  await page.keyboard.press('5');
  await page.getByRole('link', { name: 'longcut' }).click();
  await page.getByText('21 of 21 claims').waitFor(patience);
  await page.getByText('Run this study').click();
  expect(await page.getByRole('button', { name: 'Run all parts' }).isDisabled()).toBe(true);
  await only.end();
});

test('a directory without studies says where they are looked for', async () => {
  const bare = await desk();
  const page = await bare.page();
  await page.keyboard.press('5');
  await page.getByText('no directory studies here or above').waitFor(patience);
  expect(await axe(page)).toEqual([]);
  await bare.end();
});
