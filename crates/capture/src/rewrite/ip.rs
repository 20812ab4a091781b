//! An IP packet whose addresses are replaced.

use super::{Addresses, LeftOut};
use crate::headers::{LinkLayer, Without, network_layer};
use longhaul_checksum::{checksum, pseudo_header, sum, updated};
use std::net::IpAddr;
use std::ops::Range;

const ICMP: u8 = 1;
const TCP: u8 = 6;
const UDP: u8 = 17;
const DCCP: u8 = 33;
const ICMPV6: u8 = 58;
const UDPLITE: u8 = 136;
/// The longest packet that its header can state.
const LARGEST: usize = 65_535;

/// Why a packet of a capture is not sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unusable {
    NoIp,
    NotUnicast,
    Unmapped,
    OtherPair,
    Damaged,
}

impl Unusable {
    pub fn count(self, counts: &mut LeftOut) -> &mut u64 {
        match self {
            Unusable::NoIp => &mut counts.no_ip,
            Unusable::NotUnicast => &mut counts.not_unicast,
            Unusable::Unmapped => &mut counts.unmapped,
            Unusable::OtherPair => &mut counts.other_pairs,
            Unusable::Damaged => &mut counts.damaged,
        }
    }
}

impl From<Without> for Unusable {
    fn from(why: Without) -> Self {
        if why == Without::Ip { Unusable::NoIp } else { Unusable::Damaged }
    }
}

/// A whole packet, from its IP header on.
pub struct Ip {
    bytes: Vec<u8>,
    pub is_v6: bool,
    pub protocol: u8,
    /// Where the transport header begins.
    pub transport: usize,
    /// Whether it is a fragment, and whether it is the first one.
    fragment: Option<bool>,
    /// Whether it was cut at capture, and has zeros instead.
    pub was_cut: bool,
}

impl Ip {
    /// The packet in a frame of `length` bytes, of which `captured` are known.
    pub fn of(link_layer: LinkLayer, captured: &[u8], length: u32) -> Result<Ip, Unusable> {
        let (before, _) = network_layer(link_layer, captured)?;
        let known = captured.get(before..).ok_or(Unusable::Damaged)?;
        let length = (length as usize).saturating_sub(before);
        let mut ip = match known.first().ok_or(Unusable::Damaged)? >> 4 {
            4 => Ip::v4(known, length)?,
            6 => Ip::v6(known, length)?,
            _ => return Err(Unusable::NoIp),
        };
        let least = match ip.protocol {
            _ if ip.fragment == Some(false) => 0,
            TCP => 20,
            UDP | UDPLITE | ICMP | ICMPV6 => 8,
            DCCP => 12,
            _ => 0,
        };
        if known.len().min(ip.bytes.len()) < ip.transport + least {
            return Err(Unusable::Damaged);
        }
        ip.was_cut = known.len() < ip.bytes.len();
        Ok(ip)
    }

    /// RFC 791, section 3.1.
    fn v4(known: &[u8], length: usize) -> Result<Ip, Unusable> {
        let header: &[u8; 20] = known.first_chunk().ok_or(Unusable::Damaged)?;
        let transport = usize::from(header[0] & 0x0f) * 4;
        // A host that leaves segmentation to its adapter may write 0.
        let total = match u16::from_be_bytes([header[2], header[3]]) {
            0 => length,
            total => usize::from(total),
        };
        if transport < 20 || total < transport || total > LARGEST || known.len() < transport {
            return Err(Unusable::Damaged);
        }
        let fragment = u16::from_be_bytes([header[6], header[7]]) & 0x3fff;
        let mut ip = Ip {
            bytes: resized(known, total),
            is_v6: false,
            protocol: header[9],
            transport,
            fragment: (fragment != 0).then_some(fragment.trailing_zeros() >= 13),
            was_cut: false,
        };
        ip.bytes[2..4].copy_from_slice(&(total as u16).to_be_bytes());
        Ok(ip)
    }

    /// RFC 8200, sections 3 and 4.
    fn v6(known: &[u8], length: usize) -> Result<Ip, Unusable> {
        let header: &[u8; 40] = known.first_chunk().ok_or(Unusable::Damaged)?;
        let total = match u16::from_be_bytes([header[4], header[5]]) {
            0 => length,
            payload => 40 + usize::from(payload),
        };
        if !(40..=LARGEST).contains(&total) {
            return Err(Unusable::Damaged);
        }
        let (mut protocol, mut transport, mut fragment) = (header[6], 40, None);
        loop {
            let byte = |at: usize| known.get(transport + at).copied().ok_or(Unusable::Damaged);
            let extension = match protocol {
                0 | 43 | 60 => 8 * (usize::from(byte(1)?) + 1),
                51 => 4 * (usize::from(byte(1)?) + 2),
                44 => {
                    let offset = u16::from_be_bytes([byte(2)?, byte(3)?]);
                    fragment = (offset & 0xfff9 != 0).then_some(offset & 0xfff8 == 0);
                    8
                }
                _ => break,
            };
            protocol = byte(0)?;
            transport += extension;
            if fragment == Some(false) {
                break;
            }
        }
        if transport > total {
            return Err(Unusable::Damaged);
        }
        let mut ip =
            Ip { bytes: resized(known, total), is_v6: true, protocol, transport, fragment, was_cut: false };
        ip.bytes[4..6].copy_from_slice(&((total - 40) as u16).to_be_bytes());
        Ok(ip)
    }

    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// A packet like this one, with other bytes behind the same IP header.
    pub fn with_bytes(&self, bytes: Vec<u8>) -> Ip {
        Ip { bytes, ..*self }
    }

