/** Numbers of a run over time, for charts: the last minute or so of one that goes on, all of one that is over. */

import type { Hello } from '../api/types/events';
import type { LinkSeries } from '../api/types/runs';

/** What a sample says of one direction of a link, in the order in which it does. */
export const COLUMNS = [
  'throughput_bits_per_s',
  'queueing_delay_ns',
  'undelivered_packets',
  'lateness_p99_ns',
  'queue_bytes',
] as const satisfies Hello['figures'];
export type Column = (typeof COLUMNS)[number];
export const WAYS = ['forward', 'reverse'] as const;
export type WayName = (typeof WAYS)[number];
const PER_LINK = COLUMNS.length * WAYS.length;

export type Numbers = readonly (number | null)[];
/** Columns over time. */
type Series = Pick<LinkSeries, 't_ns' | 'columns'>;

/** Where charts take their numbers from; null where nothing is known. */
export type Source = {
  /** Those that have numbers; charts name them by their place here. */
  readonly links: readonly string[];
  seconds(): number[];
  link(link: number, way: WayName, column: Column): (number | null)[];
  /** Round trips of a ping: each until the next, for as long as three pings take. */
  probe(at: number): (number | null)[];
  /** The greatest lateness of all links, each instant: only links that end at a host measure it. */
  lateness(): (number | null)[];
};

/** The last round trip before each of `times`, until three more should have come. */
export function held(
  times: readonly number[],
  at: readonly number[],
  values: readonly (number | null)[],
  every: number,
): (number | null)[] {
  let next = 0;
  return times.map((t) => {
    while (next < at.length - 1 && at[next + 1]! <= t) next++;
    const since = t - (at[next] ?? Infinity);
    return since >= 0 && since <= 3 * every ? (values[next] ?? null) : null;
  });
}

export class Ring implements Source {
  readonly capacity: number;
  readonly links: readonly string[];
  readonly probes: readonly string[];
  /** Between two pings of each probe, in ns. */
  private readonly pingEvery: readonly number[];
  private readonly width: number;
  private readonly values: Float32Array;
  private readonly worst: Float32Array;
  private readonly times: Float64Array;
  private head = 0;
  count = 0;

  constructor(
    links: readonly string[],
    probes: readonly string[],
    capacity: number,
    pingEvery: readonly number[] = [],
  ) {
    this.links = links;
    this.probes = probes;
    this.capacity = capacity;
    this.pingEvery = pingEvery;
    this.width = links.length * PER_LINK + probes.length;
    this.values = new Float32Array(this.width * capacity);
    this.worst = new Float32Array(capacity);
    this.times = new Float64Array(capacity);
  }

  /** Adds a sample. Of one that is not later than the last, as between two samplings of links, only round trips count. */
  push(
    tNs: number,
    links: readonly Numbers[] | null,
    probes: Numbers | null,
    lateness: number | null = null,
  ): void {
    // A simulation says how far it is between two samples, too.
    if (!links || !probes) return;
    const last = (this.head + this.capacity - 1) % this.capacity;
    if (this.count > 0 && tNs <= this.times[last]!) return this.answered(last, probes);
    const base = this.head * this.width;
    for (let link = 0; link < this.links.length; link++) {
      const numbers = links[link];
      for (let at = 0; at < PER_LINK; at++) this.values[base + link * PER_LINK + at] = numbers?.[at] ?? NaN;
    }
    this.values.fill(NaN, base + this.links.length * PER_LINK, base + this.width);
    this.answered(this.head, probes);
    this.worst[this.head] = lateness ?? NaN;
    this.times[this.head] = tNs;
    this.head = (this.head + 1) % this.capacity;
    this.count = Math.min(this.count + 1, this.capacity);
  }

  /** Takes in what was recorded before: as if it had come sample by sample. */
  begin(recorded: Recorded): void {
    const lateness = recorded.lateness();
    const rows = this.links.map((_, link) =>
      WAYS.flatMap((way) => COLUMNS.map((column) => recorded.link(link, way, column))),
    );
    const answers = this.probes.map((_, at) => recorded.probe(at));
    recorded.instants().forEach((t, at) =>
      this.push(
        t,
        rows.map((columns) => columns.map((values) => values[at] ?? null)),
        answers.map((values) => values[at] ?? null),
        lateness[at] ?? null,
      ),
    );
  }

