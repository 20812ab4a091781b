//! Frames of Ethernet: ARP (RFC 826), neighbour discovery (RFC 4861), and what of IP a gateway reads and answers.

use crate::tun::VNET_HEADER;
use longhaul_checksum::{checksum, pseudo_header, sum};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// An Ethernet address.
pub type Mac = [u8; 6];

/// Every station of a segment.
pub const BROADCAST: Mac = [0xff; 6];
const ARP: u16 = 0x0806;
const IPV4: u16 = 0x0800;
const IPV6: u16 = 0x86dd;
const ARP_REQUEST: u8 = 1;
const ARP_REPLY: u8 = 2;
const ICMP: u8 = 1;
const ICMPV6: u8 = 58;
const SOLICITATION: u8 = 135;
const ADVERTISEMENT: u8 = 136;
/// Options of neighbour discovery: link-layer address of the source, of the target.
const SOURCE_ADDRESS: u8 = 1;
const TARGET_ADDRESS: u8 = 2;
/// Router, solicited, override.
const ADVERTISEMENT_FLAGS: u8 = 0xe0;

/// A message of ARP or of neighbour discovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Discovery {
    /// Whose Ethernet address is asked for.
    pub asked: Option<IpAddr>,
    /// Who has sent it, with the Ethernet address if the message has it.
    pub sender: Option<(IpAddr, Option<Mac>)>,
}

/// Reads the message of ARP or neighbour discovery that a frame of this `kind` carries; `None` if it is another frame.
pub fn discovery(kind: u16, packet: &[u8]) -> Option<Discovery> {
    match kind {
        ARP => {
            // Ethernet and IPv4, of 6 and 4 bytes.
            let operation = packet.get(..28).filter(|packet| packet[..6] == [0, 1, 8, 0, 6, 4])?[7];
            let mac = Mac::try_from(&packet[8..14]).ok()?;
            let (from, target) = (ipv4(&packet[14..18])?, ipv4(&packet[24..28])?);
            let is_probe = from == IpAddr::V4(Ipv4Addr::UNSPECIFIED);
            Some(Discovery {
                asked: (operation == ARP_REQUEST).then_some(target),
                sender: (!is_probe).then_some((from, Some(mac))),
            })
        }
        IPV6 => {
            let icmp = packet.get(40..64).filter(|_| packet[0] >> 4 == 6 && packet[6] == ICMPV6)?;
            let (from, target) = (ipv6(&packet[8..24])?, ipv6(&icmp[8..24])?);
            // Only what comes from the segment itself: nobody has forwarded it.
            let is_valid = packet[7] == 255 && icmp[1] == 0;
            match icmp[0] {
                SOLICITATION if is_valid => Some(Discovery {
                    asked: Some(target),
                    sender: (from != IpAddr::V6(Ipv6Addr::UNSPECIFIED))
                        .then(|| (from, option(&packet[64..], SOURCE_ADDRESS))),
                }),
                ADVERTISEMENT if is_valid => Some(Discovery {
                    asked: None,
                    sender: Some((target, option(&packet[64..], TARGET_ADDRESS))),
                }),
                _ => None,
            }
        }
        _ => None,
    }
}

/// The Ethernet address in an option of neighbour discovery.
fn option(mut options: &[u8], wanted: u8) -> Option<Mac> {
    while let Some((&kind, &units)) = options.first().zip(options.get(1)) {
        if kind == wanted {
            return Mac::try_from(options.get(2..8)?).ok();
        }
        if units == 0 {
            return None;
        }
        options = options.get(usize::from(units) * 8..)?;
    }
    None
}

/// Writes a frame, behind a virtio header, that asks for `target` on behalf of `own`.
pub fn request(out: &mut Vec<u8>, own: (Mac, IpAddr), target: IpAddr) {
    match (own.1, target) {
        (IpAddr::V4(from), IpAddr::V4(target)) => {
            arp(out, ARP_REQUEST, (own.0, from), (BROADCAST, [0; 6], target));
        }
        (IpAddr::V6(from), IpAddr::V6(target)) => {
            let group = solicited_address(target);
            let message = (SOLICITATION, 0, SOURCE_ADDRESS);
            neighbour_message(out, message, (own.0, from), (multicast(group), group), target);
        }
        _ => {}
    }
}

