/** The terms of docs/reference/glossary.md, and the one that is explained now. */

export type Term = {
  /** `Round-trip time (RTT)` */
  name: string;
  meaning: string;
  /** What the glossary says beside it, such as its unit and where it is seen. */
  facts: { label: string; text: string }[];
};

/** Text of Markdown: links are their words. */
const plain = (markdown: string): string =>
  markdown
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/[`*]/g, '')
    .replace(/\s+/g, ' ')
    .trim();

/** The terms of a glossary in Markdown. */
export function terms(markdown: string): Term[] {
  return markdown
    .split(/^### /m)
    .slice(1)
    .map((section) => {
      const [head = '', ...lines] = section.split('\n');
      const end = lines.findIndex((line) => line.startsWith('- **'));
      const facts = [...section.matchAll(/^- \*\*([^*]+):\*\* (.*(?:\n {2}.*)*)/gm)];
      return {
        name: head.trim(),
        meaning: plain((end < 0 ? lines : lines.slice(0, end)).join(' ')),
        facts: facts.map(([, label, text]) => ({ label: label!, text: plain(text!) })),
      };
    });
}

/** Whether a term is meant: by its name, by that without what is in parentheses, or by the abbreviation in them. */
export function isNamed(term: Term, wanted: string): boolean {
  const inside = /\(([^)]*)\)/.exec(term.name)?.[1] ?? '';
  const names = [term.name, term.name.replace(/ *\([^)]*\)/, ''), inside];
  return names.some((each) => each !== '' && each.toLowerCase() === wanted.toLowerCase());
}

let request: Promise<Term[]> | null = null;
/** Comes when it is first asked for. */
export const glossary = (): Promise<Term[]> =>
  (request ??= import('../../../docs/reference/glossary.md?raw').then((file) => terms(file.default)));

/** What is explained beside its word; `beside` is in pixels of the window. */
export const explained = $state<{ term: Term | null; beside: DOMRect | null }>({ term: null, beside: null });

let turn = 0;
export async function explain(wanted: string, beside: DOMRect): Promise<void> {
  const mine = ++turn;
  const found = (await glossary()).find((each) => isNamed(each, wanted));
  if (mine === turn && found) [explained.term, explained.beside] = [found, beside];
}
export function hideExplanation(): void {
  turn++;
  [explained.term, explained.beside] = [null, null];
}
