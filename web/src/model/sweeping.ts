/** How many runs a sweep has, as far as its text says. */

/** Parts of a YAML flow list that stand at its own level: commas within braces, brackets and quotes do not count. */
export function items(text: string): string[] | null {
  const inner = /^\s*\[(.*)\]\s*$/s.exec(text)?.[1];
  if (inner === undefined) return null;
  const found: string[] = [];
  let depth = 0;
  let quote = '';
  let item = '';
  for (const each of inner) {
    if (quote) quote = each === quote ? '' : quote;
    else if (each === '"' || each === "'") quote = each;
    else if ('[{'.includes(each)) depth++;
    else if (']}'.includes(each)) depth--;
    else if (each === ',' && depth === 0) {
      found.push(item.trim());
      item = '';
      continue;
    }
    item += each;
  }
  return [...found, item.trim()].filter(Boolean);
}

/** Values of an axis: those of a list, or the steps of a range; null where the text does not say. */
export function valuesOf(text: string): number | null {
  const listed = items(text);
  if (listed) return listed.length;
  const steps = /[{,]\s*steps:\s*(\d+)/.exec(text)?.[1];
  return steps === undefined ? null : Number(steps);
}

/** Runs of all variants, `repeat` times each; null where an axis does not say how many values it has. */
export function runsOf(axes: Record<string, string>, repeat: string | null): number | null {
  return Object.values(axes)
    .map(valuesOf)
    .reduce<number | null>(
      (all, each) => (all === null || each === null ? null : all * each),
      Number(repeat ?? 1) || 1,
    );
}

/** What one typed as an axis' values, as a YAML list or range. */
export function asList(typed: string): string {
  const text = typed.trim();
  return /^[[{]/.test(text) ? text : `[${text}]`;
}
