/** Typed calls of the server; every one carries the token that stood in the address at the start. */
import type { Answers, Bodies, RunEvent } from './types/addresses';
import type { LinkChange, QuantityText } from './types/bodies';
import type { Refused as Told } from './types/texts';
import type { Schema } from '../editor/schema';
import { eventParser } from './events';
import { check, network } from './translate';

const KEY = 'longhaul-token';

/** Takes the token out of the address, so that it is in no history, and keeps it for this tab. */
export function keepToken(): boolean {
  const found = /^#token=([^&]+)/.exec(location.hash);
  if (found?.[1]) {
    sessionStorage.setItem(KEY, decodeURIComponent(found[1]));
    history.replaceState(null, '', `${location.pathname}#/edit`);
  }
  return sessionStorage.getItem(KEY) !== null;
}

/** Why there is no answer; the page's own refusals have no code. */
export type Why = Omit<Told['error'], 'code' | 'explanation'> & {
  code?: string | null;
  explanation?: string | null;
};

/** A refusal of the server, or its silence (status 0). */
export class Refused extends Error {
  constructor(
    readonly status: number,
    readonly error: Why,
  ) {
    super(error.message);
  }
}

function headers(): Record<string, string> {
  return { Authorization: `Bearer ${sessionStorage.getItem(KEY) ?? ''}` };
}

async function answer(
  method: string,
  path: string,
  body?: unknown,
  more: Record<string, string> = {},
): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(`/api/${path}`, {
      method,
      headers: {
        ...headers(),
        ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
        ...more,
      },
      body: body === undefined ? null : JSON.stringify(body),
    });
  } catch {
    throw new Refused(0, {
      message: 'the server does not answer',
      remedy: 'is "longhaul ui" still running?',
    });
  }
  if (response.ok || response.status === 304) return response;
  throw await refused(response, `${method} ${path}`);
}

/** What the server says against a request. */
async function refused(response: Response, asked: string): Promise<Refused> {
  const text = await response.text();
  const remedy = response.status === 401 ? 'open the address that "longhaul ui" printed' : null;
  let error: Why = {
    message: `${asked}: ${response.status} ${response.statusText}`,
    remedy,
  };
  try {
    error = (JSON.parse(text) as Told).error;
  } catch {
    // Not JSON: the status has to do.
  }
  return new Refused(response.status, error);
}

/** What stands in braces in an address. */
type Names<A extends string> = A extends `${string}{${infer Name}}${infer Rest}` ? Name | Names<Rest> : never;
type Query = Record<string, string | number | undefined>;

/** What is sent to an address. */
type Body<A extends keyof Answers> = A extends keyof Bodies ? Bodies[A] : Record<string, never>;

/** What the server says at an address of `Answers`. */
async function ask<A extends keyof Answers>(
  address: A,
  names: Record<Names<A>, string>,
  { query = {}, body }: { query?: Query; body?: Body<A> } = {},
): Promise<Answers[A]> {
  const [method = '', pattern = ''] = address.split(' /');
  const path = pattern.replace(/{(\w+)}/g, (_, name: Names<A>) => part(names[name]));
  return (await (await answer(method, path + written(query), body)).json()) as Answers[A];
}

const kept = new Map<string, { etag: string; told: unknown }>();

/** The same for what is asked for again and again: what has not changed is the same object. */
async function again<A extends 'GET /runs'>(address: A): Promise<Answers[A]> {
  const [method = '', path = ''] = address.split(' /');
  const before = kept.get(address);
  const response = await answer(method, path, undefined, before ? { 'If-None-Match': before.etag } : {});
  if (response.status === 304 && before) return before.told as Answers[A];
  const told = (await response.json()) as Answers[A];
  const etag = response.headers.get('etag');
  if (etag) kept.set(address, { etag, told });
  return told;
}

const part = encodeURIComponent;
const written = (query: Query): string => {
  const pairs = Object.entries(query).filter(([, value]) => value !== undefined);
  return pairs.length ? `?${pairs.map(([key, value]) => `${key}=${part(String(value))}`).join('&')}` : '';
};

