import { expect, test } from 'vitest';
import type { FlowSeries, SocketSeries } from '../src/api/types/runs';
import { windows } from '../src/model/windows';

const socket = (host: string, to: string, bits: number, cwnd: (number | null)[]): SocketSeries => ({
  host,
  to,
  local: `${host}:1`,
  remote: `${to}:2`,
  cc: 'cubic',
  socket: '1',
  t_ns: cwnd.map((_, at) => at * 1e9),
  columns: { cwnd_segments: cwnd, delivery_bits_per_s: cwnd.map(() => bits) },
});

test('windows are those of the busiest connections, numbered where two join the same hosts', () => {
  const found = windows(
    [],
    [socket('a', 'b', 5e6, [10, 20]), socket('a', 'b', 1e3, [10, 10]), socket('a', 'b', 9e6, [30, 40])],
  );
  expect(found).toEqual({
    labels: ['a → b', 'a → b 2'],
    data: [
      [0, 1],
      [30, 40],
      [10, 20],
    ],
  });
});

test('windows of flows with other times share one axis', () => {
  const flow = (name: string, t_ns: number[], window_segments: number[]): FlowSeries => ({
    name,
    stream: null,
    t_ns,
    columns: { window_segments },
  });
  expect(windows([flow('x', [0, 2e9], [1, 2]), flow('y', [1e9], [3])], [])).toEqual({
    labels: ['x', 'y'],
    data: [
      [0, 1, 2],
      [1, null, 2],
      [null, 3, null],
    ],
  });
  expect(windows([flow('z', [0], [0])], [])).toBe(null);
});
