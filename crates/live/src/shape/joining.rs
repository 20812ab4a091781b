//! Which segments may be written together with those before, as one super-packet.
//!
//! The rules are those of the kernel's generic receive offload (`tcp_gro_receive`, `inet_gro_receive`): the headers
//! differ in nothing but what segmentation changes, and only the last segment is shorter, or has PSH or FIN.

use super::{
    HEADER_ROOM, Run, Shape, TCP_CWR, TCP_FIN, TCP_PSH, VIRTIO_NET_HDR_F_NEEDS_CSUM, VIRTIO_NET_HDR_GSO_ECN,
    VIRTIO_NET_HDR_GSO_TCPV4, VIRTIO_NET_HDR_GSO_TCPV6, VIRTIO_NET_HDR_GSO_UDP_L4,
};
use crate::tun::VNET_HEADER;

const TCP: u8 = 6;
const UDP: u8 = 17;
const TCP_ACK: u8 = 0x10;
const TCP_ECE: u8 = 0x40;
/// "Don't fragment" of IPv4, and what a fragment has: the bit of more to follow, and an offset.
const DONT_FRAGMENT: u16 = 0x4000;
const FRAGMENT: u16 = 0x3fff;
/// The largest IP packet.
const LARGEST_PACKET: usize = 65_535;
/// Most datagrams of a UDP super-packet: `UDP_MAX_SEGMENTS` of Linux before 6.9.
const MOST_DATAGRAMS: u32 = 64;

impl Shape {
    /// The shape of a plain packet that is one segment of TCP or one datagram of UDP, with payload and with a checksum
    /// that the receiver completes; `None` for all others.
    pub(super) fn lone_segment(&self, packet: &[u8]) -> Option<Self> {
        let (protocol, simple) = if self.version == 4 {
            let fragment = u16::from_be_bytes([packet[6], packet[7]]) & FRAGMENT != 0;
            let length = usize::from(u16::from_be_bytes([packet[2], packet[3]]));
            (packet[9], self.transport == 20 && !fragment && length == packet.len())
        } else {
            let length = usize::from(u16::from_be_bytes([packet[4], packet[5]]));
            (packet[6], length + 40 == packet.len())
        };
        let transport = usize::from(self.transport);
        let sound = simple
            && self.flags & VIRTIO_NET_HDR_F_NEEDS_CSUM != 0
            && usize::from(self.checksum_start) == transport;
        let (gso_type, header) = match (protocol, self.checksum_offset) {
            (TCP, 16) if self.version == 4 => (VIRTIO_NET_HDR_GSO_TCPV4, tcp_header(packet, transport)?),
            (TCP, 16) => (VIRTIO_NET_HDR_GSO_TCPV6, tcp_header(packet, transport)?),
            (UDP, 6) => (VIRTIO_NET_HDR_GSO_UDP_L4, 8),
            _ => return None,
        };
        let header = transport + header;
        if !sound || header >= packet.len() || header > HEADER_ROOM - VNET_HEADER {
            return None;
        }
        let segment_payload = u16::try_from(packet.len() - header).ok()?;
        Some(Shape { gso_type, header: header as u16, segment_payload, ..*self })
    }

    /// Whether segments of this shape are datagrams of UDP.
    pub fn is_udp(&self) -> bool {
        self.gso_type & !VIRTIO_NET_HDR_GSO_ECN == VIRTIO_NET_HDR_GSO_UDP_L4
    }

    pub(super) fn tcp_flags(&self, packet: &[u8]) -> u8 {
        packet[usize::from(self.transport) + 13]
    }

    /// `run`, which begins in `packet`, with segment `index` of `other` at its end; `None` if that may not follow.
    pub fn join(&self, packet: &[u8], run: &Run, (other, next, index): (&Self, &[u8], u32)) -> Option<Run> {
        let added = other.run(next, index, 1);
        let fits = !run.closed
            && other.segment_payload > 0
            && (other.gso_type, other.transport, other.header, other.version)
                == (self.gso_type, self.transport, self.header, self.version)
            && added.payload <= usize::from(self.segment_payload)
            && usize::from(self.header) + run.payload + added.payload <= LARGEST_PACKET
            && self.continues_ip(packet, next, (run.first + run.count, index));
        let follows = || {
            if self.is_udp() {
                run.count < MOST_DATAGRAMS && self.field(packet, 0..4) == self.field(next, 0..4)
            } else {
                self.continues_tcp(packet, run, (next, other, index))
            }
        };
        (fits && follows()).then_some(Run {
            count: run.count + 1,
            payload: run.payload + added.payload,
            end_flags: added.end_flags,
            closed: added.end_flags != 0 || added.payload < usize::from(self.segment_payload),
            ..*run
        })
    }

    /// Whether the IP headers are those of one super-packet, at these positions in it and in the next packet.
    fn continues_ip(&self, packet: &[u8], next: &[u8], (end, index): (u32, u32)) -> bool {
        if self.version == 6 {
            return self.transport == 40 && packet[..4] == next[..4] && packet[6..40] == next[6..40];
        }
        let word = |packet: &[u8], at: usize| u16::from_be_bytes([packet[at], packet[at + 1]]);
        // The identification of a packet that may not be fragmented means nothing (RFC 6864, section 4.1).
        let atomic = word(packet, 6) == DONT_FRAGMENT;
        let in_turn = word(packet, 4).wrapping_add(end as u16) == word(next, 4).wrapping_add(index as u16);
        self.transport == 20
            && packet[..2] == next[..2]
            && (atomic || in_turn)
            && packet[6..10] == next[6..10]
            && packet[12..20] == next[12..20]
    }

    fn continues_tcp(&self, packet: &[u8], run: &Run, (next, other, index): (&[u8], &Self, u32)) -> bool {
        let sequence = |shape: &Self, packet: &[u8], skipped: u32| {
            let at = usize::from(shape.transport) + 4;
            let first = u32::from_be_bytes([packet[at], packet[at + 1], packet[at + 2], packet[at + 3]]);
            first.wrapping_add(skipped)
        };
        let behind = run.first * u32::from(self.segment_payload) + run.payload as u32;
        let (flags, next_flags) = (self.tcp_flags(packet), other.tcp_flags(next));
        let kept = !(TCP_FIN | TCP_PSH | TCP_CWR);
        let rest = usize::from(self.header - self.transport);
        sequence(self, packet, behind) == sequence(other, next, index * u32::from(other.segment_payload))
            && flags & kept == next_flags & kept
            && flags & kept & !TCP_ECE == TCP_ACK
            && (index > 0 || next_flags & TCP_CWR == 0)
            // Ports, acknowledgement, header length, window, and options: time stamps among them.
            && self.field(packet, 0..4) == self.field(next, 0..4)
            && self.field(packet, 8..13) == self.field(next, 8..13)
            && self.field(packet, 14..16) == self.field(next, 14..16)
            && self.field(packet, 18..rest) == self.field(next, 18..rest)
    }

    /// Bytes of the transport header.
    fn field<'a>(&self, packet: &'a [u8], at: std::ops::Range<usize>) -> &'a [u8] {
        let transport = usize::from(self.transport);
        &packet[transport + at.start..transport + at.end]
    }
}

/// Bytes of a TCP header; `None` if it has less than 20 (RFC 9293, section 3.1), or is cut off.
fn tcp_header(packet: &[u8], transport: usize) -> Option<usize> {
    let length = usize::from(packet.get(transport + 12)? >> 4) * 4;
    (length >= 20).then_some(length)
}
