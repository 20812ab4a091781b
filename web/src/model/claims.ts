/** Verdicts on claims: their order, their look, and filters. */
import type { ClaimRow, StudyDetails, StudyRow } from '../api/types/claims';

export type Word = ClaimRow['word'];
export const WORDS: readonly Word[] = [
  'reproduced',
  'depends',
  'not reproduced',
  'undecided',
  'not measured',
];
/** A class of colour, and a sign for whoever does not see colours. */
export const LOOKS: Record<Word, { tone: string; sign: string }> = {
  reproduced: { tone: 'good', sign: '✓' },
  depends: { tone: 'warn', sign: '±' },
  'not reproduced': { tone: 'bad', sign: '✗' },
  undecided: { tone: 'open', sign: '?' },
  'not measured': { tone: 'muted', sign: '–' },
};

/** Numbers of claims by verdict, those that there are, in the order of `WORDS`. */
export const verdictCounts = ({ counts }: Pick<StudyRow, 'counts'>): [Word, number][] =>
  WORDS.flatMap((word) => (counts[word] ? [[word, counts[word]] as [Word, number]] : []));

/** All studies together. */
export function totals(rows: readonly Pick<StudyRow, 'counts'>[]): Record<string, number> {
  const sums: Record<string, number> = {};
  for (const { counts } of rows)
    for (const [word, count] of Object.entries(counts)) sums[word] = (sums[word] ?? 0) + count;
  return sums;
}

/** Claims with one of these verdicts (all without any) in which every word of `text` occurs. */
export function filteredClaims(
  { claims }: Pick<StudyDetails, 'claims'>,
  words: readonly Word[],
  text: string,
): ClaimRow[] {
  const wanted = text.toLowerCase().split(/\s+/).filter(Boolean);
  return claims.filter((claim) => {
    if (words.length && !words.includes(claim.word)) return false;
    const said = [
      claim.id,
      claim.part,
      claim.text,
      claim.rule,
      claim.place,
      ...claim.paper,
      ...claim.cases.map((each) => `${each.condition} ${each.found}`),
    ]
      .join('\n')
      .toLowerCase();
    return wanted.every((each) => said.includes(each));
  });
}
