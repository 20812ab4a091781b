/* Written by "npm run types" from the output of "longhaul schema"; not edited by hand. */

/**
 * The scenario file, version 1.
 */
export interface Scenario {
  version: 1;
  name: string;
  description?: string | null;
  seed?: number | string;
  duration?: string | null;
  params?: {
    /**
     * This interface was referenced by `undefined`'s JSON-Schema definition
     * via the `patternProperty` "^[A-Za-z0-9]([A-Za-z0-9_-]{0,61}[A-Za-z0-9])?$".
     */
    [k: string]: string | number | boolean;
  };
  profiles?: {
    [k: string]: Profile;
  };
  addresses?: 'ipv4' | 'ipv6' | 'dual';
  tcp?: Tcp;
  compensate?: boolean;
  /**
   * a time
   */
  coalesce?: string;
  topology?:
    | string
    | (
        | Chain
        | Star
        | Ring
        | Mesh
        | Torus
        | Dumbbell
        | FishBone
        | Tree
        | FatTree
        | Clusters
        | Sites
        | Grid5000
        | TeraGridNetwork
        | Waxman
        | BarabasiAlbert
      )
    | null;
  nodes?: {
    [k: string]: Node;
  };
  links?: {
    [k: string]: Link;
  };
  routes?: Route[];
  programs?: {
    [k: string]: Program;
  };
  traffic?: {
    /**
     * This interface was referenced by `undefined`'s JSON-Schema definition
     * via the `patternProperty` "^[A-Za-z0-9]([A-Za-z0-9_-]{0,61}[A-Za-z0-9])?$".
     */
    [k: string]: Ping | Bulk | Datagrams | Requests | Replay | Background;
  };
  events?: Event[];
  measure?: Measure;
  expect?: Expectation[];
  sweep?: Sweep | null;
  relay?: Relay | null;
}
/**
 * Laws under a name, for links and attachments to share.
 *
 * This interface was referenced by `undefined`'s JSON-Schema definition
 * via the `patternProperty` "^[A-Za-z0-9]([A-Za-z0-9_-]{0,61}[A-Za-z0-9])?$".
 */
export interface Profile {
  up?: boolean | null;
  delay?: string | (Delay | DelayTrace) | null;
  rate?: string | (ConstantRate | PacedRate | TokenBucket | RateTrace | Opportunities) | null;
  loss?:
    | string
    | (
        | NoLoss
        | IndependentLoss
        | BlockLoss
        | PeriodicLoss
        | GilbertElliottLoss
        | MarkovLoss
        | FourStateLoss
        | CorrelatedLoss
        | PacketRenewalLoss
        | ByteRenewalLoss
        | WallRenewalLoss
        | BusyRenewalLoss
        | TraceLoss
        | PresetLoss
      )
    | null;
  queue?: string | (Fifo | HeadDrop | Red | Codel | FqCodel | Pie | Drr | Priority) | null;
  out_of_order?: (BlockOutOfOrder | ShareOutOfOrder | EarlyOutOfOrder) | null;
  duplicate?: (string | number) | null;
  corrupt?: (string | number) | null;
  count?: ('ip' | 'ethernet' | 'vlan' | 'atm') | null;
  routes?: Routes | null;
  forward?: Laws | null;
  reverse?: Laws | null;
  measured?: Measured | null;
  mtu?: number | string | null;
}
/**
 * The one-way delay of the wire.
 */
export interface Delay {
  /**
   * a time
   */
  base: string;
  jitter?:
    | (
        | UniformJitter
        | NormalJitter
        | Lognormal_Span_
        | Weibull_Span_
        | Gamma_Span_
        | Pareto_Span_
        | Exponential_Span_
        | LogLogistic_Span_
        | InverseGaussian_Span_
        | GeneralisedPareto_Span_
        | Gev_Span_
        | Wakeby_Span_
        | Table
        | Empirical_Span_
      )
    | null;
  correlation?: (string | number) | null;
  reorder?: boolean;
  ticks?: Ticks | null;
}
/**
 * The delay is uniform on base plus or minus the half width.
 */
export interface UniformJitter {
  dist: 'uniform';
  /**
   * a time
   */
  half_width: string;
}
/**
 * The delay is normal around the base, cut at zero.
 */
export interface NormalJitter {
  dist: 'normal';
  /**
   * a time
   */
  sd: string;
}
export interface Lognormal_Span_ {
  dist: 'lognormal';
  /**
   * a time
   */
  mean: string;
  /**
   * a time
   */
  sd: string;
}
export interface Weibull_Span_ {
  shape: number | string;
  mean?: string | null;
  scale?: string | null;
  dist: 'weibull';
  location?: string | null;
}
export interface Gamma_Span_ {
  dist: 'gamma';
  /**
   * a time
   */
  mean: string;
  /**
   * a time
   */
  sd: string;
}
export interface Pareto_Span_ {
  shape: number | string;
  mean?: string | null;
  scale?: string | null;
  dist: 'pareto';
}
export interface Exponential_Span_ {
  dist: 'exponential';
  /**
   * a time
   */
  mean: string;
}
export interface LogLogistic_Span_ {
  shape: number | string;
  mean?: string | null;
  scale?: string | null;
  dist: 'log-logistic';
}
export interface InverseGaussian_Span_ {
  dist: 'inverse-gaussian';
  /**
   * a time
   */
  mean: string;
  /**
   * a time
   */
  shape: string;
}
export interface GeneralisedPareto_Span_ {
  dist: 'generalised-pareto';
  shape: number | string;
  /**
   * a time
   */
  scale: string;
  location?: string | null;
}
export interface Gev_Span_ {
  dist: 'gev';
  shape: number | string;
  /**
   * a time
   */
  scale: string;
  /**
   * a time
   */
  location: string;
}
export interface Wakeby_Span_ {
  dist: 'wakeby';
  /**
   * a time
   */
  alpha: string;
  beta: number | string;
  /**
   * a time
   */
  gamma: string;
  delta: number | string;
  /**
   * a time
   */
  xi: string;
}
/**
 * A table as netem's ``.dist`` files have it, around zero.
 */
export interface Table {
  dist: 'table';
  file: string;
  /**
   * a time
   */
  sd: string;
}
export interface Empirical_Span_ {
  dist: 'empirical';
  values?: [string, ...string[]] | null;
  file?: string | null;
  column?: string | null;
}
/**
 * An emulator that releases packets at the ticks of a clock.
 */
export interface Ticks {
  hz: number | string;
  rounding: 'nearest' | 'up';
}
/**
 * The one-way delay from a CSV file with a header, or half of its round trip.
 */
export interface DelayTrace {
  trace: string;
  column?: string | null;
  time?: string | null;
  interpolate?: 'step' | 'linear';
  at_end?: 'hold' | 'loop' | 'end';
  from?: string | null;
  to?: string | null;
  reorder?: boolean;
}
/**
 * Exactly this fast.
 */
export interface ConstantRate {
  /**
   * a rate
   */
  rate: string;
}
/**
 * Packets go at the line's rate, spaced by the byte clock of a slower one.
 */
export interface PacedRate {
  /**
   * a rate
   */
  paced: string;
  /**
   * a rate
   */
  line: string;
}
/**
 * A bucket of tokens that fills at a rate; a packet goes when there are tokens for all of it.
 */
