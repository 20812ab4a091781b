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

/** A colour of the style sheet, for canvases. */
export const colour = (name: string): string =>
  getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
