import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { TerminalConnection, type TerminalState } from '../src/model/terminal';

/** A WebSocket whose other end is the test. */
class Fake {
  static OPEN = 1;
  readyState = 0;
  binaryType = '';
  sent: unknown[] = [];
  onopen = (): void => undefined;
  onmessage = (_: { data: ArrayBuffer | string }): void => undefined;
  onclose = (_: { code: number; reason: string }): void => undefined;
  send = (text: string): void => void this.sent.push(JSON.parse(text));
  close = (): void => void (this.readyState = 3);
  opens(): void {
    this.readyState = Fake.OPEN;
    this.onopen();
  }
  tells = (what: object): void => this.onmessage({ data: JSON.stringify(what) });
  writes = (text: string): void =>
    this.onmessage({ data: new TextEncoder().encode(text).buffer as ArrayBuffer });
  breaks(code = 1006, reason = ''): void {
    this.readyState = 3;
    this.onclose({ code, reason });
  }
}

let sockets: Fake[];
let states: TerminalState[];
let shown: string;
let sizes: [number, number][];
let connection: TerminalConnection;

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal('WebSocket', Fake);
  [sockets, states, shown, sizes] = [[], [], '', []];
  connection = new TerminalConnection(
    () => {
      const socket = new Fake();
      sockets.push(socket);
      return socket as unknown as WebSocket;
    },
    {
      write: (data, drawn) => {
        shown += new TextDecoder().decode(data);
        drawn();
      },
      reset: () => (shown = ''),
      resize: (columns, rows) => void sizes.push([columns, rows]),
    },
    (state) => states.push(state),
  );
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

test('output is drawn and acknowledged, and input goes to the shell in pieces', () => {
  const [socket] = sockets as [Fake];
  socket.opens();
  socket.tells({ replayed: true });
  socket.writes('hello');
  expect([shown, socket.sent]).toEqual(['hello', [{ drawn: 5 }]]);
  connection.input('x'.repeat(20_000));
  expect(socket.sent.slice(1).map((each) => (each as { input: string }).input.length)).toEqual([
    16_384, 3_616,
  ]);
});

test('what the terminal answers to replayed output does not reach the shell', () => {
  const [socket] = sockets as [Fake];
  socket.opens();
  connection.input('\x1b[?1;2c');
  expect(socket.sent).toEqual([]);
  socket.tells({ replayed: true });
  connection.input('ls\r');
  expect(socket.sent).toEqual([{ input: 'ls\r' }]);
});

test('a broken connection is made again, with the size, and draws from the beginning', () => {
  sockets[0]!.opens();
  connection.resize(100, 30);
  connection.resize(100, 30);
  expect(sockets[0]!.sent).toEqual([{ columns: 100, rows: 30 }]);
  sockets[0]!.writes('before');
  sockets[0]!.breaks();
  expect(states.at(-1)).toEqual({ kind: 'lost' });
  vi.advanceTimersByTime(300);
  expect([sockets.length, shown]).toEqual([2, '']);
  sockets[1]!.opens();
  expect(sockets[1]!.sent).toEqual([{ columns: 100, rows: 30 }]);
});

test('the size that another tab gave is taken over, and missed output clears the screen', () => {
  const [socket] = sockets as [Fake];
  socket.opens();
  socket.writes('old');
  socket.tells({ columns: 70, rows: 20 });
  socket.tells({ clear: true });
  expect([sizes, shown]).toEqual([[[70, 20]], '']);
});

test.each([4400, 4404, 4409])('a connection that was refused with %i is not tried again', (code) => {
  sockets[0]!.opens();
  sockets[0]!.breaks(code, 'this shell has ended');
  vi.advanceTimersByTime(60_000);
  expect([sockets.length, states.at(-1)]).toEqual([1, { kind: 'ended', text: 'this shell has ended' }]);
});

test('the end of a shell is told once, and a connection that the page closed stays closed', () => {
  sockets[0]!.opens();
  sockets[0]!.tells({ exit_code: 3 });
  sockets[0]!.breaks(1000);
  vi.advanceTimersByTime(60_000);
  expect(states.at(-1)).toEqual({ kind: 'ended', text: 'The shell has ended with exit code 3.' });
  expect(sockets).toHaveLength(1);
  connection.close();
  expect(sockets[0]!.readyState).toBe(3);
});
