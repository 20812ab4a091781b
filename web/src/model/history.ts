/** Undo and redo of a text: values only, so that any state can be shown again. */

export type History = {
  readonly past: readonly string[];
  readonly now: string;
  readonly future: readonly string[];
  readonly merges: string | null;
};

/** How many steps back are kept. */
export const DEPTH = 200;

export const begin = (text: string): History => ({ past: [], now: text, future: [], merges: null });

/** A new state. Steps in a row with the same `merges` (typing in one place) become one. */
export function record(history: History, text: string, merges: string | null = null): History {
  if (text === history.now) return history;
  if (merges !== null && merges === history.merges && history.past.length > 0)
    return { ...history, now: text, future: [] };
  return { past: [...history.past, history.now].slice(-DEPTH), now: text, future: [], merges };
}

export function undo(history: History): History {
  const before = history.past[history.past.length - 1];
  if (before === undefined) return history;
  return {
    past: history.past.slice(0, -1),
    now: before,
    future: [history.now, ...history.future],
    merges: null,
  };
}

export function redo(history: History): History {
  const after = history.future[0];
  if (after === undefined) return history;
  return { past: [...history.past, history.now], now: after, future: history.future.slice(1), merges: null };
}
