/** Builds the script and the style that a report has in it. */
import { defineConfig } from 'vite';

export default defineConfig({
  publicDir: false,
  build: {
    outDir: '../python/longhaul/report/charts',
    emptyOutDir: false,
    target: 'es2022',
    lib: {
      entry: 'src/report/main.ts',
      formats: ['iife'],
      name: 'charts',
      cssFileName: 'charts',
      fileName: () => 'charts.js',
    },
  },
});
