/** What axe finds wrong with what is shown, one line each. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

const source = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

type Found = {
  violations: { id: string; help: string; nodes: { html: string; failureSummary?: string }[] }[];
};

export async function axe(page: Page): Promise<string[]> {
  // Through the debugger, which the page's content security policy does not bind.
  await page.evaluate(source);
  const found = (await page.evaluate('axe.run(document, { resultTypes: ["violations"] })')) as Found;
  return found.violations.flatMap(({ id, help, nodes }) =>
    nodes.map((node) => `${id}: ${help}: ${node.html.slice(0, 140)} ${node.failureSummary ?? ''}`),
  );
}
