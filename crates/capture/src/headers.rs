//! From a captured frame to its TCP segment.

use crate::tcp::{Segment, segment};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// What stands before the IP header (the registry of link-layer header types).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LinkLayer {
    Ethernet,
    /// The IP header itself.
    Raw,
    /// Four bytes that name an address family.
    Loopback,
    /// Linux cooked capture, as of `tcpdump -i any`.
    Cooked,
    /// Linux cooked capture, version 2, which has the interface's number.
    Cooked2,
}

impl LinkLayer {
    pub(crate) fn of(link_type: i32) -> Option<LinkLayer> {
        Some(match link_type {
            1 => LinkLayer::Ethernet,
            12 | 14 | 101 | 228 | 229 => LinkLayer::Raw,
            0 | 108 => LinkLayer::Loopback,
            113 => LinkLayer::Cooked,
            276 => LinkLayer::Cooked2,
            _ => return None,
        })
    }
}

/// Why a frame has no TCP segment to look at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Without {
    /// Neither IPv4 nor IPv6.
    Ip,
    /// IP, but something else in it.
    Tcp,
    /// Part of a fragmented packet.
    Whole,
    /// Cut, or wrong, before the end of the TCP header.
    Header,
}

const IPV4: u16 = 0x0800;
const IPV6: u16 = 0x86dd;
/// IEEE 802.1Q, 802.1ad (QinQ), and what came before.
const VLAN: [u16; 3] = [0x8100, 0x88a8, 0x9100];
const TCP: u8 = 6;

/// The segment in a frame of `length` bytes, of which `bytes` were captured, and the number of the
/// interface if the frame says it.
pub(crate) fn frame(link_layer: LinkLayer, bytes: &[u8], length: u32) -> Result<(Segment, u32), Without> {
    let (before, interface) = network_layer(link_layer, bytes)?;
    let packet = bytes.get(before..).ok_or(Without::Header)?;
    let length = length.saturating_sub(before as u32);
    let segment = match packet.first().ok_or(Without::Header)? >> 4 {
        4 => ipv4(packet, length),
        6 => ipv6(packet, length),
        _ => Err(Without::Ip),
    };
    segment.map(|segment| (segment, interface))
}

/// Where the IP packet begins, and the number of the interface if the frame says it.
pub(crate) fn network_layer(link_layer: LinkLayer, bytes: &[u8]) -> Result<(usize, u32), Without> {
    let (before, kind, interface) = match link_layer {
        LinkLayer::Ethernet => ethernet(bytes)?,
        LinkLayer::Raw => (0, None, 0),
        LinkLayer::Loopback => (4, None, 0),
        LinkLayer::Cooked => (16, Some(short(bytes, 14)?), 0),
        LinkLayer::Cooked2 => (20, Some(short(bytes, 0)?), word(bytes, 4)?),
    };
    if kind.is_some_and(|kind| kind != IPV4 && kind != IPV6) {
        return Err(Without::Ip);
    }
    Ok((before, interface))
}

fn ethernet(bytes: &[u8]) -> Result<(usize, Option<u16>, u32), Without> {
    let mut at = 12;
    loop {
        let kind = short(bytes, at)?;
        if !VLAN.contains(&kind) {
            return Ok((at + 2, Some(kind), 0));
        }
        at += 4;
    }
}

/// RFC 791, section 3.1.
fn ipv4(packet: &[u8], length: u32) -> Result<Segment, Without> {
    let header: &[u8; 20] = packet.first_chunk().ok_or(Without::Header)?;
    let words = usize::from(header[0] & 0x0f);
    if words < 5 {
        return Err(Without::Header);
    }
    let fragment = u16::from_be_bytes([header[6], header[7]]) & 0x3fff;
    if fragment != 0 {
        return Err(Without::Whole);
    }
    if header[9] != TCP {
        return Err(Without::Tcp);
    }
    // A host that leaves segmentation to its adapter may write 0.
    let total = match u16::from_be_bytes([header[2], header[3]]) {
        0 => length,
        total => u32::from(total),
    };
    let address =
        |at: usize| IpAddr::V4(Ipv4Addr::new(header[at], header[at + 1], header[at + 2], header[at + 3]));
    let rest = packet.get(4 * words..).ok_or(Without::Header)?;
    let length = total.checked_sub(4 * words as u32).ok_or(Without::Header)?;
    let ident = u16::from_be_bytes([header[4], header[5]]);
    segment(rest, length, [address(12), address(16)], ident)
}

/// RFC 8200, sections 3 and 4.
fn ipv6(packet: &[u8], length: u32) -> Result<Segment, Without> {
    let header: &[u8; 40] = packet.first_chunk().ok_or(Without::Header)?;
    let mut left = match u16::from_be_bytes([header[4], header[5]]) {
        0 => length.saturating_sub(40),
        payload => u32::from(payload),
    };
    let address = |at: usize| {
        let mut bytes = [0; 16];
        bytes.copy_from_slice(&header[at..at + 16]);
        IpAddr::V6(Ipv6Addr::from(bytes))
    };
    let mut next = header[6];
    let mut rest = &packet[40..];
    while next != TCP {
        let extension = match next {
            0 | 43 | 60 => 8 * (usize::from(*rest.get(1).ok_or(Without::Header)?) + 1),
            // RFC 4302, section 2.2.
            51 => 4 * (usize::from(*rest.get(1).ok_or(Without::Header)?) + 2),
            44 if short(rest, 2)? & 0xfff9 == 0 => 8,
            44 => return Err(Without::Whole),
            _ => return Err(Without::Tcp),
        };
        next = *rest.first().ok_or(Without::Header)?;
        rest = rest.get(extension..).ok_or(Without::Header)?;
        left = left.checked_sub(extension as u32).ok_or(Without::Header)?;
    }
    segment(rest, left, [address(8), address(24)], 0)
}

pub(crate) fn short(bytes: &[u8], at: usize) -> Result<u16, Without> {
    let two = bytes.get(at..at + 2).ok_or(Without::Header)?;
    Ok(u16::from_be_bytes([two[0], two[1]]))
}

pub(crate) fn word(bytes: &[u8], at: usize) -> Result<u32, Without> {
    let four = bytes.get(at..at + 4).ok_or(Without::Header)?;
    Ok(u32::from_be_bytes([four[0], four[1], four[2], four[3]]))
}
