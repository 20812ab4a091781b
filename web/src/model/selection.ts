/** Several nodes at once: which they are, where they go, and the edits that they mean. */
import type { Edit } from '../api/client';
import type { Model, ModelNode } from '../api/translate';
import type { Point } from './layout';
import type { Dot } from './scene';

export type Move = { name: string; at: [number, number] };
export type Arrangement = 'row' | 'column' | 'spread-across' | 'spread-down';

/** The dots whose middle lies in the rectangle between two corners. */
export const within = (dots: readonly Dot[], one: Point, other: Point): string[] =>
  dots
    .filter(
      ({ at }) =>
        at.x >= Math.min(one.x, other.x) &&
        at.x <= Math.max(one.x, other.x) &&
        at.y >= Math.min(one.y, other.y) &&
        at.y <= Math.max(one.y, other.y),
    )
    .map((dot) => dot.id);

/** The set with `id`, or without it if it has it. */
export function toggled(ids: ReadonlySet<string>, id: string): Set<string> {
  const next = new Set(ids);
  if (!next.delete(id)) next.add(id);
  return next;
}

/** The chosen nodes after `id` was added, with the node that was selected alone before, or taken out. */
export function chosenWith(
  chosen: ReadonlySet<string>,
  selected: string | null,
  id: string,
): ReadonlySet<string> {
  if (chosen.size || !selected?.startsWith('n:') || selected === id) return toggled(chosen, id);
  return new Set([selected, id]);
}

/** Where a dot goes, with all chosen ones that have places if it is one of them. */
export function shifted(
  dots: readonly Dot[],
  places: ReadonlyMap<string, Point>,
  chosen: ReadonlySet<string>,
  dot: Dot,
  by: Point,
): Map<string, Point> {
  const together = chosen.has(dot.id) ? dots.filter((each) => chosen.has(each.id) && !each.hangs) : [dot];
  return new Map(
    together.flatMap(({ node }): [string, Point][] => {
      const at = places.get(node.name);
      return at ? [[node.name, { x: at.x + by.x, y: at.y + by.y }]] : [];
    }),
  );
}

/**
 * Places of nodes in a row (one latitude), in a column (one longitude), or with equal distances between the outermost;
 * without those that stay. `places` are degrees east and south.
 */
export function arranged(places: ReadonlyMap<string, Point>, how: Arrangement): Map<string, Point> {
  const axis = how === 'row' || how === 'spread-down' ? 'y' : 'x';
  const sorted = [...places].sort(([, a], [, b]) => a[axis] - b[axis]);
  const mean = sorted.reduce((sum, [, at]) => sum + at[axis], 0) / sorted.length;
  const [first, last] = [sorted[0]![1][axis], sorted.at(-1)![1][axis]];
  const target = (index: number): number =>
    how === 'row' || how === 'column'
      ? mean
      : first + ((last - first) * index) / Math.max(sorted.length - 1, 1);
  return new Map(
    sorted
      .map(([name, at], index): [string, Point] => [name, { ...at, [axis]: target(index) }])
      .filter(([name, at]) => at[axis] !== places.get(name)![axis]),
  );
}

/**
 * The edits that remove nodes, with what refers to them. A range is removed as a whole if all of its members are among
 * the nodes; hosts of a router that is removed go with it.
 */
export function removals(model: Model, names: ReadonlySet<string>): Edit[] {
  const gone = model.nodes.filter((node) => names.has(node.name));
  const whole = new Set(
    gone.flatMap(({ range }) =>
      range && model.nodes.every((other) => other.range !== range || names.has(other.name)) ? [range] : [],
    ),
  );
  const keyOf = ({ range, name }: ModelNode): string => (range && whole.has(range) ? range : name);
  const alone = gone.filter((node) => !node.attach || !names.has(node.attach));
  return [...new Set(alone.map(keyOf))].map((key) => ({
    op: 'remove',
    path: ['nodes', key],
    references: true,
  }));
}
