/** Small drawings of what can be opened, made one after the other when they are first wanted. */
import { api } from '../api/client';
import type { Model } from '../api/translate';

export type Source = { kind: 'template' | 'scenario'; name: string };

const key = ({ kind, name }: Source): string => `${kind} ${name}`;
const drawn = $state<Record<string, Model | null>>({});

/** The network of a template or a scenario; undefined until it has been drawn, null if it cannot be. */
export const thumbnail = (source: Source): Model | null | undefined => drawn[key(source)];

/** Draws those that have not been, until `signal` aborts: the server does one at a time. */
export async function drawAll(sources: readonly Source[], signal: AbortSignal): Promise<void> {
  for (const source of sources) {
    if (signal.aborted) return;
    if (drawn[key(source)] !== undefined) continue;
    try {
      const { text, base } =
        source.kind === 'template'
          ? { ...(await api.template(source.name, { name: 'drawing' })), base: null }
          : await api.scenario(source.name);
      drawn[key(source)] = (await api.check(text, base)).model;
    } catch {
      drawn[key(source)] = null;
    }
  }
}
