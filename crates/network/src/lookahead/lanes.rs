use super::channel::Channel;
use super::serve::Merge;
use super::{Exit, Lane, Lookahead, NONE};
use crate::Network;
use crate::packet::{DirectionId, NodeId};
use longhaul_units::Time;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Longer paths than this might cost a packet its TTL.
const LONGEST_PATH: usize = 60;

impl Network {
    /// Gets ready to look ahead for packets that hosts send between these nodes, and nowhere else, none
    /// larger than the MTU of its path. Returns whether that can be at all: not if the path depends on the flow.
    pub fn plan_lookahead(&mut self, ways: impl Iterator<Item = (NodeId, NodeId)>) -> bool {
        self.lookahead = None;
        if self.forwards_in_hosts() || self.switches.is_some() {
            // Links of hosts that forward are fed by hosts and by links at once; switches lower no TTL.
            return false;
        }
        let (mut feeds, mut ends) = (BTreeSet::new(), BTreeSet::new());
        let mut paths = Vec::new();
        for (from, to) in ways.collect::<BTreeSet<_>>() {
            let path = self.path(from, to).unwrap_or_default();
            let (Some(&first), Some(&last)) = (path.first(), path.last()) else { return false };
            if path.len() > LONGEST_PATH
                || !self.routes.is_single_path(from, to)
                || !self.kinds[to.0 as usize].is_end()
                || self.directions[last.0 as usize].to != to
            {
                return false;
            }
            ends.extend([(from, first), (to, last)]);
            feeds.extend(path.windows(2).map(|pair| (pair[1], pair[0])));
            paths.push((to, path));
        }
        // A shard has the nodes of one part of each path, or of several.
        ends.retain(|&(host, _)| self.owns_node(host));
        feeds.retain(|&(next, _)| self.owns(next));
        let mut ahead = self.lanes(&ends, &feeds);
        for (to, path) in &paths {
            self.lead(&mut ahead, path, *to);
        }
        for (entry, horizon) in self.entry_horizons() {
            ahead.set_horizon(entry, horizon);
        }
        self.lookahead = Some(Box::new(ahead));
        true
    }

    /// Lanes for these ends (a host, and a direction from or to it) and feeds (a direction, and one that
    /// packets come from).
    fn lanes(
        &self,
        ends: &BTreeSet<(NodeId, DirectionId)>,
        feeds: &BTreeSet<(DirectionId, DirectionId)>,
    ) -> Lookahead {
        let nodes = self.kinds.len();
        let mut lanes = Vec::with_capacity(self.directions.len());
        lanes.resize_with(self.directions.len(), || Lane { to_host: NONE, sole: NONE, ..Lane::default() });
        let mut channels = Vec::new();
        let mut open = |from: u32| {
            channels.push(Channel::new(from));
            channels.len() as u32 - 1
        };
        for &(next, from) in feeds {
            let channel = open(from.0);
            lanes[next.0 as usize].inputs.push(channel);
            lanes[from.0 as usize].outputs.push(channel);
        }
        let mut inboxes = vec![Vec::new(); nodes];
        let mut exits: Vec<Vec<u32>> = vec![Vec::new(); nodes];
        for &(host, direction) in ends {
            let lane = &mut lanes[direction.0 as usize];
            if self.directions[direction.0 as usize].to == host {
                lane.to_host = open(direction.0);
                inboxes[host.0 as usize].push(lane.to_host);
            } else {
                lane.host = Some(host);
                let entrance = open(NONE);
                lane.inputs.push(entrance);
                exits[host.0 as usize].push(entrance);
            }
        }
        for &exit in self.exits() {
            // What leaves the shard is taken from there, as if by a host at the far end.
            lanes[exit.0 as usize].to_host = open(exit.0);
        }
        let sole = |exits: &Vec<u32>| if let [only] = exits[..] { only } else { NONE };
        let entrances = exits.iter().map(sole).collect();
        for lane in &mut lanes {
            let mut outputs = lane.all_outputs().copied();
            if let (Some(only), None) = (outputs.next(), outputs.next()) {
                drop(outputs);
                lane.sole = only;
            }
        }
        let starts =
            ends.iter().filter(|(host, direction)| self.directions[direction.0 as usize].to != *host);
        let starts = starts.map(|&(_, direction)| direction).chain(self.entries().iter().copied());
        let mut order = in_order(starts, feeds);
        order.retain(|&direction| self.owns(DirectionId(direction)));
        Lookahead {
            active: false,
            entries: self.entries().iter().map(|entry| entry.0).collect(),
            exits: self
                .exits()
                .iter()
                .map(|&direction| Exit { direction, not_due: VecDeque::new() })
                .collect(),
            lanes,
            channels,
            horizons: vec![Time::ZERO; self.directions.len()],
            merge: Merge::default(),
            order,
            entrances,
            inboxes,
            clocks: vec![Time::ZERO; nodes],
        }
    }
}

