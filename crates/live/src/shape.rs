//! How a super-packet divides into the segments that would be on a wire, and how any run of them
//! is written back as one (smaller) super-packet.
//!
//! Virtio headers: `linux/virtio_net.h`. TCP segments repeat the headers with their own sequence
//! number; FIN and PSH belong to the last, CWR to the first (as the kernel's segmentation does).

mod joining;

use crate::tun::VNET_HEADER;
use longhaul_checksum::{checksum, sum, updated};

const VIRTIO_NET_HDR_F_NEEDS_CSUM: u8 = 1;
const VIRTIO_NET_HDR_GSO_NONE: u8 = 0;
const VIRTIO_NET_HDR_GSO_TCPV4: u8 = 1;
const VIRTIO_NET_HDR_GSO_TCPV6: u8 = 4;
const VIRTIO_NET_HDR_GSO_UDP_L4: u8 = 5;
const VIRTIO_NET_HDR_GSO_ECN: u8 = 0x80;
const TCP_FIN: u8 = 0x01;
const TCP_PSH: u8 = 0x08;
const TCP_CWR: u8 = 0x80;
/// Room for the headers of any super-packet.
pub const HEADER_ROOM: usize = VNET_HEADER + 256;

/// Changes of a packet's headers by the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeaderChanges {
    /// Routers that it passed, by which its TTL decreases.
    pub hops: u8,
    /// DSCP and ECN that it has now.
    pub class: u8,
}

/// Consecutive segments that are written as one packet: of one packet, or of several that continue each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Run {
    /// Position of the first in its packet.
    pub first: u32,
    /// How many.
    pub count: u32,
    /// Bytes of payload of them all.
    pub payload: usize,
    /// FIN and PSH of the last segment of TCP.
    end_flags: u8,
    /// Whether no further segment may follow.
    pub closed: bool,
}

/// What the headers of a packet say about its segments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Of IP; 0 for anything else.
    version: u8,
    flags: u8,
    gso_type: u8,
    /// Bytes of IP header (with extensions), so the transport header starts there.
    transport: u16,
    /// Bytes of all headers that each segment repeats; for a plain packet, of the IP header alone.
    header: u16,
    /// Payload bytes of each segment but the last, and of a lone TCP segment or UDP datagram; 0 for a plain packet.
    segment_payload: u16,
    checksum_start: u16,
    checksum_offset: u16,
}

impl Shape {
    /// Reads it from a virtio header and the IP packet behind it; `None` if they contradict each other.
    pub fn of(vnet: &[u8], packet: &[u8]) -> Option<Self> {
        let word = |at: usize| u16::from_ne_bytes([vnet[at], vnet[at + 1]]);
        let version = packet.first()? >> 4;
        let ip_header = match version {
            4 => usize::from(packet[0] & 0x0f) * 4,
            6 => 40,
            _ => return None,
        };
        if packet.len() < ip_header || ip_header < 20 {
            return None;
        }
        let (flags, gso_type) = (vnet[0], vnet[1]);
        let (checksum_start, checksum_offset) = (word(6), word(8));
        let checksummed = usize::from(checksum_start) + usize::from(checksum_offset) + 2;
        if flags & VIRTIO_NET_HDR_F_NEEDS_CSUM != 0 && checksummed > packet.len().min(usize::from(u16::MAX)) {
            return None;
        }
        let plain = Shape {
            version,
            flags: flags & VIRTIO_NET_HDR_F_NEEDS_CSUM,
            gso_type: VIRTIO_NET_HDR_GSO_NONE,
            transport: ip_header as u16,
            header: ip_header as u16,
            segment_payload: 0,
            checksum_start,
            checksum_offset,
        };
        if gso_type & !VIRTIO_NET_HDR_GSO_ECN == VIRTIO_NET_HDR_GSO_NONE {
            return Some(plain.lone_segment(packet).unwrap_or(plain));
        }
        let transport = usize::from(checksum_start);
        let header = match gso_type & !VIRTIO_NET_HDR_GSO_ECN {
            VIRTIO_NET_HDR_GSO_TCPV4 | VIRTIO_NET_HDR_GSO_TCPV6 => {
                transport + usize::from(packet.get(transport + 12)? >> 4) * 4
            }
            VIRTIO_NET_HDR_GSO_UDP_L4 => transport + 8,
            _ => return None,
        };
        let segment_payload = word(4);
        let sound = flags & VIRTIO_NET_HDR_F_NEEDS_CSUM != 0
            && transport >= ip_header
            // A TCP header has at least 20 bytes (RFC 9293, section 3.1), a UDP header 8.
            && header - transport >= if gso_type & !VIRTIO_NET_HDR_GSO_ECN == VIRTIO_NET_HDR_GSO_UDP_L4 { 8 } else { 20 }
            && header <= packet.len()
            && header <= HEADER_ROOM - VNET_HEADER
            && transport + usize::from(checksum_offset) + 2 <= header
            && segment_payload > 0;
        sound.then_some(Shape {
            gso_type,
            transport: transport as u16,
            header: header as u16,
            segment_payload,
            ..plain
        })
    }

