/* Written by "npm run types" from the output of "longhaul schema --page"; not edited by hand. */
import type { Problem } from './texts';
import type { OutcomeLine, ModelDifference, Annotated, RunProgram, Probe } from './runs';

/**
 * The beginning of a stream; `figures` are those of each direction of a link in a sample.
 *
 * `now_figures` are those of each direction in `now`.
 */
export interface Hello {
  id: string;
  name: string;
  label: string;
  differs: string;
  parameters: {
    [k: string]: string;
  };
  metrics: {
    [k: string]: number | null;
  };
  annotations: Annotated;
  mode: string;
  status: string;
  started_unix_s: number;
  seed: number;
  argv: string[];
  directory: string;
  has_report: boolean;
  outcome: OutcomeLine;
  verdict: string | null;
  verdict_text: string | null;
  hosts: string | null;
  duration_s: number | null;
  expectations_met: boolean | null;
  made_by_page: boolean;
  duration_ns: number | null;
  every_ns: number | null;
  links: string[];
  ends: string[][];
  programs: RunProgram[];
  event: 'hello';
  version: number;
  /**
   * @minItems 5
   * @maxItems 5
   */
  figures: [
    'throughput_bits_per_s',
    'queueing_delay_ns',
    'undelivered_packets',
    'lateness_p99_ns',
    'queue_bytes',
  ];
  /**
   * @minItems 5
   * @maxItems 5
   */
  now_figures: [
    'throughput_bits_per_s',
    'utilisation',
    'queueing_delay_ns',
    'undelivered_packets',
    'lateness_p99_ns',
  ];
  probes: Probe[];
}

/**
 * So many nodes of a live run are there.
 */
export interface Building {
  event: 'building';
  nodes: number;
  of: number;
}

/**
 * The kernel has learned a congestion control until the end of a live run.
 */
export interface Algorithm {
  event: 'algorithm';
  algorithm: string;
  name: string;
}

/**
 * The network of a live run is there.
 */
export interface Up {
  event: 'up';
  hosts: number;
  cgroups: string | null;
  build_ns: number;
}

/**
 * Time goes; in a live run, from when.
 */
export interface RunStarted {
  event: 'started';
  t0_unix_ns?: number;
}

/**
 * A program of a live run began, could not begin, or ended.
 *
 * `ending` says how, `failure` why that is a failure, if it is one.
 */
export interface ProgramState {
  event: 'program';
  name: string;
  host: string;
  state: 'started' | 'failed' | 'ended';
  message?: string;
  exit?: number | null;
  signal?: number | null;
  expect_exit?: number | null;
  stopped_by_run?: boolean;
  ending?: string;
  failure?: string | null;
}

/**
 * What links and pings did since the sample before, for charts.
 *
 * `links` has for each the figures forward and then those in reverse, `probes` the last round trip of
 * each in ns, if a reply has come since the sample before. Both are `null` where only the progress of a
 * simulation is reported, which is at `t_ns`. `lateness_p99_ns` is the greatest of all links.
 * `real_s` is how long a simulation has taken so far. A stream that names links has those alone.
 */
export interface Sample {
  event: 'sample';
  t_ns: number;
  links: (number | null)[][] | null;
  probes: (number | null)[] | null;
  lateness_p99_ns: number | null;
  real_s?: number;
}

/**
 * What stands beside each link: figures of the latest `averaged_ns` of the run's clock, up to `t_ns`.
 *
 * `links` has for each the figures forward and then those in reverse. Labels and colours come from one
 * of these.
 */
export interface Now {
  event: 'now';
  t_ns: number;
  averaged_ns: number;
  links: (number | null)[][];
}

/**
 * A TCP flow up to `t_ns`: goodput, greatest RTT and retransmissions since its last row; window.
 */
export interface ConnectionRow {
  name: string;
  t_ns: number;
  goodput_bits_per_s: number | null;
  rtt_ns: number | null;
  cwnd_segments: number | null;
  retransmits: number;
}

/**
 * The fastest TCP flows that have news, twice a second.
 */
export interface ConnectionsNow {
  event: 'connections';
  rows: ConnectionRow[];
}

/**
 * The network was changed, whoever asked for it.
 */
export interface NetworkChanged {
  kind: 'event' | 'intervention';
  at_ns: number;
  until_ns: number;
  link: string;
  way: ('forward' | 'reverse') | null;
  route: number | null;
  host: string | null;
  by: string;
  user: string | null;
  words: string[];
  position: number | null;
  differences: ModelDifference[];
  text: string;
  source: string;
  event: 'change';
}

/**
 * Something to know, and what to do about it.
 */
export interface Warned {
  event: 'warning';
  message: string;
  remedy?: string | null;
}

/**
 * What went wrong.
 */
export interface Failure {
  code: string;
  explanation?: string;
  message: string;
  remedy: string | null;
  path?: string;
  line?: number | null;
  column?: number | null;
  in_range?: string | null;
  problems?: Problem[];
  event: 'problem';
}

/**
 * Programs of a live run are asked to end.
 */
export interface Ending {
  event: 'ending';
  reason: string;
}

/**
 * The run is over, and results are made.
 */
export interface Concluding {
  event: 'concluding';
  reason: string;
}

/**
 * Summary and series are there.
 */
export interface Results {
  event: 'results';
  verdict: string;
  outcome: OutcomeLine;
}

/**
 * All is there, and the stream closes. A run that was killed, or began elsewhere, has no exit code.
 */
export interface End {
  event: 'end';
  reason: string;
  exit_code: number | null;
  verdict: string | null;
  outcome: OutcomeLine | null;
}
