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

/** 1, 2 ... 9 times each power of ten on a logarithmic axis; of a short part, round numbers at equal distances. */
export function multiples(least: number, most: number): number[] {
  const found: number[] = [];
  for (let power = Math.floor(Math.log10(least)); 10 ** power <= most; power += 1)
    for (let digit = 1; digit < 10; digit += 1) found.push(Number((digit * 10 ** power).toPrecision(1)));
  const inside = found.filter((each) => each >= least && each <= most);
  if (inside.length > 1) return inside;
  const step = 10 ** Math.floor(Math.log10(most - least));
  const first = Math.ceil(least / step);
  return Array.from({ length: Math.floor(most / step) - first + 1 }, (_, at) =>
    Number(((first + at) * step).toPrecision(12)),
  );
}

/** Which of the multiples have labels: all, those that begin with 1, 2 or 5, or powers of ten, as there is room. */
export function labelled(values: readonly number[]): (number | null)[] {
  if (values.length <= 6) return [...values];
  const leading = values.length <= 20 ? [1, 2, 5] : [1];
  return values.map((each) =>
    leading.includes(Number((each / 10 ** Math.floor(Math.log10(each) + 1e-9)).toPrecision(6))) ? each : null,
  );
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
