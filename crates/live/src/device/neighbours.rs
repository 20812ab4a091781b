//! Who is who on the segment behind a device: Ethernet addresses of IP addresses, and packets that wait for one.

use super::wire_format::Mac;
use std::collections::HashMap;
use std::net::IpAddr;

/// Interval between two requests for one address (RFC 4861, `RETRANS_TIMER`).
const ASK_INTERVAL_NS: u64 = 1_000_000_000;
/// How long packets wait for an answer: that to the last of three requests (RFC 4861, `MAX_MULTICAST_SOLICIT`).
const WAIT_NS: u64 = 3 * ASK_INTERVAL_NS;
/// An address that was not seen for this long is asked for, and used meanwhile (RFC 4861, `REACHABLE_TIME`).
const REACHABLE_NS: u64 = 30_000_000_000;
/// Most frames that wait for one address.
const MOST_WAITING: usize = 256;
/// Most addresses that are known; a segment with more is asked again.
const MOST_NEIGHBOURS: usize = 1 << 16;

/// What is known of a host of the segment.
#[derive(Debug)]
enum Neighbour {
    Known { mac: Mac, seen_ns: u64, asked_ns: u64 },
    Asked { asked_ns: u64, waiting: Vec<(u64, Vec<u8>)> },
}

/// The Ethernet address of a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resolution {
    /// It was seen lately.
    Known(Mac),
    /// It was not: ask, and use it.
    Stale(Mac),
    /// It is not known.
    Unknown {
        /// Whether it is time for a request.
        ask: bool,
    },
}

/// All hosts of a segment that are known or were asked for.
#[derive(Debug, Default)]
pub struct Neighbours {
    known: HashMap<IpAddr, Neighbour>,
    /// Packets that waited in vain.
    unresolved: u64,
}

impl Neighbours {
    /// The address of `next`, and whether to ask for it.
    pub fn resolve(&mut self, next: IpAddr, now_ns: u64) -> Resolution {
        match self.known.get_mut(&next) {
            Some(Neighbour::Known { mac, seen_ns, asked_ns }) => {
                if now_ns.saturating_sub(*seen_ns) < REACHABLE_NS
                    || now_ns.saturating_sub(*asked_ns) < ASK_INTERVAL_NS
                {
                    return Resolution::Known(*mac);
                }
                *asked_ns = now_ns;
                Resolution::Stale(*mac)
            }
            Some(Neighbour::Asked { asked_ns, .. }) => {
                let ask = now_ns.saturating_sub(*asked_ns) >= ASK_INTERVAL_NS;
                if ask {
                    *asked_ns = now_ns;
                }
                Resolution::Unknown { ask }
            }
            None => {
                self.make_room();
                self.known.insert(next, Neighbour::Asked { asked_ns: now_ns, waiting: Vec::new() });
                Resolution::Unknown { ask: true }
            }
        }
    }

    /// Keeps a frame until the address of `next` is known. Those that have waited too long are given up.
    pub fn hold(&mut self, next: IpAddr, frame: Vec<u8>, now_ns: u64) {
        let Some(Neighbour::Asked { waiting, .. }) = self.known.get_mut(&next) else {
            self.unresolved += 1;
            return;
        };
        let before = waiting.len();
        waiting.retain(|(since_ns, _)| now_ns.saturating_sub(*since_ns) < WAIT_NS);
        self.unresolved += (before - waiting.len()) as u64;
        if waiting.len() < MOST_WAITING {
            waiting.push((now_ns, frame));
        } else {
            self.unresolved += 1;
        }
    }

    /// Notes that the host with this address has this Ethernet address; returns what waited for it.
    pub fn learn(&mut self, address: IpAddr, mac: Mac, now_ns: u64) -> Vec<Vec<u8>> {
        match self.known.get_mut(&address) {
            Some(Neighbour::Known { mac: known, seen_ns, .. }) => {
                (*known, *seen_ns) = (mac, now_ns);
                return Vec::new();
            }
            Some(Neighbour::Asked { .. }) => {}
            None => self.make_room(),
        }
        let now = Neighbour::Known { mac, seen_ns: now_ns, asked_ns: now_ns };
        match self.known.insert(address, now) {
            Some(Neighbour::Asked { waiting, .. }) => {
                let (late, sent): (Vec<_>, Vec<_>) = waiting
                    .into_iter()
                    .partition(|(since_ns, _)| now_ns.saturating_sub(*since_ns) >= WAIT_NS);
                self.unresolved += late.len() as u64;
                sent.into_iter().map(|(_, frame)| frame).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Packets that waited in vain since the last call, and those that still wait at the end.
    pub fn take_unresolved(&mut self) -> u64 {
        let mut count = std::mem::take(&mut self.unresolved);
        for neighbour in self.known.values_mut() {
            if let Neighbour::Asked { waiting, .. } = neighbour {
                count += std::mem::take(waiting).len() as u64;
            }
        }
        count
    }

    /// Forgets everybody who is known, where a segment of one address after another would fill the memory.
    fn make_room(&mut self) {
        if self.known.len() >= MOST_NEIGHBOURS {
            let given_up = self.take_unresolved();
            self.known.clear();
            self.unresolved += given_up;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND_NS: u64 = 1_000_000_000;
    const MAC: Mac = [2, 0, 0, 0, 0, 1];

    fn host() -> IpAddr {
        "192.168.1.2".parse().unwrap()
    }

    #[test]
    fn packets_wait_until_their_host_has_answered() {
        let mut neighbours = Neighbours::default();
        assert_eq!(neighbours.resolve(host(), 0), Resolution::Unknown { ask: true });
        neighbours.hold(host(), vec![1], 0);
        assert_eq!(neighbours.resolve(host(), 1), Resolution::Unknown { ask: false });
        neighbours.hold(host(), vec![2], 1);
        assert_eq!(neighbours.learn(host(), MAC, 2), [[1], [2]]);
        assert_eq!(neighbours.resolve(host(), 3), Resolution::Known(MAC));
        assert_eq!(neighbours.take_unresolved(), 0);
    }

    #[test]
    fn a_request_is_repeated_after_a_second_and_packets_are_given_up_after_three() {
        let mut neighbours = Neighbours::default();
        neighbours.resolve(host(), 0);
        neighbours.hold(host(), vec![1], 0);
        assert_eq!(neighbours.resolve(host(), SECOND_NS), Resolution::Unknown { ask: true });
        neighbours.hold(host(), vec![2], 3 * SECOND_NS);
        assert_eq!(neighbours.learn(host(), MAC, 3 * SECOND_NS), [[2]]);
        assert_eq!(neighbours.take_unresolved(), 1);
    }

    #[test]
    fn an_address_that_was_not_seen_for_long_is_used_and_asked_for() {
        let mut neighbours = Neighbours::default();
        neighbours.learn(host(), MAC, 0);
        assert_eq!(neighbours.resolve(host(), 29 * SECOND_NS), Resolution::Known(MAC));
        assert_eq!(neighbours.resolve(host(), 31 * SECOND_NS), Resolution::Stale(MAC));
        assert_eq!(neighbours.resolve(host(), 31 * SECOND_NS + 1), Resolution::Known(MAC), "asked just now");
        let other = [2, 0, 0, 0, 0, 2];
        neighbours.learn(host(), other, 32 * SECOND_NS);
        assert_eq!(neighbours.resolve(host(), 33 * SECOND_NS), Resolution::Known(other));
    }
}
