import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Names } from '../src/editor/completion';
import { completions, meaning } from '../src/editor/completion';
import { placeAt } from '../src/editor/place';
import type { Schema } from '../src/editor/schema';
import { continues, difference, type Typed } from '../src/editor/typing';

const schema = JSON.parse(
  execFileSync(process.env['LONGHAUL'] ?? join(import.meta.dirname, '../../.venv/bin/longhaul'), ['schema'], {
    maxBuffer: 1 << 24,
  }).toString(),
) as Schema;

const names = {
  nodes: [
    { name: 'par', kind: 'router' },
    { name: 'par1', kind: 'host' },
  ],
  links: [{ name: 'par-nyc', a: 'par', b: 'nyc', attachment: false }],
  profiles: ['lan'],
  params: { cc: 'cubic' },
} as unknown as Names;

/** The keys and the kind of place where the text has a bar. */
function at(marked: string): string {
  const cursor = marked.indexOf('|');
  const place = placeAt(marked.replace('|', ''), cursor);
  return place
    ? `${place.levels.map((each) => each.key ?? '?').join('.')} ${place.expects} "${place.word}"`
    : 'nowhere';
}

/** What is offered there. */
function offered(marked: string): string[] {
  const cursor = marked.indexOf('|');
  const text = marked.replace('|', '');
  return (completions(schema, names, { text, cursor, explicit: true })?.options ?? []).map(
    (each) => each.label,
  );
}

test('the place in block and flow mappings and lists is found while they are typed', () => {
  expect(at('na|')).toBe('? key "na"');
  expect(at('links:\n  a-b:\n    del|')).toBe('links.a-b.? key "del"');
  expect(at('links:\n  a-b:\n    |\n  c-d: {delay: 1ms}\n')).toBe('links.a-b.? key ""');
  expect(at('links:\n  a-b: {endpoints: [a, b], de|')).toBe('links.a-b.? key "de"');
  expect(at('links:\n  a-b: {endpoints: [a, b|], delay: 5ms}')).toBe('links.a-b.endpoints.1 value "b"');
  expect(at('links:\n  a-b: {loss: {model: gilb|')).toBe('links.a-b.loss.model value "gilb"');
  expect(at('links:\n  a-b: {loss: {\n    model: x,\n    p|')).toBe('links.a-b.loss.? key "p"');
  expect(at('events:\n- {at: 1s}\n- {at: 2s, li|}')).toBe('events.1.? key "li"');
  expect(at('events:\n  - at: 1s\n    link: w|')).toBe('events.0.link value "w"');
  expect(at('traffic:\n  x:\n    kind: t|\nseed: 1')).toBe('traffic.x.kind value "t"');
  expect(at('topology: ri|')).toBe('topology value "ri"');
});

test('comments, quotes and blocks of text are not taken for keys', () => {
  expect(at('# na|')).toBe('nowhere');
  expect(at('name: x  # del|')).toBe('nowhere');
  expect(at('description: >-\n  na|me: text\nname: x')).toBe('nowhere');
  expect(at('description: >-\n  name: text\nse|')).toBe('? key "se"');
  expect(at('nodes:\n  "a: b": {kind: ho|')).toBe('nodes.a: b.kind value "ho"');
  expect(at('programs:\n  p: {run: "x, {y", ho|')).toBe('programs.p.? key "ho"');
});

test('keys are offered where they may stand, without those that are there', () => {
  const keys = offered('links:\n  a-b: {endpoints: [a, b], d|, rate: 1Gbit}');
  expect(keys).toContain('delay');
  expect(keys).not.toContain('rate');
  expect(keys).not.toContain('kind');
  expect(offered('tra|')).toContain('traffic');
  // The kind decides which keys there are, wherever it stands.
  expect(offered('traffic:\n  x: {fl|, kind: tcp}')).toContain('flows');
  expect(offered('traffic:\n  x: {fl|, kind: ping}')).not.toContain('flows');
  expect(offered('topology:\n  kind: torus\n  |')).toContain('size');
  expect(offered('topology:\n  kind: ring\n  |')).not.toContain('size');
});

test('values are the words of the language and the names of the file', () => {
  expect(offered('topology: |')).toEqual(expect.arrayContaining(['ring', 'fat-tree', '$cc']));
  expect(offered('nodes:\n  a: {kind: |')).toEqual(expect.arrayContaining(['host', 'router']));
  expect(offered('nodes:\n  a: {kind: host, attach: |')).toEqual(expect.arrayContaining(['par', 'par1']));
  expect(offered('nodes:\n  a: {kind: host, profile: |')).toContain('lan');
  expect(offered('traffic:\n  x: {kind: tcp, from: |')).toContain('par1');
  expect(offered('traffic:\n  x: {kind: tcp, from: |')).not.toContain('par');
  expect(offered('links:\n  x:\n    endpoints:\n      - |')).toContain('par');
  expect(offered('events:\n  - {at: 1s, link: |')).toContain('par-nyc');
  expect(offered('links:\n  x: {queue: |').some((each) => each.startsWith('{kind: codel'))).toBe(true);
  expect(offered('links:\n  x: {delay: |')).toContain('38ms');
});

test('the word under the pointer is explained by its key', () => {
  const text = 'topology: {kind: waxman, routers: 20}\nlinks:\n  a-b: {delay: 5ms}\n';
  expect(meaning(schema, text, text.indexOf('routers') + 2)?.known.text).toEqual([
    'How many routers: r1, r2, and so on.',
  ]);
  expect(meaning(schema, text, text.indexOf('5ms') + 1)?.name).toBe('delay');
  expect(meaning(schema, text, text.indexOf('delay') + 1)?.known.types.join()).toContain('number with unit');
  expect(meaning(schema, text, text.indexOf(':'))?.name).toBe('topology');
});

test('typing in one place without a pause is one step of undo', () => {
  const typed = (at: number, time_ms: number, more: Partial<Typed> = {}): Typed => ({
    at,
    removed: 0,
    inserted: 1,
    kind: 'input.type',
    time_ms,
    ...more,
  });
  expect(continues(null, typed(0, 0))).toBe(false);
  expect(continues(typed(4, 0), typed(5, 200))).toBe(true);
  expect(continues(typed(4, 0), typed(5, 2_000))).toBe(false);
  expect(continues(typed(4, 0), typed(90, 200))).toBe(false);
  expect(continues(typed(4, 0), typed(5, 200, { inserted: 40, kind: 'input.paste' }))).toBe(false);
  const back = { removed: 1, inserted: 0, kind: 'delete.backward' };
  expect(continues(typed(5, 0, back), typed(4, 100, back))).toBe(true);
  expect(continues(typed(5, 0), typed(5, 100, back))).toBe(false);
});

test('only what differs between two texts is replaced', () => {
  expect(difference('a: 1\nb: 2\n', 'a: 1\nb: 3\n')).toEqual({ from: 8, to: 9, insert: '3' });
  expect(difference('aa', 'aaa')).toEqual({ from: 2, to: 2, insert: 'a' });
  expect(difference('same', 'same')).toBeNull();
});
