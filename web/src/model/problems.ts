/** Where problems and keys stand in the text. */
import type { Problem } from '../api/types/texts';
import type { Model } from '../api/translate';

/** The gravest problem of each line. */
export function byLine(problems: readonly Problem[]): Map<number, Problem> {
  const lines = new Map<number, Problem>();
  for (const problem of problems) {
    if (!problem.line) continue;
    const before = lines.get(problem.line);
    if (!before || (before.severity === 'warning' && problem.severity === 'error'))
      lines.set(problem.line, problem);
  }
  return lines;
}

export type Selected = { kind: 'node' | 'link' | 'traffic' | 'programs' | 'events'; name: string };

/** What is written at a line (counted from 1): the node, link or item whose key is the last at or before it. */
export function atLine(model: Model, line: number, section: string | null): Selected | null {
  const lists: Record<string, [Selected['kind'], readonly { name: string; line?: number | null }[]]> = {
    nodes: ['node', model.nodes],
    links: ['link', model.links],
    traffic: ['traffic', model.traffic],
    programs: ['programs', model.programs],
    events: ['events', model.events],
  };
  const found = section === null ? undefined : lists[section];
  if (!found) return null;
  let best: { name: string; line: number } | null = null;
  for (const each of found[1])
    if (each.line && each.line <= line && (!best || each.line > best.line))
      best = { name: each.name, line: each.line };
  return best && { kind: found[0], name: best.name };
}

/** The top-level key under which a line stands. */
export function sectionAt(text: string, line: number): string | null {
  const lines = text.split('\n');
  for (let at = Math.min(line, lines.length) - 1; at >= 0; at--) {
    const key = /^([a-z]+):/.exec(lines[at] ?? '');
    if (key?.[1]) return key[1];
  }
  return null;
}

/** Offset of the start of a line (counted from 1). */
export function offsetOf(text: string, line: number): number {
  let at = 0;
  for (let passed = 1; passed < line; passed++) {
    const next = text.indexOf('\n', at);
    if (next < 0) return text.length;
    at = next + 1;
  }
  return at;
}
