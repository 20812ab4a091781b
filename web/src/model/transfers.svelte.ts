/** Requests for bulk transfers: their text, the table of it, the network, and plans by policies. */
import { api, Refused } from '../api/client';
import type { Mode, RequestCells, Why } from '../api/client';
import type { Problem } from '../api/types/texts';
import type {
  ExampleRequests,
  Policy,
  RequestCell,
  RequestFiles,
  TransferPlan,
} from '../api/types/transfers';
import { desk, refuse } from './desk.svelte';

const DRAFT = 'longhaul-transfers';
const EXAMPLE = `version: 1
points: {lyon: 1Gbit, tsukuba: 1Gbit, orsay: {in: 1Gbit, out: 2Gbit}}
requests:
  raw: {from: lyon, to: tsukuba, volume: 500MB, deadline: 60s}
  copy: {from: lyon, to: orsay, volume: 500MB, deadline: 60s, max_rate: 1Gbit}
  logs: {from: orsay, to: tsukuba, volume: 1GB, release: 5s, deadline: 40s}
  archive: {from: lyon, to: orsay, volume: 500GB, release: 10s, deadline: 70s}
`;
export const COLUMNS = ['name', 'from', 'to', 'volume', 'release', 'deadline', 'max_rate'] as const;
export type Column = (typeof COLUMNS)[number];
/** What a policy made of the requests, or why it made nothing. */
export type Planned = { policy: string; plan: TransferPlan | null; why: Why | null };

const initial = {
  text: EXAMPLE,
  file: null as string | null,
  etag: null as string | null,
  saved: EXAMPLE,
  /** Whose capacities count: `points` of the file, one `capacity`, `edit`, `file:NAME` or `example:NAME`. */
  network: 'points',
  capacity: '1Gbit',
  policy: 'fair',
  f: '',
  window: '',
  mode: 'live' as Mode,
};

export const transfers = $state({
  ...initial,
  ...(JSON.parse(sessionStorage.getItem(DRAFT) ?? '{}') as Partial<typeof initial>),
  rows: [] as RequestCell[],
  ends: [] as string[],
  problems: [] as Problem[],
  plan: null as TransferPlan | null,
  /** Why there is no plan. */
  why: null as Why | null,
  policies: [] as Policy[],
  files: { files: [], examples: [] } as RequestFiles,
  plans: [] as Planned[],
  /** Plans of all policies are being made. */
  comparing: false,
  /** Texts before, for Undo. */
  past: [] as string[],
});

