import { expect, test } from 'vitest';
import { figures } from '../src/model/certificate';
import { facts, named } from '../src/model/facts';

test('units go from names to values, and every line keeps a name', () => {
  expect(named('p99_ns')).toEqual({ name: 'p99', unit: 'ns' });
  expect(named('base_one_way_ns')).toEqual({ name: 'base one way', unit: 'ns' });
  expect(named('packets_per_s')).toEqual({ name: 'packets', unit: '/s' });
  for (const bare of ['share', 'bits_per_s', 'bytes', 'ns', 's'])
    expect(named(bare).name, bare).toBe(bare.replaceAll('_', ' '));
  expect(named('rates').unit).toBeUndefined();
});

test('what fidelity says of gaps is shown with its share', () => {
  const told = { gaps: { count: 2, first: [[1, 2]], max_ns: 26870163, total_ns: 415267561, share: 0.0252 } };
  expect(facts(told)).toEqual([
    { key: 'gaps', value: '', depth: 0 },
    { key: 'count', value: '2', depth: 1 },
    { key: 'max', value: '26.9 ms', depth: 1 },
    { key: 'total', value: '415 ms', depth: 1 },
    { key: 'share', value: '2.52 %', depth: 1 },
  ]);
});

test('what is empty, null or too deep has no line', () => {
  expect(facts({ a: {}, b: null, c: [], d: [1], e: { f: { g: { h: { i: 1 } } } } })).toEqual([]);
  expect(facts({ words: ['one', 'two'], yes: true })).toEqual([
    { key: 'words', value: 'one; two', depth: 0 },
    { key: 'yes', value: 'yes', depth: 0 },
  ]);
});

const CERTIFICATE = {
  measured: '2026-11-22T08:57:02+00:00',
  kernel: '6.18',
  cpu: 'Intel(R) Xeon(R) Processor',
  cpus: 2,
  base_one_way_ns: 12500,
  direct_rtt_ns: 25000,
  zero_delay_rtt_ns: 50000,
  jitter_p50_ns: 515,
  jitter_p99_ns: 6_500,
  ceiling_bits_per_s: 2.98e9,
  ceiling_packets_per_s: 245541.1,
  direct_bits_per_s: 7.5e9,
  faithful_bits_per_s: 2e9,
  gaps_per_s: 0.25,
  faithful_packets_per_s: 100000,
  hosts_per_s: 612.3,
  gigabit_tcp_bits_per_s: 926142554,
  gigabit_udp_bits_per_s: 957087235,
};

test('a certificate reads as calibrate prints it', () => {
  const told = new Map(figures(CERTIFICATE).map((each) => [each.what, each]));
  expect(told.get('base latency, one way')?.here).toBe('12.5 µs');
  expect(told.get('packets written alone')?.here).toBe('246,000 packets/s');
  expect(told.get('hosts brought up')?.here).toBe('612 hosts/s');
  expect(told.get('scheduling stalls')?.here).toBe('0.25 stalls/s');
  // IEEE 802.3 with MTU 1500: 1448 bytes of 1538 are TCP's payload, 1472 UDP's.
  expect(told.get('TCP on gigabit Ethernet')?.says).toContain('941 Mbit/s');
  expect(told.get('UDP on gigabit Ethernet')?.says).toContain('957 Mbit/s');
  expect([...told.values()].some((each) => each.poor)).toBe(false);
});

test('a rate that no link kept is said in words, and marked', () => {
  const told = figures({ ...CERTIFICATE, faithful_bits_per_s: 0, jitter_p99_ns: 536870 });
  expect(told.filter((each) => each.poor).map((each) => each.here)).toEqual(['515 ns, p99 537 µs', 'none']);
});
