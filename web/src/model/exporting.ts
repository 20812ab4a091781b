/** What is exported, and its download. */
import { api, Refused } from '../api/client';
import { desk, refuse, settled } from './desk.svelte';
import type { Kind, Wish } from './exported';
import { download } from './reports';

/** Which machines and devices are those of the scenario: the file, and this tab's draft of it. */
export const MACHINES = 'machines.yaml';
const DRAFT = 'longhaul-machines';
export const draft = (): string => sessionStorage.getItem(DRAFT) ?? '';
export const keepDraft = (text: string): void => sessionStorage.setItem(DRAFT, text);

export const LINE_RATE = '10Gbit';

export const maps = (kind: Kind): boolean => ['shell', 'tc', 'ansible'].includes(kind);

/** The scenario on the page Edit in one format. */
export const wish = (
  kind: Kind,
  { style, machines, lineRate }: { style: 'longhaul' | 'ewan'; machines: string; lineRate: string },
): Wish => ({
  text: desk.text,
  base: desk.base,
  kind,
  style: kind === 'shell' ? style : 'longhaul',
  machines: maps(kind) ? machines : '',
  line_rate: lineRate.trim() || LINE_RATE,
});

async function mapped(): Promise<string> {
  if (draft().trim()) return draft();
  try {
    return (await api.file(MACHINES)).text;
  } catch (problem) {
    if (problem instanceof Refused && problem.status === 404) return '';
    throw problem;
  }
}

/** Downloads the files of one format, for the machines that the table of the page maps. */
export async function save(kind: Kind): Promise<void> {
  try {
    await settled();
    const machines = await mapped();
    const asked = wish(kind, { style: 'longhaul', machines, lineRate: LINE_RATE });
    download((await api.exportArchive(asked)).url);
  } catch (problem) {
    refuse(problem);
  }
}
