/** The scenario's text on the page. The editor draws only the lines in sight; the tab's draft is the whole. */
import type { Page } from 'playwright-core';

export const textOf = (page: Page): Promise<string> =>
  page.evaluate(
    () => (JSON.parse(sessionStorage.getItem('longhaul-draft') ?? '{"text": ""}') as { text: string }).text,
  );

/** Puts the cursor into the editor, and replaces all text if `text` is given. */
export async function write(page: Page, text?: string): Promise<void> {
  await page.locator('#yaml-text').focus();
  if (text === undefined) return;
  await page.keyboard.press('Control+a');
  await page.keyboard.insertText(text);
}

/** Takes what is offered; the list takes no key in its first 75 ms, as it may come under somebody's fingers. */
export async function accept(page: Page): Promise<void> {
  await page.waitForTimeout(150);
  await page.keyboard.press('Enter');
}
