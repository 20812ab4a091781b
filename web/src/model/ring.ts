/** The last minute or so of every link's numbers, in memory that does not grow. */

import type { Hello } from '../api/answers/events';
import type { LinkSeries } from '../api/answers/runs';

/** What a sample says of one direction of a link, in the order in which it does. */
export const COLUMNS = [
  'bits_per_s',
  'utilisation',
  'queue_delay_ns',
  'lost_packets',
  'lateness_p99_ns',
] as const satisfies Hello['figures'];
export type Column = (typeof COLUMNS)[number];
export const WAYS = ['forward', 'reverse'] as const;
export type WayName = (typeof WAYS)[number];
const PER_LINK = COLUMNS.length * WAYS.length;

export type Numbers = readonly (number | null)[];
/** Columns over time. */
type Series = Pick<LinkSeries, 't_ns' | 'columns'>;

/** Where charts take their numbers from. */
export type Source = {
  seconds(): number[];
  link(link: number, way: WayName, column: Column): (number | null)[];
  probe(at: number): (number | null)[];
  latest(link: number, way: WayName, column: Column): number | null;
  /** Over all that is kept. */
  mean(link: number, way: WayName, column: Column): number | null;
  load(link: number): number | null;
  /** The greatest lateness of all links, each instant: only links that end at a host measure it. */
  lateness(): (number | null)[];
};

export class Ring implements Source {
  readonly capacity: number;
  readonly links: readonly string[];
  readonly probes: readonly string[];
  private readonly width: number;
  private readonly values: Float32Array;
  private readonly worst: Float32Array;
  private readonly times: Float64Array;
  private head = 0;
  count = 0;

  constructor(links: readonly string[], probes: readonly string[], capacity: number) {
    this.links = links;
    this.probes = probes;
    this.capacity = capacity;
    this.width = links.length * PER_LINK + probes.length;
    this.values = new Float32Array(this.width * capacity);
    this.worst = new Float32Array(capacity);
    this.times = new Float64Array(capacity);
  }

  /** Adds a sample; one that is not later than the last is left out. */
  push(tNs: number, links: readonly Numbers[], probes: Numbers): void {
    const last = (this.head + this.capacity - 1) % this.capacity;
    if (this.count > 0 && tNs <= this.times[last]!) return;
    const base = this.head * this.width;
    for (let link = 0; link < this.links.length; link++) {
      const numbers = links[link];
      for (let at = 0; at < PER_LINK; at++) this.values[base + link * PER_LINK + at] = numbers?.[at] ?? NaN;
    }
    for (let at = 0; at < this.probes.length; at++)
      this.values[base + this.links.length * PER_LINK + at] = probes[at] ?? NaN;
    let worst = NaN;
    for (const numbers of links)
      for (const late of [numbers?.[4], numbers?.[9]])
        if (typeof late === 'number' && !(late <= worst)) worst = late;
    this.worst[this.head] = worst;
    this.times[this.head] = tNs;
    this.head = (this.head + 1) % this.capacity;
    this.count = Math.min(this.count + 1, this.capacity);
  }

  /** Whether it has everything from the first second of the run on. */
  get isWhole(): boolean {
    return this.count > 1 && this.count < this.capacity && this.times[0]! <= 1e9;
  }

  lateness(): (number | null)[] {
    return Array.from({ length: this.count }, (_, at) => {
      const value = this.worst[this.row(at)]!;
      return Number.isNaN(value) ? null : value;
    });
  }

  private row(at: number): number {
    return (this.head + this.capacity - this.count + at) % this.capacity;
  }

  /** Times in seconds, oldest first. */
  seconds(): number[] {
    return Array.from({ length: this.count }, (_, at) => this.times[this.row(at)]! / 1e9);
  }

  private column(offset: number): (number | null)[] {
    return Array.from({ length: this.count }, (_, at) => {
      const value = this.values[this.row(at) * this.width + offset]!;
      return Number.isNaN(value) ? null : value;
    });
  }

  /** One quantity of one direction of a link, oldest first; null where nothing was said. */
  link(link: number, way: WayName, column: Column): (number | null)[] {
    return this.column(link * PER_LINK + WAYS.indexOf(way) * COLUMNS.length + COLUMNS.indexOf(column));
  }

