/** One live run that is changed from the page, the command line and Python: every surface shows the same of it. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { desk, lacks, longhaul, type Desk } from './server';

const patience = { timeout: 60_000 };

/** Stopped by hand, so that programs end as they do at the end of any run. */
const SESSION = `version: 1
name: session
duration: 60s
nodes:
  par: {kind: router, at: [48.85, 2.35]}
  nyc: {kind: router, at: [40.71, -74]}
  a1..2: {kind: host, attach: par}
  b1..2: {kind: host, attach: nyc}
links:
  wan: {endpoints: [par, nyc], delay: 35ms, rate: 20Mbit, queue: {limit: 1bdp}}
traffic:
  probe: {kind: ping, from: a1, to: b1, every: 100ms}
  bulk: {kind: tcp, from: a2, to: b2, cc: reno, start: 200ms}
programs:
  crash: {run: sh -c 'echo the disk is gone >&2; exit 3', host: a1}
  absent: {run: no-such-command --here, host: b1}
events:
  - {at: 1s, link: wan, set: {loss: 0.01%}}
expect: [{metric: probes.probe.b1.rtt.p50, max: 1ms}]
`;
const OTHER = `version: 1
name: other
duration: 1s
nodes: {x: {kind: host}, y: {kind: host}}
links: {x-y: {endpoints: [x, y], delay: 1ms, rate: 1Mbit}}
`;
const BROKEN = 'version: 1\nname: t\nnodes:\n  a: {kind: router\n  b: {kind: host, attach: a}\n';
/** What was done, in order, with the start of what every surface says of it. */
const CHANGES = [
  ['event', 'wan: loss none → 0.01 %', 'events[0]'],
  ['intervention', 'wan: delay 35 → 80 ms', 'ann, page'],
  ['intervention', 'wan: rate 20 → 10 Mbit/s', 'ann, command line'],
  ['intervention', 'wan: down', 'ann, page'],
  ['intervention', 'wan: up', 'ann, Python'],
] as const;
const FAILURES = [
  'program crash on a1: exit code 3, expected 0',
  'program absent on b1:',
  'probes.probe.b1.rtt.p50',
];

/** Of each chart that is drawn here: how many dark lines go through its whole height. */
const lines = (of: Page, canvases: string): Promise<number[]> =>
  of.evaluate((selector) => {
    const all = [...document.querySelectorAll<HTMLCanvasElement>(selector)];
    // The axis of recorded packets ends with the last of them.
    const whole = all.filter((each) => !/each recorded packet/.test(each.closest('figure')!.textContent!));
    return whole.map((canvas) => {
      const { width, height } = canvas;
      const { data } = canvas.getContext('2d')!.getImageData(0, 0, width, height);
      const dark = (x: number): boolean => {
        let count = 0;
        for (let y = 0; y < height; y++) {
          const at = 4 * (y * width + x);
          const [r, g, b, alpha] = data.slice(at, at + 4);
          if (alpha! > 200 && Math.max(r!, g!, b!) < 70) count++;
        }
        return count > 0.45 * height;
      };
      let found = 0;
      for (let x = 1; x < width; x++) if (dark(x) && !dark(x - 1)) found++;
      return found;
    });
  }, canvases);

type Json = Record<string, any>; // eslint-disable-line @typescript-eslint/no-explicit-any

let here: Desk;
let page: Page;
let directory: string;
let summary: Json;
let runtime: string;
const said = { terminal: '', report: '', python: {} as Json, marked: [] as number[], rows: [] as string[] };

/** Sockets of runs in a directory of their own, and a user that every surface names. */
const environment = (): NodeJS.ProcessEnv => ({
  ...process.env,
  XDG_RUNTIME_DIR: runtime,
  SUDO_USER: 'ann',
  COLUMNS: '200',
});
const command = (...words: string[]): string =>
  execFileSync(longhaul, words, { cwd: here.folder, env: environment(), encoding: 'utf8' });
