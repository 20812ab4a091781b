/** Whether this browser has shown the tour of the page. */
const KEY = 'longhaul-tour';

export const isSeen = (): boolean => localStorage.getItem(KEY) !== null;
export const seen = (): void => localStorage.setItem(KEY, 'seen');
