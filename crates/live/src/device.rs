//! An Ethernet device of the machine as a host's port: packets of the hosts behind it, which have us as their gateway,
//! or all of its frames.
//!
//! The device stays where it is and is not configured. All that the run needs of it ends with descriptors: the packet
//! socket with its multicast groups, the program that keeps its frames from the machine's own protocols, and the name
//! that says that the device is in use. So nothing of a run that is killed is left.

mod bridged;
mod neighbours;
mod tap;
mod wire_format;

use crate::clock;
use crate::error::{Error, Result};
use crate::sys::bpf;
use crate::sys::packet::{self, ETHERNET_HEADER, MOST_PARTS, PacketSocket, TO_US};
use crate::tun::VNET_HEADER;
pub use bridged::{BridgedPort, REST, frame, stations};
use longhaul_plan::Subnet;
use longhaul_record::Distribution;
use neighbours::{Neighbours, Resolution};
use serde::Serialize;
use std::collections::VecDeque;
use std::io::{self, IoSlice};
use std::net::{IpAddr, UdpSocket};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener};
pub use tap::{SegmentEnd, TapPort, mac_of, node_of};
use wire_format::BROADCAST;
pub use wire_format::{Discovery, Mac, answer, discovery};

/// A frame that is not for the network may be followed by one that is: so many are looked at in one read.
const MOST_SKIPPED: usize = 32;
/// Most echo replies that wait to be read.
const MOST_REPLIES: usize = 64;
const VIRTIO_NET_HDR_F_NEEDS_CSUM: u8 = 1;

/// A device, and what the machine knows of it, from before the run's own namespaces.
#[derive(Debug)]
pub struct Device {
    /// The host of the plan that stands for the hosts behind it.
    pub node: usize,
    /// Its name.
    pub name: String,
    /// What the engine uses, until its process takes it.
    pub port: Option<DevicePort>,
    /// A socket of the device's network namespace, for requests.
    requests: UdpSocket,
    had_carrier: bool,
    /// Held, as long as the run may use the device.
    _in_use: UnixListener,
    _closed_to_protocols: Option<OwnedFd>,
}

/// What the engine uses of a device.
#[derive(Debug)]
pub enum DevicePort {
    /// IP packets of the hosts behind it.
    Routed(Box<RoutedPort>),
    /// All frames.
    Bridged(BridgedPort),
}

/// How a device is used.
pub enum Use {
    /// As the gateway of the hosts behind it.
    Gateway(Segment),
    /// As a device of a bridge.
    Bridge,
}

/// What the hosts behind a device are configured to find there.
pub struct Segment {
    /// Addresses of the gateway.
    pub gateways: Vec<IpAddr>,
    /// Networks behind the device.
    pub subnets: Vec<Subnet>,
}

impl Device {
    /// Opens the device called `name` in the current network namespace. The client has checked its type, state and MTU.
    pub fn open(node: usize, name: &str, used: Use) -> Result<Self> {
        let failed = |what: &str| {
            let what = format!("{what} {name}");
            move |error: io::Error| Error::wrap(what, error)
        };
        let index = crate::netlink::index_of(name)?;
        let in_use = claim(name, index)?;
        let requests = UdpSocket::bind(("127.0.0.1", 0))
            .or_else(|_| UdpSocket::bind(("::1", 0)))
            .map_err(failed("open a socket beside"))?;
        let closed = match bpf::drop_received(index) {
            Ok(program) => Some(program),
            Err(error) => {
                require_no_forwarding(name, &error)?;
                None
            }
        };
        let mac = packet::interface_mac(requests.as_fd(), name).map_err(failed("read the address of"))?;
        let socket = PacketSocket::open(index).map_err(failed("open a packet socket of"))?;
        let port = match used {
            Use::Gateway(segment) => {
                let groups = segment.gateways.iter().copied().filter_map(wire_format::solicited_group);
                for group in groups {
                    socket.join(index, group).map_err(failed("join a multicast group of"))?;
                }
                DevicePort::Routed(Box::new(RoutedPort::new(socket, mac, segment)))
            }
            Use::Bridge => {
                socket.receive_all(index).map_err(failed("receive all frames of"))?;
                DevicePort::Bridged(BridgedPort::new(socket, mac))
            }
        };
        let had_carrier = true;
        Ok(Device {
            node,
            name: name.into(),
            port: Some(port),
            requests,
            had_carrier,
            _in_use: in_use,
            _closed_to_protocols: closed,
        })
    }

