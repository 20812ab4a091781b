/** The run that is being watched: its state, its last minute of numbers, its messages. */
import type { RunEvent } from '../api/types/addresses';
import { api, follow, Refused, Subscription, type Execution, type Lost, type Settings } from '../api/client';
import type { Sample } from '../api/types/events';
import type { OutcomeLine, Probe, RunDetails, NetworkChange } from '../api/types/runs';
import type { Mode } from '../api/client';
import type { Model } from '../api/translate';
import { averages, NONE, type AllAverages } from './averages';
import { downAfter } from './changes';
import { Flows } from './connections';
import { refuse } from './desk.svelte';
import { place, type Point } from './layout';
import { tellOfEnd } from './notice.svelte';
import { Recorded, Ring, type Source } from './ring';

export type Status =
  'none' | 'starting' | 'building' | 'up' | 'running' | 'stopping' | 'concluding' | 'ended';
export type Notice = {
  kind: 'info' | 'warning' | 'problem';
  text: string;
  remedy: string | null;
  tNs: number | null;
  code?: string;
  explanation?: string;
};
/** `failure`: why it counts as failed, if it does. */
export type ProgramState = { name: string; host: string; state: string; failure: string | null };

/** Ten minutes at ten samples a second; then what was before is read again, thinned out. */
const CAPACITY = 6000;
const MOST_NOTICES = 300;

export const running = $state({
  id: null as string | null,
  name: '',
  mode: 'live' as Mode,
  /** A live run with simulated traffic beside. */
  mixed: false,
  /** A live run on the virtual clock. */
  virtual: false,
  status: 'none' as Status,
  durationNs: null as number | null,
  tNs: 0,
  links: [] as string[],
  probes: [] as string[],
  programs: [] as ProgramState[],
  notices: [] as Notice[],
  outcome: null as OutcomeLine | null,
  verdict: null as string | null,
  reason: null as string | null,
  exit: null as number | null,
  detail: null as RunDetails | null,
  /** The stream broke, and is being taken up again. */
  lost: false,
  /** Grows with every drawn frame that has something new. */
  beat: 0,
  /** Grows twice a second, for charts of what is asked for again and again. */
  slowBeat: 0,
  downs: [] as string[],
  /** The scenario with which the run began, byte for byte, and its network: whatever is on the page Edit. */
  scenario: null as string | null,
  network: null as Model | null,
  /** Where nodes are drawn; the same each time that the run is looked at. */
  places: new Map<string, Point>() as ReadonlyMap<string, Point>,
  /** Grows when another network comes, so that the map is fitted anew. */
  opened: 0,
  /** What stands beside links: labels, colours and numbers of one sample, or of the whole run once it is over. */
  averages: NONE as AllAverages,
  /** Over how much of the run's time, in ns; null for all of it. */
  averagedNs: null as number | null,
  /** Of the network, by events and by hand, in order. */
  changes: [] as NetworkChange[],
});

/** Not state: it is read when something is drawn. */
export let source: Source = new Ring([], [], 1);
/** The same of TCP flows. */
export let flows = new Flows();

let ring: Ring | null = null;
/** Links that charts show: samples have those alone, and all that was before of them is read once. */
let subscription = new Subscription();
/** What comes while that is read. */
let waiting: Sample[] | null = null;
let pings: readonly Probe[] = [];
let watching: AbortController | null = null;
let pending = false;
let lastSlow = 0;
/** When this tab began to watch the run, on the clock of `performance.now()`. */
let since = 0;

function beat(): void {
  if (pending) return;
  pending = true;
  requestAnimationFrame((now) => {
    pending = false;
    running.beat++;
    if (now - lastSlow > 450) {
      lastSlow = now;
      running.slowBeat++;
    }
  });
}

function note(
  kind: Notice['kind'],
  text: string,
  remedy: string | null = null,
  tNs: number | null = running.tNs || null,
  { code, explanation }: { code?: string; explanation?: string } = {},
): void {
  const codes = { ...(code && { code }), ...(explanation && { explanation }) };
  running.notices = [...running.notices.slice(1 - MOST_NOTICES), { kind, text, remedy, tNs, ...codes }];
}

/** Between two pings of each, in ns. */
const pingEvery = (probes: readonly Probe[]): number[] => probes.map((each) => each.every_ns ?? Infinity);

/** "a1 → b1". */
export const probeName = (probe: Pick<Probe, 'from' | 'to'>): string => `${probe.from} → ${probe.to}`;

/** A change that the run has recorded, whoever asked for it. */
function changed(told: NetworkChange): void {
  running.changes = [...running.changes, told];
  running.downs = downAfter(running.network?.links ?? [], running.changes);
  note('info', `${told.text} (${told.kind}, ${told.source})`, null, told.at_ns);
}

