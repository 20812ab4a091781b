/* Written by "npm run types" from the output of "longhaul schema --page"; not edited by hand. */

/**
 * A shard: its nodes, and its share of the expected work.
 */
export interface ShardPart {
  share: number;
  nodes: string[];
}

/**
 * A link between two shards, the least time that a packet takes on it, and the packets that are expected.
 *
 * Of a live run the packets are not known: each link counts as 1.
 */
export interface ShardCut {
  link: string;
  lookahead_ns: number;
  packets_per_s: number;
}

/**
 * A division, as `longhaul show --shards` has it.
 *
 * `reason`: why there is one shard. Of a simulation alone: `speedup`, if each shard has a CPU core;
 * `computing_s`, the CPU time in one shard; `crossing_packets_per_s`, in a simulated second.
 */
export interface ShardPlan {
  shards: number;
  reason: string | null;
  speedup: number | null;
  computing_s: number | null;
  lookahead_ns: number | null;
  crossing_packets_per_s: number | null;
  cut: ShardCut[];
  parts: ShardPart[];
}

/**
 * A shard, an engine thread or a machine of a run, with its nodes; of a live run also its fidelity.
 */
export interface DividedPart {
  name: string;
  host: string | null;
  nodes: string[];
  cores: number | null;
  lateness_p50_ns: number | null;
  lateness_p99_ns: number | null;
  stalled_share: number | null;
}

/**
 * A link between two parts of a run, by their names, and the least time that a packet takes on it.
 */
export interface DividedCut {
  link: string;
  delay_ns: number;
  parts: string[];
}

/**
 * Packets from one part of a live run to another, as the receiver counted them.
 */
export interface Crossing {
  from: string;
  to: string;
  packets: number;
  lost_packets: number | null;
  late_packets: number;
  late_p99_ns: number | null;
  late_max_ns: number | null;
  rtt_min_ns: number | null;
  clock_offset_ns: number | null;
  clock_bound_ns: number | null;
  clock_drift: number | null;
}

/**
 * How the network of a run was divided, and how well its parts kept time.
 */
export interface DividedRun {
  kind: 'shards' | 'threads' | 'machines';
  parts: DividedPart[];
  cuts: DividedCut[];
  crossings: Crossing[];
}
