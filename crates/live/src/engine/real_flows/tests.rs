use super::*;

const MSS: usize = 1_000;

/// An IPv4 packet of `protocol` from 10.0.0.`from` to 10.0.0.`to` with this behind the IP header.
fn ip(protocol: u8, from: u8, to: u8, behind: &[u8]) -> Vec<u8> {
    let length = (20 + behind.len()) as u16;
    let mut packet = vec![0x45, 0];
    packet.extend(length.to_be_bytes());
    packet.extend([0, 0, 0x40, 0, 64, protocol, 0, 0, 10, 0, 0, from, 10, 0, 0, to]);
    packet.extend(behind);
    packet
}

/// A segment of TCP; `forward` from 10.0.0.1:40000 to 10.0.0.2:5201.
fn tcp(forward: bool, sequence: u32, acknowledgement: u32, flags: u8, payload: usize) -> Vec<u8> {
    let (from, to, source, destination): (u8, u8, u16, u16) =
        if forward { (1, 2, 40_000, 5_201) } else { (2, 1, 5_201, 40_000) };
    let mut header = [source.to_be_bytes(), destination.to_be_bytes()].concat();
    header.extend(sequence.to_be_bytes());
    header.extend(acknowledgement.to_be_bytes());
    header.extend([0x50, flags, 0, 0, 0, 0, 0, 0]);
    header.resize(20 + payload, 7);
    ip(6, from, to, &header)
}

fn echo(kind: u8, from: u8, to: u8, identifier: u16) -> Vec<u8> {
    let mut message = vec![kind, 0, 0, 0];
    message.extend(identifier.to_be_bytes());
    message.resize(64, 0);
    ip(1, from, to, &message)
}

fn send(flows: &mut RealFlows, at_ms: u64, node: u32, bytes: &[u8], segments: u32) -> Packet {
    let header = icmp::parse(bytes).unwrap();
    let now = Time::from_ns(at_ms * 1_000_000);
    flows.sent(now, NodeId(node), &header, bytes, segments);
    Packet {
        body: 0,
        segment: 0,
        segments: segments as u16,
        bytes: bytes.len() as u32,
        source: NodeId(node),
        destination: NodeId(1 - node),
        ttl: 64,
        hops: 0,
        flags: longhaul_network::Flags::empty(),
        class: 0,
        flow: header.flow,
        damage: 0,
        offered: now,
    }
}

fn row(flows: &RealFlows, port: u16) -> FlowCountRow {
    flows.rows().into_iter().find(|row| row.source_port == Some(port)).unwrap()
}

const SYN: u8 = 2;
const ACK: u8 = 16;
const FIN: u8 = 1;

#[test]
fn a_connection_is_followed_by_its_sequence_and_acknowledgement_numbers() {
    let mut flows = RealFlows::default();
    // Numbers that wrap within the first segments.
    let start = u32::MAX - 1_500;
    let at = |offset: u32| start.wrapping_add(1 + offset);
    send(&mut flows, 0, 0, &tcp(true, start, 0, SYN, 0), 1);
    send(&mut flows, 5, 1, &tcp(false, 9, at(0), SYN | ACK, 0), 1);
    send(&mut flows, 10, 0, &tcp(true, at(0), 10, ACK, 3 * MSS), 3);
    send(&mut flows, 15, 1, &tcp(false, 10, at(1_000), ACK, 0), 1);
    // The second segment again, and behind it something new.
    send(&mut flows, 20, 0, &tcp(true, at(1_000), 10, ACK, MSS), 1);
    send(&mut flows, 21, 0, &tcp(true, at(2_000), 10, ACK, 2 * MSS), 2);
    send(&mut flows, 25, 1, &tcp(false, 10, at(4_000), ACK, 0), 1);
    // An old acknowledgement that comes late takes nothing back.
    send(&mut flows, 26, 1, &tcp(false, 10, at(3_000), ACK, 0), 1);
    send(&mut flows, 30, 0, &tcp(true, at(4_000), 10, FIN | ACK, 0), 1);
    let (data, answers) = (row(&flows, 40_000), row(&flows, 5_201));
    assert_eq!((data.counts.sent_packets, data.counts.payload_bytes, data.new_bytes), (8, 6_000, 4_000));
    assert_eq!((data.counts.retransmitted_packets, data.retransmitted_bytes), (2, 2_000));
    assert_eq!(data.sent_bytes, 8 * 40 + 6_000);
    assert_eq!((data.first_ns, data.last_ns, data.last_new_ns), (0, 30_000_000, Some(21_000_000)));
    assert_eq!(answers.counts.acknowledged_bytes, 4_000);
    assert_eq!(answers.last_acknowledged_ns, Some(25_000_000));
}

