import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const web = join(import.meta.dirname, '..');

test('types of the language are those of the schema (npm run types)', { timeout: 60_000 }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'longhaul-types-'));
  try {
    const schema = execFileSync(process.env['LONGHAUL'] ?? join(web, '../.venv/bin/longhaul'), ['schema']);
    const made = join(folder, 'language.ts');
    execFileSync('node', [join(web, 'tools/language.mjs'), made], { input: schema });
    expect(readFileSync(join(web, 'src/api/language.ts'), 'utf8') === readFileSync(made, 'utf8')).toBe(true);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
