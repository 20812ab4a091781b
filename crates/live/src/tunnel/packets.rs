//! Packets in datagrams between machines.

use super::datagram::Reader;
use crate::tun::VNET_HEADER;
use longhaul_network::{DirectionId, Flags, NodeId, Packet};
use longhaul_units::Time;

/// Bytes of a packet's record beside those of the packet itself.
pub const RECORD: usize = 4 + 8 + 4 * 4 + 4 + VNET_HEADER + 4;

/// A packet that comes from another machine.
#[derive(Debug, PartialEq, Eq)]
pub struct Arriving<'a> {
    pub direction: DirectionId,
    /// When it is due, by the sender's clock.
    pub due: Time,
    /// Without a body.
    pub packet: Packet,
    pub vnet: &'a [u8; VNET_HEADER],
    pub bytes: &'a [u8],
}

/// Appends a packet, whose virtio header, headers and payload are `parts`.
pub fn append(datagram: &mut Vec<u8>, direction: DirectionId, due: Time, packet: &Packet, parts: [&[u8]; 2]) {
    datagram.extend_from_slice(&direction.0.to_le_bytes());
    datagram.extend_from_slice(&due.ps().to_le_bytes());
    for number in [packet.source.0, packet.destination.0, packet.flow, packet.damage] {
        datagram.extend_from_slice(&number.to_le_bytes());
    }
    datagram.extend_from_slice(&[packet.ttl, packet.hops, packet.flags.bits(), packet.class]);
    let length = parts.iter().map(|part| part.len()).sum::<usize>() - VNET_HEADER;
    datagram.extend_from_slice(&(length as u32).to_le_bytes());
    for part in parts {
        datagram.extend_from_slice(part);
    }
}

/// The next packet of a datagram; `None` at its end, or if it is malformed.
pub fn next<'a>(reader: &mut Reader<'a>) -> Option<Arriving<'a>> {
    let direction = DirectionId(reader.u32()?);
    let due = Time::from_ps(reader.u64()?);
    let (source, destination) = (NodeId(reader.u32()?), NodeId(reader.u32()?));
    let (flow, damage) = (reader.u32()?, reader.u32()?);
    let (ttl, hops, flags, class) = (reader.u8()?, reader.u8()?, reader.u8()?, reader.u8()?);
    let bytes = reader.u32()?;
    let vnet = reader.bytes(VNET_HEADER)?.try_into().ok()?;
    let packet = Packet {
        body: 0,
        segment: 0,
        segments: 1,
        bytes,
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
    Some(Arriving { direction, due, packet, vnet, bytes: reader.bytes(bytes as usize)? })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn packets_come_back_as_they_were(
            numbers: [u32; 5], due_ps: u64, small: [u8; 4], bytes in prop::collection::vec(any::<u8>(), 0..200)
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
            for _ in 0..2 {
                append(&mut datagram, direction, due, &packet, [&head, tail]);
            }
            prop_assert_eq!(datagram.len(), 2 * (RECORD + bytes.len()));
            let mut reader = Reader(&datagram);
            for _ in 0..2 {
                let found = next(&mut reader).unwrap();
                let expected = Packet { body: 0, segment: 0, segments: 1, offered: due, ..packet };
                prop_assert_eq!(found, Arriving { direction, due, packet: expected, vnet: &vnet, bytes: &bytes });
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
