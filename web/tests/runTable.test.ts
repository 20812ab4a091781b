import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { RunRow } from '../src/api/types/runs';
import type { SweepRow } from '../src/api/types/studies';
import {
  filtered,
  filteredSweeps,
  parameterColumns,
  quantityOf,
  sorted,
  suggestions,
  terms,
} from '../src/model/runTable';

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
    outcome: { state: 'failed', detail: '' },
    duration_s: 3,
    annotations: { title: 'Mine', tags: ['paper'], note: 'The slow one', etag: '' },
  },
);
const sweep: SweepRow = {
  id: 'pair~sweep',
  name: 'pair',
  label: 'pair',
  annotations: { title: '', tags: ['paper'], note: '', etag: '' },
  status: 'done',
  started_unix_s: 1,
  axes: [{ name: 'cc', column: 'axis_cc', values: ['cubic', 'reno'] }],
  variants: 2,
  repeats: 1,
  directory: '',
  has_report: true,
  can_stop: false,
};
const all = [cubic, reno, both];

test('columns are the parameters that differ, algorithms and seeds first', () => {
  expect(parameterColumns(all)).toEqual(['cc', 'seed', 'delay']);
  expect(parameterColumns([cubic, reno])).toEqual(['cc']);
  expect(parameterColumns([cubic])).toEqual([]);
});

type Shared = { cases: [string, string[]][]; quantities: [string, number | null][] };
/** Cases that `longhaul runs` passes, too: tests/run/test_run_queries.py. */
const shared = JSON.parse(
  readFileSync(new URL('../../tests/run/run_filters.json', import.meta.url), 'utf8'),
) as Shared;

describe('a filter leaves runs and sweeps for which all terms hold', () => {
  test.each(shared.cases)('%s', (filter, wanted) => {
    const labels = new Map([
      [cubic, 'cubic'],
      [reno, 'reno'],
      [both, 'both'],
    ]);
    const runs = filtered(all, filter).map((row) => labels.get(row));
    expect([...runs, ...filteredSweeps([sweep], filter).map(() => 'sweep')]).toEqual(wanted);
  });
});

test('names with blanks are quoted', () =>
  expect(terms('"delay of link wan"=10ms x')).toEqual([
    { key: 'delay of link wan', compares: '=', value: '10ms' },
    { word: 'x', not: false },
  ]));

test.each(shared.quantities)('the quantity %s', (text, wanted) =>
  wanted === null ? expect(quantityOf(text)).toBeNull() : expect(quantityOf(text)).toBeCloseTo(wanted),
);

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
