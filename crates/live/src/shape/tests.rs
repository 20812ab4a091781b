use super::*;

const MSS: usize = 1448;

/// A TCP super-packet of `payload` bytes over IPv4, with 12 bytes of options, and its virtio header.
fn tcp4(payload: usize) -> ([u8; VNET_HEADER], Vec<u8>) {
    let length = 20 + 32 + payload;
    let mut packet = vec![0u8; length];
    packet[0] = 0x45;
    packet[2..4].copy_from_slice(&(length as u16).to_be_bytes());
    packet[4..6].copy_from_slice(&7u16.to_be_bytes());
    packet[8] = 64;
    packet[9] = 6;
    packet[12..16].copy_from_slice(&[10, 0, 0, 1]);
    packet[16..20].copy_from_slice(&[10, 0, 0, 2]);
    let tcp = &mut packet[20..];
    tcp[4..8].copy_from_slice(&1_000_000u32.to_be_bytes());
    tcp[12] = 8 << 4;
    tcp[13] = 0x10 | (TCP_FIN | TCP_PSH) | TCP_CWR;
    let partial = pseudo(&packet, 32 + payload);
    packet[36..38].copy_from_slice(&partial.to_be_bytes());
    let mut vnet = [0u8; VNET_HEADER];
    vnet[0] = VIRTIO_NET_HDR_F_NEEDS_CSUM;
    vnet[1] = VIRTIO_NET_HDR_GSO_TCPV4;
    vnet[2..4].copy_from_slice(&52u16.to_ne_bytes());
    vnet[4..6].copy_from_slice(&(MSS as u16).to_ne_bytes());
    vnet[6..8].copy_from_slice(&20u16.to_ne_bytes());
    vnet[8..10].copy_from_slice(&16u16.to_ne_bytes());
    (vnet, packet)
}

/// The folded sum of the IPv4 pseudo-header for a TCP segment of `length` bytes.
fn pseudo(packet: &[u8], length: usize) -> u16 {
    let mut bytes = packet[12..20].to_vec();
    bytes.extend_from_slice(&[0, 6]);
    bytes.extend_from_slice(&(length as u16).to_be_bytes());
    !checksum(sum(&bytes))
}

fn part(first: u32, count: u32, hops: u8) -> Vec<u8> {
    let (vnet, packet) = tcp4(4 * MSS + 100);
    let shape = Shape::of(&vnet, &packet).unwrap();
    let mut room = [0u8; HEADER_ROOM];
    let length = shape.headers(
        &packet,
        &shape.run(&packet, first, count),
        HeaderChanges { hops, class: packet[1] },
        &mut room,
    );
    room[..length].to_vec()
}

#[test]
fn a_super_packet_counts_as_its_segments() {
    let (vnet, packet) = tcp4(4 * MSS + 100);
    let shape = Shape::of(&vnet, &packet).unwrap();
    assert_eq!(shape.segments(packet.len()), 5);
    let sizes: Vec<u32> = (0..5).map(|index| shape.segment_bytes(packet.len(), index)).collect();
    assert_eq!(sizes, [1500, 1500, 1500, 1500, 152]);
}

#[test]
fn a_part_has_its_own_lengths_sequence_and_checksums() {
    let headers = part(1, 2, 0);
    let ip = &headers[VNET_HEADER..];
    assert_eq!(u16::from_be_bytes([ip[2], ip[3]]) as usize, 52 + 2 * MSS);
    assert_eq!(u16::from_be_bytes([ip[4], ip[5]]), 8);
    assert_eq!(checksum(sum(&ip[..20])), 0, "the IPv4 header's checksum verifies");
    assert_eq!(u32::from_be_bytes([ip[24], ip[25], ip[26], ip[27]]), 1_000_000 + MSS as u32);
    assert_eq!(u16::from_be_bytes([ip[36], ip[37]]), pseudo(ip, 32 + 2 * MSS));
    assert_eq!(headers[1], VIRTIO_NET_HDR_GSO_TCPV4);
}

#[test]
fn only_the_last_part_carries_fin_and_push_and_only_the_first_cwr() {
    let flags = |first, count| part(first, count, 0)[VNET_HEADER + 33];
    assert_eq!(flags(0, 2), 0x10 | TCP_CWR);
    assert_eq!(flags(2, 1), 0x10);
    assert_eq!(flags(3, 2), 0x10 | (TCP_FIN | TCP_PSH));
}

#[test]
fn a_single_segment_is_no_super_packet() {
    let headers = part(2, 1, 0);
    assert_eq!((headers[0], headers[1]), (VIRTIO_NET_HDR_F_NEEDS_CSUM, VIRTIO_NET_HDR_GSO_NONE));
}

#[test]
fn each_router_takes_one_from_the_ttl() {
    for headers in [part(0, 5, 3), part(1, 1, 3)] {
        let ip = &headers[VNET_HEADER..];
        assert_eq!(ip[8], 61);
        assert_eq!(checksum(sum(&ip[..20])), 0);
    }
}

