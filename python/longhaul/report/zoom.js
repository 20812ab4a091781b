// Draws figures anew from their points, so that one can drag into them. Without this script, and in print,
// the drawings stay.
(() => {
  const root = document.documentElement;
  const colour = (name) => getComputedStyle(root).getPropertyValue(name).trim();
  const plots = [];
  let moving = false;

  /** All panels of a figure show the same stretch of time. */
  function together(mine, others) {
    if (moving) return;
    moving = true;
    const { min, max } = mine.scales.x;
    for (const each of others) if (each !== mine) each.setScale('x', { min, max });
    moving = false;
  }

  function levels(panel) {
    return (plot) => {
      const { ctx, bbox } = plot;
      ctx.save();
      ctx.lineWidth = devicePixelRatio;
      for (const level of panel.levels) {
        const y = plot.valToPos(level.y, 'y', true);
        if (y < bbox.top || y > bbox.top + bbox.height) continue;
        ctx.strokeStyle = colour(level.colour);
        ctx.setLineDash(level.dashed ? [5 * devicePixelRatio, 4 * devicePixelRatio] : []);
        ctx.beginPath();
        ctx.moveTo(bbox.left, y);
        ctx.lineTo(bbox.left + bbox.width, y);
        ctx.stroke();
      }
      ctx.setLineDash([]);
      for (const foot of panel.feet) {
        const y = bbox.top + bbox.height;
        const arm = 3 * devicePixelRatio;
        ctx.strokeStyle = colour(foot.colour);
        ctx.beginPath();
        for (const value of foot.x) {
          const x = plot.valToPos(value, 'x', true);
          if (x < bbox.left || x > bbox.left + bbox.width) continue;
          ctx.moveTo(x - arm, y - arm);
          ctx.lineTo(x + arm, y + arm);
          ctx.moveTo(x - arm, y + arm);
          ctx.lineTo(x + arm, y - arm);
        }
        ctx.stroke();
      }
      ctx.restore();
    };
  }

  /** Instants at which something changed, over the whole height; those that last are shaded. */
  const marks =
    (all) =>
    ({ ctx, bbox, valToPos }) => {
      const right = bbox.left + bbox.width;
      ctx.save();
      ctx.lineWidth = devicePixelRatio;
      ctx.font = `${10 * devicePixelRatio}px system-ui, "DejaVu Sans", sans-serif`;
      ctx.textBaseline = 'top';
      ctx.textAlign = 'left';
      for (const each of all) {
        const [at, until] = [each.at, each.until].map((time) => valToPos(time, 'x', true));
        if (until < bbox.left || at > right) continue;
        ctx.strokeStyle = ctx.fillStyle = colour(each.colour);
        if (until > at) {
          const first = Math.max(at, bbox.left);
          ctx.globalAlpha = 0.12;
          ctx.fillRect(first, bbox.top, Math.min(until, right) - first, bbox.height);
          ctx.globalAlpha = 1;
        }
        if (at < bbox.left) continue;
        ctx.setLineDash(each.solid ? [] : [1, 2].map((length) => length * devicePixelRatio));
        // Whole pixels: a line between two of them would be half as dark.
        const x = Math.round(at) + (Math.round(devicePixelRatio) % 2) / 2;
        ctx.beginPath();
        ctx.moveTo(x, bbox.top);
        ctx.lineTo(x, bbox.top + bbox.height);
        ctx.stroke();
        ctx.fillText(each.label, x + 3 * devicePixelRatio, bbox.top + devicePixelRatio);
      }
      ctx.restore();
    };

  /** A stretch of time that stands out. */
  const shade =
    ([from, to]) =>
    ({ ctx, bbox, valToPos }) => {
      const [left, right] = [from, to].map((at) => valToPos(at, 'x', true));
      const first = Math.max(left, bbox.left);
      const wide = Math.min(right, bbox.left + bbox.width) - first;
      if (wide <= 0 || wide >= bbox.width) return;
      ctx.save();
      ctx.globalAlpha = 0.15;
      ctx.fillStyle = colour('--muted');
      ctx.fillRect(first, bbox.top, wide, bbox.height);
      ctx.restore();
    };

  function series(each, name) {
    const stepped = { before: -1, after: 1 }[each.draw];
    const dots = each.draw === 'dots';
    return {
      label: each.label || name,
      stroke: () => colour(each.colour),
      width: 1.3,
      dash: each.dashed ? [5, 4] : undefined,
      spanGaps: each.draw !== 'line',
      paths: dots ? () => null : stepped ? uPlot.paths.stepped({ align: stepped }) : uPlot.paths.linear(),
      points: dots ? { show: true, size: 3.5, width: 0, fill: () => colour(each.colour) } : { show: false },
      value: (_, value) => (value == null ? '' : String(Number(value.toPrecision(4)))),
    };
  }

  function axis(label, more) {
    return {
      stroke: () => colour('--muted'),
      grid: { stroke: () => colour('--grid'), width: 1 },
      ticks: { stroke: () => colour('--grid'), width: 1, size: 4 },
      font: '12px system-ui, "DejaVu Sans", sans-serif',
      labelFont: '12px system-ui, "DejaVu Sans", sans-serif',
      label,
      labelSize: label ? 18 : 0,
      ...more,
    };
  }

  function noted(text) {
    const note = document.createElement('p');
    note.className = 'note';
    note.textContent = text;
    return note;
  }

  function panel(told, place, figure, mine) {
    const box = figure.appendChild(document.createElement('div'));
    const head = box.appendChild(document.createElement('div'));
    head.className = 'head';
    head.appendChild(document.createElement('b')).textContent = told.panels[place].title;
    const shown = told.panels[place];
    const flow = shown.scale ? shown.series.map((each) => sequences.unpacked(each, shown.scale)) : null;
    const tables = flow ? flow.map(sequences.table) : shown.series.map((each) => [told.xs[each.x], each.y]);
    const look = (each) =>
      flow ? sequences.series(each, colour) : series(each, shown.y.replace(/ *\[.*/, ''));
    const last = place === told.panels.length - 1;
    const part = shown.part && head.appendChild(document.createElement('button'));
    const isWhole = ({ min, max }) => min === told.reach[0] && max === told.reach[1];
    const moved = (plot) => {
      together(plot, mine);
      if (part) part.textContent = isWhole(plot.scales.x) ? `Show ${shown.part_is}` : 'Show all of it';
    };
    const plot = new uPlot(
      {
        width: Math.max(box.clientWidth, 200),
        height: (flow ? 280 : 140) + (last ? 30 : 0),
        scales: {
          x: { time: false, auto: false, min: told.reach[0], max: told.reach[1] },
          y: {
            range: (plot, least, most) => {
              if (flow) return sequences.reach(plot, flow);
              if (least == null) return [0, 1];
              const room = (most - (shown.from_zero ? 0 : least) || Math.abs(most) || 1) * 0.06;
              return [shown.from_zero ? 0 : least - room, most + room];
            },
          },
        },
        series: [
          {
            label: told.x,
            value: (_, x) => (x == null ? '' : String(Number(x.toPrecision(flow ? 9 : 6)))),
          },
        ].concat((flow ?? shown.series).map(look)),
        axes: [
          axis(last ? told.x : '', { size: 26, values: (_, ticks) => ticks.map(short) }),
          axis(shown.y, {
            size: (_, ticks) =>
              Math.max(52, 14 + 7 * Math.max(...(ticks ?? ['']).map((each) => each.length))),
            space: 26,
            values: (_, ticks) => ticks.map(short),
          }),
        ],
        cursor: {
          sync: { key: mine.key, scales: ['x', null] },
          drag: { x: true, y: false },
          bind: {
            dblclick: (plot) => () => {
              plot.setScale('x', { min: told.reach[0], max: told.reach[1] });
              return null;
            },
          },
          points: flow ? { show: false } : { size: 6 },
        },
        legend: {
          mount: (_, table) => head.appendChild(table),
          markers: { width: 0, fill: marker(shown) },
        },
        hooks: {
          setScale: [(plot, key) => key === 'x' && moved(plot)],
          draw: [levels(shown), marks(shown.marks ?? []), ...(part ? [shade(shown.part)] : [])],
        },
      },
      tables.length ? uPlot.join(tables) : [[0, 1]],
      box,
    );
    part?.addEventListener('click', () => {
      const [min, max] = isWhole(plot.scales.x) ? shown.part : told.reach;
      plot.setScale('x', { min, max });
    });
    if (shown.note) box.appendChild(noted(shown.note));
    mine.push(plot);
    plots.push({ plot, box });
  }

  const marker = (shown) => (_, number) => (number ? colour(shown.series[number - 1].colour) : 'transparent');
  const short = (value) =>
    Math.abs(value) >= 1e5 ? value.toExponential(0) : String(Number(value.toPrecision(9)));

  document.querySelectorAll('script.points').forEach((points, number) => {
    const told = JSON.parse(points.textContent);
    const figure = points.closest('figure');
    const drawn = document.createElement('div');
    drawn.className = 'plots';
    drawn.setAttribute('role', told.panels.some((each) => each.part) ? 'group' : 'img');
    drawn.setAttribute('aria-label', figure.querySelector('svg').getAttribute('aria-label'));
    points.before(drawn);
    figure.classList.add('drawn');
    const mine = Object.assign([], { key: `figure${number}` });
    if (told.note) drawn.appendChild(noted(told.note));
    told.panels.forEach((_, place) => panel(told, place, drawn, mine));
    const hint = document.createElement('span');
    hint.className = 'hint';
    hint.textContent = ' Drag to zoom, double click to go back.';
    figure.querySelector('figcaption').append(hint);
  });

  new ResizeObserver(() => {
    for (const { plot, box } of plots) {
      if (box.clientWidth && box.clientWidth !== plot.width) {
        plot.setSize({ width: box.clientWidth, height: plot.height });
      }
    }
  }).observe(document.querySelector('main'));
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => {
    for (const { plot } of plots) plot.redraw(false);
  });
})();
