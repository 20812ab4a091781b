//! Packets that left the network at a routed device and come back in at one: hosts and routers outside of the run have
//! a loop, or a way around it.
//!
//! A packet came from behind a device only if the route to its source leads there (RFC 3704, section 2.2: strict reverse
//! path forwarding). What has its source elsewhere in the run, and its destination behind the device where it comes in,
//! was sent there by the run, and would be again, until its TTL is zero.

use std::collections::{HashMap, HashSet};
use std::net::IpAddr;

/// Where a packet that came in belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Returned {
    /// The node that has the source address, or that has it behind itself.
    pub home: usize,
    /// Whether the packet ends here, as it would leave by the same device.
    pub is_lost: bool,
}

/// What came back in at each device.
#[derive(Debug, Default)]
pub struct ReturnedPackets {
    packets: HashMap<usize, u64>,
    reported: HashSet<(usize, Returned)>,
}

impl ReturnedPackets {
    /// Counts `packets` at the device of `node`; returns whether they are the first ones of their kind there.
    pub fn count(&mut self, node: usize, returned: Returned, packets: u64) -> bool {
        *self.packets.entry(node).or_default() += packets;
        self.reported.insert((node, returned))
    }

    /// How many there were at the device of `node`.
    pub fn at(&self, node: usize) -> u64 {
        self.packets.get(&node).copied().unwrap_or_default()
    }
}

/// The warning about packets with these addresses, whose source is at `home`, at the port of host `device`.
pub fn packets_warning(
    (source, destination): (IpAddr, IpAddr),
    device: &str,
    home: &str,
    is_lost: bool,
) -> String {
    if is_lost {
        format!(
            "packets from {source} to {destination} are lost: a router behind {device} returns them to its gateway, which \
             is a routing loop; correct the routes to {destination} there"
        )
    } else {
        format!(
            "packets from {source} come in at {device}, and that address is at {home}: a network outside of the run joins \
             the two; correct the routes behind {device}, or disconnect them"
        )
    }
}

/// The warning about frames of the device of host `other` that came in at the port of host `device`.
pub fn frames_warning(device: &str, other: &str) -> String {
    if device == other {
        return format!(
            "frames that {device} sent come back to it: the Ethernet behind it has a loop; remove it"
        );
    }
    let mut both = [device, other];
    both.sort_unstable();
    let [one, other] = both;
    format!(
        "{one} and {other} are on one Ethernet segment: hosts behind them reach each other without the run; disconnect one"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_of_return_at_a_device_is_reported_once_and_counted_each_time() {
        let mut packets = ReturnedPackets::default();
        let lost = Returned { home: 2, is_lost: true };
        assert!(packets.count(1, lost, 1));
        assert!(!packets.count(1, lost, 3));
        assert!(packets.count(1, Returned { is_lost: false, ..lost }, 1));
        assert!(packets.count(4, lost, 1));
        assert_eq!((packets.at(1), packets.at(4), packets.at(2)), (5, 1, 0));
    }

    #[test]
    fn two_devices_of_one_segment_are_one_sentence_in_either_order() {
        assert_eq!(frames_warning("west", "east"), frames_warning("east", "west"));
        assert!(frames_warning("west", "west").contains("come back to it"));
    }
}
