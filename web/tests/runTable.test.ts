import { describe, expect, test } from 'vitest';
import type { RunRow } from '../src/api/types/runs';
import { filtered, parameterColumns, quantityOf, sorted, suggestions, terms } from '../src/model/runTable';

let count = 0;
const run = (parameters: Record<string, string>, more: Partial<RunRow> = {}): RunRow => ({
  id: `pair~${(count += 1)}`,
  name: 'pair',
  label: `pair, ${Object.entries(parameters).map(([name, value]) => `${name}=${value}`)}`,
  differs: '',
  parameters,
  metrics: { goodput: 1e7, rtt_p50: 2e7, jain: null },
  annotations: { title: '', tags: [], note: '', etag: '' },
  mode: 'sim',
  status: 'duration',
  started_unix_s: count,
  seed: 1,
  argv: [],
  directory: '',
  has_report: true,
  outcome: { state: 'passed', detail: '' },
  verdict: 'faithful',
  verdict_text: 'simulated',
  hosts: null,
  duration_s: 1,
  expectations_met: null,
  made_by_page: false,
  ...more,
});

const cubic = run({ cc: 'cubic', delay: '10 ms', seed: '1' });
const reno = run({ cc: 'reno', delay: '10 ms', seed: '1' }, { metrics: { goodput: 5e6 } });
const both = run(
  { cc: 'cubic+reno', delay: '20 ms', seed: '10' },
  {
    mode: 'live',
    verdict: 'degraded',
    verdict_text: 'degraded, with 1 intervention',
    annotations: { title: 'Mine', tags: ['paper'], note: 'The slow one', etag: '' },
  },
);
const all = [cubic, reno, both];

test('columns are the parameters that differ, algorithms and seeds first', () => {
  expect(parameterColumns(all)).toEqual(['cc', 'seed', 'delay']);
  expect(parameterColumns([cubic, reno])).toEqual(['cc']);
  expect(parameterColumns([cubic])).toEqual([]);
});

describe('a filter leaves runs for which all terms hold', () => {
  test.each([
    ['', all],
    ['reno', [reno, both]],
    ['degraded', [both]],
    ['-degraded', [cubic, reno]],
    ['cc=reno', [reno, both]],
    ['CC=Reno delay=10ms', [reno]],
    ['cc!=reno', [cubic]],
    ['"delay"="20 ms"', [both]],
    ['delay>10ms', [both]],
    ['goodput<6Mbit', [reno]],
    ['goodput>6Mbit/s', [cubic, both]],
    ['tag=paper', [both]],
    ['mode=live', [both]],
    ['verdict=degraded', [both]],
    ['seed>5', [both]],
    ['"slow one"', [both]],
    ['nothing', []],
  ])('%s', (filter, wanted) => expect(filtered(all, filter)).toEqual(wanted));
});

test('names with blanks are quoted', () =>
  expect(terms('"delay of link wan"=10ms x')).toEqual([
    { key: 'delay of link wan', compares: '=', value: '10ms' },
    { word: 'x', not: false },
  ]));

test('quantities are those of the language', () =>
  expect(['10ms', '10 ms', '2Mbit', '5 %', '3', 'x'].map(quantityOf)).toEqual([
    1e7,
    1e7,
    2e6,
    0.05,
    3,
    null,
  ]));

test('rows are sorted by number where there is one, and unknown values come last', () => {
  const by = (key: string, down: boolean): RunRow[] => sorted(all, { key, down });
  expect(by('parameter seed', true)[0]).toBe(both);
  expect(by('parameter cc', false).map((row) => row.parameters['cc'])).toEqual([
    'cubic',
    'cubic+reno',
    'reno',
  ]);
  expect(by('metric goodput', false)[0]).toBe(reno);
  const without = { ...cubic, metrics: {} };
  for (const down of [true, false])
    expect(sorted([without, reno], { key: 'metric goodput', down })).toEqual([reno, without]);
});

test('what all runs have is not suggested', () => {
  expect(suggestions(all)).toContain('cc=reno');
  expect(suggestions(all)).toContain('tag=paper');
  expect(suggestions(all)).toContain('delay="10 ms"');
  expect(suggestions(all)).not.toContain('name=pair');
});
