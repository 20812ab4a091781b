/** Colours of how runs ended and of the verdict on their network. */
import type { OutcomeLine } from '../api/types/runs';

const TONES: Record<OutcomeLine['state'], string> = {
  passed: 'good',
  failed: 'bad',
  crashed: 'bad',
  interrupted: 'warn',
  running: 'muted',
};

export const outcomeTone = (outcome: OutcomeLine | null): string =>
  outcome ? TONES[outcome.state] : 'muted';

export const verdictTone = (verdict: string | null): string =>
  verdict === 'faithful' ? 'good' : verdict === 'invalid' ? 'bad' : verdict ? 'warn' : 'muted';

/** What a run does, in words. */
export const RUN_STATES: Record<string, string> = {
  none: 'not started',
  starting: 'starting',
  building: 'building the network',
  up: 'up',
  running: 'running',
  stopping: 'stopping',
  concluding: 'writing results',
  ended: 'over',
};
