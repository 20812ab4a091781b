/** A heat map as a table, whose numbers can be read by all: a row for each series, and cells in shades of one colour. */
import { points, type Axis, type PanelData, type Points } from './data';
import { short, type Colour } from './look';

const SHADES = 10;

/** The table of a panel in `box`, and its title above it; `x` is the axis of its columns. */
export function drawHeatMap(box: HTMLElement, panel: PanelData, x: Axis, xs: readonly Float64Array[]): void {
  const table = document.createElement('table');
  table.className = 'heat-map';
  if (panel.title) table.createCaption().textContent = panel.title;
  const head = table.createTHead().insertRow();
  const corner = panel.series.some((each) => each.name) ? `${panel.rows_of} ↓ ${x.label} →` : `${x.label} →`;
  for (const text of [corner, ...(x.names ?? [])]) {
    const cell = head.appendChild(document.createElement('th'));
    cell.scope = 'col';
    cell.textContent = text;
  }
  const body = table.createTBody();
  for (const each of points(panel, xs)) addRow(body.insertRow(), each, panel.y, x.names?.length ?? 0);
  // Wide tables are moved by keys, too.
  const scrolled = box.appendChild(document.createElement('div'));
  scrolled.className = 'sideways';
  scrolled.tabIndex = 0;
  scrolled.append(table);
}

function addRow(row: HTMLTableRowElement, each: Points, shades: Axis, columns: number): void {
  const name = row.appendChild(document.createElement('th'));
  name.scope = 'row';
  name.textContent = each.name;
  for (let column = 0; column < columns; column += 1) {
    const cell = row.insertCell();
    const at = each.x.indexOf(column);
    if (at < 0 || Number.isNaN(each.y[at])) {
      cell.className = 'none';
      cell.title = each.words?.[at] ?? 'no value';
      // Said to those who do not see that the cell is empty.
      const words = cell.appendChild(document.createElement('span'));
      words.className = 'unseen';
      words.textContent = cell.title;
      continue;
    }
    cell.className = `shade${shadeOf(each.y[at]!, shades)}`;
    const [first, ...more] = (each.words?.[at] ?? short(each.y[at]!)).split('\n');
    cell.append(first!);
    for (const words of more) {
      const line = cell.appendChild(document.createElement('small'));
      line.textContent = words;
    }
  }
}

/** Which of the shades, 0 to 9, a value has; longhaul/report/heat_map_drawing.py has the same. */
function shadeOf(value: number, { low = 0, high = 1, logarithmic }: Axis): number {
  const scaled = logarithmic ? Math.log : Number;
  const share = (scaled(value) - scaled(low)) / (scaled(high) - scaled(low));
  return Math.min(Math.max(Math.round(share * (SHADES - 1)), 0), SHADES - 1);
}

/** What the shades mean, above the tables of a chart. */
export function drawShades(holder: HTMLElement, { label, low = 0, high = 1 }: Axis): void {
  const line = holder.appendChild(document.createElement('p'));
  line.className = 'shades';
  const scale = document.createElement('span');
  scale.setAttribute('aria-hidden', 'true');
  for (let at = 0; at < SHADES; at += 1)
    scale.appendChild(document.createElement('i')).className = `shade${at}`;
  line.append(`${label}: ${rounded(low)} `, scale, ` ${rounded(high)}`);
}

const rounded = (value: number): string => short(Number(value.toPrecision(3)));

/** What is in view of the tables and shades of `holder`, on a canvas whose origin is its corner. */
export function paintHeatMaps(to: CanvasRenderingContext2D, holder: HTMLElement, colour: Colour): void {
  const frame = holder.getBoundingClientRect();
  for (const each of holder.querySelectorAll<HTMLElement>(
    '.shades, .shades i, .heat-map caption, .heat-map th, .heat-map td',
  )) {
    const { left, top, width, height } = each.getBoundingClientRect();
    const look = getComputedStyle(each);
    to.fillStyle = look.backgroundColor;
    to.fillRect(left - frame.left, top - frame.top, width, height);
    to.fillStyle = look.color || colour('--ink');
    to.font = `${look.fontWeight} ${look.fontSize} ${look.fontFamily}`;
    if (each.matches('.none')) paintOutline(to, left - frame.left, top - frame.top, width, height, look);
    else for (const node of wordsOf(each)) paintWords(to, node, frame);
  }
}

function paintOutline(
  to: CanvasRenderingContext2D,
  left: number,
  top: number,
  width: number,
  height: number,
  look: CSSStyleDeclaration,
): void {
  to.strokeStyle = look.outlineColor;
  to.lineWidth = 1;
  to.setLineDash([3, 3]);
  to.strokeRect(left + 1.5, top + 1.5, width - 3, height - 3);
  to.setLineDash([]);
}

/** The texts of an element and of the elements in it. */
function wordsOf(element: HTMLElement): Text[] {
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  const found: Text[] = [];
  while (walker.nextNode()) found.push(walker.currentNode as Text);
  return found;
}

function paintWords(to: CanvasRenderingContext2D, words: Text, frame: DOMRect): void {
  const range = document.createRange();
  range.selectNodeContents(words);
  const { left, top, height } = range.getBoundingClientRect();
  to.fillText(words.data, left - frame.left, top - frame.top + height / 2);
}
