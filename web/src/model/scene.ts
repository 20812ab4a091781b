/** From the model and a view to what is drawn, in pixels: pure, so that map and tests agree. */
import type { Model, ModelLink, ModelNode } from '../api/translate';
import { FAN, fan, hangs, heading, rings, toPixels, type Point, type View } from './layout';
import { counted } from './units';

export type Dot = {
  id: string;
  node: ModelNode;
  at: Point;
  hangs: boolean;
  outward: Point;
  stands: string[];
};
export type Line = {
  id: string;
  link: ModelLink;
  /** Names of all links that are drawn as this line: those of hosts that one dot stands for. */
  stands: string[];
  a: Point;
  b: Point;
  bend: Point;
  middle: Point;
  attachment: boolean;
};
export type Label = {
  id: string;
  text: string;
  at: Point;
  anchor: 'start' | 'middle' | 'end';
  kind: 'router' | 'switch' | 'host' | 'link';
};
export type Scene = { dots: Dot[]; lines: Line[]; spots: Map<string, Point> };

const RADIUS = 34;
/** Half the width of the sign of a group, with the one behind it. */
const GROUP = 17;

const NONE: ReadonlySet<string> = new Set();

/**
 * Everything at its place. A router with more hosts than a fan holds shows one dot that stands for all of them, unless
 * it is one of `open`.
 */
export function scene(
  model: Model,
  places: ReadonlyMap<string, Point>,
  view: View,
  open: ReadonlySet<string> = NONE,
): Scene {
  const names = new Set(model.nodes.map((node) => node.name));
  const dots: Dot[] = [];
  const at = new Map<string, Point>();
  const hung = new Map<string, ModelNode[]>();
  for (const node of model.nodes) {
    if (hangs(node, names) && node.attach) {
      const others = hung.get(node.attach);
      if (others) others.push(node);
      else hung.set(node.attach, [node]);
    } else {
      const point = toPixels(view, places.get(node.name) ?? { x: 0, y: 0 });
      at.set(node.name, point);
      dots.push({ id: `n:${node.name}`, node, at: point, hangs: false, outward: { x: 0, y: 1 }, stands: [] });
    }
  }
  const beside = new Map<string, Point[]>();
  for (const link of model.links) {
    const [a, b] = [at.get(link.a), at.get(link.b)];
    if (!a || !b) continue;
    for (const [from, to] of [
      [link.a, b],
      [link.b, a],
    ] as const) {
      const others = beside.get(from);
      if (others) others.push(to);
      else beside.set(from, [to]);
    }
  }
  for (const [router, hosts] of hung) {
    const centre = at.get(router);
    if (!centre) continue;
    const away = heading(centre, beside.get(router) ?? []);
    const many = hosts.length > FAN;
    const folded = many && !open.has(router);
    const shown = folded ? hosts.slice(0, 1) : hosts;
    const offsets = many && !folded ? rings(shown.length, RADIUS) : fan(shown.length, away, RADIUS);
    shown.forEach((node, index) => {
      const offset = offsets[index]!;
      const point = { x: centre.x + offset.x, y: centre.y + offset.y };
      const stands = folded ? hosts.map((host) => host.name) : [];
      for (const name of stands.length ? stands : [node.name]) at.set(name, point);
      const far = Math.hypot(offset.x, offset.y);
      const outward = { x: offset.x / far, y: offset.y / far };
      dots.push({ id: `n:${node.name}`, node, at: point, hangs: true, outward, stands });
    });
  }
  const pairs = new Map<string, number>();
  const total = new Map<string, number>();
  const key = (link: ModelLink): string => [link.a, link.b].sort().join(' ');
  for (const link of model.links) total.set(key(link), (total.get(key(link)) ?? 0) + 1);
  const lines: Line[] = [];
  const seen = new Map<string, Line>();
  for (const link of model.links) {
    const [a, b] = [at.get(link.a), at.get(link.b)];
    if (!a || !b) continue;
    const attachment = link.attachment === true;
    const place = `${a.x},${a.y} ${b.x},${b.y}`;
    const before = attachment ? seen.get(place) : undefined;
    if (before) {
      before.stands.push(link.name);
      continue;
    }
    const number = pairs.get(key(link)) ?? 0;
    pairs.set(key(link), number + 1);
    const bow = (number - ((total.get(key(link)) ?? 1) - 1) / 2) * 22 * (link.a <= link.b ? 1 : -1);
    const length = Math.hypot(b.x - a.x, b.y - a.y) || 1;
    const side = { x: -(b.y - a.y) / length, y: (b.x - a.x) / length };
    const half = { x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 };
    const bend = { x: half.x + side.x * bow * 2, y: half.y + side.y * bow * 2 };
    const middle = { x: half.x + side.x * bow, y: half.y + side.y * bow };
    const line = { id: `l:${link.name}`, link, stands: [link.name], a, b, bend, middle, attachment };
    lines.push(line);
    if (attachment) seen.set(place, line);
  }
  const spots = new Map<string, Point>();
  for (const dot of dots) spots.set(dot.id, dot.at);
  for (const line of lines) spots.set(line.id, line.middle);
  return { dots, lines, spots };
}

