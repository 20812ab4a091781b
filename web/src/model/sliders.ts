/** Sliders of a link's delay, rate and loss: logarithmic, since each spans many orders of magnitude. */

export type SliderKind = 'delay' | 'rate' | 'loss';

/** Least and greatest value behind position 0, in the unit that is written. */
const RANGES: Record<SliderKind, { least: number; most: number; unit: string }> = {
  delay: { least: 0.01, most: 1000, unit: 'ms' },
  rate: { least: 0.01, most: 10_000, unit: 'Mbit' },
  loss: { least: 0.001, most: 50, unit: '%' },
};
export const STEPS = 200;

/** Two significant digits, as somebody would type it. */
function rounded(value: number): string {
  return String(Number(value.toPrecision(2)));
}

/** What `longhaul set` takes for a position from 0 to `STEPS`; 0 is no delay and no loss, and the least rate. */
export function textAt(kind: SliderKind, position: number): string {
  const { least, most, unit } = RANGES[kind];
  if (position <= 0 && kind !== 'rate') return kind === 'loss' ? '0%' : '0ms';
  const value = least * (most / least) ** (position / STEPS);
  if (kind === 'rate' && value < 1) return `${rounded(value * 1000)}kbit`;
  if (kind === 'delay' && value < 1) return `${rounded(value * 1000)}us`;
  return `${rounded(value)}${unit}`;
}

/** The position of a value: a delay in ns, a rate in bit/s or a share; an unlimited rate is at the end. */
export function positionOf(kind: SliderKind, value: number | null): number {
  if (value === null) return kind === 'rate' ? STEPS : 0;
  const { least, most } = RANGES[kind];
  const scaled = { delay: value / 1e6, rate: value / 1e6, loss: value * 100 }[kind];
  if (scaled <= least) return 0;
  return Math.round((STEPS * Math.log(Math.min(scaled, most) / least)) / Math.log(most / least));
}
