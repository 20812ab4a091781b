import { expect, test } from 'vitest';
import { busiest, byThroughput, type AllAverages } from '../src/model/averages';
import { Flows } from '../src/model/connections';

const row = (name: string, t: number, goodput: number | null, retransmits = 0) => ({
  name,
  t_ns: t * 1e9,
  goodput_bits_per_s: goodput,
  rtt_ns: 5,
  cwnd_segments: 10,
  retransmits,
});

test('what a run has recorded comes before what is told live, and nothing twice', () => {
  const flows = new Flows();
  flows.push([row('a', 2, 30), row('a', 3, 40), row('a', 3, 99)]);
  flows.history([
    {
      name: 'a',
      t_ns: [0, 1e9, 2e9],
      columns: {
        goodput_bits_per_s: [null, 10, 20],
        rtt_ns: [1, 2, 3],
        cwnd_segments: [1, 2, 3],
        retransmits: [0, 0, 1],
      },
    },
  ]);
  flows.push([row('a', 4, 50)]);
  expect(flows.data(['a'], 'goodput_bits_per_s')).toEqual([
    [0, 1, 2, 3, 4],
    [null, 10, 20, 40, 50],
  ]);
  expect(flows.data(['a', 'unknown'], 'retransmits')[2]).toEqual([null, null, null, null, null]);
});

test('flows are in the order of what they carried, without the talk of programs', () => {
  const flows = new Flows();
  for (const t of [0, 1, 2]) flows.push([row('slow', t, 10), row('talk', t, 0.01), row('fast', t, 20)]);
  expect(flows.names(8)).toEqual(['fast', 'slow']);
  expect(flows.names(1)).toEqual(['fast']);
});

test('a run without an end needs no more and more, and loses no retransmission', () => {
  const flows = new Flows();
  for (let t = 0; t < 20_000; t++) flows.push([row('a', t, 10, 1)]);
  const [times, values] = flows.data(['a'], 'retransmits');
  expect(times!.length).toBeLessThanOrEqual(4000);
  expect(values!.reduce((sum, each) => sum! + (each ?? 0), 0)).toBe(20_000);
  expect(times!.at(-1)).toBe(19_999);
});

const all = (carried: Record<string, number>): AllAverages =>
  new Map(
    Object.entries(carried).map(([name, throughput]) => {
      const way = {
        throughput_bits_per_s: throughput,
        utilisation: null,
        queueing_delay_ns: null,
        undelivered_packets: null,
        lateness_p99_ns: null,
      };
      return [name, { forward: way, reverse: { ...way, throughput_bits_per_s: 0 } }];
    }),
  );

test('the busiest links come first, and one stays until another is clearly busier', () => {
  const names = ['a', 'b', 'c'];
  expect(byThroughput(all({ a: 1, b: 3, c: 2 }), names)).toEqual(['b', 'c', 'a']);
  expect(busiest(all({ a: 1, b: 3, c: 2 }), names, [], 2)).toEqual(['b', 'c']);
  expect(busiest(all({ a: 2.2, b: 3, c: 2 }), names, ['b', 'c'], 2)).toEqual(['b', 'c']);
  expect(busiest(all({ a: 5, b: 3, c: 2 }), names, ['b', 'c'], 2)).toEqual(['a', 'b']);
  expect(busiest(all({}), names, [], 2)).toEqual(['a', 'b']);
});
