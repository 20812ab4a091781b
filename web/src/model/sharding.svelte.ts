/** Into how many shards a network is divided: what is typed, for previews on Edit and for runs. */

export const MOST_SHARDS = 1024;

export const sharding = $state({
  /** Of the next run; nothing for what the command line takes by default. */
  ofRuns: '',
  /** How the page Run is to run next, if the page Edit has said so. */
  mode: null as 'live' | 'sim' | null,
  /** Of the preview on the page Edit. */
  shown: 'auto',
});

/** A number of shards as it is typed: null for nothing, undefined for what is no number of shards. */
export function shardsOf(text: string): number | 'auto' | null | undefined {
  const word = text.trim();
  if (word === '') return null;
  if (word === 'auto') return word;
  const count = /^\d{1,4}$/.test(word) ? Number(word) : 0;
  return count >= 1 && count <= MOST_SHARDS ? count : undefined;
}

/** The part of each node of a divided network. */
export const partOf = (parts: readonly { nodes: readonly string[] }[]): ReadonlyMap<string, number> =>
  new Map(parts.flatMap(({ nodes }, part) => nodes.map((node) => [node, part] as const)));

/** The colour of a part on the map and in tables, `c1` to `c8`. */
export const partColour = (part: number): string => `c${(part % 8) + 1}`;
