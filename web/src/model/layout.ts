/** Where things are drawn: degrees for nodes, pixels for what hangs on them. */
import type { ModelLink, ModelNode } from '../api/translate';

/** East and south, in degrees of an equirectangular map: x is the longitude, y the negated latitude. */
export type Point = { x: number; y: number };

/** Pixels are (degrees * scale) + offset. */
export type View = { scale: number; x: number; y: number };

/** Attached hosts are drawn around their router up to this number, and as one sign beyond it. */
export const FAN = 8;

/** Hosts of an opened group are so far from each other. */
const RING_PX = 18;

export const onMap = (at: [number, number]): Point => ({ x: at[1], y: -at[0] });

/** Latitude and longitude with two digits: about a kilometre. */
export const coordinates = (point: Point): [number, number] => {
  const round = (value: number): number => Math.round(value * 100) / 100 + 0;
  const clamp = (value: number, limit: number): number => Math.max(-limit, Math.min(limit, value));
  return [round(clamp(-point.y, 90)), round(clamp(point.x, 180))];
};

/**
 * A place for each of `names` that has no place of its own: what is linked lies near, all else apart
 * (Fruchterman and Reingold 1991, from a circle, without chance). About 120 degrees wide and 60 high.
 */
export function free(
  names: readonly string[],
  links: readonly (readonly [string, string])[],
): Map<string, Point> {
  const count = names.length;
  const index = new Map(names.map((name, at) => [name, at]));
  const x = names.map((_, at) => -Math.cos((2 * Math.PI * at) / Math.max(count, 1)));
  const y = names.map((_, at) => -Math.sin((2 * Math.PI * at) / Math.max(count, 1)));
  const pairs = links
    .map(([a, b]) => [index.get(a), index.get(b)] as const)
    .filter((pair): pair is readonly [number, number] => pair[0] !== undefined && pair[1] !== undefined);
  const ideal = Math.sqrt(4 / Math.max(count, 1));
  const rounds = count <= 2 ? 0 : count > 300 ? 60 : 160;
  for (let round = 0; round < rounds; round++) {
    const dx = new Float64Array(count);
    const dy = new Float64Array(count);
    for (let a = 0; a < count; a++)
      for (let b = a + 1; b < count; b++) {
        const [ux, uy] = [x[a]! - x[b]!, y[a]! - y[b]!];
        const push = (ideal * ideal) / Math.max(ux * ux + uy * uy, 1e-6);
        dx[a]! += ux * push;
        dy[a]! += uy * push;
        dx[b]! -= ux * push;
        dy[b]! -= uy * push;
      }
    for (const [a, b] of pairs) {
      const [ux, uy] = [x[a]! - x[b]!, y[a]! - y[b]!];
      const pull = Math.hypot(ux, uy) / ideal;
      dx[a]! -= ux * pull;
      dy[a]! -= uy * pull;
      dx[b]! += ux * pull;
      dy[b]! += uy * pull;
    }
    const warmth = 0.2 * (1 - round / rounds);
    for (let a = 0; a < count; a++) {
      const length = Math.hypot(dx[a]!, dy[a]!);
      if (length === 0) continue;
      const step = Math.min(length, warmth) / length;
      x[a]! += dx[a]! * step;
      y[a]! += dy[a]! * step;
    }
  }
  const span = (values: number[]): [number, number] => [Math.min(...values), Math.max(...values)];
  const [left, right] = span(x);
  const [top, bottom] = span(y);
  const stretch = (value: number, low: number, high: number, width: number): number =>
    high - low < 1e-9 ? 0 : ((value - low) / (high - low) - 0.5) * width;
  return new Map(
    names.map((name, at) => [
      name,
      { x: stretch(x[at]!, left, right, 120), y: stretch(y[at]!, top, bottom, 60) },
    ]),
  );
}

/**
 * A place for every node that is not merely attached. Nodes with coordinates are where these say; others stay where
 * `before` had them, come near a neighbour that has a place, or are laid out freely.
 */
export function place(
  nodes: readonly ModelNode[],
  links: readonly ModelLink[],
  before: ReadonlyMap<string, Point>,
): Map<string, Point> {
  const names = new Set(nodes.map((node) => node.name));
  const alone = nodes.filter((node) => !hangs(node, names));
  const places = new Map<string, Point>();
  const open: string[] = [];
  for (const node of alone) {
    const known = node.at ? onMap(node.at) : (before.get(node.name) ?? spotted(node));
    if (known) places.set(node.name, known);
    else open.push(node.name);
  }
  if (open.length === 0) return places;
  const pairs = links.map((link) => [link.a, link.b] as const);
  if (places.size === 0) return free(open, pairs);
  let turn = 0;
  for (const name of open) {
    const near = pairs
      .flatMap(([a, b]) => (a === name ? [places.get(b)] : b === name ? [places.get(a)] : []))
      .find(Boolean);
    const from = near ?? mean([...places.values()]);
    const reach = 8 + 2 * Math.floor(turn / 6);
    const angle = (turn++ * 2 * Math.PI) / 6 + Math.PI / 6;
    places.set(name, { x: from.x + reach * Math.cos(angle), y: from.y + reach * Math.sin(angle) });
  }
  return places;
}

/** A topology's own drawing, 120 degrees wide and 60 high. */
const spotted = (node: ModelNode): Point | undefined =>
  node.spot ? { x: (node.spot[0] - 0.5) * 120, y: (0.5 - node.spot[1]) * 60 } : undefined;

