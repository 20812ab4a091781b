/** What stands beside each link: averages over the latest second of a run that goes on, or over all of one that is over. */
import type { Hello, Now } from '../api/types/events';
import { WAYS, type WayName } from './ring';

/** What is said of one direction of a link, in the order in which the server does; null where it is not known. */
export const NOW_COLUMNS = [
  'throughput_bits_per_s',
  'utilisation',
  'queueing_delay_ns',
  'undelivered_packets',
  'lateness_p99_ns',
] as const satisfies Hello['now_figures'];
export type NowColumn = (typeof NOW_COLUMNS)[number];
type Averages = Readonly<Record<NowColumn, number | null>>;
/** Of every link, by name, then direction: taken all at once, and never changed. */
export type AllAverages = ReadonlyMap<string, Readonly<Record<WayName, Averages>>>;

export const NONE: AllAverages = new Map();

/** From one sample, or from the answer about a run that is over: numbers of each link, forward and in reverse. */
export function averages(links: readonly string[], rows: Now['links']): AllAverages {
  return new Map(
    links.map((name, at) => {
      const numbers = rows[at] ?? [];
      const way = (first: number): Averages =>
        Object.fromEntries(
          NOW_COLUMNS.map((column, place) => [column, numbers[first + place] ?? null]),
        ) as Averages;
      return [name, { forward: way(0), reverse: way(NOW_COLUMNS.length) }];
    }),
  );
}

/** Utilisation of the busier direction of the busiest of some links; null if none is known. */
export function loadOf(all: AllAverages, links: readonly string[]): number | null {
  const known = links.flatMap((name) => WAYS.flatMap((way) => all.get(name)?.[way].utilisation ?? []));
  return known.length ? Math.max(...known) : null;
}

/** Throughput of both directions together; null if none is known. */
function carried(all: AllAverages, name: string): number | null {
  const known = WAYS.flatMap((way) => all.get(name)?.[way].throughput_bits_per_s ?? []);
  return known.length ? known.reduce((sum, each) => sum + each) : null;
}

/** Of some links those that carry most, the busiest first; links of equal throughput keep their order. */
export const byThroughput = (all: AllAverages, names: readonly string[]): string[] =>
  [...names].sort((one, other) => (carried(all, other) ?? -1) - (carried(all, one) ?? -1));

/** So much more than one that is shown must a link carry to take its place. */
const MORE = 1.3;

/** The `count` busiest links; those that were `before` stay unless others carry clearly more. */
export function busiest(
  all: AllAverages,
  names: readonly string[],
  before: readonly string[],
  count: number,
): string[] {
  const kept = before.filter((name) => names.includes(name));
  const weight = (name: string): number => (carried(all, name) ?? 0) * (kept.includes(name) ? MORE : 1);
  const found = [...names].sort((one, other) => weight(other) - weight(one)).slice(0, count);
  return byThroughput(all, found);
}
