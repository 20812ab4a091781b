/* Written by "npm run types" from the output of "longhaul schema"; not edited by hand. */

/**
 * What the page writes.
 */
export interface Written {
  Node?: Node;
  Link?: Link;
  Ping?: Ping;
  Bulk?: Bulk;
  Datagrams?: Datagrams;
  Changes?: Changes;
}
/**
 * A host, where programs run, or a router or an Ethernet switch of the model.
 */
export interface Node {
  kind?: 'host' | 'router' | 'switch';
  function?: ('client' | 'source' | 'sink' | 'router' | 'access-link' | 'core') | null;
  attach?: string | null;
  profile?: string | null;
  at?: [number, number] | null;
  place?: string | null;
  tcp?: Tcp | null;
  pacing?: Pacing | null;
  line_rate?: string | null;
  forward?: boolean;
  routing?: ('static' | 'none') | null;
  port?: string | null;
  hostname?: string | null;
  files?: {
    [k: string]: string;
  };
  cpu?: number | string | null;
  memory?: string | null;
  rootfs?: string | null;
  image?: string | null;
  keep_files?: boolean;
  pid_namespace?: boolean;
  user?: (string | number) | null;
  capabilities?:
    | (
        | 'CHOWN'
        | 'DAC_OVERRIDE'
        | 'DAC_READ_SEARCH'
        | 'FOWNER'
        | 'FSETID'
        | 'KILL'
        | 'SETGID'
        | 'SETUID'
        | 'SETPCAP'
        | 'LINUX_IMMUTABLE'
        | 'NET_BIND_SERVICE'
        | 'NET_BROADCAST'
        | 'NET_ADMIN'
        | 'NET_RAW'
        | 'IPC_LOCK'
        | 'IPC_OWNER'
        | 'SYS_MODULE'
        | 'SYS_RAWIO'
        | 'SYS_CHROOT'
        | 'SYS_PTRACE'
        | 'SYS_PACCT'
        | 'SYS_ADMIN'
        | 'SYS_BOOT'
        | 'SYS_NICE'
        | 'SYS_RESOURCE'
        | 'SYS_TIME'
        | 'SYS_TTY_CONFIG'
        | 'MKNOD'
        | 'LEASE'
        | 'AUDIT_WRITE'
        | 'AUDIT_CONTROL'
        | 'SETFCAP'
        | 'MAC_OVERRIDE'
        | 'MAC_ADMIN'
        | 'SYSLOG'
        | 'WAKE_ALARM'
        | 'BLOCK_SUSPEND'
        | 'AUDIT_READ'
        | 'PERFMON'
        | 'BPF'
        | 'CHECKPOINT_RESTORE'
      )[]
    | null;
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
  mptcp?: boolean | (Mptcp | null);
  delayed_ack?: boolean | null;
  pacing?: 'dynamic' | boolean | null;
  min_rto?: string | null;
  sysctls?: {
    [k: string]: string;
  };
}
/**
 * What the path manager of Multipath TCP may do, in the words of ``ip-mptcp(8)``.
 */
export interface Mptcp {
  subflows?: number | string;
  add_addr_accepted?: number | string;
  endpoints?: {
    /**
     * This interface was referenced by `undefined`'s JSON-Schema definition
     * via the `patternProperty` "^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[A-Za-z0-9]([A-Za-z0-9_-]{0,61}[A-Za-z0-9])?)?$".
     */
    [k: string]:
      | 'signal'
      | 'subflow'
      | 'backup'
      | 'fullmesh'
      | ['signal' | 'subflow' | 'backup' | 'fullmesh', ...('signal' | 'subflow' | 'backup' | 'fullmesh')[]];
  } | null;
}
/**
 * Classes of what a host sends, each with a rate; PSPacer's, or token buckets.
 */
export interface Pacing {
  line_rate?: string | null;
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
 */
export interface Link {
  up?: boolean | null;
  delay?: string | null;
  rate?: string | null;
  loss?: string | null;
  queue?: string | null;
  reordering?: string | null;
  duplicate?: (string | number) | null;
  corrupt?: (string | number) | null;
  count?: ('ip' | 'ethernet' | 'vlan' | 'atm') | null;
  routes?: Routes | null;
  forward?: LinkModel | null;
  reverse?: LinkModel | null;
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
 * Two to 64 routes; what a route leaves out comes from here, and then from the link.
 */
export interface Routes {
  up?: boolean | null;
  delay?: string | null;
  rate?: string | null;
  loss?: string | null;
  queue?: string | null;
  reordering?: string | null;
  duplicate?: (string | number) | null;
  corrupt?: (string | number) | null;
  policy: 'flow-hash' | 'round-robin' | 'vlan-block' | 'weighted' | 'least-queued' | 'flowlet';
  count?: number | string | null;
  delays?: string[] | null;
  each?: RouteModel[] | null;
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
export interface RouteModel {
  up?: boolean | null;
  delay?: string | null;
  rate?: string | null;
  loss?: string | null;
  queue?: string | null;
  reordering?: string | null;
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
export interface LinkModel {
  up?: boolean | null;
  delay?: string | null;
  rate?: string | null;
  loss?: string | null;
  queue?: string | null;
  reordering?: string | null;
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
 * Echo requests.
 */
export interface Ping {
  start?: string;
  stop?: string | null;
  from: string | [string, ...string[]];
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
  start?: string;
  stop?: string | null;
  from: string | [string, ...string[]];
  to: string | [string, ...string[]];
  simulated?: boolean;
  kind: 'tcp';
  flows?: number | string;
  cc?: string | null;
  bytes?: string | null;
  rate?: string | null;
  mptcp?: boolean;
}
/**
 * UDP at a mean rate.
 */
export interface Datagrams {
  start?: string;
  stop?: string | null;
  from: string | [string, ...string[]];
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
  on?: string | null;
  off?: string | null;
}
/**
 * What becomes different in an event.
 */
export interface Changes {
  delay?: string | null;
  rate?: string | null;
  loss?: string | null;
  queue?: string | null;
  reordering?: string | null;
  duplicate?: (string | number) | null;
  corrupt?: (string | number) | null;
  count?: ('ip' | 'ethernet' | 'vlan' | 'atm') | null;
  coalesce?: string | null;
}