export interface TokenBucket {
  /**
   * a rate
   */
  bucket: string;
  /**
   * a size
   */
  burst: string;
  peak?: string | null;
}
/**
 * The rate from a CSV file with a header, in steps.
 */
export interface RateTrace {
  trace: string;
  column?: string | null;
  time?: string | null;
  at_end?: 'hold' | 'loop' | 'end';
  from?: string | null;
  to?: string | null;
}
/**
 * Times at which some bytes may go: mahimahi's packet-delivery traces, one time in ms a line.
 */
export interface Opportunities {
  opportunities: string;
  /**
   * a size
   */
  bytes?: string;
}
/**
 * Nothing is lost.
 */
export interface NoLoss {
  place?: ('before' | 'after') | null;
  model: 'none';
}
/**
 * Each packet is lost by itself.
 */
export interface IndependentLoss {
  place?: ('before' | 'after') | null;
  model: 'independent';
  /**
   * a share
   */
  mean: string | number;
}
/**
 * One packet, chosen at random, in every block is lost (NemC's drop_rate).
 */
export interface BlockLoss {
  place?: ('before' | 'after') | null;
  model: 'block';
  packets: number | string;
}
/**
 * The last packet of every so many is lost.
 */
export interface PeriodicLoss {
  place?: ('before' | 'after') | null;
  model: 'periodic';
  every: number | string;
}
/**
 * Packets are lost in bursts: two states with geometric sojourns, the bad one loses everything.
 */
export interface GilbertElliottLoss {
  place?: ('before' | 'after') | null;
  model: 'gilbert-elliott';
  /**
   * a share
   */
  mean: string | number;
  burst: number | string;
}
/**
 * Two states, each with a share of loss of its own.
 */
export interface MarkovLoss {
  place?: ('before' | 'after') | null;
  model: 'markov';
  /**
   * a share
   */
  good_to_bad: string | number;
  /**
   * a share
   */
  bad_to_good: string | number;
  /**
   * a share
   */
  loss_good?: string | number;
  /**
   * a share
   */
  loss_bad?: string | number;
}
/**
 * Good gap 1, good within a burst 2, lost in a burst 3, lost by itself 4.
 */
export interface FourStateLoss {
  place?: ('before' | 'after') | null;
  model: 'four-state';
  /**
   * a share
   */
  p13: string | number;
  /**
   * a share
   */
  p31: string | number;
  /**
   * a share
   */
  p32?: string | number;
  /**
   * a share
   */
  p23?: string | number;
  /**
   * a share
   */
  p14?: string | number;
}
/**
 * A packet's chance depends on the one before, and the mean is kept.
 */
export interface CorrelatedLoss {
  place?: ('before' | 'after') | null;
  model: 'correlated';
  /**
   * a share
   */
  mean: string | number;
  /**
   * a share
   */
  correlation: string | number;
}
/**
 * Gaps between losses are drawn one by one, and counted in packets.
 */
export interface PacketRenewalLoss {
  place?: ('before' | 'after') | null;
  model: 'renewal';
  burst?:
    | number
    | (
        | Constant_Packets_
        | Uniform_Packets_
        | Normal_Packets_
        | Exponential_Packets_
        | Weibull_Packets_
        | Pareto_Packets_
        | Lognormal_Packets_
        | Gamma_Packets_
        | LogLogistic_Packets_
        | InverseGaussian_Packets_
        | GeneralisedPareto_Packets_
        | Gev_Packets_
        | Wakeby_Packets_
        | Empirical_Packets_
      );
  unit: 'packets';
  gap:
    | number
    | (
        | Constant_Packets_
        | Uniform_Packets_
        | Normal_Packets_
        | Exponential_Packets_
        | Weibull_Packets_
        | Pareto_Packets_
        | Lognormal_Packets_
        | Gamma_Packets_
        | LogLogistic_Packets_
        | InverseGaussian_Packets_
        | GeneralisedPareto_Packets_
        | Gev_Packets_
        | Wakeby_Packets_
        | Empirical_Packets_
      );
}
export interface Constant_Packets_ {
  dist: 'constant';
  value: number | string;
}
export interface Uniform_Packets_ {
  dist: 'uniform';
  low: number | string;
  high: number | string;
}
export interface Normal_Packets_ {
  dist: 'normal';
  mean: number | string;
  sd: number | string;
}
export interface Exponential_Packets_ {
  dist: 'exponential';
  mean: number | string;
}
export interface Weibull_Packets_ {
  shape: number | string;
  mean?: number | string | null;
  scale?: number | string | null;
  dist: 'weibull';
  location?: number | string | null;
}
export interface Pareto_Packets_ {
  shape: number | string;
  mean?: number | string | null;
  scale?: number | string | null;
  dist: 'pareto';
}
export interface Lognormal_Packets_ {
  dist: 'lognormal';
  mean: number | string;
  sd: number | string;
}
export interface Gamma_Packets_ {
  dist: 'gamma';
  mean: number | string;
  sd: number | string;
}
export interface LogLogistic_Packets_ {
  shape: number | string;
  mean?: number | string | null;
  scale?: number | string | null;
  dist: 'log-logistic';
}
export interface InverseGaussian_Packets_ {
  dist: 'inverse-gaussian';
  mean: number | string;
  shape: number | string;
}
export interface GeneralisedPareto_Packets_ {
  dist: 'generalised-pareto';
  shape: number | string;
  scale: number | string;
  location?: number | string | null;
}
export interface Gev_Packets_ {
  dist: 'gev';
  shape: number | string;
  scale: number | string;
  location: number | string;
}
export interface Wakeby_Packets_ {
  dist: 'wakeby';
  alpha: number | string;
  beta: number | string;
  gamma: number | string;
  delta: number | string;
  xi: number | string;
}
export interface Empirical_Packets_ {
  dist: 'empirical';
  values?: [number | string, ...(number | string)[]] | null;
  file?: string | null;
  column?: string | null;
}
/**
 * Gaps between losses are drawn one by one, and counted in IP bytes.
 */
