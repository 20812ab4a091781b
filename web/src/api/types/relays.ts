/* Written by "npm run types" from the output of "longhaul schema --page"; not edited by hand. */
import type { Problem } from './texts';
import type { OutcomeLine, NetworkChange } from './runs';

/**
 * A relay.
 *
 * `name` is what `set`, `status` and `down` call it; `job` what runs it, if the page started it.
 */
export interface RelayRow {
  run: string;
  name: string;
  label: string;
  started_unix_s: number;
  running: boolean;
  job: string | null;
  outcome: OutcomeLine;
  verdict: string | null;
  verdict_text: string | null;
}

/**
 * A scenario with a section `relay`; `own` if it came with Longhaul.
 */
export interface RelaySource {
  name: string;
  own: boolean;
}

/**
 * Relays of the directory, newest first, and scenarios that relays can be started from.
 */
export interface RelayList {
  relays: RelayRow[];
  scenarios: RelaySource[];
}

/**
 * What a relay would be.
 *
 * `reachable` are its listeners that other machines can reach; `warnings` those of the command line.
 */
export interface RelayCheck {
  name: string;
  command: string;
  listeners: string[];
  reachable: string[];
  warnings: Problem[];
}

/**
 * What connects at `address`, from which cluster, and where a forward leads.
 */
export interface Listener {
  from: string | null;
  to: string | null;
  kind: string;
  address: string;
}

/**
 * One direction of a link: its bytes so far, and its models now.
 */
export interface RelayLinkNow {
  name: string;
  way: 'forward' | 'reverse';
  offered_bytes: number;
  delivered_bytes: number;
  lost_pieces: number;
  delay_ns: number | null;
  bits_per_s: number | null;
  loss: number | null;
  up: boolean;
}

/**
 * Connections of a relay, by what became of them.
 */
export interface RelayConnections {
  accepted: number;
  open: number;
  completed: number;
  broken: number;
  refused: number;
  failed: number;
  [k: string]: unknown;
}

/**
 * How a relay is doing, or what it did; figures are `null` while it starts and where it left none.
 *
 * `fidelity` is that of `fidelity.json`: of a running relay, by what it has counted so far.
 */
export interface RelayState {
  run: string;
  name: string;
  label: string;
  started_unix_s: number;
  running: boolean;
  job: string | null;
  outcome: OutcomeLine;
  verdict: string | null;
  verdict_text: string | null;
  duration_ns: number | null;
  listeners: Listener[];
  connections: RelayConnections | null;
  bytes: number | null;
  pieces: number | null;
  datagrams: number | null;
  links: RelayLinkNow[];
  fidelity: {
    [k: string]: unknown;
  } | null;
  changes: NetworkChange[];
  has_report: boolean;
  directory: string;
}

/**
 * What a relay carried over time, for `web/src/charts`; `recorded`: whether it logs messages.
 */
export interface RelayCharts {
  recorded: boolean;
  charts: {
    [k: string]: unknown;
  }[];
}

/**
 * A port of a gateway that leads to a machine of another cluster.
 */
export interface PathMapForward {
  listen: string;
  to: string;
  target: string;
  cluster: string | null;
  protocol: 'tcp' | 'udp';
}

/**
 * The path to another cluster.
 */
export interface PathMapPath {
  to: string;
  links: string[];
  one_way_ns: number;
  round_trip_ns: number;
  rate_bits_per_s: number | null;
  gateways: string[];
}

/**
 * A cluster: its machines, how they reach the others, and settings for them.
 *
 * `shell`, `ssh` and `redirect` are what `longhaul relay paths` prints with these options.
 */
export interface PathMapCluster {
  cluster: string;
  site: string;
  gateway: string | null;
  machines: string[];
  names: {
    [k: string]: string;
  };
  socks: string | null;
  password_file: string | null;
  forwards: PathMapForward[];
  paths: PathMapPath[];
  shell: string;
  ssh: string;
  redirect: string;
}

/**
 * The path map of a scenario: how its gateways are divided, and `mpi`, settings of all machines.
 */
export interface PathMap {
  gateways: 'together' | 'apart' | 'chained';
  clusters: PathMapCluster[];
  mpi: string;
}
