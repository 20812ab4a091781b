import { describe, expect, test } from 'vitest';
import { compare, quantity } from '../src/report/sorting';

describe('tables are sorted by the quantities that they show', () => {
  test.each([
    ['97.5 Mbit/s', 97.5e6],
    ['3.42 kbit/s', 3420],
    ['38 → 60 ms', 0.038],
    ['0.02 %', 0.0002],
    ['24 (0.0151 %)', 24],
    ['250,331', 250_331],
    ['−3 µs', -3e-6],
    ['1.5e-05', 1.5e-5],
    ['2 min', 120],
    ['1 to 2 s', 1],
    ['7 packets', 7],
    ['-', null],
    ['reno', null],
  ])('%s is %s', (text, value) => {
    const found = quantity(text);
    if (value === null) expect(found).toBeNull();
    else expect(found).toBeCloseTo(value, 12);
  });

  test('quantities come before words, and words in the order of their numbers', () => {
    expect(['h10', '9 ms', 'h9', '10 µs'].sort(compare)).toEqual(['10 µs', '9 ms', 'h9', 'h10']);
  });
});
