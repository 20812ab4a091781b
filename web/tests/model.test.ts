import { expect, test } from 'vitest';
import { check, NO_MODEL, oneLine, type Model, type ModelLink, type ModelNode } from '../src/api/translate';
import type { SweepCell } from '../src/api/answers/files';
import { grids, horizon } from '../src/model/figures';
import { begin, DEPTH, record, redo, undo } from '../src/model/history';
import {
  coordinates,
  fan,
  fit,
  free,
  freeHost,
  freeName,
  freeSite,
  heading,
  neighbour,
  place,
  toDegrees,
  toPixels,
  zoom,
} from '../src/model/layout';
import { step } from '../src/model/load';
import { atLine, byLine, offsetOf, sectionAt } from '../src/model/problems';
import { Recorded, Ring } from '../src/model/ring';
import { labels, scene } from '../src/model/scene';
import { asList, items, runsOf } from '../src/model/sweeping';

const node = (name: string, more: Partial<ModelNode> = {}): ModelNode => ({
  name,
  kind: 'router',
  at: null,
  spot: null,
  attach: null,
  attach_link: null,
  path: ['nodes', name],
  written: true,
  line: null,
  text: {},
  range: null,
  function: null,
  profile: null,
  addresses: [],
  congestion_control: null,
  ...more,
});
const way = { delay_ns: 1e7, rate_bits_per_s: 1e8, loss: 0, queue: null };
const link = (a: string, b: string, more: Partial<ModelLink> = {}): ModelLink => ({
  name: `${a}-${b}`,
  a,
  b,
  attachment: false,
  path: ['links', `${a}-${b}`],
  written: true,
  line: null,
  profile: null,
  mtu: null,
  text: {},
  forward: way,
  reverse: way,
  rtt_ns: 2e7,
  bdp_bytes: 250_000,
  ...more,
});
const model = (nodes: ModelNode[], links: ModelLink[]): Model => ({
  ...NO_MODEL,
  nodes,
  links,
});

test('undo goes back, redo forth, and a new step forgets what was undone', () => {
  let history = record(record(begin('a'), 'b'), 'c');
  history = undo(history);
  expect(history.now).toBe('b');
  expect(redo(history).now).toBe('c');
  expect(redo(record(history, 'd')).now).toBe('d');
  expect(undo(begin('a')).now).toBe('a');
});

test('typing in one place is one step, until something else happens', () => {
  const typed = record(record(record(begin(''), 'h', 'typing'), 'he', 'typing'), 'hel', 'typing');
  expect(undo(typed).now).toBe('');
  const mixed = record(record(typed, 'node added'), 'node added!', 'typing');
  expect(undo(mixed).now).toBe('node added');
});

test('history is bounded', () => {
  let history = begin('0');
  for (let at = 1; at <= DEPTH + 50; at++) history = record(history, String(at));
  expect(history.past.length).toBe(DEPTH);
});

test('two free nodes lie side by side, and neighbours nearer than strangers', () => {
  const two = free(['a', 'b'], [['a', 'b']]);
  expect(two.get('a')!.y).toBeCloseTo(two.get('b')!.y);
  expect(two.get('a')!.x).toBeLessThan(two.get('b')!.x);
  const chain = ['a', 'b', 'c', 'd', 'e', 'f'];
  const places = free(
    chain,
    chain.slice(1).map((name, at) => [chain[at]!, name] as const),
  );
  const apart = (a: string, b: string): number =>
    Math.hypot(places.get(a)!.x - places.get(b)!.x, places.get(a)!.y - places.get(b)!.y);
  expect(apart('a', 'b')).toBeLessThan(apart('a', 'f'));
});

test('the free layout is the same every time', () => {
  const names = Array.from({ length: 30 }, (_, at) => `n${at}`);
  const pairs = names.slice(1).map((name, at) => [names[Math.floor(at / 2)]!, name] as const);
  expect([...free(names, pairs)]).toEqual([...free(names, pairs)]);
});

test('coordinates win over places of before, and these over a new layout', () => {
  const nodes = [node('a', { at: [48.85, 2.35] }), node('b'), node('c', { kind: 'host', attach: 'a' })];
  const places = place(nodes, [link('a', 'b')], new Map([['b', { x: 7, y: 8 }]]));
  expect(places.get('a')).toEqual({ x: 2.35, y: -48.85 });
  expect(places.get('b')).toEqual({ x: 7, y: 8 });
  expect(places.has('c')).toBe(false);
});

test('a new node comes near the one that it is linked with', () => {
  const places = place(
    [node('a', { at: [0, 0] }), node('z', { at: [0, 150] }), node('b')],
    [link('b', 'z')],
    new Map(),
  );
  expect(Math.abs(places.get('b')!.x - 150)).toBeLessThan(20);
});

