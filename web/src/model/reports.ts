/** Opens a report in a tab of its own, by an address that works once. */
import { api } from '../api/client';
import { refuse } from './desk.svelte';

export const openReport = (id: string): Promise<void> => opens(() => api.report(id));

export const openComparison = (runs: string[], grouped: boolean): Promise<void> =>
  opens(() => api.compareReport(runs, grouped));

async function opens(ask: () => Promise<{ url: string }>): Promise<void> {
  // Opened at once, since browsers allow it only as an answer to a key or a click.
  const tab = open('', '_blank');
  try {
    const { url } = await ask();
    if (tab) tab.location = url;
    else location.assign(url);
  } catch (problem) {
    tab?.close();
    refuse(problem);
  }
}

/** Saves what is at an address that works once; its name is said by the server. */
export function download(url: string): void {
  const link = document.createElement('a');
  link.href = url;
  link.download = '';
  link.click();
}
