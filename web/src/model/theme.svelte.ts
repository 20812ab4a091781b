/** Light or dark: the system's choice until someone chooses here. */

export type Choice = 'system' | 'light' | 'dark';
const KEY = 'longhaul-theme';
const dark = matchMedia('(prefers-color-scheme: dark)');

function stored(): Choice {
  const value = localStorage.getItem(KEY);
  return value === 'light' || value === 'dark' ? value : 'system';
}

export const theme = $state<{ choice: Choice; dark: boolean }>({ choice: stored(), dark: false });

function apply(): void {
  theme.dark = theme.choice === 'dark' || (theme.choice === 'system' && dark.matches);
  document.documentElement.dataset['theme'] = theme.dark ? 'dark' : 'light';
}

export function startTheme(): void {
  dark.addEventListener('change', apply);
  apply();
}

export function choose(choice: Choice): void {
  theme.choice = choice;
  localStorage.setItem(KEY, choice);
  apply();
}

let known = new Map<string, string>();
let knownDark: boolean | null = null;

/** A colour of the style sheet, for canvases; asked for once in each theme. */
export function colour(name: string): string {
  if (knownDark !== theme.dark) [known, knownDark] = [new Map(), theme.dark];
  let found = known.get(name);
  if (found === undefined) {
    found = getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
    known.set(name, found);
  }
  return found;
}
