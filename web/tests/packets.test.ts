import { expect, test } from 'vitest';
import type { CapturedPacketRow } from '../src/api/types/captures';
import { matches, secondsOf } from '../src/model/packets';

const packet: CapturedPacketRow = {
  number: 1,
  t_ns: 0,
  leaves: false,
  source: 'par1:5201',
  destination: 'nyc1:40000',
  protocol: 'TCP',
  info: '[SYN ACK] seq=0 ack=1 win=512 len=0',
  bytes: 60,
};

test('times have all digits of a nanosecond', () => {
  expect(secondsOf(1_000_000_001)).toBe('1.000000001');
  expect(secondsOf(0)).toBe('0.000000000');
  expect(secondsOf(-5)).toBe('-1.999999995');
});

test('a packet is listed if each word of the filter occurs in its line', () => {
  expect(matches(packet, '')).toBe(true);
  expect(matches(packet, 'tcp syn')).toBe(true);
  expect(matches(packet, ':5201  NYC1')).toBe(true);
  expect(matches(packet, 'udp')).toBe(false);
  expect(matches(packet, 'tcp fin')).toBe(false);
});
