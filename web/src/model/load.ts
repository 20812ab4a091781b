/** How full a link is: one rounded share for its label and for the class of colour and width, which differ in lightness as well. */
import { share } from './units';

/** Above each of these shares begins the next class. */
export const STEPS = [0.01, 0.25, 0.5, 0.75, 0.9] as const;
export const NAMES = ['under 1 %', 'to 25 %', 'to 50 %', 'to 75 %', 'to 90 %', 'over 90 %'] as const;
export const WIDTHS = [1.5, 2, 2.75, 3.5, 4.5, 5.5] as const;

/** To a tenth of a percent. */
const rounded = (utilisation: number): number => Math.round(utilisation * 1000) / 1000;

/** 0 (under 1 %) to 5 (over 90 %); null where it is not known, as without a rate. */
export function step(utilisation: number | null | undefined): number | null {
  if (utilisation === null || utilisation === undefined) return null;
  const load = rounded(utilisation);
  if (load < STEPS[0]) return 0;
  return 1 + STEPS.slice(1).filter((end) => load > end).length;
}

/** What stands beside the link: the share that its class was chosen by. */
export function loadText(utilisation: number | null | undefined): string {
  if (utilisation === null || utilisation === undefined) return '';
  const load = rounded(utilisation);
  return load === 0 && utilisation > 0 ? 'under 0.1 %' : share(load);
}
