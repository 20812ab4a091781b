/** The editor of a scenario's text: colours, completion, help under the pointer, problems at their places. */
import {
  type Completion,
  autocompletion,
  closeBrackets,
  closeBracketsKeymap,
  completionKeymap,
} from '@codemirror/autocomplete';
import { defaultKeymap } from '@codemirror/commands';
import { yaml } from '@codemirror/lang-yaml';
import {
  bracketMatching,
  codeFolding,
  foldGutter,
  foldKeymap,
  syntaxHighlighting,
} from '@codemirror/language';
import {
  lintGutter,
  nextDiagnostic,
  previousDiagnostic,
  setDiagnostics,
  type Diagnostic,
} from '@codemirror/lint';
import { highlightSelectionMatches, search, searchKeymap } from '@codemirror/search';
import { Annotation, EditorSelection, EditorState, Transaction } from '@codemirror/state';
import {
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  hoverTooltip,
  keymap,
  lineNumbers,
  type ViewUpdate,
} from '@codemirror/view';
import type { Problem } from '../api/types/texts';
import { describe, meaning, source, type Names } from './completion';
import { colours, look } from './look';
import { markedLines, setMarks, values, type Marks } from './marks';
import type { Schema } from './schema';
import { continues, difference, type Typed } from './typing';

/** What the editor asks of, and says to, whoever shows it. */
export type Callbacks = {
  /** `null` while the server does not answer. */
  schema: () => Promise<Schema | null>;
  names: () => Names | null;
  /** Cities whose names begin so, as completions that write their coordinates. */
  cities: (name: string) => Promise<Completion[]>;
  /** The text after typing; changes of one `group` are one step of undo. */
  ontype: (text: string, group: string) => void;
  /** The user moved the cursor to a line, counted from 1. */
  online: (line: number) => void;
  onundo: () => void;
  onredo: () => void;
};

export type Editor = {
  /** Another text, such as that of an edit on the map: only what differs is replaced, so that the cursor stays. */
  show: (text: string) => void;
  problems: (all: readonly Problem[]) => void;
  mark: (marks: Marks) => void;
  /** Scrolls a line into view, unless the user is typing. */
  reveal: (line: number) => void;
  goTo: (line: number) => void;
  focus: () => void;
  end: () => void;
};

const fromOutside = Annotation.define<boolean>();

