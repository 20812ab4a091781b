/** The server's model of a scenario, as the page wants it: nothing null that has a plain default, items in one line. */
import type { Check, Item, LinkText, Model, ModelLink, ModelNode, Problem, Way } from './types';

type Told = Record<string, string>;
type TheirItem = {
  name?: string;
  simulated?: boolean;
  path: (string | number)[];
  line: number | null;
  text: Told;
  yaml?: string;
};
type TheirLink = Omit<ModelLink, 'forward' | 'reverse' | 'text'> & {
  profile: string | null;
  text: LinkText | null;
  forward: Way | null;
  reverse: Way | null;
};
type TheirModel = {
  name: string | null;
  params: Told | null;
  profiles: Record<string, unknown> | null;
  nodes: ModelNode[];
  links: TheirLink[];
  traffic: TheirItem[];
  programs: TheirItem[];
  events: TheirItem[];
  sweep: Model['sweep'];
  duration_ns: number | null;
};
export type TheirCheck = { problems: Problem[]; model: TheirModel | null };

const NO_WAY: Way = { delay_ns: null, rate_bits_per_s: null, loss: null };

const link = (theirs: TheirLink): ModelLink => ({
  ...theirs,
  text: { ...theirs.text, ...(theirs.profile ? { profile: theirs.profile } : {}) },
  forward: theirs.forward ?? NO_WAY,
  reverse: theirs.reverse ?? NO_WAY,
});

/** What stands under several keys, as one mapping in YAML's flow style. */
export const oneLine = (text: Told): string =>
  `{${Object.entries(text)
    .map(([key, value]) => `${key}: ${quoted(value)}`)
    .join(', ')}}`;

/** A word as it has to stand within braces; collections and quoted words are that already. */
const quoted = (value: string): string =>
  /^[[{"']/.test(value) ||
  (/^[^,[\]{}#&*!|>'"%@`]([^,[\]{}#]*)$/.test(value) && !/: |:$|^[-?:] | $/.test(value))
    ? value
    : JSON.stringify(value);

const item = (theirs: TheirItem): Item => ({
  name: theirs.name ?? String(theirs.path.at(-1)),
  text: theirs.yaml ?? oneLine(theirs.text),
  ...(theirs.simulated === undefined ? {} : { simulated: theirs.simulated }),
  line: theirs.line,
});

const model = (theirs: TheirModel): Model => ({
  name: theirs.name,
  nodes: theirs.nodes,
  links: theirs.links.map(link),
  traffic: theirs.traffic.map(item),
  programs: theirs.programs.map(item),
  events: theirs.events.map(item),
  profiles: Object.keys(theirs.profiles ?? {}),
  params: theirs.params ?? {},
  sweep: theirs.sweep ?? null,
  duration_ns: theirs.duration_ns,
});

export const check = (theirs: TheirCheck): Check => ({
  problems: theirs.problems,
  model: theirs.model && model(theirs.model),
});
