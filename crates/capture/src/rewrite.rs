//! The packets of a capture between other hosts: with other addresses, right checksums, and times from zero.
//!
//! Addresses are replaced in the IP header alone. Checksums of IPv4, TCP, UDP, ICMP and ICMPv6 are computed anew
//! (RFC 1071), since captures of hosts that leave them to their adapter have wrong ones; those over parts of a
//! fragmented packet are updated (RFC 1624). A packet that was cut at capture is padded with zeros to its length.

mod ip;
mod segments;

use crate::Error;
use crate::headers::LinkLayer;
use crate::packets::{Interface, Packet, Packets};
use ip::{Ip, Unusable};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Packets of one capture at most.
pub const MOST_PACKETS: usize = 1_000_000;
/// Bytes of one capture's packets at most.
pub const MOST_BYTES: usize = 256 << 20;

const TOO_MANY: &str = "keep a part of it: editcap -r IN OUT 1-100000";

/// What is to be made of a capture.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rules {
    /// Which host sends and receives what.
    pub sides: Sides,
    /// The interface of a pcapng file whose packets are taken; `None`: of all.
    pub interface: Option<String>,
    /// When packets leave.
    pub timing: Timing,
    /// The pairs of hosts between which packets are taken.
    pub pairs: Vec<Pair>,
}

/// Which host stands for an address of the capture.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Sides {
    /// Of each two addresses, the one that sends first (or is answered by a SYN with ACK) is `client`, the other
    /// one `server`.
    Conversations {
        /// A host.
        client: usize,
        /// Another one.
        server: usize,
    },
    /// The longest prefix that an address has: network, its length, host.
    Prefixes(Vec<(IpAddr, u8, usize)>),
}

/// When packets leave.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Timing {
    /// As captured, but so many times as fast.
    Speed(f64),
    /// In the order of the file, each when those before it have taken the time of their bytes (IP and above) at so
    /// many bit/s.
    BitsPerS(u64),
}

/// Packets from one host to another.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pair {
    /// The host that sends.
    pub from: usize,
    /// The host that receives.
    pub to: usize,
    /// Addresses of the former.
    pub source: Addresses,
    /// Addresses of the latter.
    pub destination: Addresses,
    /// The largest packet that passes all the way: TCP segments that an adapter joined or was to split are split.
    pub mtu: u32,
}

/// Addresses of a host.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Addresses {
    /// If it has one.
    pub ipv4: Option<Ipv4Addr>,
    /// If it has one.
    pub ipv6: Option<Ipv6Addr>,
}

/// What is left of a capture.
#[derive(Clone, Debug)]
pub struct Rewritten {
    /// In the order of [`Rules::pairs`].
    pub pairs: Vec<PairPackets>,
    /// What was counted.
    pub tally: Tally,
}

/// Packets from one host to another, in the order in which they leave.
#[derive(Clone, Debug, Default)]
pub struct PairPackets {
    /// When each leaves: in ns since the first packet of all pairs.
    pub at_ns: Vec<u64>,
    bytes: Vec<u8>,
    /// Where each begins and ends in `bytes`.
    places: Vec<(usize, usize)>,
}

impl PairPackets {
    /// Each packet from its IP header on.
    pub fn packets(&self) -> impl Iterator<Item = &[u8]> {
        self.places.iter().map(|&(start, end)| &self.bytes[start..end])
    }
}

/// Packets of a capture, by what became of them.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Tally {
    /// In the file, of the interface that is asked for.
    pub packets: u64,
    /// Packets that leave; more than were taken if segments were split.
    pub sent: u64,
    /// Packets that were not taken, and why.
    pub left_out: LeftOut,
    /// Packets that were cut at capture, and have zeros instead.
    pub padded: u64,
    /// TCP packets that were longer than the MTU, and are sent as several.
    pub split: u64,
    /// Packets that are longer than the MTU, and are sent nevertheless.
    pub too_big: u64,
    /// The longest of these.
    pub largest: u32,
    /// Packets that came before the one before them, and were put in order.
    pub unordered: u64,
    /// Names of the interfaces with packets.
    pub interfaces: Vec<String>,
    /// Where the file ends within a packet, in bytes.
    pub broken_off: Option<u64>,
}

