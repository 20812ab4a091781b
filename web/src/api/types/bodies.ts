/* Written by "npm run types" from the output of "longhaul schema --page"; not edited by hand. */

/**
 * The text of a scenario.
 */
export interface ScenarioText {
  text: string;
  /**
   * Values of parameters and keys, as `--set` takes them.
   */
  settings?: {
    [k: string]: string;
  };
  /**
   * `scenario:NAME` where files lie beside one of Longhaul's own; else they lie in the directory.
   */
  base?: string | null;
}

/**
 * What is about to run.
 */
export interface PreflightText {
  text: string;
  /**
   * Values of parameters and keys, as `--set` takes them.
   */
  settings?: {
    [k: string]: string;
  };
  /**
   * `scenario:NAME` where files lie beside one of Longhaul's own; else they lie in the directory.
   */
  base?: string | null;
  mode?: 'live' | 'sim';
  clock?: 'real' | 'virtual';
  kernel?: string | null;
}

/**
 * An edit of the table of machines: `set` of a column, `add` and `remove` of a link's machine.
 */
export interface MachineCell {
  op: 'set' | 'add' | 'remove';
  machine: string;
  column?: 'address' | 'user' | 'device';
  /**
   * Of a device.
   */
  link?: string;
  text?: string;
}

/**
 * A scenario that is to be exported, and how.
 */
export interface ExportWish {
  text: string;
  /**
   * Values of parameters and keys, as `--set` takes them.
   */
  settings?: {
    [k: string]: string;
  };
  /**
   * `scenario:NAME` where files lie beside one of Longhaul's own; else they lie in the directory.
   */
  base?: string | null;
  kind?: 'tc' | 'shell' | 'ansible' | 'containerlab' | 'compose';
  /**
   * The file that maps nodes and links to machines; empty: each node is one.
   */
  machines?: string;
  style?: 'longhaul' | 'ewan';
  /**
   * CONFIG_HZ of the machines' kernels.
   */
  hz?: number;
  /**
   * Of the machines' interfaces.
   */
  line_rate?: string;
  /**
   * Of the containers of containerlab.
   */
  image?: string | null;
}

/**
 * The mapping of a scenario to machines, after edits.
 */
export interface MachinesText {
  text: string;
  /**
   * Values of parameters and keys, as `--set` takes them.
   */
  settings?: {
    [k: string]: string;
  };
  /**
   * `scenario:NAME` where files lie beside one of Longhaul's own; else they lie in the directory.
   */
  base?: string | null;
  machines?: string;
  edits?: MachineCell[];
}

/**
 * What is to be checked of this machine.
 */
export interface MachineCheck {
  /**
   * A scenario that is to run here, if there is one.
   */
  text?: string | null;
  settings?: {
    [k: string]: string;
  };
  base?: string | null;
  /**
   * Whether two hosts are brought up, for a ping and for each MPI.
   */
  self_test?: boolean;
}

/**
 * A calibration that is to start.
 */
export interface CalibrationStart {}

/**
 * A run that is to start.
 */
export interface RunStart {
  text?: string | null;
  /**
   * With `text`: what errors call it.
   */
  file?: string | null;
  settings?: {
    [k: string]: string;
  };
  base?: string | null;
  mode?: 'live' | 'sim';
  seed?: number | null;
  /**
   * Of a live run; `virtual`: each host runs a Linux of its own, and needs a guest kernel.
   */
  clock?: 'real' | 'virtual';
  /**
   * Of the virtual clock: its name or version; `null` for the scenario's, or the newest.
   */
  kernel?: string | null;
  /**
   * Parts of the network that run in parallel; `null` for what the command line takes by default.
   */
  shards?: number | 'auto' | null;
}

/**
 * A scenario whose network is to be divided into shards.
 */
