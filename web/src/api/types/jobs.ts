/* Written by "npm run types" from the output of "longhaul schema --page"; not edited by hand. */

/**
 * How many steps of a job are over, what it does now, and how long the rest takes, as text.
 */
export interface JobProgress {
  done: number;
  of: number;
  text: string;
  left_text: string;
}

/**
 * A job; `command` is what does the same on the command line.
 */
export interface Job {
  id: string;
  kind: string;
  title: string;
  command: string;
  state: 'running' | 'stopping' | 'done' | 'failed' | 'stopped';
  exit_code: number | null;
  started_unix_s: number;
  ended_unix_s: number | null;
  progress: JobProgress | null;
  last_line: string;
}

/**
 * The jobs of this server, newest first.
 */
export interface JobList {
  jobs: Job[];
}

/**
 * A job, lines of its output, and how many lines it has written in all.
 */
export interface JobOutput {
  job: Job;
  lines: string[];
  said: number;
}