export interface ByteRenewalLoss {
  place?: ('before' | 'after') | null;
  model: 'renewal';
  burst?:
    | number
    | (
        | Constant_Packets_
        | Uniform_Packets_
        | Normal_Packets_
        | Exponential_Packets_
        | Weibull_Packets_
        | Pareto_Packets_
        | Lognormal_Packets_
        | Gamma_Packets_
        | LogLogistic_Packets_
        | InverseGaussian_Packets_
        | GeneralisedPareto_Packets_
        | Gev_Packets_
        | Wakeby_Packets_
        | Empirical_Packets_
      );
  unit: 'bytes';
  gap:
    | string
    | (
        | Constant_Size_
        | Uniform_Size_
        | Normal_Size_
        | Exponential_Size_
        | Weibull_Size_
        | Pareto_Size_
        | Lognormal_Size_
        | Gamma_Size_
        | LogLogistic_Size_
        | InverseGaussian_Size_
        | GeneralisedPareto_Size_
        | Gev_Size_
        | Wakeby_Size_
        | Empirical_Size_
      );
}
export interface Constant_Size_ {
  dist: 'constant';
  /**
   * a size
   */
  value: string;
}
export interface Uniform_Size_ {
  dist: 'uniform';
  /**
   * a size
   */
  low: string;
  /**
   * a size
   */
  high: string;
}
export interface Normal_Size_ {
  dist: 'normal';
  /**
   * a size
   */
  mean: string;
  /**
   * a size
   */
  sd: string;
}
export interface Exponential_Size_ {
  dist: 'exponential';
  /**
   * a size
   */
  mean: string;
}
export interface Weibull_Size_ {
  shape: number | string;
  mean?: string | null;
  scale?: string | null;
  dist: 'weibull';
  location?: string | null;
}
export interface Pareto_Size_ {
  shape: number | string;
  mean?: string | null;
  scale?: string | null;
  dist: 'pareto';
}
export interface Lognormal_Size_ {
  dist: 'lognormal';
  /**
   * a size
   */
  mean: string;
  /**
   * a size
   */
  sd: string;
}
export interface Gamma_Size_ {
  dist: 'gamma';
  /**
   * a size
   */
  mean: string;
  /**
   * a size
   */
  sd: string;
}
export interface LogLogistic_Size_ {
  shape: number | string;
  mean?: string | null;
  scale?: string | null;
  dist: 'log-logistic';
}
export interface InverseGaussian_Size_ {
  dist: 'inverse-gaussian';
  /**
   * a size
   */
  mean: string;
  /**
   * a size
   */
  shape: string;
}
export interface GeneralisedPareto_Size_ {
  dist: 'generalised-pareto';
  shape: number | string;
  /**
   * a size
   */
  scale: string;
  location?: string | null;
}
export interface Gev_Size_ {
  dist: 'gev';
  shape: number | string;
  /**
   * a size
   */
  scale: string;
  /**
   * a size
   */
  location: string;
}
export interface Wakeby_Size_ {
  dist: 'wakeby';
  /**
   * a size
   */
  alpha: string;
  beta: number | string;
  /**
   * a size
   */
  gamma: string;
  delta: number | string;
  /**
   * a size
   */
  xi: string;
}
export interface Empirical_Size_ {
  dist: 'empirical';
  values?: [string, ...string[]] | null;
  file?: string | null;
  column?: string | null;
}
/**
 * Gaps between losses are drawn one by one, in time that passes.
 */
export interface WallRenewalLoss {
  place?: ('before' | 'after') | null;
  model: 'renewal';
  burst?:
    | number
    | (
        | Constant_Packets_
        | Uniform_Packets_
        | Normal_Packets_
        | Exponential_Packets_
        | Weibull_Packets_
        | Pareto_Packets_
        | Lognormal_Packets_
        | Gamma_Packets_
        | LogLogistic_Packets_
        | InverseGaussian_Packets_
        | GeneralisedPareto_Packets_
        | Gev_Packets_
        | Wakeby_Packets_
        | Empirical_Packets_
      );
  unit?: 'wall';
  gap:
    | string
    | (
        | Constant_Span_
        | Uniform_Span_
        | Normal_Span_
        | Exponential_Span_
        | Weibull_Span_
        | Pareto_Span_
        | Lognormal_Span_
        | Gamma_Span_
        | LogLogistic_Span_
        | InverseGaussian_Span_
        | GeneralisedPareto_Span_
        | Gev_Span_
        | Wakeby_Span_
        | Empirical_Span_
      );
  lasts?: string | null;
}
export interface Constant_Span_ {
  dist: 'constant';
  /**
   * a time
   */
  value: string;
}
export interface Uniform_Span_ {
  dist: 'uniform';
  /**
   * a time
   */
  low: string;
  /**
   * a time
   */
  high: string;
}
export interface Normal_Span_ {
  dist: 'normal';
  /**
   * a time
   */
  mean: string;
  /**
   * a time
   */
  sd: string;
}
/**
 * Gaps between losses are drawn one by one, in time that the packets take at a rate.
 */
export interface BusyRenewalLoss {
  place?: ('before' | 'after') | null;
  model: 'renewal';
  burst?:
    | number
    | (
        | Constant_Packets_
        | Uniform_Packets_
        | Normal_Packets_
        | Exponential_Packets_
        | Weibull_Packets_
        | Pareto_Packets_
        | Lognormal_Packets_
        | Gamma_Packets_
        | LogLogistic_Packets_
        | InverseGaussian_Packets_
        | GeneralisedPareto_Packets_
        | Gev_Packets_
        | Wakeby_Packets_
        | Empirical_Packets_
      );
  unit: 'busy';
  /**
   * a rate
   */
  rate: string;
  gap:
    | string
    | (
        | Constant_Span_
        | Uniform_Span_
        | Normal_Span_
        | Exponential_Span_
        | Weibull_Span_
        | Pareto_Span_
        | Lognormal_Span_
        | Gamma_Span_
        | LogLogistic_Span_
        | InverseGaussian_Span_
        | GeneralisedPareto_Span_
        | Gev_Span_
        | Wakeby_Span_
        | Empirical_Span_
      );
}
/**
 * Losses from a file.
 */
export interface TraceLoss {
  place?: ('before' | 'after') | null;
  model: 'trace';
  file: string;
  form: 'indices' | 'times' | 'gaps' | 'ns2';
  column?: string | null;
  at_end?: 'loop' | 'stop';
  period?: string | null;
}
/**
 * A law under a name.
 */
export interface PresetLoss {
  place?: ('before' | 'after') | null;
  preset: 'teragrid' | 'teragrid-literal-seconds' | 'teragrid-busy-10g';
}
/**
 * First in, first out; what does not fit is not let in.
 */
export interface Fifo {
  kind?: 'fifo';
  limit: string;
}
/**
 * First in, first out; what has waited longest makes room.
 */
export interface HeadDrop {
  kind: 'head-drop';
  limit?: string | null;
}
/**
 * Random early detection (Floyd and Jacobson 1993).
 */
export interface Red {
  kind: 'red';
  limit?: string | null;
  min: string;
  max: string;
  /**
   * a share
   */
  probability?: string | number;
  /**
   * a share
   */
  weight?: string | number;
  gentle?: boolean;
  ecn?: boolean;
}
/**
 * Controlled delay; defaults of RFC 8289, section 4.4.
 */
export interface Codel {
  kind: 'codel';
  limit?: string;
  /**
   * a time
   */
  target?: string;
  /**
   * a time
   */
  interval?: string;
  ecn?: boolean;
}
/**
 * Flows in turn, each with controlled delay; defaults of RFC 8290, section 5.2.
 */
export interface FqCodel {
  kind: 'fq-codel';
  limit?: string;
  /**
   * a time
   */
  target?: string;
  /**
   * a time
   */
  interval?: string;
  /**
   * a size
   */
  quantum?: string;
  flows?: number | string;
  ecn?: boolean;
}
/**
 * Proportional integral controller enhanced; defaults of RFC 8033, sections 4 and 5.
 */
export interface Pie {
  kind: 'pie';
  limit?: string;
  /**
   * a time
   */
  target?: string;
  /**
   * a time
   */
  update?: string;
  alpha?: number | string;
  beta?: number | string;
  /**
   * a time
   */
  burst?: string;
  ecn?: boolean;
}
/**
 * Flows in turn, by bytes (deficit round robin; Shreedhar and Varghese 1995).
 */
export interface Drr {
  kind: 'drr';
  limit?: string | null;
  /**
   * a size
   */
  quantum?: string;
  flows?: number | string;
}
/**
 * Bands by the DSCP of packets; the first with anything waiting goes.
 */
