/** The scenario language, as its JSON Schema has it: what may stand at a place, and what it means. */
import { size, span } from '../model/units';
import type { Level, Step } from './place';

export type Schema = {
  $ref?: string;
  $defs?: Record<string, Schema>;
  anyOf?: Schema[];
  oneOf?: Schema[];
  type?: string | string[];
  enum?: unknown[];
  const?: unknown;
  default?: unknown;
  description?: string;
  examples?: unknown[];
  pattern?: string;
  properties?: Record<string, Schema>;
  patternProperties?: Record<string, Schema>;
  additionalProperties?: Schema | boolean;
  required?: string[];
  items?: Schema | boolean;
  prefixItems?: Schema[];
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: number;
  exclusiveMaximum?: number;
};

/** A key that may be written: in which of the alternatives of a place, and what is known of it. */
export type Key = { name: string; schema: Schema; required: boolean };
/** A value that may be written; `about` says what it is. */
export type Value = { text: string; about: string };

const PARAMETER = '#/$defs/Parameter';

/** Everything that `schema` may be: references followed, choices apart, without parameters and null. */
export function alternatives(root: Schema, schema: Schema): Schema[] {
  if (schema.$ref === PARAMETER || schema.type === 'null') return [];
  if (schema.$ref) {
    const named = root.$defs?.[schema.$ref.replace('#/$defs/', '')];
    return named ? alternatives(root, named) : [];
  }
  const choices = schema.oneOf ?? (schema.properties ? undefined : schema.anyOf);
  return choices ? choices.flatMap((each) => alternatives(root, each)) : [schema];
}

/** Those objects whose fixed words are what is written; all, if none is. */
function fitting(all: readonly Schema[], siblings: ReadonlyMap<string, string>): readonly Schema[] {
  const objects = all.filter(
    (each) => each.properties ?? each.patternProperties ?? each.additionalProperties,
  );
  const fit = objects.filter((each) =>
    Object.entries(each.properties ?? {}).every(([key, { const: fixed }]) => {
      const written = siblings.get(key);
      return fixed === undefined || !written || written === String(fixed);
    }),
  );
  return fit.length ? fit : objects;
}

/** What may stand behind one step. */
function behind(schema: Schema, step: Step): Schema[] {
  if (typeof step === 'number') {
    const item = schema.prefixItems?.[step] ?? schema.items;
    return item && typeof item === 'object' ? [item] : [];
  }
  const named = schema.properties?.[step];
  if (named) return [named];
  for (const [pattern, each] of Object.entries(schema.patternProperties ?? {}))
    if (new RegExp(pattern).test(step)) return [each];
  // Names of nodes may be ranges, which patterns do not have.
  const others = schema.additionalProperties ?? Object.values(schema.patternProperties ?? {})[0];
  return others && typeof others === 'object' ? [others] : [];
}

/** What may stand where `levels` lead: behind the last key, or as the mapping that has no key yet. */
export function schemasAt(root: Schema, levels: readonly Level[]): Schema[] {
  let schemas: Schema[] = [root];
  for (const { key, siblings } of levels) {
    if (key === null) return [...fitting(schemas, siblings)];
    const inner = typeof key === 'number' ? schemas : fitting(schemas, siblings);
    schemas = inner.flatMap((each) => behind(each, key)).flatMap((each) => alternatives(root, each));
  }
  return schemas;
}

/** Keys that may be written in the mapping in which `levels` end, without those that it has. */
export function keysAt(root: Schema, levels: readonly Level[], typed: string): Key[] {
  const present = levels.at(-1)?.siblings ?? new Map<string, string>();
  const keys = new Map<string, Key>();
  for (const schema of schemasAt(root, levels))
    for (const [name, each] of Object.entries(schema.properties ?? {})) {
      if (keys.has(name) || (present.has(name) && name !== typed)) continue;
      keys.set(name, { name, schema: each, required: schema.required?.includes(name) ?? false });
    }
  return [...keys.values()];
}

/** The schema of one key of that mapping. */
export function keyAt(root: Schema, levels: readonly Level[], name: string): Schema[] {
  return schemasAt(root, levels).flatMap((each) => behind(each, name));
}

/** Words of a pattern such as `^(ring|mesh)$`. */
const words = (pattern: string): string[] => {
  const found = /^\^\(?([a-z0-9-]+(?:\|[a-z0-9-]+)*)\)?\$$/.exec(pattern)?.[1];
  return found ? found.split('|') : [];
};

