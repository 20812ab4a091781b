/** Series as paths: those of uPlot for lines and steps, and areas, signs, strokes and bars. */
import uPlot from 'uplot';
import { after, type Points } from './data';
import { DASHED, digits, fromPoints, type Colour } from './look';

const SIGNS = new Set(['dots', 'discs', 'circles', 'squares', 'crosses']);
/** CSS pixels in a point. */
const POINT = 96 / 72;

type Place = { x: (value: number) => number; y: (value: number) => number; min: number; max: number };

const place = (plot: uPlot): Place => ({
  x: (value) => plot.valToPos(value, 'x', true),
  y: (value) => plot.valToPos(value, 'y', true),
  min: plot.scales['x']!.min!,
  max: plot.scales['x']!.max!,
});

/** A line through the points in their order; a point without a value interrupts it. */
function curve({ x, y }: Place, each: Points): uPlot.Series.Paths {
  const path = new Path2D();
  let isDown = false;
  for (const [at, value] of each.x.entries()) {
    const height = each.y[at]!;
    if (!Number.isNaN(height)) path[isDown ? 'lineTo' : 'moveTo'](x(value), y(height));
    isDown = !Number.isNaN(height);
  }
  return { stroke: path, fill: null };
}

/** What is between the lower and the upper edge, each from its x on. */
function area({ x, y, min, max }: Place, each: Points): uPlot.Series.Paths {
  const path = new Path2D();
  const first = Math.max(after(each.x, min) - 1, 0);
  const until = Math.min(after(each.x, max) + 1, each.x.length);
  const low = (at: number): number => each.low?.[at] ?? 0;
  for (let at = first; at < until; at += 1) {
    if (at > first) path.lineTo(x(each.x[at]!), y(each.y[at - 1]!));
    else path.moveTo(x(each.x[at]!), y(each.y[at]!));
    path.lineTo(x(each.x[at]!), y(each.y[at]!));
  }
  for (let at = until - 1; at >= first; at -= 1) {
    path.lineTo(x(each.x[at]!), y(low(at)));
    if (at > first) path.lineTo(x(each.x[at]!), y(low(at - 1)));
  }
  path.closePath();
  return { stroke: null, fill: path };
}

function signs({ x, y, min, max }: Place, each: Points): { stroke: Path2D; fill: Path2D | null } {
  const [path, intervals] = [new Path2D(), new Path2D()];
  const radius = (each.size * POINT * devicePixelRatio) / 2;
  // Signs may be in any order, as those of delays are.
  for (const [at, value] of each.x.entries()) {
    if (value < min || value > max || Number.isNaN(each.y[at])) continue;
    const [across, down] = [x(value), y(each.y[at]!)];
    if (each.begins && each.ends) {
      intervals.moveTo(x(each.begins[at]!), down);
      intervals.lineTo(x(each.ends[at]!), down);
    }
    if (each.least && each.most) {
      intervals.moveTo(across, y(each.least[at]!));
      intervals.lineTo(across, y(each.most[at]!));
    }
    if (each.kind === 'crosses') {
      path.moveTo(across - radius, down - radius);
      path.lineTo(across + radius, down + radius);
      path.moveTo(across - radius, down + radius);
      path.lineTo(across + radius, down - radius);
    } else if (each.kind === 'squares') {
      path.rect(across - radius, down - radius, 2 * radius, 2 * radius);
    } else {
      path.moveTo(across + radius, down);
      path.arc(across, down, radius, 0, 2 * Math.PI);
    }
  }
  if (!isOpen(each)) return { stroke: intervals, fill: path };
  path.addPath(intervals);
  return { stroke: path, fill: null };
}

const isOpen = ({ kind }: Points): boolean => kind === 'crosses' || kind === 'circles';

