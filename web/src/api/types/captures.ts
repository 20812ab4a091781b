/* Written by "npm run types" from the output of "longhaul schema --page"; not edited by hand. */

/**
 * A link whose packets are captured, at `nodes`; `new` says that it was not captured before.
 */
export interface CaptureNow {
  link: string;
  nodes: string[];
  snaplen_bytes: number;
  new: boolean;
}

/**
 * A packet that passed one end of a link; `leaves`: off the link, and otherwise onto it.
 */
export interface CapturedPacketRow {
  number: number;
  t_ns: number;
  leaves: boolean;
  source: string;
  destination: string;
  protocol: string;
  info: string;
  bytes: number;
}

/**
 * The packets at one end with higher numbers than was asked; of many, the latest.
 *
 * `count` is the number of all so far, `ended` whether no more will come.
 */
export interface CapturedPackets {
  packets: CapturedPacketRow[];
  count: number;
  ended: boolean;
}

/**
 * One packet: its bytes in hexadecimal digits, and how `tshark` explains it, if that is installed.
 */
export interface PacketDetails {
  number: number;
  content: string;
  explained: string | null;
}