/// Writes the answer to a question for `own`, which came from the station `from`.
pub fn answer(out: &mut Vec<u8>, own: (Mac, IpAddr), question: &Discovery, from: Mac) {
    match own.1 {
        IpAddr::V4(address) => {
            let asking = match question.sender {
                Some((IpAddr::V4(asking), _)) => asking,
                _ => Ipv4Addr::UNSPECIFIED,
            };
            arp(out, ARP_REPLY, (own.0, address), (from, from, asking));
        }
        IpAddr::V6(address) => {
            let to = if let Some((IpAddr::V6(asking), _)) = question.sender {
                (from, asking)
            } else {
                // Duplicate address detection: all nodes (RFC 4861, section 7.2.4).
                let all = Ipv6Addr::new(0xff02, 0, 0, 0, 0, 0, 0, 1);
                (multicast(all), all)
            };
            let message = (ADVERTISEMENT, ADVERTISEMENT_FLAGS, TARGET_ADDRESS);
            neighbour_message(out, message, (own.0, address), to, address);
        }
    }
}

fn arp(out: &mut Vec<u8>, operation: u8, own: (Mac, Ipv4Addr), to: (Mac, Mac, Ipv4Addr)) {
    out.extend_from_slice(&[0; VNET_HEADER]);
    out.extend_from_slice(&to.0);
    out.extend_from_slice(&own.0);
    out.extend_from_slice(&ARP.to_be_bytes());
    out.extend_from_slice(&[0, 1, 8, 0, 6, 4, 0, operation]);
    out.extend_from_slice(&own.0);
    out.extend_from_slice(&own.1.octets());
    out.extend_from_slice(&to.1);
    out.extend_from_slice(&to.2.octets());
    // The shortest frame of Ethernet, without its check sequence.
    out.resize(VNET_HEADER + 60, 0);
}

/// A message of neighbour discovery with one option, which has the Ethernet address of `own`.
fn neighbour_message(
    out: &mut Vec<u8>,
    (kind, flags, option): (u8, u8, u8),
    own: (Mac, Ipv6Addr),
    to: (Mac, Ipv6Addr),
    target: Ipv6Addr,
) {
    out.extend_from_slice(&[0; VNET_HEADER]);
    out.extend_from_slice(&to.0);
    out.extend_from_slice(&own.0);
    out.extend_from_slice(&IPV6.to_be_bytes());
    let start = out.len();
    out.extend_from_slice(&[0x60, 0, 0, 0, 0, 32, ICMPV6, 255]);
    out.extend_from_slice(&own.1.octets());
    out.extend_from_slice(&to.1.octets());
    out.extend_from_slice(&[kind, 0, 0, 0, flags, 0, 0, 0]);
    out.extend_from_slice(&target.octets());
    out.extend_from_slice(&[option, 1]);
    out.extend_from_slice(&own.0);
    let sum = icmpv6_checksum(&out[start..]);
    out[start + 42..start + 44].copy_from_slice(&sum.to_be_bytes());
}

/// The Ethernet header of an IP packet for `address`.
pub fn ethernet(to: Mac, from: Mac, address: IpAddr) -> [u8; 14] {
    let mut header = [0; 14];
    header[..6].copy_from_slice(&to);
    header[6..12].copy_from_slice(&from);
    header[12..].copy_from_slice(&if address.is_ipv4() { IPV4 } else { IPV6 }.to_be_bytes());
    header
}

/// The Ethernet group in which a station with this IPv6 address is asked for; IPv4 broadcasts.
pub fn solicited_group(address: IpAddr) -> Option<Mac> {
    match address {
        IpAddr::V6(address) => Some(multicast(solicited_address(address))),
        IpAddr::V4(_) => None,
    }
}

/// RFC 4291, section 2.7.1.
fn solicited_address(address: Ipv6Addr) -> Ipv6Addr {
    let [.., a, b, c] = address.octets();
    Ipv6Addr::new(0xff02, 0, 0, 0, 0, 1, 0xff00 | u16::from(a), u16::from_be_bytes([b, c]))
}

