//! Packets of the network as frames of the hosts' virtual network cards, and back.
//!
//! The network carries IP packets behind the 10 bytes of `virtio_net_hdr`; a card wants Ethernet frames behind the 12
//! bytes of `virtio_net_hdr_v1` (VIRTIO 1.2, section 5.1.6), whose offsets count from the Ethernet header on.

use crate::engine::Ports;
use crate::tun::VNET_HEADER;
use longhaul_units::{Span, Time};
use longhaul_virtual::vhost::NET_HEADER_BYTES;
use std::io::{self, IoSlice};

/// Bytes of an Ethernet header.
const ETHERNET: usize = 14;
const IPV4: [u8; 2] = [0x08, 0x00];
const IPV6: [u8; 2] = [0x86, 0xdd];
/// Where the offsets `hdr_len` and `csum_start` are in both headers.
const OFFSETS: [usize; 2] = [2, 6];

/// The address of the card of the host at place `node` among the nodes: locally administered.
pub fn address(node: usize) -> [u8; 6] {
    let [.., a, b, c, d] = (node as u64 + 1).to_be_bytes();
    [0x02, 0, a, b, c, d]
}

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
}

impl Ports for Nics {
    fn now(&self) -> Time {
        self.now
    }

    fn written_at(&self, due: Time) -> Time {
        due
    }

    fn write(&mut self, host: usize, at: Time, _link_header: &[u8], parts: &[IoSlice<'_>]) -> io::Result<()> {
        let mut bytes = self.spare.pop().unwrap_or_default();
        bytes.clear();
        bytes.resize(NET_HEADER_BYTES + ETHERNET - VNET_HEADER, 0);
        for part in parts {
            bytes.extend_from_slice(part);
        }
        let begin = NET_HEADER_BYTES + ETHERNET;
        let Some(&first) = bytes.get(begin) else { return Err(io::ErrorKind::InvalidInput.into()) };
        let header: [u8; VNET_HEADER] = std::array::from_fn(|at| bytes[begin - VNET_HEADER + at]);
        bytes[..VNET_HEADER].copy_from_slice(&header);
        bytes[VNET_HEADER..begin].fill(0);
        shift(&mut bytes, |offset| offset + ETHERNET as u16);
        bytes[NET_HEADER_BYTES..NET_HEADER_BYTES + 6].copy_from_slice(&address(host));
        bytes[begin - 2..begin].copy_from_slice(if first >> 4 == 6 { &IPV6 } else { &IPV4 });
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

/// Puts the IP packet of a frame that a card sent into `buffer`, with its header; returns its length, or `None` if it
/// carries none.
pub fn packet_of(frame: &[u8], buffer: &mut [u8]) -> Option<usize> {
    let packet = frame.get(NET_HEADER_BYTES + ETHERNET..)?;
    let kind = &frame[NET_HEADER_BYTES + ETHERNET - 2..NET_HEADER_BYTES + ETHERNET];
    let length = VNET_HEADER + packet.len();
    if (kind != IPV4 && kind != IPV6) || length > buffer.len() {
        return None;
    }
    buffer[..VNET_HEADER].copy_from_slice(&frame[..VNET_HEADER]);
    buffer[VNET_HEADER..length].copy_from_slice(packet);
    shift(buffer, |offset| offset.saturating_sub(ETHERNET as u16));
    Some(length)
}

/// Whether a frame that a card sent is a segment of TCP.
pub fn is_tcp(frame: &[u8]) -> bool {
    const TCP: u8 = 6;
    let Some(packet) = frame.get(NET_HEADER_BYTES + ETHERNET..) else { return false };
    let protocol = match packet.first().map(|first| first >> 4) {
        Some(4) => packet.get(9),
        Some(6) => packet.get(6),
        _ => None,
    };
    protocol == Some(&TCP)
}

/// Moves the offsets of a header that says anything.
fn shift(header: &mut [u8], by: impl Fn(u16) -> u16) {
    if header[..2] == [0, 0] {
        return;
    }
    for at in OFFSETS {
        let offset = by(u16::from_le_bytes([header[at], header[at + 1]]));
        header[at..at + 2].copy_from_slice(&offset.to_le_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A TCP packet over IPv4 whose checksum is to be completed.
    fn packet() -> Vec<u8> {
        let mut packet = vec![1, 1, 54, 0, 0xa8, 5, 20, 0, 16, 0];
        packet.push(0x45);
        packet.extend(1..60);
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
        assert_eq!(frame.bytes[12..18], [2, 0, 0, 0, 0, 4]);
        assert_eq!(frame.bytes[24..27], [8, 0, 0x45]);
        let mut buffer = [0; 100];
        let length = packet_of(&frame.bytes, &mut buffer).unwrap();
        assert_eq!(buffer[..length], packet());
    }

    #[test]
    fn frames_that_carry_no_ip_packet_are_none() {
        let mut frame = vec![0; 60];
        frame[24..26].copy_from_slice(&[0x08, 0x06]);
        assert_eq!(packet_of(&frame, &mut [0; 100]), None);
        assert_eq!(packet_of(&frame[..20], &mut [0; 100]), None);
        frame[25] = 0;
        assert_eq!(packet_of(&frame, &mut [0; 20]), None, "no room");
        assert!(packet_of(&frame, &mut [0; 100]).is_some());
    }
}
