/** The server's model of a scenario, as the page wants it: nothing null that has a plain default, items in one line. */
import type * as Theirs from './types/drawings';
import type { RunNetwork } from './types/runs';
import type { Problem } from './types/texts';
import type { Link } from './language';

export type { ModelNode } from './types/drawings';
/** One direction of a link: null where it is not known, or has no bound. */
export type Way = Pick<Theirs.Way, 'delay_ns' | 'rate_bits_per_s' | 'loss' | 'up'> & { queue: string | null };
/** Values as they stand in the file under the link's key. */
export type LinkText = Partial<
  Record<keyof Pick<Link, 'delay' | 'rate' | 'loss' | 'queue' | 'mtu' | 'profile' | 'up'>, string>
> & {
  forward?: LinkText;
  reverse?: LinkText;
};
export type ModelLink = Omit<Theirs.ModelLink, 'text' | 'ways' | 'forward' | 'reverse'> & {
  text: LinkText;
  forward: Way;
  reverse: Way;
};
export type Item = {
  name: string;
  /** Of traffic: whether it is simulated in a live run, too. */
  simulated?: boolean;
  /** As it would stand in one line. */
  text: string;
  line: number | null;
};
export type Model = Pick<Theirs.Model, 'name' | 'duration' | 'nodes' | 'params' | 'sweep' | 'duration_ns'> & {
  links: ModelLink[];
  traffic: Item[];
  programs: Item[];
  events: Item[];
  /** Their names. */
  profiles: string[];
};
export type Check = { problems: Problem[]; model: Model | null };

/** Of a page on which nothing is drawn yet. */
export const NO_MODEL: Model = {
  name: null,
  duration: null,
  nodes: [],
  links: [],
  traffic: [],
  programs: [],
  events: [],
  profiles: [],
  params: {},
  sweep: null,
  duration_ns: null,
};
const NO_WAY: Way = { delay_ns: null, rate_bits_per_s: null, loss: null, queue: null, up: true };

const link = ({ profile, text, ways, ...theirs }: Theirs.ModelLink): ModelLink => ({
  ...theirs,
  profile,
  text: { ...text, ...(profile ? { profile } : {}), ...ways },
  forward: theirs.forward ?? NO_WAY,
  reverse: theirs.reverse ?? NO_WAY,
});

/** What stands under several keys, as one mapping in YAML's flow style. */
export const oneLine = (text: Record<string, string>): string =>
  `{${Object.entries(text)
    .map(([key, value]) => `${key}: ${quoted(value)}`)
    .join(', ')}}`;

/** A word as it has to stand within braces; collections and quoted words are that already. */
const quoted = (value: string): string =>
  /^[[{"']/.test(value) ||
  (/^[^,[\]{}#&*!|>'"%@`]([^,[\]{}#]*)$/.test(value) && !/: |:$|^[-?:] | $/.test(value))
    ? value
    : JSON.stringify(value);

const model = (theirs: Theirs.Model): Model => ({
  ...theirs,
  links: theirs.links.map(link),
  traffic: theirs.traffic.map(({ name, text, line, simulated }) => ({
    name,
    text: oneLine(text),
    line,
    simulated,
  })),
  programs: theirs.programs.map(({ name, text, line }) => ({ name, text: oneLine(text), line })),
  events: theirs.events.map(({ yaml, line }, at) => ({ name: String(at), text: yaml, line })),
  profiles: Object.keys(theirs.profiles),
});

export const check = ({ problems, model: theirs }: Theirs.Check): Check => ({
  problems,
  model: theirs && model(theirs),
});

/** The network of a run, to be drawn as that of a text is. */
export const network = ({ scenario, nodes, links }: RunNetwork): { scenario: string; network: Model } => ({
  scenario,
  network: { ...NO_MODEL, nodes, links: links.map(link) },
});
