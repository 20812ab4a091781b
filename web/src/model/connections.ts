/** TCP flows of a run over time, by name: goodput, RTT, window and retransmissions. */
import type { ConnectionsNow } from '../api/types/events';
import type { ConnectionSeries } from '../api/types/runs';

export const FLOW_COLUMNS = ['goodput_bits_per_s', 'rtt_ns', 'cwnd_segments', 'retransmits'] as const;
export type FlowColumn = (typeof FLOW_COLUMNS)[number];
type Values = Record<FlowColumn, (number | null)[]>;
type Flow = { times: number[]; values: Values };

/** Points of a flow; of more, pairs become one, so that an endless run needs no more. */
const MOST = 4000;
/** Of the fastest flow: what carries less is a program's own talk. */
const LEAST_SHARE = 0.01;

const COMBINED: Record<FlowColumn, (one: number, other: number) => number> = {
  goodput_bits_per_s: (one, other) => (one + other) / 2,
  rtt_ns: Math.max,
  cwnd_segments: (one, other) => (one + other) / 2,
  retransmits: (one, other) => one + other,
};

export class Flows {
  private readonly flows = new Map<string, Flow>();

  /** What was before: from the server, in place of what is known of that time. */
  history(series: readonly ConnectionSeries[]): void {
    for (const { name, t_ns, columns } of series) {
      const later = this.flows.get(name);
      const last = t_ns.at(-1) ?? -1;
      const flow: Flow = { times: [...t_ns], values: {} as Values };
      for (const column of FLOW_COLUMNS) flow.values[column] = [...(columns[column] ?? [])];
      later?.times.forEach((t, at) => {
        if (t <= last) return;
        flow.times.push(t);
        for (const column of FLOW_COLUMNS) flow.values[column].push(later.values[column][at] ?? null);
      });
      this.flows.set(name, flow);
    }
  }

  push(rows: ConnectionsNow['rows']): void {
    for (const row of rows) {
      let flow = this.flows.get(row.name);
      if (!flow) {
        flow = {
          times: [],
          values: { goodput_bits_per_s: [], rtt_ns: [], cwnd_segments: [], retransmits: [] },
        };
        this.flows.set(row.name, flow);
      }
      if (row.t_ns <= (flow.times.at(-1) ?? -1)) continue;
      flow.times.push(row.t_ns);
      for (const column of FLOW_COLUMNS) flow.values[column].push(row[column]);
      if (flow.times.length > MOST) halve(flow);
    }
  }

  /** Flows by what they have carried, the most first. */
  names(most: number): string[] {
    const carried = [...this.flows].map(([name, { times, values }]) => {
      let sum = 0;
      for (let at = 1; at < times.length; at++)
        sum += (values.goodput_bits_per_s[at] ?? 0) * (times[at]! - times[at - 1]!);
      return { name, sum };
    });
    const least = Math.max(0, ...carried.map(({ sum }) => sum)) * LEAST_SHARE;
    return carried
      .filter(({ sum }) => sum > least)
      .sort((one, other) => other.sum - one.sum)
      .slice(0, most)
      .map(({ name }) => name);
  }

  /** One quantity of some flows, with the seconds at which any of them has a value. */
  data(names: readonly string[], column: FlowColumn): (number | null)[][] {
    const shown = names.map((name) => this.flows.get(name));
    const times = [...new Set(shown.flatMap((flow) => flow?.times ?? []))].sort((a, b) => a - b);
    return [
      times.map((t) => t / 1e9),
      ...shown.map((flow) => (flow ? on(times, flow, column) : times.map(() => null))),
    ];
  }
}

function on(times: readonly number[], flow: Flow, column: FlowColumn): (number | null)[] {
  let next = 0;
  return times.map((t) => {
    while (next < flow.times.length && flow.times[next]! < t) next++;
    return flow.times[next] === t ? (flow.values[column][next] ?? null) : null;
  });
}

function halve(flow: Flow): void {
  const { times, values } = flow;
  const last = times.length - (times.length % 2);
  for (const column of FLOW_COLUMNS) {
    const from = values[column];
    const into: (number | null)[] = [];
    for (let at = 0; at < last; at += 2) {
      const [one, other] = [from[at] ?? null, from[at + 1] ?? null];
      into.push(one === null ? other : other === null ? one : COMBINED[column](one, other));
    }
    values[column] = [...into, ...from.slice(last)];
  }
  flow.times = [...times.filter((_, at) => at < last && at % 2 === 1), ...times.slice(last)];
}