/// Packets that were not taken.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct LeftOut {
    /// Neither IPv4 nor IPv6: ARP and others.
    pub no_ip: u64,
    /// Multicast, broadcast, link-local or loopback.
    pub not_unicast: u64,
    /// Of addresses that no host stands for.
    pub unmapped: u64,
    /// Of another direction, or between addresses of one host.
    pub other_pairs: u64,
    /// IPv4 or IPv6, which one of the hosts has no address of.
    pub no_address: u64,
    /// Cut before the end of the headers, or wrong.
    pub damaged: u64,
    /// Of interfaces whose link type cannot be read.
    pub link_type: u64,
}

/// Reads a capture, and makes of it what `rules` say.
///
/// # Errors
/// If it is damaged, too large, or has packets without times where these are asked for.
pub fn rewrite(reader: impl Read, rules: &Rules) -> Result<Rewritten, Error> {
    let mut packets = Packets::new(reader)?;
    let mut work = Work::new(rules);
    while packets.next(|packet, interfaces| work.take(&packet, interfaces))? {}
    work.tally.broken_off = packets.broken_off();
    if let Some(name) = &rules.interface
        && work.tally.packets == 0
    {
        let known: Vec<&str> = packets.interfaces().iter().map(|each| each.name.as_str()).collect();
        let message =
            format!("the capture has no packets of an interface {name:?}, but {}", known.join(", "));
        return Err(Error::anywhere(message, "name one of these"));
    }
    Ok(work.finish())
}

struct Work<'a> {
    rules: &'a Rules,
    /// Of each two addresses, the lower one first: whether the lower one is the client.
    clients: BTreeMap<(IpAddr, IpAddr), bool>,
    /// Position of each pair.
    pairs: BTreeMap<(usize, usize), usize>,
    /// Time, pair, and place of each packet; the time is that of the capture.
    order: Vec<(u64, usize, usize)>,
    found: Vec<PairPackets>,
    bytes: usize,
    last_ns: u64,
    tally: Tally,
    seen: BTreeSet<usize>,
}

impl<'a> Work<'a> {
    fn new(rules: &'a Rules) -> Self {
        Work {
            rules,
            clients: BTreeMap::new(),
            pairs: rules
                .pairs
                .iter()
                .enumerate()
                .map(|(place, pair)| ((pair.from, pair.to), place))
                .collect(),
            order: Vec::new(),
            found: vec![PairPackets::default(); rules.pairs.len()],
            bytes: 0,
            last_ns: 0,
            tally: Tally::default(),
            seen: BTreeSet::new(),
        }
    }

    fn take(&mut self, packet: &Packet<'_>, interfaces: &[Interface]) -> Result<(), Error> {
        let interface = &interfaces[packet.interface];
        if self.rules.interface.as_ref().is_some_and(|only| *only != interface.name) {
            return Ok(());
        }
        self.tally.packets += 1;
        if self.seen.insert(packet.interface) {
            self.tally.interfaces.push(interface.name.clone());
        }
        if packet.at_ns == 0 && matches!(self.rules.timing, Timing::Speed(_)) {
            return Err(Error::anywhere(
                "the capture has packets without times (simple packet blocks)",
                "give a rate: rate: 10Mbit",
            ));
        }
        let Some(link_layer) = interface.link_layer else {
            self.tally.left_out.link_type += 1;
            return Ok(());
        };
        match self.placed(link_layer, packet) {
            Ok((ip, pair)) => self.add(ip, pair, packet.at_ns),
            Err(why) => {
                *why.count(&mut self.tally.left_out) += 1;
                Ok(())
            }
        }
    }

    /// The IP packet in a frame, and the pair of hosts that it is of.
    fn placed(&mut self, link_layer: LinkLayer, packet: &Packet<'_>) -> Result<(Ip, usize), Unusable> {
        let ip = Ip::of(link_layer, packet.bytes, packet.length)?;
        let (source, destination) = (ip.source(), ip.destination());
        if !is_unicast(source) || !is_unicast(destination) {
            return Err(Unusable::NotUnicast);
        }
        let (from, to) = match &self.rules.sides {
            Sides::Conversations { client, server } => {
                let key = (source.min(destination), source.max(destination));
                // Who answers a SYN is the server, though the SYN was not captured.
                let source_is_client = !ip.is_syn_ack();
                let lower_is_client =
                    *self.clients.entry(key).or_insert_with(|| (source == key.0) == source_is_client);
                if (source == key.0) == lower_is_client { (*client, *server) } else { (*server, *client) }
            }
            Sides::Prefixes(prefixes) => {
                let host = |address| longest(prefixes, address).ok_or(Unusable::Unmapped);
                (host(source)?, host(destination)?)
            }
        };
        let pair = *self.pairs.get(&(from, to)).ok_or(Unusable::OtherPair)?;
        Ok((ip, pair))
    }