const python = (text: string): string =>
  execFileSync(join(longhaul, '../python'), ['-c', text], {
    cwd: here.folder,
    env: environment(),
    encoding: 'utf8',
  });
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const words = (text: string | null): string => (text ?? '').replace(/\s+/g, ' ').trim();
const shown = async (selector: string): Promise<string> => words(await page.locator(selector).textContent());

async function open(file: string): Promise<void> {
  await page.keyboard.press('1');
  await page.locator('main .edit').waitFor();
  await page.keyboard.press('Control+o');
  await page.locator('dialog').getByRole('button', { name: file, exact: true }).click();
  await page.locator('dialog').waitFor({ state: 'detached' });
}

beforeAll(async () => {
  if (lacks) return;
  runtime = mkdtempSync(join(tmpdir(), 'longhaul-up-'));
  Object.assign(process.env, { XDG_RUNTIME_DIR: runtime, SUDO_USER: 'ann' });
  here = await desk();
  for (const [name, text] of Object.entries({ session: SESSION, other: OTHER, broken: BROKEN }))
    writeFileSync(join(here.folder, `${name}.yaml`), text);
  page = await here.page();
  if (process.env['SHOTS']) await page.setViewportSize({ width: 1440, height: 1400 });
});
afterAll(async () => {
  if (lacks) return;
  await here.end();
  rmSync(runtime, { recursive: true, force: true });
});

const step = (name: string, what: () => Promise<void> | void): void =>
  test(name, async (context) => {
    if (lacks) context.skip(lacks);
    await what();
  });
const picture = async (name: string, of: Page = page): Promise<void> => {
  if (process.env['SHOTS'])
    await of.screenshot({ path: join(process.env['SHOTS'], `${name}.png`), fullPage: true });
};

