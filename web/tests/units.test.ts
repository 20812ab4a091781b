import { describe, expect, test } from 'vitest';
import { judged, quantity } from '../src/model/figures';
import { counted, clock, rate, share, size, span, written } from '../src/model/units';

describe('numbers are told in the language of the scenario', () => {
  test.each([
    [38_000_000, '38 ms'],
    [250_000, '250 µs'],
    [1_500_000_000, '1.5 s'],
    [120e9, '2 min'],
    [90e9, '90 s'],
    [999_600, '1 ms'],
    [7, '7 ns'],
    [0, '0 s'],
    [null, '–'],
  ])('%s ns is %s', (ns, told) => expect(span(ns)).toBe(told));
  test.each([
    [1e9, '1 Gbit/s'],
    [312.5e6, '313 Mbit/s'],
    [9600, '9.6 kbit/s'],
    [0, '0 bit/s'],
  ])('%s bit/s is %s', (bits, told) => expect(rate(bits)).toBe(told));
  test('sizes and shares', () => {
    expect(size(312_500)).toBe('313 kB');
    expect(share(0.0002)).toBe('0.02 %');
    expect(share(1)).toBe('100 %');
    expect(share(0)).toBe('0 %');
    expect(share(0.000001)).toBe('0.00010 %');
  });
  test('what is told can be typed', () =>
    expect([written('38 ms'), written('1 Gbit/s')]).toEqual(['38ms', '1Gbit']));
  test('clocks count hours only where there are some', () =>
    expect([clock(62), clock(7262)]).toEqual(['1:02', '2:01:02']));
});

test('quantities follow their unit', () => {
  expect(quantity(4, 's')).toBe('4 s');
  expect(quantity(1459, 'count')).toBe('1459');
  expect(quantity(null, 'ns')).toBe('–');
});

test('an expectation is told with its bounds', () => {
  const one = {
    metric: 'm',
    unit: 'ns',
    min: 10_060_000,
    max: 11e6,
    equals: null,
    value: 10.1e6,
    met: true,
    why: null,
  };
  expect(judged(one)).toEqual({ got: '10.1 ms', wanted: 'at least 10.1 ms, at most 11 ms' });
});

test('counts have a noun in its number', () => {
  expect(counted(1, 'row')).toBe('1 row');
  expect(counted(0, 'row')).toBe('0 rows');
  expect(counted(1, 'study', 'studies')).toBe('1 study');
  expect(counted(2, 'study', 'studies')).toBe('2 studies');
});
