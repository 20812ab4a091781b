/** Colours and shapes of the editor, from the page's own variables: both themes at once. */
import { HighlightStyle } from '@codemirror/language';
import { EditorView } from '@codemirror/view';
import { tags } from '@lezer/highlight';

export const colours = HighlightStyle.define([
  { tag: tags.definition(tags.propertyName), color: 'var(--accent)' },
  { tag: [tags.string, tags.special(tags.string)], color: 'var(--good)' },
  { tag: tags.lineComment, color: 'var(--muted)', fontStyle: 'italic' },
  { tag: [tags.keyword, tags.meta, tags.typeName, tags.labelName], color: 'var(--code-parameter)' },
  { tag: [tags.punctuation, tags.separator, tags.squareBracket, tags.brace], color: 'var(--muted)' },
]);

const tint = (colour: string, share: number): string =>
  `color-mix(in srgb, var(--${colour}) ${share}%, transparent)`;
const wavy = (colour: string): Record<string, string> => ({
  backgroundImage: 'none',
  textDecoration: `underline wavy var(--${colour}) 1px`,
  textUnderlineOffset: '3px',
});

export const look = EditorView.theme({
  '&': { height: '100%', background: 'var(--field)', color: 'var(--ink)', fontSize: '12px' },
  '&.cm-focused': { outline: '2px solid var(--accent)', outlineOffset: '-2px' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '18px', overflow: 'auto' },
  '.cm-content': { padding: '6px 0', caretColor: 'var(--ink)' },
  // What does not fit is further in than what begins the line.
  '.cm-line': { paddingLeft: 'calc(6px + 4ch)', textIndent: '-4ch' },
  '.cm-cursor': { borderLeftColor: 'var(--ink)' },
  '.cm-gutters': { background: 'var(--field)', color: 'var(--muted)', borderRight: '1px solid var(--grid)' },
  '.cm-lineNumbers .cm-gutterElement': { padding: '0 2px 0 4px', minWidth: '26px', fontSize: '11px' },
  '.cm-foldGutter .cm-gutterElement': { cursor: 'pointer', color: 'var(--muted)', padding: '0 3px' },
  '.cm-gutter-lint': { width: '14px' },
  '.cm-activeLine': { background: tint('ink', 4) },
  '.cm-activeLineGutter': { background: tint('ink', 6), color: 'var(--ink)' },
  '.cm-line.chosen-line': { background: tint('accent', 14) },
  '.cm-line.changed-line': { background: tint('good', 18) },
  '.code-quantity': { color: 'var(--code-quantity)' },
  '.code-parameter': { color: 'var(--code-parameter)' },
  '.cm-content ::selection, .cm-line::selection': { background: tint('accent', 35) },
  '.cm-selectionMatch, .cm-searchMatch': { background: tint('warn', 25) },
  '.cm-searchMatch-selected': { background: tint('warn', 50) },
  '&.cm-focused .cm-matchingBracket': { background: tint('accent', 22), outline: '1px solid var(--accent)' },
  '&.cm-focused .cm-nonmatchingBracket': { background: tint('bad', 20) },
  '.cm-foldPlaceholder': {
    background: 'var(--panel)',
    border: '1px solid var(--line)',
    color: 'var(--muted)',
    padding: '0 4px',
  },
  '.cm-lintRange-error': wavy('bad'),
  '.cm-lintRange-warning': wavy('warn'),
  '.cm-lintRange-info, .cm-lintRange-hint': wavy('muted'),
  '.cm-lintPoint::after': { borderBottomColor: 'var(--bad)' },
  '.cm-tooltip': {
    background: 'var(--raised)',
    color: 'var(--ink)',
    border: '1px solid var(--line)',
    borderRadius: '4px',
    maxWidth: '420px',
    boxShadow: '0 3px 12px rgb(0 0 0 / 18%)',
  },
  '.cm-tooltip.cm-tooltip-autocomplete > ul': { fontFamily: 'var(--mono)', maxHeight: '16em' },
  '.cm-tooltip.cm-tooltip-autocomplete > ul > li': { padding: '2px 8px' },
  '.cm-tooltip.cm-tooltip-autocomplete > ul > li[aria-selected]': {
    background: 'var(--accent)',
    color: 'var(--on-accent)',
  },
  '.cm-tooltip-autocomplete li[aria-selected] .cm-completionDetail': { color: 'var(--on-accent)' },
  '.cm-completionDetail': { color: 'var(--muted)', fontStyle: 'normal', marginLeft: '12px' },
  '.cm-completionMatchedText': { textDecoration: 'none', fontWeight: '700' },
  '.cm-completionIcon': { display: 'none' },
  '.cm-tooltip.cm-completionInfo': { padding: '6px 10px', width: '300px', whiteSpace: 'normal' },
  '.about': { padding: '6px 10px', fontFamily: 'var(--sans)', fontSize: '12px', lineHeight: '1.45' },
  '.cm-completionInfo .about': { padding: '0' },
  '.about-name': { fontFamily: 'var(--mono)', fontWeight: '600' },
  '.about-types': {
    color: 'var(--muted)',
    fontFamily: 'var(--mono)',
    fontSize: '11px',
    overflowWrap: 'anywhere',
  },
  '.about-examples': { color: 'var(--muted)' },
  '.cm-diagnostic': {
    padding: '5px 10px',
    fontFamily: 'var(--sans)',
    borderLeftWidth: '3px',
    whiteSpace: 'pre-wrap',
  },
  '.cm-diagnostic-error': { borderLeftColor: 'var(--bad)' },
  '.cm-diagnostic-warning': { borderLeftColor: 'var(--warn)' },
  '.cm-panels': { background: 'var(--panel)', color: 'var(--ink)', borderColor: 'var(--line)' },
  '.cm-panel.cm-search': { padding: '5px 8px', fontFamily: 'var(--sans)' },
  '.cm-panel.cm-search label': { fontSize: '12px' },
  '.cm-panel.cm-search [name=close]': { color: 'var(--ink)', fontSize: '16px' },
  '.cm-textfield': {
    background: 'var(--field)',
    border: '1px solid var(--line)',
    borderRadius: '4px',
    fontSize: '12px',
  },
  '.cm-button': {
    background: 'var(--raised)',
    backgroundImage: 'none',
    border: '1px solid var(--line)',
    borderRadius: '4px',
    fontSize: '12px',
  },
});
