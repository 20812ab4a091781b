/** A server of its own and a browser for tests of the whole page. */
import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium, type Browser, type BrowserContextOptions, type Page } from 'playwright-core';

export const root = join(import.meta.dirname, '../../..');

/** The command that is tested: the one of this tree, unless LONGHAUL names another. */
export const longhaul = process.env['LONGHAUL'] ?? join(root, '.venv/bin/longhaul');

const browserPath = process.env['CHROMIUM'] ?? '/usr/bin/chromium';

/** Why tests with live runs cannot run here; `null` if they can. */
export const lacks = !existsSync(browserPath)
  ? `no browser at ${browserPath}; set CHROMIUM`
  : process.getuid?.() !== 0
    ? 'live runs need root'
    : null;

export type Desk = {
  url: string;
  folder: string;
  browser: Browser;
  /** A tab of a browser that has been here before, unless this is its first visit. */
  page: (options?: BrowserContextOptions, visit?: { isFirst: boolean }) => Promise<Page>;
  pid: number;
  end: () => Promise<void>;
};

/** Starts `longhaul ui` in an empty directory, and Debian's Chromium; `prepare` fills the directory before. */
export async function desk(
  options: string[] = [],
  prepare: (folder: string) => void = () => undefined,
): Promise<Desk> {
  const folder = mkdtempSync(join(tmpdir(), 'longhaul-page-'));
  prepare(folder);
  const server = spawn(longhaul, ['ui', '--no-open', ...options, folder], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const launched = chromium.launch({
    executablePath: browserPath,
    args: ['--no-sandbox', '--disable-gpu'],
  });
  const [url, browser] = await Promise.all([printed(server), launched]).catch((error: unknown) => {
    // Nobody ends what did not begin.
    server.kill('SIGTERM');
    rmSync(folder, { recursive: true, force: true });
    throw error;
  });
  const open: Page[] = [];
  return {
    url,
    folder,
    browser,
    pid: server.pid ?? 0,
    page: async (options = {}, { isFirst } = { isFirst: false }) => {
      const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, ...options });
      if (!isFirst) await context.addInitScript(() => localStorage.setItem('longhaul-tour', 'seen'));
      const page = await context.newPage();
      page.setDefaultTimeout(40_000);
      page.on('pageerror', (error) => {
        throw error;
      });
      open.push(page);
      await page.goto(url, { waitUntil: 'commit' });
      await page.locator('main .edit').waitFor();
      return page;
    },
    end: async () => {
      await browser.close();
      server.kill('SIGTERM');
      await new Promise((resolve) => server.once('exit', resolve));
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function printed(server: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    server.stdout?.on('data', (piece: Buffer) => {
      text += piece.toString();
      const found = /http:\/\/\S+#token=\S+/.exec(text);
      if (found) resolve(found[0]);
    });
    server.once('exit', (code) => reject(new Error(`longhaul ui ended with ${code}: ${text}`)));
  });
}
