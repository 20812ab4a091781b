/** The script of a report: draws the charts in view, and then the others. */
import './main.css';
import { drawChart, type Drawn } from '../charts/chart';
import type { ChartData } from '../charts/data';
import { hintOf } from '../charts/saving';
import { makeSortable } from './sorting';

const root = document.documentElement;
const colour = (variable: string): string => getComputedStyle(root).getPropertyValue(variable).trim();
const drawn = new Map<Element, Drawn>();

function draw(holder: HTMLElement): void {
  const text = holder.querySelector('script')?.textContent;
  if (!text || drawn.has(holder)) return;
  holder.style.minHeight = '';
  const data = JSON.parse(text) as ChartData;
  const chart = drawChart(holder, data, colour);
  drawn.set(holder, chart);
  holder
    .closest('figure')
    ?.querySelector('figcaption')
    ?.append(hintOf(() => chart, data));
}

const all = [...document.querySelectorAll<HTMLElement>('.chart')];
const near = new IntersectionObserver(
  (entries) => {
    for (const { target, isIntersecting } of entries) {
      if (!isIntersecting) continue;
      near.unobserve(target);
      draw(target as HTMLElement);
    }
  },
  { rootMargin: '800px' },
);
for (const each of all) near.observe(each);

/** Not every browser has idle time to give. */
const whenIdle = (work: () => void): void => {
  if ('requestIdleCallback' in window) requestIdleCallback(work);
  else setTimeout(work, 20);
};

/** The others one by one, so that the page stays responsive. */
function drawRest(): void {
  const next = all.find((each) => !drawn.has(each));
  if (!next) return;
  draw(next);
  whenIdle(drawRest);
}
whenIdle(drawRest);
document.querySelector('#without-script')?.remove();
document.querySelectorAll('table').forEach(makeSortable);

const fit = (): void => drawn.forEach((each) => each.fit());
const repaint = (): void => drawn.forEach((each) => each.repaint());
const main = document.querySelector('main');
if (main) new ResizeObserver(fit).observe(main);
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', repaint);

/** Paper is white, and narrower than most windows. */
function print(isOn: boolean): void {
  root.classList.toggle('printed', isOn);
  all.forEach(draw);
  fit();
  repaint();
}
addEventListener('beforeprint', () => print(true));
addEventListener('afterprint', () => print(false));
