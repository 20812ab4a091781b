/** A terminal's connection with the server: what is sent both ways, and attaching again after a broken connection. */

/** What the server says beside output: see `Hosts.terminal`. */
type Told = {
  columns?: number;
  rows?: number;
  clear?: true;
  replayed?: true;
  exit_code?: number;
};

/** The part of xterm.js that a connection needs. */
export type Screen = {
  write: (data: Uint8Array, drawn: () => void) => void;
  reset: () => void;
  resize: (columns: number, rows: number) => void;
};

export type TerminalState =
  { kind: 'connecting' } | { kind: 'attached' } | { kind: 'lost' } | { kind: 'ended'; text: string };

/** Close codes of the server after which another attempt would end alike. */
const FINAL = [4400, 4404, 4409];
const LONGEST_PAUSE_MS = 4000;
/** The server takes no longer messages. */
const MOST_INPUT = 16_384;

export class TerminalConnection {
  private socket: WebSocket | null = null;
  private isReplaying = true;
  private isClosed = false;
  private hasEnded = false;
  private pauseMs = 250;
  private waiting: ReturnType<typeof setTimeout> | undefined;
  private size: { columns: number; rows: number } | null = null;

  constructor(
    private readonly open: () => WebSocket,
    private readonly screen: Screen,
    private readonly on: (state: TerminalState) => void,
  ) {
    this.connect();
  }

  /** Sends what was typed; answers of the terminal to output that was replayed are dropped. */
  input(text: string): void {
    if (this.isReplaying) return;
    for (let at = 0; at < text.length; at += MOST_INPUT) this.say({ input: text.slice(at, at + MOST_INPUT) });
  }

  /** Gives the shell the size of the terminal in this tab. */
  resize(columns: number, rows: number): void {
    if (this.size?.columns === columns && this.size.rows === rows) return;
    this.size = { columns, rows };
    this.say(this.size);
  }

  close(): void {
    this.isClosed = true;
    clearTimeout(this.waiting);
    this.socket?.close();
  }

  private connect(): void {
    this.isReplaying = true;
    this.screen.reset();
    this.on({ kind: 'connecting' });
    const socket = this.open();
    socket.binaryType = 'arraybuffer';
    this.socket = socket;
    socket.onopen = () => {
      this.pauseMs = 250;
      this.on({ kind: 'attached' });
      if (this.size) this.say(this.size);
    };
    socket.onmessage = ({ data }: MessageEvent<ArrayBuffer | string>) => {
      if (typeof data === 'string') this.take(JSON.parse(data) as Told);
      else
        this.screen.write(new Uint8Array(data), () => {
          if (this.socket === socket) this.say({ drawn: data.byteLength });
        });
    };
    socket.onclose = ({ code, reason }) => {
      if (this.isClosed || this.hasEnded) return;
      if (FINAL.includes(code)) return this.end(reason);
      this.on({ kind: 'lost' });
      this.waiting = setTimeout(() => this.connect(), this.pauseMs);
      this.pauseMs = Math.min(this.pauseMs * 2, LONGEST_PAUSE_MS);
    };
  }

  private take(told: Told): void {
    if (told.clear) this.screen.reset();
    if (told.columns !== undefined && told.rows !== undefined) {
      // Another tab may have given it another size.
      this.size = { columns: told.columns, rows: told.rows };
      this.screen.resize(told.columns, told.rows);
    }
    if (told.replayed) this.screen.write(new Uint8Array(), () => (this.isReplaying = false));
    if (told.exit_code !== undefined) this.end(`The shell has ended with exit code ${told.exit_code}.`);
  }

  private end(text: string): void {
    this.hasEnded = true;
    this.on({ kind: 'ended', text });
  }

  private say(what: object): void {
    if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(what));
  }
}
