/* Written by "npm run types" from the output of "longhaul schema --page"; not edited by hand. */
import type { ModelNode, ModelLink } from './drawings';
import type { Summary, CarriedOut } from './files';
import type { DividedRun } from './shards';

/**
 * A run in the trash.
 */
export interface Deleted {
  id: string;
  label: string;
}

/**
 * What was started.
 */
export interface Begun {
  id: string;
  directory: string;
}

/**
 * How a run ended, in a line: `detail` is what to say behind the state.
 */
export interface OutcomeLine {
  state: 'passed' | 'failed' | 'interrupted' | 'crashed' | 'running';
  detail: string;
}

/**
 * One thing that failed in a run; `text` says all of it, `lines` are the last of its `log`.
 */
export interface FailureRow {
  kind: string;
  name: string;
  host: string | null;
  reason: string;
  text: string;
  log: string | null;
  lines: string[];
}

/**
 * A model of a link, before and after a change.
 */
export interface ModelDifference {
  key: string;
  old: string;
  new: string;
}

/**
 * A change that a run applied: by an event of its scenario, or an intervention of a user.
 *
 * `way` and `route` (from 1) are `null` where all changed; `until_ns` is later than `at_ns` for a
 * gradual one. `text` says all of it, `source` who asked for it.
 */
export interface NetworkChange {
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
}

/**
 * What people say of a run; an empty `title` stands for its name. `etag` tells two contents apart.
 */
export interface Annotated {
  title: string;
  tags: string[];
  note: string;
  etag: string;
}

/**
 * A run; `made_by_page` says whether this server started it.
 *
 * `verdict_text` is the verdict and what it holds of, as `faithful, with 2 interventions`. `label` is
 * the title, or the name and `differs`: what tells the run from others of its name.
 * `parameters` are all that differ among them, its algorithms and its seed, `metrics` those of `Runs`.
 */
export interface RunRow {
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
}

/**
 * A program of a run; a service ends with the others.
 */
export interface RunProgram {
  name: string;
  host: string;
  service: boolean;
}

/**
 * How a program of a run ended; `failure` is why that is a failure, if it is one.
 */
export interface EndedProgram {
  name: string;
  host: string;
  ending: string;
  failure: string | null;
}

/**
 * Pings that are measured, the program that sends them, and how long after one comes the next.
 */
export interface Probe {
  name: string;
  program: string;
  from: string;
  to: string;
  every_ns: number | null;
}

/**
 * All about a run; what comes of it is `null` until it is over.
 *
 * `averages` has for each link what `now` has, over the whole run: throughput, utilisation, mean
 * queueing delay, packets that ended otherwise than delivered, and the 99th percentile of lateness.
 * `clock` says what the virtual or the simulated clock took, and the digest of equal runs; `divided`
 * is of a run in several shards, engine threads or machines. `transfer_charts` show `transfers`, for
 * `web/src/charts`.
 */
export interface RunDetails {
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
  run: {
    [k: string]: unknown;
  };
  clock: string | null;
  divided: DividedRun | null;
  failures: FailureRow[];
  ended_programs: EndedProgram[];
  changes: NetworkChange[];
  summary: Summary | null;
  averages: (number | null)[][] | null;
  fidelity: {
    [k: string]: unknown;
  } | null;
  transfers: CarriedOut | null;
  transfer_charts: {
    [k: string]: unknown;
  }[];
  probes: Probe[];
  logs: string[];
  files: string[];
  tables: string[];
  scenario: string;
}

/**
 * The network of a run as it was when the run began, to be drawn; and its scenario, byte for byte.
 *
 * Links are in the order of samples. Nothing in it has a place in the text.
 */
export interface RunNetwork {
  scenario: string;
  nodes: ModelNode[];
  links: ModelLink[];
}

/**
 * When a change took effect, from the start of the run.
 */
export interface Changed {
  at_s: number;
}

/**
 * Where a report can be opened, once.
 */
export interface Ticket {
  url: string;
}

/**
 * The end of what a program wrote, and how much it wrote in all.
 */
export interface Log {
  program: string;
  text: string;
  bytes: number;
}

/**
 * Columns over time; what is not known at a time is `null`.
 */
export interface Over {
  t_ns: number[];
  columns: {
    [k: string]: (number | null)[];
  };
}

/**
 * Of one direction of a link.
 */
export interface LinkSeries {
  t_ns: number[];
  columns: {
    [k: string]: (number | null)[];
  };
  link: string;
  way: 'forward' | 'reverse';
}

/**
 * Of pings.
 */
export interface ProbeSeries {
  t_ns: number[];
  columns: {
    [k: string]: (number | null)[];
  };
  from: string;
  to: string;
  name: string;
}

/**
 * Of a stream of a flow, which has a name alone while it goes on.
 */
export interface FlowSeries {
  t_ns: number[];
  columns: {
    [k: string]: (number | null)[];
  };
  from?: string;
  to?: string;
  name: string;
  flow?: string;
  stream: number | string | null;
}

/**
 * Of a TCP connection; `to` is the host at its other end, if it is one of the network.
 */
export interface SocketSeries {
  t_ns: number[];
  columns: {
    [k: string]: (number | null)[];
  };
  host: string;
  local: string;
  remote: string;
  cc: string | null;
  socket: string;
  to: string | null;
}

/**
 * What links did.
 */
export interface LinksOverTime {
  table: 'links';
  series: LinkSeries[];
}

/**
 * Round trips of pings.
 */
export interface ProbesOverTime {
  table: 'probes';
  series: ProbeSeries[];
}

/**
 * What flows achieved.
 */
export interface FlowsOverTime {
  table: 'flows';
  series: FlowSeries[];
}

/**
 * What the kernel said of TCP connections.
 */
export interface SocketsOverTime {
  table: 'sockets';
  series: SocketSeries[];
}

/**
 * The 99th percentile of lateness in the direction where it was greatest.
 */
export interface LatenessOverTime {
  table: 'lateness';
  series: Over[];
}

/**
 * Of a TCP flow, simulated or real.
 */
export interface ConnectionSeries {
  t_ns: number[];
  columns: {
    [k: string]: (number | null)[];
  };
  name: string;
}

/**
 * Goodput, RTT, window and retransmissions of the TCP flows that carried most, the first ahead.
 */
export interface ConnectionsOverTime {
  table: 'connections';
  series: ConnectionSeries[];
}

/**
 * A packet on a link; one that never left has no due time.
 */
export interface Packet {
  way: 'forward' | 'reverse';
  offered_ns: number;
  due_ns: number | null;
  bytes: number;
  fate: string;
  flow: string | null;
}

/**
 * What is recorded of packets on one direction of a link.
 */
export interface Recording {
  link: string;
  way: 'forward' | 'reverse';
  packets: number;
  first_ns: number;
  last_ns: number;
}

/**
 * Packets of a link; recorded are those in the first `window_ns` of each `every_ns`, or all.
 *
 * `missing` says what of the time that was asked for nobody recorded: this link at all, this time, or a
 * part of it.
 */
export interface Packets {
  packets: Packet[];
  recorded: Recording[];
  missing: ('link' | 'time' | 'part') | null;
  truncated: boolean;
  window_ns: number | null;
  every_ns: number;
}
