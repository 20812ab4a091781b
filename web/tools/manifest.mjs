// Writes manifest.json beside the built page: a hash of every source, so that a test without node can tell
// whether what is committed was built from what is here. tests/web/test_fresh.py computes the same.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const web = join(import.meta.dirname, '..');
const roots = [
  'index.html',
  'package.json',
  'package-lock.json',
  'svelte.config.js',
  'tsconfig.json',
  'vite.config.ts',
  'vite.notebook.config.ts',
  'vite.report.config.ts',
];
const digest = (bytes) => createHash('sha256').update(bytes).digest('hex');
const below = (folder) =>
  readdirSync(join(web, folder), { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? below(`${folder}/${entry.name}`) : [`${folder}/${entry.name}`],
  );
const sources = [...roots, ...below('public'), ...below('src')].sort();
const hash = digest(sources.map((path) => `${path} ${digest(readFileSync(join(web, path)))}\n`).join(''));
const target = join(web, '../python/longhaul/page/static/manifest.json');
writeFileSync(target, `${JSON.stringify({ sources: hash }, null, 2)}\n`);
