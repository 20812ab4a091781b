/** A tree of facts, as results hold them, in lines to be read: pure. */
import { quantity } from './figures';

export type Fact = { key: string; value: string; depth: number };

const DEEPEST = 3;
/** Ends of names that are units, the longer first. */
const UNITS: readonly [string, string][] = [
  ['bits_per_s', 'bit/s'],
  ['per_s', '/s'],
  ['bytes', 'bytes'],
  ['share', 'share'],
  ['ns', 'ns'],
  ['s', 's'],
];

/** A number's name without its unit, and the unit. A name that is nothing but a unit stays, so that no line is nameless. */
export function named(key: string): { name: string; unit: string | undefined } {
  const found = UNITS.find(([end]) => key === end || key.endsWith(`_${end}`));
  const bare = found && key !== found[0] ? key.slice(0, -found[0].length - 1) : key;
  return { name: plain(bare), unit: found?.[1] };
}

const plain = (key: string): string => key.replaceAll('_', ' ');

/** Units go from names to values. Lists of anything but words are left out, and what has nothing in it. */
export function facts(tree: unknown, depth = 0): Fact[] {
  if (tree === null || typeof tree !== 'object') return [];
  return Object.entries(tree).flatMap(([key, value]): Fact[] => {
    if (typeof value === 'number') {
      const { name, unit } = named(key);
      return [{ key: name, value: quantity(value, unit), depth }];
    }
    const line = (text: string): Fact => ({ key: plain(key), value: text, depth });
    if (typeof value === 'string') return [line(value)];
    if (typeof value === 'boolean') return [line(value ? 'yes' : 'no')];
    if (Array.isArray(value))
      return value.length && value.every((each) => typeof each === 'string') ? [line(value.join('; '))] : [];
    const inner = depth < DEEPEST ? facts(value, depth + 1) : [];
    return inner.length ? [line(''), ...inner] : [];
  });
}