export type QuantityKind = QuantityText['kind'];
export type Mode = NonNullable<Bodies['POST /runs']['mode']>;
export type Edit = Bodies['POST /edit']['edits'][number];
type OverTime = Answers['GET /runs/{run}/series'];
/** What a table of a run says over time. */
type Series<T extends OverTime['table']> = Extract<OverTime, { table: T }>['series'];
export type RequestCells = NonNullable<Bodies['POST /transfers/requests']['edits']>[number];
export type TraceEdit = NonNullable<Bodies['POST /traces']['edits']>[number];
export type Settings = Record<string, string>;
/** How a run is executed, beside its mode: its clock, the kernel of its hosts, and its shards. */
export type Execution = Pick<Bodies['POST /runs'], 'clock' | 'kernel' | 'shards'>;

export const api = {
  state: () => ask('GET /state', {}),
  schema: async () => (await ask('GET /schema', {})) as Schema,
  scenario: (name: string) => ask('GET /scenarios/{name}', { name }),
  template: (name: string, params: Record<string, string>) =>
    ask('GET /templates/{name}', { name }, { query: params }),
  file: (name: string) => ask('GET /files/{name}', { name }),
  save: (name: string, text: string, etag: string | null) =>
    ask('PUT /files/{name}', { name }, { body: { text, etag } }),
  check: async (text: string, base: string | null) =>
    check(await ask('POST /check', {}, { body: { text, base } })),
  edit: async (text: string, edits: Edit[], base: string | null) => {
    const answer = await ask('POST /edit', {}, { body: { text, edits, base } });
    return { ...answer, check: check(answer.check) };
  },
  quantity: (kind: QuantityKind, text: string) => ask('POST /quantity', {}, { body: { kind, text } }),
  cities: async (name: string) => (await ask('GET /cities', {}, { query: { name } })).cities,
  fibres: async (pairs: Bodies['POST /fibres']['pairs']) =>
    (await ask('POST /fibres', {}, { body: { pairs } })).fibres,
  preflight: (wish: Bodies['POST /preflight']) => ask('POST /preflight', {}, { body: wish }),
  start: (wish: Bodies['POST /runs']) => ask('POST /runs', {}, { body: wish }),
  kernels: () => ask('GET /kernels', {}),
  buildKernel: () => ask('POST /kernels', {}, { body: {} }),
  shards: (wish: Bodies['POST /shards']) => ask('POST /shards', {}, { body: wish }),
  runs: () => again('GET /runs'),
  run: (id: string) => ask('GET /runs/{run}', { run: id }),
  network: async (id: string) => network(await ask('GET /runs/{run}/network', { run: id })),
  annotate: (id: string, said: Bodies['PUT /runs/{run}/annotations']) =>
    ask('PUT /runs/{run}/annotations', { run: id }, { body: said }),
  remove: (id: string) => ask('DELETE /runs/{run}', { run: id }),
  restore: (id: string) => ask('POST /runs/{run}/restore', { run: id }, { body: {} }),
  reproduce: (id: string) => ask('POST /runs/{run}/reproduce', { run: id }, { body: {} }),
  archive: (runs: string[]) => ask('POST /archive', {}, { body: { runs } }),
  stop: (id: string) => ask('POST /runs/{run}/stop', { run: id }, { body: {} }),
  set: (id: string, change: LinkChange) => ask('POST /runs/{run}/set', { run: id }, { body: change }),
  link: (id: string, link: string) => ask('GET /runs/{run}/links/{link}', { run: id, link }),
  capture: (id: string, link: string) => ask('POST /runs/{run}/captures', { run: id }, { body: { link } }),
  endCapture: (id: string, link: string) => ask('DELETE /runs/{run}/captures/{link}', { run: id, link }),
  capturedPackets: (id: string, link: string, at: string, after: number) =>
    ask('GET /runs/{run}/captures/{link}', { run: id, link }, { query: { at, after } }),
  capturedPacket: (id: string, link: string, at: string, number: number) =>
    ask(
      'GET /runs/{run}/captures/{link}/packets/{number}',
      { run: id, link, number: String(number) },
      { query: { at } },
    ),
  captureFile: (id: string, link: string, at: string) =>
    ask('POST /runs/{run}/captures/{link}/ticket', { run: id, link }, { query: { at } }),
  cause: (id: string, impairment: Bodies['POST /runs/{run}/impairments']) =>
    ask('POST /runs/{run}/impairments', { run: id }, { body: impairment }),
  undo: (id: string, impairment: string) =>
    ask('DELETE /runs/{run}/impairments/{impairment}', { run: id, impairment }),
  host: (id: string, host: string) => ask('GET /runs/{run}/hosts/{host}', { run: id, host }),
  terminals: (id: string) => ask('GET /runs/{run}/terminals', { run: id }),
  openTerminal: (id: string, host: string) =>
    ask('POST /runs/{run}/terminals', { run: id }, { body: { host } }),
  endTerminal: (id: string, terminal: string) =>
    ask('DELETE /runs/{run}/terminals/{terminal}', { run: id, terminal }),
  /** Both ways; the token is the name of a protocol, since a WebSocket sends no headers. */
  terminal: (id: string, terminal: string) =>
    new WebSocket(`ws://${location.host}/api/runs/${part(id)}/terminals/${part(terminal)}`, [
      'longhaul.terminal',
      `longhaul.token.${sessionStorage.getItem(KEY) ?? ''}`,
    ]),
  log: (id: string, program: string, stream: 'out' | 'err', tail = 20_000) =>
    ask('GET /runs/{run}/logs/{program}', { run: id, program }, { query: { stream, tail } }),
  series: async <T extends OverTime['table']>(
    id: string,
    table: T,
    link?: string,
    columns?: string,
  ): Promise<Series<T>> => {
    const query = { max_points: 1200, table, link, columns };
    return (await ask('GET /runs/{run}/series', { run: id }, { query })).series as Series<T>;
  },
  packets: (id: string, link: string, way: string, fromNs: number, toNs: number) =>
    ask('GET /runs/{run}/packets', { run: id }, { query: { link, way, from_ns: fromNs, to_ns: toNs } }),
  report: (id: string) => ask('POST /runs/{run}/ticket', { run: id }, { body: {} }),
  compare: (runs: string[], grouped: boolean) => ask('POST /compare', {}, { body: { runs, grouped } }),
  compareReport: (runs: string[], grouped: boolean) =>
    ask('POST /compare/report', {}, { body: { runs, grouped } }),
  startSweep: (text: string, settings: Settings, file: string | null, base: string | null) =>
    ask('POST /sweeps', {}, { body: { text, settings, file, base } }),
  /** With the charts of a metric. */
  sweep: (id: string, metric?: string) => ask('GET /sweeps/{run}', { run: id }, { query: { metric } }),
  stopSweep: (id: string) => ask('POST /sweeps/{run}/stop', { run: id }, { body: {} }),
  export: (wish: Bodies['POST /export']) => ask('POST /export', {}, { body: wish }),
  exportArchive: (wish: Bodies['POST /export/archive']) => ask('POST /export/archive', {}, { body: wish }),
  machines: (wish: Bodies['POST /export/machines']) => ask('POST /export/machines', {}, { body: wish }),
  doctor: (wish: Bodies['POST /doctor']) => ask('POST /doctor', {}, { body: wish }),
  calibrate: () => ask('POST /calibrate', {}, { body: {} }),
  jobs: () => ask('GET /jobs', {}),
  job: (job: string, after: number) => ask('GET /jobs/{job}', { job }, { query: { after } }),
  stopJob: (job: string) => ask('POST /jobs/{job}/stop', { job }, { body: {} }),
  studies: () => ask('GET /studies', {}),
  study: (study: string) => ask('GET /studies/{study}', { study }),
  startStudy: (study: string, wish: Bodies['POST /studies/{study}/runs']) =>
    ask('POST /studies/{study}/runs', { study }, { body: wish }),
  studyFigure: (study: string, figure: string) =>
    ask('GET /studies/{study}/figures/{figure}', { study, figure }),
  requestFiles: () => ask('GET /transfers/files', {}),
  requests: (wish: Bodies['POST /transfers/requests']) => ask('POST /transfers/requests', {}, { body: wish }),
  startTransfers: (wish: Bodies['POST /transfers/runs']) => ask('POST /transfers/runs', {}, { body: wish }),
  transferRun: (id: string) => ask('GET /transfers/runs/{run}', { run: id }),
  policies: () => ask('GET /transfers/policies', {}),
  plan: (wish: Bodies['POST /transfers/plan']) => ask('POST /transfers/plan', {}, { body: wish }),
  traces: () => ask('GET /traces', {}),
  trace: (wish: Bodies['POST /traces']) => ask('POST /traces', {}, { body: wish }),
  collectTrace: (wish: Bodies['POST /traces/collect']) => ask('POST /traces/collect', {}, { body: wish }),
  saveTrace: (name: string, wish: Bodies['PUT /traces/{name}']) =>
    ask('PUT /traces/{name}', { name }, { body: wish }),
  relays: () => ask('GET /relays', {}),
  checkRelay: (wish: Bodies['POST /relays/check']) => ask('POST /relays/check', {}, { body: wish }),
  startRelay: (wish: Bodies['POST /relays']) => ask('POST /relays', {}, { body: wish }),
  relay: (id: string) => ask('GET /relays/{run}', { run: id }),
  relayCharts: (id: string) => ask('GET /relays/{run}/charts', { run: id }),
  pathMap: (wish: Bodies['POST /relays/paths']) => ask('POST /relays/paths', {}, { body: wish }),
  certificate: () => ask('GET /certificate', {}),
};

