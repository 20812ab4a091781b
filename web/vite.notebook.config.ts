/** Builds the module and the style with which notebooks draw charts. */
import { defineConfig } from 'vite';

export default defineConfig({
  publicDir: false,
  build: {
    outDir: '../python/longhaul/report/charts',
    emptyOutDir: false,
    target: 'es2022',
    lib: {
      entry: 'src/notebook/main.ts',
      formats: ['es'],
      cssFileName: 'notebook',
      fileName: () => 'notebook.js',
    },
  },
});
