import { svelte } from '@sveltejs/vite-plugin-svelte';
import type { Plugin } from 'vite';
import { defineConfig } from 'vitest/config';

/** What xterm.js does that the page's content security policy forbids, how often, and what it does in place of it. */
const INLINE_STYLES = [
  { pattern: /[\w.]+\.createElement\("style"\)/g, times: 3, by: 'styleElement()' },
  {
    pattern: /(\w+)\.setAttribute\("style",`\$\{\1\.getAttribute\("style"\)\|\|""\}\$\{(\w+)\};`\)/g,
    times: 1,
    by: '$1.style.cssText+=`$2;`'.replace('$2', '${$2}'),
  },
];

/** xterm.js without inline styles. Fails if its code is not as it was, so that an upgrade is looked at. */
function xtermWithoutInlineStyles(): Plugin {
  return {
    name: 'xterm-without-inline-styles',
    transform(code, id) {
      if (!/@xterm\/xterm\/lib\/xterm\.mjs/.test(id)) return undefined;
      const found = INLINE_STYLES.reduce((text, { pattern, times, by }) => {
        const matches = text.match(pattern)?.length ?? 0;
        if (matches !== times) this.error(`xterm.js: ${matches} places match ${pattern}, not ${times}`);
        return text.replace(pattern, by);
      }, code);
      return { code: `import { styleElement } from '/src/model/styleElement.ts';\n${found}`, map: null };
    },
  };
}

/** CodeMirror's styles in a constructed sheet, as in a shadow root: the policy forbids style elements. */
function editorWithoutStyleElements(): Plugin {
  const condition = '!root.head && root.adoptedStyleSheets';
  return {
    name: 'editor-without-style-elements',
    transform(code, id) {
      if (!/style-mod\/src\/style-mod\.js/.test(id)) return undefined;
      if (code.split(condition).length !== 2)
        this.error(`style-mod: no place, or several, match ${condition}`);
      return { code: code.replace(condition, 'root.adoptedStyleSheets'), map: null };
    },
  };
}

export default defineConfig({
  base: './',
  plugins: [svelte(), xtermWithoutInlineStyles(), editorWithoutStyleElements()],
  optimizeDeps: { exclude: ['@xterm/xterm', 'style-mod'] },
  build: {
    outDir: '../python/longhaul/page/static',
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: 'es2022',
  },
  test: { include: ['tests/*.test.ts'] },
});
