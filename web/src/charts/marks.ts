/** Instants at which something changed, over the whole height of a plot; those that last are shaded. */
import type uPlot from 'uplot';
import type { MarkData } from './data';
import { DOTTED, font, inPixels, type Colour } from './look';

export function drawMarks(plot: uPlot, marks: readonly MarkData[], colour: Colour): void {
  const { ctx, bbox, valToPos } = plot;
  const right = bbox.left + bbox.width;
  ctx.save();
  ctx.lineWidth = devicePixelRatio;
  ctx.font = font(10 * devicePixelRatio);
  ctx.textAlign = 'left';
  ctx.textBaseline = 'top';
  for (const mark of marks) {
    const [at, until] = [valToPos(mark.at, 'x', true), valToPos(mark.until, 'x', true)];
    if (until < bbox.left || at > right) continue;
    ctx.strokeStyle = ctx.fillStyle = colour(mark.colour);
    if (until > at) {
      const first = Math.max(at, bbox.left);
      ctx.globalAlpha = 0.12;
      ctx.fillRect(first, bbox.top, Math.min(until, right) - first, bbox.height);
      ctx.globalAlpha = 1;
    }
    if (at < bbox.left) continue;
    ctx.setLineDash(mark.solid ? [] : inPixels(DOTTED));
    // Whole pixels: a line between two of them would be half as dark.
    const x = Math.round(at) + (Math.round(devicePixelRatio) % 2) / 2;
    ctx.beginPath();
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
    ctx.fillText(mark.label, x + 3 * devicePixelRatio, bbox.top + devicePixelRatio);
  }
  ctx.restore();
}