function strokes({ x, y, min, max }: Place, each: Points): uPlot.Series.Paths {
  const [path, tips] = [new Path2D(), new Path2D()];
  const arm = 2.5 * devicePixelRatio;
  for (const [at, begin] of each.x.entries()) {
    const end = each.toX?.[at] ?? begin;
    if (begin > max || end < min) continue;
    const [across, top] = [x(begin), y(each.y[at]!)];
    path.moveTo(across, y(each.low?.[at] ?? each.y[at]!));
    path.lineTo(x(end), top);
    if (each.tipped) {
      tips.moveTo(across - arm, top - arm * 1.6);
      tips.lineTo(across + arm, top - arm * 1.6);
      tips.lineTo(across, top);
      tips.closePath();
    }
  }
  return { stroke: path, fill: tips };
}

function bars({ x, y }: Place, each: Points): uPlot.Series.Paths {
  const path = new Path2D();
  for (const [at, begin] of each.x.entries()) {
    const [left, right] = [x(begin), x(each.toX?.[at] ?? begin)];
    const top = y(each.y[at]! - each.size / 2);
    const tall = y(each.y[at]! + each.size / 2) - top;
    path.rect(left, top, Math.max(right - left, devicePixelRatio), tall);
  }
  return { stroke: null, fill: path };
}

const OWN = { area, curve, strokes, bars };

const isOwn = (kind: string): kind is keyof typeof OWN => kind in OWN;

/** Signs with a line through them: the line has the dashes, and is under the signs. */
const joined = (each: Points, colour: Colour): Pick<uPlot.Series, 'paths' | 'points' | 'width'> => ({
  width: 1.1,
  paths: (plot) => curve(place(plot), each),
  points: {
    show: true,
    width: 1.3,
    stroke: () => colour(each.colour),
    fill: () => colour(isOpen(each) ? '--paper' : each.colour),
    paths: (plot) => {
      const drawn = signs(place(plot), each);
      return { ...drawn, fill: drawn.fill ?? drawn.stroke, clip: frame(plot) };
    },
  },
});

/** Where a plot has its data. */
function frame({ bbox }: uPlot): Path2D {
  const path = new Path2D();
  path.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  return path;
}

/** A series for uPlot, which draws it from `each` and shows its values in the legend, unless that `isNamed` elsewhere. */
export function series(each: Points, colour: Colour, count: number, isNamed: boolean): uPlot.Series {
  const own = isOwn(each.kind) ? OWN[each.kind] : SIGNS.has(each.kind) ? signs : null;
  const isLine = own === null || own === curve;
  const isHidden = each.listed === false && (isLine ? isNamed : own !== signs || isNamed || each.size > 4);
  const isInstant = each.kind === 'strokes' && each.tipped === true;
  const dash =
    !isLine && !each.joined ? undefined : each.dashed ? DASHED : each.dashes && fromPoints(each.dashes);
  return {
    label: each.name,
    ...(isHidden ? { class: 'unlisted' } : isInstant ? { class: 'silent' } : {}),
    stroke: () => colour(each.colour),
    fill: () => colour(each.colour),
    width: own === signs ? 1.3 : Math.max(each.size * 0.9, 0.8),
    alpha: each.opacity ?? 1,
    cap: each.kind === 'strokes' ? 'round' : 'butt',
    ...(dash ? { dash } : {}),
    spanGaps: each.kind !== 'line',
    points: { show: false },
    paths: own ? (plot) => own(place(plot), each) : lines(each.kind),
    ...(each.joined ? joined(each, colour) : {}),
    value: (_, value) => (isInstant ? '' : digits(value, count)),
  };
}

/** Lines and steps, which uPlot draws from its own table; they have nothing to fill. */
function lines(kind: string): uPlot.Series.PathBuilder {
  const align = { 'steps-before': -1 as const, 'steps-after': 1 as const }[kind];
  const build = align ? uPlot.paths.stepped!({ align }) : uPlot.paths.linear!();
  return (...place) => {
    const found = build(...place);
    return found && { ...found, fill: null };
  };
}

/** When a series has which value, for the legend: an instant once, in order. */
export function table(each: Points): [number[], (number | null)[]] {
  if (each.kind === 'bars') return [[], []];
  const found = new Map<number, number | null>();
  for (const [at, x] of each.x.entries()) found.set(x, Number.isNaN(each.y[at]) ? null : each.y[at]!);
  const places = [...found.keys()].sort((a, b) => a - b);
  return [places, places.map((x) => found.get(x) ?? null)];
}
