/** A tree of facts, as results and certificates hold them, in lines to be read: pure. */
import { quantity } from './figures';

export type Fact = { key: string; value: string; depth: number };

const DEEPEST = 3;
/** Ends of names that are units, the longer first. */
const UNITS: readonly [string, string][] = [
  ['bits_per_s', 'bit/s'],
  ['bytes', 'bytes'],
  ['share', 'share'],
  ['ns', 'ns'],
  ['us', 'us'],
  ['s', 's'],
];

/** A name without its unit, and the unit. A name that is nothing but a unit stays: every line has one. */
export function named(key: string): { name: string; unit: string | undefined } {
  const found = UNITS.find(([end]) => key === end || key.endsWith(`_${end}`));
  const bare = found && key !== found[0] ? key.slice(0, -found[0].length - 1) : key;
  return { name: bare.replaceAll('_', ' '), unit: found?.[1] };
}

/** Units go from the names to the values; lists of anything but words, and what lies too deep, are left out. */
export function facts(tree: unknown, depth = 0): Fact[] {
  if (tree === null || typeof tree !== 'object') return [];
  return Object.entries(tree).flatMap(([key, value]): Fact[] => {
    const { name, unit } = named(key);
    const line = (text: string): Fact[] => [{ key: typeof value === 'number' ? name : key.replaceAll('_', ' '), value: text, depth }];
    if (typeof value === 'number') return line(quantity(value, unit));
    if (typeof value === 'string') return line(value);
    if (typeof value === 'boolean') return line(value ? 'yes' : 'no');
    if (Array.isArray(value))
      return value.length && value.every((each) => typeof each === 'string') ? line(value.join('; ')) : [];
    if (depth >= DEEPEST) return [];
    const inner = facts(value, depth + 1);
    return inner.length ? [...line(''), ...inner] : [];
  });
}
