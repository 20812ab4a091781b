/* Written by "npm run types" from the output of "longhaul schema --page"; not edited by hand. */

/**
 * What `longhaul calibrate` measured of this machine; rates in bit/s, times in ns.
 */
export interface Certificate {
  measured: string;
  kernel: string;
  cpu: string;
  cpus: number;
  base_one_way_ns: number;
  direct_rtt_ns: number;
  zero_delay_rtt_ns: number;
  jitter_p50_ns: number;
  jitter_p99_ns: number;
  ceiling_bits_per_s: number;
  ceiling_packets_per_s: number;
  direct_bits_per_s: number;
  faithful_bits_per_s: number;
  gaps_per_s: number;
  faithful_packets_per_s: number;
  hosts_per_s: number;
  gigabit_tcp_bits_per_s: number;
  gigabit_udp_bits_per_s: number;
}