test("pixels and degrees are each other's inverse, and zooming holds a point", () => {
  const view = fit(
    [
      { x: -74, y: -40 },
      { x: 5, y: -52 },
    ],
    800,
    600,
  );
  const back = toDegrees(view, toPixels(view, { x: 12, y: 34 }));
  expect(back.x).toBeCloseTo(12);
  expect(back.y).toBeCloseTo(34);
  const closer = zoom(view, 2, { x: 100, y: 200 });
  expect(toDegrees(closer, { x: 100, y: 200 }).x).toBeCloseTo(toDegrees(view, { x: 100, y: 200 }).x);
  expect(coordinates({ x: 2.3456, y: -48.8512 })).toEqual([48.85, 2.35]);
  expect(coordinates({ x: 500, y: -500 })).toEqual([90, 180]);
});

test('all nodes fit within the margins', () => {
  const points = [
    { x: -74, y: -40 },
    { x: 5, y: -52 },
    { x: 140, y: 30 },
  ];
  const view = fit(points, 800, 600, 70);
  for (const point of points) {
    const { x, y } = toPixels(view, point);
    expect(x).toBeGreaterThanOrEqual(69.9);
    expect(x).toBeLessThanOrEqual(730.1);
    expect(y).toBeGreaterThanOrEqual(69.9);
    expect(y).toBeLessThanOrEqual(530.1);
  }
});

test('hosts fan out on the side away from the links', () => {
  const away = heading({ x: 0, y: 0 }, [{ x: 10, y: 0 }]);
  for (const host of fan(3, away, 30)) expect(host.x).toBeLessThan(0);
});

test('arrow keys lead to the nearest that lies in their direction', () => {
  const places = new Map([
    ['a', { x: 0, y: 0 }],
    ['b', { x: 10, y: 1 }],
    ['c', { x: 30, y: 0 }],
    ['d', { x: 0, y: 20 }],
  ]);
  expect(neighbour(places, 'a', 'ArrowRight')).toBe('b');
  expect(neighbour(places, 'b', 'ArrowRight')).toBe('c');
  expect(neighbour(places, 'a', 'ArrowDown')).toBe('d');
  expect(neighbour(places, 'a', 'ArrowLeft')).toBeNull();
});

test('new names are free', () => {
  expect(freeSite(new Set(['a', 'b']))).toBe('c');
  expect(freeSite(new Set('abcdefghijklmnopqrstuvwxyz'))).toBe('aa2');
  expect(freeHost(new Set(['a1', 'a3']), 'a')).toBe('a2');
  expect(freeName(new Set(['probe', 'probe-2']), 'probe')).toBe('probe-3');
});

test('loads have six steps', () => {
  expect([null, 0, 0.005, 0.01, 0.3, 0.6, 0.8, 0.9, 1.2].map(step)).toEqual([0, 0, 0, 1, 2, 3, 4, 5, 5]);
});

test('many hosts of one router are one sign', () => {
  const hosts = Array.from({ length: 20 }, (_, at) => node(`a${at + 1}`, { kind: 'host', attach: 'a' }));
  const drawn = scene(
    model(
      [node('a', { at: [0, 0] }), ...hosts],
      hosts.map((host) => link(host.name, 'a', { attachment: true })),
    ),
    new Map([['a', { x: 0, y: 0 }]]),
    { scale: 1, x: 0, y: 0 },
  );
  expect(drawn.dots.length).toBe(2);
  expect(drawn.lines.length).toBe(1);
});

test('no two labels touch', () => {
  const nodes = Array.from({ length: 12 }, (_, at) =>
    node(`router-${at}`, { at: [(at % 4) * 10, Math.floor(at / 4) * 10] }),
  );
  const links = nodes.slice(1).map((each, at) => link(nodes[at]!.name, each.name));
  const places = place(nodes, links, new Map());
  const drawn = scene(model(nodes, links), places, fit([...places.values()], 700, 500));
  const made = labels(drawn, () => '10 ms · 100 Mbit/s', new Set(), { width: 700, height: 500 });
  const box = (at: number): number[] => {
    const { text, at: point, anchor } = made[at]!;
    const wide = text.length * 6.9;
    const left = anchor === 'start' ? point.x : anchor === 'end' ? point.x - wide : point.x - wide / 2;
    return [left, point.y - 11, left + wide, point.y + 4];
  };
  for (let a = 0; a < made.length; a++)
    for (let b = 0; b < a; b++) {
      const [p, q] = [box(a), box(b)];
      expect(p[0]! < q[2]! && q[0]! < p[2]! && p[1]! < q[3]! && q[1]! < p[3]!).toBe(false);
    }
  expect(made.length).toBeGreaterThan(12);
});

