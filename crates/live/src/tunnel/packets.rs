//! Packets in datagrams between machines, or between shards of one process.
//!
//! Packets of real hosts have their bytes, frames of bridged devices their link-layer header as well, simulated packets what they carry
//! in the model, and those of replayed captures that and their bytes.

use super::datagram::Reader;
use crate::tun::VNET_HEADER;
use longhaul_network::{DirectionId, Flags, NodeId, Packet};
use longhaul_units::Time;

/// Bytes of a packet's record beside its virtio header, its own bytes, and what it carries in the model.
const RECORD: usize = 4 + 8 + 4 * 4 + 4 + 4;
/// In the length of a packet: it has no bytes.
const NO_BYTES: u32 = 1 << 31;
/// In the length of a packet: it carries something in the model, which follows with its length.
const PAYLOAD: u32 = 1 << 30;
/// In the length of a packet: it is a frame, whose link-layer header follows with its length.
const FRAME: u32 = 1 << 29;

/// What a packet takes along.
#[derive(Clone, Copy, Debug, Default)]
pub struct Content<'a> {
    /// Its virtio header with its headers, and its payload; none, if it is simulated.
    pub parts: Option<[&'a [u8]; 2]>,
    /// The link-layer header of a frame, at most 255 bytes; empty for a packet that is not one.
    pub link_header: &'a [u8],
    /// What it carries in the model, at most 255 bytes; empty for a packet of a real host.
    pub simulated: &'a [u8],
}

impl Content<'_> {
    /// Bytes of the packet's record.
    pub fn record_bytes(&self) -> usize {
        let parts = self.parts.iter().flatten().map(|part| part.len()).sum::<usize>();
        let with_length = |bytes: &[u8]| if bytes.is_empty() { 0 } else { 1 + bytes.len() };
        RECORD + parts + with_length(self.link_header) + with_length(self.simulated)
    }
}

/// A packet that comes from another machine.
#[derive(Debug, PartialEq, Eq)]
pub struct Arriving<'a> {
    pub direction: DirectionId,
    /// When it is due, by the sender's clock.
    pub due: Time,
    /// Without a body.
    pub packet: Packet,
    /// Its virtio header and its bytes; none, if it is simulated.
    pub bytes: Option<(&'a [u8; VNET_HEADER], &'a [u8])>,
    /// The link-layer header of a frame.
    pub link_header: &'a [u8],
    /// What it carries in the model.
    pub simulated: &'a [u8],
}

/// Appends a packet with its content.
pub fn append(
    datagram: &mut Vec<u8>,
    direction: DirectionId,
    due: Time,
    packet: &Packet,
    content: &Content<'_>,
) {
    datagram.extend_from_slice(&direction.0.to_le_bytes());
    datagram.extend_from_slice(&due.ps().to_le_bytes());
    for number in [packet.source.0, packet.destination.0, packet.flow, packet.damage] {
        datagram.extend_from_slice(&number.to_le_bytes());
    }
    datagram.extend_from_slice(&[packet.ttl, packet.hops, packet.flags.bits(), packet.class]);
    let length = match content.parts {
        Some(parts) => (parts.iter().map(|part| part.len()).sum::<usize>() - VNET_HEADER) as u32,
        None => packet.bytes | NO_BYTES,
    };
    let optional = [(FRAME, content.link_header), (PAYLOAD, content.simulated)];
    let given = || optional.iter().filter(|(_, bytes)| !bytes.is_empty());
    let flags = given().fold(0, |flags, (flag, _)| flags | flag);
    datagram.extend_from_slice(&(length | flags).to_le_bytes());
    for part in content.parts.iter().flatten() {
        datagram.extend_from_slice(part);
    }
    for (_, bytes) in given() {
        datagram.push(bytes.len() as u8);
        datagram.extend_from_slice(bytes);
    }
}

/// The next packet of a datagram; `None` at its end, or if it is malformed.
pub fn next<'a>(reader: &mut Reader<'a>) -> Option<Arriving<'a>> {
    let direction = DirectionId(reader.u32()?);
    let due = Time::from_ps(reader.u64()?);
    let (source, destination) = (NodeId(reader.u32()?), NodeId(reader.u32()?));
    let (flow, damage) = (reader.u32()?, reader.u32()?);
    let (ttl, hops, flags, class) = (reader.u8()?, reader.u8()?, reader.u8()?, reader.u8()?);
    let length = reader.u32()?;
    let packet = Packet {
        body: 0,
        segment: 0,
        segments: 1,
        bytes: length & !(NO_BYTES | PAYLOAD | FRAME),
        source,
        destination,
        ttl,
        hops,
        flags: Flags::from_bits(flags),
        class,
        flow,
        damage,
        offered: due,
    };
    let bytes = if length & NO_BYTES == 0 {
        let vnet = reader.bytes(VNET_HEADER)?.try_into().ok()?;
        Some((vnet, reader.bytes(packet.bytes as usize)?))
    } else {
        None
    };
    let mut optional = |flag: u32| {
        if length & flag == 0 {
            return Some(&[][..]);
        }
        let length = usize::from(reader.u8()?);
        reader.bytes(length)
    };
    let (link_header, simulated) = (optional(FRAME)?, optional(PAYLOAD)?);
    Some(Arriving { direction, due, packet, bytes, link_header, simulated })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn packets_come_back_as_they_were(
            numbers: [u32; 5],
            due_ps: u64,
            small: [u8; 4],
            bytes in prop::collection::vec(any::<u8>(), 0..200),
            is_real: bool,
            link_header in prop::collection::vec(any::<u8>(), 0..22),
            simulated in prop::collection::vec(any::<u8>(), 0..100),
        ) {
            let packet = Packet {
                body: 9,
                segment: 3,
                segments: 7,
                bytes: bytes.len() as u32,
                source: NodeId(numbers[1]),
                destination: NodeId(numbers[2]),
                ttl: small[0],
                hops: small[1],
                flags: Flags::from_bits(small[2]),
                class: small[3],
                flow: numbers[3],
                damage: numbers[4],
                offered: Time::ZERO,
            };
            let (direction, due, vnet) = (DirectionId(numbers[0]), Time::from_ps(due_ps), [4; VNET_HEADER]);
            let (mut head, tail) = (vnet.to_vec(), &bytes[bytes.len() / 2..]);
            head.extend_from_slice(&bytes[..bytes.len() / 2]);
            let mut datagram = Vec::new();
            let content =
                Content { parts: is_real.then_some([&head, tail]), link_header: &link_header, simulated: &simulated };
            for _ in 0..2 {
                append(&mut datagram, direction, due, &packet, &content);
            }
            prop_assert_eq!(datagram.len(), 2 * content.record_bytes());
            let mut reader = Reader(&datagram);
            for _ in 0..2 {
                let found = next(&mut reader).unwrap();
                let expected = Packet { body: 0, segment: 0, segments: 1, offered: due, ..packet };
                let bytes = is_real.then_some((&vnet, &bytes[..]));
                let (link_header, simulated) = (&link_header[..], &simulated[..]);
                let arriving = Arriving { direction, due, packet: expected, bytes, link_header, simulated };
                prop_assert_eq!(found, arriving);
            }
            prop_assert!(next(&mut reader).is_none());
            prop_assert!(reader.0.is_empty());
        }

        #[test]
        fn whatever_stands_in_a_datagram_is_read_to_its_end(content in prop::collection::vec(any::<u8>(), 0..300)) {
            let mut reader = Reader(&content);
            while next(&mut reader).is_some() {}
        }
    }
}
