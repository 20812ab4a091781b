// Writes src/api/types/, what the page's server takes and says, from the JSON Schema on standard input:
//   longhaul schema --page | node tools/types.mjs
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { compile } from 'json-schema-to-typescript';
import { format, resolveConfig } from 'prettier';

const head = `/* Written by "npm run types" from the output of "longhaul schema --page"; not edited by hand. */`;
const { bodies, answers, event, subjects, $defs } = JSON.parse(await text(process.stdin));

/** Without titles, of which each would become a type of its own, and with names for types, which are written apart. */
function plain(schema, names) {
  if (Array.isArray(schema)) return schema.map((each) => plain(each, names));
  if (schema === null || typeof schema !== 'object') return schema;
  if (schema.$ref) {
    const name = schema.$ref.split('/').at(-1);
    if (name === 'JsonValue') return { tsType: 'unknown' };
    names.add(name);
    return { tsType: name };
  }
  const { title, ...rest } = schema;
  const kept = typeof title === 'string' ? rest : schema;
  if (kept.items) {
    // Bounds of a list are the server's to check; as types they would be tuples.
    delete kept.minItems;
    delete kept.maxItems;
  }
  if (typeof kept.description === 'string')
    kept.description = kept.description.replaceAll('``', '`').replaceAll('`None`', '`null`');
  // What the compiler knows from older drafts by another name.
  return Object.fromEntries(
    Object.entries(kept).map(([key, value]) => [key === 'prefixItems' ? 'items' : key, plain(value, names)]),
  );
}

/** A file with these types, and what it needs of others. */
async function write(subject, types) {
  const used = new Set();
  const parts = [];
  for (const [name, schema] of Object.entries(types)) {
    const options = { bannerComment: '', additionalProperties: false, format: false };
    parts.push(await compile(plain(schema, used), name, options));
  }
  const others = Object.keys(subjects).filter((other) => other !== subject);
  const imports = others.flatMap((other) => {
    const names = subjects[other].filter((name) => used.has(name));
    return names.length ? [`import type { ${names.join(', ')} } from './${other}';`] : [];
  });
  const content = [head, ...imports, '', ...parts].join('\n');
  const place = join(folder, `${subject}.ts`);
  const settings = await resolveConfig(join(own, `${subject}.ts`));
  writeFileSync(place, await format(content, { ...settings, parser: 'typescript' }));
}

const own = join(import.meta.dirname, '../src/api/types');
const folder = process.argv[2] ?? own;
mkdirSync(folder, { recursive: true });
for (const [subject, names] of Object.entries(subjects)) {
  await write(subject, Object.fromEntries(names.map((name) => [name, $defs[name]])));
}
const description = 'What is answered at each address.';
const whole = { type: 'object', description, properties: answers, required: Object.keys(answers) };
const sent = {
  type: 'object',
  description: 'What is sent to each address.',
  properties: bodies,
  required: Object.keys(bodies),
};
await write('addresses', { Bodies: sent, Answers: whole, RunEvent: event });
