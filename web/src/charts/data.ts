/** Charts as reports embed them: longhaul/report/chart_json.py writes these. */

/** Numbers, or whole steps: each as the difference to the one before where they are `sums`. */
export type Column = (number | null)[] | { step: number; sums: boolean; steps: number[] };

export type Kind =
  | 'line'
  | 'steps-before'
  | 'steps-after'
  | 'curve'
  | 'area'
  | 'dots'
  | 'discs'
  | 'circles'
  | 'squares'
  | 'crosses'
  | 'strokes'
  | 'bars';

export type Axis = { label: string; logarithmic?: boolean; low?: number; high?: number; names?: string[] };

export type SeriesData = {
  name: string;
  /** A variable of the style sheet. */
  colour: string;
  kind: Kind;
  size: number;
  listed?: boolean;
  dashed?: boolean;
  /** Strokes and gaps of a line that is not solid, in points. */
  dashes?: number[];
  tipped?: boolean;
  /** Signs with a line through them. */
  joined?: boolean;
  ignored?: boolean;
  opacity?: number;
  /** The number of a set of x. */
  x: number;
  y: Column;
  /** From the lower edge or first y up to `y`. */
  height?: Column;
  /** From x to the end of a stroke or bar. */
  width?: Column;
  x_interval?: [Column, Column];
  y_interval?: [Column, Column];
  words?: string[];
};

export type LevelData = {
  at: number;
  along: 'x' | 'y';
  colour: string;
  name: string;
  look: 'dashed' | 'dotted';
};

export type MarkData = { at: number; until: number; label: string; colour: string; solid: boolean };

export type FootData = { name: string; colour: string; x: number[] };

/** What a colour or a sign means in all panels. */
export type KeyData = { name: string; colour: string; kind: Kind; dashed: boolean };

export type PartData = { begin: number; end: number; name: string };

export type PanelData = {
  title: string;
  /** The number of an x axis; panels with the same one move together. */
  x: number;
  y: Axis;
  series: SeriesData[];
  levels: LevelData[];
  feet: FootData[];
  marks: MarkData[];
  note: string;
  part?: PartData;
  /** Of a heat map: what the names of its series, the rows, are values of. */
  rows_of?: string;
};

export type ChartData = {
  name: string;
  title: string;
  note: string;
  key: KeyData[];
  /** Of columns, relative to one another. */
  widths: number[];
  /** Of the plots of each row, in pixels. */
  heights: number[];
  axes: (Axis & { reach: [number, number] })[];
  rows: PanelData[][];
  xs: Column[];
};

/** A series in numbers; NaN where there is no value. */
export type Points = Omit<SeriesData, 'x' | 'y' | 'x_interval' | 'y_interval'> & {
  x: Float64Array;
  y: Float64Array;
  low: Float64Array | null;
  toX: Float64Array | null;
  /** Where the interval of each bar or sign ends, or the bar. */
  ends: Float64Array | null;
  begins: Float64Array | null;
  /** The interval of y of each sign or cell. */
  least: Float64Array | null;
  most: Float64Array | null;
};

export function numbers(column: Column): Float64Array {
  if (Array.isArray(column)) return Float64Array.from(column, (each) => each ?? NaN);
  const found = new Float64Array(column.steps.length);
  // Divided, not multiplied: 1e6 is a whole number, 1e-6 is not.
  const parts = Math.round(1 / column.step);
  let sum = 0;
  for (const [at, each] of column.steps.entries()) {
    sum = column.sums ? sum + each : each;
    found[at] = sum / parts;
  }
  return found;
}

/** The series of a panel in numbers. */
export function points(panel: PanelData, xs: readonly Float64Array[]): Points[] {
  return panel.series.map(({ x: place, y: column, x_interval: across, y_interval: up, ...rest }) => {
    const [x, y] = [xs[place]!, numbers(column)];
    const wide = rest.width && numbers(rest.width);
    const high = rest.height && numbers(rest.height);
    const toX = wide ? x.map((begin, at) => begin + wide[at]!) : null;
    return {
      ...rest,
      x,
      y,
      low: high ? y.map((top, at) => top - high[at]!) : null,
      toX,
      begins: across ? numbers(across[0]) : null,
      ends: across ? numbers(across[1]) : toX,
      least: up ? numbers(up[0]) : null,
      most: up ? numbers(up[1]) : null,
    };
  });
}

/** The first place whose value is greater, in values in order. */
export function after(values: Float64Array, value: number): number {
  let [from, to] = [0, values.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if (values[middle]! > value) to = middle;
    else from = middle + 1;
  }
  return from;
}