/** Values that may be written, the plain ones first. */
export function valuesOf(schemas: readonly Schema[]): Value[] {
  const found = new Map<string, string>();
  const offer = (text: string, about: string): void => {
    if (!found.has(text)) found.set(text, about);
  };
  for (const each of schemas) {
    if (each.const !== undefined) offer(String(each.const), each.description ?? '');
    for (const value of each.enum ?? []) if (value !== null) offer(String(value), '');
    if (each.type === 'boolean') ['true', 'false'].forEach((value) => offer(value, ''));
    for (const word of words(each.pattern ?? '')) offer(word, '');
  }
  for (const each of schemas) {
    for (const example of each.examples ?? []) offer(String(example), 'example');
    const mapping = inBraces(each);
    if (mapping) offer(mapping, each.description ?? '');
  }
  return [...found].map(([text, about]) => ({ text, about }));
}

/** A mapping with its fixed words, and an example of each other key that it needs. */
function inBraces({ properties, required = [] }: Schema): string | null {
  const fixed = Object.entries(properties ?? {}).filter(([, each]) => each.const !== undefined);
  if (!fixed.length) return null;
  const written = fixed.map(([key, each]) => `${key}: ${String(each.const)}`);
  const needed = required
    .filter((key) => properties?.[key]?.const === undefined)
    .map((key) => `${key}: ${exampleOf(properties?.[key]) ?? ''}`.trimEnd());
  return `{${[...written, ...needed].join(', ')}}`;
}

function exampleOf(schema: Schema | undefined): string | null {
  if (!schema) return null;
  const example = schema.examples?.[0];
  if (example !== undefined) return String(example);
  const first = schema.enum?.find((each) => each !== null);
  if (first !== undefined) return String(first);
  for (const each of [...(schema.anyOf ?? []), ...(schema.oneOf ?? [])]) {
    const inner = exampleOf(each);
    if (inner !== null) return inner;
  }
  return null;
}

const bounds = ({ minimum, maximum, exclusiveMinimum, exclusiveMaximum }: Schema): string => {
  const low = minimum ?? exclusiveMinimum;
  const high = maximum ?? exclusiveMaximum;
  if (low === undefined && high === undefined) return '';
  if (high === undefined || high > 1e15) return low === undefined ? '' : ` from ${low}`;
  return low === undefined ? ` up to ${high}` : ` from ${low} to ${high}`;
};

function typeOf(schema: Schema): string {
  if (schema.const !== undefined) return String(schema.const);
  if (schema.enum) return schema.enum.filter((each) => each !== null).join(' | ');
  const listed = words(schema.pattern ?? '');
  if (listed.length) return listed.join(' | ');
  switch (schema.type) {
    case 'object':
      return schema.properties ? 'mapping' : 'mapping of names';
    case 'array':
      return 'list';
    case 'integer':
      return `whole number${bounds(schema)}`;
    case 'number':
      return `number${bounds(schema)}`;
    case 'boolean':
      return 'true | false';
    case 'string': {
      // Patterns of quantities end in their units.
      const units = /\?\(([A-Za-z/|]+)\)\)?\$$/.exec(schema.pattern ?? '')?.[1];
      return units ? `number with unit: ${units.split('|').join(', ')}` : 'text';
    }
    default:
      return '';
  }
}

/** A default as one writes it; none for mappings, whose keys have their own. */
function written(value: unknown): string | null {
  if (typeof value !== 'object' || value === null) return String(value);
  const [unit, number] = Object.entries(value)[0] ?? [];
  if (typeof number !== 'number' || Object.keys(value).length > 1) return null;
  return unit === 'ns' ? span(number) : unit === 'bytes' ? size(number) : null;
}

export type About = { types: string[]; text: string[]; examples: string[]; default: string | null };

/** What is known of a key: types, description, examples, default. */
export function about(root: Schema, schemas: readonly Schema[]): About {
  const all = schemas.flatMap((each) => alternatives(root, each));
  const of = (each: Schema): Schema[] => [each, ...(each.anyOf ?? []).flatMap(of)];
  const outer = schemas.flatMap(of);
  const unique = (texts: (string | undefined)[]): string[] => [
    ...new Set(texts.filter((each): each is string => !!each)),
  ];
  const fallback = outer.map((each) => each.default).find((each) => each !== undefined && each !== null);
  const own = unique(outer.map((each) => each.description));
  return {
    types: unique(all.filter((each) => !each.properties).map(typeOf)),
    text: own.length ? own : unique(all.map((each) => each.description)).slice(0, 3),
    examples: unique([...outer, ...all].flatMap((each) => (each.examples ?? []).map(String))).slice(0, 3),
    default: fallback === undefined ? null : written(fallback),
  };
}
