/** Scales of figures, and quantities as text: pure. */
import type { Expectation } from '../api/types/files';
import { rate, share, size, span } from './units';

/** Round numbers that divide 0 to `last` into at most `most` parts. */
export function ticks(last: number, most: number): number[] {
  if (!(last > 0)) return [0];
  const rough = last / most;
  const magnitude = 10 ** Math.floor(Math.log10(rough));
  const spacing =
    [1, 2, 5, 10].map((each) => each * magnitude).find((each) => each >= rough * 0.999999) ?? rough;
  return Array.from({ length: Math.floor(last / spacing + 1e-9) + 1 }, (_, at) =>
    Number((at * spacing).toPrecision(12)),
  );
}

type Timed = {
  release_s: number;
  deadline_s: number | null;
  pieces: { finish_s: number }[];
  planned?: { finish_s: number }[];
};

/** The end of a time axis for transfers: every deadline is on it, however far behind the last byte. */
export function horizon(rows: readonly Timed[]): number {
  const ends = rows.flatMap((each) => [
    each.release_s,
    each.deadline_s ?? 0,
    ...[...each.pieces, ...(each.planned ?? [])].map((piece) => piece.finish_s),
  ]);
  return Math.max(1e-9, ...ends) * 1.02;
}

/** A value with its unit, as results name them. */
export function quantity(value: number | null | undefined, unit: string | null | undefined): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return '–';
  switch (unit) {
    case 'ns':
      return span(value);
    case 's':
      return span(value * 1e9);
    case 'bit/s':
    case 'bits_per_s':
      return rate(value);
    case 'B':
    case 'bytes':
      return size(value);
    case 'count':
    case 'number':
      return String(Number(value.toPrecision(6)));
    case 'share':
      return share(value);
    case 'index':
      return value.toFixed(3);
    default:
      return `${Number(value.toPrecision(4))}${unit ? ` ${unit}` : ''}`;
  }
}

/** An expectation's bounds and what came out, in words. */
export function judged({ unit, min, max, equals, value }: Expectation): { got: string; wanted: string } {
  const told = (each: number | string): string => (typeof each === 'number' ? quantity(each, unit) : each);
  const wanted = [
    min === null ? '' : `at least ${told(min)}`,
    max === null ? '' : `at most ${told(max)}`,
    equals === null ? '' : told(equals),
  ];
  return { got: value === null ? '–' : told(value), wanted: wanted.filter(Boolean).join(', ') };
}

/** Where a value stands between the least and the most, 0 to 1. */
export const between = (value: number, least: number, most: number): number =>
  most > least ? (value - least) / (most - least) : 0.5;