type Box = { left: number; top: number; right: number; bottom: number };
const meets = (a: Box, b: Box): boolean =>
  a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;

/** Width of a label's text at 12 px, roughly. */
const width = (text: string): number => text.length * 6.9;

/** Whether a line passes through a box. */
function cuts(line: Line, box: Box): boolean {
  const steps = Math.ceil(Math.hypot(line.b.x - line.a.x, line.b.y - line.a.y) / 6);
  for (let at = 0; at <= steps; at++) {
    const t = at / steps;
    const along = (a: number, bend: number, b: number): number =>
      (1 - t) ** 2 * a + 2 * t * (1 - t) * bend + t * t * b;
    const [x, y] = [along(line.a.x, line.bend.x, line.b.x), along(line.a.y, line.bend.y, line.b.y)];
    if (x > box.left && x < box.right && y > box.top && y < box.bottom) return true;
  }
  return false;
}

/** Labels that fit without touching each other or a dot; those in `first` are placed before all others. */
export function labels(
  { dots, lines }: Scene,
  told: (line: Line) => string,
  first: ReadonlySet<string>,
  room: { width: number; height: number },
): Label[] {
  const taken: Box[] = dots.map((dot) => {
    const reach = dot.stands.length ? 12 : dot.hangs ? 6 : 11;
    const beside = dot.stands.length ? GROUP : reach;
    return {
      left: dot.at.x - beside,
      top: dot.at.y - reach,
      right: dot.at.x + beside,
      bottom: dot.at.y + reach,
    };
  });
  const made: Label[] = [];
  const box = (label: Label): Box => {
    const wide = width(label.text);
    const left =
      label.anchor === 'start'
        ? label.at.x
        : label.anchor === 'end'
          ? label.at.x - wide
          : label.at.x - wide / 2;
    return { left: left - 2, top: label.at.y - 11, right: left + wide + 2, bottom: label.at.y + 4 };
  };
  const whole: Box = { left: 0, top: 0, right: room.width, bottom: room.height };
  const crossed = (mine: Box, own: string): boolean =>
    lines.length <= 80 && lines.some((line) => line.id !== own && !line.attachment && cuts(line, mine));
  const offer = (candidates: Label[]): void => {
    const clear = candidates.filter((label) => label.kind !== 'link' || !crossed(box(label), label.id));
    if (candidates[0] && first.has(candidates[0].id)) clear.push(...candidates);
    candidates = clear;
    for (const label of candidates) {
      const mine = box(label);
      if (
        mine.left < whole.left ||
        mine.right > whole.right ||
        mine.top < whole.top ||
        mine.bottom > whole.bottom
      )
        continue;
      if (taken.some((other) => meets(mine, other))) continue;
      taken.push(mine);
      made.push(label);
      return;
    }
  };
  const ofDot = (dot: Dot): Label[] => {
    const text = dot.stands.length ? counted(dot.stands.length, 'host') : dot.node.name;
    const { x, y } = dot.at;
    const kind = dot.node.kind;
    const at = (dx: number, dy: number, anchor: Label['anchor']): Label => ({
      id: dot.id,
      text,
      at: { x: x + dx, y: y + dy },
      anchor,
      kind,
    });
    if (dot.hangs) {
      const [ox, oy] = [dot.outward.x, dot.outward.y];
      const side: Label['anchor'] = ox > 0.35 ? 'start' : ox < -0.35 ? 'end' : 'middle';
      if (dot.stands.length)
        return [
          at(GROUP + 4, 4, 'start'),
          at(-GROUP - 2, 4, 'end'),
          at(0, 24, 'middle'),
          at(0, -17, 'middle'),
        ];
      return [at(ox * 11, oy * 15 + 4, side), at(9, 4, 'start'), at(-9, 4, 'end')];
    }
    return [
      at(0, 25, 'middle'),
      at(0, -15, 'middle'),
      at(14, 4, 'start'),
      at(-14, 4, 'end'),
      at(14, -10, 'start'),
      at(-14, -10, 'end'),
    ];
  };
  const ofLine = (line: Line): Label[] => {
    const length = Math.hypot(line.b.x - line.a.x, line.b.y - line.a.y) || 1;
    const [nx, ny] = [-(line.b.y - line.a.y) / length, (line.b.x - line.a.x) / length];
    const text = told(line);
    const from = (share: number): Point => ({
      x: line.middle.x + (line.b.x - line.a.x) * share,
      y: line.middle.y + (line.b.y - line.a.y) * share,
    });
    return [0, 0.1, -0.1, 0.2, -0.2, 0.3, -0.3].flatMap((share) =>
      [-1, 1].map((side): Label => {
        const upward = ny * side;
        const steep = Math.abs(ny) < 0.5;
        const middle = from(share);
        return {
          id: line.id,
          text,
          kind: 'link',
          at: { x: middle.x + nx * side * 10, y: middle.y + upward * 10 + (steep ? 4 : upward > 0 ? 9 : -1) },
          anchor: steep ? (nx * side > 0 ? 'start' : 'end') : 'middle',
        };
      }),
    );
  };
  const wide = lines.filter((line) => !line.attachment);
  for (const dot of dots) if (first.has(dot.id)) offer(ofDot(dot));
  for (const line of lines) if (first.has(line.id)) offer(ofLine(line));
  for (const dot of dots) if (!dot.hangs && !first.has(dot.id)) offer(ofDot(dot));
  if (wide.length <= 60) for (const line of wide) if (!first.has(line.id)) offer(ofLine(line));
  for (const dot of dots) if (dot.hangs && !first.has(dot.id)) offer(ofDot(dot));
  return made;
}

