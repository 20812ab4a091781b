/** Changes of a run's network: what is down now, and the marks that charts show. */
import type { NetworkChange } from '../api/types/runs';
import type { Model, ModelLink } from '../api/translate';
import { WAYS, type WayName } from './ring';

/** An instant, or a time from one to another, at which the network changed; in seconds. */
export type Mark = { at: number; until: number; label: string; intervention: boolean };

/** Of more changes the numbers would cover one another. */
const MOST_LABELS = 24;

/** A mark for each change, with its number in the list of changes. */
export const marksOf = (changes: readonly NetworkChange[]): Mark[] =>
  changes.map((each, at) => ({
    at: each.at_ns / 1e9,
    until: each.until_ns / 1e9,
    label: changes.length <= MOST_LABELS ? String(at + 1) : '',
    intervention: each.kind === 'intervention',
  }));

/** The directions of a link that are down when a run begins. */
export const beginsDown = (link: ModelLink): WayName[] =>
  WAYS.filter((way) => !link[way].up || (link.text[way]?.up ?? link.text.up) === 'false');

/** Links of which a direction is down after these changes; a parallel route that fails leaves its link up. */
export function downAfter(links: Model['links'], changes: readonly NetworkChange[]): string[] {
  const down = new Map<string, Set<string>>(links.map((link) => [link.name, new Set(beginsDown(link))]));
  for (const each of changes) {
    const turned = each.differences.find((difference) => difference.key === 'up');
    if (!turned || each.route !== null) continue;
    const ways = down.get(each.link) ?? new Set<string>();
    for (const way of each.way ? [each.way] : WAYS)
      if (turned.new === 'down') ways.add(way);
      else ways.delete(way);
    down.set(each.link, ways);
  }
  return [...down].filter(([, ways]) => ways.size).map(([link]) => link);
}
