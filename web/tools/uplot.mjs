// Copies uPlot, as it is published, to where reports take it from: they have to open without a network.
import { copyFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';

const web = join(import.meta.dirname, '..');
const from = join(web, 'node_modules/uplot');
const to = join(web, '../python/longhaul/report/uplot');
mkdirSync(to, { recursive: true });
for (const [file, name] of [
  ['dist/uPlot.iife.min.js', 'uPlot.iife.min.js'],
  ['dist/uPlot.min.css', 'uPlot.min.css'],
  ['LICENSE', 'LICENSE'],
]) {
  copyFileSync(join(from, file), join(to, name));
}
