/** What `longhaul calibrate` measured, in the words of the command: pure. */
import type { Certificate } from '../api/types/certificate';
import { rate, span } from './units';

export type Figure = {
  what: string;
  here: string;
  says: string;
  /** Nothing held: the machine was busy, or is not made for it. */
  poor: boolean;
};

/** Bytes of payload in a full packet, over its bytes on the wire with preamble, header, check sum and gap. */
const TCP_SHARE = (1500 - 20 - 32) / (1500 + 38);
const UDP_SHARE = (1500 - 20 - 8) / (1500 + 38);

const each = (perSecond: number, what: string): string =>
  `${Number(perSecond.toPrecision(3)).toLocaleString('en')} ${what}/s`;

export function figures(certificate: Certificate): Figure[] {
  const line = (what: string, here: string, says: string, poor = false): Figure => ({
    what,
    here,
    says,
    poor,
  });
  return [
    line(
      'base latency, one way',
      span(certificate.base_one_way_ns),
      `what emulation adds; a ping without delay takes ${span(certificate.zero_delay_rtt_ns)}, over a direct veth ${span(certificate.direct_rtt_ns)}`,
    ),
    line(
      'lateness at 2,000 packets/s',
      `${span(certificate.jitter_p50_ns)}, p99 ${span(certificate.jitter_p99_ns)}`,
      'median and p99',
      certificate.jitter_p99_ns > 100_000,
    ),
    line(
      'one TCP flow',
      rate(certificate.ceiling_bits_per_s),
      `over a link without a rate; over a direct veth ${rate(certificate.direct_bits_per_s)}`,
    ),
    line(
      'packets written alone',
      each(certificate.ceiling_packets_per_s, 'packets'),
      'the most, with coalesce: 0us',
    ),
    line(
      'faithful rate',
      certificate.faithful_bits_per_s ? rate(certificate.faithful_bits_per_s) : 'none',
      certificate.faithful_bits_per_s
        ? 'the highest rate of a link at which p99 lateness is at most 100 µs'
        : 'p99 lateness is over 100 µs at 100 Mbit/s; check whether the machine was busy',
      !certificate.faithful_bits_per_s,
    ),
    line(
      'faithful packet rate',
      certificate.faithful_packets_per_s ? each(certificate.faithful_packets_per_s, 'packets') : 'none',
      'the same for packets of 100 bytes, each written alone',
      !certificate.faithful_packets_per_s,
    ),
    line('hosts brought up', each(certificate.hosts_per_s, 'hosts'), 'when a run begins'),
    line(
      'TCP on gigabit Ethernet',
      rate(certificate.gigabit_tcp_bits_per_s),
      `of payload; ${rate(TCP_SHARE * 1e9)} by arithmetic`,
    ),
    line(
      'UDP on gigabit Ethernet',
      rate(certificate.gigabit_udp_bits_per_s),
      `of payload; ${rate(UDP_SHARE * 1e9)} by arithmetic`,
    ),
    line(
      'scheduling stalls',
      each(certificate.gaps_per_s, 'stalls'),
      'times over 100 µs in which an idle machine did not run the engine',
      certificate.gaps_per_s > 10,
    ),
  ];
}
