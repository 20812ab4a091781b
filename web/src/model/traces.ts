/** Traces as lines, their edits in words, and names for what is saved. Pure. */
import type { TraceEdit } from '../api/client';

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

/** Samples as a line of steps: each holds until the next, the last to the end of the trace. */
export function steps(
  times: readonly number[],
  values: readonly (number | null)[],
  span: number,
): [number[], (number | null)[]] {
  const end = (times[0] ?? 0) + span;
  const ends = [...times.slice(1), Math.max(end, times.at(-1) ?? end)];
  return [times.flatMap((time, at) => [time, ends[at]!]), values.flatMap((value) => [value, value])];
}
