/**
 * Twelve tasks of a researcher, each once by mouse and once by the keyboard alone, on one server and one live network.
 *
 * tasks.toml has how many actions each may take, and docs/explanation/page-and-others.md shows them. What a task is to
 * achieve is looked up in files: in the records of runs, in what was saved and in what was downloaded.
 */
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Download, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { button, Person, row, sign, view, words } from './person';
import { desk, lacks, longhaul, type Desk } from './server';
import { CITIES, FILES, OTHERS } from './tasks-scenarios';
import { GOODPUTS, python, TASKS, type Steps, type Way } from './tasks-table';

const patience = { timeout: 20_000 };

type Json = Record<string, any>; // eslint-disable-line @typescript-eslint/no-explicit-any
let here: Desk;
let home: string;
/** The tab that shows the live network. */
let live: Page;
const before = { HOME: process.env['HOME'], SHELL: process.env['SHELL'] };
const counted = new Map<string, Partial<Record<Way, number>>>();

const json = (...path: string[]): Json =>
  JSON.parse(readFileSync(join(here.folder, ...path), 'utf8')) as Json;
/** Directories of runs of a scenario, the oldest first. */
const runsOf = (name: string): string[] =>
  existsSync(join(here.folder, 'runs', name))
    ? readdirSync(join(here.folder, 'runs', name))
        .filter((each) => !each.startsWith('latest'))
        .toSorted()
    : [];
const sim = (name: string, ...settings: string[]): void =>
  void execFileSync(longhaul, ['sim', `${name}.yaml`, ...settings.flatMap((each) => ['--set', each])], {
    cwd: here.folder,
    stdio: 'ignore',
  });

/** A live run on a machine that has other things to do. */
async function hurry(): Promise<void> {
  const others = spawn(join(longhaul, '../python'), ['-c', OTHERS], { stdio: ['pipe', 'ignore', 'inherit'] });
  const run = spawn(longhaul, ['run', 'hurried.yaml'], { cwd: here.folder, stdio: 'ignore' });
  await new Promise((resolve) => run.once('exit', resolve));
  others.stdin.end();
}

beforeAll(async () => {
  if (lacks) return;
  home = mkdtempSync(join(tmpdir(), 'longhaul-home-'));
  Object.assign(process.env, { HOME: home, SHELL: '/bin/bash' });
  here = await desk([], (folder) => {
    for (const [name, text] of Object.entries(FILES)) writeFileSync(join(folder, `${name}.yaml`), text);
  });
  await hurry();
  sim('sharing');
  for (const cc of ['cubic', 'reno', 'vegas']) sim('hurried', `cc=${cc}`);
  live = await opened('network.yaml');
  await live.keyboard.press('2');
  await live.locator('.run').waitFor();
  await live.getByRole('button', { name: 'Start' }).click();
  await live.getByRole('group', { name: 'Break it' }).waitFor(patience);
  await live.locator('[data-probe*=nyc1]', { hasText: 'ms' }).waitFor(patience);
}, 180_000);
afterAll(async () => {
  if (lacks) return;
  await here.end().catch(() => undefined);
  rmSync(home, { recursive: true, force: true });
  Object.assign(process.env, before);
});

/** A new tab with a file on the page Edit. */
async function opened(file: string): Promise<Page> {
  const page = await here.page();
  await page.keyboard.press('Control+o');
  await page.locator('dialog').getByRole('button', { name: file, exact: true }).click();
  await page.locator('dialog').waitFor({ state: 'detached' });
  await page.waitForFunction((name) => document.title.includes(name), file, patience);
  return page;
}

function task<Start>(name: string, steps: Steps<Start>): void {
  const allowed = TASKS.find((each) => each.name === name)!;
  for (const way of ['mouse', 'keyboard'] as const)
    test.skipIf(lacks)(`${name}, by ${way}`, async () => {
      const { page, start } = await steps.begin(way);
      await page.bringToFront();
      const person = new Person(page);
      const done = await steps[way](person, page, start).catch(async (error: unknown) => {
        const folder = process.env['PICTURES'];
        if (folder) await page.screenshot({ path: join(folder, `${name}-${way}.png`) });
        throw error;
      });
      await steps.check(page, start, way, done);
      counted.set(name, { ...counted.get(name), [way]: person.actions });
      expect(person.actions, `actions by ${way}; tasks.toml has how many it may take`).toBeLessThanOrEqual(
        allowed[way],
      );
      if (page !== live) await page.context().close();
    });
}

