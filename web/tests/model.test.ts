import { expect, test } from 'vitest';
import { check, NO_MODEL, oneLine, type Model, type ModelLink, type ModelNode } from '../src/api/translate';
import type { NetworkChange } from '../src/api/types/runs';
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
  rings,
  toDegrees,
  toPixels,
  zoom,
} from '../src/model/layout';
import { averages, loadOf } from '../src/model/averages';
import { downAfter } from '../src/model/changes';
import { loadText, step } from '../src/model/load';
import { atLine, byLine, offsetOf, sectionAt } from '../src/model/problems';
import { Recorded, Ring, type WayName } from '../src/model/ring';
import { labels, nameOf, scene } from '../src/model/scene';
import { arranged, removals, toggled, within } from '../src/model/selection';
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
const way = { delay_ns: 1e7, rate_bits_per_s: 1e8, loss: 0, queue: null, up: true };
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
  expect([null, 0, 0.005, 0.01, 0.3, 0.6, 0.8, 0.9, 1.2].map(step)).toEqual([null, 0, 0, 1, 2, 3, 4, 4, 5]);
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

test('a ring keeps the last samples, and of those that come twice only answers', () => {
  const ring = new Ring(['x'], ['p'], 3, [1e9]);
  for (const t of [1, 2, 2, 3, 4])
    ring.push(t * 1e9, [[t * 10, null, 0, null, 1, 0, 0, 0]], [t === 3 ? null : t * 1000]);
  expect(ring.seconds()).toEqual([2, 3, 4]);
  expect(ring.link(0, 'forward', 'throughput_bits_per_s')).toEqual([20, 30, 40]);
  expect(ring.link(0, 'forward', 'queueing_delay_ns')).toEqual([null, null, null]);
  expect(ring.probe(0)).toEqual([2000, 2000, 4000]);
  ring.push(4e9, [], [4500]);
  expect(ring.lastAnswer(0)).toEqual({ rtt: 4500, ago: 0 });
  for (const t of [5, 6, 7]) ring.push(t * 1e9, [], [null]);
  expect(ring.lastAnswer(0)).toEqual({ rtt: null, ago: 0 });
});

test('the progress of a simulation, which has no figures, adds nothing to charts', () => {
  const ring = new Ring(['x'], ['p'], 5, [1e9]);
  ring.push(1e9, [[10, null, 0, null, 1, 0, 0, 0]], [1000]);
  ring.push(1.05e9, null, null);
  ring.push(2e9, [[20, null, 0, null, 1, 0, 0, 0]], [2000]);
  expect(ring.seconds()).toEqual([1, 2]);
  expect(ring.link(0, 'forward', 'throughput_bits_per_s')).toEqual([10, 20]);
});

test('a link that begins down stays down until a change brings it up', () => {
  const wan = link('a', 'b');
  const half = link('b', 'c', { text: { reverse: { up: 'false' } } });
  const both = link('c', 'd', { text: { up: 'false' } });
  const fromProfile = link('d', 'e', { forward: { ...way, up: false } });
  const links = [wan, half, both, fromProfile];
  const turned = (name: string, value: string, to: WayName | null = null, route: number | null = null) =>
    ({ link: name, way: to, route, differences: [{ key: 'up', old: '', new: value }] }) as NetworkChange;
  expect(downAfter(links, [])).toEqual(['b-c', 'c-d', 'd-e']);
  expect(downAfter(links, [turned('a-b', 'down')])).toEqual(['a-b', 'b-c', 'c-d', 'd-e']);
  expect(downAfter(links, [turned('c-d', 'up', 'forward'), turned('b-c', 'up', 'forward')])).toContain('c-d');
  expect(downAfter(links, [turned('c-d', 'up'), turned('b-c', 'up', 'reverse')])).toEqual(['d-e']);
  expect(downAfter([wan], [turned('a-b', 'down', null, 2)])).toEqual([]);
});

test('a link that nothing was said of has no numbers, and none is zero', () => {
  const ring = new Ring(['x'], [], 3);
  ring.push(1e9, [], []);
  expect(ring.link(0, 'forward', 'throughput_bits_per_s')).toEqual([null]);
  const recorded = new Recorded(['x'], []);
  recorded.keep('y', 'forward', { t_ns: [0, 1e9], columns: { throughput_bits_per_s: [1, 2] } });
  expect(recorded.link(0, 'forward', 'throughput_bits_per_s')).toEqual([null, null]);
  expect(recorded.lateness()).toEqual([null, null]);
});