export const isCsv = (): boolean =>
  transfers.file
    ? transfers.file.endsWith('.csv')
    : transfers.text.trim() !== '' && !/^\s*(#|version|points|requests)/m.test(transfers.text);
export const isUnsaved = (): boolean => transfers.text !== transfers.saved;
export const wants = (name: string): boolean =>
  transfers.policies.find((each) => each.name === transfers.policy)?.wants.includes(name) ?? false;
/** Whether the requests are on the hosts of a scenario, and can be run. */
export const isRouted = (): boolean => !['points', 'capacity'].includes(transfers.network);

/** Keeps what is on the view over a reload. */
export function keepDraft(): void {
  const kept = Object.fromEntries(
    Object.keys(initial).map((key) => [key, transfers[key as keyof typeof initial]]),
  );
  sessionStorage.setItem(DRAFT, JSON.stringify(kept));
}

const example = (name: string): ExampleRequests | undefined =>
  transfers.files.examples.find((each) => each.name === name);

/** The scenario that is the network, and what errors call it. */
async function scenario(): Promise<{ scenario: string; base: string | null; name: string } | null> {
  const [kind, name = ''] = transfers.network.split(/:(.*)/s);
  if (kind === 'edit') return { scenario: desk.text, base: desk.base, name: desk.file ?? 'scenario.yaml' };
  if (kind === 'file') return { scenario: (await api.file(name)).text, base: null, name };
  const found = kind === 'example' ? example(name) : undefined;
  return found ? { scenario: found.scenario, base: null, name: found.scenario_name } : null;
}

type Text = { text: string; format: 'yaml' | 'csv'; scenario?: string; base?: string | null };
async function asked(): Promise<Text> {
  const found = await scenario();
  return {
    text: transfers.text,
    format: isCsv() ? 'csv' : 'yaml',
    ...(found ? { scenario: found.scenario, base: found.base } : {}),
  };
}

const options = (policy: string): { policy: string; f?: number; window?: string } => {
  const known = transfers.policies.find((each) => each.name === policy)?.wants ?? [];
  return {
    policy,
    ...(known.includes('f') && transfers.f.trim() ? { f: Number(transfers.f) } : {}),
    ...(known.includes('window') && transfers.window.trim() ? { window: transfers.window.trim() } : {}),
  };
};

const reason = (problem: unknown): Why =>
  problem instanceof Refused ? problem.error : { message: String(problem), remedy: null };

let turn = 0;
/** Reads the table again and plans, with edits of the table first; false if an edit was refused. */
export const look = (edits: RequestCells[] = []): Promise<boolean> =>
  (queue = queue.then(() => perform(edits)));
/** One after the other, so that no edit is made of a text without the one before. */
let queue: Promise<boolean> = Promise.resolve(true);
async function perform(edits: RequestCells[]): Promise<boolean> {
  const mine = ++turn;
  const before = transfers.text;
  try {
    const body = await asked();
    const read = await api.requests({ ...body, edits }).catch(async (problem: unknown) => {
      // Without its scenario the table can still be shown; the plan says what is wrong with that.
      if (edits.length || !body.scenario) throw problem;
      return api.requests({ text: body.text, format: body.format });
    });
    if (mine !== turn) return true;
    if (edits.length) put(read.text, before);
    transfers.rows = read.rows;
    transfers.ends = read.ends;
    transfers.problems = read.problems;
  } catch (problem) {
    if (edits.length) refuse(problem);
    else transfers.why = reason(problem);
    return false;
  }
  await make(mine);
  return true;
}

async function make(mine: number): Promise<void> {
  try {
    const { capacity } = transfers;
    const made = await api.plan({
      ...(await asked()),
      ...options(transfers.policy),
      ...(transfers.network === 'capacity' ? { capacity } : {}),
    });
    if (mine !== turn) return;
    transfers.plan = made;
    transfers.why = null;
  } catch (problem) {
    if (mine === turn) transfers.why = reason(problem);
  }
}

/** Another text; the one before can be brought back. */
export function put(text: string, before = transfers.text): void {
  if (text === before) return;
  transfers.past = [...transfers.past.slice(-99), before];
  transfers.text = text;
  transfers.plans = [];
}
export function undo(): void {
  const before = transfers.past.at(-1);
  if (before === undefined) return;
  transfers.past = transfers.past.slice(0, -1);
  transfers.text = before;
  transfers.plans = [];
  void look();
}

function open(text: string, file: string | null, etag: string | null): void {
  Object.assign(transfers, { text, file, etag, saved: text, past: [], plans: [], plan: null });
  void look();
}
export async function openRequests(name: string): Promise<void> {
  const known = example(name);
  try {
    if (known) {
      transfers.network = `example:${known.name}`;
      return open(known.text, null, null);
    }
    const { text, etag } = await api.file(name);
    if (transfers.network === 'points' && !/^points\s*:/m.test(text)) transfers.network = 'edit';
    else if (/^points\s*:/m.test(text)) transfers.network = 'points';
    open(text, name, etag);
  } catch (problem) {
    refuse(problem);
  }
}

export async function saveRequests(name: string): Promise<boolean> {
  try {
    const { etag } = await api.save(name, transfers.text, name === transfers.file ? transfers.etag : null);
    Object.assign(transfers, { file: name, etag, saved: transfers.text });
    transfers.files = await api.requestFiles();
    return true;
  } catch (problem) {
    refuse(problem);
    return false;
  }
}

/** Plans by every policy, one after the other, until it is stopped. */
export async function comparePolicies(): Promise<void> {
  transfers.comparing = true;
  transfers.plans = [];
  const { text, network, capacity } = transfers;
  try {
    const body = await asked();
    for (const { name } of transfers.policies) {
      if (!transfers.comparing || transfers.text !== text || transfers.network !== network) break;
      const [plan, why] = await api
        .plan({ ...body, ...options(name), ...(network === 'capacity' ? { capacity } : {}) })
        .then(
          (made) => [made, null] as const,
          (problem: unknown) => [null, reason(problem)] as const,
        );
      if (transfers.text === text) transfers.plans = [...transfers.plans, { policy: name, plan, why }];
    }
  } catch (problem) {
    refuse(problem);
  }
  transfers.comparing = false;
}

/** Starts the transfers; the run's id, or null if that was refused. */
export async function startTransfers(): Promise<string | null> {
  try {
    const found = await scenario();
    const body = await asked();
    const begun = await api.startTransfers({
      ...body,
      ...options(transfers.policy),
      mode: transfers.mode,
      requests_file: transfers.file,
      scenario_file: found?.name ?? null,
    });
    return begun.id;
  } catch (problem) {
    refuse(problem);
    return null;
  }
}

export async function arriveAtTransfers(): Promise<void> {
  try {
    [transfers.files, { policies: transfers.policies }] = await Promise.all([
      api.requestFiles(),
      api.policies(),
    ]);
  } catch (problem) {
    refuse(problem);
  }
  if (transfers.network.startsWith('example:') && !example(transfers.network.slice(8)))
    transfers.network = 'points';
  await look();
}
