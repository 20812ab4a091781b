// Before the first paint: the colours that were chosen here, else the system's. src/model/theme.svelte.ts goes on from there.
const chosen = localStorage.getItem('longhaul-theme');
const isDark =
  chosen === 'dark' || (chosen !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches);
document.documentElement.dataset.theme = isDark ? 'dark' : 'light';