  private answered(row: number, probes: Numbers): void {
    const base = row * this.width + this.links.length * PER_LINK;
    probes.forEach((rtt, at) => {
      if (rtt !== null && at < this.probes.length) this.values[base + at] = rtt;
    });
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

  private instants(): number[] {
    return Array.from({ length: this.count }, (_, at) => this.times[this.row(at)]!);
  }

  /** Times in seconds, oldest first. */
  seconds(): number[] {
    return this.instants().map((t) => t / 1e9);
  }

  private column(offset: number): (number | null)[] {
    return Array.from({ length: this.count }, (_, at) => {
      const value = this.values[this.row(at) * this.width + offset]!;
      return Number.isNaN(value) ? null : value;
    });
  }

  /** One quantity of one direction of a link, oldest first. */
  link(link: number, way: WayName, column: Column): (number | null)[] {
    return this.column(link * PER_LINK + WAYS.indexOf(way) * COLUMNS.length + COLUMNS.indexOf(column));
  }

  /** The last answer to a ping, and how many seconds before the last sample it came. */
  lastAnswer(at: number): { rtt: number | null; ago: number } {
    const all = this.column(this.links.length * PER_LINK + at);
    const place = all.findLastIndex((value) => value !== null);
    const times = this.seconds();
    return { rtt: all[place] ?? null, ago: place < 0 ? 0 : (times.at(-1) ?? 0) - (times[place] ?? 0) };
  }

  probe(at: number): (number | null)[] {
    const times = this.instants();
    const answers = this.column(this.links.length * PER_LINK + at);
    const known = answers.flatMap((each, place) => (each === null ? [] : [place]));
    return held(
      times,
      known.map((place) => times[place]!),
      known.map((place) => answers[place]!),
      this.pingEvery[at] ?? Infinity,
    );
  }
}

/** Numbers of a run that is over, as the server thinned them out; links are read when they are asked for. */
export class Recorded implements Source {
  readonly links: readonly string[];
  readonly probes: readonly string[];
  private readonly pingEvery: readonly number[];
  private readonly kept = new Map<string, Series>();
  private times: number[] = [];

  constructor(links: readonly string[], probes: readonly string[], pingEvery: readonly number[] = []) {
    this.links = links;
    this.probes = probes;
    this.pingEvery = pingEvery;
  }

  wants(name: string, what: WayName | 'probe' | 'lateness'): boolean {
    return !this.kept.has(`${what} ${name}`);
  }

  keep(name: string, what: WayName | 'probe' | 'lateness', series: Series): void {
    this.kept.set(`${what} ${name}`, series);
    // All links are sampled at the same times.
    if (what === 'forward' || what === 'reverse' || this.times.length === 0) this.times = series.t_ns;
  }

  private onTimes(name: string, column: string): (number | null)[] {
    const series = this.kept.get(name);
    const values = series?.columns[column];
    if (!series || !values) return this.times.map(() => null);
    if (series.t_ns === this.times) return values;
    let next = 0;
    return this.times.map((t) => {
      while (next < series.t_ns.length - 1 && series.t_ns[next]! < t) next++;
      return values[next] ?? null;
    });
  }

  lateness(): (number | null)[] {
    return this.onTimes('lateness ', 'lateness_p99_ns');
  }

  instants(): readonly number[] {
    return this.times;
  }

  seconds(): number[] {
    return this.times.map((t) => t / 1e9);
  }

  link(link: number, way: WayName, column: Column): (number | null)[] {
    return this.onTimes(`${way} ${this.links[link]}`, column);
  }

  probe(at: number): (number | null)[] {
    const series = this.kept.get(`probe ${this.probes[at]}`);
    return held(
      this.times,
      series?.t_ns ?? [],
      series?.columns['rtt_ns'] ?? [],
      this.pingEvery[at] ?? Infinity,
    );
  }
}
