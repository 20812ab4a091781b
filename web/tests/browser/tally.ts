/** Counts what a page that shows a run takes in and paints, from outside of its code. */
import type { Page } from 'playwright-core';

export type Tally = {
  /** Samples that the page read from the event stream. */
  samples: number;
  /** Frames in which the map was painted, and those in which charts were. */
  map: number;
  charts: number;
};

declare global {
  interface Window {
    tally: { samples: number; map: Set<unknown>; charts: Set<unknown> };
  }
}

/** Begins to count. What is read and painted goes through these two functions of the browser, whoever calls them. */
export async function count(page: Page): Promise<void> {
  await page.evaluate(() => {
    window.tally = { samples: 0, map: new Set(), charts: new Set() };
    const MARK = 'event: sample\n';
    const { read } = ReadableStreamDefaultReader.prototype;
    let before = '';
    ReadableStreamDefaultReader.prototype.read = async function (this: ReadableStreamDefaultReader) {
      const piece = await read.call(this);
      if (typeof piece.value === 'string') {
        // A mark may lie across two pieces.
        const text = before + piece.value;
        window.tally.samples += text.split(MARK).length - 1;
        before = text.slice(1 - MARK.length);
      }
      return piece;
    } as typeof read;
    const { clearRect } = CanvasRenderingContext2D.prototype;
    CanvasRenderingContext2D.prototype.clearRect = function (...box) {
      // All that is painted in one frame has the same time.
      const where = this.canvas.closest('.charts') ? window.tally.charts : window.tally.map;
      where.add(document.timeline.currentTime);
      return clearRect.apply(this, box);
    };
  });
}

export const tally = (page: Page): Promise<Tally> =>
  page.evaluate(() => ({
    samples: window.tally.samples,
    map: window.tally.map.size,
    charts: window.tally.charts.size,
  }));
