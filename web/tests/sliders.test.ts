import { expect, test } from 'vitest';
import { positionOf, STEPS, textAt, type SliderKind } from '../src/model/sliders';

test.each([
  ['delay', 0, '0ms'],
  ['delay', STEPS, '1000ms'],
  ['delay', 40, '100us'],
  ['rate', 0, '10kbit'],
  ['rate', STEPS, '10000Mbit'],
  ['loss', 0, '0%'],
  ['loss', STEPS, '50%'],
] as [SliderKind, number, string][])('a %s slider at %i is %s', (kind, position, text) => {
  expect(textAt(kind, position)).toBe(text);
});

test('the position of a value is that at which the slider shows it', () => {
  expect(textAt('delay', positionOf('delay', 40e6))).toBe('40ms');
  expect(textAt('rate', positionOf('rate', 20e6))).toBe('20Mbit');
  expect(textAt('loss', positionOf('loss', 0.01))).toBe('1%');
  expect(positionOf('rate', null)).toBe(STEPS);
  expect(positionOf('loss', null)).toBe(0);
  expect(positionOf('delay', 0)).toBe(0);
  expect(positionOf('delay', 1e12)).toBe(STEPS);
});

test('every position stays where it is when its value comes back', () => {
  const unit = { us: 1e3, ms: 1e6, kbit: 1e3, Mbit: 1e6, '%': 0.01 };
  for (const kind of ['delay', 'rate', 'loss'] as const)
    for (let position = 0; position <= STEPS; position++) {
      const [, number, name] = /^([\d.]+)(\D+)$/.exec(textAt(kind, position))!;
      const back = positionOf(kind, Number(number) * unit[name as keyof typeof unit]);
      expect(Math.abs(back - position)).toBeLessThanOrEqual(1);
    }
});