export interface Priority {
  kind: 'priority';
  limit?: string | null;
  bands: unknown[];
}
/**
 * One packet, chosen at random, in every block takes another delay (NemC's ooo_rate, ooo_delay).
 */
export interface BlockOutOfOrder {
  every: number | string;
  /**
   * a time
   */
  delay: string;
}
/**
 * Each packet by itself takes another delay.
 */
export interface ShareOutOfOrder {
  /**
   * a share
   */
  share: string | number;
  /**
   * a time
   */
  delay: string;
}
/**
 * Of every so many packets one may go without delay (netem's gap and reorder).
 */
export interface EarlyOutOfOrder {
  gap: number | string;
  /**
   * a share
   */
  early: string | number;
}
/**
 * Two to 64 routes; what a route leaves out comes from here, and then from the link.
 */
export interface Routes {
  up?: boolean | null;
  delay?: string | (Delay | DelayTrace) | null;
  rate?: string | (ConstantRate | PacedRate | TokenBucket | RateTrace | Opportunities) | null;
  loss?:
    | string
    | (
        | NoLoss
        | IndependentLoss
        | BlockLoss
        | PeriodicLoss
        | GilbertElliottLoss
        | MarkovLoss
        | FourStateLoss
        | CorrelatedLoss
        | PacketRenewalLoss
        | ByteRenewalLoss
        | WallRenewalLoss
        | BusyRenewalLoss
        | TraceLoss
        | PresetLoss
      )
    | null;
  queue?: string | (Fifo | HeadDrop | Red | Codel | FqCodel | Pie | Drr | Priority) | null;
  out_of_order?: (BlockOutOfOrder | ShareOutOfOrder | EarlyOutOfOrder) | null;
  duplicate?: (string | number) | null;
  corrupt?: (string | number) | null;
  policy: 'flow-hash' | 'round-robin' | 'vlan-block' | 'weighted' | 'least-queued' | 'flowlet';
  count?: number | string | null;
  delays?: (string | (Delay | DelayTrace))[] | null;
  each?: RouteLaws[] | null;
  key?: 'flow' | 'hosts';
  weights?: (number | string)[] | null;
  /**
   * a time
   */
  gap?: string;
  resequence?: Resequence | null;
}
/**
 * What one of several routes does.
 */
export interface RouteLaws {
  up?: boolean | null;
  delay?: string | (Delay | DelayTrace) | null;
  rate?: string | (ConstantRate | PacedRate | TokenBucket | RateTrace | Opportunities) | null;
  loss?:
    | string
    | (
        | NoLoss
        | IndependentLoss
        | BlockLoss
        | PeriodicLoss
        | GilbertElliottLoss
        | MarkovLoss
        | FourStateLoss
        | CorrelatedLoss
        | PacketRenewalLoss
        | ByteRenewalLoss
        | WallRenewalLoss
        | BusyRenewalLoss
        | TraceLoss
        | PresetLoss
      )
    | null;
  queue?: string | (Fifo | HeadDrop | Red | Codel | FqCodel | Pie | Drr | Priority) | null;
  out_of_order?: (BlockOutOfOrder | ShareOutOfOrder | EarlyOutOfOrder) | null;
  duplicate?: (string | number) | null;
  corrupt?: (string | number) | null;
  count?: ('ip' | 'ethernet' | 'vlan' | 'atm') | null;
}
/**
 * The far end puts packets back into order.
 */
export interface Resequence {
  /**
   * a time
   */
  wait: string;
  /**
   * a size
   */
  limit?: string;
}
/**
 * What a direction does to packets; all may be left out.
 */
export interface Laws {
  up?: boolean | null;
  delay?: string | (Delay | DelayTrace) | null;
  rate?: string | (ConstantRate | PacedRate | TokenBucket | RateTrace | Opportunities) | null;
  loss?:
    | string
    | (
        | NoLoss
        | IndependentLoss
        | BlockLoss
        | PeriodicLoss
        | GilbertElliottLoss
        | MarkovLoss
        | FourStateLoss
        | CorrelatedLoss
        | PacketRenewalLoss
        | ByteRenewalLoss
        | WallRenewalLoss
        | BusyRenewalLoss
        | TraceLoss
        | PresetLoss
      )
    | null;
  queue?: string | (Fifo | HeadDrop | Red | Codel | FqCodel | Pie | Drr | Priority) | null;
  out_of_order?: (BlockOutOfOrder | ShareOutOfOrder | EarlyOutOfOrder) | null;
  duplicate?: (string | number) | null;
  corrupt?: (string | number) | null;
  count?: ('ip' | 'ethernet' | 'vlan' | 'atm') | null;
  routes?: Routes | null;
}
/**
 * Delay and rate of both directions, from a built-in set or a file with several links.
 */
export interface Measured {
  set?: 'longcut' | null;
  trace?: string | null;
  kind?: ('nws' | 'eventspace' | 'constant' | 'collective') | null;
  from?: string | null;
  to?: string | null;
  interpolate?: 'step' | 'linear';
  at_end?: 'hold' | 'loop' | 'end';
}
/**
 * How TCP is set up in hosts.
 */
export interface Tcp {
  congestion_control?: string | null;
  buffers?: string | (string | null);
  recovery?: ('tahoe' | 'reno' | 'newreno' | 'sack' | 'sack-adaptive' | 'rack') | null;
  ecn?: boolean | null;
  initial_window?: number | string | null;
  delayed_ack?: boolean | null;
  pacing?: 'dynamic' | boolean | null;
  min_rto?: string | null;
  sysctls?: {
    [k: string]: string;
  };
}
/**
 * Routers in a row: r1, r2, and so on.
 */
export interface Chain {
  /**
   * Links of hosts: the name of a profile, or laws; 50us and 10Gbit if left out.
   */
  access?: (string | Profile) | null;
  /**
   * Links between routers: the name of a profile, or laws; 10ms and 1Gbit if left out.
   */
  wan?: (string | Profile) | null;
  /**
   * Largest packet of every link in bytes, such as 9000; 1500 if left out.
   */
  mtu?: number | string | null;
  /**
   * Addresses of all nodes, as at the top of the file.
   */
  addresses?: ('ipv4' | 'ipv6' | 'dual') | null;
  /**
   * Hosts at each router that has some.
   */
  hosts?: number | string;
  kind: 'chain';
  /**
   * How many routers.
   */
  routers?: number | string;
  /**
   * Whether hosts are at the first and the last router, or at all.
   */
  hosts_at?: 'ends' | 'all';
}
/**
 * Sites r1, r2, and so on, each with a link to the router hub.
 */
export interface Star {
  /**
   * Links of hosts: the name of a profile, or laws; 50us and 10Gbit if left out.
   */
  access?: (string | Profile) | null;
  /**
   * Links between routers: the name of a profile, or laws; 10ms and 1Gbit if left out.
   */
  wan?: (string | Profile) | null;
  /**
   * Largest packet of every link in bytes, such as 9000; 1500 if left out.
   */
  mtu?: number | string | null;
  /**
   * Addresses of all nodes, as at the top of the file.
   */
  addresses?: ('ipv4' | 'ipv6' | 'dual') | null;
  /**
   * Hosts at each router that has some.
   */
  hosts?: number | string;
  kind: 'star';
  /**
   * How many sites around the hub.
   */
  sites?: number | string;
}
/**
 * Sites r1, r2, and so on in a circle.
 */
