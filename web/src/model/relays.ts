/** Relays: what a form means, and where its scenario is. Pure. */
import type { Bodies } from '../api/types/addresses';
import type { RelaySource } from '../api/types/relays';

export type RelayWish = Bodies['POST /relays/check'];
export type RelayLink = NonNullable<RelayWish['link']>;

/** What a person types for a relay of one link; empty where nothing is. */
export type LinkForm = Record<
  'delay' | 'rate' | 'loss' | 'jitter' | 'forwards' | 'socks' | 'allow' | 'password',
  string
>;
export const NO_LINK: LinkForm = {
  delay: '',
  rate: '',
  loss: '',
  jitter: '',
  forwards: '',
  socks: '',
  allow: '',
  password: '',
};

/** Where a scenario is that a relay can start from: a file, one of Longhaul's own, or the text on Edit alone. */
export type Choice = { kind: 'file' | 'own' | 'edit'; name: string };
export const written = ({ kind, name }: Choice): string => `${kind}:${name}`;
export function read(text: string): Choice {
  const [kind = '', ...name] = text.split(':');
  return { kind: kind as Choice['kind'], name: name.join(':') };
}

/** What is on Edit: its file, and the name of the scenario of Longhaul's own that it is unchanged. */
export type OnEdit = { text: string; file: string | null; unchanged: string | null };
export const hasRelay = (text: string): boolean => /^relay[ \t]*:/m.test(text);

/** What to choose from; what is on Edit is first. */
export function choices(sources: readonly RelaySource[], onEdit: OnEdit): Choice[] {
  const found: Choice[] = sources.map(({ name, own }) => ({ kind: own ? 'own' : 'file', name }));
  const here = (each: Choice): boolean =>
    each.kind === 'file' ? each.name === onEdit.file : each.kind === 'own' && each.name === onEdit.unchanged;
  const first = found.filter(here);
  const rest = found.filter((each) => !here(each));
  if (first.length || !hasRelay(onEdit.text)) return [...first, ...rest];
  return [{ kind: 'edit', name: onEdit.file ?? '' }, ...rest];
}

const listed = (text: string): string[] => text.split(/[\s,]+/).filter(Boolean);

export function linkOf(form: LinkForm): RelayLink {
  const said = (text: string): string | null => text.trim() || null;
  return {
    delay: said(form.delay),
    rate: said(form.rate),
    loss: said(form.loss),
    jitter: said(form.jitter),
    forwards: listed(form.forwards),
    socks: said(form.socks),
    allow: listed(form.allow),
    password_file: said(form.password),
  };
}

/** `socks=0 port=0` as parameters; null where a word is none. */
export function settingsOf(text: string): Record<string, string> | null {
  const words = text.split(/\s+/).filter(Boolean);
  if (!words.every((each) => /^[^=]+=./.test(each))) return null;
  return Object.fromEntries(
    words.map((each) => [each.slice(0, each.indexOf('=')), each.slice(each.indexOf('=') + 1)]),
  );
}