/// RFC 2464, section 7.
fn multicast(address: Ipv6Addr) -> Mac {
    let [.., a, b, c, d] = address.octets();
    [0x33, 0x33, a, b, c, d]
}

/// Bytes of the IP packet that a frame of this `kind` carries, without padding; `None` if it carries none.
pub fn ip_length(kind: u16, packet: &[u8], is_super_packet: bool) -> Option<usize> {
    let version = packet.first()? >> 4;
    let (expected, stated) = match kind {
        IPV4 => (4, usize::from(u16::from_be_bytes([*packet.get(2)?, *packet.get(3)?]))),
        IPV6 => (6, 40 + usize::from(u16::from_be_bytes([*packet.get(4)?, *packet.get(5)?]))),
        _ => return None,
    };
    if version != expected {
        return None;
    }
    if is_super_packet {
        Some(packet.len())
    } else {
        (stated >= 20 && stated <= packet.len()).then_some(stated)
    }
}

/// Source and destination of an IP packet.
pub fn addresses(packet: &[u8]) -> Option<(IpAddr, IpAddr)> {
    match packet.first()? >> 4 {
        4 => Some((ipv4(packet.get(12..16)?)?, ipv4(packet.get(16..20)?)?)),
        6 => Some((ipv6(packet.get(8..24)?)?, ipv6(packet.get(24..40)?)?)),
        _ => None,
    }
}

/// The answer to an ICMP echo request; `None` if it is another packet.
pub fn echo_reply(packet: &[u8]) -> Option<Vec<u8>> {
    let mut reply = packet.to_vec();
    match packet.first()? >> 4 {
        4 => {
            let header = usize::from(packet[0] & 15) * 4;
            let is_fragment = u16::from_be_bytes([*packet.get(6)?, *packet.get(7)?]) & 0x3fff != 0;
            if *packet.get(9)? != ICMP || is_fragment || packet.get(header..header + 8)?[..2] != [8, 0] {
                return None;
            }
            reply[12..16].copy_from_slice(&packet[16..20]);
            reply[16..20].copy_from_slice(&packet[12..16]);
            reply[8] = 64;
            reply[10..12].fill(0);
            let found = checksum(sum(&reply[..header]));
            reply[10..12].copy_from_slice(&found.to_be_bytes());
            reply[header] = 0;
            reply[header + 2..header + 4].fill(0);
            let found = checksum(sum(&reply[header..]));
            reply[header + 2..header + 4].copy_from_slice(&found.to_be_bytes());
        }
        6 => {
            if *packet.get(6)? != ICMPV6 || packet.get(40..48)?[..2] != [128, 0] {
                return None;
            }
            reply[8..24].copy_from_slice(&packet[24..40]);
            reply[24..40].copy_from_slice(&packet[8..24]);
            reply[7] = 64;
            reply[40] = 129;
            reply[42..44].fill(0);
            let sum = icmpv6_checksum(&reply);
            reply[42..44].copy_from_slice(&sum.to_be_bytes());
        }
        _ => return None,
    }
    Some(reply)
}

/// The checksum of an ICMP packet of IPv6 whose checksum field is zero (RFC 4443, section 2.3).
fn icmpv6_checksum(packet: &[u8]) -> u16 {
    checksum(pseudo_header(&packet[8..40], ICMPV6, packet.len() - 40) + sum(&packet[40..]))
}

fn ipv4(bytes: &[u8]) -> Option<IpAddr> {
    Some(IpAddr::from(<[u8; 4]>::try_from(bytes).ok()?))
}

