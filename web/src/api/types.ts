import type { Link, Node } from './language';

/** What the server says, in its words. Names of numbers end in their unit; one-way and round trip never share one. */

export type Problem = {
  path: string;
  line: number | null;
  column: number | null;
  message: string;
  remedy: string | null;
  severity: 'error' | 'warning';
};

export type ModelNode = {
  name: string;
  kind: NonNullable<Node['kind']>;
  at: [number, number] | null;
  /** A place in a unit square, where a topology knows one. */
  spot?: [number, number] | null;
  attach: string | null;
  profile?: string | null;
  addresses?: string[];
  range?: string | null;
  written?: boolean;
  line?: number | null;
};

/** One direction of a link: null where it is not known, or has no bound. */
export type Way = {
  delay_ns: number | null;
  rate_bits_per_s: number | null;
  loss: number | null;
  queue?: string | null;
  queue_bytes?: number | null;
};

/** Values as they stand in the file under the link's key. */
export type LinkText = Partial<
  Record<keyof Pick<Link, 'delay' | 'rate' | 'loss' | 'queue' | 'mtu' | 'profile' | 'up'>, string>
> & {
  forward?: LinkText;
  reverse?: LinkText;
};

export type ModelLink = {
  name: string;
  a: string;
  b: string;
  attachment?: boolean;
  written?: boolean;
  line?: number | null;
  text: LinkText;
  forward: Way;
  reverse: Way;
  rtt_ns: number | null;
  bdp_bytes: number | null;
};

export type Item = {
  name: string;
  /** Of traffic: whether it is simulated in a live run, too. */
  simulated?: boolean;
  kind?: string | null;
  /** As it would stand in one line. */
  text: string;
  line: number | null;
};

export type Model = {
  name?: string | null;
  nodes: ModelNode[];
  links: ModelLink[];
  traffic: Item[];
  programs: Item[];
  events: Item[];
  profiles?: string[];
  params?: Record<string, string>;
  /** What varies, as it stands in the file. */
  sweep?: { axes: Record<string, string>; repeat: string | null } | null;
  duration_ns: number | null;
};

export type Check = { problems: Problem[]; model: Model | null };

export type Edit =
  | { op: 'set'; path: (string | number)[]; value: unknown }
  | { op: 'set'; path: (string | number)[]; text: string }
  | { op: 'add'; path: (string | number)[]; value: unknown }
  | { op: 'rename'; path: (string | number)[]; value: string }
  | { op: 'remove'; path: (string | number)[]; references?: boolean }
  | { op: 'split'; path: (string | number)[]; value: string };

export type Edited = { text: string; changed_lines: number[]; check: Check };

export type Named = { name: string; title: string; comment?: string };

export type FileEntry = { name: string; mtime?: number; etag?: string };

export type State = {
  version: string;
  directory: string;
  host?: Record<string, unknown>;
  can: { live: boolean; why: string | null; remedy?: string | null };
  templates: Named[];
  scenarios: Named[];
  files: FileEntry[];
};

export type Quantity = {
  ok: boolean;
  value?: number | null;
  canonical?: string | null;
  message?: string | null;
  remedy?: string | null;
};

export type QuantityKind = 'delay' | 'rate' | 'loss' | 'size';

export type Mode = 'live' | 'sim';

export type RunRow = {
  id: string;
  name: string;
  mode: string;
  status: string;
  started_unix_s: number | null;
  duration_s: number | null;
  verdict: string | null;
  made_by_page?: boolean;
  file?: string | null;
  has_report?: boolean;
  seed?: number | null;
  expectations_met?: boolean | null;
};

export type Expectation = {
  metric: string;
  unit: string | null;
  min: number | null;
  max: number | null;
  equals: number | string | null;
  value: number | string | null;
  met: boolean | null;
  why: string | null;
};

/** A ping that is measured: `program` on `from` asks `to`. */
export type Probe = { name: string; program?: string; from?: string; to?: string };

export type RunDetail = RunRow & {
  summary: Record<string, unknown> | null;
  fidelity: Record<string, unknown> | null;
  links: string[];
  duration_ns?: number | null;
  programs: { name: string; host?: string | null }[];
  logs?: string[];
  probes?: Probe[];
  preflight?: string[];
  expectations?: Expectation[];
  files?: string[];
  report?: boolean;
  /** What `longhaul transfer run` planned and achieved. */
  transfers?: CarriedOut | null;
};

/** Some of a transfer's data, at one rate. */
export type Piece = { start_s: number; finish_s: number; bits_per_s: number };

/** What was asked for. */
export type Request = {
  request: string;
  from: string;
  to: string;
  volume_bytes: number;
  release_s: number;
  deadline_s: number | null;
};

type Moved = { start_s: number; finish_s: number; pieces: Piece[] };

export type CarriedOut = {
  policy: string;
  requests: (Request & {
    accepted: boolean;
    met: boolean;
    reason: string | null;
    planned: Moved | null;
    achieved: Moved | null;
    /** Of the planned duration. */
    finish_off: number | null;
  })[];
};

export type Series = {
  link?: string;
  way?: string;
  name?: string;
  flow?: string | number;
  from?: string;
  to?: string;
  stream?: number | string | null;
  host?: string;
  local?: string;
  remote?: string;
  cc?: string | null;
  t_ns: number[];
  columns: Record<string, (number | null)[]>;
};

export type Packet = { offered_ns: number; due_ns: number | null; bytes: number; fate: string };

export type ApiError = {
  message: string;
  remedy?: string | null;
  line?: number | null;
  column?: number | null;
};

/** What is recorded of packets on one direction of a link. */
export type Recording = { link: string; way: string; packets: number; first_ns: number; last_ns: number };

export type Estimate = { mean: number; half_width: number | null; runs: number } | null;

export type Comparison = {
  groups: { name: string; runs: string[] }[];
  metrics: {
    metric: string;
    unit: string | null;
    estimates: Estimate[];
    difference: number | null;
    difference_half_width: number | null;
    differs: boolean | null;
  }[];
};

export type SweepRow = {
  id: string;
  name: string;
  status: string;
  started_unix_s: number | null;
  axes: { name: string; column: string; values: unknown[] }[];
  variants: number;
  repeats?: number | null;
  has_report?: boolean;
  /** Whether this server started it, and it goes on. */
  can_stop?: boolean;
};

export type SweepCell = {
  variant: number;
  metric: string;
  unit: string | null;
  mean: number | null;
  half_width: number | null;
  runs: number;
} & Record<string, unknown>;

export type SweepResult = {
  row: SweepRow;
  progress: { done: number; points: number; left_s: number | null } | null;
  messages: { event: 'warning' | 'problem'; message: string; remedy?: string | null }[];
  summary: { points?: number; failed?: number } | null;
  sweep: { name?: string; design?: string; axes: SweepRow['axes'] } & Record<string, unknown>;
  metrics: string[];
  rows: SweepCell[];
};

export type TransferPlan = {
  policy: string;
  measures: Record<string, number | null>;
  requests: (Request & {
    satisfied: boolean;
    reason: string | null;
    start_s: number | null;
    finish_s: number | null;
    bits_per_s: number | null;
    pieces: Piece[];
  })[];
  links: { link: string; bits_per_s: number; peak_bits_per_s: number }[];
  loads: { link: string; t_s: number[]; bits_per_s: number[] }[];
};