task('Build a wide-area network of three sites in cities', {
  begin: async () => {
    const page = await here.page();
    await page.keyboard.press('Control+k');
    await page.keyboard.type('empty page');
    await page.keyboard.press('Enter');
    await page.getByText('An empty page').waitFor(patience);
    rmSync(join(here.folder, 'untitled.yaml'), { force: true });
    return { page, start: null };
  },
  mouse: async (person, page) => {
    await person.click(page.getByLabel('Add a city'));
    for (const [typed, name, id] of CITIES) {
      await person.type(typed);
      await person.click(page.getByRole('option').filter({ hasText: name }).first());
      await page.locator(`[data-id="n:${id}"]`).waitFor(patience);
    }
    const box = (await page.getByRole('application').boundingBox())!;
    await person.drag(
      { x: box.x + 4, y: box.y + 4 },
      { x: box.x + box.width - 4, y: box.y + box.height - 4 },
      { shift: true },
    );
    await person.click(button(page, 'Link each with each'));
    await expect.poll(() => page.locator('.map g.link').count(), patience).toBe(3);
    await person.click(button(page, 'New host at each'));
    await expect.poll(() => page.locator('.map g.node').count(), patience).toBe(6);
    await person.click(button(page, /^Save$/));
    await person.click(page.locator('form').getByRole('button', { name: 'Save' }));
  },
  keyboard: async (person, page) => {
    await person.press('g');
    for (const [typed, name, id] of CITIES) {
      await person.type(typed);
      await page.getByRole('option').filter({ hasText: name }).first().waitFor(patience);
      await person.press('Enter');
      await page.locator(`[data-id="n:${id}"]`).waitFor(patience);
    }
    await person.press('Escape');
    await page.locator('[data-id^="n:"]:focus').waitFor(patience);
    await person.press('Control+a');
    await person.command('each with each', 'Link each with each');
    await expect.poll(() => page.locator('.map g.link').count(), patience).toBe(3);
    await person.command('host at each', 'New host at each');
    await expect.poll(() => page.locator('.map g.node').count(), patience).toBe(6);
    await person.press('Control+s');
    await person.press('Enter');
  },
  check: async () => {
    await expect.poll(() => existsSync(join(here.folder, 'untitled.yaml')), patience).toBe(true);
    const shown = execFileSync(longhaul, ['show', 'untitled.yaml'], { cwd: here.folder, encoding: 'utf8' });
    for (const [, , id] of CITIES) expect(shown).toContain(id);
    const text = readFileSync(join(here.folder, 'untitled.yaml'), 'utf8');
    expect(text).toMatch(/paris: \{kind: router, at: \[48\.85, 2\.35\]\}/);
    expect(text.match(/kind: host/g)).toHaveLength(3);
    // 5838 km as the crow flies, a quarter more of fibre.
    expect(text).toMatch(/endpoints: \[paris, new-york-city\], delay: 35\.7\d+ms/);
    expect(text.match(/endpoints:/g)).toHaveLength(3);
    rmSync(join(here.folder, 'untitled.yaml'));
  },
});
task('Find which flow of a finished run is slowest and which loses most', {
  begin: async () => ({ page: await opened('network.yaml'), start: null }),
  mouse: async (person, page) => {
    await person.click(view(page, 'Runs'));
    await person.click(row(page, 'sharing'));
  },
  keyboard: (person) => person.command('run sharing', /sharing.*sim/),
  check: async (page) => {
    const said = words(await page.getByText('Lowest goodput:').textContent());
    const flows = json('runs/sharing', runsOf('sharing')[0]!, 'summary.json')['flows'] as Json[];
    const slowest = flows.toSorted((a, b) => a['goodput_bits_per_s'] - b['goodput_bits_per_s'])[0]!;
    const worst = flows.toSorted((a, b) => b['retransmits'] - a['retransmits'])[0]!;
    expect(slowest['name']).toBe('distant');
    expect(said).toContain(`Lowest goodput: ${slowest['name']}`);
    expect(said).toContain(`Most retransmissions: ${worst['name']}, ${worst['retransmits']}.`);
  },
});

