import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { isNamed, terms } from '../src/model/glossary.svelte';

const root = join(import.meta.dirname, '../..');
const all = terms(readFileSync(join(root, 'docs/reference/glossary.md'), 'utf8'));

test('every term has a meaning in plain words, and its facts', () => {
  const headings = readFileSync(join(root, 'docs/reference/glossary.md'), 'utf8').match(/^### /gm);
  expect(all).toHaveLength(headings!.length);
  for (const { name, meaning, facts } of all) {
    expect(meaning, name).toMatch(/^[A-Z].{20,}[.)]$/);
    expect(`${meaning} ${facts.map((each) => each.text).join(' ')}`, name).not.toMatch(/[`*]|\]\(/);
    expect(facts.length, name).toBeGreaterThan(0);
  }
  const rtt = all.find((each) => isNamed(each, 'rtt'))!;
  expect(rtt.name).toBe('Round-trip time (RTT)');
  expect(isNamed(rtt, 'round-trip time')).toBe(true);
  expect(all.filter((each) => isNamed(each, ''))).toEqual([]);
});

test('every word that the page explains is in the glossary', () => {
  const texts = ['parts', 'views'].flatMap((folder) => {
    const place = join(root, 'web/src', folder);
    return readdirSync(place).map((name) => readFileSync(join(place, name), 'utf8'));
  });
  const wanted = texts.flatMap((text) => [
    ...[...text.matchAll(/(?:<Term\s+of|\bterm)="([^"]+)"/g)].map(([, name]) => name!),
    ...[...text.matchAll(/^ {4}\['[^']+', '([^']+)', '\w+', \w+\],$/gm)].map(([, name]) => name!),
  ]);
  expect(wanted.length).toBeGreaterThan(15);
  expect(wanted.filter((name) => !all.some((each) => isNamed(each, name)))).toEqual([]);
});
