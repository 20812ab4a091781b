import { expect, test } from 'vitest';
import { fit, found, offer, offered, type Command } from '../src/model/commands';

const command = (name: string, group: string): Command => ({ name, group, run: () => undefined });

test.each([
  ['ru', 'Run', 4],
  ['name', 'Save under another name', 3],
  ['nder', 'Save under another name', 2],
  ['svn', 'Save under another name', 0.5],
  ['host a1', 'a1 Host', 7],
  ['', 'Run', 0],
])('%s fits %s', (query, text, fits) => expect(fit(query, text)).toBe(fits));

test('what has not all words does not fit', () => {
  expect(fit('save host', 'Save File')).toBeNull();
  expect(fit('nur', 'Run')).toBeNull();
});

test('the best come first, and equals in their own order', () => {
  const commands = [
    command('Runs', 'View'),
    command('par-nyc', 'Link'),
    command('Run', 'View'),
    command('nyc', 'Router'),
  ];
  expect(found('nyc', commands, 9).map((each) => each.name)).toEqual(['nyc', 'par-nyc']);
  expect(found('run', commands, 9).map((each) => each.name)).toEqual(['Runs', 'Run']);
  expect(found('', commands, 2).map((each) => each.name)).toEqual(['Runs', 'par-nyc']);
});

test('a view offers commands while it is shown, some of them made of what is typed', () => {
  const stop = offer((query) => (query.startsWith('set ') ? [command(query, 'Run')] : []));
  expect(offered('set wan delay=1ms').map((each) => each.name)).toEqual(['set wan delay=1ms']);
  expect(offered('wan')).toEqual([]);
  stop();
  expect(offered('set wan delay=1ms')).toEqual([]);
});
