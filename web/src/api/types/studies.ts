/* Written by "npm run types" from the output of "longhaul schema --page"; not edited by hand. */
import type { Axis, SweepFile, SweepSummary, SweepCell } from './files';
import type { Deleted, Annotated, RunRow } from './runs';
import type { Warned, Failure } from './events';

/**
 * A sweep; `label` is its title or name. It can be stopped while it runs, if this server started it.
 */
export interface SweepRow {
  id: string;
  name: string;
  label: string;
  annotations: Annotated;
  status: string;
  started_unix_s: number;
  axes: Axis[];
  variants: number;
  repeats: number;
  directory: string;
  has_report: boolean;
  can_stop: boolean;
}

/**
 * A metric of each run: its name in `metrics`, its title, its unit, and what it is of.
 */
export interface RunMetric {
  name: string;
  title: string;
  unit: string;
  about: string;
}

/**
 * Runs, sweeps and runs in the trash, newest first.
 */
export interface Runs {
  runs: RunRow[];
  sweeps: SweepRow[];
  metrics: RunMetric[];
  deleted: Deleted[];
}

/**
 * How many runs of a sweep have ended, and how long the rest will take, as text.
 */
export interface SweepProgress {
  done: number;
  points: number;
  left_text: string;
}

/**
 * A sweep as far as it is; `progress` is that of one that can be stopped.
 *
 * `charts` are those of `metric`, for `web/src/charts`.
 */
export interface SweepResult {
  row: SweepRow;
  progress: SweepProgress | null;
  messages: (Warned | Failure)[];
  sweep: SweepFile;
  summary: SweepSummary | null;
  metrics: string[];
  rows: SweepCell[];
  metric: string | null;
  charts: {
    [k: string]: unknown;
  }[];
}

/**
 * A side of a comparison: runs that repeat each other.
 *
 * `name` says what tells it from the other sides, `ids` are its runs, `runs` how many of them count.
 */
export interface Group {
  letter: string;
  name: string;
  ids: string[];
  runs: number;
}

/**
 * The mean of a metric over a group, and half the width of its 95 % interval if there is one.
 *
 * `runs` counts repetitions with equal results once, and `n` says so in words.
 */
export interface Estimate {
  mean: number;
  half_width: number | null;
  runs: number;
  repeats: number;
  n: string;
}

/**
 * The difference of a side from the first: its 95 % interval, whether it excludes 0, and both as text.
 */
export interface Contrast {
  difference: number | null;
  half_width: number | null;
  differs: boolean | null;
  text: string;
}

/**
 * A metric of the first side and any other; `contrasts` has one for each side but the first.
 *
 * `first` says that it is among what the report shows first.
 */
export interface Metric {
  metric: string;
  unit: string | null;
  first: boolean;
  estimates: (Estimate | null)[];
  contrasts: (Contrast | null)[];
}

/**
 * A property of the configuration that differs, in the order of the sides.
 */
export interface Configured {
  subject: string;
  what: string;
  values: string[];
}

/**
 * Sides beside each other, as the report of a comparison has them.
 *
 * `repeated` says that some differ in nothing but the seed, so that `grouped` would make one side of
 * them. `charts` are those of `web/src/charts`.
 */
export interface Comparison {
  groups: Group[];
  metrics: Metric[];
  differences: Configured[];
  cautions: string[];
  repeated: boolean;
  charts: {
    [k: string]: unknown;
  }[];
}