task('Compare two algorithms, with confidence intervals', {
  begin: async () => {
    for (const each of runsOf('algorithms'))
      rmSync(join(here.folder, 'runs/algorithms', each), { recursive: true });
    return { page: await opened('algorithms.yaml'), start: null };
  },
  mouse: async (person, page) => {
    await person.click(view(page, 'Run'));
    await person.click(button(page, 'Sweep'));
    await person.click(page.getByLabel('Parameter or key'));
    await person.type('cc');
    await person.click(page.getByLabel('Its values'));
    await person.type('reno, cubic');
    await person.click(page.getByRole('button', { name: 'Add', exact: true }));
    await person.doubleClick(page.getByLabel(REPETITIONS));
    await person.type('3');
    await person.click(button(page, 'Start'));
  },
  keyboard: async (person, page) => {
    await person.press('2');
    await page.locator('.run').waitFor();
    await person.command('sweep', 'Sweep');
    await person.type('cc');
    await person.press('Tab');
    await person.type('reno, cubic');
    await person.press('Enter');
    await page.getByLabel(REPETITIONS).waitFor(patience);
    await person.press('Tab');
    await person.type('3');
    await person.press('Enter');
    await person.press('Control+Enter');
  },
  check: async (page) => {
    await page.getByText('6 runs of 2 variants').waitFor(patience);
    const [sweep] = runsOf('algorithms');
    const rows = JSON.parse(
      python(GOODPUTS, join(here.folder, 'runs/algorithms', sweep!, 'summary.parquet')),
    ) as Json[];
    expect(rows.map((each) => each['axis_cc']).toSorted()).toEqual(['cubic', 'reno']);
    for (const each of rows) {
      expect(each['runs']).toBe(3);
      expect(each['half_width']).toBeGreaterThan(0);
    }
    const map = page.locator('.heat-map');
    await expect.poll(() => map.locator('td[class^=shade]').count(), patience).toBe(2);
    for (const each of await map.locator('td[class^=shade]').allTextContents())
      expect(words(each)).toMatch(/^[\d.]+\s*±[\d.]+$/);
  },
});
const REPETITIONS = 'repetitions of each, with different seeds';

const network = (...path: string[]): string =>
  join(here.folder, 'runs/network', runsOf('network')[0]!, ...path);
/** What the run has recorded of its changes. */
const recorded = (): Json[] =>
  readFileSync(network('raw/changes.jsonl'), 'utf8')
    .trim()
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Json);
const rtt = (probe: string): Promise<string> =>
  live
    .locator(`[data-probe*="${probe}"]`)
    .first()
    .textContent()
    .then((text) => text ?? '');
/** The live network as it was at its start, with the tab on its charts. */
const running = async (): Promise<{ page: Page; start: number }> => {
  await live.locator('.tabs').getByRole('tab', { name: 'Messages' }).click();
  return { page: live, start: recorded().length };
};
const noticed = (probe: string): Locator =>
  live.locator('.numbers tr', { has: live.locator(`[data-probe*="${probe}"]`) }).locator('td[colspan]');

task('Take down a link and see who notices', {
  begin: running,
  mouse: async (person) => {
    await person.clickSign(sign(live, 'l:atlantic'));
    await person.click(button(live, 'Take down'));
  },
  keyboard: (person) => person.command('take down atlantic', 'Take down atlantic'),
  check: async (_, start) => {
    await expect.poll(() => noticed('nyc1').getAttribute('class'), patience).toContain('warn');
    expect(words(await noticed('nyc1').textContent())).toMatch(/round trip, \d+ s ago/);
    expect(await noticed('rom1').getAttribute('class')).not.toContain('warn');
    const made = recorded().slice(start);
    expect(made).toHaveLength(1);
    expect(made[0]!['cause']).toMatchObject({ by: 'page' });
    await live.getByLabel('Link to change').selectOption('atlantic');
    await button(live, 'Bring up').click();
    await expect.poll(() => noticed('nyc1').getAttribute('class'), patience).not.toContain('warn');
    expect(recorded()).toHaveLength(start + 2);
  },
});

