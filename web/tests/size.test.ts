import { readFileSync } from 'node:fs';
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
