//! An Ethernet device of the machine as an end of an emulated Ethernet segment: every frame passes, unchanged.

use super::tap::write_frame;
use super::wire_format::{self, Mac};
use super::{DeviceCounters, shift_checksum};
use crate::clock;
use crate::packet_pool::{Filled, MOST_LINK_HEADER};
use crate::sys::packet::{ETHERNET_HEADER, PacketSocket};
use crate::tun::VNET_HEADER;
use longhaul_record::Distribution;
use std::io::{self, IoSlice};
use std::os::fd::{AsFd, BorrowedFd};

/// Bytes of a VLAN tag (IEEE 802.1Q, section 9.3).
const TAG: usize = 4;
/// Kinds of frames with a tag: of customers (802.1Q), and of providers (802.1ad).
const TAGGED: [u16; 2] = [0x8100, 0x88a8];
/// Where what is behind the Ethernet header is read to: a tag that the kernel took out has room in front of it.
pub const REST: usize = VNET_HEADER + ETHERNET_HEADER + 2 * TAG;

/// The port of a host that stands for a device of a bridge.
#[derive(Debug)]
pub struct BridgedPort {
    socket: PacketSocket,
    /// The address of the device itself.
    pub mac: Mac,
    counters: DeviceCounters,
    read_delay: Distribution,
}

impl BridgedPort {
    /// Of a socket that receives all frames of its device.
    pub fn new(socket: PacketSocket, mac: Mac) -> Self {
        BridgedPort { socket, mac, counters: DeviceCounters::default(), read_delay: Distribution::new() }
    }

    /// The descriptor to wait for.
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    /// Reads one frame, with a virtio header whose offsets count from the packet in it; `None` when none waits.
    pub fn read(&mut self, buffer: &mut [u8]) -> io::Result<Option<Filled>> {
        loop {
            let mut ethernet = [0; ETHERNET_HEADER];
            let Some((front, rest)) = buffer.split_at_mut_checked(REST) else {
                return Err(io::ErrorKind::InvalidInput.into());
            };
            let vnet = &mut front[..VNET_HEADER];
            let Some(received) = self.socket.receive(vnet, &mut ethernet, rest)? else { return Ok(None) };
            let Some(bytes) = received.bytes.checked_sub(ETHERNET_HEADER) else { continue };
            if let Some(arrived_ns) = received.arrived_unix_ns {
                self.read_delay.add(clock::unix_ns().saturating_sub(arrived_ns), 1);
            }
            let filled = frame(buffer, bytes, &ethernet, received.tag);
            if buffer[1] != 0 && !filled.is_ip {
                self.counters.unsupported_frames += 1;
                continue;
            }
            return Ok(Some(filled));
        }
    }

