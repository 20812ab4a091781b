//! Which hosts and devices are at switches, and which station of the model each Ethernet address is.

use crate::device::{Mac, node_of, stations};
use longhaul_network::NodeId;
use longhaul_plan::{NodeKind, Plan};
use std::collections::HashMap;

/// Most addresses that are distinguished; frames for others go everywhere, and nothing is learned from theirs.
const MOST: u32 = 1 << 16;

/// Stations of the Ethernet segments of a run.
#[derive(Debug, Default)]
pub struct Stations {
    /// By node: whether its link leads to a switch.
    at_switch: Vec<bool>,
    /// Addresses of which frames were seen and that are no node's.
    others: HashMap<Mac, NodeId>,
}

impl Stations {
    /// Those of `plan`.
    pub fn of(plan: &Plan) -> Self {
        let at_switch = plan
            .has_switches()
            .then(|| (0..plan.nodes.len()).map(|node| plan.switch_at(node).is_some()).collect());
        Stations { at_switch: at_switch.unwrap_or_default(), others: HashMap::new() }
    }

    /// Whether what a node sends and receives are frames of a segment.
    #[inline]
    pub fn contains(&self, node: usize) -> bool {
        self.at_switch.get(node).is_some_and(|&at_switch| at_switch)
    }

    /// Destination and source of a frame with this link-layer header.
    pub fn ends(&mut self, plan: &Plan, link_header: &[u8]) -> (NodeId, NodeId) {
        let (destination, source) = stations(link_header).unwrap_or_default();
        (self.station(plan, destination), self.station(plan, source))
    }

    /// The router of the model that a frame with this link-layer header is for.
    pub fn router(plan: &Plan, link_header: &[u8]) -> Option<usize> {
        let (destination, _) = stations(link_header)?;
        node_of(plan, destination).filter(|&node| plan.nodes[node].kind == NodeKind::Router)
    }

    /// The address of a station that a frame was seen of.
    pub fn mac_of(&self, station: NodeId) -> Option<Mac> {
        self.others.iter().find(|(_, each)| **each == station).map(|(mac, _)| *mac)
    }

    fn station(&mut self, plan: &Plan, mac: Mac) -> NodeId {
        if let Some(node) = node_of(plan, mac) {
            return NodeId(node as u32);
        }
        let next = self.others.len() as u32;
        if let Some(&known) = self.others.get(&mac) {
            return known;
        }
        if next >= MOST {
            return NodeId::group(MOST);
        }
        let is_group = mac[0] & 1 != 0;
        let station = if is_group { NodeId::group(next) } else { NodeId::foreign_station(next) };
        self.others.insert(mac, station);
        station
    }
}
