//! A host's port into an Ethernet segment: a TAP device in its namespace.

use super::bridged::{REST, frame};
use super::wire_format::{self, Mac};
use super::{shift_checksum, shift_header_length};
use crate::packet_pool::Filled;
use crate::sys::packet::{ETHERNET_HEADER, MOST_PARTS};
use crate::tun::{Tun, VNET_HEADER};
use longhaul_plan::{NodeKind, Plan};
use std::io::{self, IoSlice, IoSliceMut};
use std::os::fd::{AsFd, BorrowedFd};

/// The Ethernet address of an interface or a router at a switch: locally administered, `LH`, and its place in the plan.
pub fn mac_of(node: usize) -> Mac {
    let [_, a, b, c] = (node as u32).to_be_bytes();
    [0x02, b'L', b'H', a, b, c]
}

/// The node of the plan with an Ethernet address of [`mac_of`].
pub fn node_of(plan: &Plan, mac: Mac) -> Option<usize> {
    let [2, b'L', b'H', a, b, c] = mac else { return None };
    let node = u32::from_be_bytes([0, a, b, c]) as usize;
    plan.nodes.get(node).is_some_and(|each| each.kind != NodeKind::Switch).then_some(node)
}

/// An interface that takes Ethernet frames.
#[derive(Clone, Copy, Debug)]
pub struct SegmentEnd {
    mac: Mac,
    /// Who sends IP packets that come without an Ethernet header: from routers of the model, and simulated.
    router: Mac,
}

impl SegmentEnd {
    /// Of an interface at a switch; `router` is the node that its IP packets from elsewhere come by.
    pub fn new(interface: usize, router: usize) -> Self {
        SegmentEnd { mac: mac_of(interface), router: mac_of(router) }
    }

    /// Of an interface at no switch, which does not look at who sends.
    pub fn alone(interface: usize) -> Self {
        SegmentEnd { mac: mac_of(interface), router: Mac::default() }
    }

    /// Hands a frame to `send`: its link-layer header, and a packet whose virtio header, headers and payload may lie
    /// apart. An IP packet without a link-layer header gets one.
    pub fn write(
        &self,
        link_header: &[u8],
        parts: &[IoSlice<'_>],
        send: impl FnOnce(&[IoSlice<'_>]) -> io::Result<()>,
    ) -> io::Result<()> {
        if !link_header.is_empty() {
            return write_frame(link_header, parts, send);
        }
        let headers = parts.first().and_then(|first| first.get(VNET_HEADER..)).unwrap_or_default();
        let Some((_, to)) = wire_format::addresses(headers) else {
            return Err(io::ErrorKind::InvalidData.into());
        };
        write_frame(&wire_format::ethernet(self.mac, self.router, to), parts, send)
    }
}

/// The port of an interface at a switch.
#[derive(Debug)]
pub struct TapPort {
    tun: Tun,
    end: SegmentEnd,
}

impl TapPort {
    /// Of the TAP device of an interface.
    pub fn new(tun: Tun, end: SegmentEnd) -> Self {
        TapPort { tun, end }
    }

    /// The descriptor to wait for.
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.tun.as_fd()
    }

    /// Whether the kernel also hands over UDP super-packets.
    pub fn udp_offload(&self) -> bool {
        self.tun.udp_offload
    }

    /// Reads one frame, with a virtio header whose offsets count from the packet in it; `None` when none waits.
    pub fn read(&self, buffer: &mut [u8]) -> io::Result<Option<Filled>> {
        let mut ethernet = [0; ETHERNET_HEADER];
        let Some((front, rest)) = buffer.split_at_mut_checked(REST) else {
            return Err(io::ErrorKind::InvalidInput.into());
        };
        let parts = &mut [
            IoSliceMut::new(&mut front[..VNET_HEADER]),
            IoSliceMut::new(&mut ethernet),
            IoSliceMut::new(rest),
        ];
        let Some(bytes) = self.tun.read_parts(parts)? else { return Ok(None) };
        let Some(bytes) = bytes.checked_sub(VNET_HEADER + ETHERNET_HEADER) else {
            return Err(io::ErrorKind::InvalidData.into());
        };
        Ok(Some(frame(buffer, bytes, &ethernet, None)))
    }

    /// Writes a frame, see [`SegmentEnd::write`].
    pub fn write(&self, link_header: &[u8], parts: &[IoSlice<'_>]) -> io::Result<()> {
        self.end.write(link_header, parts, |parts| self.tun.write(parts))
    }
}

/// Hands a frame to `send`: a virtio header that counts from the Ethernet header on, this, and the packet.
pub fn write_frame(
    link_header: &[u8],
    parts: &[IoSlice<'_>],
    send: impl FnOnce(&[IoSlice<'_>]) -> io::Result<()>,
) -> io::Result<()> {
    let invalid = || io::Error::from(io::ErrorKind::InvalidInput);
    let (first, others) = parts.split_first().ok_or_else(invalid)?;
    let (vnet, headers) = first.split_first_chunk::<VNET_HEADER>().ok_or_else(invalid)?;
    if link_header.len() < ETHERNET_HEADER {
        return Err(invalid());
    }
    let mut vnet = *vnet;
    shift_checksum(&mut vnet, |start| start.checked_add(link_header.len() as u16));
    shift_header_length(&mut vnet, link_header.len());
    let mut room = [IoSlice::new(&[]); MOST_PARTS];
    room[0] = IoSlice::new(&vnet);
    room[1] = IoSlice::new(link_header);
    room[2] = IoSlice::new(headers);
    let count = 3 + others.len();
    room.get_mut(3..count).ok_or_else(invalid)?.copy_from_slice(others);
    send(&room[..count])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_have_their_header_between_the_virtio_header_and_the_packet() {
        let mut vnet = [0; VNET_HEADER];
        // An unfinished checksum at offset 20 of the packet, of headers of 40 bytes.
        (vnet[0], vnet[2], vnet[6]) = (1, 40, 20);
        let header = wire_format::ethernet(mac_of(1), mac_of(2), "10.0.0.1".parse().unwrap());
        let mut written = Vec::new();
        write_frame(
            &header,
            &[IoSlice::new(&[&vnet[..], b"headers"].concat()), IoSlice::new(b"rest")],
            |parts| {
                for part in parts {
                    written.extend_from_slice(part);
                }
                Ok(())
            },
        )
        .unwrap();
        assert_eq!((written[2], written[6]), (54, 34));
        assert_eq!(written[VNET_HEADER..], [&header[..], b"headersrest"].concat());
    }
}