    /// Writes a frame: its link-layer header, and a packet whose virtio header, headers and payload may lie apart.
    pub fn write(&self, link_header: &[u8], parts: &[IoSlice<'_>]) -> io::Result<()> {
        write_frame(link_header, parts, |parts| self.socket.send(parts))
    }

    /// What happened, for the records.
    pub fn counters(&mut self) -> DeviceCounters {
        self.counters.receive_dropped_packets += self.socket.take_drops().unwrap_or_default();
        let read_delay = (self.read_delay.count() > 0).then(|| serde_json::json!(self.read_delay.summary()));
        DeviceCounters { read_delay, ..self.counters.clone() }
    }
}

/// Puts the link-layer header of a frame in front of what it carries: `bytes` of that are in `buffer` from [`REST`] on,
/// behind the tags that are still there, and the virtio header at its start counts from the Ethernet header on.
pub fn frame(
    buffer: &mut [u8],
    bytes: usize,
    ethernet: &[u8; ETHERNET_HEADER],
    removed_tag: Option<(u16, u16)>,
) -> Filled {
    let mut kind = u16::from_be_bytes([ethernet[12], ethernet[13]]);
    let mut header = [0; ETHERNET_HEADER + TAG];
    let mut length = 12;
    header[..length].copy_from_slice(&ethernet[..length]);
    if let Some((tag, identifier)) = removed_tag {
        header[length..length + 2].copy_from_slice(&tag.to_be_bytes());
        header[length + 2..length + 4].copy_from_slice(&identifier.to_be_bytes());
        length += TAG;
    }
    header[length..length + 2].copy_from_slice(&kind.to_be_bytes());
    length += 2;
    buffer[REST - length..REST].copy_from_slice(&header[..length]);
    let (mut start, mut end) = (REST, REST + bytes);
    while TAGGED.contains(&kind)
        && start - REST + length + TAG <= MOST_LINK_HEADER
        && let Some(&[_, _, high, low]) = buffer[start..end].first_chunk()
    {
        kind = u16::from_be_bytes([high, low]);
        start += TAG;
    }
    let packet = &buffer[start..end];
    let ip_length = wire_format::ip_length(kind, packet, buffer[1] != 0);
    // What is behind the packet pads the frame; the device pads its copy, too.
    end = ip_length.map_or(end, |bytes| start + bytes);
    let before = (ETHERNET_HEADER + start - REST) as u16;
    shift_checksum(&mut buffer[..VNET_HEADER], |from| from.checked_sub(before));
    Filled { start, end, link_header: length + start - REST, is_ip: ip_length.is_some() }
}

/// Destination and source of a frame with this link-layer header.
pub fn stations(link_header: &[u8]) -> Option<(Mac, Mac)> {
    Some((*link_header.first_chunk()?, *link_header.get(6..)?.first_chunk()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ADDRESSES: [u8; 12] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12];

    /// What becomes of a frame of this kind with `rest` behind its Ethernet header: its link-layer header and payload.
    fn taken(kind: u16, rest: &[u8], tag: Option<(u16, u16)>) -> (Filled, Vec<u8>, Vec<u8>) {
        let mut buffer = vec![0xee; 2_048];
        buffer[..VNET_HEADER].copy_from_slice(&[1, 0, 0, 0, 0, 0, 34, 0, 6, 0]);
        buffer[REST..REST + rest.len()].copy_from_slice(rest);
        let mut ethernet = [0; ETHERNET_HEADER];
        ethernet[..12].copy_from_slice(&ADDRESSES);
        ethernet[12..].copy_from_slice(&kind.to_be_bytes());
        let filled = frame(&mut buffer, rest.len(), &ethernet, tag);
        let link = buffer[filled.start - filled.link_header..filled.start].to_vec();
        let checksum_start = u16::from_ne_bytes([buffer[6], buffer[7]]);
        assert_eq!(usize::from(checksum_start), 34 - ETHERNET_HEADER - (filled.start - REST));
        (filled, link, buffer[filled.start..filled.end].to_vec())
    }

    fn packet() -> Vec<u8> {
        let mut packet = vec![0; 28];
        packet[0] = 0x45;
        packet[3] = 28;
        packet
    }

    #[test]
    fn a_frame_is_its_link_layer_header_and_its_packet_without_padding() {
        let padded = [packet(), vec![0; 18]].concat();
        let (filled, link, payload) = taken(0x0800, &padded, None);
        assert!(filled.is_ip);
        assert_eq!(link, [&ADDRESSES[..], &[8, 0]].concat());
        assert_eq!(payload, packet());
    }

    #[test]
    fn tags_are_parts_of_the_link_layer_header_wherever_the_kernel_has_them() {
        let (filled, link, payload) = taken(0x0800, &packet(), Some((0x8100, 0x2064)));
        assert!(filled.is_ip);
        assert_eq!(link, [&ADDRESSES[..], &[0x81, 0, 0x20, 0x64, 8, 0]].concat());
        assert_eq!(payload, packet());
        let inner = [&[0, 7, 8, 0][..], &packet()].concat();
        let (filled, link, payload) = taken(0x8100, &inner, Some((0x88a8, 9)));
        assert!(filled.is_ip);
        assert_eq!(link, [&ADDRESSES[..], &[0x88, 0xa8, 0, 9, 0x81, 0, 0, 7, 8, 0]].concat());
        assert_eq!(payload, packet());
        // A third is a part of what the frame carries.
        let third = [&[0, 7, 0x81, 0][..], &inner].concat();
        let (filled, link, payload) = taken(0x8100, &third, Some((0x88a8, 9)));
        assert_eq!((filled.is_ip, link.len()), (false, MOST_LINK_HEADER));
        assert_eq!(payload, inner);
    }

    #[test]
    fn what_is_not_an_ip_packet_is_kept_whole() {
        let (filled, link, payload) = taken(0x88cc, &[2, 7, 4], None);
        assert_eq!((filled.is_ip, link.len()), (false, ETHERNET_HEADER));
        assert_eq!(payload, [2, 7, 4]);
        let (filled, _, payload) = taken(0x0800, &[0x45], None);
        assert_eq!((filled.is_ip, payload.as_slice()), (false, &[0x45][..]));
        assert!(!taken(0x8100, &[0, 1], None).0.is_ip, "half a tag");
    }
}
