/* Written by "npm run types" from the output of "longhaul schema --page"; not edited by hand. */

/**
 * Of a flow's packets.
 */
export interface RoundTrips {
  p50_ns: number | null;
  [k: string]: unknown;
}

/**
 * What came of a flow.
 */
export interface FlowResult {
  from: string;
  to: string;
  name: string;
  kind: string;
  cc?: string | null;
  algorithms?: string[];
  goodput_bits_per_s: number | null;
  retransmits?: number | null;
  rtt?: RoundTrips | null;
  [k: string]: unknown;
}

/**
 * What came of pings.
 */
export interface PingResult {
  from: string;
  to: string;
  name: string;
  sent: number;
  lost?: number;
  lost_down?: number | null;
  loss: number | null;
  rtt_min_ns: number | null;
  rtt_p50_ns: number | null;
  rtt_p99_ns: number | null;
  [k: string]: unknown;
}

/**
 * What was expected of a metric, and whether it came so.
 */
export interface Expectation {
  metric: string;
  unit: string | null;
  min: number | null;
  max: number | null;
  equals: number | string | null;
  value: number | string | null;
  met: boolean;
  state?: string;
  why: string | null;
  [k: string]: unknown;
}

/**
 * What came of one direction of a link.
 */
export interface LinkResult {
  name: string;
  way: 'forward' | 'reverse';
  undelivered_packets?: number;
  [k: string]: unknown;
}

/**
 * Packets that one direction of a link dropped for one cause.
 */
export interface DropsOnLink {
  link: string;
  way: 'forward' | 'reverse';
  packets: number;
}

/**
 * Packets dropped for one cause; those that no link dropped are of nodes.
 */
export interface Cause {
  cause: string;
  text: string;
  packets: number;
  links: DropsOnLink[];
}

/**
 * Packets that the network dropped: how many, in words, and by cause and link.
 */
export interface Drops {
  packets: number;
  text: string;
  causes: Cause[];
}

/**
 * Where results contradict each other or the scenario.
 */
export interface ResultWarning {
  kind: string;
  name: string;
  text: string;
}

/**
 * `summary.json` of a run, but for distributions point by point; a relay knows no flows, no pings.
 */
export interface Summary {
  duration_ns: number | null;
  flows?: FlowResult[];
  probes?: PingResult[];
  links?: LinkResult[];
  drops?: Drops | null;
  warnings?: ResultWarning[];
  expectations: Expectation[];
  [k: string]: unknown;
}

/**
 * Some of a transfer's data, at one rate.
 */
export interface Piece {
  start_s: number;
  finish_s: number;
  bits_per_s: number;
}

/**
 * When a transfer moves, or moved.
 */
export interface Moved {
  start_s: number;
  finish_s: number;
  pieces: Piece[];
  [k: string]: unknown;
}

/**
 * A request, planned and achieved; `finish_off` is a share of the planned duration.
 */
export interface RequestCarriedOut {
  from: string;
  to: string;
  request: string;
  volume_bytes: number;
  release_s: number;
  deadline_s: number | null;
  accepted: boolean;
  met: boolean;
  reason: string | null;
  planned: Moved | null;
  achieved: Moved | null;
  finish_off: number | null;
  [k: string]: unknown;
}

/**
 * `transfers.json` of a run: what `longhaul transfer run` planned and achieved.
 */
export interface CarriedOut {
  policy: string;
  requests: RequestCarriedOut[];
  [k: string]: unknown;
}

/**
 * What a sweep varies, the column of its results that has it, and its values as they were written.
 */
export interface Axis {
  name: string;
  column: string;
  values: unknown[];
}

/**
 * `sweep.json`; a grid has a variant for every combination of values.
 */
export interface SweepFile {
  name: string;
  design: string;
  axes: Axis[];
  [k: string]: unknown;
}

/**
 * `summary.json` of a sweep: how many runs are done, and how many of them failed.
 */
export interface SweepSummary {
  points: number;
  failed: number;
  [k: string]: unknown;
}

/**
 * A row of `summary.parquet`: the estimate of a metric in a variant, and a column for each axis.
 *
 * `runs` counts repetitions with equal results once, and `n` says so in words.
 */
export interface SweepCell {
  variant: number;
  metric: string;
  unit: string | null;
  mean: number | null;
  half_width: number | null;
  runs: number;
  repeats: number;
  n: string;
  [k: string]: unknown;
}
