//! What a host asks of rtnetlink: an interface up, an address, a route, a rule. (The older ioctls would do, but
//! some ask for privilege over the whole machine.)

pub mod mptcp;

use crate::error::{Error, Result};
use netlink_packet_core::{
    NLM_F_ACK, NLM_F_CREATE, NLM_F_REPLACE, NLM_F_REQUEST, NetlinkDeserializable, NetlinkHeader,
    NetlinkMessage, NetlinkPayload, NetlinkSerializable,
};
use netlink_packet_route::address::{AddressAttribute, AddressFlags, AddressHeaderFlags, AddressMessage};
use netlink_packet_route::link::{LinkAttribute, LinkFlags, LinkMessage};
use netlink_packet_route::route::{
    RouteAttribute, RouteFlags, RouteHeader, RouteMessage, RouteMetric, RouteProtocol, RouteScope, RouteType,
};
use netlink_packet_route::rule::{RuleAction, RuleAttribute, RuleMessage};
use netlink_packet_route::{AddressFamily, RouteNetlinkMessage};
use netlink_sys::{Socket, protocols};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Of each request: an acknowledgement, and that an object which exists is replaced.
const FLAGS: u16 = NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE | NLM_F_REPLACE;

/// A route of a host.
#[derive(Clone, Copy, Debug)]
pub struct Route {
    /// Index of the interface that packets leave by.
    pub interface: u32,
    /// Source address of packets that have none yet; its family is the route's.
    pub source: IpAddr,
    /// The single destination; `None`: all.
    pub destination: Option<IpAddr>,
    /// The routing table.
    pub table: u32,
    /// The next hop, at the other end of the interface's link or on its segment; `None`: destinations are there
    /// themselves.
    pub gateway: Option<IpAddr>,
    /// First windows of TCP, in segments, if they are not the kernel's.
    pub initial_window: Option<u32>,
}

impl Route {
    /// The routing table of packets without a rule.
    pub const MAIN: u32 = RouteHeader::RT_TABLE_MAIN as u32;

    /// The main table's route of everything of the family of `source`.
    pub fn to_all(interface: u32, source: IpAddr, initial_window: Option<u32>) -> Self {
        Route { interface, source, destination: None, table: Self::MAIN, gateway: None, initial_window }
    }
}

/// A socket for requests in the network namespace that was current when it was opened.
pub struct Netlink {
    socket: Requests,
}

impl Netlink {
    /// Opens a socket.
    pub fn open() -> Result<Self> {
        Ok(Netlink { socket: Requests::open(protocols::NETLINK_ROUTE)? })
    }

    /// Brings interface `index` up, with an MTU and a queue length in packets where given.
    pub fn bring_up(&self, index: u32, sizes: Option<(u32, u32)>) -> Result<()> {
        if let Some((mtu, queue)) = sizes {
            // Of an interface that is up, a queue of another length would first drop what is in it.
            let mut sized = LinkMessage::default();
            sized.header.index = index;
            sized.attributes = vec![LinkAttribute::Mtu(mtu), LinkAttribute::TxQueueLen(queue)];
            self.call(RouteNetlinkMessage::SetLink(sized), "set the MTU of an interface")?;
        }
        self.call(RouteNetlinkMessage::SetLink(link(index, LinkFlags::Up)), "bring an interface up")
    }

    /// Lets interface `index` resolve no addresses: it has one neighbour, to whom everything goes (`IFF_NOARP`).
    pub fn without_neighbours(&self, index: u32) -> Result<()> {
        let message = RouteNetlinkMessage::SetLink(link(index, LinkFlags::Noarp));
        self.call(message, "leave out neighbour discovery")
    }

    /// Gives interface `index` the single address `address` (/32 or /128, no duplicate detection).
    pub fn add_address(&self, index: u32, address: IpAddr) -> Result<()> {
        self.add_peer_address(index, address, address)
    }

    /// Gives interface `index` the address `address` and a connected route to the address `peer` at the other end of its
    /// link (`ip address add ADDRESS peer PEER`).
    pub fn add_peer_address(&self, index: u32, address: IpAddr, peer: IpAddr) -> Result<()> {
        self.new_address(index, (address, peer), bits(address))
    }

    /// Gives interface `index` the address `address` in a network whose addresses share the first `bits` bits.
    pub fn add_network_address(&self, index: u32, address: IpAddr, bits: u8) -> Result<()> {
        self.new_address(index, (address, address), bits)
    }

    /// Gives interface `index` the link-local address `address`.
    pub fn add_link_local_address(&self, index: u32, address: Ipv6Addr) -> Result<()> {
        let address = IpAddr::V6(address);
        self.new_address(index, (address, address), 64)
    }

    fn new_address(&self, index: u32, (local, far): (IpAddr, IpAddr), prefix: u8) -> Result<()> {
        let mut message = AddressMessage::default();
        message.header.family = family(local);
        message.header.prefix_len = prefix;
        message.header.flags = AddressHeaderFlags::Permanent;
        message.header.index = index;
        message.attributes = vec![
            AddressAttribute::Local(local),
            AddressAttribute::Address(far),
            AddressAttribute::Flags(AddressFlags::Nodad | AddressFlags::Permanent),
        ];
        if let (IpAddr::V4(local), 1..=30) = (local, prefix) {
            let broadcast = Ipv4Addr::from_bits(local.to_bits() | u32::MAX >> prefix);
            message.attributes.push(AddressAttribute::Broadcast(broadcast));
        }
        self.call(RouteNetlinkMessage::NewAddress(message), "add an address")
    }

