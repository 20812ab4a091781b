import { expect, test } from 'vitest';
import { choices, linkOf, NO_LINK, read, settingsOf, written } from '../src/model/relays';

const SOURCES = [
  { name: 'sites.yaml', own: false },
  { name: 'more.yaml', own: false },
  { name: 'relay', own: true },
];
const RELAY = 'version: 1\nrelay:\n  clusters: {}\n';

test('the scenario on Edit is the first to choose, also where it is not saved yet', () => {
  const first = (file: string | null, text: string, unchanged: string | null = null): unknown =>
    choices(SOURCES, { text, file, unchanged })[0];
  expect(first('more.yaml', RELAY)).toEqual({ kind: 'file', name: 'more.yaml' });
  expect(first(null, RELAY, 'relay')).toEqual({ kind: 'own', name: 'relay' });
  expect(first(null, RELAY)).toEqual({ kind: 'edit', name: '' });
  expect(first('new.yaml', RELAY)).toEqual({ kind: 'edit', name: 'new.yaml' });
  expect(first('words.yaml', 'version: 1\n')).toEqual({ kind: 'file', name: 'sites.yaml' });
  expect(choices(SOURCES, { text: RELAY, file: 'more.yaml', unchanged: null })).toHaveLength(3);
});

test('a choice is read as it was written', () => {
  for (const each of [{ kind: 'file', name: 'a:b.yaml' } as const, { kind: 'edit', name: '' } as const])
    expect(read(written(each))).toEqual(each);
});

test('forwards and networks are words, and what is empty is left out', () => {
  const link = linkOf({ ...NO_LINK, delay: ' 5ms ', forwards: '80=a:1\nudp:53=b:2,', allow: '10.0.0.0/8' });
  expect(link.delay).toBe('5ms');
  expect(link.rate).toBeNull();
  expect(link.forwards).toEqual(['80=a:1', 'udp:53=b:2']);
  expect(link.allow).toEqual(['10.0.0.0/8']);
});

test('parameters are names with values, which may have equals signs', () => {
  expect(settingsOf(' socks=0  target=n11:5201=x ')).toEqual({ socks: '0', target: 'n11:5201=x' });
  expect(settingsOf('')).toEqual({});
  expect(settingsOf('socks')).toBeNull();
  expect(settingsOf('socks=')).toBeNull();
});
