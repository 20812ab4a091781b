/** A chart as a file: a picture of what is in view, and its points as a table. */
import type uPlot from 'uplot';
import { points, type Axis, type ChartData, type PanelData } from './data';
import { paintHeatMaps } from './heatMap';
import { paintKey } from './key';
import { font, type Colour } from './look';

/** A panel where it is drawn. */
export type Drawing = { plot: uPlot; box: HTMLElement; panel: PanelData };

const LINE = 18;
const MARGIN = 10;

/** The chart as it is in view, with its titles and legends; `holder` has the boxes of all panels. */
export function picture(
  holder: HTMLElement,
  chart: ChartData,
  drawings: readonly Drawing[],
  colour: Colour,
): HTMLCanvasElement {
  const scale = devicePixelRatio;
  const frame = holder.getBoundingClientRect();
  const canvas = document.createElement('canvas');
  canvas.width = (frame.width + 2 * MARGIN) * scale;
  canvas.height = (frame.height + LINE + 2 * MARGIN) * scale;
  const to = canvas.getContext('2d')!;
  to.scale(scale, scale);
  to.fillStyle = colour('--paper');
  to.fillRect(0, 0, canvas.width, canvas.height);
  to.translate(MARGIN, MARGIN);
  to.textBaseline = 'middle';
  text(to, chart.title, 0, LINE / 2, `600 ${font(13)}`, colour('--ink'));
  to.translate(0, LINE);
  paintKey(to, holder, chart.key, colour);
  paintHeatMaps(to, holder, colour);
  for (const { plot, box, panel } of drawings) {
    const place = plot.root.getBoundingClientRect();
    const [left, top] = [place.left - frame.left, place.top - frame.top];
    to.drawImage(plot.ctx.canvas, left, top, place.width, plot.ctx.canvas.height / scale);
    drawLegend(to, panel, left, box.getBoundingClientRect().top - frame.top, left + place.width, colour);
  }
  return canvas;
}

/** The title and the names of a panel in one line; what finds no room is left out. */
function drawLegend(
  to: CanvasRenderingContext2D,
  panel: PanelData,
  left: number,
  top: number,
  right: number,
  colour: Colour,
): void {
  const middle = top + LINE / 2;
  let at = left + text(to, panel.title, left, middle, font(12), colour('--ink'));
  if (panel.title) at += 12;
  for (const each of panel.series.filter((one) => one.listed !== false)) {
    const wide = width(to, each.name, font(12)) + 26;
    if (at + wide > right) break;
    to.strokeStyle = colour(each.colour);
    to.lineWidth = 3;
    // Half as long as in the chart: a sample is short.
    to.setLineDash((each.dashes ?? []).map((length) => (length * 2) / 3));
    to.beginPath();
    to.moveTo(at, middle);
    to.lineTo(at + 16, middle);
    to.stroke();
    text(to, each.name, at + 20, middle, font(12), colour('--muted'));
    at += wide + 8;
  }
  to.setLineDash([]);
}

function width(to: CanvasRenderingContext2D, words: string, look: string): number {
  to.font = look;
  return to.measureText(words).width;
}

/** Writes, and returns how wide it is. */
function text(
  to: CanvasRenderingContext2D,
  words: string,
  x: number,
  y: number,
  look: string,
  ink: string,
): number {
  to.font = look;
  to.fillStyle = ink;
  to.fillText(words, x, y);
  return width(to, words, look);
}

/** The columns of figures as CSV: longhaul/report/points.py has the same. */
const HEADS = [
  ...['panel', 'series', 'x', 'x_name', 'x_unit', 'y', 'y_name', 'y_unit'],
  ...['lower', 'upper', 'x_lower', 'x_upper'],
];

/** Every point of a chart as CSV, a row each. */
export function csv(chart: ChartData, xs: readonly Float64Array[]): string {
  const lines = [HEADS, ...chart.rows.flat().flatMap((panel) => rowsOf(panel, chart, xs))];
  return lines.map((line) => `${line.map(field).join(',')}\r\n`).join('');
}

function rowsOf(panel: PanelData, chart: ChartData, xs: readonly Float64Array[]): string[][] {
  const x = chart.axes[panel.x]!;
  const [across, up] = [x, panel.y].map((axis) => nameAndUnit(axis.label || (axis.names ? 'name' : '')));
  const row = (name: string, at: string, value: string, ...ends: (number | undefined)[]): string[] => [
    ...[panel.title, name, at, ...across!, value, ...up!],
    ...ends.map(number),
  ];
  const found = points(panel, xs).flatMap((each) => {
    // Bars from zero are values; those from elsewhere are spans.
    const isSpan = each.toX !== null && (each.kind !== 'bars' || each.x.some((begin) => begin !== 0));
    const of = (column: Float64Array | null, at: number): number | undefined => column?.[at];
    return [...each.x.entries()]
      .filter(([at]) => !Number.isNaN(each.y[at]))
      .map(([at, begin]) => {
        const y = each.y[at]!;
        const place = word(x, isSpan ? begin : (each.toX?.[at] ?? begin));
        const [value, ...ends] = each.low
          ? ['', each.low[at], y]
          : [word(panel.y, y), of(each.least, at), of(each.most, at)];
        const span = isSpan
          ? [begin, each.toX![at]]
          : [of(each.begins, at), each.begins ? of(each.ends, at) : undefined];
        return row(each.name, place, value as string, ...(ends as number[]), ...span);
      });
  });
  const feet = panel.feet.flatMap((foot) =>
    foot.x.map((at) => row(foot.name, number(at), '', ...Array<undefined>(4))),
  );
  return [...found, ...feet];
}

/** A number, or the name that stands there. */
const word = ({ names }: Axis, value: number): string => names?.[Math.round(value)] ?? number(value);

/** `time [s]` as `time` and `s`. */
function nameAndUnit(label: string): [string, string] {
  const found = /^(.*?)\s*\[([^\]]*)\]\s*$/.exec(label);
  return found ? [found[1]!, found[2]!] : [label, ''];
}

const number = (value: number | undefined): string =>
  value === undefined || Number.isNaN(value) ? '' : String(value);

/** A field of CSV (RFC 4180). */
const field = (words: string): string =>
  /[",\r\n]/.test(words) ? `"${words.replaceAll('"', '""')}"` : words;

/** Hands a file to the user of the browser. */
export function download(name: string, content: Blob): void {
  const address = URL.createObjectURL(content);
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}