function take(told: RunEvent | Lost): void {
  running.lost = told.event === 'lost';
  switch (told.event) {
    case 'hello': {
      const probes = told.probes.map(probeName);
      pings = told.probes;
      if (!ring || ring.links.join() !== subscription.links.join() || ring.probes.join() !== probes.join()) {
        void recall(told.status === 'running');
      }
      running.links = told.links;
      running.probes = probes;
      running.durationNs = told.duration_ns;
      running.name = told.label;
      running.mode = told.mode === 'sim' ? 'sim' : 'live';
      running.mixed = told.mode === 'mixed';
      running.virtual = told.mode === 'virtual';
      // What is known of them is not told again to a stream that is taken up.
      running.programs = told.programs.map(
        ({ name, host }) =>
          running.programs.find((each) => each.name === name) ?? {
            name,
            host,
            state: 'waits',
            failure: null,
          },
      );
      break;
    }
    case 'connections':
      flows.push(told.rows);
      beat();
      break;
    case 'building':
      running.status = 'building';
      break;
    case 'algorithm':
      note('info', `until the end, the kernel follows ${told.algorithm} as ${told.name}`);
      break;
    case 'ending':
    case 'concluding':
      running.status = 'concluding';
      break;
    case 'results':
      running.verdict = told.verdict;
      running.outcome = told.outcome;
      break;
    case 'up':
      running.status = 'up';
      break;
    case 'started':
      if (running.status !== 'stopping') running.status = 'running';
      break;
    case 'sample':
      if (running.status === 'up' || running.status === 'building' || running.status === 'starting')
        running.status = 'running';
      running.tNs = Math.max(running.tNs, told.t_ns);
      if (waiting) waiting.push(told);
      else keep(told);
      beat();
      break;
    case 'now':
      running.averages = averages(running.links, told.links);
      running.averagedNs = told.averaged_ns;
      break;
    case 'program': {
      const { name, host } = told;
      const now = { name, host, state: told.ending ?? told.state, failure: told.failure ?? null };
      running.programs = running.programs.some((each) => each.name === name)
        ? running.programs.map((each) => (each.name === name ? now : each))
        : [...running.programs, now];
      break;
    }
    case 'change':
      changed(told);
      break;
    case 'warning':
      note('warning', told.message, told.remedy ?? null);
      break;
    case 'problem':
      note('problem', told.message, told.remedy, undefined, told);
      break;
    case 'end':
      running.status = 'ended';
      tellOfEnd(running.id ?? '', running.name ?? '', told.outcome?.state ?? '', performance.now() - since);
      running.verdict = told.verdict ?? running.verdict;
      running.outcome = told.outcome ?? running.outcome;
      running.reason = told.reason;
      running.exit = told.exit_code;
      break;
    default:
  }
}

function keep({ t_ns, links, probes, lateness_p99_ns: lateness }: Sample): void {
  ring?.push(t_ns, links, probes, lateness);
  if (ring && ring.count === ring.capacity) void recall(true);
}

/** The links of which charts show all there is. */
export function chart(names: readonly string[]): void {
  // In which order does not matter.
  const sorted = [...names].sort();
  if (sorted.join() !== subscription.links.join()) subscription.change(sorted);
}

/** Begins anew with all that a run has recorded of the links that charts show, if it has, and with what comes. */
async function recall(hasHistory: boolean): Promise<void> {
  const [id, links] = [running.id, subscription.links];
  const fresh = new Ring(links, pings.map(probeName), CAPACITY, pingEvery(pings));
  const still = (): boolean =>
    running.id === id && subscription.links === links && running.status !== 'ended';
  if (!id || !hasHistory) {
    ring = source = fresh;
    return;
  }
  const mine: Sample[] = (waiting = []);
  try {
    const columns = 'throughput_bits_per_s,queueing_delay_ns,undelivered_packets,queue_bytes';
    const [series, late, answers, connections] = await Promise.all([
      links.length ? api.series(id, 'links', links.join(','), columns) : [],
      api.series(id, 'lateness'),
      pings.length ? api.series(id, 'probes') : [],
      api.series(id, 'connections'),
    ]);
    if (!still()) return;
    flows.history(connections);
    const recorded = new Recorded(links, pings.map(probeName), pingEvery(pings));
    for (const each of series) recorded.keep(each.link, each.way, each);
    for (const each of late) recorded.keep('', 'lateness', each);
    for (const each of answers) recorded.keep(probeName(each), 'probe', each);
    fresh.begin(recorded);
  } catch {
    // Of a run that has just begun, there is nothing yet.
  }
  if (!still()) return;
  ring = source = fresh;
  if (waiting === mine) {
    waiting = null;
    mine.forEach(keep);
  }
  running.beat++;
  running.slowBeat++;
}

/** Nothing of the run before is shown any more. */
function forget(): void {
  watching?.abort();
  ring = null;
  waiting = null;
  pings = [];
  source = new Ring([], [], 1);
  flows = new Flows();
  subscription = new Subscription();
  Object.assign(running, {
    id: null,
    status: 'starting',
    durationNs: null,
    tNs: 0,
    links: [],
    probes: [],
    programs: [],
    notices: [],
    outcome: null,
    verdict: null,
    reason: null,
    exit: null,
    detail: null,
    downs: [],
    changes: [],
    mixed: false,
    virtual: false,
    scenario: null,
    network: null,
    averages: NONE,
    averagedNs: null,
  });
  running.beat++;
  running.slowBeat++;
}