step('a live run is changed from the page, the command line and Python, and stopped', async () => {
  await open('session.yaml');
  await page.keyboard.press('2');
  await page.getByRole('button', { name: 'Start' }).click();
  await page.getByText('wan: loss none → 0.01 %').waitFor(patience);
  await page.locator('#change-delay').fill('80ms');
  await page.getByRole('button', { name: 'Change', exact: true }).click();
  await page.getByText('wan: delay 35 → 80 ms (intervention, ann, page)').waitFor(patience);
  command('set', 'wan', 'rate=10Mbit');
  await page.getByText('wan: rate 20 → 10 Mbit/s (intervention, ann, command line)').waitFor(patience);
  await page.getByRole('button', { name: 'Take down' }).click();
  await page.getByText('wan: down (intervention, ann, page)').waitFor(patience);
  await pause(1500);
  python(`from longhaul.run.interventions import set_link
set_link(None, "wan", {}, up=True)`);
  await page.getByText('wan: up (intervention, ann, Python)').waitFor(patience);
  // Label and table have one sample of the busier direction.
  await pause(2000);
  const [label, used] = await page.evaluate(() => {
    const row = [...document.querySelectorAll('.numbers tr')].find(
      (each) => each.querySelector('th')?.textContent === 'wan',
    );
    return [
      document.querySelector('[data-id="l:wan"]')?.getAttribute('aria-label'),
      row?.querySelectorAll('td.number')[1]?.textContent,
    ];
  });
  expect(label).toContain(words(used ?? null));
  expect(words(used ?? null)).toMatch(/^[\d.]+ %$/);
  await picture('session-live');
  await page.getByRole('button', { name: 'Stop' }).click();
  await page.getByRole('button', { name: 'Report' }).waitFor(patience);

  directory = join(
    here.folder,
    'runs',
    decodeURIComponent(/run\/([^/?]+)/.exec(page.url())![1]!).replace('~', '/'),
  );
  summary = JSON.parse(readFileSync(join(directory, 'summary.json'), 'utf8'));
  said.python = JSON.parse(
    python(`import io
import json
from contextlib import redirect_stdout
from pathlib import Path
from longhaul.report.console import Console
from longhaul.cli.terminal.run import print_summary
from longhaul.run.api import Result
from longhaul.run.conclusion import exit_code
directory = Path(${JSON.stringify(directory)})
summary = json.loads((directory / "summary.json").read_text())
run = Result(directory, summary, exit_code(summary))
with redirect_stdout(io.StringIO()) as terminal:
    print_summary(summary, Console())
print(json.dumps({
    "notebook": run._repr_html_(),
    "terminal": terminal.getvalue(),
    "lost": run.probe("probe")["lost"],
    "state": run.outcome.state,
    "failures": [each.text for each in run.failed],
    "changes": [[each["kind"], each["text"], each["source"]] for each in run.changes],
    "interventions": len(run.interventions),
    "exit": run.exit_code,
}))`),
  );
  said.terminal = words(said.python['terminal']);
  const [report] = await Promise.all([
    page.context().waitForEvent('page'),
    page.getByRole('button', { name: 'Report' }).click(),
  ]);
  await report.waitForLoadState();
  await report.locator('#outcome').waitFor(patience);
  said.report = words(await report.locator('main').textContent());
  await expect.poll(() => report.locator('.chart:not(.drawn)').count(), patience).toBe(0);
  // Charts over time; distributions have no changes.
  await report.locator('.chart').evaluateAll((charts) => {
    for (const each of charts)
      if (/"marks":\s*\[\{/.test(each.querySelector('script')?.textContent ?? ''))
        each.classList.add('over-time');
  });
  said.marked = await lines(report, '.over-time .uplot canvas');
  said.rows = (await report.locator('tr').allTextContents()).map(words);
  await picture('session-report', report);
  if (process.env['SHOTS']) execFileSync('cp', ['-r', directory, process.env['SHOTS']]);
  await report.close();
});

step(
  'A1: every change is listed, marked and exported on every surface, and the verdict counts them',
  async () => {
    expect(summary['changes'].map((each: Json) => [each['kind'], each['text'], each['source']])).toEqual(
      CHANGES,
    );
    expect(said.python['changes']).toEqual(CHANGES);
    expect(said.python['interventions']).toBe(4);
    await page.getByRole('tab', { name: /^Changes/ }).click();
    const rows = (await page.locator('#below-body tbody tr').allTextContents()).map(words);
    expect(rows).toHaveLength(CHANGES.length);
    for (const [at, [kind, text, source]] of CHANGES.entries()) {
      for (const part of [kind, text, source]) expect(rows[at]).toContain(part);
      expect(said.rows.find((row) => row.startsWith(String(at + 1)) && row.includes(text))).toContain(source);
      if (kind === 'intervention')
        expect(said.terminal).toMatch(new RegExp(`${text.replace('.', '\\.')} .*${source}`));
    }
    const verdict = `${summary['fidelity']['verdict']}, with 4 interventions`;
    expect(await shown('.bar')).toContain(`network ${verdict}`);
    for (const text of [said.terminal, said.python['notebook']]) expect(text).toContain(verdict);
    expect(said.report.toLowerCase()).toContain(`${verdict}.`);
    // Solid lines are interventions; that of the event is dotted.
    const charts = page.locator('.charts figure [role="img"]');
    for (const each of await charts.all())
      expect(await each.getAttribute('aria-label')).toMatch(/; 5 changes marked$/);
    const marked = await lines(page, '.charts figure canvas');
    expect(marked).toHaveLength(await charts.count());
    expect(new Set(marked)).toEqual(new Set([4]));
    expect(said.marked.length).toBeGreaterThan(4);
    expect(new Set(said.marked)).toEqual(new Set([4]));
    await picture('session-page');
    // What was done by hand becomes a scenario that does it again.
    const events = command('report', '--events-of', directory);
    expect(events.match(/^ {2}- \{at:/gm)).toHaveLength(CHANGES.length);
    writeFileSync(join(here.folder, 'again.yaml'), SESSION.replace(/events:\n.*\n/, events));
    expect(command('check', 'again.yaml')).not.toContain('error');
    const [wan] = summary['links'].filter((each: Json) => each['name'] === 'wan');
    const delays = wan['phases'].map((each: Json) => each['configured']['delay_ns']);
    expect([delays[0], delays.at(-1)]).toEqual([35e6, 80e6]);
  },
);

step('A2: a TCP flow that was stopped has the rate that the network counted, and no error', async () => {
  const [flow] = summary['flows'];
  const [wan] = summary['links'].filter((each: Json) => each['name'] === 'wan' && each['way'] === 'forward');
  expect(flow['error']).toBeNull();
  // Nothing but it and a few pings used the link, whose bytes were counted on the wire.
  const carried = wan['achieved']['rate_bits_per_s'] * summary['duration_ns'];
  const got = flow['goodput_bits_per_s'] * (summary['duration_ns'] - flow['start_ns']);
  expect(got / carried).toBeGreaterThan(0.7);
  expect(got / carried).toBeLessThan(1);
  const rate = `${(flow['goodput_bits_per_s'] / 1e6).toPrecision(3).replace(/\.?0+$/, '')} Mbit/s`;
  expect(said.rows.find((row) => row.startsWith('bulk'))).toContain(rate);
  expect(said.python['notebook']).toContain(rate);
  expect(said.terminal).toContain(`bulk a2 > b2 ${rate}`);
  for (const text of [said.terminal, said.report]) expect(text).not.toContain('terminated');
});

step(
  'A3: pings without an answer are lost, and those over a link that was down are counted apart',
  async () => {
    const [ping] = summary['probes'];
    // The last may still have had an answer on its way.
    const unanswered = ping['sent'] - ping['received'];
    expect(unanswered - ping['lost']).toBeGreaterThanOrEqual(0);
    expect(unanswered - ping['lost']).toBeLessThanOrEqual(2);
    // It was down for at least 1.5 s, with ten pings each second.
    expect(ping['lost_down']).toBeGreaterThanOrEqual(12);
    expect(ping['lost_down']).toBeLessThanOrEqual(ping['lost']);
    expect(said.python['lost']).toBe(ping['lost']);
    expect(said.rows.find((row) => row.startsWith('probea1'))).toContain(
      `(${ping['lost']} of ${ping['sent']})`,
    );
    expect(said.terminal).toMatch(
      new RegExp(`probe a1 > b1 ${ping['sent']} ${ping['lost']} ${ping['lost_down']} `),
    );
  },
);

step('A4: what failed is shown on every surface, with the end of its log', async () => {
  expect(summary['outcome']['state']).toBe('failed');
  expect(said.python).toMatchObject({ state: 'failed', exit: 1 });
  expect(await page.locator('[data-outcome]').getAttribute('data-outcome')).toBe('failed');
  expect(await shown('.bar .failed')).toBe(summary['outcome']['detail']);
  await page.getByRole('tab', { name: 'Messages' }).click();
  const messages = await shown('#below-body');
  for (const [at, failure] of FAILURES.entries()) {
    for (const text of [said.terminal, said.report, messages]) expect(text).toContain(failure);
    expect(said.python['failures'][at]).toContain(failure);
  }
  for (const text of [said.terminal, said.report, messages]) expect(text).toContain('the disk is gone');
});

step(
  'A5, A6: the run keeps its map beside another file; label, table and colour are of one figure',
  async () => {
    await open('other.yaml');
    await page.keyboard.press('2');
    await page.locator('[data-id="l:wan"]').waitFor(patience);
    expect(await page.locator('[data-id="l:x-y"]').count()).toBe(0);
    const label = await page.locator('[data-id="l:wan"]').getAttribute('aria-label');
    const used = await page
      .locator('.numbers tr', { hasText: 'wan' })
      .locator('td.number')
      .nth(1)
      .textContent();
    expect(label).toContain(words(used));
    await page.keyboard.press('3');
    await page.locator('.runs tbody tr').first().waitFor();
    await picture('session-runs');
    expect(words(await page.locator('.runs tbody tr').first().textContent())).toMatch(
      /failed.*with 4 interventions/,
    );
  },
);

step('A7: the page and the command line name the same line of a broken file', async () => {
  await open('broken.yaml');
  await page.getByText('The file cannot be drawn.').waitFor(patience);
  expect(await shown('.first')).toContain('Line 4:');
  const checked = spawnSync(longhaul, ['check', 'broken.yaml'], { cwd: here.folder, encoding: 'utf8' });
  expect(checked.status).toBe(2);
  expect(checked.stdout + checked.stderr).toContain('broken.yaml:4:');
});
