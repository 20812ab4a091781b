//! Packets of the network as frames of the hosts' virtual network cards, and back.
//!
//! The network carries packets behind the 10 bytes of `virtio_net_hdr`; a card wants Ethernet frames behind the 12 bytes of
//! `virtio_net_hdr_v1` (VIRTIO 1.2, section 5.1.6), whose offsets count from the Ethernet header on.

use crate::device::{REST, SegmentEnd, frame};
use crate::engine::Ports;
use crate::packet_pool::Filled;
use crate::sys::packet::ETHERNET_HEADER;
use crate::tun::VNET_HEADER;
use longhaul_units::{Span, Time};
use longhaul_virtual::vhost::NET_HEADER_BYTES;
use std::io::{self, IoSlice};

/// A frame that goes to a host.
#[derive(Debug, PartialEq, Eq)]
pub struct Frame {
    /// The host, by position among the nodes.
    pub host: usize,
    /// When it is due.
    pub due: Time,
    /// The frame with its header.
    pub bytes: Vec<u8>,
}

/// The hosts' cards, on a clock that waits for packets.
#[derive(Debug, Default)]
pub struct Nics {
    /// The time.
    pub now: Time,
    /// Frames that are to be given to hosts.
    pub frames: Vec<Frame>,
    /// Buffers to be used again.
    pub spare: Vec<Vec<u8>>,
    /// Whether each node's kernel hands over UDP super-packets.
    pub udp_offload: Vec<bool>,
    /// By node: what is at a switch, where frames keep their Ethernet headers.
    pub segment_ends: Vec<Option<SegmentEnd>>,
}

impl Ports for Nics {
    fn now(&self) -> Time {
        self.now
    }

    fn written_at(&self, due: Time) -> Time {
        due
    }

