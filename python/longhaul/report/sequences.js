// Time/sequence graphs for zoom.js: strokes from the first byte of a segment to its last, and stairs of what
// was acknowledged and allowed.
const sequences = (() => {
  /** Columns hold what is added from row to row, in us and bytes; here they are in s and the unit of the axis. */
  function unpacked(each, scale) {
    const [after] = each.columns;
    const begin = new Float64Array(after.length);
    const end = new Float64Array(after.length);
    const low = new Float64Array(after.length);
    const high = new Float64Array(after.length);
    let at = 0;
    let bytes = 0;
    for (let row = 0; row < after.length; row += 1) {
      at += after[row];
      begin[row] = at / 1e6;
      if (each.draw === 'stairs') {
        bytes += each.columns[1][row];
        low[row] = bytes / scale;
      } else {
        const [, took, skipped, size] = each.columns;
        end[row] = (at + took[row]) / 1e6;
        low[row] = (bytes + skipped[row]) / scale;
        bytes += skipped[row] + size[row];
      }
      high[row] = bytes / scale;
    }
    return { ...each, begin, end: each.draw === 'stairs' ? begin : end, low, high };
  }

  /** The first row that begins later. */
  function after(begin, at) {
    let [from, to] = [0, begin.length];
    while (from < to) {
      const middle = (from + to) >> 1;
      if (begin[middle] > at) to = middle;
      else from = middle + 1;
    }
    return from;
  }

  function drawn(plot, each) {
    const x = (value) => plot.valToPos(value, 'x', true);
    const y = (value) => plot.valToPos(value, 'y', true);
    const { min, max } = plot.scales.x;
    const path = new Path2D();
    const marks = new Path2D();
    const until = after(each.begin, max);
    if (each.draw === 'stairs') {
      const first = Math.max(after(each.begin, min) - 1, 0);
      for (let row = first; row < until; row += 1) {
        const at = x(Math.max(each.begin[row], min));
        if (row === first) path.moveTo(at, y(each.high[row]));
        else path.lineTo(at, y(each.high[row - 1]));
        path.lineTo(at, y(each.high[row]));
      }
      if (until > first) path.lineTo(x(max), y(each.high[until - 1]));
      return { stroke: path, fill: marks };
    }
    const arm = 2.5 * devicePixelRatio;
    for (let row = 0; row < until; row += 1) {
      if (each.end[row] < min) continue;
      const [at, top] = [x(each.begin[row]), y(each.high[row])];
      path.moveTo(at, y(each.low[row]));
      path.lineTo(x(each.end[row]), top);
      if (each.marked) {
        marks.moveTo(at - arm, top - arm * 1.6);
        marks.lineTo(at + arm, top - arm * 1.6);
        marks.lineTo(at, top);
        marks.closePath();
      }
    }
    return { stroke: path, fill: marks };
  }

  function series(each, colour) {
    const told = each.draw === 'stairs' || each.label === 'segment';
    return {
      label: each.label,
      class: told ? null : 'silent',
      stroke: () => colour(each.colour),
      fill: () => colour(each.colour),
      width: each.width,
      cap: 'round',
      points: { show: false },
      paths: (plot) => drawn(plot, each),
      value: (plot, _, __, index) => {
        if (!told || index == null) return '';
        const row = after(each.begin, plot.data[0][index]) - 1;
        return row < 0 ? '' : String(Number(each.high[row].toPrecision(8)));
      },
    };
  }

  /** How low and how high what was sent and acknowledged in view goes; the window may be far above. */
  function reach(plot, shown) {
    // The scale of x is still the one before.
    const [min, max] = plot.series[0].idxs.map((index) => plot.data[0][index]);
    let [low, high] = [Infinity, -Infinity];
    for (const each of shown) {
      if (each.label === 'end of the window' || each.label === 'SACK') continue;
      const until = after(each.begin, max);
      for (let row = Math.max(after(each.begin, min) - 1, 0); row < until; row += 1) {
        if (each.draw !== 'stairs' && each.end[row] < min) continue;
        low = Math.min(low, each.low[row]);
        high = Math.max(high, each.high[row]);
      }
    }
    if (low > high) return [0, 1];
    const room = high - low || high || 1;
    return [low - 0.05 * room, high + 0.25 * room];
  }

  /** When something is drawn, and how high, for the legend; an instant once. */
  function table(each) {
    const found = new Map(Array.from(each.begin, (at, row) => [at, each.high[row]]));
    return [[...found.keys()], [...found.values()]];
  }

  return { unpacked, series, reach, table };
})();