impl Network {
    /// In `ahead`, packets for `destination` take `path`, as far as it leads through this shard.
    fn lead(&self, ahead: &mut Lookahead, path: &[DirectionId], destination: NodeId) {
        for (step, &direction) in path.iter().enumerate() {
            let lane = &ahead.lanes[direction.0 as usize];
            if lane.sole != NONE {
                continue;
            }
            let onward = path.get(step + 1).filter(|&&next| self.owns(next));
            let channel = onward.map_or(lane.to_host, |next| {
                let inputs = &ahead.lanes[next.0 as usize].inputs;
                let from = |&&input: &&u32| ahead.channels[input as usize].from == direction.0;
                inputs.iter().find(from).copied().unwrap_or(NONE)
            });
            if channel != NONE {
                ahead.lanes[direction.0 as usize].onward.insert(destination, channel);
            }
        }
    }
}

/// All directions that packets from `starts` take, each before those that it feeds, but where they feed
/// each other in a circle.
fn in_order(
    starts: impl Iterator<Item = DirectionId>,
    feeds: &BTreeSet<(DirectionId, DirectionId)>,
) -> Vec<u32> {
    let mut fed: BTreeMap<DirectionId, Vec<DirectionId>> = BTreeMap::new();
    for &(next, from) in feeds {
        fed.entry(from).or_default().push(next);
    }
    let (mut seen, mut left) = (BTreeSet::new(), Vec::new());
    for start in starts {
        if !seen.insert(start) {
            continue;
        }
        // Depth first; a direction is left after all that it leads to.
        let mut open = vec![(start, 0)];
        while let Some((at, nth)) = open.last_mut() {
            let next = fed.get(at).and_then(|all| all.get(*nth)).copied();
            *nth += 1;
            match next {
                Some(next) if seen.insert(next) => open.push((next, 0)),
                Some(_) => {}
                None => {
                    left.push(at.0);
                    open.pop();
                }
            }
        }
    }
    left.reverse();
    left
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directions_come_before_those_that_they_feed() {
        let of = |pairs: &[(u32, u32)]| {
            pairs.iter().map(|&(from, next)| (DirectionId(next), DirectionId(from))).collect()
        };
        let starts = || [7, 0].map(DirectionId).into_iter();
        let order = in_order(starts(), &of(&[(7, 3), (0, 3), (3, 5), (5, 1), (3, 1)]));
        let place = |direction: u32| order.iter().position(|&each| each == direction).unwrap();
        assert_eq!(order.len(), 5);
        for (from, next) in [(7, 3), (0, 3), (3, 5), (5, 1), (3, 1)] {
            assert!(place(from) < place(next), "{from} before {next} in {order:?}");
        }
    }

    #[test]
    fn a_circle_is_gone_through_once() {
        let feeds = [(1, 0), (2, 1), (0, 2)].map(|(next, from)| (DirectionId(next), DirectionId(from)));
        assert_eq!(in_order([DirectionId(0)].into_iter(), &feeds.into_iter().collect()), [0, 1, 2]);
    }
}
