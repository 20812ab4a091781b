/** How all charts look: fonts, axes, dashes. */
import type uPlot from 'uplot';

/** A colour of the style sheet by its variable, `--c1`. */
export type Colour = (variable: string) => string;

const FAMILY = 'system-ui, "DejaVu Sans", sans-serif';
export const font = (size: number): string => `${size}px ${FAMILY}`;

export const DASHED = [5, 4];
export const DOTTED = [1, 2];

/** Lengths in points, as matplotlib has them, in CSS pixels. */
export const fromPoints = (lengths: readonly number[]): number[] =>
  lengths.map((length) => (length * 96) / 72);

export const inPixels = (lengths: readonly number[]): number[] =>
  lengths.map((length) => length * devicePixelRatio);

/** A number as an axis shows it. */
export function short(value: number | null): string {
  if (value === null) return '';
  const size = Math.abs(value);
  return size >= 1e5 || (size > 0 && size < 1e-4)
    ? value.toExponential(Number.isInteger(Math.log10(size)) ? 0 : 1)
    : String(Number(value.toPrecision(9)));
}

/** The same on a logarithmic axis, whose ends are anywhere: round numbers alone. */
export function round(value: number | null): string {
  const mantissa = value ? value / 10 ** Math.floor(Math.log10(value) + 1e-9) : NaN;
  return Math.abs(mantissa - Math.round(mantissa)) < 1e-6 ? short(value) : '';
}

/** A number as a legend shows it. */
export const digits = (value: number | null | undefined, count: number): string =>
  value === null || value === undefined || Number.isNaN(value)
    ? ''
    : String(Number(value.toPrecision(count)));

/** What the axes of all charts have in common; colours are looked up each time that they are drawn. */
export function axis(colour: Colour, size: number): uPlot.Axis {
  return {
    stroke: () => colour('--muted'),
    grid: { stroke: () => colour('--grid'), width: 1 },
    ticks: { stroke: () => colour('--grid'), width: 1, size: 4 },
    font: font(size),
    labelFont: font(size),
  };
}