task('Open a shell in a host and run a command', {
  begin: async (way) => {
    rmSync(join(here.folder, 'said.txt'), { force: true });
    if (way === 'keyboard') {
      // The shell that the mouse has opened is there no more.
      await button(live, 'End shell').click();
      await live.getByText('The shell has ended').waitFor(patience);
    }
    await live.goto(live.url().replace(/\/host\/.*/, ''));
    return { ...(await running()), start: way === 'mouse' ? 'nyc1' : 'rom1' };
  },
  mouse: async (person, _, host) => {
    await person.clickSign(sign(live, `n:${host}`));
    await prompt(host);
    await person.type(`ip -br addr > ${join(here.folder, 'said.txt')}`);
    await person.press('Enter');
  },
  keyboard: async (person, _, host) => {
    await person.command(`shell ${host}`, `Shell in ${host}`);
    await prompt(host);
    await person.type(`ip -br addr > ${join(here.folder, 'said.txt')}`);
    await person.press('Enter');
  },
  check: async (_, host) => {
    const said = (): string =>
      existsSync(join(here.folder, 'said.txt')) ? readFileSync(join(here.folder, 'said.txt'), 'utf8') : '';
    const node = (json('runs/network', runsOf('network')[0]!, 'plan.json')['nodes'] as Json[]).find(
      (each) => each['name'] === host,
    );
    const address = /\d+\.\d+\.\d+\.\d+/.exec(JSON.stringify(node))![0];
    await expect.poll(said, patience).toContain(`${address}/`);
  },
});
const prompt = (host: string): Promise<void> =>
  expect
    .poll(
      () =>
        live
          .locator('.xterm-rows')
          .evaluate((rows) => rows.textContent?.replace(/\u00a0/g, ' ') ?? '')
          .catch(() => ''),
      patience,
    )
    .toMatch(new RegExp(`${host}:.*# `));

task('Get the packets of a link as a file', {
  begin: async (way) => ({ ...(await running()), start: way === 'mouse' ? 'atlantic' : 'alps' }),
  mouse: async (person, page, link) => {
    await person.clickSign(sign(live, `l:${link}`), 'right');
    await person.click(live.getByRole('menuitem', { name: `Capture packets of ${link}` }));
    const saved = page.waitForEvent('download');
    await person.click(button(live, 'Download pcapng'));
    return saved;
  },
  keyboard: async (person, page, link) => {
    await person.command(`capture ${link}`, `Capture packets of ${link}`);
    await page.locator('button:focus', { hasText: 'Download pcapng' }).waitFor(patience);
    const saved = page.waitForEvent('download');
    await person.press('Enter');
    return saved;
  },
  check: async (_, link, __, done) => {
    const file = await (done as Download).path();
    const bytes = readFileSync(file);
    // A section header block, and pings in it.
    expect(bytes.readUInt32LE(0)).toBe(0x0a0d0d0a);
    const found = readdirSync(network(), { recursive: true }).map(String);
    const captures = found.filter((each) => each.includes(link) && each.endsWith('.pcapng'));
    expect(captures.length).toBeGreaterThan(0);
    const heads = captures.map((each) => readFileSync(network(each)).subarray(0, 400));
    expect(heads.some((each) => each.equals(bytes.subarray(0, 400)))).toBe(true);
  },
});

task('Change the delay of a running link and see the round trip follow', {
  begin: async (way) => {
    const now = way === 'mouse' ? 80 : 120;
    return { page: (await running()).page, start: { before: recorded().length, delay: now } };
  },
  mouse: async (person, _, { delay }) => {
    await person.clickSign(sign(live, 'l:atlantic'));
    await person.click(live.locator('#change-delay'));
    await person.type(`${delay}ms`);
    await person.click(live.getByRole('button', { name: 'Change', exact: true }));
  },
  keyboard: (person, _, { delay }) =>
    person.command(`set atlantic delay=${delay}ms`, `set atlantic delay=${delay}ms`),
  check: async (_, { before, delay }) => {
    await expect
      .poll(async () => Math.round(parseFloat(await rtt('nyc1')) / 10), patience)
      .toBe(Math.round((2 * delay) / 10));
    const made = recorded().slice(before);
    expect(made.length).toBeGreaterThan(0);
    expect(JSON.stringify(made)).toContain(String(delay * 1e6));
  },
});

