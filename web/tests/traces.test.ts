import { expect, test } from 'vitest';
import { editText, lasting, savedName, steps } from '../src/model/traces';

test('each sample of a trace holds until the next, and the last as long as the trace', () => {
  expect(steps([2, 3, 5], [10, null, 30], 5)).toEqual([
    [2, 3, 3, 5, 5, 7],
    [10, 10, null, null, 30, 30],
  ]);
  expect(steps([0], [7], 0)).toEqual([
    [0, 0],
    [7, 7],
  ]);
});

test('edits are said with their units, and a gap as one', () => {
  expect(editText({ op: 'cut', from_s: 4, to_s: null }, '')).toBe('keep 4 s to the end');
  expect(editText({ op: 'cut', to_s: 9 }, '')).toBe('keep the beginning to 9 s');
  expect(editText({ op: 'scale', column: 'rtt_ms', value: 2 }, 'ms')).toBe('rtt_ms times 2');
  expect(editText({ op: 'shift', column: 'rate_mbit', value: -5 }, 'Mbit/s')).toBe(
    'rate_mbit minus 5 Mbit/s',
  );
  expect(editText({ op: 'set', column: 'rtt_ms', from_s: 3, value: null }, 'ms')).toBe(
    'rtt_ms at 3 s: a gap',
  );
});

test('a saved trace has a name that is free and that a file may have', () => {
  expect(savedName('wan.csv', [])).toBe('wan-edited.csv');
  expect(savedName('wan-edited.csv', ['wan-edited.csv'])).toBe('wan-edited-2.csv');
  expect(savedName('longcut:eventspace', [])).toBe('longcut-eventspace-edited.csv');
});

test('a trace of one row is constant', () => {
  expect(lasting(0)).toBe('constant');
  expect(lasting(60, 0.5)).toBe('60 s, one each 500 ms');
});
