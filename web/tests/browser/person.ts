/** Somebody at the page, whose actions are counted as a person makes them. */
import type { Locator, Page } from 'playwright-core';

type Point = { x: number; y: number };

const middle = async (of: Locator): Promise<Point> => {
  await of.waitFor();
  const box = (await of.boundingBox())!;
  return { x: box.x + box.width / 2, y: box.y + box.height / 2 };
};

/**
 * Each of these is one action: a click of any button, a double click, a drag, a value that is typed, and a key or a
 * chord that is pressed. To wait and to look are none.
 */
export class Person {
  actions = 0;
  readonly #page: Page;

  constructor(page: Page) {
    this.#page = page;
  }

  async click(on: Locator): Promise<void> {
    this.actions++;
    await on.click();
  }

  /** A click at the middle of a sign of the map, which others may surround. */
  async clickSign(sign: Locator, button: 'left' | 'right' = 'left'): Promise<void> {
    this.actions++;
    const { x, y } = await middle(sign);
    await this.#page.mouse.click(x, y, { button });
  }

  async doubleClick(on: Locator): Promise<void> {
    this.actions++;
    await on.dblclick();
  }

  /** A drag; Shift may be held meanwhile. */
  async drag(start: Point, end: Point, { shift = false } = {}): Promise<void> {
    this.actions++;
    const { mouse, keyboard } = this.#page;
    if (shift) await keyboard.down('Shift');
    await mouse.move(start.x, start.y);
    await mouse.down();
    await mouse.move(end.x, end.y, { steps: 5 });
    await mouse.up();
    if (shift) await keyboard.up('Shift');
  }

  async type(text: string): Promise<void> {
    this.actions++;
    await this.#page.keyboard.type(text);
  }

  async press(chord: string): Promise<void> {
    this.actions++;
    await this.#page.keyboard.press(chord);
  }

  /** From the palette: its keys, the words, and Enter when the command that was meant is the chosen one. */
  async command(words: string, meant: string | RegExp): Promise<void> {
    await this.press('Control+k');
    await this.#page.getByRole('combobox', { name: 'Command' }).waitFor();
    await this.type(words);
    await this.#page.locator('[role=option][aria-selected=true]').filter({ hasText: meant }).waitFor();
    await this.press('Enter');
  }
}

export const sign = (page: Page, id: string): Locator => page.locator(`[data-id="${id}"] .ring`);
export const view = (page: Page, name: string): Locator => page.getByRole('link', { name, exact: true });
export const button = (page: Page, name: string | RegExp): Locator => page.getByRole('button', { name });
export const row = (page: Page, name: string): Locator =>
  page.locator('.table tbody').getByRole('button', { name, exact: true });
export const words = (text: string | null): string => (text ?? '').replace(/\s+/g, ' ').trim();
