/** Which view is shown, as it stands in the address: #/edit, #/run/ID, #/runs, #/transfers, #/studies/NAME, #/machines, #/traces, #/relay/ID. */

export const VIEWS = ['edit', 'run', 'runs', 'transfers', 'studies', 'machines', 'traces', 'relay'] as const;
/** After the name of a run among Runs: that one, not compared with another. */
export const ALONE = 'alone';
export type ViewName = (typeof VIEWS)[number];

export function parse(hash: string): { view: ViewName; rest: string[] } {
  const [view = '', ...rest] = hash.replace(/^#\/?/, '').split('/').map(decoded);
  const known = VIEWS.find((each) => each === view);
  return { view: known ?? 'edit', rest: known ? rest : [] };
}

/** An address that somebody mistyped names nothing that is there, and is not an error. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

export const route = $state(parse(location.hash));

export function go(view: ViewName, ...rest: string[]): void {
  const hash = `#/${[view, ...rest].map(encodeURIComponent).join('/')}`;
  // Nobody tells of an address that stays; whoever asks for it again wants to see it again.
  if (location.hash === hash) Object.assign(route, parse(hash));
  else location.hash = hash;
}

export function startRoute(): () => void {
  const turn = (): void => {
    // The address that the server printed, put into a tab that shows the page already.
    if (location.hash.startsWith('#token=')) return location.reload();
    Object.assign(route, parse(location.hash));
  };
  addEventListener('hashchange', turn);
  turn();
  return () => removeEventListener('hashchange', turn);
}