    /// What has changed of the device's carrier since the last call, in a sentence; an error if the device is gone.
    pub fn check(&mut self) -> Result<Option<String>> {
        let name = &self.name;
        let flags = packet::interface_flags(self.requests.as_fd(), name).map_err(|error| {
            if error.raw_os_error() == Some(libc::ENODEV) {
                Error::new(format!("the network interface {name} was removed"))
            } else {
                Error::wrap(format!("read the state of {name}"), error)
            }
        })?;
        let has_carrier = flags & libc::IFF_RUNNING != 0 && flags & libc::IFF_UP != 0;
        let changed = std::mem::replace(&mut self.had_carrier, has_carrier) != has_carrier;
        Ok(changed.then(|| {
            if has_carrier {
                format!("{name} has a carrier again")
            } else if flags & libc::IFF_UP == 0 {
                format!("{name} was set down: packets for the hosts behind it are lost")
            } else {
                format!("{name} has no carrier: packets for the hosts behind it are lost")
            }
        }))
    }
}

/// Marks the device as used, which ends with the result; an error if another run uses it.
fn claim(name: &str, index: u32) -> Result<UnixListener> {
    // Abstract names belong to a network namespace, as indices of devices do.
    SocketAddr::from_abstract_name(format!("longhaul-device-{index}"))
        .and_then(|address| UnixListener::bind_addr(&address))
        .map_err(|error| {
            if error.kind() == io::ErrorKind::AddrInUse {
                Error::new(format!("{name} is in use by another run"))
                    .with_remedy("longhaul status lists runs that are up")
            } else {
                Error::wrap(format!("claim {name}"), error)
            }
        })
}

/// An error if the machine would forward packets that it receives at this device.
fn require_no_forwarding(name: &str, why: &io::Error) -> Result<()> {
    let forwards = |family: &str| {
        let path = format!("/proc/sys/net/{family}/conf/{name}/forwarding");
        std::fs::read_to_string(path).is_ok_and(|value| value.trim() != "0")
    };
    let wrong: Vec<String> = ["ipv4", "ipv6"]
        .into_iter()
        .filter(|family| forwards(family))
        .map(|family| format!("net.{family}.conf.{name}.forwarding=0"))
        .collect();
    if wrong.is_empty() {
        return Ok(());
    }
    Err(Error::new(format!(
        "this machine would forward packets from {name}, too, and its kernel cannot be kept from them ({why})"
    ))
    .with_remedy(format!("use Linux 6.6 or later, or: sudo sysctl -w {}", wrong.join(" "))))
}

/// Packets of the hosts behind a device, and what else happened there.
#[derive(Clone, Debug, Default, Serialize)]
pub struct DeviceCounters {
    /// Frames for which the socket had no room (a super-packet is one).
    pub receive_dropped_packets: u64,
    /// Packets to hosts behind the device that did not answer who they are, or that no subnet has.
    pub unresolved_packets: u64,
    /// What comes back. At a routed port: frames with the source address of a device of the run, and packets that left
    /// the network at this port. At a bridge: frames with the source address of one of its devices, or of a station behind
    /// two of them at once.
    pub looped_frames: u64,
    /// Frames whose destination is behind the device that they arrived at, so that a bridge does not forward them.
    pub local_frames: u64,
    /// Frames that are not for the gateway.
    pub ignored_frames: u64,
    /// Super-packets of other protocols than TCP and UDP over IP, which nothing can divide.
    pub unsupported_frames: u64,
    /// Requests and announcements of ARP and neighbour discovery.
    pub discovery_frames: u64,
    /// How long packets waited in the kernel until the engine read them.
    pub read_delay: Option<serde_json::Value>,
}

/// The port of a host that stands for the hosts behind a device.
#[derive(Debug)]
pub struct RoutedPort {
    socket: PacketSocket,
    mac: Mac,
    gateways: Vec<IpAddr>,
    /// Those with more bits first.
    subnets: Vec<Subnet>,
    neighbours: Neighbours,
    /// Addresses of all devices of the run, each with its node: what comes from them is on its way back.
    devices: Vec<(Mac, usize)>,
    /// Nodes of devices from which something came.
    looped: Vec<usize>,
    /// How many of them were taken to be reported.
    reported: usize,
    /// What the gateway itself answers, to be read like packets of the hosts.
    replies: VecDeque<Vec<u8>>,
    counters: DeviceCounters,
    read_delay: Distribution,
    scratch: Vec<u8>,
}

impl RoutedPort {
    fn new(socket: PacketSocket, mac: Mac, segment: Segment) -> Self {
        let mut subnets = segment.subnets;
        subnets.sort_by_key(|subnet| std::cmp::Reverse(subnet.bits));
        RoutedPort {
            socket,
            mac,
            gateways: segment.gateways,
            subnets,
            neighbours: Neighbours::default(),
            devices: Vec::new(),
            looped: Vec::new(),
            reported: 0,
            replies: VecDeque::new(),
            counters: DeviceCounters::default(),
            read_delay: Distribution::new(),
            scratch: Vec::with_capacity(2_048),
        }
    }