/** Whether a node is drawn around the router that it is attached to. */
export const hangs = (node: ModelNode, names: ReadonlySet<string>): boolean =>
  node.attach !== null && node.attach !== undefined && !node.at && names.has(node.attach);

const mean = (points: Point[]): Point => ({
  x: points.reduce((sum, point) => sum + point.x, 0) / points.length,
  y: points.reduce((sum, point) => sum + point.y, 0) / points.length,
});

/**
 * Offsets in pixels of `count` hosts around a router: an arc that begins opposite to `away`, the direction (radians) in
 * which the router's links leave.
 */
export function fan(count: number, away: number, radius: number): Point[] {
  const step = Math.min(0.62, (2 * Math.PI) / Math.max(count, 1));
  return Array.from({ length: count }, (_, at) => {
    const angle = away + Math.PI + (at - (count - 1) / 2) * step;
    return { x: radius * Math.cos(angle), y: radius * Math.sin(angle) };
  });
}

/** Offsets in pixels of `count` hosts around a router in rings, from the inside; for more than a fan shows. */
export function rings(count: number, radius: number): Point[] {
  const offsets: Point[] = [];
  for (let ring = 0; offsets.length < count; ring++) {
    const far = radius + ring * RING_PX;
    const room = Math.min(Math.floor((2 * Math.PI * far) / RING_PX), count - offsets.length);
    for (let at = 0; at < room; at++) {
      const angle = (2 * Math.PI * at) / room - Math.PI / 2;
      offsets.push({ x: far * Math.cos(angle), y: far * Math.sin(angle) });
    }
  }
  return offsets;
}

/** The middle of the directions in which `links` leave a point; down if there are none. */
export function heading(from: Point, to: readonly Point[]): number {
  let [x, y] = [0, 0];
  for (const each of to) {
    const length = Math.hypot(each.x - from.x, each.y - from.y);
    if (length > 0) {
      x += (each.x - from.x) / length;
      y += (each.y - from.y) / length;
    }
  }
  return Math.hypot(x, y) < 1e-6 ? (to.length ? 0 : -Math.PI / 2) : Math.atan2(y, x);
}

/** A view in which all points lie within `width` and `height` less a margin; no closer than `most` pixels a degree. */
export function fit(points: readonly Point[], width: number, height: number, margin = 70, most = 48): View {
  const corners = points.length
    ? points
    : [
        { x: -150, y: -70 },
        { x: 150, y: 60 },
      ];
  const [left, right] = [Math.min(...corners.map((p) => p.x)), Math.max(...corners.map((p) => p.x))];
  const [top, bottom] = [Math.min(...corners.map((p) => p.y)), Math.max(...corners.map((p) => p.y))];
  const room = (length: number, extent: number): number =>
    Math.max(length - 2 * margin, 20) / Math.max(extent, 1e-6);
  const scale = Math.min(room(width, right - left), room(height, bottom - top), most);
  return { scale, x: width / 2 - ((left + right) / 2) * scale, y: height / 2 - ((top + bottom) / 2) * scale };
}

export const toPixels = (view: View, point: Point): Point => ({
  x: point.x * view.scale + view.x,
  y: point.y * view.scale + view.y,
});

export const toDegrees = (view: View, pixels: Point): Point => ({
  x: (pixels.x - view.x) / view.scale,
  y: (pixels.y - view.y) / view.scale,
});

/** The view that is `factor` closer and keeps the point under `pixels` where it is. */
export function zoom(view: View, factor: number, pixels: Point): View {
  const scale = Math.max(0.4, Math.min(400, view.scale * factor));
  const held = toDegrees(view, pixels);
  return { scale, x: pixels.x - held.x * scale, y: pixels.y - held.y * scale };
}

export type Arrow = 'ArrowLeft' | 'ArrowRight' | 'ArrowUp' | 'ArrowDown';

/** The name to which an arrow key leads from `from`: the nearest that lies more in that direction than beside it. */
export function neighbour(places: ReadonlyMap<string, Point>, from: string, arrow: Arrow): string | null {
  const here = places.get(from);
  if (!here) return null;
  let best: string | null = null;
  let least = Infinity;
  for (const [name, there] of places) {
    if (name === from) continue;
    const [dx, dy] = [there.x - here.x, there.y - here.y];
    const [along, aside] =
      arrow === 'ArrowLeft'
        ? [-dx, dy]
        : arrow === 'ArrowRight'
          ? [dx, dy]
          : arrow === 'ArrowUp'
            ? [-dy, dx]
            : [dy, dx];
    if (along <= 0 || Math.abs(aside) > 2.2 * along) continue;
    const cost = along + 1.5 * Math.abs(aside);
    if (cost < least) [best, least] = [name, cost];
  }
  return best;
}

/** The first of a, b, ..., z, a2, b2, ... that is free; hosts of a router are `router1`, `router2`, ... */
export function freeSite(taken: ReadonlySet<string>): string {
  for (let round = 1; ; round++)
    for (const letter of 'abcdefghijklmnopqrstuvwxyz') {
      const name = round === 1 ? letter : `${letter}${letter}${round}`;
      if (!taken.has(name)) return name;
    }
}

export function freeHost(taken: ReadonlySet<string>, router: string): string {
  for (let number = 1; ; number++) if (!taken.has(`${router}${number}`)) return `${router}${number}`;
}

/** A name such as `base`, or `base-2` and so on. */
export function freeName(taken: ReadonlySet<string>, base: string): string {
  if (!taken.has(base)) return base;
  for (let number = 2; ; number++) if (!taken.has(`${base}-${number}`)) return `${base}-${number}`;
}