    /// The shape of what a frame carries that is not an IP packet, or not a sound one; `None` for a super-packet, or if
    /// the virtio header contradicts it.
    pub fn opaque(vnet: &[u8], payload: &[u8]) -> Option<Self> {
        let word = |at: usize| u16::from_ne_bytes([vnet[at], vnet[at + 1]]);
        let (flags, gso_type) = (vnet[0] & VIRTIO_NET_HDR_F_NEEDS_CSUM, vnet[1]);
        let (checksum_start, checksum_offset) = (word(6), word(8));
        let checksummed = usize::from(checksum_start) + usize::from(checksum_offset) + 2;
        let sound = gso_type == VIRTIO_NET_HDR_GSO_NONE && (flags == 0 || checksummed <= payload.len());
        sound.then_some(Shape {
            version: 0,
            flags,
            gso_type,
            transport: 0,
            header: 0,
            segment_payload: 0,
            checksum_start,
            checksum_offset,
        })
    }

    /// Whether it is not an IP packet.
    pub fn is_opaque(&self) -> bool {
        self.version == 0
    }

    /// How many packets `length` bytes of this shape are on the wire.
    pub fn segments(&self, length: usize) -> u32 {
        if self.segment_payload == 0 {
            return 1;
        }
        let payload = length - usize::from(self.header);
        payload.div_ceil(usize::from(self.segment_payload)).max(1) as u32
    }

    /// Bytes of IP packet that segment `index` of `length` bytes has on the wire.
    pub fn segment_bytes(&self, length: usize, index: u32) -> u32 {
        if self.segment_payload == 0 {
            return length as u32;
        }
        let (_, payload) = self.payload(length, index, 1);
        u32::from(self.header) + payload as u32
    }

    /// Where the payload of segments `first..first + count` lies in the packet: start and length.
    pub fn payload(&self, length: usize, first: u32, count: u32) -> (usize, usize) {
        if self.segment_payload == 0 {
            return (usize::from(self.header), length - usize::from(self.header));
        }
        let step = usize::from(self.segment_payload);
        let start = (usize::from(self.header) + first as usize * step).min(length);
        let end = (start + count as usize * step).min(length);
        (start, end - start)
    }

    /// Segments `first..first + count` of `packet`.
    pub fn run(&self, packet: &[u8], first: u32, count: u32) -> Run {
        let (start, payload) = self.payload(packet.len(), first, count);
        let mut run = Run { first, count, payload, end_flags: 0, closed: self.segment_payload == 0 };
        if start + payload == packet.len() && self.segment_payload > 0 {
            run.end_flags = if self.is_udp() { 0 } else { self.tcp_flags(packet) & (TCP_FIN | TCP_PSH) };
            run.closed = run.end_flags != 0 || payload < count as usize * usize::from(self.segment_payload);
        }
        run
    }

    /// Writes the virtio header and the packet headers of a run of segments, the first of which are those of
    /// `packet`, into `room`, with the changes of the network, and returns their length.
    pub fn headers(
        &self,
        packet: &[u8],
        run: &Run,
        changes: HeaderChanges,
        room: &mut [u8; HEADER_ROOM],
    ) -> usize {
        let header = usize::from(self.header);
        room[..VNET_HEADER].fill(0);
        room[VNET_HEADER..VNET_HEADER + header].copy_from_slice(&packet[..header]);
        let gso_type = if run.count > 1 { self.gso_type } else { VIRTIO_NET_HDR_GSO_NONE };
        room[0] = self.flags;
        room[1] = gso_type;
        if self.flags & VIRTIO_NET_HDR_F_NEEDS_CSUM != 0 {
            let checksummed = self.checksum_start + self.checksum_offset + 2;
            let linear = if self.segment_payload > 0 { self.header } else { checksummed };
            room[2..4].copy_from_slice(&linear.to_ne_bytes());
            room[6..8].copy_from_slice(&self.checksum_start.to_ne_bytes());
            room[8..10].copy_from_slice(&self.checksum_offset.to_ne_bytes());
        }
        if gso_type != VIRTIO_NET_HDR_GSO_NONE {
            room[4..6].copy_from_slice(&self.segment_payload.to_ne_bytes());
        }
        if self.is_opaque() {
            return VNET_HEADER + header;
        }
        let ip = &mut room[VNET_HEADER..VNET_HEADER + header];
        if self.segment_payload > 0 && (run.first > 0 || header + run.payload != packet.len()) {
            self.cut(ip, packet.len(), run);
        } else if changes.hops == 0 && changes.class == class(ip) {
            return VNET_HEADER + header;
        }
        let ttl = if self.version == 4 { 8 } else { 7 };
        ip[ttl] = ip[ttl].saturating_sub(changes.hops);
        set_class(ip, changes.class);
        if self.version == 4 {
            let transport = usize::from(self.ip_header(ip));
            ip[10..12].fill(0);
            let sum = checksum(sum(&ip[..transport]));
            ip[10..12].copy_from_slice(&sum.to_be_bytes());
        }
        VNET_HEADER + header
    }

