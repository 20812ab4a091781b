// Writes src/api/language.ts, what the page writes of the scenario's language, from the JSON Schema on standard input:
//   longhaul schema | node tools/language.mjs
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { compile } from 'json-schema-to-typescript';
import { format, resolveConfig } from 'prettier';

const head = `/* Written by "npm run types" from the output of "longhaul schema"; not edited by hand. */`;

/** What the page adds to a file, by the names of the schema. */
const written = ['Node', 'Link', 'Ping', 'Bulk', 'Datagrams', 'Changes'];

const isParameter = (schema) => schema.$ref === '#/$defs/Parameter';

const isLaw = (schema) => schema.$ref !== undefined || schema.type === 'object' || schema.oneOf !== undefined;

/**
 * Without titles, of which each would become a type of its own; without rules that no type can say; without
 * parameters, which can stand everywhere; and without rules where text may stand, since the page writes text.
 */
function plain(schema) {
  if (Array.isArray(schema)) return schema.map(plain);
  if (schema === null || typeof schema !== 'object') return schema;
  if (schema.anyOf?.length === 2 && isParameter(schema.anyOf[1])) {
    const { anyOf, ...about } = schema;
    return plain({ ...about, ...anyOf[0] });
  }
  const short = schema.anyOf?.filter((each) => !isLaw(each));
  if (short?.some((each) => each.type === 'string') && short.length < schema.anyOf.length) {
    return plain({ ...schema, anyOf: short });
  }
  const { title, ...rest } = schema;
  const kept = typeof title === 'string' ? rest : schema;
  if (kept.properties && kept.anyOf?.every((each) => each.required)) delete kept.anyOf;
  // What the compiler knows from older drafts by another name.
  return Object.fromEntries(
    Object.entries(kept).map(([key, value]) => [key === 'prefixItems' ? 'items' : key, plain(value)]),
  );
}

const { $defs } = JSON.parse(await text(process.stdin));
const properties = Object.fromEntries(written.map((name) => [name, { $ref: `#/$defs/${name}` }]));
const schema = plain({ description: 'What the page writes.', type: 'object', properties, $defs });
const types = await compile(schema, 'Written', {
  bannerComment: head,
  additionalProperties: false,
  maxItems: 4,
});
const place = join(import.meta.dirname, '../src/api/language.ts');
const formatted = await format(types, { ...(await resolveConfig(place)), parser: 'typescript' });
writeFileSync(process.argv[2] ?? place, formatted);
