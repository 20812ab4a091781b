/** Typed calls of the server; every one carries the token that stood in the address at the start. */
import { eventParser, type StreamEvent } from './events';
import { check, type TheirCheck } from './translate';
import type {
  ApiError,
  Check,
  Comparison,
  Edit,
  Edited,
  Mode,
  Packet,
  Problem,
  Quantity,
  QuantityKind,
  Recording,
  RunDetail,
  RunRow,
  Series,
  SweepResult,
  SweepRow,
  TransferPlan,
  State,
} from './types';

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

/** A refusal of the server, or its silence (status 0). */
export class Refused extends Error {
  constructor(
    readonly status: number,
    readonly error: ApiError,
    readonly problems: Problem[],
  ) {
    super(error.message);
  }
}

function headers(): Record<string, string> {
  return { Authorization: `Bearer ${sessionStorage.getItem(KEY) ?? ''}` };
}

async function answer(method: string, path: string, body?: unknown): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(`/api/${path}`, {
      method,
      headers: body === undefined ? headers() : { ...headers(), 'Content-Type': 'application/json' },
      body: body === undefined ? null : JSON.stringify(body),
    });
  } catch {
    throw new Refused(
      0,
      { message: 'the server does not answer', remedy: 'is "longhaul ui" still running?' },
      [],
    );
  }
  if (response.ok) return response;
  const text = await response.text();
  let told: { error?: ApiError; problems?: Problem[] } = {};
  try {
    told = JSON.parse(text) as typeof told;
  } catch {
    // Not JSON: the status has to do.
  }
  const remedy = response.status === 401 ? 'open the address that "longhaul ui" printed' : null;
  throw new Refused(
    response.status,
    told.error ?? { message: `${method} ${path}: ${response.status} ${response.statusText}`, remedy },
    told.problems ?? [],
  );
}

async function json<T>(method: string, path: string, body?: unknown): Promise<T> {
  return (await (await answer(method, path, body)).json()) as T;
}

const part = encodeURIComponent;
const query = (values: Record<string, string | number | undefined>): string => {
  const pairs = Object.entries(values).filter(([, value]) => value !== undefined);
  return pairs.length ? `?${pairs.map(([key, value]) => `${key}=${part(String(value))}`).join('&')}` : '';
};

export type Text = { text: string; etag?: string; base?: string };
export type SeriesOf = {
  table: 'links' | 'probes' | 'flows' | 'sockets';
  link?: string;
  way?: string;
  probe?: string;
};
export type Settings = Record<string, string>;
export type Change = {
  link: string;
  way: 'forward' | 'reverse' | null;
  changes: Record<string, string | boolean>;
};

export const api = {
  state: () => json<State>('GET', 'state'),
  scenario: (name: string) => json<Text>('GET', `scenarios/${part(name)}`),
  template: (name: string, params: Record<string, string>) =>
    json<Text>('GET', `templates/${part(name)}${query(params)}`),
  file: (name: string) => json<Text>('GET', `files/${part(name)}`),
  save: (name: string, text: string, etag: string | null) =>
    json<{ etag: string }>('PUT', `files/${part(name)}`, { text, etag }),
  check: async (text: string, base: string | null): Promise<Check> =>
    check(await json<TheirCheck>('POST', 'check', { text, base })),
  edit: async (text: string, edits: Edit[], base: string | null): Promise<Edited> => {
    const answer = await json<{ text: string; changed_lines: number[]; check: TheirCheck }>('POST', 'edit', {
      text,
      edits,
      base,
    });
    return { ...answer, check: check(answer.check) };
  },
  quantity: (kind: QuantityKind, text: string) => json<Quantity>('POST', 'quantity', { kind, text }),
  preflight: (text: string, mode: Mode, settings: Settings, base: string | null) =>
    json<{ warnings: { message: string; remedy?: string | null }[] }>('POST', 'preflight', {
      text,
      mode,
      settings,
      base,
    }),
  start: (text: string, mode: Mode, settings: Settings, file: string | null, base: string | null) =>
    json<{ id: string }>('POST', 'runs', { text, mode, settings, file, base }),
  runs: () => json<{ runs: RunRow[]; sweeps?: SweepRow[] }>('GET', 'runs'),
  run: (id: string) => json<RunDetail>('GET', `runs/${part(id)}`),
  stop: (id: string) => json<unknown>('POST', `runs/${part(id)}/stop`, {}),
  set: (id: string, change: Change) => json<unknown>('POST', `runs/${part(id)}/set`, change),
  log: (id: string, program: string, stream: 'out' | 'err', tail = 20_000) =>
    json<{ text: string }>('GET', `runs/${part(id)}/logs/${part(program)}${query({ stream, tail })}`),
  series: async (id: string, of: SeriesOf): Promise<Series[]> =>
    (await json<{ series: Series[] }>('GET', `runs/${part(id)}/series${query({ max_points: 1200, ...of })}`))
      .series,
  packets: (id: string, link: string, way: string, fromNs: number, toNs: number) =>
    json<{
      packets: Packet[];
      recorded: Recording[];
      window_ns: number;
      every_ns: number;
      truncated?: boolean;
    }>('GET', `runs/${part(id)}/packets${query({ link, way, from_ns: fromNs, to_ns: toNs })}`),
  report: (id: string) => json<{ url: string }>('POST', `runs/${part(id)}/ticket`, {}),
  compare: (runs: (string | string[])[]) => json<Comparison>('POST', 'compare', { runs }),
  startSweep: (text: string, settings: Settings, file: string | null, base: string | null) =>
    json<{ id: string }>('POST', 'sweeps', { text, settings, file, base }),
  sweep: (id: string) => json<SweepResult>('GET', `sweeps/${part(id)}`),
  stopSweep: (id: string) => json<unknown>('POST', `sweeps/${part(id)}/stop`, {}),
  policies: () => json<{ policies: { name: string; about: string }[] }>('GET', 'transfers/policies'),
  plan: (wish: {
    text: string;
    policy: string;
    format?: 'csv';
    scenario?: string;
    base?: string;
    capacity?: string;
  }) => json<TransferPlan>('POST', 'transfers/plan', wish),
  certificate: () => json<{ certificate?: Record<string, unknown> | null }>('GET', 'certificate'),
};

/**
 * Follows a run until it ends or `signal` aborts; a broken stream is taken up again where it stopped.
 * Resolves when the server has said `end`.
 */
export async function follow(
  id: string,
  on: (event: StreamEvent) => void,
  signal: AbortSignal,
): Promise<void> {
  let last: string | null = null;
  let pause = 250;
  for (;;) {
    let ended = false;
    try {
      const response = await fetch(`/api/events${query({ run: id })}`, {
        headers: { ...headers(), Accept: 'text/event-stream', ...(last ? { 'Last-Event-ID': last } : {}) },
        signal,
      });
      if (!response.ok || !response.body)
        throw new Refused(response.status, { message: response.statusText }, []);
      const feed = eventParser((event) => {
        last = event.id ?? last;
        ended ||= event.event === 'end';
        on(event);
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
      if (problem instanceof Refused && problem.status >= 400 && problem.status < 500) throw problem;
      on({ event: 'lost', id: null, data: '{}' });
    }
    if (ended || signal.aborted) return;
    await new Promise((resolve) => setTimeout(resolve, pause));
    pause = Math.min(pause * 2, 4000);
  }
}
