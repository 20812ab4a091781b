//! What routers say, as bytes: ICMP (RFC 792, 1191, 1812) and ICMPv6 (RFC 4443).
//!
//! All functions take any bytes: what is too short to answer leaves `out` empty.

use crate::packet::Origin;
use longhaul_checksum::{checksum, pseudo_header, sum};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

const ICMP: u8 = 1;
const ICMPV6: u8 = 58;
const TTL: u8 = 64;
/// Most bytes of an ICMP error message (RFC 1812 section 4.3.2.3).
const MOST_V4: usize = 576;
/// Most bytes of an ICMPv6 error message: the IPv6 minimum MTU (RFC 4443 section 2.4 c).
const MOST_V6: usize = 1280;

/// What routing needs of a packet's headers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// 4 or 6.
    pub version: u8,
    /// Source address.
    pub source: IpAddr,
    /// Destination address.
    pub destination: IpAddr,
    /// TTL or hop limit.
    pub ttl: u8,
    /// Must not be fragmented; always so in IPv6.
    pub dont_fragment: bool,
    /// Bytes of IP header, without IPv6 extensions.
    pub header_len: usize,
    /// Protocol, or IPv6 next header.
    pub protocol: u8,
    /// Must not be answered by an ICMP error (RFC 1122 section 3.2.2, RFC 4443 section 2.4 e).
    pub no_reply: bool,
    /// Is an ICMP echo request.
    pub echo_request: bool,
    /// DSCP (upper six bits) and ECN (lower two).
    pub class: u8,
    /// A hash of hosts, protocol, and ports where there are any.
    pub flow: u32,
    /// Fragment offset in units of 8 bytes, and more-fragments bit, of IPv4 (RFC 791).
    fragment: u16,
}

const FRAGMENT_OFFSET: u16 = 0x1fff;
const MORE_FRAGMENTS: u16 = 0x2000;

impl Header {
    /// Whether it is a part of an IPv4 packet; only the first part has ports.
    pub fn is_fragment(&self) -> bool {
        self.fragment != 0
    }

    /// Whether it is a part but the first.
    pub fn is_later_fragment(&self) -> bool {
        self.fragment & FRAGMENT_OFFSET != 0
    }
}

/// Reads the headers of an IP packet; `None` if it is none.
pub fn parse(packet: &[u8]) -> Option<Header> {
    match packet.first()? >> 4 {
        4 => parse_v4(packet),
        6 => parse_v6(packet),
        _ => None,
    }
}

/// What pacing may ask about an IP packet; a fragment but the first has no ports.
pub fn origin(packet: &[u8]) -> Origin {
    let Some(header) = parse(packet) else { return Origin::default() };
    let ports = match packet.get(header.header_len..header.header_len + 4) {
        Some(&[a, b, c, d]) if has_ports(header.protocol) && !header.is_later_fragment() => {
            Some((u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d])))
        }
        _ => None,
    };
    Origin { protocol: Some(header.protocol), ports, sender: None }
}

/// TCP, UDP, DCCP, SCTP and UDP-Lite.
fn has_ports(protocol: u8) -> bool {
    matches!(protocol, 6 | 17 | 33 | 132 | 136)
}

fn parse_v4(packet: &[u8]) -> Option<Header> {
    let fixed: &[u8; 20] = packet.first_chunk()?;
    let header_len = usize::from(fixed[0] & 0x0f) * 4;
    let payload = packet.get(header_len..).filter(|_| header_len >= 20)?;
    let source = Ipv4Addr::new(fixed[12], fixed[13], fixed[14], fixed[15]);
    let destination = Ipv4Addr::new(fixed[16], fixed[17], fixed[18], fixed[19]);
    let flags = u16::from_be_bytes([fixed[6], fixed[7]]);
    let fragment = flags & (MORE_FRAGMENTS | FRAGMENT_OFFSET);
    let first = fragment & FRAGMENT_OFFSET == 0;
    let icmp = (fixed[9] == ICMP && first).then(|| payload.first().copied().unwrap_or(3));
    let is_error = icmp.is_some_and(|kind| matches!(kind, 3 | 4 | 5 | 11 | 12));
    let not_one_host =
        source.is_unspecified() || source.is_multicast() || source.is_broadcast() || source.is_loopback();
    Some(Header {
        version: 4,
        source: source.into(),
        destination: destination.into(),
        ttl: fixed[8],
        dont_fragment: flags & 0x4000 != 0,
        header_len,
        protocol: fixed[9],
        no_reply: is_error
            || !first
            || not_one_host
            || destination.is_multicast()
            || destination.is_broadcast(),
        echo_request: icmp == Some(8),
        class: fixed[1],
        flow: flow(&packet[12..20], fixed[9], if fragment == 0 { payload } else { &[] }),
        fragment,
    })
}

