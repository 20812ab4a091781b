//! Interfaces at switches: where they send packets for each destination.

use crate::device::SegmentEnd;
use crate::error::Result;
use crate::host::addresses;
use crate::netlink::{Netlink, Route};
use longhaul_network::{NodeId, Routes, Topology};
use longhaul_plan::{Node, NodeKind, Plan, Port, Subnet, Way};
use std::collections::BTreeMap;
use std::net::IpAddr;

/// An interface at a switch, with the neighbours on its segment that packets go to.
#[derive(Debug)]
pub struct Segment {
    interface: usize,
    /// Who takes packets for all destinations that are not listed.
    gateway: Option<usize>,
    /// By destination, who takes packets for it: itself if it is on the segment.
    next_hops: BTreeMap<usize, usize>,
}

/// What an interface at a switch is to its segment; `None` for any other node. IP packets from elsewhere come by the
/// segment's router, or by the switch itself if there is none.
pub fn end_of(plan: &Plan, interface: usize) -> Option<SegmentEnd> {
    let switch = plan.switch_at(interface)?;
    let segment = Segment::of(plan, &Routes::new(&Topology::of(plan)), interface)?;
    Some(SegmentEnd::new(interface, segment.gateway.unwrap_or(switch)))
}

impl Segment {
    /// That of an interface, over the shortest paths of a plan; `None` if its link leads to something else.
    pub fn of(plan: &Plan, routes: &Routes, interface: usize) -> Option<Self> {
        plan.switch_at(interface)?;
        let own = plan.owner(interface);
        let mut next_hops = BTreeMap::new();
        let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
        for destination in (0..plan.nodes.len()).filter(|&node| plan.owner(node) != own) {
            let Some(next) = next_hop(plan, routes, interface, destination) else { continue };
            next_hops.insert(destination, next);
            if next != destination {
                *counts.entry(next).or_default() += 1;
            }
        }
        let outside = plan.gateway.and_then(|gateway| next_hops.get(&gateway).copied());
        let most = counts.into_iter().max_by_key(|&(node, count)| (count, std::cmp::Reverse(node)));
        let gateway = outside.or(most.map(|(node, _)| node));
        next_hops.retain(|destination, next| Some(*next) != gateway || next == destination);
        Some(Segment { interface, gateway, next_hops })
    }

    /// `route` by the neighbour that takes packets for `destination`, if that is not `destination` itself.
    pub fn route_to(&self, plan: &Plan, destination: usize, route: Route) -> Route {
        let next = self.next_hops.get(&destination).copied().or(self.gateway);
        Route {
            gateway: next
                .filter(|&next| next != destination)
                .and_then(|next| of_family(plan, next, route.source)),
            ..route
        }
    }

    /// Adds a default route to the table of `route`, and routes to all that it does not lead to, but for the interface's
    /// own network if the kernel has `connected` that in the table.
    pub fn add_routes(&self, netlink: &Netlink, plan: &Plan, route: Route, connected: bool) -> Result<()> {
        let own = &plan.nodes[self.interface];
        let network = network_of(own, route.source);
        if let Some(network) = network.filter(|_| !connected) {
            netlink.add_subnet_route(&Route { destination: Some(network.address), ..route }, network.bits)?;
        }
        for &destination in self.next_hops.keys() {
            let by_neighbour = self.route_to(plan, destination, route);
            let node = &plan.nodes[destination];
            for address in addresses(node).filter(|address| address.is_ipv4() == route.source.is_ipv4()) {
                let is_connected = network.is_some_and(|network| network.contains(address));
                if by_neighbour.gateway.is_some() || !is_connected {
                    netlink.add_route(&Route { destination: Some(address), ..by_neighbour })?;
                }
            }
            let behind = node.port.iter().flat_map(Port::subnets);
            for subnet in behind.filter(|subnet| subnet.address.is_ipv4() == route.source.is_ipv4()) {
                let to_subnet = Route { destination: Some(subnet.address), ..by_neighbour };
                netlink.add_subnet_route(&to_subnet, subnet.bits)?;
            }
        }
        match self.gateway.and_then(|gateway| of_family(plan, gateway, route.source)) {
            Some(gateway) => netlink.add_route(&Route { gateway: Some(gateway), ..route }),
            None => Ok(()),
        }
    }
}

/// Gives the interface `node`, with this index, an address in the network of its segment.
pub fn add_address(netlink: &Netlink, index: u32, node: &Node, address: IpAddr) -> Result<()> {
    match network_of(node, address) {
        Some(network) => netlink.add_network_address(index, address, network.bits),
        None => netlink.add_address(index, address),
    }
}

/// The network of a node's address of the family of `like`, with that address.
fn network_of(node: &Node, like: IpAddr) -> Option<Subnet> {
    let bits = node.segment?;
    let address = addresses(node).find(|address| address.is_ipv4() == like.is_ipv4())?;
    let bits = if address.is_ipv4() { bits.ipv4 } else { bits.ipv6 };
    let first = match address {
        IpAddr::V4(address) => {
            IpAddr::V4((address.to_bits() & u32::MAX.checked_shl(32 - u32::from(bits)).unwrap_or(0)).into())
        }
        IpAddr::V6(address) => {
            IpAddr::V6((address.to_bits() & u128::MAX.checked_shl(128 - u32::from(bits)).unwrap_or(0)).into())
        }
    };
    Some(Subnet { address: first, bits, via: None })
}

/// The address of a node of the family of `like`.
fn of_family(plan: &Plan, node: usize, like: IpAddr) -> Option<IpAddr> {
    addresses(&plan.nodes[node]).find(|address| address.is_ipv4() == like.is_ipv4())
}

/// The first node that is not a switch on the path from an interface, if that path begins there.
fn next_hop(plan: &Plan, routes: &Routes, interface: usize, destination: usize) -> Option<usize> {
    let path = routes.path(NodeId(interface as u32), NodeId(destination as u32))?;
    let ends = |direction: &longhaul_network::DirectionId| {
        let [a, b] = plan.links[direction.link()].endpoints;
        if direction.way() == Way::Forward { (a, b) } else { (b, a) }
    };
    if path.first().map(ends)?.0 != interface {
        return None;
    }
    let found = path
        .iter()
        .map(|direction| ends(direction).1)
        .find(|&node| plan.nodes[node].kind != NodeKind::Switch)?;
    // A path may lead to another interface of the same host.
    Some(if plan.owner(found) == plan.owner(destination) { destination } else { found })
}
