/** Numbers as people read them; the scenario's own spelling, so that what is shown could be typed. */

function short(value: number): string {
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return String(Number(value.toFixed(digits)));
}

function scaled(value: number, steps: readonly (readonly [number, string])[], none: string): string {
  if (value === 0) return `0 ${none}`;
  for (const [size, unit] of steps)
    if (Math.abs(value) >= size * 0.9995) return `${short(value / size)} ${unit}`;
  const [size, unit] = steps[steps.length - 1] ?? [1, none];
  return `${short(value / size)} ${unit}`;
}

const missing = '–';

/** 38000000 is "38 ms". */
export function span(ns: number | null | undefined): string {
  if (ns === null || ns === undefined || !Number.isFinite(ns)) return missing;
  return scaled(
    ns,
    [
      [60e9, 'min'],
      [1e9, 's'],
      [1e6, 'ms'],
      [1e3, 'µs'],
      [1, 'ns'],
    ].filter(([size]) => size !== 60e9 || Math.abs(ns) >= 120e9) as [number, string][],
    's',
  );
}

/** 1000000000 is "1 Gbit/s". */
export function rate(bitsPerSecond: number | null | undefined): string {
  if (bitsPerSecond === null || bitsPerSecond === undefined || !Number.isFinite(bitsPerSecond))
    return missing;
  return scaled(
    bitsPerSecond,
    [
      [1e12, 'Tbit/s'],
      [1e9, 'Gbit/s'],
      [1e6, 'Mbit/s'],
      [1e3, 'kbit/s'],
      [1, 'bit/s'],
    ],
    'bit/s',
  );
}

/** 312500 is "312 kB". */
export function size(bytes: number | null | undefined): string {
  if (bytes === null || bytes === undefined || !Number.isFinite(bytes)) return missing;
  return scaled(
    bytes,
    [
      [1e12, 'TB'],
      [1e9, 'GB'],
      [1e6, 'MB'],
      [1e3, 'kB'],
      [1, 'B'],
    ],
    'B',
  );
}

/** 0.0002 is "0.02 %". */
export function share(value: number | null | undefined): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return missing;
  const percent = value * 100;
  if (percent === 0) return '0 %';
  if (Math.abs(percent) < 0.001) return `${percent.toPrecision(2)} %`;
  return `${Number(percent.toPrecision(3))} %`;
}

/** 7262 is "2:01:02", 62 is "1:02". */
export function clock(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds));
  const two = (value: number): string => String(value).padStart(2, '0');
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60];
  return hours ? `${hours}:${two(minutes)}:${two(whole % 60)}` : `${minutes}:${two(whole % 60)}`;
}

/** "38 ms" as the language writes it: "38ms". */
export function written(text: string): string {
  return text.replace(' ', '').replace('/s', '');
}

/** An instant (ISO 8601, or ms since 1970) as date and time of day here. */
export const instant = (at: string | number): string =>
  new Date(at).toLocaleString('sv-SE', { dateStyle: 'short', timeStyle: 'medium' });

/** `1 run`, `2 runs`; `plural` is given where it is not the noun with an s. */
export const counted = (number: number, noun: string, plural = `${noun}s`): string =>
  `${number} ${number === 1 ? noun : plural}`;
