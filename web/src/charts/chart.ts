/** Draws a chart into an element of a document, in which it can be zoomed. */
import type uPlot from 'uplot';
import { numbers, type ChartData } from './data';
import { type Colour } from './look';
import { csv, picture, type Drawing } from './export';
import { drawHeatMap, drawShades } from './heatMap';
import { drawKey } from './key';
import { drawPanel } from './panel';

export type Drawn = {
  /** After the element has another width. */
  fit: () => void;
  /** After the colours have changed. */
  repaint: () => void;
  /** Draws series of this name, or leaves them out. */
  show: (name: string, isShown: boolean) => void;
  /** What is in view, with titles and legends. */
  picture: () => HTMLCanvasElement;
  /** All points as CSV. */
  csv: () => string;
  /** What the user sees of it: zoom, hidden series and cursor, by panel. */
  view: () => View[];
  destroy: () => void;
};

export type View = { zoom: [number, number] | null; hidden: string[]; cursor: [number, number] | null };

let groups = 0;

/** `view`: what the user saw of the same chart before it had its newest points. */
export function drawChart(
  holder: HTMLElement,
  chart: ChartData,
  colour: Colour,
  view: readonly View[] = [],
): Drawn {
  const xs = chart.xs.map(numbers);
  const group = `chart${(groups += 1)}`;
  const plots: (Drawing & { axis: number })[] = [];
  let isMoving = false;
  holder.classList.add('drawn');
  holder.dataset['name'] = chart.name;
  const panels = chart.rows.flat();
  const isRead = panels.some((panel) => panel.part || panel.rows_of);
  holder.setAttribute('role', isRead ? 'group' : 'img');
  holder.setAttribute('aria-label', chart.title);
  if (chart.note) {
    const note = holder.appendChild(document.createElement('p'));
    note.className = 'note';
    note.textContent = chart.note;
  }

  if (chart.key.length) drawKey(holder, chart.key);
  if (panels[0]?.rows_of && panels[0].y.low !== undefined) drawShades(holder, panels[0].y);

  /** Panels of one x axis show the same stretch. */
  function moved(mine: uPlot, axis: number): void {
    if (isMoving) return;
    isMoving = true;
    const { min, max } = mine.scales['x']!;
    for (const each of plots)
      if (each.plot !== mine && each.axis === axis) each.plot.setScale('x', { min: min!, max: max! });
    isMoving = false;
  }

  for (const [row, ofRow] of chart.rows.entries()) {
    const line = holder.appendChild(document.createElement('div'));
    line.className = 'row';
    line.style.gridTemplateColumns = chart.widths.map((width) => `minmax(0, ${width}fr)`).join(' ');
    for (const [column, panel] of ofRow.entries()) {
      const box = line.appendChild(document.createElement('div'));
      if (panel.rows_of) {
        drawHeatMap(box, panel, chart.axes[panel.x]!, xs);
        continue;
      }
      const place = { chart, xs, row, column, group: `${group}-${panel.x}`, colour, moved };
      plots.push({ plot: drawPanel(box, panel, place), box, panel, axis: panel.x });
    }
  }
  if (view.length === plots.length) plots.forEach(({ plot }, at) => restore(plot, view[at]!));
  return {
    view: () => plots.map(({ plot, axis }) => viewOf(plot, chart.axes[axis]!.reach)),
    fit: () => {
      for (const { plot, box } of plots)
        if (box.clientWidth && box.clientWidth !== plot.width)
          plot.setSize({ width: box.clientWidth, height: plot.height });
    },
    show: (name, isShown) => {
      for (const { plot } of plots)
        plot.series.forEach((each, at) => {
          if (at > 0 && each.label === name && each.show !== isShown) plot.setSeries(at, { show: isShown });
        });
    },
    repaint: () => plots.forEach(({ plot }) => plot.redraw(false)),
    picture: () => picture(holder, chart, plots, colour),
    csv: () => csv(chart, xs),
    destroy: () => plots.forEach(({ plot }) => plot.destroy()),
  };
}

function viewOf({ scales, series, cursor }: uPlot, [low, high]: [number, number]): View {
  const { min, max } = scales['x']!;
  const isWhole = min === low && max === high;
  return {
    zoom: isWhole ? null : [min!, max!],
    hidden: series.slice(1).flatMap((each) => (each.show ? [] : [String(each.label)])),
    cursor: cursor.left !== undefined && cursor.left >= 0 ? [cursor.left, cursor.top!] : null,
  };
}

function restore(plot: uPlot, { zoom, hidden, cursor }: View): void {
  if (zoom) plot.setScale('x', { min: zoom[0], max: zoom[1] });
  plot.series.forEach((each, at) => {
    if (at > 0 && hidden.includes(String(each.label))) plot.setSeries(at, { show: false });
  });
  if (cursor) plot.setCursor({ left: cursor[0], top: cursor[1] }, false);
}