  probe(at: number): (number | null)[] {
    return this.column(this.links.length * PER_LINK + at);
  }

  /** The latest of one quantity. */
  latest(link: number, way: WayName, column: Column): number | null {
    if (this.count === 0) return null;
    const offset = link * PER_LINK + WAYS.indexOf(way) * COLUMNS.length + COLUMNS.indexOf(column);
    const value = this.values[this.row(this.count - 1) * this.width + offset]!;
    return Number.isNaN(value) ? null : value;
  }

  mean(link: number, way: WayName, column: Column): number | null {
    return average(this.link(link, way, column));
  }

  /** The greater utilisation of both directions, now. */
  load(link: number): number | null {
    const [forward, reverse] = [
      this.latest(link, 'forward', 'utilisation'),
      this.latest(link, 'reverse', 'utilisation'),
    ];
    return forward === null && reverse === null ? null : Math.max(forward ?? 0, reverse ?? 0);
  }
}

function average(values: readonly (number | null)[]): number | null {
  const known = values.filter((value): value is number => value !== null);
  return known.length ? known.reduce((sum, value) => sum + value, 0) / known.length : null;
}

/** Columns of the result tables under the names of samples. */
function named(columns: Series['columns']): Series['columns'] {
  const gone = ['lost', 'overflowed', 'dropped', 'down', 'too_big'].flatMap((fate) => {
    const column = columns[`${fate}_packets`];
    return column ? [column] : [];
  });
  const lost = gone[0]?.map((_, at) => gone.reduce((sum, column) => sum + (column[at] ?? 0), 0));
  const rate = columns['delivered_bits_per_s'];
  return { ...columns, ...(rate ? { bits_per_s: rate } : {}), ...(lost ? { lost_packets: lost } : {}) };
}

/** Numbers of a run that is over, as the server thinned them out; links are read when they are asked for. */
export class Recorded implements Source {
  readonly links: readonly string[];
  readonly probes: readonly string[];
  private readonly kept = new Map<string, Series>();
  private times: number[] = [];

  constructor(links: readonly string[], probes: readonly string[]) {
    this.links = links;
    this.probes = probes;
  }

  wants(name: string, way: string): boolean {
    return !this.kept.has(`${way} ${name}`);
  }

  keep(name: string, way: string, series: Series): void {
    this.kept.set(`${way} ${name}`, { ...series, columns: named(series.columns) });
    if (way !== 'probe' || this.times.length === 0) this.times = series.t_ns;
  }

  lateness(): (number | null)[] {
    return this.times.map(() => null);
  }

  seconds(): number[] {
    return this.times.map((t) => t / 1e9);
  }

  link(link: number, way: WayName, column: Column): (number | null)[] {
    return this.kept.get(`${way} ${this.links[link]}`)?.columns[column] ?? this.times.map(() => null);
  }

  /** On the links' times: the last value before each, for as long as three pings should take. */
  probe(at: number): (number | null)[] {
    const series = this.kept.get(`probe ${this.probes[at]}`);
    const values = series?.columns['rtt_ns'] ?? [];
    const at_ns = series?.t_ns ?? [];
    const many = at_ns.length - 1;
    const patience_ns = many > 0 ? (3 * (at_ns[many]! - at_ns[0]!)) / many : Infinity;
    let next = 0;
    return this.times.map((t) => {
      while (next < many && at_ns[next + 1]! <= t) next++;
      const since_ns = t - (at_ns[next] ?? Infinity);
      return since_ns >= 0 && since_ns <= patience_ns ? (values[next] ?? null) : null;
    });
  }

  mean(link: number, way: WayName, column: Column): number | null {
    return average(this.kept.get(`${way} ${this.links[link]}`)?.columns[column] ?? []);
  }

  latest(link: number, way: WayName, column: Column): number | null {
    return this.mean(link, way, column);
  }

  load(link: number): number | null {
    const ways = WAYS.map((way) => this.mean(link, way, 'utilisation')).filter(
      (value): value is number => value !== null,
    );
    return ways.length ? Math.max(...ways) : null;
  }
}