    fn add(&mut self, mut ip: Ip, place: usize, at_ns: u64) -> Result<(), Error> {
        let pair = &self.rules.pairs[place];
        if !ip.readdress(&pair.source, &pair.destination) {
            self.tally.left_out.no_address += 1;
            return Ok(());
        }
        self.tally.padded += u64::from(ip.was_cut);
        self.tally.unordered += u64::from(at_ns < self.last_ns);
        self.last_ns = self.last_ns.max(at_ns);
        let mtu = pair.mtu as usize;
        let pieces = if ip.len() > mtu { segments::split(&ip, mtu) } else { None };
        self.tally.split += u64::from(pieces.is_some());
        for piece in pieces.unwrap_or_else(|| vec![ip.into_bytes()]) {
            if piece.len() > mtu {
                self.tally.too_big += 1;
                self.tally.largest = self.tally.largest.max(piece.len() as u32);
            }
            self.bytes += piece.len();
            if self.order.len() == MOST_PACKETS || self.bytes > MOST_BYTES {
                let message =
                    format!("the capture has more than {MOST_PACKETS} packets, or {} MiB", MOST_BYTES >> 20);
                return Err(Error::anywhere(message, TOO_MANY));
            }
            let found = &mut self.found[place];
            self.order.push((at_ns, place, found.places.len()));
            let start = found.bytes.len();
            found.bytes.extend_from_slice(&piece);
            found.places.push((start, found.bytes.len()));
        }
        Ok(())
    }

    fn finish(mut self) -> Rewritten {
        let mut order = std::mem::take(&mut self.order);
        let mut sent_bits = 0_u128;
        if matches!(self.rules.timing, Timing::Speed(_)) {
            // Of one instant, the order of the file.
            order.sort_by_key(|&(at_ns, ..)| at_ns);
        }
        let first_ns = order.first().map_or(0, |&(at_ns, ..)| at_ns);
        let mut places: Vec<Vec<(usize, usize)>> = vec![Vec::new(); self.found.len()];
        for (at_ns, pair, packet) in order {
            let place = self.found[pair].places[packet];
            let leaves_ns = match self.rules.timing {
                Timing::Speed(speed) => scaled(at_ns - first_ns, speed),
                Timing::BitsPerS(rate) => (sent_bits * 1_000_000_000 / u128::from(rate.max(1))) as u64,
            };
            sent_bits += 8 * (place.1 - place.0) as u128;
            self.found[pair].at_ns.push(leaves_ns);
            places[pair].push(place);
            self.tally.sent += 1;
        }
        for (found, places) in self.found.iter_mut().zip(places) {
            found.places = places;
        }
        Rewritten { pairs: self.found, tally: self.tally }
    }
}

/// A time that passes so many times as fast.
fn scaled(ns: u64, speed: f64) -> u64 {
    if speed == 1.0 { ns } else { (ns as f64 / speed).round() as u64 }
}

fn longest(prefixes: &[(IpAddr, u8, usize)], address: IpAddr) -> Option<usize> {
    let matching = prefixes.iter().filter(|(network, length, _)| is_within(address, *network, *length));
    matching.max_by_key(|(_, length, _)| *length).map(|&(.., host)| host)
}

fn is_within(address: IpAddr, network: IpAddr, length: u8) -> bool {
    let differs = match (address, network) {
        (IpAddr::V4(one), IpAddr::V4(other)) => (one.to_bits() ^ other.to_bits()).leading_zeros(),
        (IpAddr::V6(one), IpAddr::V6(other)) => (one.to_bits() ^ other.to_bits()).leading_zeros(),
        _ => return false,
    };
    differs >= u32::from(length)
}

/// Whether routers forward packets of this address.
fn is_unicast(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(each) => {
            !(each.is_multicast()
                || each.is_broadcast()
                || each.is_link_local()
                || each.is_loopback()
                || each.is_unspecified())
        }
        IpAddr::V6(each) => {
            !(each.is_multicast()
                || each.is_unicast_link_local()
                || each.is_loopback()
                || each.is_unspecified())
        }
    }
}