task('Reproduce a run', {
  begin: async () => {
    const page = await here.page();
    await view(page, 'Runs').click();
    await row(page, 'hurried, cc=vegas').first().click();
    await button(page, 'Reproduce').waitFor();
    return { page, start: runsOf('hurried') };
  },
  mouse: (person, page) => person.click(button(page, 'Reproduce')),
  keyboard: (person) => person.command('reproduce', 'Reproduce hurried, cc=vegas'),
  check: async (page, were) => {
    await page.waitForURL(/#\/run\//, patience);
    await page.locator('[data-outcome]').waitFor(patience);
    const made = runsOf('hurried').filter((each) => !were.includes(each));
    expect(made).toHaveLength(1);
    const [original] = were.filter(
      (each) => json('runs/hurried', each, 'run.json')['settings']['cc'] === 'vegas',
    );
    const figures = (id: string): Json => {
      const { flows, probes, links } = json('runs/hurried', id, 'summary.json');
      return { flows, probes, links };
    };
    expect(figures(original!)['flows']).toHaveLength(1);
    expect(figures(made[0]!)).toEqual(figures(original!));
    // The next one finds what this one found.
    rmSync(join(here.folder, 'runs/hurried', made[0]!), { recursive: true });
  },
});

const degraded = (): string =>
  runsOf('hurried').find((each) => json('runs/hurried', each, 'run.json')['mode'] === 'live')!;

task('Tell why a run was not faithful', {
  begin: async () => ({ page: await opened('network.yaml'), start: null }),
  mouse: async (person, page) => {
    await person.click(view(page, 'Runs'));
    await person.click(page.locator('.table tbody tr', { hasText: 'degraded' }).locator('.name'));
  },
  keyboard: (person) => person.command('hurried live', /hurried.*live/),
  check: async (page) => {
    const { verdict, reasons } = json('runs/hurried', degraded(), 'fidelity.json') as {
      verdict: string;
      reasons: { what: string; remedy: string }[];
    };
    expect(verdict).toBe('degraded');
    expect(reasons.map((each) => each.what).join()).toContain('the engine did not run');
    await page.getByRole('heading', { name: 'Fidelity' }).waitFor(patience);
    const said = words(await page.locator('.detail').textContent());
    for (const { what, remedy } of reasons) {
      expect(said).toContain(what);
      expect(said).toContain(remedy);
    }
  },
});

task('Export the scenario for other machines', {
  begin: async () => ({ page: await opened('network.yaml'), start: null }),
  mouse: async (person, page) => {
    await person.click(view(page, 'Machines'));
    await person.click(page.getByRole('tab', { name: 'Export to real machines' }));
    const saved = page.waitForEvent('download');
    await person.click(button(page, /^Download \d/));
    return saved;
  },
  keyboard: async (person, page) => {
    const saved = page.waitForEvent('download');
    await person.command('export shell', 'Export for other machines: shell');
    return saved;
  },
  check: async (_, __, ___, done) => {
    const into = mkdtempSync(join(tmpdir(), 'longhaul-export-'));
    const file = await (done as Download).path();
    execFileSync('tar', ['xzf', file, '-C', into]);
    execFileSync(longhaul, ['export', 'shell', 'network.yaml', '--out', join(into, 'command')], {
      cwd: here.folder,
      stdio: 'ignore',
    });
    const names = readdirSync(join(into, 'command')).toSorted();
    expect(names).toContain('par.sh');
    expect(readdirSync(join(into, 'network-shell')).toSorted()).toEqual(names);
    for (const name of names.filter((each) => each.endsWith('.sh')))
      expect(readFileSync(join(into, 'network-shell', name), 'utf8')).toBe(
        readFileSync(join(into, 'command', name), 'utf8'),
      );
    rmSync(into, { recursive: true });
  },
});

task('Plan transfers by every policy and see the best', {
  begin: async () => {
    const page = await opened('network.yaml');
    await view(page, 'Transfers').click();
    await page.getByLabel('requests', { exact: true }).selectOption('requests.yaml');
    await page.getByText(/of 3 requests served/).waitFor(patience);
    await view(page, 'Edit').click();
    await page.locator('main .edit').waitFor();
    return { page, start: null };
  },
  mouse: async (person, page) => {
    await person.click(view(page, 'Transfers'));
    await person.click(page.getByRole('tab', { name: 'All policies' }));
    await person.click(button(page, 'Plan by every policy'));
  },
  keyboard: async (person, page) => {
    await person.press('4');
    await page.getByText('requests served').waitFor(patience);
    await person.command('every policy', 'Plan by every policy');
  },
  check: async (page) => {
    await button(page, 'Plan again by every policy').waitFor(patience);
    const lines = await page.locator('.shown tbody tr').evaluateAll((rows) =>
      rows.map((each) => ({
        policy: each.querySelector('th')!.textContent!.trim(),
        served: each.querySelectorAll('td')[0]!.textContent!.trim(),
        isBest: getComputedStyle(each.querySelectorAll('td')[3]!).fontWeight >= '600',
      })),
    );
    const planned = plans();
    expect(lines.map((each) => each.policy).toSorted()).toEqual(Object.keys(planned).toSorted());
    const times = Object.values(planned).map((each) => each.meanFlowTime);
    const least = Math.min(...times.filter((each) => each !== null));
    for (const { policy, served, isBest } of lines) {
      expect([policy, served]).toEqual([policy, String(planned[policy]!.served)]);
      expect([policy, isBest]).toEqual([policy, planned[policy]!.meanFlowTime === least]);
    }
    expect(lines.filter((each) => each.isBest).length).toBeLessThan(lines.length);
  },
});
/** What the command line plans, by policy. */
let planning: Record<string, { served: number; meanFlowTime: number | null }> | undefined;
const plans = (): NonNullable<typeof planning> =>
  (planning ??= JSON.parse(
    python(
      `import json, sys
from click.testing import CliRunner
from longhaul.cli.main import longhaul
def said(*words):
    return CliRunner().invoke(longhaul, ["transfer", *words]).stdout
found = {}
for policy in [line.split()[0] for line in said("policies").splitlines() if line[:1].isalpha()]:
    plan = json.loads(said("plan", sys.argv[1], "--policy", policy, "--json"))
    found[policy] = {
        "served": sum(each["satisfied"] for each in plan["requests"]),
        "meanFlowTime": plan["measures"]["flow_time_mean_s"],
    }
print(json.dumps(found))`,
      join(here.folder, 'requests.yaml'),
    ),
  ) as NonNullable<typeof planning>);

task('Find a run among many and tag it', {
  begin: async (way) => ({ page: await opened('network.yaml'), start: `figure-${way}` }),
  mouse: async (person, page, tag) => {
    await person.click(view(page, 'Runs'));
    await person.click(page.getByLabel('find'));
    await person.type('cc=reno degraded');
    await person.click(row(page, 'hurried, cc=reno'));
    await person.click(page.getByLabel('tags'));
    await person.type(` ${tag}`);
    await person.click(page.locator('.about').getByRole('button', { name: 'Save' }));
  },
  keyboard: async (person, page, tag) => {
    await person.press('3');
    await page.locator('.table tbody tr').first().waitFor(patience);
    await person.press('/');
    await person.type('cc=reno degraded');
    await page.getByText(/^1 of \d+ runs/).waitFor(patience);
    await person.press('Enter');
    await button(page, 'Reproduce').waitFor(patience);
    await person.command(`tag ${tag}`, `Tag ${tag}`);
  },
  check: async (page, tag) => {
    await page.locator('.table .tag', { hasText: tag }).waitFor(patience);
    const found = (
      JSON.parse(
        execFileSync(longhaul, ['runs', 'list', `tag=${tag}`, '--json'], {
          cwd: here.folder,
          encoding: 'utf8',
        }),
      ) as Json
    )['runs'] as Json[];
    expect(JSON.stringify(found)).toContain(degraded());
    expect(found).toHaveLength(1);
  },
});

test.skipIf(lacks)('the records of the live run have what was done to it', async () => {
  await live.goto(live.url().replace(/\/host\/.*/, ''));
  await button(live, 'Stop').click();
  await button(live, 'Report').waitFor(patience);
  const summary = JSON.parse(readFileSync(network('summary.json'), 'utf8')) as Json;
  expect((summary['changes'] as Json[]).map((each) => each['text'])).toEqual([
    'atlantic: down',
    'atlantic: up',
    'atlantic: down',
    'atlantic: up',
    'atlantic: delay 35 → 80 ms',
    'atlantic: delay 80 → 120 ms',
  ]);
  const probes = Object.fromEntries((summary['probes'] as Json[]).map((each) => [each['name'], each]));
  expect(probes['far']!['lost_down']).toBeGreaterThan(10);
  expect(probes['near']!['lost_down']).toBe(0);
});

test.skipIf(lacks)('each task takes at most half of the actions that others need', () => {
  expect([...counted.keys()]).toEqual(TASKS.map((each) => each.name));
  for (const { name, mouse, keyboard, steps, why } of TASKS) {
    // The table has neither more nor less than what was counted.
    expect({ name, ...counted.get(name) }).toEqual({ name, mouse, keyboard });
    if (!steps) continue;
    const theirs = steps.reduce((sum, each) => sum + each.actions, 0);
    expect({ name, isHalf: 2 * Math.max(mouse, keyboard) <= theirs }).toEqual({
      name,
      isHalf: why === undefined,
    });
  }
});