export interface Ring {
  /**
   * Links of hosts: the name of a profile, or laws; 50us and 10Gbit if left out.
   */
  access?: (string | Profile) | null;
  /**
   * Links between routers: the name of a profile, or laws; 10ms and 1Gbit if left out.
   */
  wan?: (string | Profile) | null;
  /**
   * Largest packet of every link in bytes, such as 9000; 1500 if left out.
   */
  mtu?: number | string | null;
  /**
   * Addresses of all nodes, as at the top of the file.
   */
  addresses?: ('ipv4' | 'ipv6' | 'dual') | null;
  /**
   * Hosts at each router that has some.
   */
  hosts?: number | string;
  kind: 'ring';
  /**
   * How many sites, three at least.
   */
  sites?: number | string;
}
/**
 * Sites r1, r2, and so on, each with a link to every other.
 */
export interface Mesh {
  /**
   * Links of hosts: the name of a profile, or laws; 50us and 10Gbit if left out.
   */
  access?: (string | Profile) | null;
  /**
   * Links between routers: the name of a profile, or laws; 10ms and 1Gbit if left out.
   */
  wan?: (string | Profile) | null;
  /**
   * Largest packet of every link in bytes, such as 9000; 1500 if left out.
   */
  mtu?: number | string | null;
  /**
   * Addresses of all nodes, as at the top of the file.
   */
  addresses?: ('ipv4' | 'ipv6' | 'dual') | null;
  /**
   * Hosts at each router that has some.
   */
  hosts?: number | string;
  kind: 'mesh';
  /**
   * How many sites.
   */
  sites?: number | string;
}
/**
 * Routers in a grid whose ends meet: r1-1 is joined to r1-2, r2-1, and the last of its row and column.
 */
export interface Torus {
  /**
   * Links of hosts: the name of a profile, or laws; 50us and 10Gbit if left out.
   */
  access?: (string | Profile) | null;
  /**
   * Links between routers: the name of a profile, or laws; 10ms and 1Gbit if left out.
   */
  wan?: (string | Profile) | null;
  /**
   * Largest packet of every link in bytes, such as 9000; 1500 if left out.
   */
  mtu?: number | string | null;
  /**
   * Addresses of all nodes, as at the top of the file.
   */
  addresses?: ('ipv4' | 'ipv6' | 'dual') | null;
  /**
   * Hosts at each router that has some.
   */
  hosts?: number | string;
  kind: 'torus';
  /**
   * Routers along each dimension, three at least; two or more dimensions.
   */
  size?: (number | string)[];
}
/**
 * Hosts left1.. at router left and right1.. at router right, and one link between: bottleneck.
 */
export interface Dumbbell {
  /**
   * Links of hosts: the name of a profile, or laws; 50us and 10Gbit if left out.
   */
  access?: (string | Profile) | null;
  /**
   * Links between routers: the name of a profile, or laws; 10ms and 1Gbit if left out.
   */
  wan?: (string | Profile) | null;
  /**
   * Largest packet of every link in bytes, such as 9000; 1500 if left out.
   */
  mtu?: number | string | null;
  /**
   * Addresses of all nodes, as at the top of the file.
   */
  addresses?: ('ipv4' | 'ipv6' | 'dual') | null;
  kind: 'dumbbell';
  /**
   * Hosts on the left, which are sources.
   */
  left?: number | string;
  /**
   * Hosts on the right, which are sinks.
   */
  right?: number | string;
}
/**
 * Clients head1.. and tail1.. at the ends of a spine s1, s2, ..; at each of its routers two ribs.
 *
 * Hosts at ribs up1, up2, .. are sources and those at down1, down2, .. sinks of traffic that crosses.
 */
export interface FishBone {
  /**
   * Links of hosts: the name of a profile, or laws; 50us and 10Gbit if left out.
   */
  access?: (string | Profile) | null;
  /**
   * Links between routers: the name of a profile, or laws; 10ms and 1Gbit if left out.
   */
  wan?: (string | Profile) | null;
  /**
   * Largest packet of every link in bytes, such as 9000; 1500 if left out.
   */
  mtu?: number | string | null;
  /**
   * Addresses of all nodes, as at the top of the file.
   */
  addresses?: ('ipv4' | 'ipv6' | 'dual') | null;
  /**
   * Hosts at each router that has some.
   */
  hosts?: number | string;
  kind: 'fish-bone';
  /**
   * Routers of the spine.
   */
  length?: number | string;
}
/**
 * A root and so many levels below it: r1, r2, then r1-1, r1-2; hosts at the lowest routers.
 */
export interface Tree {
  /**
   * Links of hosts: the name of a profile, or laws; 50us and 10Gbit if left out.
   */
  access?: (string | Profile) | null;
  /**
   * Links between routers: the name of a profile, or laws; 10ms and 1Gbit if left out.
   */
  wan?: (string | Profile) | null;
  /**
   * Largest packet of every link in bytes, such as 9000; 1500 if left out.
   */
  mtu?: number | string | null;
  /**
   * Addresses of all nodes, as at the top of the file.
   */
  addresses?: ('ipv4' | 'ipv6' | 'dual') | null;
  /**
   * Hosts at each router that has some.
   */
  hosts?: number | string;
  kind: 'tree';
  /**
   * Levels of routers below the root.
   */
  depth?: number | string;
  /**
   * Routers below each that is not one of the lowest.
   */
  fanout?: number | string;
}
/**
 * Three layers of switches with k ports (Al-Fares et al. 2008): core1.., p1-a1.., p1-e1.., k pods.
 */
export interface FatTree {
  /**
   * Links of hosts: the name of a profile, or laws; 50us and 10Gbit if left out.
   */
  access?: (string | Profile) | null;
  /**
   * Links between routers: the name of a profile, or laws; 10ms and 1Gbit if left out.
   */
  wan?: (string | Profile) | null;
  /**
   * Largest packet of every link in bytes, such as 9000; 1500 if left out.
   */
  mtu?: number | string | null;
  /**
   * Addresses of all nodes, as at the top of the file.
   */
  addresses?: ('ipv4' | 'ipv6' | 'dual') | null;
  kind: 'fat-tree';
  /**
   * Ports of a switch, an even number: k pods, (k/2)^2 cores.
   */
  k?: number | string;
  /**
   * Hosts at each edge switch; k/2 if left out.
   */
  hosts?: number | string | null;
  /**
   * Whether packets take different cores by the number of the host they go to; up to k = 8.
   */
  spread?: boolean;
}
/**
 * Clusters c1, c2, and so on, joined over a WAN.
 */
export interface Clusters {
  /**
   * Links of hosts: the name of a profile, or laws; 50us and 10Gbit if left out.
   */
  access?: (string | Profile) | null;
  /**
   * Links between routers: the name of a profile, or laws; 10ms and 1Gbit if left out.
   */
  wan?: (string | Profile) | null;
  /**
   * Largest packet of every link in bytes, such as 9000; 1500 if left out.
   */
  mtu?: number | string | null;
  /**
   * Addresses of all nodes, as at the top of the file.
   */
  addresses?: ('ipv4' | 'ipv6' | 'dual') | null;
  kind: 'clusters';
  /**
   * How many clusters.
   */
  clusters?: number | string;
  /**
   * Hosts of each cluster.
   */
  hosts?: number | string;
  /**
   * gateway: hosts share the WAN links of their cluster's router, which has one to every other cluster.
   *
   * end-node: each host has a link of its own to the router wan, beside that to its cluster's switch.
   */
  style?: 'gateway' | 'end-node';
}
/**
 * Sites with coordinates, and links whose delays are those of fibre between them.
 */