export interface ShardsOf {
  text: string;
  /**
   * Values of parameters and keys, as `--set` takes them.
   */
  settings?: {
    [k: string]: string;
  };
  /**
   * `scenario:NAME` where files lie beside one of Longhaul's own; else they lie in the directory.
   */
  base?: string | null;
  /**
   * `sim`: shards of a simulation; `live`: engine threads of a live run.
   */
  mode?: 'live' | 'sim';
  shards?: number | 'auto';
}

/**
 * A build of a guest kernel that is to start.
 */
export interface KernelBuild {}

/**
 * A sweep that is to start.
 */
export interface SweepStart {
  text?: string | null;
  /**
   * With `text`: what errors call it.
   */
  file?: string | null;
  settings?: {
    [k: string]: string;
  };
  base?: string | null;
}

/**
 * `set` writes a value, `add` does so where nothing is yet.
 */
export interface WriteEdit {
  /**
   * Keys, and positions in lists.
   */
  path: (string | number)[];
  op: 'set' | 'add';
  value?: unknown;
  /**
   * Instead of `value`: as one types it in YAML.
   */
  text?: string | null;
}

/**
 * `rename` gives a key another name, `split` makes an entry of one member of a range.
 */
export interface RenameEdit {
  /**
   * Keys, and positions in lists.
   */
  path: (string | number)[];
  op: 'rename' | 'split';
  value: string;
}

/**
 * `remove` takes something out.
 */
export interface RemoveEdit {
  /**
   * Keys, and positions in lists.
   */
  path: (string | number)[];
  op: 'remove';
  /**
   * Also what cannot be without it.
   */
  references?: boolean;
}

/**
 * Edits of a text, all or none of which are made.
 */
export interface EditsOfText {
  text: string;
  /**
   * Values of parameters and keys, as `--set` takes them.
   */
  settings?: {
    [k: string]: string;
  };
  /**
   * `scenario:NAME` where files lie beside one of Longhaul's own; else they lie in the directory.
   */
  base?: string | null;
  edits: (WriteEdit | RenameEdit | RemoveEdit)[];
}

/**
 * A quantity as one types it.
 */
export interface QuantityText {
  kind: 'delay' | 'rate' | 'loss' | 'size' | 'queue';
  text: string;
}

/**
 * Two places that fibre joins.
 */
export interface FibreEnds {
  /**
   * @minItems 2
   * @maxItems 2
   */
  one: [number, number];
  /**
   * @minItems 2
   * @maxItems 2
   */
  other: [number, number];
  /**
   * Length of the fibre over the great circle; `null` for the rule of ITU-T Y.1541.
   */
  route_factor?: number | null;
}

/**
 * Pairs of places whose fibre is wanted.
 */
export interface FibrePairs {
  pairs: FibreEnds[];
}

/**
 * What a file is to contain.
 */
export interface FileSave {
  text: string;
  /**
   * That of what it contains now; `null` for a new file.
   */
  etag?: string | null;
}

/**
 * A link of a live run whose packets are to be captured.
 */
export interface CaptureStart {
  link: string;
  /**
   * Kept of each packet.
   */
  snaplen_bytes?: number;
}

/**
 * A change of a link of a live run.
 */
export interface LinkChange {
  link: string;
  /**
   * `null` for both.
   */
  way?: ('forward' | 'reverse') | null;
  /**
   * Settings and their values; `up` is true or false.
   */
  changes: {
    [k: string]: string | boolean;
  };
}

/**
 * An impairment that is to be applied to a link of a live run.
 */
export interface ImpairmentStart {
  link: string;
  /**
   * `null` for both.
   */
  way?: ('forward' | 'reverse') | null;
  preset: string;
}

/**
 * A shell that is to start.
 */
export interface TerminalStart {
  host: string;
}

/**
 * New annotations of a run or a sweep.
 */
export interface AnnotationsSave {
  title?: string;
  tags?: string[];
  note?: string;
  /**
   * That of the annotations that are replaced.
   */
  etag: string;
}

/**
 * Runs to archive in one file.
 */
export interface RunArchive {
  runs: string[];
}

