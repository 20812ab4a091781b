/** What the editor marks beside syntax: lines of the selected item and of the last edit, and the kinds of plain values. */
import { syntaxTree } from '@codemirror/language';
import { StateEffect, StateField, type Text } from '@codemirror/state';
import {
  Decoration,
  EditorView,
  MatchDecorator,
  ViewPlugin,
  type DecorationSet,
  type ViewUpdate,
} from '@codemirror/view';

export type Marks = { chosen: number | null; changed: readonly number[] };
export const setMarks = StateEffect.define<Marks>();

export const markedLines = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(before, transaction) {
    const marks = transaction.effects.findLast((effect) => effect.is(setMarks));
    return marks ? lines(transaction.state.doc, marks.value as Marks) : before.map(transaction.changes);
  },
  provide: (field) => EditorView.decorations.from(field),
});

function lines(doc: Text, { chosen, changed }: Marks): DecorationSet {
  const kinds = new Map<number, string>(changed.map((line) => [line, 'changed-line']));
  if (chosen !== null && !kinds.has(chosen)) kinds.set(chosen, 'chosen-line');
  const ranges = [...kinds]
    .filter(([line]) => line >= 1 && line <= doc.lines)
    .map(([line, name]) => Decoration.line({ class: name }).range(doc.line(line).from));
  return Decoration.set(ranges, true);
}

const parameter = Decoration.mark({ class: 'code-parameter' });
const quantity = Decoration.mark({ class: 'code-quantity' });

/** Plain values, which the grammar of YAML does not tell apart: parameters, quantities, booleans. */
const decorator = new MatchDecorator({
  regexp: /\$[A-Za-z_]\w*|(?<![\w.$-])(?:-?\d[\d.]*(?: ?[A-Za-z%][A-Za-z/%]*)?|true|false|null)(?![\w.-])/g,
  decorate: (add, from, to, match, view) => {
    const node = syntaxTree(view.state).resolveInner(from, 1);
    if (node.name !== 'Literal' || node.parent?.name === 'Key') return;
    add(from, to, match[0].startsWith('$') ? parameter : quantity);
  },
});

export const values = ViewPlugin.fromClass(
  class {
    decorations: DecorationSet;
    private tree: unknown;
    constructor(view: EditorView) {
      this.tree = syntaxTree(view.state);
      this.decorations = decorator.createDeco(view);
    }
    update(update: ViewUpdate): void {
      const tree = syntaxTree(update.state);
      // The text is parsed in the background; what has been parsed since is coloured anew.
      this.decorations =
        tree !== this.tree && !update.docChanged
          ? decorator.createDeco(update.view)
          : decorator.updateDeco(update, this.decorations);
      this.tree = tree;
    }
  },
  { decorations: (plugin) => plugin.decorations },
);
