import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';

test('what the first load needs is under 150 kB as it is sent', () => {
  const built = join(import.meta.dirname, '../../python/longhaul/page/static');
  const index = readFileSync(join(built, 'index.html'), 'utf8');
  const named = [...index.matchAll(/(?:src|href)="\.\/([^"]+)"/g)].map(([, name]) => name!);
  expect(named.some((name) => name.endsWith('.js'))).toBe(true);
  const sizes = ['index.html', ...named].map((name) => gzipSync(readFileSync(join(built, name))).length);
  expect(sizes.reduce((sum, size) => sum + size)).toBeLessThan(150_000);
});

test('the editor, which comes after the first paint, is under 160 kB as it is sent', () => {
  const assets = join(import.meta.dirname, '../../python/longhaul/page/static/assets');
  const named = readdirSync(assets).filter((name) => /^editor-.*\.js$/.test(name));
  expect(named).toHaveLength(1);
  expect(gzipSync(readFileSync(join(assets, named[0]!))).length).toBeLessThan(160_000);
});
