/** How full a link is, as a class of colour and width: six steps that differ in lightness as well. */

export const STEPS = [0.01, 0.25, 0.5, 0.75, 0.9] as const;
export const NAMES = ['idle', 'to 25 %', 'to 50 %', 'to 75 %', 'to 90 %', 'over 90 %'] as const;
export const WIDTHS = [1.5, 2, 2.75, 3.5, 4.5, 5.5] as const;

/** 0 (idle) to 5 (over 90 %). */
export function step(utilisation: number | null | undefined): number {
  if (!utilisation || !(utilisation >= STEPS[0])) return 0;
  let at = 0;
  while (at < STEPS.length && utilisation >= STEPS[at]!) at++;
  return at;
}
