import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';

const web = join(import.meta.dirname, '..');
const folder = mkdtempSync(join(tmpdir(), 'longhaul-types-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** Lets a tool write types of a schema to a place of the test's own. */
function write(tool: string, schema: string[], place: string): string {
  const input = execFileSync(process.env['LONGHAUL'] ?? join(web, '../.venv/bin/longhaul'), schema);
  execFileSync('node', [join(web, 'tools', tool), join(folder, place)], { input });
  return join(folder, place);
}

test('types of the language are those of the schema (npm run types)', { timeout: 60_000 }, () => {
  const made = write('language.mjs', ['schema'], 'language.ts');
  expect(readFileSync(join(web, 'src/api/language.ts'), 'utf8') === readFileSync(made, 'utf8')).toBe(true);
});

test(
  'types of bodies, answers and events are those of the server (npm run types)',
  { timeout: 60_000 },
  () => {
    const made = write('types.mjs', ['schema', '--page'], 'types');
    const ours = join(web, 'src/api/types');
    expect(readdirSync(ours)).toEqual(readdirSync(made));
    for (const name of readdirSync(ours))
      expect(readFileSync(join(ours, name), 'utf8') === readFileSync(join(made, name), 'utf8'), name).toBe(
        true,
      );
  },
);
