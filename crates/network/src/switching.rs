//! Switches: by which links each Ethernet frame leaves, and what routers at a switch do with frames.
//!
//! A switch is a bridge of IEEE 802.1Q without VLANs of its own: it learns which stations are behind each of its links,
//! sends frames for a station that it knows to the link of this, and all others to every link but the one that they
//! came by. Tags, types and addresses pass unchanged. IP packets that a router of the model has forwarded have no
//! Ethernet header; switches pass them along the routes, as do simulated packets.

use crate::learning::{LearningTable, Sighting};
use crate::network::Network;
use crate::packet::{DirectionId, Fate, Flags, Message, NodeId, Packet};
use crate::route_inputs::RouteInputs;
use crate::sink::Sink;
use longhaul_plan::NodeKind;
use longhaul_units::Time;
use std::collections::BTreeMap;

/// All switches of a network.
#[derive(Debug, Default)]
pub(crate) struct Switches {
    /// The links of each switch, away from it.
    ports: BTreeMap<NodeId, Vec<DirectionId>>,
    /// By switch and station: the link behind which the station is.
    table: LearningTable<(NodeId, NodeId), DirectionId>,
    /// Room for the links that a frame leaves by.
    leaving: Vec<DirectionId>,
    loops: Vec<SwitchLoop>,
}

/// A station that a switch sees behind two of its links at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SwitchLoop {
    /// The switch.
    pub switch: NodeId,
    /// The station, as frames have it.
    pub station: NodeId,
    /// The two links, away from the switch.
    pub links: [DirectionId; 2],
}

impl Switches {
    /// Those of a network, if it has any.
    pub(crate) fn of(inputs: &RouteInputs) -> Option<Box<Self>> {
        let topology = &inputs.topology;
        let mut ports: BTreeMap<NodeId, Vec<DirectionId>> = BTreeMap::new();
        for (node, _) in topology.nodes.iter().enumerate().filter(|(_, kind)| **kind == NodeKind::Switch) {
            ports.insert(NodeId(node as u32), Vec::new());
        }
        for (link, edge) in topology.links.iter().enumerate() {
            for (end, way) in edge.endpoints.into_iter().zip([0, 1]) {
                if let Some(own) = ports.get_mut(&NodeId(end as u32)) {
                    own.push(DirectionId(2 * link as u32 + way));
                }
            }
        }
        (!ports.is_empty()).then(|| Box::new(Switches { ports, ..Switches::default() }))
    }
}

impl Network {
    /// The loops that were found since the last call.
    pub fn take_switch_loops(&mut self) -> Vec<SwitchLoop> {
        self.switches.as_mut().map(|switches| std::mem::take(&mut switches.loops)).unwrap_or_default()
    }

    /// Whether this node takes the packet as an Ethernet frame, or is a switch.
    #[inline(always)]
    pub(crate) fn is_switched(&self, node: NodeId, packet: &Packet) -> bool {
        self.switches.is_some()
            && (packet.flags.has(Flags::FRAME) || self.kinds[node.0 as usize] == NodeKind::Switch)
    }

    /// Takes what arrives at a switch, or a frame that arrives anywhere.
    #[inline(never)]
    pub(crate) fn arrive_at_segment(
        &mut self,
        node: NodeId,
        packet: Packet,
        at: Time,
        via: DirectionId,
        sink: &mut impl Sink,
    ) {
        match self.kinds[node.0 as usize] {
            NodeKind::Switch if packet.flags.has(Flags::FRAME) => self.switch(node, packet, at, via, sink),
            NodeKind::Switch => {
                if self.uplinks[packet.source.0 as usize] == Some(via)
                    && let Some(switches) = &mut self.switches
                {
                    // A station that sends to routers alone is there, too.
                    switches.table.learn(at, via.opposite(), (node, packet.source));
                }
                self.forward(node, packet, at, sink);
            }
            NodeKind::Router => self.arrive_at_router(node, packet, at, via, sink),
            // Its own device decides whether it takes a frame for another station.
            NodeKind::Host | NodeKind::Interface => self.deliver(node, packet, at, Some(via), sink),
        }
    }

    /// Sends a frame that arrives at a switch on.
    fn switch(&mut self, node: NodeId, packet: Packet, at: Time, via: DirectionId, sink: &mut impl Sink) {
        let Some(switches) = &mut self.switches else { return };
        let port = via.opposite();
        if !packet.source.is_group()
            && let Sighting::Looped { found_at } = switches.table.learn(at, port, (node, packet.source))
        {
            if let Some(other) = found_at {
                let links = [port, other];
                switches.loops.push(SwitchLoop { switch: node, station: packet.source, links });
            }
            return self.end(packet, Fate::Looped, at, None, sink);
        }
        let links = &self.route_inputs.topology.links;
        let is_present = |direction: &DirectionId| links[direction.link()].present;
        let is_known = !packet.destination.is_group();
        let known = is_known.then(|| switches.table.port_of(at, &(node, packet.destination))).flatten();
        let mut leaving = std::mem::take(&mut switches.leaving);
        leaving.clear();
        if let Some(known) = known.filter(is_present) {
            leaving.extend((known != port).then_some(known));
        } else {
            let ports = switches.ports.get(&node).into_iter().flatten().copied();
            leaving.extend(ports.filter(|each| *each != port && is_present(each)));
        }
        if leaving.is_empty() {
            self.end(packet, Fate::Filtered, at, None, sink);
        }
        // All copies exist before the first one may end.
        for _ in 1..leaving.len() {
            self.totals.copied += 1;
            sink.copied(&packet);
        }
        for &direction in &leaving {
            self.forward_by(direction, node, packet, at, sink);
        }
        if let Some(switches) = &mut self.switches {
            switches.leaving = leaving;
        }
    }

    /// Takes a frame that arrives at a router of the model, which answers who has its addresses and ignores all else: IP
    /// packets for it come without Ethernet headers.
    fn arrive_at_router(
        &mut self,
        router: NodeId,
        packet: Packet,
        at: Time,
        via: DirectionId,
        sink: &mut impl Sink,
    ) {
        if packet.destination != router && !packet.destination.is_group() {
            return self.end(packet, Fate::Filtered, at, None, sink);
        }
        if let Some(reply) = sink.reply(router, &packet, Message::NeighbourReply) {
            self.totals.replies += 1;
            let answer = Packet {
                body: reply.body,
                segment: 0,
                segments: 1,
                bytes: reply.bytes,
                source: router,
                destination: packet.source,
                hops: 0,
                class: 0,
                flow: 0,
                damage: 0,
                offered: at,
                ..packet
            };
            self.forward_by(via.opposite(), router, answer, at, sink);
        }
        self.end(packet, Fate::Answered, at, None, sink);
    }

    /// Who says at `node` that a packet cannot be forwarded: a switch has no address, a router beside it has.
    pub(crate) fn speaker_at(&self, node: NodeId) -> NodeId {
        let Some(ports) = self.switches.as_ref().and_then(|switches| switches.ports.get(&node)) else {
            return node;
        };
        let mut ends = ports.iter().map(|direction| self.directions[direction.0 as usize].to);
        ends.find(|end| self.kinds[end.0 as usize] == NodeKind::Router).unwrap_or(node)
    }
}
