//! The requests of rtnetlink that a host needs: an interface up, an address, a route, a rule. (The
//! older ioctls would do, but some ask for privilege over the whole machine.)

use crate::error::{Error, Result};
use nix::sys::socket::{AddressFamily, MsgFlags, SockFlag, SockProtocol, SockType, recv, send, socket};
use std::net::IpAddr;
use std::os::fd::{AsRawFd, OwnedFd};

/// Of each request: an acknowledgement, and that an object which exists is replaced.
const FLAGS: u16 = (libc::NLM_F_REQUEST | libc::NLM_F_ACK | libc::NLM_F_CREATE | libc::NLM_F_REPLACE) as u16;
/// Of an attribute that holds attributes.
const NESTED: u16 = libc::NLA_F_NESTED as u16;
/// First windows of connections over a route, in segments (linux/rtnetlink.h).
const RTAX_INITCWND: u16 = 11;
const RTAX_INITRWND: u16 = 14;
/// Of rules: the action that names a table, the source, the table (`linux/fib_rules.h`).
const FR_ACT_TO_TBL: u8 = 1;
const FRA_SRC: u16 = 2;
const FRA_TABLE: u16 = 15;

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
    /// First windows of TCP, in segments, if they are not the kernel's.
    pub initial_window: Option<u32>,
}

impl Route {
    /// The main table's route of everything of the family of `source`.
    pub fn to_all(interface: u32, source: IpAddr, initial_window: Option<u32>) -> Self {
        Route { interface, source, destination: None, table: u32::from(libc::RT_TABLE_MAIN), initial_window }
    }
}

/// A request socket in the network namespace that was current when it was opened.
pub struct Netlink {
    socket: OwnedFd,
}

impl Netlink {
    /// Opens a socket.
    pub fn open() -> Result<Self> {
        let route = Some(SockProtocol::NetlinkRoute);
        socket(AddressFamily::Netlink, SockType::Raw, SockFlag::SOCK_CLOEXEC, route)
            .map(|socket| Netlink { socket })
            .map_err(|error| Error::wrap("open a netlink socket", error))
    }

    /// Brings interface `index` up, with an MTU and a queue length in packets where given.
    pub fn bring_up(&self, index: u32, sizes: Option<(u32, u32)>) -> Result<()> {
        let mut message = Message::new(libc::RTM_SETLINK);
        let up = (libc::IFF_UP as u32).to_ne_bytes();
        message.bytes(&[libc::AF_UNSPEC as u8, 0, 0, 0]);
        message.bytes(&index.to_ne_bytes());
        message.bytes(&up);
        message.bytes(&up);
        if let Some((mtu, queue)) = sizes {
            message.attribute(libc::IFLA_MTU, &mtu.to_ne_bytes());
            message.attribute(libc::IFLA_TXQLEN, &queue.to_ne_bytes());
        }
        self.call(message, "bring an interface up")
    }

    /// Lets interface `index` resolve no addresses: it has one neighbour, to whom everything goes (`IFF_NOARP`).
    pub fn without_neighbours(&self, index: u32) -> Result<()> {
        let mut message = Message::new(libc::RTM_SETLINK);
        let flag = (libc::IFF_NOARP as u32).to_ne_bytes();
        message.bytes(&[libc::AF_UNSPEC as u8, 0, 0, 0]);
        message.bytes(&index.to_ne_bytes());
        message.bytes(&flag);
        message.bytes(&flag);
        self.call(message, "leave out neighbour discovery")
    }

    /// Gives interface `index` the single address `address` (/32 or /128, no duplicate detection).
    pub fn add_address(&self, index: u32, address: IpAddr) -> Result<()> {
        let mut message = Message::new(libc::RTM_NEWADDR);
        let prefix = if address.is_ipv4() { 32 } else { 128 };
        message.bytes(&[family(address), prefix, (libc::IFA_F_NODAD | libc::IFA_F_PERMANENT) as u8, 0]);
        message.bytes(&index.to_ne_bytes());
        message.attribute(libc::IFA_LOCAL, &octets(address));
        message.attribute(libc::IFA_ADDRESS, &octets(address));
        self.call(message, "add an address")
    }

    /// Adds a route.
    pub fn add_route(&self, route: &Route) -> Result<()> {
        let bits = route.destination.map_or(0, |address| if address.is_ipv4() { 32 } else { 128 });
        self.add_subnet_route(route, bits)
    }