    /// The descriptor to wait for.
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    /// The address of the device itself.
    pub fn mac(&self) -> Mac {
        self.mac
    }

    /// Frames from these devices, each with its node, are on their way back: they are counted and not read.
    pub fn watch_for(&mut self, devices: Vec<(Mac, usize)>) {
        self.devices = devices;
    }

    /// Nodes of devices from which a frame came for the first time since the last call.
    pub fn take_looped(&mut self) -> &[usize] {
        let first = std::mem::replace(&mut self.reported, self.looped.len());
        &self.looped[first..]
    }

    /// Reads one packet with its virtio header; `None` when none waits.
    pub fn read(&mut self, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        if let Some(reply) = self.replies.pop_front() {
            buffer[..VNET_HEADER].fill(0);
            buffer[VNET_HEADER..VNET_HEADER + reply.len()].copy_from_slice(&reply);
            return Ok(Some(VNET_HEADER + reply.len()));
        }
        for _ in 0..MOST_SKIPPED {
            let mut ethernet = [0; ETHERNET_HEADER];
            let (vnet, rest) = buffer.split_at_mut(VNET_HEADER);
            let Some(received) = self.socket.receive(vnet, &mut ethernet, rest)? else { return Ok(None) };
            let Some(bytes) = received.bytes.checked_sub(ETHERNET_HEADER) else { continue };
            if let Some(&(_, node)) = self.devices.iter().find(|(mac, _)| ethernet[6..12] == *mac) {
                self.counters.looped_frames += 1;
                if !self.looped.contains(&node) {
                    self.looped.push(node);
                }
                continue;
            }
            let packet = &mut rest[..bytes];
            if received.tag.is_some() {
                self.counters.ignored_frames += 1;
                continue;
            }
            let source = Mac::try_from(&ethernet[6..12]).unwrap_or_default();
            let kind = u16::from_be_bytes([ethernet[12], ethernet[13]]);
            if let Some(discovery) = wire_format::discovery(kind, packet) {
                self.discover(&discovery, source);
                continue;
            }
            let Some(length) = wire_format::ip_length(kind, packet, vnet[1] != 0) else {
                self.counters.ignored_frames += 1;
                continue;
            };
            let Some((from, to)) = wire_format::addresses(packet) else { continue };
            if received.kind != TO_US {
                self.counters.ignored_frames += 1;
                continue;
            }
            self.learn(from, source);
            if self.gateways.contains(&to) {
                self.reply_to_echo(length, &rest[..length]);
                if let Some(reply) = self.replies.pop_front() {
                    // The host behind the device asks its gateway: the answer does not pass the network.
                    self.send_packet(&[0; VNET_HEADER], &[IoSlice::new(&reply)], from)?;
                }
                continue;
            }
            shift_checksum(vnet, |start| start.checked_sub(ETHERNET_HEADER as u16));
            if let Some(arrived_ns) = received.arrived_unix_ns {
                self.read_delay.add(clock::unix_ns().saturating_sub(arrived_ns), 1);
            }
            return Ok(Some(VNET_HEADER + length));
        }
        Ok(None)
    }

