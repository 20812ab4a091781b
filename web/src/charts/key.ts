/** What colours and signs mean in all panels of a chart, above them. */
import type { KeyData } from './data';
import { DASHED, font, type Colour } from './look';

const SIGNS: Partial<Record<KeyData['kind'], string>> = {
  discs: '●',
  circles: '○',
  squares: '■',
  crosses: '×',
};
const SAMPLE = 18;

export function drawKey(holder: HTMLElement, keys: readonly KeyData[]): void {
  const line = holder.appendChild(document.createElement('p'));
  line.className = 'key';
  for (const { name, colour, kind, dashed } of keys) {
    const entry = line.appendChild(document.createElement('span'));
    entry.textContent = name;
    entry.dataset['sign'] = SIGNS[kind] ?? '';
    entry.className = SIGNS[kind] ? 'sign' : dashed ? 'stroke dashed' : 'stroke';
    entry.style.setProperty('--of', `var(${colour})`);
  }
}

/** The same on a canvas whose origin is the corner of `holder`. */
export function paintKey(
  to: CanvasRenderingContext2D,
  holder: HTMLElement,
  keys: readonly KeyData[],
  colour: Colour,
): void {
  const frame = holder.getBoundingClientRect();
  for (const [at, entry] of [...holder.querySelectorAll('.key span')].entries()) {
    const { left, top, height } = entry.getBoundingClientRect();
    const { name, kind, dashed, colour: variable } = keys[at]!;
    const [x, y] = [left - frame.left, top - frame.top + height / 2];
    to.font = font(12);
    to.fillStyle = to.strokeStyle = colour(variable);
    const sign = SIGNS[kind];
    if (sign) to.fillText(sign, x, y);
    else {
      to.setLineDash(dashed ? DASHED : []);
      to.lineWidth = 2;
      to.beginPath();
      to.moveTo(x, y);
      to.lineTo(x + SAMPLE - 4, y);
      to.stroke();
      to.setLineDash([]);
    }
    to.fillStyle = colour('--muted');
    to.fillText(name, x + SAMPLE, y);
  }
}
