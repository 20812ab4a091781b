/** One panel of a chart as a plot of uPlot. */
import uPlot from 'uplot';
import { after, points, type Axis, type ChartData, type PanelData, type Points } from './data';
import { axis, digits, labelled, multiples, short, type Colour } from './look';
import { drawMarks } from './marks';
import { drawFeet, drawLevels, drawWords, shadePart } from './overlays';
import { series, table } from './paths';

export type Place = {
  chart: ChartData;
  xs: readonly Float64Array[];
  row: number;
  column: number;
  /** Of all panels of this x axis. */
  group: string;
  colour: Colour;
  /** Called when the user zooms. */
  moved: (plot: uPlot, axis: number) => void;
};

const ROOM = 0.06;

/** The plot of a panel in `box`, with its title, legend and button above it. */
export function drawPanel(box: HTMLElement, panel: PanelData, place: Place): uPlot {
  const { chart, colour } = place;
  const head = box.appendChild(element('div', 'head'));
  head.appendChild(element('b')).textContent = panel.title;
  const shown = points(panel, place.xs);
  const x = chart.axes[panel.x]!;
  const below = chart.rows[place.row + 1]?.[place.column];
  // Panels with one x axis are labelled under the last of them.
  const isLabelled = below?.x !== panel.x && x.label !== '';
  const part = panel.part;
  const button = part && head.appendChild(element('button'));
  const isWhole = ({ min, max }: uPlot.Scale): boolean => min === x.reach[0] && max === x.reach[1];
  const tables = shown.map(table);
  const hasBars = shown.some((each) => each.kind === 'bars');
  const plot: uPlot = new uPlot(
    {
      width: Math.max(box.clientWidth, 200),
      height: chart.heights[place.row]! + (below ? (isLabelled ? 18 : 0) : 30),
      padding: [8, 14, 0, 0],
      scales: {
        x: {
          time: false,
          auto: false,
          min: x.reach[0],
          max: x.reach[1],
          range: (_, min, max) => [min, max],
          ...distribution(x),
        },
        y: {
          ...distribution(panel.y),
          ...(panel.y.names ? { dir: -1 as const } : {}),
          range: (self, least, most) => reachOfY(self, panel, shown, least, most),
        },
      },
      series: [
        { label: x.label, value: (_, value) => digits(value, part ? 9 : 6) },
        ...shown.map((each, at) => {
          const isNamed = shown.slice(0, at).some(({ name }) => name === each.name);
          return series(each, colour, part ? 8 : 4, isNamed);
        }),
      ],
      axes: [
        {
          ...axis(colour, 12),
          size: 26,
          label: isLabelled ? x.label : '',
          labelSize: isLabelled ? 18 : 0,
          ...(x.names ? places(x.names) : numbersOf(x)),
        },
        { ...axis(colour, 12), label: panel.y.label, labelSize: panel.y.label ? 18 : 0, ...ticks(panel.y) },
      ],
      cursor: {
        sync: { key: place.group, scales: ['x', null] },
        drag: { x: true, y: false },
        bind: { dblclick: (self) => () => (self.setScale('x', { min: x.reach[0], max: x.reach[1] }), null) },
        points: part ? { show: false } : { size: 6 },
      },
      legend: {
        // Where a key says what all panels have, a legend in each would move them apart.
        show: !hasBars && chart.key.length === 0,
        mount: (_, legend) => head.appendChild(legend),
        markers: { width: 0, fill: (_, at) => (at ? `var(${shown[at - 1]!.colour})` : 'transparent') },
      },
      hooks: {
        setScale: [
          (self, key) => {
            if (key !== 'x') return;
            place.moved(self, panel.x);
            if (button)
              button.textContent = isWhole(self.scales['x']!) ? `Show ${part.name}` : 'Show all of it';
          },
        ],
        drawAxes: part ? [(self) => shadePart(self, part, colour)] : [],
        draw: [
          (self) => drawLevels(self, panel.levels, colour),
          (self) => drawFeet(self, panel.feet, colour),
          (self) => drawMarks(self, panel.marks, colour),
          ...(hasBars ? [(self: uPlot) => drawWords(self, shown, colour)] : []),
        ],
        ...(hasBars ? { setCursor: [barTeller(head, panel, shown)] } : {}),
      },
    },
    tables.some(([places]) => places.length) ? uPlot.join(tables) : empty(x.reach, shown.length),
    box,
  );
  button?.addEventListener('click', () => {
    const [min, max] = isWhole(plot.scales['x']!) ? [part!.begin, part!.end] : x.reach;
    plot.setScale('x', { min, max });
  });
  listLevels(head, panel);
  if (panel.note) box.appendChild(element('p', 'note')).textContent = panel.note;
  return plot;
}

const distribution = (of: Axis): Pick<uPlot.Scale, 'distr'> => (of.logarithmic ? { distr: 3 } : {});

/** Without a single point, as in a chart of bars, which are drawn from their own columns. */
const empty = (reach: [number, number], count: number): uPlot.AlignedData => [
  [...reach],
  ...Array.from({ length: count }, () => [null, null]),
];

