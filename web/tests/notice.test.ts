import { expect, test } from 'vitest';
import { noticeOf } from '../src/model/notice.svelte';

test('a run that took a minute is told, a shorter one is not', () => {
  expect(noticeOf('dumbbell', 'passed', 59_999)).toBeNull();
  expect(noticeOf('dumbbell', 'passed', 60_000)).toBe('dumbbell: passed, after 1 min');
  expect(noticeOf('dumbbell', 'failed', 610_000)).toBe('dumbbell: failed, after 10 min');
});
