//! Hosts that forward packets of others: the interfaces that they choose themselves, and the wires between them.

use crate::Sink;
use crate::network::Network;
use crate::packet::{Fate, Message, NodeId, Packet};
use longhaul_units::Time;

impl Network {
    /// Where everything that leaves the interface `node` arrives, whatever its destination: the other end of a link that
    /// joins two hosts, one of which forwards. `None` for any other node.
    pub fn wired_to(&self, node: NodeId) -> Option<NodeId> {
        let far = self.neighbour(node)?;
        let (here, there) = (node.0 as usize, far.0 as usize);
        let are_ends = self.kinds[here].is_end() && self.kinds[there].is_end();
        (are_ends && (self.forwarding[here] || self.forwarding[there])).then_some(far)
    }

    /// Whether `node` is a host that forwards packets of others, or an interface of one.
    pub fn is_forwarding(&self, node: NodeId) -> bool {
        self.forwarding[node.0 as usize]
    }

    /// Whether any host forwards packets of others.
    pub(crate) fn forwards_in_hosts(&self) -> bool {
        self.forwarding.contains(&true)
    }

    /// Whether `destination` is `node` or an interface of the same host.
    pub fn is_same_host(&self, node: NodeId, destination: NodeId) -> bool {
        self.routes.is_same_host(node, destination)
    }

    /// The node at the far end of a node's first link.
    pub(crate) fn neighbour(&self, node: NodeId) -> Option<NodeId> {
        self.uplinks[node.0 as usize].map(|direction| self.directions[direction.0 as usize].to)
    }

    /// Takes a packet that a host sends by its interface `node`, which it has chosen itself; it may be of another source.
    /// Without a `routable` destination, the node at the other end of its link refuses it.
    pub fn inject_at(
        &mut self,
        now: Time,
        node: NodeId,
        packet: Packet,
        routable: bool,
        sink: &mut impl Sink,
    ) {
        self.advance(now, sink);
        self.totals.injected += 1;
        match (self.uplinks[node.0 as usize], self.neighbour(node)) {
            (Some(direction), Some(_)) if routable => self.forward_by(direction, node, packet, now, sink),
            (_, far) => {
                let speaker = far.unwrap_or(node);
                self.refuse(speaker, packet, Fate::NoRoute, Message::NoRoute, now, sink);
            }
        }
    }
}
