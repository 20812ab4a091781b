/** Which changes of a text are one step of undo, and what differs between two texts. */

/** A stretch that was replaced: where, and by how much. */
export type Typed = { at: number; removed: number; inserted: number; kind: string; time_ms: number };

/** A pause after which typing is another step. */
const PAUSE_MS = 1_000;

/** The end of what `typed` leaves, where the next key would go on. */
const end = ({ at, inserted }: Typed): number => at + inserted;

/** Whether `next` continues `last`: the same kind of change of one letter, at the same place, without a pause. */
export function continues(last: Typed | null, next: Typed): boolean {
  return (
    last !== null &&
    last.kind === next.kind &&
    /^(input\.type|delete)/.test(next.kind) &&
    next.time_ms - last.time_ms < PAUSE_MS &&
    Math.max(next.removed, next.inserted) <= 2 &&
    (next.at === end(last) || next.at + next.removed === last.at)
  );
}

/** The one stretch in which `after` differs from `before`. */
export function difference(
  before: string,
  after: string,
): { from: number; to: number; insert: string } | null {
  if (before === after) return null;
  const least = Math.min(before.length, after.length);
  let from = 0;
  while (from < least && before[from] === after[from]) from++;
  let tail = 0;
  while (tail < least - from && before[before.length - 1 - tail] === after[after.length - 1 - tail]) tail++;
  return { from, to: before.length - tail, insert: after.slice(from, after.length - tail) };
}
