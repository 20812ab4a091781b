/* Written by "npm run types" from the output of "longhaul schema --page"; not edited by hand. */

/**
 * A preset that was applied to a link and has not been undone; `way` is `null` for both.
 */
export interface ImpairmentRow {
  id: string;
  link: string;
  way: ('forward' | 'reverse') | null;
  preset: string;
  title: string;
  flapping: boolean;
}

/**
 * A kind of impairment that can be applied to a link.
 */
export interface ImpairmentPreset {
  name: string;
  title: string;
  description: string;
}

/**
 * The model of a direction now: its numbers, and `models` as `longhaul set` takes them.
 *
 * `bits_per_s` is `null` for an unlimited rate, `loss` where time decides. `described` are models
 * that were read from files, in words.
 */
export interface LinkDirection {
  delay_ns: number;
  bits_per_s: number | null;
  loss: number | null;
  up: boolean;
  models: {
    [k: string]: string;
  };
  described: {
    [k: string]: string;
  };
}

/**
 * A link of a live run as it is configured now.
 */
export interface LinkNow {
  link: string;
  forward: LinkDirection;
  reverse: LinkDirection;
  impairment: ImpairmentRow | null;
  presets: ImpairmentPreset[];
}