export interface Sites {
  /**
   * Links of hosts: the name of a profile, or laws; 50us and 10Gbit if left out.
   */
  access?: (string | Profile) | null;
  /**
   * Links between routers: the name of a profile, or laws; 10ms and 1Gbit if left out.
   */
  wan?: (string | Profile) | null;
  /**
   * Largest packet of every link in bytes, such as 9000; 1500 if left out.
   */
  mtu?: number | string | null;
  /**
   * Addresses of all nodes, as at the top of the file.
   */
  addresses?: ('ipv4' | 'ipv6' | 'dual') | null;
  /**
   * Hosts at each router that has some.
   */
  hosts?: number | string;
  /**
   * Length of fibre over the great circle; 1.5 below 1000 km and 1.25 above 1200 km if left out.
   */
  route_factor?: number | string | null;
  /**
   * Group index of the glass: light is so much slower there than in vacuum.
   */
  index?: number | string;
  kind: 'sites';
  /**
   * Name of each site with its latitude and longitude, or with {at: [..], hosts: 8}.
   */
  sites: {
    [k: string]: Spot;
  };
  /**
   * Which sites have links: a shape in the order of the sites (star: to the first), or pairs.
   */
  join?: ('mesh' | 'ring' | 'chain' | 'star') | [string, string][];
}
/**
 * A site on the globe.
 *
 * This interface was referenced by `undefined`'s JSON-Schema definition
 * via the `patternProperty` "^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$".
 */
export interface Spot {
  /**
   * Latitude and longitude in degrees.
   *
   * @minItems 2
   * @maxItems 2
   */
  at: [number | string, number | string];
  /**
   * Hosts here, where not as many as elsewhere.
   */
  hosts?: number | string | null;
}
/**
 * Nine sites in France as Grid'5000 had them in 2006, on a backbone of our choice with 10 Gbit/s.
 */
export interface Grid5000 {
  /**
   * Links of hosts: the name of a profile, or laws; 50us and 10Gbit if left out.
   */
  access?: (string | Profile) | null;
  /**
   * Links between routers: the name of a profile, or laws; 10ms and 1Gbit if left out.
   */
  wan?: (string | Profile) | null;
  /**
   * Largest packet of every link in bytes, such as 9000; 1500 if left out.
   */
  mtu?: number | string | null;
  /**
   * Addresses of all nodes, as at the top of the file.
   */
  addresses?: ('ipv4' | 'ipv6' | 'dual') | null;
  /**
   * Hosts at each router that has some.
   */
  hosts?: number | string;
  /**
   * Length of fibre over the great circle; 1.5 below 1000 km and 1.25 above 1200 km if left out.
   */
  route_factor?: number | string | null;
  /**
   * Group index of the glass: light is so much slower there than in vacuum.
   */
  index?: number | string;
  kind: 'grid5000';
}
/**
 * San Diego to Purdue as Hacker, Smith et al. (2008) simulated it: sdsc1.., sdsc, la, chi, purdue, ..
 */
export interface TeraGridNetwork {
  kind: 'teragrid';
  /**
   * The preset of losses between Los Angeles and Chicago, in the direction of the data.
   */
  loss?: 'teragrid' | 'teragrid-literal-seconds' | 'teragrid-busy-10g' | 'none';
  /**
   * Hosts of cross traffic x1 to x5: at Los Angeles, or two at San Diego and three at Los Angeles.
   */
  cross?: 'none' | 'la' | 'sdsc-la';
  /**
   * pool: the hosts of Purdue are behind one more link of 1 Gbit/s, purdue-pool.
   */
  sink?: 'direct' | 'pool';
  /**
   * Of every link; 1000p if left out.
   */
  queue?: string | (Fifo | HeadDrop | Red | Codel | FqCodel | Pie | Drr | Priority) | null;
}
/**
 * Routers at random places, the nearer the likelier joined (Waxman 1988); always connected.
 */
export interface Waxman {
  /**
   * Links of hosts: the name of a profile, or laws; 50us and 10Gbit if left out.
   */
  access?: (string | Profile) | null;
  /**
   * Links between routers: the name of a profile, or laws; 10ms and 1Gbit if left out.
   */
  wan?: (string | Profile) | null;
  /**
   * Largest packet of every link in bytes, such as 9000; 1500 if left out.
   */
  mtu?: number | string | null;
  /**
   * Addresses of all nodes, as at the top of the file.
   */
  addresses?: ('ipv4' | 'ipv6' | 'dual') | null;
  /**
   * Hosts at each router that has some.
   */
  hosts?: number | string;
  kind: 'waxman';
  /**
   * How many routers: r1, r2, and so on.
   */
  routers?: number | string;
  /**
   * How far links reach: their probability falls by e over this share of the longest distance.
   */
  alpha?: number | string;
  /**
   * Probability of a link between routers at the same place.
   */
  beta?: number | string;
  /**
   * One-way delay along a side of the square that routers are in; links have their share of it.
   */
  across?: string;
  /**
   * Another seed is another network; the seed of the run has no say in it.
   */
  seed?: number | string;
  /**
   * How many routers have hosts, the last ones; all if left out.
   */
  sites?: number | string | null;
}
/**
 * Routers that join one after the other, by preference those with many links (Barabasi, Albert 1999).
 */
export interface BarabasiAlbert {
  /**
   * Links of hosts: the name of a profile, or laws; 50us and 10Gbit if left out.
   */
  access?: (string | Profile) | null;
  /**
   * Links between routers: the name of a profile, or laws; 10ms and 1Gbit if left out.
   */
  wan?: (string | Profile) | null;
  /**
   * Largest packet of every link in bytes, such as 9000; 1500 if left out.
   */
  mtu?: number | string | null;
  /**
   * Addresses of all nodes, as at the top of the file.
   */
  addresses?: ('ipv4' | 'ipv6' | 'dual') | null;
  /**
   * Hosts at each router that has some.
   */
  hosts?: number | string;
  kind: 'barabasi-albert';
  /**
   * How many routers: r1, r2, and so on.
   */
  routers?: number | string;
  /**
   * Links of each new router; it begins as a star of so many around one.
   */
  links?: number | string;
  /**
   * Another seed is another network; the seed of the run has no say in it.
   */
  seed?: number | string;
  /**
   * How many routers have hosts, the last ones; all if left out.
   */
  sites?: number | string | null;
}
/**
 * A host, where programs run, or a router of the model.
 */
export interface Node {
  kind?: 'host' | 'router';
  function?: ('client' | 'source' | 'sink' | 'router' | 'access-link' | 'core') | null;
  attach?: string | null;
  profile?: string | null;
  at?: [number, number] | null;
  tcp?: Tcp1 | null;
  pacing?: Pacing | null;
}
/**
 * How TCP is set up in hosts.
 */
