/** The line below a chart that says what one can do with it, and saves it. */
import type { Drawn } from '../charts/chart';
import type { ChartData } from '../charts/data';
import { download } from '../charts/export';

export function hintOf(chart: Drawn, data: ChartData): HTMLElement {
  const hint = document.createElement('span');
  hint.className = 'hint';
  const zooms = data.rows.flat().some((panel) => !panel.rows_of);
  hint.append(
    `${zooms ? ' Drag to zoom, double-click to zoom out.' : ''} Save as `,
    saving('PNG', data, () =>
      chart.picture().toBlob((picture) => picture && download(`${data.name}.png`, picture)),
    ),
    ' or ',
    saving('CSV', data, () => download(`${data.name}.csv`, new Blob([chart.csv()], { type: 'text/csv' }))),
    '.',
  );
  return hint;
}

function saving(format: string, chart: ChartData, save: () => void): HTMLButtonElement {
  const button = document.createElement('button');
  button.type = 'button';
  button.textContent = format;
  button.setAttribute('aria-label', `${format} of ${chart.title}`);
  button.addEventListener('click', save);
  return button;
}
