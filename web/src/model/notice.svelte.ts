/** Notifications of the browser when a long run ends; asked for on a button alone. */

/** A run that took less is not worth one, in ms. */
const LONG_MS = 60_000;

const permission = (): NotificationPermission | 'unsupported' =>
  typeof Notification === 'undefined' ? 'unsupported' : Notification.permission;

let granted = $state(permission());

export const notice = {
  /** Whether a question to the user can be answered with yes. */
  get canAsk(): boolean {
    return granted === 'default';
  },
};

export async function askForNotices(): Promise<void> {
  granted = await Notification.requestPermission();
}

/** What a run says in a notification; `null` if it says nothing. */
export const noticeOf = (name: string, outcome: string, tookMs: number): string | null =>
  tookMs >= LONG_MS ? `${name}: ${outcome}, after ${Math.round(tookMs / 60_000)} min` : null;

export function tellOfEnd(id: string, name: string, outcome: string, tookMs: number): void {
  const text = noticeOf(name, outcome, tookMs);
  if (text !== null && permission() === 'granted') new Notification('Longhaul', { body: text, tag: id });
}
