/** What can be done from the palette, and how it is found. */

export type Command = {
  name: string;
  /** What kind of thing it is: "View", "File", "Host". */
  group: string;
  /** Its keys, if it has any. */
  keys?: string;
  run: () => unknown;
};

/** Commands for what is typed: most are there for any query, some take their values from it. */
export type Offer = (query: string) => Command[];

const offers = new Set<Offer>();

/** Adds the commands of a view while it is shown; returns what removes them. */
export function offer(commands: Offer): () => void {
  offers.add(commands);
  return () => offers.delete(commands);
}

/** What the views that are shown offer. */
export const offered: Offer = (query) => [...offers].flatMap((each) => each(query));

/**
 * How well `query` fits `text`; `null` if it does not.
 *
 * Its words have to stand in the text, each at the beginning of a word (best), inside of one, or as its letters
 * in this order (worst).
 */
export function fit(query: string, text: string): number | null {
  const within = text.toLowerCase();
  let sum = 0;
  for (const word of query.toLowerCase().split(/\s+/).filter(Boolean)) {
    const at = within.indexOf(word);
    if (at === 0) sum += 4;
    else if (at > 0) sum += /[\s\-_./]/.test(within[at - 1]!) ? 3 : 2;
    else if (hasInOrder(within, word)) sum += 0.5;
    else return null;
  }
  return sum;
}

function hasInOrder(text: string, letters: string): boolean {
  let at = 0;
  for (const letter of letters) {
    at = text.indexOf(letter, at) + 1;
    if (at === 0) return false;
  }
  return true;
}

/** The commands that fit, the best first; in their own order where they are as good, and all for no query. */
export function found(query: string, commands: readonly Command[], most: number): Command[] {
  return commands
    .map((command) => ({ command, fits: fit(query, `${command.name} ${command.group}`) }))
    .filter((each) => each.fits !== null)
    .toSorted((one, other) => other.fits! - one.fits!)
    .slice(0, most)
    .map((each) => each.command);
}