export interface Tcp1 {
  congestion_control?: string | null;
  buffers?: string | (string | null);
  recovery?: ('tahoe' | 'reno' | 'newreno' | 'sack' | 'sack-adaptive' | 'rack') | null;
  ecn?: boolean | null;
  initial_window?: number | string | null;
  delayed_ack?: boolean | null;
  pacing?: 'dynamic' | boolean | null;
  min_rto?: string | null;
  sysctls?: {
    [k: string]: string;
  };
}
/**
 * Classes of what a host sends, each with a rate; PSPacer's, or token buckets.
 */
export interface Pacing {
  line?: string | null;
  count?: ('ip' | 'ethernet' | 'vlan' | 'psp') | null;
  default?: string;
  classes: {
    [k: string]: PacingClass;
  };
}
/**
 * Packets that leave by one clock: those for which all holds that is said, and no class before takes.
 *
 * This interface was referenced by `undefined`'s JSON-Schema definition
 * via the `patternProperty` "^[A-Za-z0-9]([A-Za-z0-9_-]{0,61}[A-Za-z0-9])?$".
 */
export interface PacingClass {
  rate?: string | null;
  bucket?: string | null;
  burst?: string | null;
  peak?: string | null;
  to?: string | [string, ...string[]] | null;
  port?: (number | string) | [number | string, ...(number | string)[]] | null;
  protocol?: ('icmp' | 'tcp' | 'udp' | 'dccp' | 'icmpv6' | 'sctp' | 'udplite') | null;
  dscp?: number | string | null;
  traffic?: string | [string, ...string[]] | null;
  program?: string | [string, ...string[]] | null;
  flows?: number | string | null;
  queue?: string | null;
  latency?: string | null;
}
/**
 * A link between two nodes.
 *
 * This interface was referenced by `undefined`'s JSON-Schema definition
 * via the `patternProperty` "^[A-Za-z0-9]([A-Za-z0-9_-]{0,61}[A-Za-z0-9])?$".
 */
export interface Link {
  up?: boolean | null;
  delay?: string | (Delay | DelayTrace) | null;
  rate?: string | (ConstantRate | PacedRate | TokenBucket | RateTrace | Opportunities) | null;
  loss?:
    | string
    | (
        | NoLoss
        | IndependentLoss
        | BlockLoss
        | PeriodicLoss
        | GilbertElliottLoss
        | MarkovLoss
        | FourStateLoss
        | CorrelatedLoss
        | PacketRenewalLoss
        | ByteRenewalLoss
        | WallRenewalLoss
        | BusyRenewalLoss
        | TraceLoss
        | PresetLoss
      )
    | null;
  queue?: string | (Fifo | HeadDrop | Red | Codel | FqCodel | Pie | Drr | Priority) | null;
  out_of_order?: (BlockOutOfOrder | ShareOutOfOrder | EarlyOutOfOrder) | null;
  duplicate?: (string | number) | null;
  corrupt?: (string | number) | null;
  count?: ('ip' | 'ethernet' | 'vlan' | 'atm') | null;
  routes?: Routes | null;
  forward?: Laws | null;
  reverse?: Laws | null;
  measured?: Measured | null;
  mtu?: number | string | null;
  /**
   * @minItems 2
   * @maxItems 2
   */
  endpoints?: [string, string];
  profile?: string | null;
}
/**
 * At a node, packets to another leave by this link, whatever the delays say.
 */
export interface Route {
  at: string;
  to: string;
  via: string;
}
/**
 * A real program, or what stands for it in a simulation.
 *
 * ``host``, ``hosts`` and ``each`` exclude one another.
 *
 * This interface was referenced by `undefined`'s JSON-Schema definition
 * via the `patternProperty` "^[A-Za-z0-9]([A-Za-z0-9_-]{0,61}[A-Za-z0-9])?$".
 */
export interface Program {
  run?: string | string[] | null;
  simulate?: Simulate | null;
  host?: string | null;
  hosts?: string | [string, ...string[]] | null;
  slots?: number | string;
  ranks?: 'by-cluster' | 'round-robin';
  each?: string | [string, ...string[]] | null;
  /**
   * a time
   */
  start?: string;
  stop?: string | null;
  expect_exit?: string | (number | null);
  service?: boolean;
  ready?: string | Ready | null;
  cwd?: string | null;
  env?: {
    /**
     * This interface was referenced by `undefined`'s JSON-Schema definition
     * via the `patternProperty` "^[A-Za-z0-9]([A-Za-z0-9_-]{0,61}[A-Za-z0-9])?$".
     */
    [k: string]: string;
  };
}
/**
 * What stands for a program in a simulation: ranks that exchange messages over TCP.
 */
export interface Simulate {
  kind: 'ping-pong' | 'allreduce' | 'alltoall' | 'halo' | 'broadcast' | 'recorded';
  bytes?: string | null;
  file?: string | null;
  algorithm?: 'flat' | 'binomial' | 'recursive-doubling' | 'ring' | 'two-level';
  repeat?: number | string;
  /**
   * a time
   */
  compute?: string;
  slots?: number | string;
  cc?:
    | string
    | {
        law: string;
      }
    | null;
}
/**
 * How to tell that a service can be used: it listens on a TCP port.
 */
export interface Ready {
  tcp: number | string;
  /**
   * a time
   */
  within?: string;
}
/**
 * Echo requests.
 */
export interface Ping {
  /**
   * a time
   */
  start?: string;
  stop?: string | null;
  from: string;
  to: string | [string, ...string[]];
  simulated?: boolean;
  kind: 'ping';
  /**
   * a time
   */
  every?: string;
  /**
   * a size
   */
  size?: string;
  count?: number | string | null;
}
/**
 * Congestion-controlled bulk transfer.
 */
export interface Bulk {
  /**
   * a time
   */
  start?: string;
  stop?: string | null;
  from: string;
  to: string | [string, ...string[]];
  simulated?: boolean;
  kind: 'tcp';
  flows?: number | string;
  cc?:
    | string
    | {
        law: string;
      }
    | null;
  bytes?: string | null;
  rate?: string | null;
}
/**
 * UDP at a mean rate.
 */
export interface Datagrams {
  /**
   * a time
   */
  start?: string;
  stop?: string | null;
  from: string;
  to: string | [string, ...string[]];
  simulated?: boolean;
  kind: 'udp';
  /**
   * a rate
   */
  rate: string;
  size?: string | null;
  bytes?: string | null;
  arrivals?: 'even' | 'poisson';
  sizes?: 'fixed' | 'exponential';
  on?:
    | string
    | (
        | Constant_Span_
        | Uniform_Span_
        | Normal_Span_
        | Exponential_Span_
        | Weibull_Span_
        | Pareto_Span_
        | Lognormal_Span_
        | Gamma_Span_
        | LogLogistic_Span_
        | InverseGaussian_Span_
        | GeneralisedPareto_Span_
        | Gev_Span_
        | Wakeby_Span_
        | Empirical_Span_
      )
    | null;
  off?:
    | string
    | (
        | Constant_Span_
        | Uniform_Span_
        | Normal_Span_
        | Exponential_Span_
        | Weibull_Span_
        | Pareto_Span_
        | Lognormal_Span_
        | Gamma_Span_
        | LogLogistic_Span_
        | InverseGaussian_Span_
        | GeneralisedPareto_Span_
        | Gev_Span_
        | Wakeby_Span_
        | Empirical_Span_
      )
    | null;
}
/**
 * Transfers, each over a TCP connection of its own.
 */
