/** What lies over or under the series of a panel: levels, feet, the part to look at, words at bars. */
import type uPlot from 'uplot';
import type { FootData, LevelData, PartData, Points } from './data';
import { DASHED, DOTTED, font, inPixels, type Colour } from './look';

/** Lines over the whole panel. */
export function drawLevels(plot: uPlot, levels: readonly LevelData[], colour: Colour): void {
  const { ctx, bbox, valToPos } = plot;
  const [right, bottom] = [bbox.left + bbox.width, bbox.top + bbox.height];
  ctx.save();
  ctx.lineWidth = devicePixelRatio;
  for (const level of levels) {
    ctx.strokeStyle = colour(level.colour);
    ctx.setLineDash(inPixels(level.look === 'dotted' ? DOTTED : DASHED));
    const at = valToPos(level.at, level.along, true);
    ctx.beginPath();
    if (level.along === 'y') {
      if (at < bbox.top || at > bottom) continue;
      ctx.moveTo(bbox.left, at);
      ctx.lineTo(right, at);
    } else {
      if (at < bbox.left || at > right) continue;
      ctx.moveTo(at, bbox.top);
      ctx.lineTo(at, bottom);
    }
    ctx.stroke();
  }
  ctx.restore();
}

/** Crosses at the foot. */
export function drawFeet(plot: uPlot, feet: readonly FootData[], colour: Colour): void {
  const { ctx, bbox, valToPos } = plot;
  const [y, arm] = [bbox.top + bbox.height, 3 * devicePixelRatio];
  ctx.save();
  ctx.lineWidth = devicePixelRatio;
  for (const foot of feet) {
    ctx.strokeStyle = colour(foot.colour);
    ctx.beginPath();
    for (const value of foot.x) {
      const x = valToPos(value, 'x', true);
      if (x < bbox.left || x > bbox.left + bbox.width) continue;
      ctx.moveTo(x - arm, y - arm);
      ctx.lineTo(x + arm, y + arm);
      ctx.moveTo(x - arm, y + arm);
      ctx.lineTo(x + arm, y - arm);
    }
    ctx.stroke();
  }
  ctx.restore();
}

/** A stretch of the x axis that stands out, unless it is all that is shown. */
export function shadePart(plot: uPlot, part: PartData, colour: Colour): void {
  const { ctx, bbox, valToPos } = plot;
  const first = Math.max(valToPos(part.begin, 'x', true), bbox.left);
  const wide = Math.min(valToPos(part.end, 'x', true), bbox.left + bbox.width) - first;
  if (wide <= 0 || wide >= bbox.width) return;
  ctx.save();
  ctx.globalAlpha = 0.15;
  ctx.fillStyle = colour('--muted');
  ctx.fillRect(first, bbox.top, wide, bbox.height);
  ctx.restore();
}

/** The words and the interval of each bar. */
export function drawWords(plot: uPlot, shown: readonly Points[], colour: Colour): void {
  const { ctx, valToPos } = plot;
  ctx.save();
  ctx.font = font(11 * devicePixelRatio);
  ctx.textAlign = 'left';
  ctx.textBaseline = 'middle';
  ctx.fillStyle = ctx.strokeStyle = colour('--ink');
  ctx.lineWidth = 1.5 * devicePixelRatio;
  for (const each of shown) {
    for (const [at, row] of each.y.entries()) {
      const [y, end] = [valToPos(row, 'y', true), valToPos(each.ends?.[at] ?? 0, 'x', true)];
      if (each.begins) {
        ctx.beginPath();
        ctx.moveTo(valToPos(each.begins[at]!, 'x', true), y);
        ctx.lineTo(end, y);
        ctx.stroke();
      }
      const words = each.words?.[at];
      if (words) ctx.fillText(words, end + 5 * devicePixelRatio, y);
    }
  }
  ctx.restore();
}