/** Shows a run: follows it if it goes on, and reads what it left if it is over. */
export async function watch(id: string): Promise<void> {
  if (running.id === id) return;
  forget();
  const mine = (watching = new AbortController());
  running.id = id;
  since = performance.now();
  try {
    await bring(id);
    if (mine.signal.aborted) return;
    await follow(id, take, mine.signal, subscription);
  } catch (problem) {
    refuse(problem);
    if (problem instanceof Refused && problem.status === 404) {
      // There is no such run: the page is as before the first.
      running.status = 'none';
      running.id = null;
    }
    return;
  }
  if (!mine.signal.aborted) await finish(id);
}

/** Whatever the run was made of, and whoever made it: its map is that of its own network. */
async function bring(id: string): Promise<void> {
  const { scenario, network } = await api.network(id);
  if (running.id === id) lay(scenario, network);
}

function lay(scenario: string, network: Model): void {
  running.scenario = scenario;
  running.network = network;
  running.places = place(network.nodes, network.links, new Map());
  running.downs = downAfter(network.links, running.changes);
  running.opened++;
}

async function finish(id: string): Promise<void> {
  try {
    const detail = await api.run(id);
    if (running.id !== id) return;
    running.status = 'ended';
    running.detail = detail;
    running.durationNs ??= detail.duration_ns;
    if (detail.duration_s !== null) running.tNs = detail.duration_s * 1e9;
    const ends = new Map(detail.ended_programs.map((each) => [each.name, each]));
    running.programs = detail.programs.map(({ name, host }) => {
      const { ending = '', failure = null } = ends.get(name) ?? {};
      return { name, host, state: ending, failure };
    });
    running.outcome = detail.outcome;
    running.verdict = detail.verdict ?? running.verdict;
    running.changes = detail.changes;
    running.downs = downAfter(running.network?.links ?? [], detail.changes);
    running.name = detail.label;
    if (running.links.length === 0) running.links = detail.links;
    if (running.probes.length === 0) running.probes = detail.probes.map(probeName);
    // The same numbers for everybody: for whom watched it, for whom comes later, and in every tab.
    source = new Recorded(running.links, running.probes, pingEvery(detail.probes));
    flows = new Flows();
    flows.history(await api.series(id, 'connections'));
    if (running.id !== id) return;
    running.averages = detail.averages ? averages(running.links, detail.averages) : NONE;
    running.averagedNs = null;
    running.beat++;
    running.slowBeat++;
  } catch (problem) {
    refuse(problem);
  }
}

/** The last answer to a ping of a run that goes on, and how many seconds ago it came. */
export const lastAnswer = (at: number): { rtt: number | null; ago: number } =>
  ring?.lastAnswer(at) ?? { rtt: null, ago: 0 };

/** Reads the whole run's numbers of some links, for charts of a run that is over. */
export async function readSeries(names: readonly string[]): Promise<void> {
  const id = running.id;
  if (!id || !(source instanceof Recorded)) return;
  const into = source;
  await Promise.allSettled([
    ...names
      .filter((name) => into.wants(name, 'forward'))
      .map(async (link) => {
        for (const series of await api.series(id, 'links', link)) into.keep(link, series.way, series);
      }),
    (async () => {
      if (!into.wants('', 'lateness')) return;
      for (const series of await api.series(id, 'lateness')) into.keep('', 'lateness', series);
    })(),
    (async () => {
      const open = running.probes.filter((probe) => into.wants(probe, 'probe'));
      if (!open.length) return;
      for (const series of await api.series(id, 'probes')) into.keep(probeName(series), 'probe', series);
    })(),
  ]);
  running.beat++;
  running.slowBeat++;
}

export async function start(
  text: string,
  mode: Mode,
  settings: Settings,
  file: string | null,
  base: string | null,
  model: Model | null,
  execution: Execution,
): Promise<string | null> {
  forget();
  running.mode = mode;
  running.virtual = execution.clock === 'virtual';
  // What is being started, until the run says what it was made of.
  if (model) lay(text, model);
  try {
    return (await api.start({ text, mode, settings, file, base, ...execution })).id;
  } catch (problem) {
    running.status = 'none';
    refuse(problem);
    return null;
  }
}

export async function stop(): Promise<void> {
  if (!running.id) return;
  running.status = 'stopping';
  try {
    await api.stop(running.id);
  } catch (problem) {
    refuse(problem);
  }
}

/** Changes a link of the run; true if the run has taken it. */
export async function change(
  link: string,
  way: 'both' | 'forward' | 'reverse',
  changes: Record<string, string | boolean>,
): Promise<boolean> {
  if (!running.id) return false;
  try {
    await api.set(running.id, { link, way: way === 'both' ? null : way, changes });
    return true;
  } catch (problem) {
    refuse(problem);
    return false;
  }
}

export const goesOn = (): boolean => !['none', 'ended'].includes(running.status);