test('parallel links bend apart', () => {
  const drawn = scene(
    model(
      [node('a', { at: [0, 0] }), node('b', { at: [0, 10] })],
      [link('a', 'b'), link('a', 'b', { name: 'second' })],
    ),
    new Map([
      ['a', { x: 0, y: 0 }],
      ['b', { x: 10, y: 0 }],
    ]),
    { scale: 10, x: 0, y: 0 },
  );
  expect(drawn.lines[0]!.middle.y).toBeCloseTo(-drawn.lines[1]!.middle.y);
  expect(drawn.lines[0]!.middle.y).not.toBeCloseTo(0);
});

test('a ring keeps the last samples and refuses those that come twice', () => {
  const ring = new Ring(['x'], ['p'], 3);
  for (const t of [1, 2, 2, 3, 4])
    ring.push(t * 1e9, [[t * 10, t / 10, null, 0, null, 1, 0.05, 0, 0, 0]], [t * 1000]);
  expect(ring.seconds()).toEqual([2, 3, 4]);
  expect(ring.link(0, 'forward', 'bits_per_s')).toEqual([20, 30, 40]);
  expect(ring.link(0, 'forward', 'queue_delay_ns')).toEqual([null, null, null]);
  expect(ring.probe(0)).toEqual([2000, 3000, 4000]);
  expect(ring.load(0)).toBeCloseTo(0.4);
  expect(ring.mean(0, 'forward', 'bits_per_s')).toBe(30);
});

test('numbers of a finished run are found by link and way, and losses of every kind add up', () => {
  const recorded = new Recorded(['x'], ['p']);
  const t_ns = [0, 1e9, 2e9];
  recorded.keep('x', 'forward', {
    t_ns,
    columns: { delivered_bits_per_s: [1, 2, 3], lost_packets: [1, 0, 0], overflowed_packets: [0, 2, 0] },
  });
  recorded.keep('p', 'probe', { t_ns: [0.5e9], columns: { rtt_ns: [77] } });
  expect(recorded.link(0, 'forward', 'bits_per_s')).toEqual([1, 2, 3]);
  expect(recorded.link(0, 'forward', 'lost_packets')).toEqual([1, 2, 0]);
  expect(recorded.probe(0)).toEqual([null, 77, 77]);
  expect(recorded.link(0, 'reverse', 'lost_packets')).toEqual([null, null, null]);
});

test('a ping that is not answered any more has no round trip', () => {
  const recorded = new Recorded(['x'], ['p']);
  const seconds = [0, 1, 2, 3, 4, 5, 6, 7, 8];
  recorded.keep('x', 'forward', { t_ns: seconds.map((t) => t * 1e9), columns: {} });
  // One each second, until the link went down at 2 s: for three seconds it may still be on its way.
  recorded.keep('p', 'probe', { t_ns: [0, 1e9, 2e9], columns: { rtt_ns: [70, 71, 72] } });
  expect(recorded.probe(0)).toEqual([70, 71, 72, 72, 72, 72, null, null, null]);
});

test('problems are marked by line, errors before warnings', () => {
  const problem = (line: number, severity: 'error' | 'warning') => ({
    path: '',
    line,
    column: 1,
    width: 1,
    message: severity,
    remedy: null,
    severity,
  });
  const marks = byLine([problem(3, 'warning'), problem(3, 'error'), problem(5, 'warning')]);
  expect(marks.get(3)!.severity).toBe('error');
  expect(marks.get(5)!.severity).toBe('warning');
});

test('the cursor selects what is written where it stands', () => {
  const text =
    'version: 1\nnodes:\n  a: {kind: router}\n  b: {kind: router}\nlinks:\n  wan:\n    endpoints: [a, b]\n    delay: 1ms\n';
  const known = model(
    [node('a', { line: 3 }), node('b', { line: 4 })],
    [link('a', 'b', { name: 'wan', line: 6 })],
  );
  const at = (line: number): unknown => atLine(known, line, sectionAt(text, line));
  expect(at(4)).toEqual({ kind: 'node', name: 'b' });
  expect(at(8)).toEqual({ kind: 'link', name: 'wan' });
  expect(at(1)).toBeNull();
  expect(text.slice(offsetOf(text, 6), offsetOf(text, 7))).toBe('  wan:\n');
});

