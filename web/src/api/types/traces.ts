/* Written by "npm run types" from the output of "longhaul schema --page"; not edited by hand. */

/**
 * A trace of a file: the link that it is of, if the file says so, its rows, and how long it is.
 */
export interface TraceLink {
  from: string | null;
  to: string | null;
  rows: number;
  span_s: number;
  columns: ('rtt_ms' | 'delay_ms' | 'rate_mbit')[];
}

/**
 * A file of traces, or the `problem` that keeps it from being one.
 */
export interface TraceFile {
  name: string;
  links: TraceLink[];
  problem: string | null;
}

/**
 * Those of the directory, and the names of built-in traces.
 */
export interface TraceFiles {
  files: TraceFile[];
  built_in: string[];
}

/**
 * Of a column, as `longhaul trace show` has it; each row counts alike.
 */
export interface TraceStatistics {
  column: 'rtt_ms' | 'delay_ms' | 'rate_mbit';
  count: number;
  gaps: number;
  mean: number;
  sd: number;
  least: number;
  p5: number;
  p50: number;
  p95: number;
  p99: number;
  most: number;
}

/**
 * A trace after edits: its samples, each of which holds until the next, thinned out if there are many.
 */
export interface TraceView {
  from: string | null;
  to: string | null;
  links: TraceLink[];
  rows: number;
  span_s: number;
  period_s: number;
  times_s: number[];
  columns: {
    [k: string]: (number | null)[];
  };
  statistics: TraceStatistics[];
  warnings: string[];
}

/**
 * A trace was saved.
 */
export interface TraceSaved {
  name: string;
  rows: number;
}
