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
}

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
}

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
 * Bulk transfers that are to be planned.
 */
export interface TransferRequests {
  text: string;
  policy: string;
  format?: 'yaml' | 'csv';
  /**
   * The text of the scenario whose network they use.
   */
  scenario?: string | null;
  base?: string | null;
  /**
   * Rate of each access link, where the text says none.
   */
  capacity?: string | null;
}
