/** The tasks of a researcher, as tasks.toml has them. */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import type { Person } from './person';
import { longhaul } from './server';

export type Way = 'mouse' | 'keyboard';
export type Task = {
  name: string;
  mouse: number;
  keyboard: number;
  /** What another program needs, if it can. */
  steps?: { do: string; actions: number }[];
  why?: string;
};

export const python = (text: string, ...words: string[]): string =>
  execFileSync(join(longhaul, '../python'), ['-c', text, ...words], { encoding: 'utf8' });
export const TASKS = (
  JSON.parse(
    python(
      'import json, sys, tomllib; print(json.dumps(tomllib.load(open(sys.argv[1], "rb"))))',
      join(import.meta.dirname, 'tasks.toml'),
    ),
  ) as { task: Task[] }
).task;

/** A task: what it begins with, how it is done in one way or the other, and what is there then. */
export type Steps<Start> = {
  begin: (way: Way) => Promise<{ page: Page; start: Start }>;
  mouse: (person: Person, page: Page, start: Start) => Promise<unknown>;
  keyboard: (person: Person, page: Page, start: Start) => Promise<unknown>;
  check: (page: Page, start: Start, way: Way, done: unknown) => Promise<void> | void;
};

/** Prints the goodputs in a sweep's summary. */
export const GOODPUTS = `import json, sys
import pyarrow.parquet as parquet
rows = parquet.read_table(sys.argv[1]).to_pylist()
print(json.dumps([row for row in rows if row["metric"] == "flows.bulk.goodput"]))`;
