/** A chart as a file: a picture of what is in view, and its points as a table. */
import type uPlot from 'uplot';
import { points, type ChartData, type PanelData } from './data';
import { dashesOf, font, type Colour } from './look';

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
    to.setLineDash(dashesOf(each.colour)?.map((length) => length / 2) ?? []);
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

const HEADS = ['panel', 'series', 'x_name', 'x', 'y_name', 'y'] as const;
const MORE = ['x_end', 'y_low', 'interval_low', 'interval_high'] as const;

/** Every point of a chart as CSV, a row each: its panel and series, and both values with what they are. */
export function csv(chart: ChartData, xs: readonly Float64Array[]): string {
  const lines: string[] = [[...HEADS, ...MORE].join(',')];
  for (const panel of chart.rows.flat())
    for (const each of points(panel, xs)) {
      const head = [panel.title, each.name, chart.axes[panel.x]!.label].map(field).join(',');
      const bars = each.begins !== null;
      for (const [at, x] of each.x.entries()) {
        const y = panel.y.names?.[Math.round(each.y[at]!)] ?? number(each.y[at]);
        const more = [each.toX?.[at], each.low?.[at], each.begins?.[at], bars ? each.ends?.[at] : undefined];
        lines.push([head, number(x), field(panel.y.label), field(y), ...more.map(number)].join(','));
      }
    }
  return `${lines.join('\r\n')}\r\n`;
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
