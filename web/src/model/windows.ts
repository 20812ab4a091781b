/** Congestion windows of a run's TCP connections over time. */
import { api } from '../api/client';
import type { FlowSeries, SocketSeries } from '../api/types/runs';

export type Windows = { labels: string[]; data: (number | null)[][] };

const MOST = 8;
/** Of the fastest connection: what carries less is a program's own talk. */
const LEAST_SHARE = 0.01;

type Line = { label: string; series: FlowSeries | SocketSeries; column: string; weight: number };

/** Windows of simulated flows, and of real sockets where they were sampled; null if there are none yet. */
export async function readWindows(id: string): Promise<Windows | null> {
  const [flows, sockets] = await Promise.all([api.series(id, 'flows'), api.series(id, 'sockets')]);
  return windows(flows, sockets);
}

export function windows(flows: readonly FlowSeries[], sockets: readonly SocketSeries[]): Windows | null {
  const all: Line[] = [
    ...flows.map((each) => ({
      label: each.stream ? `${each.name} ${each.stream}` : each.name,
      series: each,
      column: 'window_segments',
      weight: 1,
    })),
    ...busiest(sockets),
  ].filter(({ series, column }) => series.columns[column]?.some((value) => value !== null && value > 0));
  const shown = all.slice(0, MOST);
  if (!shown.length) return null;
  const times = [...new Set(shown.flatMap(({ series }) => series.t_ns))].sort((a, b) => a - b);
  return {
    labels: shown.map(({ label }) => label),
    data: [times.map((t) => t / 1e9), ...shown.map((line) => on(times, line))],
  };
}

/** Connections that carry something, the busiest first; those of one pair of hosts are numbered. */
function busiest(sockets: readonly SocketSeries[]): Line[] {
  const weights = sockets.map((each) =>
    Math.max(0, ...(each.columns['delivery_bits_per_s'] ?? []).map((value) => value ?? 0)),
  );
  const least = Math.max(...weights, 0) * LEAST_SHARE;
  const seen = new Map<string, number>();
  return sockets
    .map((series, at) => ({ series, weight: weights[at]! }))
    .filter(({ weight }) => weight > least)
    .sort((a, b) => b.weight - a.weight)
    .map(({ series, weight }) => {
      const ends = `${series.host} → ${series.to ?? series.remote}`;
      const number = (seen.get(ends) ?? 0) + 1;
      seen.set(ends, number);
      return { label: number > 1 ? `${ends} ${number}` : ends, series, column: 'cwnd_segments', weight };
    });
}

function on(times: readonly number[], { series, column }: Line): (number | null)[] {
  let next = 0;
  return times.map((t) => {
    while (next < series.t_ns.length && series.t_ns[next]! < t) next++;
    return series.t_ns[next] === t ? (series.columns[column]?.[next] ?? null) : null;
  });
}
