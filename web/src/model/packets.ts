/** Captured packets as they are listed. */
import type { CapturedPacketRow } from '../api/types/captures';

/** Seconds of the run, to the nanosecond. */
export const secondsOf = (ns: number): string => {
  const rest = ((ns % 1e9) + 1e9) % 1e9;
  return `${Math.round((ns - rest) / 1e9)}.${String(rest).padStart(9, '0')}`;
};

/** Whether each word of `filter` occurs in what a row shows; case does not matter. */
export function matches(packet: CapturedPacketRow, filter: string): boolean {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  if (!words.length) return true;
  const text = `${packet.source} ${packet.destination} ${packet.protocol} ${packet.info}`.toLowerCase();
  return words.every((word) => text.includes(word));
}
