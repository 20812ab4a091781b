/** The table of runs: which columns it has, how it is filtered and sorted. Pure. */
import type { RunRow } from '../api/types/runs';
import type { RunMetric, SweepRow } from '../api/types/studies';

/** What filters read of a run or a sweep. */
type Filterable = Pick<
  RunRow,
  | 'label'
  | 'name'
  | 'mode'
  | 'status'
  | 'annotations'
  | 'parameters'
  | 'metrics'
  | 'verdict'
  | 'verdict_text'
  | 'hosts'
  | 'duration_s'
> & { outcome: { state: string; detail: string } };

/** How a run is called that was executed in this mode. */
export const modeText = (mode: string): string => (mode === 'virtual' ? 'virtual clock' : mode);

/** What a run has in a column, as text and, if it is one, as a number. */
export type Cell = { text: string; value: number | null };

/** Parameters of these names stand first. */
const FIRST = ['cc', 'seed'];
const MOST_PARAMETERS = 8;

/** Parameters that are not the same in all of these runs, those of most runs first. */
export function parameterColumns(rows: readonly RunRow[]): string[] {
  const counts = new Map<string, number>();
  for (const row of rows)
    for (const name of Object.keys(row.parameters)) counts.set(name, (counts.get(name) ?? 0) + 1);
  const differs = (name: string): boolean => new Set(rows.map((row) => row.parameters[name])).size > 1;
  const rank = (name: string): number => (FIRST.indexOf(name) + 1 || FIRST.length + 1) * 1e6;
  return [...counts.keys()]
    .filter((name) => rows.length > 1 && differs(name))
    .sort((a, b) => rank(a) - rank(b) || counts.get(b)! - counts.get(a)!)
    .slice(0, MOST_PARAMETERS);
}

/** Metrics that at least one of these runs has. */
export const metricColumns = (rows: readonly RunRow[], metrics: readonly RunMetric[]): RunMetric[] =>
  metrics.filter(({ name }) => rows.some((row) => typeof row.metrics[name] === 'number'));

/** What is compared with: a key and a value, or a word that stands anywhere. */
export type Term =
  { key: string; compares: '=' | '!=' | '<' | '>'; value: string } | { word: string; not: boolean };