    /// Turns one bit over behind the IP header of `packet`, a whole virtio packet of one segment, or anywhere in what is
    /// not an IP packet. The checksum is completed first, so that it is wrong afterwards, as on a wire.
    pub fn damage(&self, packet: &mut [u8], draw: u32) {
        let word = |packet: &[u8], at: usize| usize::from(u16::from_ne_bytes([packet[at], packet[at + 1]]));
        if packet[0] & VIRTIO_NET_HDR_F_NEEDS_CSUM != 0 {
            let (start, offset) = (VNET_HEADER + word(packet, 6), word(packet, 8));
            if start + offset + 2 <= packet.len() {
                // The field holds the sum of the pseudo-header, and is part of what is summed up.
                let sum = checksum(sum(&packet[start..]));
                packet[start + offset..start + offset + 2].copy_from_slice(&sum.to_be_bytes());
            }
            packet[..VNET_HEADER].fill(0);
        }
        let bytes = packet.len() - VNET_HEADER;
        let header = match self.version {
            4 => usize::from(packet[VNET_HEADER] & 0x0f) * 4,
            6 => 40,
            _ => 0,
        };
        let bits = bytes.saturating_sub(header) * 8;
        if bits > 0 {
            let bit = draw as usize % bits;
            packet[VNET_HEADER + header + bit / 8] ^= 1 << (bit % 8);
        }
    }

    fn ip_header(&self, ip: &[u8]) -> u16 {
        if self.version == 4 { u16::from(ip[0] & 0x0f) * 4 } else { self.transport }
    }

    /// Turns the headers of a packet of `whole` bytes into those of a run.
    fn cut(&self, ip: &mut [u8], whole: usize, run: &Run) {
        let header = usize::from(self.header);
        let transport = usize::from(self.transport);
        let part = header + run.payload;
        if self.version == 4 {
            ip[2..4].copy_from_slice(&(part as u16).to_be_bytes());
            let identification = u16::from_be_bytes([ip[4], ip[5]]).wrapping_add(run.first as u16);
            ip[4..6].copy_from_slice(&identification.to_be_bytes());
        } else {
            ip[4..6].copy_from_slice(&((part - 40) as u16).to_be_bytes());
        }
        // The checksum field holds the sum of the pseudo-header, in which only the length changes.
        let at = usize::from(self.checksum_start + self.checksum_offset);
        let partial = u16::from_be_bytes([ip[at], ip[at + 1]]);
        let (old, new) = ((whole - transport) as u32, (part - transport) as u32);
        let changed = !updated(!partial, &old.to_be_bytes(), &new.to_be_bytes());
        ip[at..at + 2].copy_from_slice(&changed.to_be_bytes());
        let segment = &mut ip[transport..];
        if self.is_udp() {
            segment[4..6].copy_from_slice(&((part - transport) as u16).to_be_bytes());
            return;
        }
        let offset = run.first.wrapping_mul(u32::from(self.segment_payload));
        let sequence =
            u32::from_be_bytes([segment[4], segment[5], segment[6], segment[7]]).wrapping_add(offset);
        segment[4..8].copy_from_slice(&sequence.to_be_bytes());
        segment[13] = segment[13] & !(TCP_FIN | TCP_PSH) | run.end_flags;
        if run.first > 0 {
            segment[13] &= !TCP_CWR;
        }
    }
}

/// DSCP and ECN of an IP header.
fn class(ip: &[u8]) -> u8 {
    if ip[0] >> 4 == 4 { ip[1] } else { ip[0] << 4 | ip[1] >> 4 }
}

fn set_class(ip: &mut [u8], class: u8) {
    if ip[0] >> 4 == 4 {
        ip[1] = class;
    } else {
        ip[0] = ip[0] & 0xf0 | class >> 4;
        ip[1] = ip[1] & 0x0f | class << 4;
    }
}

#[cfg(test)]
mod tests;