/** Nothing that the server says: its stream broke. */
export type Lost = { event: 'lost' };

/** Which links samples are to have; `change` has the stream begin anew where it stopped. */
export class Subscription {
  links: readonly string[] = [];
  private again = new AbortController();
  get changed(): AbortSignal {
    return this.again.signal;
  }
  change(links: readonly string[]): void {
    this.links = links;
    this.again.abort();
    this.again = new AbortController();
  }
}

/**
 * Follows a run until it ends or `signal` aborts; a broken stream is taken up again where it stopped.
 * Resolves when the server has said `end`.
 */
export async function follow(
  id: string,
  on: (event: RunEvent | Lost) => void,
  signal: AbortSignal,
  subscription: Subscription,
): Promise<void> {
  let last: string | null = null;
  let pause = 250;
  for (;;) {
    let ended = false;
    const changed = subscription.changed;
    try {
      const response = await fetch(
        `/api/events${written({ run: id, links: subscription.links.join(',') })}`,
        {
          headers: { ...headers(), Accept: 'text/event-stream', ...(last ? { 'Last-Event-ID': last } : {}) },
          signal: AbortSignal.any([signal, changed]),
        },
      );
      if (!response.ok) throw await refused(response, `events of ${id}`);
      if (!response.body)
        throw new Refused(response.status, { message: 'the answer is empty', remedy: null });
      const feed = eventParser((event) => {
        if (changed.aborted) return;
        last = event.id ?? last;
        ended ||= event.event === 'end';
        on({ ...(JSON.parse(event.data) as object), event: event.event } as RunEvent);
      });
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      pause = 250;
      for (;;) {
        const { done, value } = await reader.read();
        if (done) break;
        feed(value);
      }
    } catch (problem) {
      if (signal.aborted) return;
      if (changed.aborted) continue;
      if (problem instanceof Refused && problem.status >= 400 && problem.status < 500) throw problem;
      on({ event: 'lost' });
    }
    if (ended || signal.aborted) return;
    if (changed.aborted) continue;
    await new Promise((resolve) => setTimeout(resolve, pause));
    pause = Math.min(pause * 2, 4000);
  }
}