/** A new line begins where the last one does, and further in behind a key without a value. */
function newLine({ state, dispatch }: EditorView): boolean {
  const change = state.changeByRange((range) => {
    const line = state.doc.lineAt(range.from);
    const before = line.text.slice(0, range.from - line.from);
    const indent = /^ *(?:- +)?/.exec(before)![0].length;
    const opens = /\S:\s*(#.*)?$/.test(before);
    const insert = `\n${' '.repeat(indent + (opens ? 2 : 0))}`;
    const cursor = EditorSelection.cursor(range.from + insert.length);
    return { changes: { from: range.from, to: range.to, insert }, range: cursor };
  });
  dispatch(state.update(change, { scrollIntoView: true, userEvent: 'input' }));
  return true;
}

const said = ({ path, message, remedy, code }: Problem): string =>
  `${path ? `${path}: ` : ''}${message}${remedy ? `; ${remedy}` : ''}${code ? ` (${code})` : ''}`;

function diagnostic(state: EditorState, problem: Problem): Diagnostic[] {
  if (!problem.line || problem.line > state.doc.lines) return [];
  const line = state.doc.line(problem.line);
  const from = Math.min(line.to, line.from + Math.max(0, (problem.column ?? 1) - 1));
  const to = Math.min(line.to, from + Math.max(1, problem.width));
  return [{ from, to, severity: problem.severity, message: said(problem) }];
}

/** An editor in `parent` that begins with `text`. */
export function openEditor(parent: HTMLElement, text: string, around: Callbacks): Editor {
  let last: Typed | null = null;
  let group = 0;

  function typed(update: ViewUpdate): void {
    const transaction = update.transactions.find((each) => each.docChanged);
    if (!transaction || transaction.annotation(fromOutside)) return;
    let [at, removed, inserted, parts] = [0, 0, 0, 0];
    transaction.changes.iterChanges((fromA, toA, _fromB, _toB, text) => {
      [at, removed, inserted, parts] = [fromA, toA - fromA, text.length, parts + 1];
    });
    const kind = transaction.annotation(Transaction.userEvent) ?? '';
    const next = { at, removed, inserted, kind, time_ms: performance.now() };
    if (parts > 1 || !continues(last, next)) group++;
    last = next;
    around.ontype(update.state.doc.toString(), `typing ${group}`);
  }

  const state = EditorState.create({
    doc: text,
    extensions: [
      lineNumbers(),
      foldGutter({ openText: '▾', closedText: '▸' }),
      lintGutter(),
      codeFolding(),
      yaml(),
      syntaxHighlighting(colours),
      values,
      markedLines,
      bracketMatching(),
      closeBrackets(),
      highlightActiveLine(),
      highlightActiveLineGutter(),
      highlightSelectionMatches(),
      search({ top: true }),
      autocompletion({
        override: [source(around.schema, around.names, around.cities)],
        activateOnTypingDelay: 60,
      }),
      hoverTooltip(async (view, at) => {
        const schema = await around.schema();
        const found = schema && meaning(schema, view.state.doc.toString(), at);
        if (!found) return null;
        const dom = describe(found.name, found.known);
        return { pos: found.from, end: found.to, above: true, create: () => ({ dom }) };
      }),
      EditorView.contentAttributes.of({ id: 'yaml-text', tabindex: '0', 'aria-label': 'Scenario, YAML' }),
      EditorView.domEventHandlers({
        // Undo of the browser's own menu; keys are the page's.
        beforeinput: (event) => {
          if (event.inputType === 'historyUndo') around.onundo();
          else if (event.inputType === 'historyRedo') around.onredo();
          else return false;
          event.preventDefault();
          return true;
        },
      }),
      keymap.of([
        ...closeBracketsKeymap,
        ...completionKeymap,
        { key: 'Enter', run: newLine },
        { key: 'F8', run: nextDiagnostic, shift: previousDiagnostic },
        ...searchKeymap,
        ...foldKeymap,
        ...defaultKeymap,
      ]),
      EditorView.lineWrapping,
      look,
      EditorView.updateListener.of((update) => {
        typed(update);
        const byUser = update.transactions.some(
          (each) => each.isUserEvent('select') || each.isUserEvent('input'),
        );
        if (byUser && update.selectionSet)
          around.online(update.state.doc.lineAt(update.state.selection.main.head).number);
      }),
    ],
  });
  const view = new EditorView({ state, parent });
  const start = (line: number): number =>
    view.state.doc.line(Math.max(1, Math.min(line, view.state.doc.lines))).from;

  return {
    show: (wanted) => {
      const changes = difference(view.state.doc.toString(), wanted);
      if (changes) view.dispatch({ changes, annotations: fromOutside.of(true) });
    },
    problems: (all) =>
      view.dispatch(
        setDiagnostics(
          view.state,
          all.flatMap((each) => diagnostic(view.state, each)),
        ),
      ),
    mark: (marks) => view.dispatch({ effects: setMarks.of(marks) }),
    reveal: (line) => {
      if (!view.hasFocus) view.dispatch({ effects: EditorView.scrollIntoView(start(line), { yMargin: 80 }) });
    },
    goTo: (line) => {
      const anchor = start(line);
      view.dispatch({
        selection: { anchor },
        effects: EditorView.scrollIntoView(anchor, { y: 'center' }),
        userEvent: 'select',
      });
      view.focus();
    },
    focus: () => view.focus(),
    end: () => view.destroy(),
  };
}