export interface Requests {
  /**
   * a time
   */
  start?: string;
  stop?: string | null;
  from: string;
  to: string | [string, ...string[]];
  simulated?: boolean;
  kind: 'requests';
  gap:
    | string
    | (
        | Constant_Span_
        | Uniform_Span_
        | Normal_Span_
        | Exponential_Span_
        | Weibull_Span_
        | Pareto_Span_
        | Lognormal_Span_
        | Gamma_Span_
        | LogLogistic_Span_
        | InverseGaussian_Span_
        | GeneralisedPareto_Span_
        | Gev_Span_
        | Wakeby_Span_
        | Empirical_Span_
      );
  size:
    | string
    | (
        | Constant_Size_
        | Uniform_Size_
        | Normal_Size_
        | Exponential_Size_
        | Weibull_Size_
        | Pareto_Size_
        | Lognormal_Size_
        | Gamma_Size_
        | LogLogistic_Size_
        | InverseGaussian_Size_
        | GeneralisedPareto_Size_
        | Gev_Size_
        | Wakeby_Size_
        | Empirical_Size_
      );
  cc?:
    | string
    | {
        law: string;
      }
    | null;
}
/**
 * Transfers of a list, each over a TCP connection of its own.
 */
export interface Replay {
  /**
   * a time
   */
  start?: string;
  stop?: string | null;
  kind: 'replay';
  file: string;
  cc?:
    | string
    | {
        law: string;
      }
    | null;
  simulated?: boolean;
}
/**
 * Simulated datagrams across a link, as a share of its rate.
 */
export interface Background {
  /**
   * a time
   */
  start?: string;
  stop?: string | null;
  kind: 'background';
  link: string;
  direction?: 'forward' | 'reverse';
  /**
   * a share
   */
  load: string | number;
  arrivals?: 'poisson' | 'cbr' | 'pareto';
  size?: string | null;
  /**
   * a time
   */
  burst?: string;
}
/**
 * A change of a link, or of the pacing of a host, at a time.
 */
export interface Event {
  /**
   * a time
   */
  at: string;
  link?: string | [string, ...string[]];
  host?: string | [string, ...string[]] | null;
  pacing?: {
    /**
     * This interface was referenced by `undefined`'s JSON-Schema definition
     * via the `patternProperty` "^[A-Za-z0-9]([A-Za-z0-9_-]{0,61}[A-Za-z0-9])?$".
     */
    [k: string]: string | ClassLaw;
  } | null;
  direction?: 'forward' | 'reverse' | 'both';
  route?: number | string | null;
  set?: Changes | null;
  over?: string | null;
  down?: string | true;
  up?: true | null;
}
/**
 * When the packets of a class leave: by the byte clock of a rate, by a bucket, or when no other may.
 */
export interface ClassLaw {
  rate?: string | null;
  bucket?: string | null;
  burst?: string | null;
  peak?: string | null;
}
/**
 * What becomes different in an event.
 */
export interface Changes {
  delay?: string | (Delay | DelayTrace) | null;
  rate?: string | (ConstantRate | PacedRate | TokenBucket | RateTrace | Opportunities) | null;
  loss?:
    | string
    | (
        | NoLoss
        | IndependentLoss
        | BlockLoss
        | PeriodicLoss
        | GilbertElliottLoss
        | MarkovLoss
        | FourStateLoss
        | CorrelatedLoss
        | PacketRenewalLoss
        | ByteRenewalLoss
        | WallRenewalLoss
        | BusyRenewalLoss
        | TraceLoss
        | PresetLoss
      )
    | null;
  queue?: string | (Fifo | HeadDrop | Red | Codel | FqCodel | Pie | Drr | Priority) | null;
  duplicate?: (string | number) | null;
  corrupt?: (string | number) | null;
}
/**
 * What is recorded.
 */
export interface Measure {
  /**
   * a time
   */
  every?: string;
  packets?: Packets | null;
  monitor?: Monitor | null;
  sockets?: boolean;
  journal?: boolean;
}
/**
 * Which packets are recorded one by one.
 */
export interface Packets {
  links: string | [string, ...string[]];
  /**
   * a size
   */
  snap?: string;
  /**
   * a time
   */
  window?: string;
}
/**
 * Links of which bytes, packets, drops and queue are counted in short bins of time.
 */
export interface Monitor {
  links?: string | [string, ...string[]] | null;
  /**
   * a time
   */
  every?: string;
  flows?: boolean;
}
/**
 * What must have come out.
 */
export interface Expectation {
  metric: string;
  min?: (string | number | boolean) | null;
  max?: (string | number | boolean) | null;
  equals?: (string | number | boolean) | null;
  else?: 'fail' | 'untrusted';
}
/**
 * Axes for ``longhaul sweep``: parameters, or keys of the scenario by their path.
 */
export interface Sweep {
  axes: {
    /**
     * This interface was referenced by `undefined`'s JSON-Schema definition
     * via the `patternProperty` "^[A-Za-z0-9_][A-Za-z0-9_.-]{0,254}$".
     */
    [k: string]: [string | number | boolean | {}, ...(string | number | boolean | {})[]] | Axis;
  };
  design?: 'grid' | 'random' | 'latin-hypercube';
  points?: number | string | null;
  repeat?: number | string | null;
  seeds?: 'paired' | 'independent';
  metrics?: string | [string, ...string[]];
  until?: string | Until | null;
}
/**
 * The values of one axis: a list, or a range.
 */
export interface Axis {
  values?: [unknown, ...unknown[]] | null;
  from?: string | number | null;
  to?: string | number | null;
  steps?: number | string | null;
  scale?: 'linear' | 'log';
}
/**
 * Seeds are added until half of the 95 % confidence interval is within a share of the mean.
 */
export interface Until {
  metric: string;
  /**
   * a share
   */
  within: string | number;
  at_most?: number | string;
}
/**
 * Section ``relay``: gateways that delay connections between clusters, without any privilege.
 */
export interface Relay {
  clusters: {
    [k: string]: Cluster;
  };
  socks?: number | null;
  forwards?: Forward[];
  transparent?: number | string | null;
  share?: ('link' | 'connection') | null;
  algorithm?: 'one-thread' | 'paper';
  framing?: 'stream' | 'length-prefixed';
  gateways?: 'together' | 'apart' | 'chained';
  chain?: number;
  password_file?: string | null;
  retransmit?: string | null;
  /**
   * a time
   */
  subtract?: string;
  buffer?: string | null;
  /**
   * a size
   */
  memory?: string;
  connections?: number | string;
  log?: Log;
}
/**
 * Machines that are close to each other, and their gateway.
 *
 * This interface was referenced by `undefined`'s JSON-Schema definition
 * via the `patternProperty` "^[A-Za-z0-9]([A-Za-z0-9_-]{0,61}[A-Za-z0-9])?$".
 */
export interface Cluster {
  site?: string | null;
  gateway?: string | null;
  machines?: string | [string, ...string[]];
  names?: {
    [k: string]: string;
  };
}
/**
 * A port whose connections all go to one place.
 */
export interface Forward {
  listen: number | string;
  from: string;
  to: string;
  into?: string | null;
  protocol?: 'tcp' | 'udp';
}
/**
 * What is recorded of each message.
 */
export interface Log {
  messages?: boolean;
  /**
   * a size
   */
  limit?: string;
}
