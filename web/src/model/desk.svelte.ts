/** What lies on the desk: one scenario's text, what the server says of it, and what is selected. */
import { api, Refused } from '../api/client';
import type * as Theirs from '../api/types/texts';
import type { Problem, State } from '../api/types/texts';
import type { Edit } from '../api/client';
import type { Model } from '../api/translate';
import { begin, record, redo, undo, type History } from './history';
import { place, type Point } from './layout';
import type { Selected } from './problems';

const DRAFT = 'longhaul-draft';

export type Refusal = Pick<Theirs.Refusal, 'message' | 'remedy'> & {
  code?: string | null;
  explanation?: string | null;
  /** The file that was not written, since it is not as it was read; and whether it is there at all. */
  conflict?: { name: string; there: boolean };
};

/** What an empty page begins with. */
export const EMPTY = `version: 1
name: untitled
duration: 60s
`;

export const desk = $state({
  state: null as State | null,
  /** The server has not answered lately. */
  away: false,
  file: null as string | null,
  /** Where files that the scenario names are found, if not in the directory. */
  base: null as string | null,
  etag: null as string | null,
  saved: '',
  text: EMPTY,
  problems: [] as Problem[],
  model: null as Model | null,
  places: new Map<string, Point>(),
  selected: null as Selected | null,
  /** Lines that the last edit changed, to be shown for a moment. */
  changed: [] as number[],
  /** The last refusal, and its remedy. */
  refusal: null as Refusal | null,
  busy: 0,
  canUndo: false,
  canRedo: false,
  /** Route factors of links whose delay follows another one than the rule's. */
  factors: {} as Record<string, number>,
  /** Grows when another text comes, so that the map is fitted anew. */
  opened: 0,
});

let history: History = begin(EMPTY);
let queue: Promise<unknown> = Promise.resolve();
let typing: ReturnType<typeof setTimeout> | undefined;
let asked = 0;

export const errors = (): Problem[] => desk.problems.filter((problem) => problem.severity === 'error');
/** Nothing is drawn yet: no mistake, but nothing to run either. */
export const blank = (): boolean => desk.problems.some((problem) => problem.severity === 'hint');
/** The server refuses whatever changes files, runs or results. */
export const readOnly = (): boolean => desk.state?.read_only ?? false;
export const unsaved = (): boolean => desk.text !== desk.saved;

/** Says what went wrong in the page's one place for it. */
export function refuse(problem: unknown): void {
  if (problem instanceof Refused) {
    desk.away = problem.status === 0;
    desk.refusal = problem.error;
  } else
    desk.refusal = {
      message: problem instanceof Error ? problem.message : String(problem),
      remedy: null,
    };
}

/** The server is there again, if it had not answered. */
export function answered(): void {
  if (desk.away) desk.refusal = null;
  desk.away = false;
}

function show(next: History): void {
  history = next;
  desk.text = next.now;
  desk.canUndo = next.past.length > 0;
  desk.canRedo = next.future.length > 0;
  sessionStorage.setItem(
    DRAFT,
    JSON.stringify({
      file: desk.file,
      base: desk.base,
      etag: desk.etag,
      saved: desk.saved,
      factors: desk.factors,
      text: next.now,
    }),
  );
}

function take(problems: Problem[], model: Model | null): void {
  desk.problems = problems;
  if (model) {
    desk.model = model;
    desk.places = place(model.nodes, model.links, desk.places);
  }
  answered();
}

async function look(): Promise<void> {
  const mine = ++asked;
  const text = desk.text;
  try {
    const { problems, model } = await api.check(text, desk.base);
    if (mine === asked && text === desk.text) take(problems, model);
  } catch (problem) {
    refuse(problem);
  }
}

/** Asks for the state of the server and takes up the draft of this tab. */
export async function arrive(): Promise<void> {
  try {
    desk.state = await api.state();
  } catch (problem) {
    refuse(problem);
  }
  const draft = sessionStorage.getItem(DRAFT);
  if (draft) {
    const kept = JSON.parse(draft) as Kept & { text: string };
    await lay(kept.text, kept);
  } else {
    const first = desk.state?.files[0];
    if (first) await openFile(first.name);
    else await lay(EMPTY, { ...nothing, saved: EMPTY });
  }
}