    /// Writes one packet, whose virtio header, headers and payload may lie apart.
    pub fn write(&mut self, parts: &[IoSlice<'_>]) -> io::Result<()> {
        let Some((vnet, headers)) = parts.first().and_then(|first| first.split_at_checked(VNET_HEADER))
        else {
            return Err(io::ErrorKind::InvalidInput.into());
        };
        let Some((_, to)) = wire_format::addresses(headers) else {
            return Err(io::ErrorKind::InvalidData.into());
        };
        if self.gateways.contains(&to) {
            let whole = concatenated(&[&[IoSlice::new(headers)], &parts[1..]].concat());
            self.reply_to_echo(whole.len(), &whole);
            return Ok(());
        }
        let mut room = [IoSlice::new(&[]); MOST_PARTS];
        room[0] = IoSlice::new(headers);
        let Some(others) = room.get_mut(1..parts.len()) else {
            return Err(io::ErrorKind::InvalidInput.into());
        };
        others.copy_from_slice(&parts[1..]);
        let vnet = <[u8; VNET_HEADER]>::try_from(vnet).unwrap_or_default();
        self.send_packet(&vnet, &room[..parts.len()], to)
    }

    /// What happened, for the records.
    pub fn counters(&mut self) -> DeviceCounters {
        self.counters.receive_dropped_packets += self.socket.take_drops().unwrap_or_default();
        self.counters.unresolved_packets += self.neighbours.take_unresolved();
        let read_delay = (self.read_delay.count() > 0).then(|| serde_json::json!(self.read_delay.summary()));
        DeviceCounters { read_delay, ..self.counters.clone() }
    }

    /// Sends an IP packet to the host that has `to`, or keeps it until it is known who that is.
    fn send_packet(
        &mut self,
        vnet: &[u8; VNET_HEADER],
        packet: &[IoSlice<'_>],
        to: IpAddr,
    ) -> io::Result<()> {
        let Some(subnet) = self.subnets.iter().find(|subnet| subnet.contains(to)) else {
            self.counters.unresolved_packets += 1;
            return Ok(());
        };
        let next = subnet.via.unwrap_or(to);
        let now_ns = clock::monotonic_ns();
        let resolution = self.neighbours.resolve(next, now_ns);
        let (mac, asks) = match resolution {
            Resolution::Known(mac) => (Some(mac), false),
            Resolution::Stale(mac) => (Some(mac), true),
            Resolution::Unknown { ask } => (None, ask),
        };
        let mut header = *vnet;
        shift_checksum(&mut header, |start| start.checked_add(ETHERNET_HEADER as u16));
        shift_header_length(&mut header, ETHERNET_HEADER);
        let ethernet = wire_format::ethernet(mac.unwrap_or(BROADCAST), self.mac, to);
        let mut room = [IoSlice::new(&[]); MOST_PARTS];
        room[0] = IoSlice::new(&header);
        room[1] = IoSlice::new(&ethernet);
        let Some(others) = room.get_mut(2..2 + packet.len()) else {
            return Err(io::ErrorKind::InvalidInput.into());
        };
        others.copy_from_slice(packet);
        let parts = &room[..2 + packet.len()];
        if asks {
            self.ask(next);
        }
        if mac.is_some() {
            return self.socket.send(parts);
        }
        self.neighbours.hold(next, concatenated(parts), now_ns);
        Ok(())
    }

    /// Asks for the Ethernet address of a host of the segment.
    fn ask(&mut self, address: IpAddr) {
        let own = self.gateways.iter().find(|gateway| gateway.is_ipv4() == address.is_ipv4());
        if let Some(&own) = own {
            self.scratch.clear();
            wire_format::request(&mut self.scratch, (self.mac, own), address);
            // One that is lost is asked again.
            let _ = self.socket.send(&[IoSlice::new(&self.scratch)]);
        }
    }

    /// Answers a question for a gateway address, and learns who has sent it.
    fn discover(&mut self, discovery: &Discovery, from: Mac) {
        self.counters.discovery_frames += 1;
        if let Some((address, mac)) = discovery.sender {
            self.learn(address, mac.unwrap_or(from));
        }
        if let Some(asked) = discovery.asked.filter(|asked| self.gateways.contains(asked)) {
            self.scratch.clear();
            wire_format::answer(&mut self.scratch, (self.mac, asked), discovery, from);
            let _ = self.socket.send(&[IoSlice::new(&self.scratch)]);
        }
    }

    /// Notes the Ethernet address of a host of the segment, and sends what waited for it.
    fn learn(&mut self, address: IpAddr, mac: Mac) {
        let on_segment = self
            .subnets
            .iter()
            .find(|subnet| subnet.contains(address))
            .is_some_and(|subnet| subnet.via.is_none());
        if !on_segment {
            return;
        }
        for mut frame in self.neighbours.learn(address, mac, clock::monotonic_ns()) {
            frame[VNET_HEADER..VNET_HEADER + 6].copy_from_slice(&mac);
            let _ = self.socket.send(&[IoSlice::new(&frame)]);
        }
    }

    fn reply_to_echo(&mut self, length: usize, packet: &[u8]) {
        match wire_format::echo_reply(&packet[..length]) {
            Some(reply) if self.replies.len() < MOST_REPLIES => self.replies.push_back(reply),
            _ => self.counters.ignored_frames += 1,
        }
    }
}

fn concatenated(parts: &[IoSlice<'_>]) -> Vec<u8> {
    parts.iter().flat_map(|part| part.iter().copied()).collect()
}

/// Moves the place of the checksum in a virtio header.
fn shift_checksum(vnet: &mut [u8], shift: impl Fn(u16) -> Option<u16>) {
    if vnet[0] & VIRTIO_NET_HDR_F_NEEDS_CSUM != 0 {
        let start = u16::from_ne_bytes([vnet[6], vnet[7]]);
        match shift(start) {
            Some(start) => vnet[6..8].copy_from_slice(&start.to_ne_bytes()),
            None => vnet[0] &= !VIRTIO_NET_HDR_F_NEEDS_CSUM,
        }
    }
}

/// Adds the link-layer header, of so many bytes, to the length of the headers.
fn shift_header_length(vnet: &mut [u8; VNET_HEADER], link_header: usize) {
    let length = u16::from_ne_bytes([vnet[2], vnet[3]]);
    if length > 0 {
        vnet[2..4].copy_from_slice(&length.saturating_add(link_header as u16).to_ne_bytes());
    }
}