    /// Adds a route.
    pub fn add_route(&self, route: &Route) -> Result<()> {
        self.add_subnet_route(route, route.destination.map_or(0, bits))
    }

    /// Adds a route of all addresses that share the first `bits` bits with the route's destination.
    pub fn add_subnet_route(&self, route: &Route, bits: u8) -> Result<()> {
        let is_direct = route.source.is_ipv4() && route.gateway.is_none();
        let scope = if is_direct { RouteScope::Link } else { RouteScope::Universe };
        let mut message = to(route.source, route.destination, route.table, scope, RouteType::Unicast);
        message.header.destination_prefix_length = bits;
        message.attributes.push(RouteAttribute::Oif(route.interface));
        message.attributes.push(RouteAttribute::PrefSource(route.source.into()));
        if let Some(gateway) = route.gateway {
            // Its own address may be of another network than the interface's.
            message.header.flags |= RouteFlags::Onlink;
            message.attributes.push(RouteAttribute::Gateway(gateway.into()));
        }
        if let Some(segments) = route.initial_window {
            let metrics = vec![RouteMetric::InitCwnd(segments), RouteMetric::InitRwnd(segments)];
            message.attributes.push(RouteAttribute::Metrics(metrics));
        }
        self.call(RouteNetlinkMessage::NewRoute(message), "add a route")
    }

    /// Lets routing table `table` not decide about `destination`: the next rule does.
    pub fn add_throw_route(&self, destination: IpAddr, table: u32) -> Result<()> {
        let message = to(destination, Some(destination), table, RouteScope::Universe, RouteType::Throw);
        self.call(RouteNetlinkMessage::NewRoute(message), "add a route")
    }

    /// Packets from `source` follow routing table `table`.
    pub fn add_rule(&self, source: IpAddr, table: u32) -> Result<()> {
        let mut message = RuleMessage::default();
        message.header.family = family(source);
        message.header.src_len = bits(source);
        message.header.action = RuleAction::ToTable;
        message.attributes = vec![RuleAttribute::Source(source), RuleAttribute::Table(table)];
        self.call(RouteNetlinkMessage::NewRule(message), "add a routing rule")
    }

    fn call(&self, message: RouteNetlinkMessage, what: &str) -> Result<()> {
        self.socket.call(message, FLAGS, what).map(drop)
    }
}

/// The index of interface `name` in the current network namespace.
pub fn index_of(name: &str) -> Result<u32> {
    nix::net::if_::if_nametoindex(name).map_err(|error| Error::wrap(format!("find interface {name}"), error))
}

/// A netlink socket that waits for the answer to each request.
struct Requests(Socket);

impl Requests {
    fn open(protocol: isize) -> Result<Self> {
        Socket::new(protocol).map(Requests).map_err(|error| Error::wrap("open a netlink socket", error))
    }

    /// Sends a request; returns what the kernel answers, if that is more than that it was done.
    fn call<T: NetlinkSerializable + NetlinkDeserializable>(
        &self,
        message: T,
        flags: u16,
        what: &str,
    ) -> Result<Option<T>> {
        let mut header = NetlinkHeader::default();
        header.flags = flags;
        let mut request = NetlinkMessage::new(header, NetlinkPayload::InnerMessage(message));
        request.finalize();
        let mut bytes = vec![0; request.buffer_len()];
        request.serialize(&mut bytes);
        self.0.send(&bytes, 0).map_err(|error| Error::wrap(what, error))?;
        let (answer, _) = self.0.recv_from_full().map_err(|error| Error::wrap(what, error))?;
        let answer = NetlinkMessage::<T>::deserialize(&answer)
            .map_err(|error| Error::new(format!("cannot {what}: the kernel's answer is damaged: {error}")))?;
        match answer.payload {
            NetlinkPayload::Error(error) if error.code.is_some() => Err(Error::wrap(what, error.to_io())),
            NetlinkPayload::InnerMessage(message) => Ok(Some(message)),
            _ => Ok(None),
        }
    }
}

/// Sets a flag of an interface.
fn link(index: u32, flag: LinkFlags) -> LinkMessage {
    let mut message = LinkMessage::default();
    message.header.index = index;
    message.header.flags = flag;
    message.header.change_mask = flag;
    message
}

/// A route of the family of `like` in a table.
fn to(
    like: IpAddr,
    destination: Option<IpAddr>,
    table: u32,
    scope: RouteScope,
    kind: RouteType,
) -> RouteMessage {
    let mut message = RouteMessage::default();
    message.header.address_family = family(like);
    message.header.destination_prefix_length = destination.map_or(0, bits);
    message.header.protocol = RouteProtocol::Static;
    message.header.scope = scope;
    message.header.kind = kind;
    message.attributes = vec![RouteAttribute::Table(table)];
    message.attributes.extend(destination.map(|address| RouteAttribute::Destination(address.into())));
    message
}

fn family(address: IpAddr) -> AddressFamily {
    if address.is_ipv4() { AddressFamily::Inet } else { AddressFamily::Inet6 }
}

/// Length of the prefix that is a single address.
fn bits(address: IpAddr) -> u8 {
    if address.is_ipv4() { 32 } else { 128 }
}