test('values of a link are those of its key, its profile, and those of one way', () => {
  const told = {
    ...link('a', 'b', { profile: 'wan' }),
    text: { delay: '5ms', forward: '{loss: 1%}' },
    ways: { forward: { loss: '1%' } },
    forward: null,
    reverse: null,
  };
  const event = { path: ['events', 0], line: 9, text: { at: '1s' }, yaml: '{at: 1s}', link: ['a-b'] };
  const rest = { description: null, duration: null, topology: null, expect: [] };
  const numbers = { resolved: false, seed: null, every_ns: null, paths: [] };
  const model = { ...NO_MODEL, ...rest, ...numbers, traffic: [], programs: [], profiles: { wan: {} } };
  const found = check({ problems: [], model: { ...model, links: [told], events: [event] } }).model!;
  expect(found.links[0]!.text).toEqual({ delay: '5ms', profile: 'wan', forward: { loss: '1%' } });
  expect(found.links[0]!.forward.delay_ns).toBe(null);
  expect(found.events).toEqual([{ name: '0', text: '{at: 1s}', line: 9 }]);
  expect(found.profiles).toEqual(['wan']);
});

test('a mapping in one line quotes what has to be', () => {
  expect(oneLine({ kind: 'ping', to: '[b1, b2]', every: '20ms' })).toBe(
    '{kind: ping, to: [b1, b2], every: 20ms}',
  );
  expect(oneLine({ run: "sh -c 'a, b'", ready: 'tcp:8080' })).toBe(
    '{run: "sh -c \'a, b\'", ready: tcp:8080}',
  );
  expect(oneLine({ cc: '$cc' })).toBe('{cc: $cc}');
});

test('a sweep of three axes is one grid for each value of the third', () => {
  const axes = ['cc', 'loss', 'n'].map((name) => ({
    name,
    column: `axis_${name}`,
    values: name === 'cc' ? ['cubic', 'bbr'] : [1, 2],
  }));
  const rows: SweepCell[] = [];
  for (const cc of ['bbr', 'cubic'])
    for (const loss of [1, 2])
      for (const n of [1, 2])
        rows.push({
          variant: rows.length,
          metric: 'm',
          unit: null,
          mean: rows.length,
          half_width: null,
          runs: 1,
          repeats: 1,
          n: '1',
          axis_cc: cc,
          axis_loss: loss,
          axis_n: n,
        });
  const made = grids(rows, axes, 'm');
  expect(made.map((each) => each.title)).toEqual(['n 1', 'n 2']);
  expect(made[0]!.columns).toEqual(['cubic', 'bbr']);
  expect(made[0]!.cells[1]![0]!['axis_loss']).toBe(2);
  expect(grids(rows, [], 'm')).toEqual([]);
});

test('a grid of every combination shows values as they were written', () => {
  const axes = [
    { name: 'cc', column: 'cc', values: ['reno', 'bbr'] },
    { name: 'loss', column: 'loss', values: ['0%', '0.01%', '1%'] },
  ];
  const rows: SweepCell[] = [0, 1, 2, 3, 4].map((variant) => ({
    variant,
    metric: 'm',
    unit: null,
    mean: variant,
    half_width: null,
    runs: 1,
    repeats: 1,
    n: '1',
    cc: variant < 3 ? 'reno' : 'bbr',
    loss: [0, 0.0001, 0.01][variant % 3],
  }));
  const [grid] = grids(rows, axes, 'm', true);
  expect(grid!.columns).toEqual(['reno', 'bbr']);
  expect(grid!.lines).toEqual(['0%', '0.01%', '1%']);
  // The sixth is not there yet.
  expect(grid!.cells.map((line) => line.map((cell) => cell?.mean ?? null))).toEqual([
    [0, 3],
    [1, 4],
    [2, null],
  ]);
});

test('a time axis ends with the last deadline, unless that is far behind', () => {
  const row = { release_s: 1, deadline_s: 30, pieces: [{ finish_s: 10 }] };
  expect(horizon([row])).toBeCloseTo(30.6);
  expect(horizon([{ ...row, deadline_s: 60 }])).toBeCloseTo(15.3);
  expect(horizon([{ ...row, planned: [{ finish_s: 20 }], deadline_s: 60 }])).toBeCloseTo(61.2);
  // Where nothing can be moved, the deadlines are all that there is.
  expect(horizon([{ ...row, release_s: 0, pieces: [], deadline_s: 1 }])).toBeCloseTo(1.02);
});

test('runs of a sweep are counted from its text, if it says how many', () => {
  expect(items('[cubic, {law: multcp, n: 2}, "a, b"]')).toEqual(['cubic', '{law: multcp, n: 2}', '"a, b"']);
  expect(runsOf({ cc: '[reno, cubic]', delay: '{from: 1ms, to: 9ms, steps: 5}' }, '3')).toBe(30);
  expect(runsOf({ cc: 'reno' }, null)).toBe(null);
  expect(asList('1ms, 2ms')).toBe('[1ms, 2ms]');
  expect(asList(' {from: 1ms, to: 9ms, steps: 5}')).toBe('{from: 1ms, to: 9ms, steps: 5}');
});
