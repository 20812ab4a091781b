/* Written by "npm run types" from the output of "longhaul schema --page"; not edited by hand. */
import type { Problem, FileEntry } from './texts';
import type { Piece } from './files';

/**
 * How transfers can be planned.
 */
export interface Policy {
  name: string;
  about: string;
  wants: string[];
}

/**
 * All of them.
 */
export interface Policies {
  policies: Policy[];
}

/**
 * A request, and what it gets.
 */
export interface RequestPlanned {
  from: string;
  to: string;
  request: string;
  volume_bytes: number;
  release_s: number;
  deadline_s: number | null;
  satisfied: boolean;
  reason: string | null;
  start_s: number | null;
  finish_s: number | null;
  bits_per_s: number | null;
  pieces: Piece[];
}

/**
 * A link that transfers share, and the most that they ask of it.
 */
export interface PlannedLink {
  link: string;
  bits_per_s: number;
  peak_bits_per_s: number;
}

/**
 * A plan of transfers; `measures` are numbers, and `bottleneck` names a link.
 *
 * `charts`: when requests move, and the load of links, for `web/src/charts`.
 */
export interface TransferPlan {
  policy: string;
  measures: {
    [k: string]: number | string | null;
  };
  congestion: number | null;
  requests: RequestPlanned[];
  links: PlannedLink[];
  charts: {
    [k: string]: unknown;
  }[];
}

/**
 * A request as it is written: the text of each column, empty where nothing is.
 */
export interface RequestCell {
  name: string;
  line: number;
  cells: {
    [k: string]: string;
  };
}

/**
 * A file of requests as a table; `ends` are the names that `from` and `to` can have.
 */
export interface RequestsRead {
  text: string;
  rows: RequestCell[];
  ends: string[];
  problems: Problem[];
}

/**
 * Requests that came with Longhaul, and the scenario that they are for.
 */
export interface ExampleRequests {
  name: string;
  text: string;
  scenario_name: string;
  scenario: string;
}

/**
 * Files of requests in the directory, and examples.
 */
export interface RequestFiles {
  files: FileEntry[];
  examples: ExampleRequests[];
}

/**
 * How many requests are over, how much has arrived, and how long the rest will take, as text.
 */
export interface TransferProgress {
  over: number;
  requests: number;
  moved_bytes: number;
  volume_bytes: number;
  left_text: string;
}

/**
 * Transfers that are carried out; `progress` is `null` but for a run that this server started.
 */
export interface TransferRun {
  progress: TransferProgress | null;
}