    pub fn is_fragment(&self) -> bool {
        self.fragment.is_some()
    }

    pub fn source(&self) -> IpAddr {
        self.address(self.addresses().start)
    }

    pub fn destination(&self) -> IpAddr {
        let both = self.addresses();
        self.address(both.start + both.len() / 2)
    }

    /// Whether it answers the begin of a TCP connection.
    pub fn is_syn_ack(&self) -> bool {
        self.protocol == TCP
            && self.fragment != Some(false)
            && self.bytes.get(self.transport + 13).is_some_and(|flags| flags & 0x12 == 0x12)
    }

    /// Gives it the addresses of two hosts, and computes its checksums. False if one of them has none of its kind.
    pub fn readdress(&mut self, source: &Addresses, destination: &Addresses) -> bool {
        let octets = |each: &Addresses| -> Option<Vec<u8>> {
            if self.is_v6 {
                each.ipv6.map(|address| address.octets().to_vec())
            } else {
                each.ipv4.map(|address| address.octets().to_vec())
            }
        };
        let (Some(mut after), Some(destination)) = (octets(source), octets(destination)) else {
            return false;
        };
        after.extend(destination);
        let place = self.addresses();
        let before = self.bytes[place.clone()].to_vec();
        self.bytes[place].copy_from_slice(&after);
        if self.fragment == Some(true) {
            self.update_transport_checksum(&before, &after);
        }
        self.fix_checksums();
        true
    }

    /// Computes the checksum of its IP header, and that of its transport unless it is a fragment.
    pub fn fix_checksums(&mut self) {
        if !self.is_v6 {
            self.bytes[10..12].fill(0);
            let end = usize::from(self.bytes[0] & 0x0f) * 4;
            let found = checksum(sum(&self.bytes[..end]));
            self.bytes[10..12].copy_from_slice(&found.to_be_bytes());
        }
        if self.fragment.is_some() {
            return;
        }
        let Some(at) = self.checksum_at() else { return };
        // A UDP datagram in IPv4 may have none (RFC 768).
        if self.protocol == UDP && !self.is_v6 && self.bytes[at..at + 2] == [0, 0] {
            return;
        }
        if self.protocol == UDP {
            let length = ((self.bytes.len() - self.transport) as u16).to_be_bytes();
            let stated = self.transport + 4..self.transport + 6;
            if self.bytes[stated.clone()] == [0, 0] {
                self.bytes[stated].copy_from_slice(&length);
            }
        }
        self.bytes[at..at + 2].fill(0);
        let pseudo = if self.protocol == ICMP {
            0
        } else {
            pseudo_header(&self.bytes[self.addresses()], self.protocol, self.bytes.len() - self.transport)
        };
        let found = match checksum(pseudo + sum(&self.bytes[self.transport..])) {
            0 if self.protocol == UDP => 0xffff,
            found => found,
        };
        self.bytes[at..at + 2].copy_from_slice(&found.to_be_bytes());
    }

    /// Of protocols whose checksum covers the addresses, or ICMP's: where it is, if it can be computed.
    fn checksum_at(&self) -> Option<usize> {
        let offset = match self.protocol {
            TCP => 16,
            UDP => 6,
            ICMP | ICMPV6 => 2,
            _ => return None,
        };
        Some(self.transport + offset).filter(|at| at + 2 <= self.bytes.len())
    }

    /// The checksum over a packet of which this is the first part, after the addresses were replaced.
    fn update_transport_checksum(&mut self, before: &[u8], after: &[u8]) {
        if self.protocol == ICMP {
            return;
        }
        let Some(at) = self.checksum_at() else { return };
        let old = u16::from_be_bytes([self.bytes[at], self.bytes[at + 1]]);
        if self.protocol == UDP && old == 0 {
            return;
        }
        let found = match updated(old, before, after) {
            0 if self.protocol == UDP => 0xffff,
            found => found,
        };
        self.bytes[at..at + 2].copy_from_slice(&found.to_be_bytes());
    }

    /// Where both addresses are.
    fn addresses(&self) -> Range<usize> {
        if self.is_v6 { 8..40 } else { 12..20 }
    }

    fn address(&self, at: usize) -> IpAddr {
        if self.is_v6 {
            let mut octets = [0; 16];
            octets.copy_from_slice(&self.bytes[at..at + 16]);
            IpAddr::from(octets)
        } else {
            let mut octets = [0; 4];
            octets.copy_from_slice(&self.bytes[at..at + 4]);
            IpAddr::from(octets)
        }
    }
}

/// `known`, cut or with zeros, of so many bytes.
fn resized(known: &[u8], length: usize) -> Vec<u8> {
    let mut bytes = known[..known.len().min(length)].to_vec();
    bytes.resize(length, 0);
    bytes
}
