/* Written by "npm run types" from the output of "longhaul schema --page"; not edited by hand. */
import type { Certificate } from './certificate';

/**
 * What is wrong in a text, or stands in the way of a run; without a line if it is not in the text.
 */
export interface Problem {
  code: string | null;
  explanation: string | null;
  path: string;
  line: number | null;
  column: number | null;
  width: number;
  message: string;
  remedy: string | null;
  severity: 'error' | 'warning' | 'hint';
}

/**
 * Why there is no answer: the first problem, and all of a text that cannot be run.
 */
export interface Refusal {
  code: string;
  explanation?: string;
  message: string;
  remedy: string | null;
  path?: string;
  line?: number | null;
  column?: number | null;
  in_range?: string | null;
  problems?: Problem[];
}

/**
 * The answer of a status from 400 on.
 */
export interface Refused {
  error: Refusal;
}

/**
 * It was asked for, and there is nothing to say.
 */
export interface Done {
  ok: true;
}

/**
 * Of a template: its default, and the words that it can be, if not any; `about` says what it is.
 */
export interface Option {
  name: string;
  about: string;
  default: string;
  choices: string[];
}

/**
 * A text to begin with.
 */
export interface Template {
  name: string;
  title: string;
  options: Option[];
}

/**
 * A scenario that came with Longhaul; its title is the comment's first line.
 */
export interface BuiltIn {
  name: string;
  title: string;
  comment: string;
}

/**
 * A scenario file of the directory.
 */
export interface FileEntry {
  name: string;
  mtime_unix_s: number;
  etag: string;
}

/**
 * One thing that was looked at; poor costs accuracy or comfort, missing makes live runs impossible.
 */
export interface Finding {
  what: string;
  state: 'good' | 'poor' | 'missing';
  detail: string;
  fix: string | null;
}

/**
 * This machine.
 */
export interface Host {
  name: string;
  kernel: string;
  cpus: number | null;
  findings: Finding[];
}

/**
 * Whether live runs are possible, and if not, why.
 */
export interface Can {
  live: boolean;
  why: string | null;
  remedy: string | null;
}

/**
 * What the page needs to begin.
 */
export interface State {
  version: string;
  directory: string;
  host: Host;
  can: Can;
  read_only: boolean;
  templates: Template[];
  scenarios: BuiltIn[];
  files: FileEntry[];
}

/**
 * A scenario that came with Longhaul; with its `base`, files that the text names are found.
 */
export interface BuiltInText {
  name: string;
  text: string;
  base: string;
}

/**
 * A template, filled in.
 */
export interface TemplateText {
  text: string;
}

/**
 * A file, and what tells its content from another.
 */
export interface FileText {
  name: string;
  text: string;
  etag: string;
}

/**
 * A file that was written.
 */
export interface Saved {
  name: string;
  etag: string;
}

/**
 * What stands between a text and a faithful run.
 */
export interface Preflight {
  warnings: Problem[];
  expected: string | null;
}

/**
 * What was found on this machine, and of a scenario on it.
 */
export interface Findings {
  findings: Finding[];
}

/**
 * A quantity in ns, bit/s, bytes, or a share, with its exact spelling; or what is wrong with it.
 */
export interface Quantity {
  ok: boolean;
  value: number | null;
  canonical: string | null;
  message: string | null;
  remedy: string | null;
}

/**
 * What `longhaul calibrate` measured here, if ever.
 */
export interface Certified {
  certificate: Certificate | null;
}
