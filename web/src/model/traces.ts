/** Traces as lines, their edits in words, and names for what is saved. Pure. */
import type { TraceEdit } from '../api/client';
import { span } from './units';

/** What an edit does, in a line. */
export function editText({ op, column, value, from_s: from, to_s: to }: TraceEdit, unit: string): string {
  switch (op) {
    case 'cut':
      return `keep ${from == null ? 'the beginning' : `${from} s`} to ${to == null ? 'the end' : `${to} s`}`;
    case 'scale':
      return `${column} times ${value}`;
    case 'shift':
      return `${column} ${Number(value) < 0 ? 'minus' : 'plus'} ${Math.abs(Number(value))} ${unit}`;
    case 'set':
      return `${column} at ${from} s: ${value == null ? 'a gap' : `${value} ${unit}`}`;
  }
}

/** A name that is free: `wan.csv` becomes `wan-edited.csv`, then `wan-edited-2.csv`. */
export function savedName(name: string, taken: readonly string[]): string {
  const stem = name
    .replace(/\.(csv|parquet|up|down|mahi)$/, '')
    .replace(/[^A-Za-z0-9._-]+/g, '-')
    .replace(/-edited(-\d+)?$/, '');
  for (let number = 1; ; number++) {
    const free = `${stem}-edited${number > 1 ? `-${number}` : ''}.csv`;
    if (!taken.includes(free)) return free;
  }
}

/** What a trace of one row, which holds for all time, is drawn over, in s. */
export const CONSTANT_S = 1;

/** The length of a trace and, if given, the time for which each row holds, both in s. */
export const lasting = (total: number, each?: number | null): string =>
  total ? `${span(total * 1e9)}${each ? `, one each ${span(each * 1e9)}` : ''}` : 'constant';

/** Samples as a line of steps: each holds until the next, the last to the end of the trace. */
export function steps(
  times: readonly number[],
  values: readonly (number | null)[],
  total: number,
): [number[], (number | null)[]] {
  const end = (times[0] ?? 0) + total;
  const ends = [...times.slice(1), Math.max(end, times.at(-1) ?? end)];
  return [times.flatMap((time, at) => [time, ends[at]!]), values.flatMap((value) => [value, value])];
}