test('numbers of a finished run are found by link and direction', () => {
  const recorded = new Recorded(['x'], ['p'], [1e9]);
  const t_ns = [0, 1e9, 2e9];
  recorded.keep('x', 'forward', { t_ns, columns: { throughput_bits_per_s: [1, 2, 3] } });
  recorded.keep('p', 'probe', { t_ns: [0.5e9], columns: { rtt_ns: [77] } });
  recorded.keep('', 'lateness', { t_ns: [0.9e9, 2.1e9], columns: { lateness_p99_ns: [5, 6] } });
  expect(recorded.link(0, 'forward', 'throughput_bits_per_s')).toEqual([1, 2, 3]);
  expect(recorded.link(0, 'reverse', 'throughput_bits_per_s')).toEqual([null, null, null]);
  expect(recorded.probe(0)).toEqual([null, 77, 77]);
  expect(recorded.lateness()).toEqual([5, 6, 6]);
});

test('a ping that is not answered any more has no round trip, live and once the run is over', () => {
  const seconds = [0, 1, 2, 3, 4, 5, 6, 7, 8];
  // One each second, until the link went down at 2 s: for three seconds it may still be on its way.
  const expected = [70, 71, 72, 72, 72, 72, null, null, null];
  const recorded = new Recorded(['x'], ['p'], [1e9]);
  recorded.keep('x', 'forward', { t_ns: seconds.map((t) => t * 1e9), columns: {} });
  recorded.keep('p', 'probe', { t_ns: [0, 1e9, 2e9], columns: { rtt_ns: [70, 71, 72] } });
  expect(recorded.probe(0)).toEqual(expected);
  const ring = new Ring(['x'], ['p'], 20, [1e9]);
  for (const t of seconds) ring.push(t * 1e9, [], [t <= 2 ? 70 + t : null]);
  expect(ring.probe(0)).toEqual(expected);
});

test('label and class of a load are of one rounded share, at every share', () => {
  const bounds = [0.01, 0.25, 0.5, 0.75, 0.9];
  for (let at = 0; at <= 12_000; at++) {
    const load = at / 10_000;
    const percent = Number(
      loadText(load)
        .replace(/^under 0.1 %$/, '0')
        .replace(' %', ''),
    );
    const under = percent < 1 ? 0 : 1 + bounds.slice(1).filter((end) => percent > end * 100).length;
    expect([load, step(load)]).toEqual([load, under]);
  }
  expect(loadText(0.00001)).toBe('under 0.1 %');
  expect([loadText(0), loadText(null), step(null)]).toEqual(['0 %', '', null]);
});

test('what stands beside a link is taken from one sample; without a rate there is no load', () => {
  const all = averages(
    ['x', 'y'],
    [
      [5e6, 0.5, 0, 3, null, 1e6, 0.1, 0, 0, null],
      [7e6, null, null, 0, null, 0, null, null, 0, null],
    ],
  );
  expect(all.get('x')!.reverse.throughput_bits_per_s).toBe(1e6);
  expect(loadOf(all, ['x'])).toBe(0.5);
  expect(loadOf(all, ['y'])).toBe(null);
  expect(loadOf(all, ['y', 'x'])).toBe(0.5);
  expect(loadOf(all, ['z'])).toBe(null);
});

test('the line of a dot that stands for many hosts stands for all of their links', () => {
  const hosts = Array.from({ length: 12 }, (_, at) => node(`h${at}`, { kind: 'host', attach: 'r' }));
  const links = hosts.map((each) => link(each.name, 'r', { name: `${each.name}-r`, attachment: true }));
  const drawn = scene(model([node('r'), ...hosts], links), new Map([['r', { x: 0, y: 0 }]]), {
    scale: 10,
    x: 0,
    y: 0,
  });
  expect(drawn.lines.length).toBe(1);
  expect(drawn.lines[0]!.stands.length).toBe(12);
  expect(nameOf(drawn.lines[0]!)).toBe('12 hosts at r');
});

