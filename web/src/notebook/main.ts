/** Charts in a notebook, as a report draws them: a module for anywidget (https://anywidget.dev). */
import './main.css';
import { drawChart, type Drawn } from '../charts/chart';
import type { ChartData } from '../charts/data';
import { hintOf } from '../charts/saving';

type Model = {
  get(name: 'charts'): ChartData[];
  on(event: 'change:charts', listener: () => void): void;
  off(event: 'change:charts', listener: () => void): void;
};

/** What JupyterLab, VS Code and Colab write where, and else what the browser prefers. */
function isDark(): boolean {
  const { body, documentElement } = document;
  const lab = body.dataset['jpThemeLight'];
  if (lab !== undefined) return lab === 'false';
  if (/\bvscode-(dark|light)\b/.test(body.className)) return body.classList.contains('vscode-dark');
  const named = documentElement.getAttribute('theme');
  return named ? named === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
}

function render({ model, el }: { model: Model; el: HTMLElement }): () => void {
  const root = el.appendChild(document.createElement('div'));
  root.className = 'longhaul-charts';
  const colour = (variable: string): string => getComputedStyle(root).getPropertyValue(variable).trim();
  let drawn: Drawn[] = [];

  function clear(): void {
    drawn.forEach((each) => each.destroy());
    drawn = [];
    root.replaceChildren();
  }
  function draw(): void {
    clear();
    for (const data of model.get('charts')) {
      const figure = root.appendChild(document.createElement('figure'));
      const holder = figure.appendChild(document.createElement('div'));
      holder.className = 'chart';
      const chart = drawChart(holder, data, colour);
      const caption = figure.appendChild(document.createElement('figcaption'));
      caption.append(
        `${data.title}.`,
        hintOf(() => chart, data),
      );
      drawn.push(chart);
    }
  }
  function follow(): void {
    root.classList.toggle('dark', isDark());
    drawn.forEach((each) => each.repaint());
  }

  // A notebook shows the element later: without a width there is nothing to draw into.
  const resized = new ResizeObserver(() => {
    if (!root.clientWidth) return;
    if (drawn.length === 0) draw();
    else drawn.forEach((each) => each.fit());
  });
  const themed = new MutationObserver(follow);
  const preference = matchMedia('(prefers-color-scheme: dark)');
  follow();
  resized.observe(root);
  for (const each of [document.body, document.documentElement]) themed.observe(each, { attributes: true });
  preference.addEventListener('change', follow);
  model.on('change:charts', draw);
  return () => {
    model.off('change:charts', draw);
    preference.removeEventListener('change', follow);
    themed.disconnect();
    resized.disconnect();
    clear();
  };
}

export default { render };
