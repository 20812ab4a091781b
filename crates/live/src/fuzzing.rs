//! Parsers as functions of bytes, for `longhaul-fuzz`.

use crate::engine::{Command, Reply};
use crate::shape::{HEADER_ROOM, HeaderChanges, Shape};
use crate::supervisor::Request;
use crate::tun::VNET_HEADER;

/// Parses a line of the control protocols: a request to a run, a command to its engine, a reply of its engine.
pub fn line(line: &[u8]) {
    let _ = serde_json::from_slice::<Request>(line);
    let _ = serde_json::from_slice::<Command>(line);
    let _ = serde_json::from_slice::<Reply>(line);
}

/// Cuts a super-packet, a virtio header with the packet behind it, into runs of segments of several lengths. The
/// payload of the runs is that of the packet, and each segment has the length that the network uses.
///
/// # Panics
/// If the payload or the length of a segment differs.
pub fn super_packet(bytes: &[u8]) {
    if bytes.len() < VNET_HEADER {
        return;
    }
    let (vnet, packet) = bytes.split_at(VNET_HEADER);
    let Some(shape) = Shape::of(vnet, packet) else { return };
    let segments = shape.segments(packet.len());
    let cuts = [1, 2, segments.div_ceil(2), segments];
    for count in cuts {
        let mut payload = Vec::new();
        let mut first = 0;
        while first < segments {
            let count = count.min(segments - first);
            let mut room = [0; HEADER_ROOM];
            let changes = HeaderChanges { hops: 3, class: 1 };
            let header = shape.headers(packet, &shape.run(packet, first, count), changes, &mut room);
            let (start, length) = shape.payload(packet.len(), first, count);
            payload.extend_from_slice(&packet[start..start + length]);
            if count == 1 {
                let expected = (header - VNET_HEADER + length) as u32;
                assert_eq!(shape.segment_bytes(packet.len(), first), expected, "segment {first}");
                let mut whole = room[..header].to_vec();
                whole.extend_from_slice(&packet[start..start + length]);
                shape.damage(&mut whole, first.wrapping_mul(2_654_435_761));
            }
            first += count;
        }
        let (start, _) = shape.payload(packet.len(), 0, 1);
        assert_eq!(payload, packet[start..], "in runs of {count}");
    }
}