#[test]
fn a_second_connection_between_the_same_ports_starts_new_sequence_numbers() {
    let mut flows = RealFlows::default();
    for (at_ms, start) in [(0, 5_000_000), (100, 1_000)] {
        // The SYN is retransmitted once.
        send(&mut flows, at_ms, 0, &tcp(true, start, 0, SYN, 0), 1);
        send(&mut flows, at_ms + 1, 0, &tcp(true, start, 0, SYN, 0), 1);
        send(&mut flows, at_ms + 2, 1, &tcp(false, 2 * start, start + 1, SYN | ACK, 0), 1);
        send(&mut flows, at_ms + 3, 0, &tcp(true, start + 1, 2 * start + 1, ACK, MSS), 1);
        send(&mut flows, at_ms + 4, 1, &tcp(false, 2 * start + 1, start + 1 + MSS as u32, ACK, 0), 1);
    }
    let (data, answers) = (row(&flows, 40_000), row(&flows, 5_201));
    assert_eq!((data.new_bytes, data.retransmitted_bytes), (2 * MSS as u64, 0));
    assert_eq!(answers.counts.acknowledged_bytes, 2 * MSS as u64);
    assert_eq!(data.last_new_ns, Some(103_000_000));
}

#[test]
fn every_packet_of_a_flow_is_delivered_or_has_one_fate() {
    let mut flows = RealFlows::default();
    let bytes = tcp(true, 0, 0, ACK, MSS);
    let packet = send(&mut flows, 1, 0, &bytes, 3);
    flows.delivered(&packet, || &bytes);
    flows.ended(&packet, Fate::Lost, || &bytes);
    flows.ended(&packet, Fate::Down, || &bytes);
    flows.copied(&packet, || &bytes);
    // What a router says about it carries the same hash, and is not part of it.
    let answer = Packet { source: NodeId(9), ..packet };
    flows.copied(&answer, || &bytes);
    flows.delivered(&answer, || &bytes);
    let row = row(&flows, 40_000);
    assert_eq!((row.counts.sent_packets, row.counts.delivered_packets, row.copied_packets), (3, 1, 1));
    assert_eq!(row.ended, [1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0]);
}

#[test]
fn pings_between_the_same_hosts_are_told_apart_by_their_identifiers() {
    let mut flows = RealFlows::default();
    let (one, other) = (echo(8, 1, 2, 100), echo(8, 1, 2, 200));
    for (at_ms, bytes) in [(0, &one), (1, &other), (2, &one)] {
        let packet = send(&mut flows, at_ms, 0, bytes, 1);
        if at_ms < 2 {
            flows.delivered(&packet, || bytes);
        } else {
            flows.ended(&packet, Fate::Down, || bytes);
        }
    }
    let answer = echo(0, 2, 1, 200);
    send(&mut flows, 3, 1, &answer, 1);
    let found: Vec<_> = flows
        .rows()
        .iter()
        .map(|row| (row.source_port, row.counts.sent_packets, row.counts.delivered_packets, row.ended[3]))
        .collect();
    assert_eq!(found, [(Some(100), 2, 1, 1), (Some(200), 1, 1, 0), (Some(200), 1, 0, 0)]);
}