type Kept = {
  file: string | null;
  base: string | null;
  etag: string | null;
  saved: string;
  factors?: Record<string, number>;
};
const nothing: Kept = { file: null, base: null, etag: null, saved: '' };

async function lay(text: string, kept: Kept): Promise<void> {
  clearTimeout(typing);
  Object.assign(desk, { file: kept.file, base: kept.base, etag: kept.etag, saved: kept.saved });
  desk.factors = kept.factors ?? {};
  desk.selected = null;
  desk.refusal = null;
  desk.changed = [];
  // The same text is checked anew, and shown meanwhile as it was.
  if (text !== desk.text) Object.assign(desk, { places: new Map(), model: null, problems: [] });
  show(begin(text));
  await look();
  desk.opened++;
}

export const openEmpty = (): Promise<void> => lay(EMPTY, { ...nothing, saved: EMPTY });

export async function openFile(name: string): Promise<void> {
  try {
    const { text, etag } = await api.file(name);
    await lay(text, { file: name, base: null, etag, saved: text });
  } catch (problem) {
    refuse(problem);
  }
}

export async function openScenario(name: string): Promise<void> {
  try {
    const { text, base } = await api.scenario(name);
    await lay(text, { ...nothing, base });
  } catch (problem) {
    refuse(problem);
  }
}

/** A template as a new scenario called `as`; `options` are those of a topology. */
export async function openTemplate(
  name: string,
  as: string,
  options: Record<string, string> = {},
): Promise<void> {
  try {
    await lay((await api.template(name, { ...options, name: as })).text, nothing);
  } catch (problem) {
    refuse(problem);
  }
}

/** Edits of the page, spliced into the text by the server; they wait for each other. Whether they were done. */
export function edit(edits: Edit[]): Promise<boolean> {
  const done = queue.then(async () => {
    desk.busy++;
    try {
      const { text, changed_lines, check } = await api.edit(desk.text, edits, desk.base);
      asked++;
      show(record(history, text));
      desk.changed = changed_lines;
      desk.refusal = null;
      take(check.problems, check.model);
      return true;
    } catch (problem) {
      refuse(problem);
      return false;
    } finally {
      desk.busy--;
    }
  });
  queue = done;
  return done;
}

/** When all edits that were asked for are in the text. */
export const settled = (): Promise<unknown> => queue;

/** Text as it is typed; what is typed in one `group` is undone together. */
export function type(text: string, group = 'typing'): void {
  show(record(history, text, group));
  desk.changed = [];
  clearTimeout(typing);
  typing = setTimeout(() => void look(), 300);
}

function step(next: History): void {
  if (next === history) return;
  show(next);
  desk.changed = [];
  void look();
}

export const back = (): void => step(undo(history));
export const forth = (): void => step(redo(history));

/** What tells the content of a file from others, null where there is no such file. */
async function present(name: string): Promise<string | null> {
  try {
    return (await api.file(name)).etag ?? null;
  } catch (problem) {
    if (problem instanceof Refused && problem.status === 404) return null;
    throw problem;
  }
}

/** Saves under `name`; false where the file has changed meanwhile or cannot be written. */
export async function save(name: string, { overwrite = false } = {}): Promise<boolean> {
  const text = desk.text;
  try {
    const etag = overwrite ? await present(name) : name === desk.file ? desk.etag : null;
    const answer = await api.save(name, text, etag);
    desk.file = name;
    desk.etag = answer.etag;
    desk.saved = text;
    desk.refusal = null;
    show(history);
    desk.state = await api.state();
    answered();
    return true;
  } catch (problem) {
    refuse(problem);
    if (desk.refusal && problem instanceof Refused && problem.status === 409)
      desk.refusal.conflict = { name, there: (await present(name).catch(() => null)) !== null };
    return false;
  }
}

export function select(selected: Selected | null): void {
  desk.selected = selected;
}