    /// Adds a route of all addresses that share the first `bits` bits with the route's destination.
    pub fn add_subnet_route(&self, route: &Route, bits: u8) -> Result<()> {
        let mut message = Message::new(libc::RTM_NEWROUTE);
        let scope = if route.source.is_ipv4() { libc::RT_SCOPE_LINK } else { libc::RT_SCOPE_UNIVERSE };
        message.bytes(&[
            family(route.source),
            bits,
            0,
            0,
            libc::RT_TABLE_UNSPEC,
            libc::RTPROT_STATIC,
            scope,
            libc::RTN_UNICAST,
        ]);
        message.bytes(&0u32.to_ne_bytes());
        message.attribute(libc::RTA_TABLE, &route.table.to_ne_bytes());
        message.attribute(libc::RTA_OIF, &route.interface.to_ne_bytes());
        message.attribute(libc::RTA_PREFSRC, &octets(route.source));
        if let Some(destination) = route.destination {
            message.attribute(libc::RTA_DST, &octets(destination));
        }
        if let Some(segments) = route.initial_window {
            let metrics = [RTAX_INITCWND, RTAX_INITRWND].map(|kind| metric(kind, segments)).concat();
            message.attribute(libc::RTA_METRICS | NESTED, &metrics);
        }
        self.call(message, "add a route")
    }

    /// Lets routing table `table` not decide about `destination`: the next rule does.
    pub fn add_throw_route(&self, destination: IpAddr, table: u32) -> Result<()> {
        let mut message = Message::new(libc::RTM_NEWROUTE);
        let bits = if destination.is_ipv4() { 32 } else { 128 };
        message.bytes(&[
            family(destination),
            bits,
            0,
            0,
            libc::RT_TABLE_UNSPEC,
            libc::RTPROT_STATIC,
            libc::RT_SCOPE_UNIVERSE,
            libc::RTN_THROW,
        ]);
        message.bytes(&0u32.to_ne_bytes());
        message.attribute(libc::RTA_TABLE, &table.to_ne_bytes());
        message.attribute(libc::RTA_DST, &octets(destination));
        self.call(message, "add a route")
    }

    /// Packets from `source` follow routing table `table`.
    pub fn add_rule(&self, source: IpAddr, table: u32) -> Result<()> {
        let mut message = Message::new(libc::RTM_NEWRULE);
        let bits = if source.is_ipv4() { 32 } else { 128 };
        message.bytes(&[family(source), 0, bits, 0, libc::RT_TABLE_UNSPEC, 0, 0, FR_ACT_TO_TBL]);
        message.bytes(&0u32.to_ne_bytes());
        message.attribute(FRA_SRC, &octets(source));
        message.attribute(FRA_TABLE, &table.to_ne_bytes());
        self.call(message, "add a routing rule")
    }

    fn call(&self, message: Message, what: &str) -> Result<()> {
        let request = message.finish();
        let failed = |error| Error::wrap(what, error);
        let fd = self.socket.as_raw_fd();
        send(fd, &request, MsgFlags::empty()).map_err(failed)?;
        let mut answer = [0u8; 4096];
        if recv(fd, &mut answer, MsgFlags::empty()).map_err(failed)? < 20 {
            return Err(Error::new(format!("cannot {what}: the kernel's answer is too short")));
        }
        let code = i32::from_ne_bytes([answer[16], answer[17], answer[18], answer[19]]);
        if code == 0 { Ok(()) } else { Err(Error::wrap(what, std::io::Error::from_raw_os_error(-code))) }
    }
}

/// The index of interface `name` in the current network namespace.
pub fn index_of(name: &str) -> Result<u32> {
    nix::net::if_::if_nametoindex(name).map_err(|error| Error::wrap(format!("find interface {name}"), error))
}

struct Message(Vec<u8>);

impl Message {
    fn new(kind: u16) -> Self {
        let mut bytes = vec![0u8; 16];
        bytes[4..6].copy_from_slice(&kind.to_ne_bytes());
        bytes[6..8].copy_from_slice(&FLAGS.to_ne_bytes());
        Message(bytes)
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    fn attribute(&mut self, kind: u16, value: &[u8]) {
        self.0.extend_from_slice(&(4 + value.len() as u16).to_ne_bytes());
        self.0.extend_from_slice(&kind.to_ne_bytes());
        self.0.extend_from_slice(value);
        self.0.resize(self.0.len().next_multiple_of(4), 0);
    }

    fn finish(mut self) -> Vec<u8> {
        let length = self.0.len() as u32;
        self.0[0..4].copy_from_slice(&length.to_ne_bytes());
        self.0
    }
}

/// A metric of a route, as an attribute.
fn metric(kind: u16, value: u32) -> Vec<u8> {
    [&8u16.to_ne_bytes()[..], &kind.to_ne_bytes(), &value.to_ne_bytes()].concat()
}

fn family(address: IpAddr) -> u8 {
    if address.is_ipv4() { libc::AF_INET as u8 } else { libc::AF_INET6 as u8 }
}

fn octets(address: IpAddr) -> Vec<u8> {
    match address {
        IpAddr::V4(address) => address.octets().to_vec(),
        IpAddr::V6(address) => address.octets().to_vec(),
    }
}