test('problems are marked by line, errors before warnings', () => {
  const problem = (line: number, severity: 'error' | 'warning') => ({
    code: severity === 'error' ? 'E0202' : 'W0101',
    explanation: null,
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

test('runs of a sweep are counted from its text, if it says how many', () => {
  expect(items('[cubic, {algorithm: multcp, n: 2}, "a, b"]')).toEqual([
    'cubic',
    '{algorithm: multcp, n: 2}',
    '"a, b"',
  ]);
  expect(runsOf({ cc: '[reno, cubic]', delay: '{from: 1ms, to: 9ms, steps: 5}' }, '3')).toBe(30);
  expect(runsOf({ cc: 'reno' }, null)).toBe(null);
  expect(asList('1ms, 2ms')).toBe('[1ms, 2ms]');
  expect(asList(' {from: 1ms, to: 9ms, steps: 5}')).toBe('{from: 1ms, to: 9ms, steps: 5}');
});

test('hosts of an opened group lie in rings, none upon another', () => {
  const offsets = rings(100, 34);
  expect(offsets).toHaveLength(100);
  for (let a = 0; a < offsets.length; a++)
    for (let b = a + 1; b < offsets.length; b++)
      expect(Math.hypot(offsets[a]!.x - offsets[b]!.x, offsets[a]!.y - offsets[b]!.y)).toBeGreaterThan(14);
});

test('many hosts of a router are one sign with their number until they are opened', () => {
  const hosts = Array.from({ length: 100 }, (_, at) => node(`h${at}`, { kind: 'host', attach: 'r' }));
  const links = hosts.map((host) => link(host.name, 'r', { attachment: true }));
  const network = model([node('r'), ...hosts], links);
  const places = new Map([['r', { x: 0, y: 0 }]]);
  const view = { scale: 1, x: 0, y: 0 };
  const folded = scene(network, places, view);
  expect(folded.dots.map((dot) => dot.stands.length)).toEqual([0, 100]);
  expect(folded.lines).toHaveLength(1);
  const opened = scene(network, places, view, new Set(['r']));
  expect(opened.dots).toHaveLength(101);
  expect(opened.dots.every((dot) => dot.stands.length === 0)).toBe(true);
  expect(opened.lines).toHaveLength(100);
});

test('nodes are aligned at their mean and spread between the outermost', () => {
  const places = new Map([
    ['a', { x: 0, y: 0 }],
    ['b', { x: 10, y: 3 }],
    ['c', { x: 40, y: 6 }],
  ]);
  expect([...arranged(places, 'row')]).toEqual([
    ['a', { x: 0, y: 3 }],
    ['c', { x: 40, y: 3 }],
  ]);
  expect([...arranged(places, 'spread-across')]).toEqual([['b', { x: 20, y: 3 }]]);
  expect([...arranged(places, 'spread-down')]).toEqual([]);
});

test('a range goes as a whole, a router with its hosts, and a member alone by its own name', () => {
  const nodes = [
    node('r'),
    node('s'),
    ...[1, 2].map((at) => node(`r${at}`, { kind: 'host', attach: 'r', range: 'r1..2' })),
  ];
  const paths = (...names: string[]): unknown[] =>
    removals(model(nodes, []), new Set(names)).map((each) => each.path);
  expect(paths('r1', 'r2')).toEqual([['nodes', 'r1..2']]);
  expect(paths('r', 'r1', 'r2', 's')).toEqual([
    ['nodes', 'r'],
    ['nodes', 's'],
  ]);
  expect(paths('r1')).toEqual([['nodes', 'r1']]);
});

test('a rectangle chooses the nodes in it, whichever corner it begins at', () => {
  const { dots } = scene(
    model([node('a'), node('b')], []),
    new Map([
      ['a', { x: 10, y: 10 }],
      ['b', { x: 90, y: 90 }],
    ]),
    { scale: 1, x: 0, y: 0 },
  );
  expect(within(dots, { x: 50, y: 50 }, { x: 0, y: 0 })).toEqual(['n:a']);
  expect([...toggled(new Set(['n:a']), 'n:b')]).toEqual(['n:a', 'n:b']);
  expect([...toggled(new Set(['n:a']), 'n:a')]).toEqual([]);
});
