/** Tables that are sorted by a click on the head of a column: up, down, and as they were. */

const PREFIXES = { '': 1, k: 1e3, M: 1e6, G: 1e9, T: 1e12, P: 1e15 };
const UNITS: Record<string, number> = {
  ...{ ns: 1e-9, µs: 1e-6, ms: 1e-3, s: 1, min: 60, h: 3600, '%': 0.01 },
  ...Object.fromEntries(
    Object.entries(PREFIXES).flatMap(([prefix, size]) =>
      ['bit/s', 'bit', 'B', 'B/s'].map((unit) => [prefix + unit, size]),
    ),
  ),
};

const NUMBER = String.raw`[-+−]?\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?`;
/** A number, or the first of a range, and the unit behind it. */
const QUANTITY = new RegExp(String.raw`^\s*(${NUMBER})(?:\s*(?:→|–|to)\s*${NUMBER})?\s*([a-zµ%/]+)?`, 'i');

/** The quantity that a text begins with, in units without a prefix; `null` if it begins with none. */
export function quantity(text: string): number | null {
  const found = QUANTITY.exec(text);
  if (!found) return null;
  const value = Number(found[1]!.replaceAll(',', '').replace('−', '-'));
  return value * (UNITS[found[2] ?? ''] ?? 1);
}

/** Quantities before words, and what has no value last. */
export function compare(one: string, other: string): number {
  const [a, b] = [quantity(one), quantity(other)];
  if (a !== null && b !== null) return a - b;
  if (a !== null || b !== null) return a === null ? 1 : -1;
  return one.localeCompare(other, undefined, { numeric: true });
}

const hasValue = (text: string): boolean => !/^\s*[-–]?\s*$/.test(text);

function sort(table: HTMLTableElement, rows: readonly HTMLTableRowElement[], column: number): void {
  const heads = [...table.tHead!.rows[0]!.cells];
  const before = heads[column]!.getAttribute('aria-sort');
  const order = before === 'ascending' ? 'descending' : before === 'descending' ? null : 'ascending';
  for (const head of heads) head.removeAttribute('aria-sort');
  const sign = order === 'descending' ? -1 : 1;
  const text = (row: HTMLTableRowElement): string => row.cells[column]!.textContent ?? '';
  const sorted = order
    ? rows.toSorted((one, other) => {
        const [a, b] = [text(one), text(other)];
        const missing = Number(!hasValue(a)) - Number(!hasValue(b));
        return missing || sign * compare(a, b);
      })
    : rows;
  if (order) heads[column]!.setAttribute('aria-sort', order);
  table.tBodies[0]!.append(...sorted);
}

/** Gives the heads of a table buttons, unless rows belong together. */
export function makeSortable(table: HTMLTableElement): void {
  const head = table.tHead?.rows[0];
  const rows = [...(table.tBodies[0]?.rows ?? [])];
  if (!head || rows.length < 2 || rows.some((row) => row.cells.length !== head.cells.length)) return;
  for (const [column, cell] of [...head.cells].entries()) {
    const button = document.createElement('button');
    button.type = 'button';
    button.append(...cell.childNodes);
    button.addEventListener('click', () => sort(table, rows, column));
    cell.append(button);
  }
}
