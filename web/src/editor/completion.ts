/** What can be written at the cursor, and what the word under the pointer means: from the schema and the drawn network. */
import type { Completion, CompletionContext, CompletionResult } from '@codemirror/autocomplete';
import type { Model } from '../api/translate';
import { placeAt, type Level, type Place } from './place';
import { about, alternatives, keyAt, keysAt, schemasAt, valuesOf, type About, type Schema } from './schema';

/** What the scenario itself has names for. */
export type Names = Pick<Model, 'nodes' | 'links' | 'profiles' | 'params'>;

/** Keys whose values are names of the file; `profile` also where models may stand. */
const REFERENCES: Record<string, 'node' | 'host' | 'link' | 'profile'> = {
  attach: 'node',
  endpoints: 'node',
  via: 'node',
  from: 'host',
  to: 'host',
  host: 'host',
  hosts: 'host',
  link: 'link',
  links: 'link',
  profile: 'profile',
  access: 'profile',
  wan: 'profile',
};

function referenced(levels: readonly Level[], { nodes, links, profiles }: Names): Completion[] {
  const path = levels.map((each) => each.key).filter((each) => typeof each === 'string');
  const key = path.at(-1);
  const kind = path.length > 1 && key !== undefined ? REFERENCES[key] : undefined;
  switch (kind) {
    case undefined:
      return [];
    case 'profile':
      return profiles.map((label) => ({ label, detail: 'profile', type: 'variable', boost: 2 }));
    case 'link':
      return links
        .filter((each) => !each.attachment)
        .map(({ name, a, b }) => ({ label: name, detail: `${a} – ${b}`, type: 'variable', boost: 2 }));
    default:
      return nodes
        .filter((each) => kind === 'node' || each.kind === 'host')
        .map(({ name, kind: of }) => ({
          label: name,
          detail: of,
          type: 'variable',
          boost: of === 'router' ? 3 : 2,
        }));
  }
}

const parameters = ({ params }: Names): Completion[] =>
  Object.entries(params).map(([name, value]) => ({
    label: `$${name}`,
    detail: value,
    type: 'constant',
    boost: -1,
  }));

/** Keys and values for the text before the cursor; null where nothing is known. */
export function completions(
  root: Schema,
  names: Names | null,
  { text, cursor, explicit }: { text: string; cursor: number; explicit: boolean },
): CompletionResult | null {
  const place = placeAt(text, cursor);
  if (!place) return null;
  const { levels, expects, from, word } = place;
  if (
    !explicit &&
    word === '' &&
    !/[:[{,] ?$|^\s*- $/.test(
      text
        .slice(Math.max(0, cursor - 20), cursor)
        .split('\n')
        .at(-1)!,
    )
  )
    return null;
  const options: Completion[] = [];
  const listItem = expects === 'key' && typeof levels.at(-2)?.key === 'number';
  if (expects === 'key') {
    const rest = text.slice(cursor);
    const written = /^[\w-]*\s*:/.test(rest);
    for (const { name, schema, required } of keysAt(root, levels, word)) {
      const known = about(root, [schema]);
      options.push({
        label: name,
        detail: required ? 'required' : (known.types[0] ?? ''),
        info: () => describe(name, known),
        type: 'property',
        boost: required ? 1 : 0,
        ...(written ? {} : { apply: `${name}: ` }),
      });
    }
  }
  if (expects === 'value' || listItem) {
    const at = listItem ? levels.slice(0, -1) : levels;
    for (const { text: value, about: said } of valuesOf(schemasAt(root, at)))
      options.push({ label: value, detail: said, type: 'enum' });
    if (names) options.push(...referenced(at, names), ...parameters(names));
  }
  return options.length ? { from, options: once(options), validFor: /^[\w$.-]*$/ } : null;
}

function once(options: readonly Completion[]): Completion[] {
  const seen = new Set<string>();
  return options.filter(({ label }) => !seen.has(label) && seen.add(label));
}

/** Where coordinates are written: `at` of a node or a site, or the site itself, and the letters typed for a city. */
export function cityTyped(text: string, cursor: number): { from: number; name: string } | null {
  const place = placeAt(text, cursor);
  if (place?.expects !== 'value') return null;
  const path = place.levels.map((each) => each.key);
  const isPlace =
    (path[0] === 'nodes' && path.length === 3 && path[2] === 'at') ||
    (path[0] === 'topology' && path[1] === 'sites' && (path.length === 3 || path[3] === 'at'));
  const name = /[\p{L}][\p{L}' -]*$/u.exec(
    text
      .slice(Math.max(0, cursor - 60), cursor)
      .split('\n')
      .at(-1)!
      .replace(/^.*[:{,]\s*/, ''),
  )?.[0];
  return isPlace && name ? { from: cursor - name.length, name } : null;
}

/** As an extension of the editor asks for it. */
export const source =
  (
    schema: () => Promise<Schema | null>,
    names: () => Names | null,
    cities: (name: string) => Promise<Completion[]>,
  ) =>
  async (context: CompletionContext): Promise<CompletionResult | null> => {
    const city = cityTyped(context.state.doc.toString(), context.pos);
    if (city) return { from: city.from, options: await cities(city.name), filter: false };
    const root = await schema();
    if (!root) return null;
    return completions(root, names(), {
      text: context.state.doc.toString(),
      cursor: context.pos,
      explicit: context.explicit,
    });
  };

/** The word around an offset: where it is, and what is known of its key. */
export function meaning(
  root: Schema,
  text: string,
  offset: number,
): { from: number; to: number; name: string; known: About } | null {
  const ends = /^[\w.$%/-]*/.exec(text.slice(offset))?.[0].length ?? 0;
  const starts = /[\w.$%/-]*$/.exec(text.slice(Math.max(0, offset - 200), offset))?.[0].length ?? 0;
  const [from, to] = [offset - starts, offset + ends];
  if (from === to) return null;
  const place = placeAt(text, to);
  if (!place) return null;
  const word = text.slice(from, to);
  const isKey = place.expects === 'key';
  const name = isKey ? word : lastKey(place);
  if (name === null) return null;
  const schemas = isKey ? keyAt(root, place.levels, word) : schemasAt(root, place.levels);
  if (!schemas.length) return null;
  // A name of the file, such as that of a node: what it names is known.
  const known = about(root, isKey ? schemas : schemas.flatMap((each) => alternatives(root, each)));
  return known.text.length || known.types.length ? { from, to, name, known } : null;
}

function lastKey({ levels }: Place): string | null {
  return levels.map((each) => each.key).findLast((each) => typeof each === 'string') ?? null;
}

/** A key's meaning as a small page. */
export function describe(name: string, { types, text, examples, default: fallback }: About): HTMLElement {
  const page = document.createElement('div');
  page.className = 'about';
  const line = (className: string, content: string): void => {
    const element = document.createElement('p');
    element.className = className;
    element.textContent = content;
    page.append(element);
  };
  line('about-name', name);
  text.forEach((each) => line('', each));
  if (types.length) line('about-types', types.join('; or '));
  if (examples.length) line('about-examples', `such as ${examples.join(', ')}`);
  if (fallback !== null) line('about-examples', `default: ${fallback}`);
  return page;
}