function element<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  look = '',
): HTMLElementTagNameMap[Name] {
  const made = document.createElement(name);
  if (look) made.className = look;
  return made;
}

/** Names at 0, 1, 2 ... */
const places = (names: string[]): Partial<uPlot.Axis> => ({
  splits: () => names.map((_, at) => at),
  values: () => names,
});

function ticks(of: Axis): Partial<uPlot.Axis> {
  const wide = (texts: readonly string[] | null): number =>
    Math.min(Math.max(52, 14 + 7 * Math.max(0, ...(texts ?? []).map((text) => text.length))), 260);
  if (of.names) {
    const names = of.names.map((name) => (name.length > 34 ? `${name.slice(0, 33)}…` : name));
    return { ...places(names), size: () => wide(names), grid: { show: false } };
  }
  return {
    size: (_, texts) => wide(texts),
    space: 26,
    ...numbersOf(of),
  };
}

const numbersOf = (of: Axis): Partial<uPlot.Axis> => ({
  values: (_, values) => values.map(short),
  ...(of.logarithmic
    ? {
        splits: (_plot: uPlot, _axis: number, least: number, most: number) => multiples(least, most),
        filter: (_plot: uPlot, values: number[]) => labelled(values),
      }
    : {}),
});

function reachOfY(
  plot: uPlot,
  panel: PanelData,
  shown: readonly Points[],
  least: number | null,
  most: number | null,
): [number, number] {
  const { names, low, high } = panel.y;
  if (names) return [-0.6, names.length - 0.4];
  if (panel.part) return reachOfPart(plot, shown);
  const levels = panel.levels.filter((level) => level.along === 'y').map((level) => level.at);
  const ends = shown.flatMap((each) => [...(each.least ?? []), ...(each.most ?? [])]).filter(isFinite);
  const every = [...levels, ...ends].filter((each) => !panel.y.logarithmic || each > 0);
  const [bottom, top] = [Math.min(least ?? Infinity, ...every), Math.max(most ?? -Infinity, ...every)];
  if (bottom > top) return [low ?? 0, high ?? 1];
  if (panel.y.logarithmic && bottom > 0) {
    const room = ((high ?? top) / (low ?? bottom)) ** ROOM || 1;
    return [low ?? bottom / room, high ?? top * room];
  }
  const room = (top - (low ?? bottom) || Math.abs(top) || 1) * ROOM;
  return [low ?? bottom - room, high ?? top + room];
}

/** How low and how high goes what is in view; what is ignored may be far above. */
function reachOfPart(plot: uPlot, shown: readonly Points[]): [number, number] {
  // The scale of x is still the one before.
  const [first, last] = plot.series[0]!.idxs!;
  const [min, max] = [plot.data[0][first]!, plot.data[0][last]!];
  let [low, high] = [Infinity, -Infinity];
  for (const each of shown) {
    if (each.ignored) continue;
    const until = after(each.x, max);
    for (let row = Math.max(after(each.x, min) - 1, 0); row < until; row += 1) {
      if (each.toX && each.toX[row]! < min) continue;
      low = Math.min(low, each.low?.[row] ?? each.y[row]!);
      high = Math.max(high, each.y[row]!);
    }
  }
  if (low > high) return [0, 1];
  const room = high - low || high || 1;
  return [low - 0.05 * room, high + 0.25 * room];
}

/** Levels with names and feet, beside the legend, which has series alone. */
function listLevels(head: HTMLElement, panel: PanelData): void {
  for (const level of panel.levels.filter((each) => each.name)) {
    const said = head.appendChild(element('span', `level ${level.look}`));
    said.textContent = level.name;
    said.style.setProperty('--of', `var(${level.colour})`);
  }
  for (const foot of panel.feet) {
    const said = head.appendChild(element('span', 'foot'));
    said.textContent = foot.name;
    said.style.setProperty('--of', `var(${foot.colour})`);
  }
}

/** Says above a chart of bars which one the pointer is on. */
function barTeller(head: HTMLElement, panel: PanelData, shown: readonly Points[]): (plot: uPlot) => void {
  const said = head.appendChild(element('span', 'values-at-cursor'));
  return (plot) => {
    const { left = -1, top = -1 } = plot.cursor;
    said.textContent = '';
    if (left < 0 || top < 0) return;
    const [at, row] = [plot.posToVal(left, 'x'), plot.posToVal(top, 'y')];
    for (const each of shown) {
      const bar = each.x.findIndex(
        (begin, place) =>
          begin <= at &&
          at <= (each.toX?.[place] ?? begin) &&
          Math.abs(each.y[place]! - row) <= each.size / 2,
      );
      if (bar < 0 || each.kind !== 'bars') continue;
      const name = panel.y.names?.[Math.round(each.y[bar]!)] ?? '';
      const [begin, end] = [digits(each.x[bar], 4), digits(each.toX?.[bar], 4)];
      said.textContent = `${name === each.name ? name : `${name}, ${each.name}`}: ${each.words?.[bar] ?? `${begin} to ${end}`}`;
    }
  };
}
