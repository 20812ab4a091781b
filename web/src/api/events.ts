/** The event stream of a run, read with fetch so that the token travels in a header. */

export type StreamEvent = { event: string; id: string | null; data: string };

/**
 * A parser of text/event-stream (HTML standard, 9.2.6) that is fed pieces as they come.
 * Pieces may end anywhere; an event is given once its blank line is there.
 */
export function eventParser(emit: (event: StreamEvent) => void): (piece: string) => void {
  let rest = '';
  let event = '';
  let id: string | null = null;
  let data: string[] = [];
  let skipNewline = false;
  const line = (text: string): void => {
    if (text === '') {
      if (data.length > 0) emit({ event: event || 'message', id, data: data.join('\n') });
      event = '';
      data = [];
      return;
    }
    const colon = text.indexOf(':');
    if (colon === 0) return;
    const field = colon < 0 ? text : text.slice(0, colon);
    let value = colon < 0 ? '' : text.slice(colon + 1);
    if (value.startsWith(' ')) value = value.slice(1);
    if (field === 'event') event = value;
    else if (field === 'data') data.push(value);
    else if (field === 'id' && !value.includes('\0')) id = value;
  };
  return (piece) => {
    if (skipNewline && piece.startsWith('\n')) piece = piece.slice(1);
    if (piece === '') return;
    skipNewline = piece.endsWith('\r');
    const lines = (rest + piece).split(/\r\n|\r|\n/);
    rest = lines.pop() ?? '';
    for (const each of lines) line(each);
  };
}