/** `degraded`, `cc=reno`, `seed!=1`, `goodput>10Mbit`, `"delay of link wan"=10ms`; all of them must hold. */
export function terms(filter: string): Term[] {
  const found: Term[] = [];
  const pattern = /(?:"([^"]*)"|([^\s"=!<>]+))(!=|=|<|>)(?:"([^"]*)"|(\S*))|"([^"]*)"|(\S+)/g;
  for (const match of filter.matchAll(pattern)) {
    const [, quotedKey, key, compares, quoted, plain, quotedWord, word] = match;
    if (compares)
      found.push({
        key: (quotedKey ?? key ?? '').toLowerCase(),
        compares: compares as '=',
        value: quoted ?? plain ?? '',
      });
    else {
      const all = quotedWord ?? word ?? '';
      const not = quotedWord === undefined && all.length > 1 && all.startsWith('-');
      found.push({ word: (not ? all.slice(1) : all).toLowerCase(), not });
    }
  }
  return found;
}

const plain = (text: string): string => text.toLowerCase().replace(/\s+/g, '');

/** What a run says under a key of the filter; nothing if it says nothing. */
function said(row: Filterable, key: string): string[] {
  const own: Record<string, () => string[]> = {
    tag: () => row.annotations.tags,
    outcome: () => [row.outcome.state],
    state: () => [row.outcome.state],
    status: () => [row.status],
    network: () => [row.verdict_text ?? '', row.verdict ?? ''],
    verdict: () => [row.verdict_text ?? '', row.verdict ?? ''],
    mode: () => [row.mode],
    name: () => [row.name, row.label],
    run: () => [row.label, row.name],
    note: () => [row.annotations.note],
  };
  const parameter = Object.entries(row.parameters).find(([name]) => name.toLowerCase() === key)?.[1];
  if (parameter !== undefined) return [parameter, ...parameter.split('+')];
  return own[key]?.() ?? [];
}

const SCALES: Record<string, number> = {
  '': 1,
  '%': 0.01,
  ns: 1,
  us: 1e3,
  µs: 1e3,
  ms: 1e6,
  s: 1e9,
  bit: 1,
  kbit: 1e3,
  mbit: 1e6,
  gbit: 1e9,
  k: 1e3,
  m: 1e6,
  g: 1e9,
};

/** A number with a unit as one types it, in the units of metrics: ns, bit/s, shares. */
export function quantityOf(text: string): number | null {
  const match = /^(-?[\d.]+)([a-zµ%]*)(?:\/s)?$/.exec(plain(text));
  const scale = match && SCALES[match[2] ?? ''];
  const value = Number(match?.[1]);
  return scale === undefined || scale === null || !Number.isFinite(value) ? null : value * scale;
}

function measured(row: Filterable, key: string): number | null {
  const short = plain(key).replace(/[_.]/g, '');
  const name = Object.keys(row.metrics).find((each) => each.replace(/_/g, '') === short);
  if (name) return row.metrics[name] ?? null;
  if (short === 'lasted' || short === 'duration')
    return row.duration_s === null ? null : row.duration_s * 1e9;
  const text = said(row, key)[0];
  return text === undefined ? null : quantityOf(text);
}

function holds(row: Filterable, term: Term): boolean {
  if ('word' in term) return everything(row).includes(term.word) !== term.not;
  const { key, compares, value } = term;
  if (compares === '<' || compares === '>') {
    const [is, wanted] = [measured(row, key), quantityOf(value)];
    return is !== null && wanted !== null && (compares === '<' ? is < wanted : is > wanted);
  }
  const has = said(row, key).some((each) => plain(each) === plain(value));
  const equal = has || (quantityOf(value) !== null && measured(row, key) === quantityOf(value));
  return equal === (compares === '=');
}

const texts = new WeakMap<Filterable, string>();
function everything(row: Filterable): string {
  let found = texts.get(row);
  if (found === undefined) {
    const { title, tags, note } = row.annotations;
    const parameters = Object.entries(row.parameters).map(([name, value]) => `${name}=${value}`);
    found = [
      ...[row.label, row.name, title, row.mode, row.status, row.outcome.state, row.outcome.detail],
      ...[row.verdict_text ?? '', row.hosts ?? '', ...tags, note, ...parameters],
    ]
      .join('\n')
      .toLowerCase();
    texts.set(row, found);
  }
  return found;
}

/** The runs for which every term of the filter holds. */
export function filtered(rows: readonly RunRow[], filter: string): RunRow[] {
  const all = terms(filter);
  return rows.filter((row) => all.every((term) => holds(row, term)));
}

/** What a filter reads of a sweep: it is of the mode `sweep`, has all values of each axis, and no outcome. */
const asFilterable = (sweep: SweepRow): Filterable => ({
  name: sweep.name,
  label: sweep.label,
  parameters: Object.fromEntries(
    sweep.axes.map(({ name, values }) => [name, (values ?? []).map(String).join('+')]),
  ),
  metrics: {},
  annotations: sweep.annotations,
  mode: 'sweep',
  status: sweep.status,
  outcome: { state: '', detail: '' },
  verdict: null,
  verdict_text: null,
  hosts: null,
  duration_s: null,
});

/** The sweeps for which every term of the filter holds. */
export function filteredSweeps(rows: readonly SweepRow[], filter: string): SweepRow[] {
  const all = terms(filter);
  return rows.filter((row) => {
    const sweep = asFilterable(row);
    return all.every((term) => holds(sweep, term));
  });
}

/** Terms that would leave some runs and not all: for completion. */
export function suggestions(rows: readonly RunRow[]): string[] {
  const found = new Map<string, number>();
  const count = (key: string, value: string | null): void => {
    if (!value) return;
    const quote = (text: string): string => (/\s/.test(text) ? `"${text}"` : text);
    const term = `${quote(key)}=${quote(value)}`;
    found.set(term, (found.get(term) ?? 0) + 1);
  };
  for (const row of rows) {
    for (const [key, value] of Object.entries(row.parameters)) count(key, value);
    for (const tag of row.annotations.tags) count('tag', tag);
    count('outcome', row.outcome.state);
    count('network', row.verdict);
    count('mode', row.mode);
    count('name', row.name);
  }
  return [...found]
    .filter(([, times]) => times < rows.length)
    .sort(([, a], [, b]) => b - a)
    .map(([term]) => term)
    .slice(0, 60);
}

export type Order = { key: string; down: boolean };

function sortable(row: RunRow, key: string): string | number | null {
  if (key === 'run') return row.label.toLowerCase();
  if (key === 'outcome') return row.outcome.state;
  if (key === 'network') return row.verdict_text;
  if (key === 'started') return row.started_unix_s;
  if (key === 'lasted') return row.duration_s;
  if (key.startsWith('metric ')) return row.metrics[key.slice(7)] ?? null;
  const text = row.parameters[key.slice(10)];
  return text === undefined ? null : (quantityOf(text) ?? text.toLowerCase());
}

/** Rows by one column; those that have nothing in it come last either way. */
export function sorted(rows: readonly RunRow[], { key, down }: Order): RunRow[] {
  const keyed = rows.map((row) => ({ row, by: sortable(row, key) }));
  keyed.sort((one, other) => {
    if (one.by === other.by) return other.row.started_unix_s - one.row.started_unix_s;
    if (one.by === null) return 1;
    if (other.by === null) return -1;
    const before =
      typeof one.by === 'number' && typeof other.by === 'number'
        ? one.by - other.by
        : String(one.by).localeCompare(String(other.by), 'en', { numeric: true });
    return down ? -before : before;
  });
  return keyed.map(({ row }) => row);
}
