//! Ethernet segments between bridged devices: where each frame goes.
//!
//! A segment works as a virtual private LAN service does (RFC 4762): frames go to the device behind which their
//! destination was seen, all others to every device of the segment but their own. Where devices of a segment are on several machines, each
//! learns from what comes to its own.

use crate::device::{Mac, stations};
use longhaul_network::{LearningTable, Sighting};
use longhaul_plan::{Plan, Port};
use longhaul_units::Time;
use std::collections::HashMap;

/// Where a frame goes.
#[derive(Debug, PartialEq, Eq)]
pub enum Forwarding<'a> {
    /// To all these devices, by their nodes.
    To(&'a [usize]),
    /// Nowhere: its destination is behind the device where it came from.
    Local,
    /// Nowhere: its sender is behind two devices at once, or is a device, so that it would circulate for ever.
    Looped {
        /// The other device, if the loop was not known before this frame.
        found_at: Option<usize>,
    },
}

/// All segments of a run.
#[derive(Debug, Default)]
pub struct Bridges {
    /// By node: its segment, and the other devices of this.
    ends: HashMap<usize, (usize, Vec<usize>)>,
    /// Addresses of the devices themselves. The machine sends by them what the run does not see, and which comes to
    /// another device only in a loop.
    pub devices: HashMap<Mac, usize>,
    /// Nodes of devices whose own frames were seen.
    seen_devices: Vec<usize>,
    /// By segment and address: the node of the device behind which a station is.
    stations: LearningTable<(usize, Mac), usize>,
    /// Room for the only device that a frame goes to.
    only: [usize; 1],
    /// By node: frames that went nowhere.
    local: HashMap<usize, u64>,
    looped: HashMap<usize, u64>,
}

impl Bridges {
    /// The segments of `plan`; devices at a switch belong to this.
    pub fn of(plan: &Plan) -> Self {
        let segment_of = |node: usize| match &plan.nodes[node].port {
            Some(Port::Bridged { segment, .. }) if plan.switch_at(node).is_none() => Some(*segment),
            _ => None,
        };
        let nodes = || 0..plan.nodes.len();
        let ends = nodes().filter_map(|node| {
            let segment = segment_of(node)?;
            let others = nodes().filter(|&other| other != node && segment_of(other) == Some(segment));
            Some((node, (segment, others.collect())))
        });
        Bridges { ends: ends.collect(), ..Bridges::default() }
    }

    /// Whether a node is a device of a segment.
    pub fn contains(&self, node: usize) -> bool {
        self.ends.contains_key(&node)
    }

    /// Where a frame with this link-layer header goes that arrived at the device of `node`.
    pub fn forward(&mut self, now: Time, node: usize, link_header: &[u8]) -> Forwarding<'_> {
        let Some(segment) = self.ends.get(&node).map(|(segment, _)| *segment) else {
            return Forwarding::To(&[]);
        };
        let (destination, source) = stations(link_header).unwrap_or_default();
        if let Sighting::Looped { found_at } = self.learn(now, node, (segment, source)) {
            self.looped.entry(node).and_modify(|frames| *frames += 1).or_insert(1);
            return Forwarding::Looped { found_at };
        }
        match self.stations.port_of(now, &(segment, destination)) {
            Some(known) if known == node => {
                self.local.entry(node).and_modify(|frames| *frames += 1).or_insert(1);
                Forwarding::Local
            }
            Some(known) => {
                self.only = [known];
                Forwarding::To(&self.only)
            }
            None => Forwarding::To(self.ends.get(&node).map_or(&[], |(_, others)| others)),
        }
    }

    /// How many frames that arrived at the device of `node` went nowhere: their destination was behind it, or their
    /// sender behind two devices.
    pub fn not_forwarded(&self, node: usize) -> (u64, u64) {
        let of = |counts: &HashMap<usize, u64>| counts.get(&node).copied().unwrap_or(0);
        (of(&self.local), of(&self.looped))
    }

    /// Notes that the sender of a frame with this link-layer header is behind `device`, which is on another machine or another
    /// engine thread.
    pub fn learn_elsewhere(&mut self, now: Time, device: usize, link_header: &[u8]) {
        if let (Some((segment, _)), Some((_, source))) = (self.ends.get(&device), stations(link_header)) {
            // Frames of a loop are dropped where they come in.
            self.learn(now, device, (*segment, source));
        }
    }

    /// Notes where a station is.
    fn learn(&mut self, now: Time, node: usize, key: (usize, Mac)) -> Sighting<usize> {
        if is_group(key.1) {
            return Sighting::Possible;
        }
        if let Some(&device) = self.devices.get(&key.1) {
            let is_known = self.seen_devices.contains(&device);
            if !is_known {
                self.seen_devices.push(device);
            }
            return Sighting::Looped { found_at: (!is_known).then_some(device) };
        }
        self.stations.learn(now, node, key)
    }
}