/**
 * Runs that are to be compared; those of a list repeat each other.
 */
export interface RunComparison {
  runs: (string | string[])[];
  /**
   * Patterns of names; all metrics if there are none.
   */
  metrics?: string[];
  /**
   * Whether runs that differ in nothing but the seed are one side.
   */
  grouped?: boolean;
  /**
   * Whether charts are wanted.
   */
  charts?: boolean;
}

/**
 * An edit of a table of requests: `set` is of a column, `add` and `remove` of a whole request.
 */
export interface RequestCells {
  op: 'set' | 'add' | 'remove';
  request: string;
  /**
   * Of `set`: `name`, `from`, `to`, `volume`, `release`, `deadline` or `max_rate`.
   */
  column?: string;
  /**
   * Of `set`: what the column is to say; nothing where an optional value is to go.
   */
  text?: string;
  /**
   * Of `add`: the values of the new request.
   */
  cells?: {
    [k: string]: string;
  };
}

/**
 * Requests that are wanted as a table, after edits.
 */
export interface RequestsTable {
  text: string;
  format?: 'yaml' | 'csv';
  /**
   * The text of the scenario whose network they use.
   */
  scenario?: string | null;
  /**
   * Of the scenario, as of any text of a scenario.
   */
  base?: string | null;
  edits?: RequestCells[];
}

/**
 * Bulk transfers that are to be planned.
 */
export interface TransferRequests {
  text: string;
  format?: 'yaml' | 'csv';
  /**
   * The text of the scenario whose network they use.
   */
  scenario?: string | null;
  /**
   * Of the scenario, as of any text of a scenario.
   */
  base?: string | null;
  policy: string;
  /**
   * Rate of each access link, where the text says none.
   */
  capacity?: string | null;
  /**
   * Of the policies that want it: the share of the greatest rate.
   */
  f?: number | null;
  /**
   * Of the policies that want it: the time in which requests are collected, such as `60s`.
   */
  window?: string | null;
}

/**
 * An edit of a trace: `cut` keeps a span, `scale` and `shift` a column, `set` one value of it.
 */
export interface TraceChange {
  op: 'cut' | 'scale' | 'shift' | 'set';
  /**
   * Of all but `cut`: `rtt_ms`, `delay_ms` or `rate_mbit`.
   */
  column?: string;
  /**
   * Factor, summand or new value, in the unit of the column; `null` sets a gap.
   */
  value?: number | null;
  /**
   * Begin of the span, or the time of the value.
   */
  from_s?: number | null;
  to_s?: number | null;
}

/**
 * A trace that is wanted, after edits.
 */
export interface TraceWish {
  /**
   * A file of the directory, or a built-in trace.
   */
  name: string;
  /**
   * Its two ends, in a file with several links; the first link if left out.
   */
  link?: string[] | null;
  edits?: TraceChange[];
}

/**
 * A trace that is to be written as a new file, after edits.
 */
export interface TraceSave {
  /**
   * A file of the directory, or a built-in trace.
   */
  name: string;
  /**
   * Its two ends, in a file with several links; the first link if left out.
   */
  link?: string[] | null;
  edits?: TraceChange[];
}

/**
 * A trace that is to be measured, to another host.
 */
export interface TraceCollection {
  /**
   * HOST:PORT at which `longhaul trace collect --serve` runs.
   */
  to: string;
  /**
   * The new CSV file.
   */
  name: string;
  /**
   * How it is measured.
   */
  style?: 'nws' | 'eventspace' | 'ping' | 'sockets';
  /**
   * How long, with its unit.
   */
  duration?: string;
  /**
   * From one probe to the next, with its unit; the style's own if left out.
   */
  period?: string | null;
  /**
   * Both directions, in turn.
   */
  both?: boolean;
}

/**
 * A relay of one link, in place of a scenario.
 */
