/** Scales of figures, and quantities as text: pure. */
import type { Expectation } from '../api/types/files';
import { rate, share, size, span } from './units';

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