/// Whether a frame is for several stations.
fn is_group(address: Mac) -> bool {
    address[0] & 1 != 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use longhaul_units::Span;

    const ALL: Mac = [0xff; 6];
    const A: Mac = [2, 0, 0, 0, 0, 1];
    const B: Mac = [2, 0, 0, 0, 0, 2];

    fn three() -> Bridges {
        let ends = [(1, vec![2, 3]), (2, vec![1, 3]), (3, vec![1, 2])];
        Bridges { ends: ends.map(|(node, others)| (node, (0, others))).into(), ..Bridges::default() }
    }

    fn header(to: Mac, from: Mac) -> Vec<u8> {
        [&to[..], &from, &[8, 0]].concat()
    }

    fn at(s: u64) -> Time {
        Time::ZERO + Span::from_s(s)
    }

    #[test]
    fn frames_go_everywhere_until_their_destination_was_seen() {
        let mut bridges = three();
        assert_eq!(bridges.forward(at(0), 1, &header(ALL, A)), Forwarding::To(&[2, 3]));
        assert_eq!(bridges.forward(at(0), 1, &header(B, A)), Forwarding::To(&[2, 3]));
        assert_eq!(bridges.forward(at(0), 3, &header(A, B)), Forwarding::To(&[1]));
        assert_eq!(bridges.forward(at(0), 1, &header(B, A)), Forwarding::To(&[3]));
        assert_eq!(bridges.forward(at(0), 3, &header(B, [2, 0, 0, 0, 0, 9])), Forwarding::Local);
        assert_eq!(bridges.forward(at(301), 1, &header(B, A)), Forwarding::To(&[2, 3]), "forgotten");
    }

    #[test]
    fn stations_of_other_machines_are_known_by_their_frames() {
        let mut bridges = three();
        bridges.learn_elsewhere(at(0), 2, &header(ALL, B));
        assert_eq!(bridges.forward(at(0), 1, &header(B, A)), Forwarding::To(&[2]));
        bridges.learn_elsewhere(at(0), 9, &header(ALL, A));
        assert_eq!(bridges.forward(at(0), 3, &header(A, B)), Forwarding::To(&[1]), "9 is not a device");
    }

    #[test]
    fn frames_of_the_devices_themselves_are_in_a_loop() {
        let mut bridges = three();
        bridges.devices.insert(B, 2);
        assert_eq!(bridges.forward(at(0), 1, &header(ALL, B)), Forwarding::Looped { found_at: Some(2) });
        assert_eq!(bridges.forward(at(0), 1, &header(ALL, B)), Forwarding::Looped { found_at: None });
        assert_eq!(bridges.not_forwarded(1), (0, 2));
    }

    #[test]
    fn a_station_may_move_but_not_for_ever() {
        let mut bridges = three();
        bridges.forward(at(0), 1, &header(ALL, A));
        assert_eq!(bridges.forward(at(1), 2, &header(ALL, A)), Forwarding::To(&[1, 3]));
        assert_eq!(bridges.forward(at(1), 3, &header(A, B)), Forwarding::To(&[2]));
        for (move_, node) in [1, 2, 1].into_iter().enumerate() {
            assert!(matches!(bridges.forward(at(1), node, &header(ALL, A)), Forwarding::To(_)), "{move_}");
        }
        assert_eq!(bridges.forward(at(1), 2, &header(ALL, A)), Forwarding::Looped { found_at: Some(1) });
        assert_eq!(bridges.forward(at(1), 1, &header(ALL, A)), Forwarding::Looped { found_at: None });
        assert_eq!(
            bridges.forward(at(1), 3, &header(ALL, B)),
            Forwarding::To(&[1, 2]),
            "others are not concerned"
        );
        assert_eq!(
            bridges.forward(at(182), 1, &header(ALL, A)),
            Forwarding::To(&[2, 3]),
            "the loop was opened"
        );
    }
}
