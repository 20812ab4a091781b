/** Where in the keys of a YAML text the cursor is. Tolerates text that is being typed; for completion and hover alone. */

export type Step = string | number;

/** A mapping or a list around the cursor. */
export type Level = {
  /** The key or the position in the list that leads on to the cursor; null where none is written yet. */
  key: Step | null;
  /** The keys of the mapping, before and behind the cursor, with values that are words; empty for a list. */
  siblings: Map<string, string>;
};

export type Place = {
  /** From the outermost to the innermost; all but the last have a key. */
  levels: Level[];
  expects: 'key' | 'value';
  /** Where the word begins that ends at the cursor, and the word. */
  from: number;
  word: string;
};

type Block = Level & { indent: number; item: boolean };
type Flow = Level & { list: boolean };

const KEY =
  /^("(?:[^"\\]|\\.)*"|'[^']*'|[^\s#,[\]{}&*!|>'"%@`-][^#[\]{}]*?|-[^\s#[\]{}][^#[\]{}]*?)\s*:(?=\s|$)/;
const WORD = /[^\s,[\]{}:#"']*$/;
const unquoted = (text: string): string => text.trim().replace(/^(["'])([^]*)\1$/, '$2');

/** The place of the offset `cursor` in `text`; null within a comment or a block of text. */
export function placeAt(text: string, cursor: number): Place | null {
  return new Scanner(text, cursor).scan();
}

class Scanner {
  private readonly root = new Map<string, string>();
  private readonly blocks: Block[] = [];
  private readonly flows: Flow[] = [];
  private found: Place | null | undefined;
  /** Where the quoted or plain word of a flow collection begins. */
  private wordStart = 0;
  /** Lines that are further in than this belong to a block of text. */
  private textIndent = Infinity;

  constructor(
    private readonly text: string,
    private readonly cursor: number,
  ) {}

  scan(): Place | null {
    let start = 0;
    for (const line of this.text.split('\n')) {
      this.line(line.replace(/\r$/, ''), start);
      start += line.length + 1;
      // What stands behind the cursor on the same level still counts; the next section does not.
      if (
        this.found !== undefined &&
        start > this.cursor &&
        /^\S/.test(this.text.slice(start, start + 1)) &&
        !this.flows.length
      )
        break;
    }
    return this.found ?? null;
  }

  private line(line: string, start: number): void {
    const here = this.found === undefined && this.cursor >= start && this.cursor <= start + line.length;
    if (this.flows.length) return this.value(line, 0, start, here);
    let indent = line.search(/\S/);
    const blank = indent < 0;
    if (blank) indent = here ? this.cursor - start : Infinity;
    if (indent > this.textIndent) {
      if (here && !blank) this.found = null;
      if (!blank || here) return;
    } else if (!blank) this.textIndent = Infinity;
    if (blank) {
      if (here) this.found = this.keyPlace(indent, start + indent, '');
      return;
    }
    if (line[indent] === '#') {
      if (here) this.found = this.cursor - start > indent ? null : this.keyPlace(indent, this.cursor, '');
      return;
    }
    let at = indent;
    while (/^-(\s|$)/.test(line.slice(at))) {
      this.item(at);
      const next = line.slice(at + 1).search(/\S/);
      const after = next < 0 ? line.length : at + 1 + next;
      if (here && this.cursor - start <= Math.max(after, at + 2) && next < 0) {
        this.found = this.keyPlace(at + 1, this.cursor, '');
        return;
      }
      at = after;
    }
    if (at >= line.length) return;
    const rest = line.slice(at);
    const key = KEY.exec(rest);
    if (!key) {
      const item = this.blocks.at(-1);
      const opens = /^[[{]/.test(rest);
      if (here && !opens && this.cursor - start >= at) {
        const typed = rest.slice(0, this.cursor - start - at);
        const word = WORD.exec(typed)?.[0] ?? '';
        this.found = /(^|\s)#/.test(typed) ? null : this.keyPlace(at, this.cursor - word.length, word);
        return;
      }
      if (opens && (item?.item ?? false)) this.value(line, at, start, here);
      return;
    }
    this.close(at);
    const name = unquoted(key[1]!);
    const level = this.siblings();
    const colon = at + key[0].length;
    const value = line.slice(colon);
    level.set(name, unquoted(value.replace(/\s#.*$/, '')));
    if (here && this.cursor - start < colon) {
      const typed = line.slice(at, this.cursor - start);
      this.found = this.keyPlace(at, start + at, typed);
    }
    this.blocks.push({ indent: at, item: false, key: name, siblings: level });
    if (/^\s*[|>][-+0-9]*\s*(#.*)?$/.test(value)) this.textIndent = at;
    this.value(line, colon, start, here && this.found === undefined);
  }

  /** Mappings and lists that end where something stands at `indent`. */
  private close(indent: number): void {
    while (this.blocks.length && this.blocks.at(-1)!.indent >= indent) this.blocks.pop();
  }

  private item(indent: number): void {
    let position = 0;
    for (;;) {
      const last = this.blocks.at(-1);
      if (!last || last.indent < indent || (last.indent === indent && !last.item)) break;
      if (last.item && last.indent === indent) position = (last.key as number) + 1;
      this.blocks.pop();
    }
    this.blocks.push({ indent, item: true, key: position, siblings: new Map() });
  }

  /** Keys of the mapping within a block; by default within the innermost. */
  private siblings(last: Block | undefined = this.blocks.at(-1)): Map<string, string> {
    if (!last) return this.root;
    let inner = this.inner.get(last);
    if (!inner) this.inner.set(last, (inner = new Map()));
    return inner;
  }
  private readonly inner = new Map<Block, Map<string, string>>();

  /** A key, or an item of one word, is being written at `indent`. */
  private keyPlace(indent: number, from: number, word: string): Place {
    const around = this.blocks.filter((each) => each.indent < indent);
    const levels = [...around, { key: null, siblings: this.siblings(around.at(-1)) }].map(
      ({ key, siblings }) => ({
        key,
        siblings,
      }),
    );
    return { levels, expects: 'key', from, word };
  }

  /** What stands behind a key or within brackets, from `at` in the line. */
  private value(line: string, at: number, start: number, here: boolean): void {
    const target = here ? this.cursor - start : -1;
    this.wordStart = at;
    let quote = '';
    for (let index = at; index <= line.length; index++) {
      if (index === target && this.found === undefined) this.found = this.valuePlace(line, index, start);
      const character = line[index];
      if (character === undefined) break;
      if (quote) {
        if (character === '\\' && quote === '"') index++;
        else if (character === quote) quote = '';
        continue;
      }
      if (character === '#' && (index === 0 || /\s/.test(line[index - 1]!))) {
        if (target > index && this.found === undefined) this.found = null;
        break;
      }
      const flow = this.flows.at(-1);
      const begins = !line.slice(this.wordStart, index).trim();
      if ((character === '"' || character === "'") && begins) quote = character;
      else if ((character === '{' || character === '[') && (begins || flow)) {
        const list = character === '[';
        this.flows.push({ list, key: list ? 0 : null, siblings: new Map() });
        this.wordStart = index + 1;
      } else if (flow && (character === '}' || character === ']')) {
        this.told(flow, line, index);
        this.flows.pop();
        this.wordStart = index + 1;
      } else if (flow && character === ',') {
        this.told(flow, line, index);
        flow.key = flow.list ? (flow.key as number) + 1 : null;
        this.wordStart = index + 1;
      } else if (
        flow &&
        !flow.list &&
        flow.key === null &&
        character === ':' &&
        /^[\s{["']?$/.test(line[index + 1] ?? '')
      ) {
        const name = unquoted(line.slice(this.wordStart, index));
        flow.key = name;
        flow.siblings.set(name, '');
        this.wordStart = index + 1;
      }
    }
    const flow = this.flows.at(-1);
    if (flow) this.told(flow, line, line.length);
  }

  /** Keeps a word as the value of its key. */
  private told(flow: Flow, line: string, end: number): void {
    const word = unquoted(line.slice(this.wordStart, end).replace(/\s#.*$/, ''));
    if (!flow.list && typeof flow.key === 'string' && word && !flow.siblings.get(flow.key))
      flow.siblings.set(flow.key, word);
  }

  private valuePlace(line: string, index: number, start: number): Place {
    const typed = line.slice(this.wordStart, index);
    const word = WORD.exec(typed)?.[0] ?? '';
    const from = start + index - word.length;
    const flow = this.flows.at(-1);
    // Copies, as keys change while the rest is read; the mappings of siblings are shared, so that they fill.
    const around: Level[] = [...this.blocks, ...this.flows].map(({ key, siblings }) => ({ key, siblings }));
    if (flow && flow.key === null) return { levels: around, expects: 'key', from, word };
    return { levels: around, expects: 'value', from, word };
  }
}