export interface RelayLink {
  /**
   * One way, in each direction.
   */
  delay?: string | null;
  rate?: string | null;
  loss?: string | null;
  /**
   * Standard deviation of the delay.
   */
  jitter?: string | null;
  /**
   * `LISTEN=TARGET`, as `--forward` takes them.
   */
  forwards?: string[];
  /**
   * `ADDRESS:PORT` of a SOCKS 5 proxy.
   */
  socks?: string | null;
  /**
   * A file of the directory, whose first line is the password of SOCKS clients.
   */
  password_file?: string | null;
  /**
   * Networks that SOCKS may reach; all if there are none.
   */
  allow?: string[];
}

/**
 * A relay that is wanted: of a scenario in a file, of one of Longhaul's own, or of one link.
 */
export interface RelayWish {
  file?: string | null;
  scenario?: string | null;
  link?: RelayLink | null;
  settings?: {
    [k: string]: string;
  };
  /**
   * The cluster whose gateway this is, where gateways are apart or chained.
   */
  gateway?: string | null;
  /**
   * What `set`, `status` and `down` call it; the scenario's name if left out.
   */
  name?: string | null;
  /**
   * After which it ends, with its unit; it relays until it is stopped if left out.
   */
  duration?: string | null;
  /**
   * Whether each message is recorded.
   */
  messages?: boolean;
  seed?: number | null;
}

/**
 * A relay that is to start.
 */
export interface RelayStart {
  file?: string | null;
  scenario?: string | null;
  link?: RelayLink | null;
  settings?: {
    [k: string]: string;
  };
  /**
   * The cluster whose gateway this is, where gateways are apart or chained.
   */
  gateway?: string | null;
  /**
   * What `set`, `status` and `down` call it; the scenario's name if left out.
   */
  name?: string | null;
  /**
   * After which it ends, with its unit; it relays until it is stopped if left out.
   */
  duration?: string | null;
  /**
   * Whether each message is recorded.
   */
  messages?: boolean;
  seed?: number | null;
  /**
   * Whether it may listen at addresses that other machines can reach.
   */
  reachable?: boolean;
}

/**
 * A scenario whose path map is wanted.
 */
export interface PathMapWish {
  text: string;
  /**
   * Values of parameters and keys, as `--set` takes them.
   */
  settings?: {
    [k: string]: string;
  };
  /**
   * `scenario:NAME` where files lie beside one of Longhaul's own; else they lie in the directory.
   */
  base?: string | null;
  /**
   * Of MPI, which are redirected.
   */
  ports?: string;
}

/**
 * A study that is to run.
 */
export interface StudyStart {
  /**
   * Parts, or `live`, `virtual`, `simulated`, `arithmetic`; all if there are none.
   */
  only?: string[];
  /**
   * Repetitions, instead of each part's own number.
   */
  rounds?: number | null;
  /**
   * A small size, to try it out.
   */
  small?: boolean;
  /**
   * Keep what this commit has measured before an interruption.
   */
  resume?: boolean;
}

/**
 * Bulk transfers that are to be carried out on the network of a scenario.
 */
export interface TransferStart {
  text: string;
  format?: 'yaml' | 'csv';
  /**
   * The text of the scenario whose network they use.
   */
  scenario?: string | null;
  /**
   * Of the scenario, as of any text of a scenario.
   */
  base?: string | null;
  policy: string;
  f?: number | null;
  window?: string | null;
  mode?: 'live' | 'sim';
  settings?: {
    [k: string]: string;
  };
  seed?: number | null;
  /**
   * Share of the window, besides one RTT, that plans keep free before the deadline.
   */
  margin?: number;
  /**
   * Most attempts to start a transfer.
   */
  attempts?: number;
  /**
   * What moves the data of a live run: `paced`, `iperf3`, `rsync` or `rclone`.
   */
  program?: string;
  /**
   * Who paces our own sender.
   */
  pacing?: 'kernel' | 'user';
  /**
   * What errors call the requests.
   */
  requests_file?: string | null;
  /**
   * What errors call the scenario.
   */
  scenario_file?: string | null;
}