/// A segment of 1000 bytes of TCP, or with `datagram` a datagram of UDP, with its virtio header.
fn lone(datagram: bool, sequence: u32, payload: usize) -> ([u8; VNET_HEADER], Vec<u8>) {
    let header = if datagram { 28 } else { 40 };
    let mut packet = vec![0u8; header + payload];
    packet[0] = 0x45;
    packet[2..4].copy_from_slice(&((header + payload) as u16).to_be_bytes());
    packet[6] = 0x40;
    packet[9] = if datagram { 17 } else { 6 };
    packet[15] = 1;
    packet[19] = 2;
    if datagram {
        packet[24..26].copy_from_slice(&((8 + payload) as u16).to_be_bytes());
    } else {
        packet[24..28].copy_from_slice(&sequence.to_be_bytes());
        packet[32..34].copy_from_slice(&[5 << 4, 0x10]);
    }
    let mut vnet = [0u8; VNET_HEADER];
    vnet[0] = VIRTIO_NET_HDR_F_NEEDS_CSUM;
    vnet[6..8].copy_from_slice(&20u16.to_ne_bytes());
    vnet[8..10].copy_from_slice(&(if datagram { 6u16 } else { 16 }).to_ne_bytes());
    (vnet, packet)
}

/// The run of both packets, if the second may follow the first.
fn joined(first: &([u8; VNET_HEADER], Vec<u8>), next: &([u8; VNET_HEADER], Vec<u8>)) -> Option<Run> {
    let (shape, other) = (Shape::of(&first.0, &first.1).unwrap(), Shape::of(&next.0, &next.1).unwrap());
    shape.join(&first.1, &shape.run(&first.1, 0, 1), (&other, &next.1, 0))
}

#[test]
fn segments_that_continue_each_other_are_written_as_one_super_packet() {
    let (first, mut next) = (lone(false, 5_000, 1_000), lone(false, 6_000, 1_000));
    next.1[33] |= TCP_PSH;
    let run = joined(&first, &next).unwrap();
    let shape = Shape::of(&first.0, &first.1).unwrap();
    let mut room = [0u8; HEADER_ROOM];
    let length = shape.headers(&first.1, &run, HeaderChanges { hops: 1, class: 0 }, &mut room);
    assert_eq!((run.count, run.payload, length), (2, 2_000, VNET_HEADER + 40));
    assert_eq!((room[1], u16::from_ne_bytes([room[4], room[5]])), (VIRTIO_NET_HDR_GSO_TCPV4, 1_000));
    let ip = &room[VNET_HEADER..length];
    assert_eq!(u16::from_be_bytes([ip[2], ip[3]]), 2_040);
    assert_eq!(ip[24..28], 5_000u32.to_be_bytes());
    assert_eq!((ip[8], ip[33]), (first.1[8].saturating_sub(1), 0x10 | TCP_PSH));
    assert_eq!(checksum(sum(&ip[..20])), 0);
}

#[test]
fn a_segment_that_differs_in_more_than_its_place_is_written_alone() {
    let first = lone(false, 5_000, 1_000);
    assert!(joined(&first, &lone(false, 6_000, 1_000)).is_some());
    assert_eq!(joined(&first, &lone(false, 6_001, 1_000)), None, "a gap in the sequence");
    assert_eq!(joined(&first, &lone(false, 6_000, 1_001)), None, "longer than the first");
    assert_eq!(joined(&first, &lone(true, 0, 1_000)), None, "another protocol");
    // Acknowledgement, window, source port, addresses, TTL, flags: SYN, RST and URG.
    for (at, value) in [(31, 1), (34, 1), (21, 1), (15, 9), (8, 9), (33, 0x12), (33, 0x14), (33, 0x30)] {
        let mut next = lone(false, 6_000, 1_000);
        next.1[at] = value;
        assert_eq!(joined(&first, &next), None, "byte {at} is {value}");
    }
    let mut pushed = lone(false, 5_000, 1_000);
    pushed.1[33] |= TCP_PSH;
    assert_eq!(joined(&pushed, &lone(false, 6_000, 1_000)), None, "PSH ends a super-packet");
    let mut reduced = lone(false, 6_000, 1_000);
    reduced.1[33] |= TCP_CWR;
    assert_eq!(joined(&first, &reduced), None, "CWR begins one");
}

#[test]
fn datagrams_of_one_size_are_joined_and_a_shorter_one_is_the_last() {
    let datagram = |payload| lone(true, 0, payload);
    let run = joined(&datagram(100), &datagram(100)).unwrap();
    assert_eq!((run.count, run.payload, run.closed), (2, 200, false));
    assert!(joined(&datagram(100), &datagram(60)).unwrap().closed);
    assert_eq!(joined(&datagram(60), &datagram(100)), None);
}

#[test]
fn fragments_and_packets_with_a_finished_checksum_are_not_joined() {
    for (at, value) in [(6, 0x20), (7, 0x04)] {
        let mut fragment = lone(true, 0, 100);
        fragment.1[at] = value;
        assert_eq!(joined(&fragment, &lone(true, 0, 100)), None);
    }
    let mut finished = lone(true, 0, 100);
    finished.0[0] = 0;
    assert_eq!(joined(&finished, &lone(true, 0, 100)), None);
}

