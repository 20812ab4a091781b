import { expect, test } from 'vitest';
import { eventParser, type StreamEvent } from '../src/api/events';

const stream =
  ': heartbeat\n\nevent: hello\nid: 1\ndata: {"a":1}\n\nevent: sample\r\nid: 2\r\ndata: first\r\ndata: second\r\n\r\ndata: plain\n\nevent: nothing\n\n';
const wanted: StreamEvent[] = [
  { event: 'hello', id: '1', data: '{"a":1}' },
  { event: 'sample', id: '2', data: 'first\nsecond' },
  { event: 'message', id: '2', data: 'plain' },
];

function parse(pieces: string[]): StreamEvent[] {
  const events: StreamEvent[] = [];
  const feed = eventParser((event) => events.push(event));
  pieces.forEach(feed);
  return events;
}

test('events are found in a whole stream', () => expect(parse([stream])).toEqual(wanted));
test('and wherever it is cut in two', () => {
  for (let at = 0; at <= stream.length; at++)
    expect(parse([stream.slice(0, at), stream.slice(at)])).toEqual(wanted);
});
test('and byte by byte', () => expect(parse([...stream])).toEqual(wanted));
test('an event without its blank line is not given', () =>
  expect(parse(['event: end\ndata: {}\n'])).toEqual([]));
