/** The line below a chart that says what one can do with it, and saves it. */
import type { Drawn } from './chart';
import type { ChartData } from './data';
import { download } from './export';

/** `chart` is asked for when it is saved: it may have newer points by then. */
export function hintOf(chart: () => Drawn | null, data: ChartData): HTMLElement {
  const hint = document.createElement('span');
  hint.className = 'hint';
  const zooms = data.rows.flat().some((panel) => !panel.rows_of);
  hint.append(
    `${zooms ? ' Drag to zoom, double-click to zoom out.' : ''} Save as `,
    saving('PNG', data, () =>
      chart()
        ?.picture()
        .toBlob((picture) => picture && download(`${data.name}.png`, picture)),
    ),
    ' or ',
    saving('CSV', data, () => {
      const rows = chart()?.csv();
      if (rows) download(`${data.name}.csv`, new Blob([rows], { type: 'text/csv' }));
    }),
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
