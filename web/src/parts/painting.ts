/** What lies under the signs of the map: land, graticule, links. */
import { toDegrees, toPixels, type View } from '../model/layout';
import { WIDTHS } from '../model/load';
import type { Line } from '../model/scene';
import { colour } from '../model/theme.svelte';
import { LAND } from '../model/world';

export function paintWorld(context: CanvasRenderingContext2D, view: View): void {
  context.fillStyle = colour('land');
  for (const ring of LAND) {
    context.beginPath();
    for (let at = 0; at < ring.length; at += 2) {
      const { x, y } = toPixels(view, { x: ring[at]!, y: -ring[at + 1]! });
      if (at === 0) context.moveTo(x, y);
      else context.lineTo(x, y);
    }
    context.closePath();
    context.fill();
  }
}

/** Lines of latitude and longitude, not nearer than 60 pixels. */
export function paintGraticule(
  context: CanvasRenderingContext2D,
  view: View,
  width: number,
  height: number,
): void {
  const spacing = [1, 2, 5, 10, 15, 30].find((degrees) => degrees * view.scale >= 60) ?? 30;
  const [first, last] = [toDegrees(view, { x: 0, y: 0 }), toDegrees(view, { x: width, y: height })];
  context.strokeStyle = colour('grid');
  context.lineWidth = 1;
  context.beginPath();
  const begin = (value: number): number => Math.ceil(value / spacing) * spacing;
  for (let x = begin(Math.max(first.x, -180)); x <= Math.min(last.x, 180); x += spacing) {
    const at = Math.round(x * view.scale + view.x) + 0.5;
    context.moveTo(at, Math.max(0, -90 * view.scale + view.y));
    context.lineTo(at, Math.min(height, 90 * view.scale + view.y));
  }
  for (let y = begin(Math.max(first.y, -90)); y <= Math.min(last.y, 90); y += spacing) {
    const at = Math.round(y * view.scale + view.y) + 0.5;
    context.moveTo(Math.max(0, -180 * view.scale + view.x), at);
    context.lineTo(Math.min(width, 180 * view.scale + view.x), at);
  }
  context.stroke();
}

/** `drawn` on the page Edit; in a run the class of the load, or `unknown`. */
export type LinkLook = { level: number | 'drawn' | 'unknown'; dashed: boolean; chosen: boolean };

/** A link in the colour and width of its load, or thin where it is not known. */
export function paintLink(
  context: CanvasRenderingContext2D,
  line: Line,
  { level, dashed, chosen }: LinkLook,
): void {
  context.beginPath();
  context.moveTo(line.a.x, line.a.y);
  context.quadraticCurveTo(line.bend.x, line.bend.y, line.b.x, line.b.y);
  context.setLineDash(dashed ? [4, 5] : []);
  const thin = level === 'unknown' ? 1 : line.attachment ? 1.25 : 2.5;
  const wide = typeof level === 'number' ? WIDTHS[level]! : thin;
  if (chosen) {
    context.strokeStyle = colour('accent');
    context.globalAlpha = 0.3;
    context.lineWidth = wide + 7;
    context.stroke();
    context.globalAlpha = 1;
  }
  context.lineWidth = typeof level === 'number' && line.attachment ? wide * 0.75 : wide;
  const plain = line.attachment ? 'l0' : 'l2';
  context.strokeStyle = colour(typeof level === 'number' ? `l${level}` : level === 'unknown' ? 'ink' : plain);
  context.stroke();
  context.setLineDash([]);
}