fn parse_v6(packet: &[u8]) -> Option<Header> {
    let fixed: &[u8; 40] = packet.first_chunk()?;
    let address =
        |at: usize| -> Option<Ipv6Addr> { Some(Ipv6Addr::from(*packet.get(at..)?.first_chunk::<16>()?)) };
    let (source, destination) = (address(8)?, address(24)?);
    let icmp = (fixed[6] == ICMPV6).then(|| packet.get(40).copied().unwrap_or(0));
    let is_error = icmp.is_some_and(|kind| kind < 128);
    Some(Header {
        version: 6,
        source: source.into(),
        destination: destination.into(),
        ttl: fixed[7],
        dont_fragment: true,
        header_len: 40,
        protocol: fixed[6],
        no_reply: is_error || source.is_unspecified() || source.is_multicast(),
        echo_request: icmp == Some(128),
        class: fixed[0] << 4 | fixed[1] >> 4,
        flow: flow(&packet[8..40], fixed[6], &packet[40..]),
        fragment: 0,
    })
}

/// A hash (FNV-1a) of addresses and protocol, and of the ports of TCP, UDP, UDP-Lite, DCCP and SCTP.
fn flow(addresses: &[u8], protocol: u8, transport: &[u8]) -> u32 {
    let ports = if has_ports(protocol) { transport.get(..4).unwrap_or(&[]) } else { &[] };
    let bytes = addresses.iter().chain([&protocol]).chain(ports);
    bytes.fold(0x811c_9dc5, |hash, &byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

/// The message that `original` has passed too many routers.
pub fn time_exceeded(original: &[u8], router: IpAddr, out: &mut Vec<u8>) {
    error(original, router, (11, 0), (3, 0), 0, out);
}

/// The message that `original` does not fit a link of `mtu` bytes (RFC 1191, RFC 4443 section 3.2).
pub fn too_big(original: &[u8], router: IpAddr, mtu: u32, out: &mut Vec<u8>) {
    error(original, router, (3, 4), (2, 0), mtu, out);
}

/// The message that no way leads to `original`'s destination.
pub fn unreachable(original: &[u8], router: IpAddr, out: &mut Vec<u8>) {
    error(original, router, (3, 0), (1, 0), 0, out);
}

/// The message that no socket listens for `original` at its destination.
pub fn port_unreachable(original: &[u8], router: IpAddr, out: &mut Vec<u8>) {
    error(original, router, (3, 3), (1, 4), 0, out);
}

/// The answer to the echo request `request`.
pub fn echo_reply(request: &[u8], out: &mut Vec<u8>) {
    out.clear();
    let Some(header) = parse(request).filter(|header| header.echo_request) else { return };
    let message = &request[header.header_len..];
    if message.len() < 8 {
        return;
    }
    let answer = if header.version == 4 { 0 } else { 129 };
    start(header.destination, header.source, message.len(), out);
    let body = out.len();
    out.extend_from_slice(message);
    out[body] = answer;
    out[body + 2..body + 4].fill(0);
    finish(header.destination, header.source, body, out);
}

fn error(original: &[u8], router: IpAddr, v4: (u8, u8), v6: (u8, u8), mtu: u32, out: &mut Vec<u8>) {
    out.clear();
    let Some(header) = parse(original) else { return };
    let (most, (kind, code)) = if header.version == 4 { (MOST_V4 - 28, v4) } else { (MOST_V6 - 48, v6) };
    let quoted = &original[..original.len().min(most)];
    start(router, header.source, 8 + quoted.len(), out);
    let body = out.len();
    out.extend_from_slice(&[kind, code, 0, 0]);
    out.extend_from_slice(&mtu.to_be_bytes());
    out.extend_from_slice(quoted);
    finish(router, header.source, body, out);
}

/// Writes the IP header in front of `length` bytes of ICMP.
fn start(from: IpAddr, to: IpAddr, length: usize, out: &mut Vec<u8>) {
    match (from, to) {
        (IpAddr::V4(from), IpAddr::V4(to)) => {
            out.extend_from_slice(&[0x45, 0]);
            out.extend_from_slice(&((20 + length) as u16).to_be_bytes());
            out.extend_from_slice(&[0, 0, 0x40, 0, TTL, ICMP, 0, 0]);
            out.extend_from_slice(&from.octets());
            out.extend_from_slice(&to.octets());
            let sum = checksum(sum(&out[..20]));
            out[10..12].copy_from_slice(&sum.to_be_bytes());
        }
        (IpAddr::V6(from), IpAddr::V6(to)) => {
            out.extend_from_slice(&[0x60, 0, 0, 0]);
            out.extend_from_slice(&(length as u16).to_be_bytes());
            out.extend_from_slice(&[ICMPV6, TTL]);
            out.extend_from_slice(&from.octets());
            out.extend_from_slice(&to.octets());
        }
        _ => {}
    }
}

/// Fills in the ICMP checksum of the message that starts at `body`.
fn finish(from: IpAddr, to: IpAddr, body: usize, out: &mut [u8]) {
    let mut total = sum(&out[body..]);
    if let (IpAddr::V6(from), IpAddr::V6(to)) = (from, to) {
        let addresses = [from.octets(), to.octets()].concat();
        total += pseudo_header(&addresses, ICMPV6, out.len() - body);
    }
    out[body + 2..body + 4].copy_from_slice(&checksum(total).to_be_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn udp4() -> Vec<u8> {
        let mut packet = vec![0x45, 0, 0, 100, 0, 0, 0x40, 0, 9, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2];
        packet.resize(100, 7);
        packet
    }

    fn echo6() -> Vec<u8> {
        let mut packet = vec![0x60, 0, 0, 0, 0, 16, ICMPV6, 64];
        packet.extend_from_slice(&"fd00::1".parse::<Ipv6Addr>().unwrap().octets());
        packet.extend_from_slice(&"fd00::2".parse::<Ipv6Addr>().unwrap().octets());
        packet.extend_from_slice(&[128, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
        packet
    }

    #[test]
    fn a_too_big_message_carries_the_mtu_and_sound_checksums() {
        let mut out = Vec::new();
        too_big(&udp4(), "10.0.0.9".parse().unwrap(), 1400, &mut out);
        assert_eq!(out.len(), 128);
        assert_eq!(checksum(sum(&out[..20])), 0, "IPv4 header");
        assert_eq!(checksum(sum(&out[20..])), 0, "ICMP message");
        assert_eq!((out[20], out[21]), (3, 4));
        assert_eq!(u32::from_be_bytes([out[24], out[25], out[26], out[27]]), 1400);
        let header = parse(&out).unwrap();
        assert!(header.no_reply, "errors are never answered by errors");
    }

    #[test]
    fn a_router_answers_an_ipv6_echo() {
        let mut out = Vec::new();
        echo_reply(&echo6(), &mut out);
        let header = parse(&out).unwrap();
        assert_eq!(header.source, "fd00::2".parse::<IpAddr>().unwrap());
        assert_eq!((out[40], &out[44..]), (129, &echo6()[44..]));
        assert_eq!(checksum(pseudo_header(&out[8..40], ICMPV6, 16) + sum(&out[40..])), 0);
    }

    #[test]
    fn errors_quote_no_more_than_the_standards_allow() {
        let mut long = udp4();
        long.resize(1500, 0);
        let mut out = Vec::new();
        time_exceeded(&long, "10.0.0.9".parse().unwrap(), &mut out);
        assert_eq!(out.len(), MOST_V4);
        let mut long = echo6();
        long.resize(9000, 0);
        time_exceeded(&long, "fd00::9".parse().unwrap(), &mut out);
        assert_eq!(out.len(), MOST_V6);
    }

    #[test]
    fn a_later_fragment_is_never_answered() {
        let mut packet = udp4();
        packet[7] = 1;
        assert!(parse(&packet).unwrap().no_reply);
    }

    proptest! {
        #[test]
        fn any_bytes_are_taken(bytes in prop::collection::vec(any::<u8>(), 0..200), first in any::<u8>()) {
            let mut bytes = bytes;
            if let Some(byte) = bytes.first_mut() {
                *byte = if first % 2 == 0 { 0x40 | (first >> 4) } else { 0x60 };
            }
            let mut out = Vec::new();
            for router in ["10.0.0.9".parse().unwrap(), "fd00::9".parse().unwrap()] {
                let same = parse(&bytes).is_some_and(|header| (header.version == 4) == IpAddr::is_ipv4(&router));
                if same {
                    time_exceeded(&bytes, router, &mut out);
                    prop_assert!(parse(&out).is_some());
                }
                echo_reply(&bytes, &mut out);
            }
        }
    }
}
