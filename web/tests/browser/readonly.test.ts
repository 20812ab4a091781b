/** A read-only server: the page says so, and offers nothing that would be refused. */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { axe } from './axe';
import { desk, longhaul, type Desk } from './server';

const SCENARIO = `version: 1
name: pair
duration: 1s
nodes: {near: {kind: host}, far: {kind: host}}
links: {wan: {endpoints: [near, far], delay: 10ms, rate: 20Mbit}}
traffic: {bulk: {kind: tcp, from: near, to: far}}
`;

let here: Desk;
beforeAll(async () => {
  here = await desk(['--read-only'], (folder) => {
    writeFileSync(join(folder, 'pair.yaml'), SCENARIO);
    execFileSync(longhaul, ['sim', 'pair.yaml'], { cwd: folder, stdio: 'ignore' });
  });
});
afterAll(() => here.end());

for (const colorScheme of ['light', 'dark'] as const) {
  test(`nothing that changes files or runs can be pressed, ${colorScheme}`, async () => {
    const page = await here.page({ colorScheme });
    await page.getByRole('note').getByText('read-only').or(page.getByText('read-only').first()).waitFor();
    expect(await page.getByRole('button', { name: 'Save', exact: true }).count()).toBe(0);
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: 'Command' }).fill('open pair');
    await page.keyboard.press('Enter');
    await page.getByText('pair.yaml').first().waitFor();

    await page.getByRole('link', { name: 'Run', exact: true }).click();
    await page.getByText('this server starts and changes no runs').waitFor();
    expect(await page.getByRole('button', { name: /^(Start|Stop|Notify me)/ }).count()).toBe(0);
    await picture('run');

    await page.getByRole('link', { name: 'Runs', exact: true }).click();
    await page.locator('.table tbody button').first().click();
    await page.getByRole('button', { name: 'Delete' }).waitFor();
    for (const name of ['Delete', 'Reproduce', 'Save'])
      expect(await page.getByRole('button', { name, exact: true }).isDisabled(), name).toBe(true);
    expect(await page.getByRole('button', { name: 'Report' }).isEnabled()).toBe(true);
    await picture('runs');
    expect(await axe(page)).toEqual([]);

    await page.keyboard.press('8');
    await page.getByText('it starts no relays').waitFor();
    expect(await page.getByRole('button', { name: 'Start', exact: true }).isDisabled()).toBe(true);
    await page.getByRole('heading', { name: 'Path map of relay' }).waitFor();
    await picture('relay');
    expect(await axe(page)).toEqual([]);

    async function picture(view: string): Promise<void> {
      const folder = process.env['PICTURES'];
      if (folder) await page.screenshot({ path: join(folder, `read-only-${view}-${colorScheme}.png`) });
    }
  });
}