/** A point near the middle of what is seen, well away from all that is there. */
export function freeSpot(taken: readonly Point[], width: number, height: number): Point {
  const middle = { x: width / 2, y: height / 2 };
  for (let ring = 0; ring < 12; ring++) {
    const turns = Math.max(1, ring * 4);
    for (let turn = 0; turn < turns; turn++) {
      const angle = (turn / turns) * 2 * Math.PI;
      const at = { x: middle.x + ring * 60 * Math.cos(angle), y: middle.y + ring * 40 * Math.sin(angle) };
      if (at.x < 50 || at.y < 40 || at.x > width - 50 || at.y > height - 40) continue;
      if (taken.every((other) => Math.hypot(other.x - at.x, other.y - at.y) > 90)) return at;
    }
  }
  return middle;
}

/** A link's line as a path of SVG. */
export const curve = (line: Line): string =>
  `M${line.a.x} ${line.a.y}Q${line.bend.x} ${line.bend.y} ${line.b.x} ${line.b.y}`;

/** A dot in words. */
export const about = ({ node, stands }: Dot): string =>
  stands.length
    ? `${counted(stands.length, 'host')} at ${node.attach}`
    : `${node.kind} ${node.name}${node.attach ? `, attached to ${node.attach}` : ''}`;

/** A line's name: that of its link, or of how many links it stands for. */
export const nameOf = ({ link, stands }: Line): string =>
  stands.length > 1 ? `${stands.length} hosts at ${link.b}` : link.name;