#[test]
fn headers_that_contradict_the_packet_are_refused() {
    let (mut vnet, packet) = tcp4(3 * MSS);
    vnet[4..6].fill(0);
    assert_eq!(Shape::of(&vnet, &packet), None, "segments of no bytes");
    let (mut vnet, packet) = tcp4(3 * MSS);
    vnet[6..8].copy_from_slice(&60_000u16.to_ne_bytes());
    assert_eq!(Shape::of(&vnet, &packet), None, "a checksum beyond the packet");
    assert_eq!(Shape::of(&[0; VNET_HEADER], &[]), None);
    assert_eq!(Shape::of(&[0; VNET_HEADER], &[0x4f; 20]), None, "an IPv4 header longer than the packet");
}

#[test]
fn a_mark_changes_the_class_and_keeps_the_checksum_sound() {
    let (vnet, packet) = tcp4(MSS);
    let shape = Shape::of(&vnet, &packet).unwrap();
    let mut room = [0u8; HEADER_ROOM];
    let left = HeaderChanges { hops: 0, class: packet[1] | 3 };
    let length = shape.headers(&packet, &shape.run(&packet, 0, 1), left, &mut room);
    let ip = &room[VNET_HEADER..length];
    assert_eq!(ip[1], packet[1] | 3);
    assert_eq!(checksum(sum(&ip[..20])), 0);
    // The eight bits lie across two bytes in IPv6.
    let mut six = [0u8; 40];
    six[0] = 0x60;
    set_class(&mut six, 0xb9);
    assert_eq!((class(&six), six[0], six[1]), (0xb9, 0x6b, 0x90));
}

#[test]
fn damage_turns_one_bit_over_and_leaves_the_checksum_wrong() {
    let (vnet, packet) = tcp4(100);
    let shape = Shape::of(&vnet, &packet).unwrap();
    for draw in [1, 77, 12_345, u32::MAX] {
        let mut room = [0u8; HEADER_ROOM];
        let headers = shape.headers(
            &packet,
            &shape.run(&packet, 0, 1),
            HeaderChanges { hops: 1, class: packet[1] },
            &mut room,
        );
        let (start, length) = shape.payload(packet.len(), 0, 1);
        let mut whole = room[..headers].to_vec();
        whole.extend_from_slice(&packet[start..start + length]);
        shape.damage(&mut whole, draw);
        assert_eq!(whole[..VNET_HEADER], [0; VNET_HEADER], "nobody completes the checksum any more");
        let ip = &whole[VNET_HEADER..];
        assert_eq!(checksum(sum(&ip[..20])), 0, "the IP header stays whole");
        let mut pseudo: Vec<u8> = ip[12..20].to_vec();
        pseudo.extend_from_slice(&[0, 6]);
        pseudo.extend_from_slice(&((ip.len() - 20) as u16).to_be_bytes());
        pseudo.extend_from_slice(&ip[20..]);
        assert_ne!(checksum(sum(&pseudo)), 0, "a wrong bit that no checksum sees");
    }
}

#[test]
fn what_is_not_an_ip_packet_is_one_segment_that_only_damage_changes() {
    let payload = [0u8, 1, 8, 0, 6, 4];
    let shape = Shape::opaque(&[0; VNET_HEADER], &payload).unwrap();
    assert_eq!((shape.segments(payload.len()), shape.segment_bytes(payload.len(), 0)), (1, 6));
    let mut room = [0u8; HEADER_ROOM];
    let changes = HeaderChanges { hops: 3, class: 1 };
    let headers = shape.headers(&payload, &shape.run(&payload, 0, 1), changes, &mut room);
    assert_eq!((headers, room[..headers].to_vec()), (VNET_HEADER, vec![0; VNET_HEADER]));
    assert_eq!(shape.payload(payload.len(), 0, 1), (0, 6));
    let mut whole = [&[0; VNET_HEADER][..], &payload].concat();
    shape.damage(&mut whole, 9);
    assert_eq!(whole[VNET_HEADER..], [0, 3, 8, 0, 6, 4]);
    let mut empty = vec![0; VNET_HEADER];
    Shape::opaque(&empty, &[]).unwrap().damage(&mut empty, 9);
    assert_eq!(empty, [0; VNET_HEADER]);
}

#[test]
fn a_super_packet_is_divided_only_if_it_is_ip() {
    let (vnet, packet) = tcp4(3 * MSS);
    assert!(Shape::opaque(&vnet, &packet).is_none());
    let mut beyond = [0; VNET_HEADER];
    beyond[0] = VIRTIO_NET_HDR_F_NEEDS_CSUM;
    beyond[6..8].copy_from_slice(&5u16.to_ne_bytes());
    assert!(Shape::opaque(&beyond, &[0; 6]).is_none(), "its checksum would lie behind it");
}
