/* Written by "npm run types" from the output of "longhaul schema --page"; not edited by hand. */

/**
 * A study: its question, when it was measured, how long that took, and its claims by verdict.
 */
export interface StudyRow {
  study: string;
  about: string;
  measured: string | null;
  took_s: number | null;
  took_text: string;
  counts: {
    [k: string]: number;
  };
  results: string | null;
}

/**
 * Why there are none.
 */
export interface NoStudies {
  message: string;
  remedy: string | null;
}

/**
 * The studies of a directory; without any, `why` says so.
 */
export interface StudyList {
  directory: string | null;
  studies: StudyRow[];
  why: NoStudies | null;
}

/**
 * A claim under one condition: what was found, and whether the rule holds.
 */
export interface ClaimCase {
  condition: string;
  outcome: 'holds' | 'fails' | 'open';
  found: string;
}

/**
 * A claim: its rule, the place in the paper, the paper's values, and its verdict.
 */
export interface ClaimRow {
  id: string;
  part: string;
  place: string;
  text: string;
  rule: string;
  paper: string[];
  assumes: string[];
  verdict: string;
  word: 'reproduced' | 'depends' | 'not reproduced' | 'undecided' | 'not measured';
  cases: ClaimCase[];
  [k: string]: unknown;
}

/**
 * A figure or a table of the paper, and where its text states the values.
 */
export interface PaperPlace {
  name: string;
  shows: string;
  place: string;
}

/**
 * A picture of a study, and what of the paper it repeats.
 */
export interface StudyFigure {
  name: string;
  repeats: PaperPlace[];
}

/**
 * A part: how it measures, the command that does so, and where and when it was measured.
 */
export interface StudyPart {
  name: string;
  how: string;
  about: string;
  command: string;
  measured: string;
  took_text: string;
  notes: string[];
  figures: StudyFigure[];
}

/**
 * A study with its parts and claims.
 */
export interface StudyDetails {
  study: string;
  about: string;
  measured: string | null;
  took_s: number | null;
  took_text: string;
  counts: {
    [k: string]: number;
  };
  results: string | null;
  paper: string;
  parts: StudyPart[];
  claims: ClaimRow[];
}

/**
 * A picture as base64.
 */
export interface Picture {
  name: string;
  media_type: string;
  base64: string;
}
