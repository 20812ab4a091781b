/* Written by "npm run types" from the output of "longhaul schema --page"; not edited by hand. */

/**
 * A shell in a host; `tabs` is the number of browser tabs that show it.
 */
export interface TerminalRow {
  id: string;
  host: string;
  started_unix_s: number;
  tabs: number;
}

/**
 * The shells of a run that were started from the page, oldest first.
 */
export interface TerminalList {
  terminals: TerminalRow[];
}

/**
 * A process in a host; `pid` is that which programs in the host see.
 */
export interface HostProcessRow {
  pid: number;
  command: string;
  state: string;
  cpu_s: number;
  rss_bytes: number;
}

/**
 * An interface of a host.
 */
export interface HostInterface {
  name: string;
  state: string;
  addresses: string[];
}

/**
 * A TCP or UDP socket of a host, in the words of ss(8).
 */
export interface HostSocketRow {
  protocol: string;
  state: string;
  receive_queue_bytes: number;
  send_queue_bytes: number;
  local: string;
  remote: string;
}

/**
 * A host of a live run at one instant.
 */
export interface HostNow {
  host: string;
  processes: HostProcessRow[];
  interfaces: HostInterface[];
  routes: string[];
  sockets: HostSocketRow[];
}