fn ipv6(bytes: &[u8]) -> Option<IpAddr> {
    Some(IpAddr::from(<[u8; 16]>::try_from(bytes).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    const OURS: Mac = [2, 0, 0, 0, 0, 1];
    const THEIRS: Mac = [2, 0, 0, 0, 0, 2];

    fn read(frame: &[u8]) -> Discovery {
        let frame = &frame[VNET_HEADER..];
        discovery(u16::from_be_bytes([frame[12], frame[13]]), &frame[14..]).unwrap()
    }

    #[test]
    fn the_answer_to_a_request_names_the_address_that_was_asked_for() {
        for (ours, theirs) in [("192.168.1.1", "192.168.1.2"), ("fd00:1::1", "fd00:1::2")] {
            let (ours, theirs): (IpAddr, IpAddr) = (ours.parse().unwrap(), theirs.parse().unwrap());
            let mut frame = Vec::new();
            request(&mut frame, (THEIRS, theirs), ours);
            let question = read(&frame);
            assert_eq!(question, Discovery { asked: Some(ours), sender: Some((theirs, Some(THEIRS))) });
            frame.clear();
            answer(&mut frame, (OURS, ours), &question, THEIRS);
            assert_eq!(frame[VNET_HEADER..VNET_HEADER + 12], [THEIRS, OURS].concat());
            assert_eq!(read(&frame), Discovery { asked: None, sender: Some((ours, Some(OURS))) });
        }
    }

    #[test]
    fn neighbour_messages_have_a_checksum_that_adds_up() {
        let (ours, theirs): (IpAddr, IpAddr) = ("fd00:1::1".parse().unwrap(), "fd00:1::2".parse().unwrap());
        let mut frame = Vec::new();
        request(&mut frame, (OURS, ours), theirs);
        let packet = &frame[VNET_HEADER + 14..];
        assert_eq!(icmpv6_checksum(packet), 0);
        assert_eq!(frame[VNET_HEADER..VNET_HEADER + 6], [0x33, 0x33, 0xff, 0, 0, 2]);
        assert_eq!(solicited_group(theirs), Some([0x33, 0x33, 0xff, 0, 0, 2]));
    }

    #[test]
    fn a_probe_for_a_duplicate_address_teaches_no_address() {
        let mut frame = Vec::new();
        request(&mut frame, (THEIRS, IpAddr::V4(Ipv4Addr::UNSPECIFIED)), "192.168.1.1".parse().unwrap());
        assert_eq!(read(&frame).sender, None);
    }

    #[test]
    fn padding_of_short_frames_is_not_part_of_the_packet() {
        let mut packet = vec![0u8; 46];
        (packet[0], packet[3]) = (0x45, 28);
        assert_eq!(ip_length(IPV4, &packet, false), Some(28));
        assert_eq!(ip_length(IPV6, &packet, false), None);
        packet[3] = 60;
        assert_eq!(ip_length(IPV4, &packet, false), None, "it is cut off");
        assert_eq!(ip_length(ARP, &packet, false), None);
    }

    #[test]
    fn an_echo_reply_goes_back_with_a_checksum_that_adds_up() {
        let mut packet = vec![0x45, 0, 0, 32, 0, 0, 0, 0, 9, ICMP, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2];
        packet.extend_from_slice(&[8, 0, 0, 0, 1, 2, 0, 1, 5, 6, 7, 8]);
        let reply = echo_reply(&packet).unwrap();
        assert_eq!(reply[12..20], [10, 0, 0, 2, 10, 0, 0, 1]);
        assert_eq!((reply[20], reply[8]), (0, 64));
        assert_eq!((checksum(sum(&reply[..20])), checksum(sum(&reply[20..]))), (0, 0));
        packet[20] = 0;
        assert!(echo_reply(&packet).is_none(), "it is a reply itself");
        let mut packet = [&[0x60, 0, 0, 0, 0, 8, ICMPV6, 9][..], &[1; 16], &[2; 16]].concat();
        packet.extend_from_slice(&[128, 0, 0, 0, 1, 2, 0, 1]);
        let reply = echo_reply(&packet).unwrap();
        assert_eq!((reply[8], reply[24], reply[40]), (2, 1, 129));
        assert_eq!(icmpv6_checksum(&reply), 0);
    }

    #[test]
    fn malformed_messages_are_not_read_beyond_their_end() {
        let mut frame = Vec::new();
        request(&mut frame, (OURS, "fd00:1::1".parse().unwrap()), "fd00:1::2".parse().unwrap());
        let packet = &frame[VNET_HEADER + 14..];
        for length in 0..packet.len() {
            let _ = discovery(IPV6, &packet[..length]);
            let _ = discovery(ARP, &packet[..length]);
            let _ = ip_length(IPV6, &packet[..length], false);
            let _ = ip_length(IPV4, &packet[..length], false);
            let _ = addresses(&packet[..length]);
            let _ = echo_reply(&packet[..length]);
        }
    }
}
