/* Written by "npm run types" from the output of "longhaul schema --page"; not edited by hand. */
import type { Problem } from './texts';

/**
 * What is one of a list.
 */
export interface ListEntry {
  path: (string | number)[] | null;
  line: number | null;
  text: {
    [k: string]: string;
  };
  yaml: string;
}

/**
 * A node; `range` is the key of which it is one, `spot` its place in a topology's unit square.
 */
export interface ModelNode {
  path: (string | number)[] | null;
  line: number | null;
  text: {
    [k: string]: string;
  };
  name: string;
  written: boolean;
  range: string | null;
  kind: 'host' | 'router' | 'switch';
  function: string | null;
  attach: string | null;
  attach_link: string | null;
  profile: string | null;
  at: [number, number] | null;
  spot: [number, number] | null;
  addresses: string[];
  congestion_control: string | null;
}

/**
 * One direction of a link; what is `null` has no bound, or is decided by time.
 */
export interface Way {
  delay_ns: number | null;
  varies: boolean;
  rate_bits_per_s: number | null;
  loss: number | null;
  queue: string;
  queue_discipline: string;
  queue_bytes: number | null;
  queue_packets: number | null;
  queue_ns: number | null;
  bdp_bytes: number | null;
  routes: number;
  up: boolean;
}

/**
 * What stands in the file for one direction alone.
 */
export interface WaysText {
  forward?: {
    [k: string]: string;
  };
  reverse?: {
    [k: string]: string;
  };
}

/**
 * A link between two nodes, or what a node's `attach` makes.
 */
export interface ModelLink {
  path: (string | number)[] | null;
  line: number | null;
  text: {
    [k: string]: string;
  };
  name: string;
  written: boolean;
  rtt_ns: number | null;
  bdp_bytes: number | null;
  mtu: number | null;
  forward: Way | null;
  reverse: Way | null;
  a: string;
  b: string;
  attachment: boolean;
  profile: string | null;
  ways: WaysText;
}

/**
 * Traffic; `simulated` says whether it is so in a live run, too.
 */
export interface ModelTraffic {
  path: (string | number)[] | null;
  line: number | null;
  text: {
    [k: string]: string;
  };
  name: string;
  written: boolean;
  from: string[];
  to: string[];
  link: string | null;
  simulated: boolean;
  kind: string | null;
}

/**
 * A program, and the hosts that run it.
 */
export interface ModelProgram {
  path: (string | number)[] | null;
  line: number | null;
  text: {
    [k: string]: string;
  };
  name: string;
  written: boolean;
  hosts: string[];
  run: string | null;
}

/**
 * An event, and the links that it changes.
 */
export interface ModelEvent {
  path: (string | number)[] | null;
  line: number | null;
  text: {
    [k: string]: string;
  };
  yaml: string;
  link: string[];
}

/**
 * What a sweep varies, as it stands in the file.
 */
export interface Varied {
  axes: {
    [k: string]: string;
  };
  repeat: string | null;
}

/**
 * The way from one host to another.
 */
export interface ModelPath {
  from: string;
  to: string;
  nodes: string[];
  round_trip_ns: number;
  bottleneck: string | null;
  bits_per_s: number | null;
}

/**
 * The same with what follows from it, which is not known while there are errors (not `resolved`).
 */
export interface Model {
  name: string | null;
  description: string | null;
  duration: string | null;
  params: {
    [k: string]: string;
  };
  profiles: {
    [k: string]: {
      [k: string]: string;
    };
  };
  topology: {
    [k: string]: string;
  } | null;
  sweep: Varied | null;
  nodes: ModelNode[];
  links: ModelLink[];
  traffic: ModelTraffic[];
  programs: ModelProgram[];
  events: ModelEvent[];
  expect: ListEntry[];
  resolved: boolean;
  duration_ns: number | null;
  seed: number | null;
  every_ns: number | null;
  paths: ModelPath[];
}

/**
 * Problems, errors first, and the model, unless the text is not YAML.
 */
export interface Check {
  problems: Problem[];
  model: Model | null;
}

/**
 * A text after edits, and the lines that these changed.
 */
export interface Edited {
  text: string;
  changed_lines: number[];
  check: Check;
}