#[test]
fn samples_have_what_changed_and_nothing_twice() {
    let mut flows = RealFlows::default();
    let bytes = tcp(true, 0, 0, ACK, MSS);
    let packet = send(&mut flows, 1, 0, &bytes, 1);
    flows.delivered(&packet, || &bytes);
    let rows = flows.samples(Time::from_ns(7));
    assert_eq!(rows.len(), 1);
    assert_eq!((rows[0].t_ns, rows[0].counts.delivered_packets), (7, 1));
    assert_eq!(flows.samples(Time::from_ns(8)), []);
}

#[test]
fn flows_beyond_the_most_are_counted_together() {
    let mut flows = RealFlows::default();
    let segment = |number: u32| {
        let [_, high, low, last] = number.to_be_bytes();
        let mut bytes = tcp(true, 1_000_000 * (number % 7), 1_000_000 * (number % 5), ACK, MSS);
        // Other source ports and addresses.
        (bytes[13], bytes[20], bytes[21]) = (high, low, last);
        bytes
    };
    for number in 0..MOST as u32 {
        send(&mut flows, 1, 0, &segment(number), 1);
    }
    for number in 0..10 {
        let bytes = segment(MOST as u32 + number);
        let packet = send(&mut flows, 1, number % 2, &bytes, 1);
        match number {
            0..5 => flows.delivered(&packet, || &bytes),
            5..8 => flows.ended(&packet, Fate::Overflowed, || &bytes),
            _ => flows.copied(&packet, || &bytes),
        }
        // A router's answer to it.
        flows.delivered(&Packet { source: NodeId(9), ..packet }, || &bytes);
    }
    let ping = echo(8, 1, 2, 100);
    let packet = send(&mut flows, 1, 0, &ping, 1);
    flows.delivered(&packet, || &ping);
    let rows = flows.rows();
    assert_eq!(rows.len(), MOST + 1);
    assert!(rows[1..].iter().all(|row| row.counts.sent_packets == 1));
    let beyond = &rows[0];
    assert_eq!((beyond.flow, beyond.source, beyond.source_port), (0, None, None));
    assert_eq!((beyond.counts.sent_packets, beyond.counts.delivered_packets), (11, 6));
    assert_eq!((beyond.ended, beyond.copied_packets), ([0, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0], 2));
    // Sequence numbers of several connections say nothing together.
    assert_eq!((beyond.new_bytes, beyond.retransmitted_bytes, beyond.counts.acknowledged_bytes), (0, 0, 0));
    assert_eq!(beyond.counts.payload_bytes, 10 * MSS as u64 + 56);
    assert_eq!((flows.places.len(), flows.pings.len()), (MOST, 0));
}

#[test]
fn a_flow_is_named_after_its_hosts_and_ports() {
    let mut flows = RealFlows::default();
    send(&mut flows, 0, 0, &tcp(true, 0, 0, ACK, 0), 1);
    send(&mut flows, 0, 0, &echo(8, 1, 2, 100), 1);
    // The first fragment of a datagram, with more to come, and the last of another, at byte 1,480.
    for field in [0x2000u16, 185] {
        let mut fragment = ip(17, 1, 2, &[0x9c, 0x40, 0x14, 0x51, 0, 0, 0, 0]);
        fragment[6..8].copy_from_slice(&field.to_be_bytes());
        send(&mut flows, 0, 0, &fragment, 1);
    }
    let mut names: Vec<String> = flows.names().map(|(_, name)| name).collect();
    names.sort();
    assert_eq!(
        names,
        ["icmp 10.0.0.1 > 10.0.0.2", "tcp 10.0.0.1:40000 > 10.0.0.2:5201", "udp 10.0.0.1 > 10.0.0.2"]
    );
}