    fn write(&mut self, host: usize, at: Time, link_header: &[u8], parts: &[IoSlice<'_>]) -> io::Result<()> {
        let mut bytes = self.spare.pop().unwrap_or_default();
        bytes.clear();
        let collect = |parts: &[IoSlice<'_>]| {
            for (number, part) in parts.iter().enumerate() {
                bytes.extend_from_slice(part);
                if number == 0 {
                    bytes.resize(NET_HEADER_BYTES, 0);
                }
            }
            Ok(())
        };
        let at_switch = self.segment_ends.get(host).copied().flatten();
        at_switch.unwrap_or_else(|| SegmentEnd::alone(host)).write(link_header, parts, collect)?;
        self.frames.push(Frame { host, due: at, bytes });
        Ok(())
    }

    fn udp_offload(&self, host: usize) -> bool {
        self.udp_offload.get(host).copied().unwrap_or_default()
    }

    /// Hosts know of packets in advance: nothing is joined because it is late.
    fn joins(&self, coalesce: Span) -> Option<Span> {
        (coalesce > Span::ZERO).then_some(coalesce)
    }
}

/// Puts what a card has sent into `buffer`, with its virtio header; at a switch all frames, elsewhere IP packets without
/// their Ethernet header. Returns where it is, or `None` if it is nothing that the network takes.
pub fn packet_of(sent: &[u8], buffer: &mut [u8], is_at_switch: bool) -> Option<Filled> {
    let vnet = sent.get(..VNET_HEADER)?;
    let (ethernet, rest) = sent.get(NET_HEADER_BYTES..)?.split_first_chunk()?;
    buffer.get_mut(REST..REST + rest.len())?.copy_from_slice(rest);
    buffer[..VNET_HEADER].copy_from_slice(vnet);
    let filled = frame(buffer, rest.len(), ethernet, None);
    if is_at_switch {
        return Some(filled);
    }
    (filled.is_ip && filled.link_header == ETHERNET_HEADER).then_some(Filled { link_header: 0, ..filled })
}

/// Whether a frame that a card sent is a segment of TCP.
pub fn is_tcp(frame: &[u8]) -> bool {
    const TCP: u8 = 6;
    let Some(packet) = frame.get(NET_HEADER_BYTES + ETHERNET_HEADER..) else { return false };
    let protocol = match packet.first().map(|first| first >> 4) {
        Some(4) => packet.get(9),
        Some(6) => packet.get(6),
        _ => None,
    };
    protocol == Some(&TCP)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::mac_of;

    /// A TCP packet over IPv4 whose checksum is to be completed.
    fn packet() -> Vec<u8> {
        let mut packet = vec![1, 1, 54, 0, 0xa8, 5, 20, 0, 16, 0];
        packet.extend([0x45, 0, 0, 60]);
        packet.extend(4..60);
        packet
    }

    #[test]
    fn a_packet_survives_the_way_into_a_frame_and_back() {
        let mut cards = Nics::default();
        let (head, tail) = (&packet()[..30], &packet()[30..]);
        cards.write(3, Time::from_ns(5), &[], &[IoSlice::new(head), IoSlice::new(tail)]).unwrap();
        let frame = cards.frames.pop().unwrap();
        assert_eq!((frame.host, frame.due), (3, Time::from_ns(5)));
        assert_eq!(frame.bytes[..12], [1, 1, 68, 0, 0xa8, 5, 34, 0, 16, 0, 0, 0]);
        assert_eq!(frame.bytes[12..18], mac_of(3));
        assert_eq!(frame.bytes[24..27], [8, 0, 0x45]);
        let mut buffer = [0; 200];
        let filled = packet_of(&frame.bytes, &mut buffer, false).unwrap();
        assert_eq!((filled.link_header, filled.is_ip), (0, true));
        assert_eq!(buffer[filled.start..filled.end], packet()[VNET_HEADER..]);
        assert_eq!(buffer[6..10], packet()[6..10], "where the checksum is");
    }

    #[test]
    fn a_frame_at_a_switch_keeps_its_header() {
        let end = SegmentEnd::new(3, 5);
        let mut cards = Nics { segment_ends: vec![None, None, None, Some(end)], ..Nics::default() };
        let header = [[0xff; 6], [2, 0, 0, 0, 0, 9]].concat();
        let header = [&header[..], &[0x08, 0x06]].concat();
        let body = [&[0; VNET_HEADER][..], &[7; 28]].concat();
        cards.write(3, Time::from_ns(5), &header, &[IoSlice::new(&body)]).unwrap();
        let sent = cards.frames.pop().unwrap().bytes;
        assert_eq!(sent[NET_HEADER_BYTES..], [&header[..], &[7; 28]].concat());
        let mut buffer = [0; 200];
        let filled = packet_of(&sent, &mut buffer, true).unwrap();
        assert_eq!((filled.link_header, filled.is_ip), (ETHERNET_HEADER, false));
        assert_eq!(buffer[filled.start - ETHERNET_HEADER..filled.end], sent[NET_HEADER_BYTES..]);
        // What comes without one is sent by the segment's router.
        cards.write(3, Time::from_ns(5), &[], &[IoSlice::new(&packet())]).unwrap();
        let sent = cards.frames.pop().unwrap().bytes;
        assert_eq!(sent[12..24], [mac_of(3), mac_of(5)].concat());
    }

    #[test]
    fn frames_that_carry_no_ip_packet_are_none() {
        let mut cards = Nics::default();
        cards.write(0, Time::ZERO, &[], &[IoSlice::new(&packet())]).unwrap();
        let good = cards.frames.pop().unwrap().bytes;
        assert!(packet_of(&good, &mut [0; 200], false).is_some());
        assert_eq!(packet_of(&good, &mut [0; 50], false), None, "no room");
        assert_eq!(packet_of(&good[..20], &mut [0; 200], false), None, "cut");
        let arp = [&good[..24], &[0x08, 0x06], &good[26..]].concat();
        assert_eq!(packet_of(&arp, &mut [0; 200], false), None);
        let tagged = [&good[..24], &[0x81, 0, 0, 7, 8, 0], &good[26..]].concat();
        assert_eq!(packet_of(&tagged, &mut [0; 200], false), None, "a VLAN");
    }
}
