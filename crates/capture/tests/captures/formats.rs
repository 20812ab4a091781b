//! Every format of file and frame gives the same; and what is not a capture is refused with a place.

use crate::wire::{FIRST, MSS, Tcp, World, pcap, play, read};
use longhaul_capture::{Findings, Reader};
use proptest::prelude::*;

/// Three packets of data, of which the second is retransmitted, and what acknowledges them.
fn connection() -> Vec<(u64, Tcp)> {
    let data = |segment: u32| Tcp {
        sequence: FIRST.wrapping_add(segment * MSS),
        flags: 16,
        payload: MSS,
        ident: 7,
        ..Tcp::default()
    };
    let ack = |segment: u32, blocks: &[(u32, u32)]| Tcp {
        from_receiver: true,
        acknowledgement: FIRST.wrapping_add(segment * MSS),
        flags: 16,
        blocks: blocks
            .iter()
            .map(|&(a, b)| (FIRST.wrapping_add(a * MSS), FIRST.wrapping_add(b * MSS)))
            .collect(),
        ..Tcp::default()
    };
    let at = |ms: u64| 1_700_000_000_000_000_000 + ms * 1_000_000;
    vec![
        (at(0), data(0)),
        (at(1), data(1)),
        (at(2), data(2)),
        (at(20), ack(1, &[])),
        (at(22), ack(1, &[(2, 3)])),
        (at(23), Tcp { ident: 8, ..data(1) }),
        (at(43), ack(3, &[])),
    ]
}

fn check(findings: &Findings) {
    let [flow] = &findings.flows[..] else { panic!("{} flows", findings.flows.len()) };
    assert_eq!((flow.packets, flow.retransmissions, flow.losses.len(), flow.unseen), (4, 1, 1, 0));
    assert_eq!((flow.sender.port(), flow.receiver.port()), (0x9000, 0x1388));
    assert_eq!((flow.losses[0].at_ns, flow.losses[0].packet), (1_700_000_000_001_000_000, 1));
    assert_eq!(flow.losses[0].repaired_at_ns - flow.losses[0].at_ns, 22_000_000);
    assert_eq!((findings.tally.tcp, findings.broken_off), (7, None));
}

#[derive(Clone, Copy)]
struct Order {
    big_endian: bool,
}

impl Order {
    fn word(self, value: u32) -> [u8; 4] {
        if self.big_endian { value.to_be_bytes() } else { value.to_le_bytes() }
    }

    fn short(self, value: u16) -> [u8; 2] {
        if self.big_endian { value.to_be_bytes() } else { value.to_le_bytes() }
    }

    fn legacy(self, magic: u32, per_s: u64, link_type: u32, frames: &[(u64, Vec<u8>, u32)]) -> Vec<u8> {
        let mut file = Vec::new();
        file.extend(self.word(magic));
        file.extend(self.short(2));
        file.extend(self.short(4));
        for word in [0, 0, 65_535, link_type] {
            file.extend(self.word(word));
        }
        for (at_ns, bytes, length) in frames {
            let ticks = (at_ns % 1_000_000_000) / (1_000_000_000 / per_s);
            for word in [(at_ns / 1_000_000_000) as u32, ticks as u32, bytes.len() as u32, *length] {
                file.extend(self.word(word));
            }
            file.extend(bytes);
        }
        file
    }

    fn block(self, kind: u32, body: &[u8]) -> Vec<u8> {
        let mut body = body.to_vec();
        body.resize(body.len().next_multiple_of(4), 0);
        let length = self.word(12 + body.len() as u32);
        [&self.word(kind)[..], &length, &body, &length].concat()
    }

    fn section(self) -> Vec<u8> {
        let body = [&self.word(0x1a2b_3c4d)[..], &self.short(1), &self.short(0), &[0xff; 8]].concat();
        self.block(0x0a0d_0d0a, &body)
    }

    fn interface(self, link_type: u16, resolution: Option<u8>, offset_s: i64) -> Vec<u8> {
        let mut body = [&self.short(link_type)[..], &[0, 0], &self.word(0)].concat();
        if let Some(resolution) = resolution {
            body.extend([&self.short(9)[..], &self.short(1), &[resolution, 0, 0, 0]].concat());
        }
        if offset_s != 0 {
            let offset = if self.big_endian { offset_s.to_be_bytes() } else { offset_s.to_le_bytes() };
            body.extend([&self.short(14)[..], &self.short(8), &offset].concat());
        }
        body.extend([0; 4]);
        self.block(1, &body)
    }

    fn named(self, name: &str) -> Vec<u8> {
        let mut body = [&self.short(101)[..], &[0, 0], &self.word(0)].concat();
        body.extend([&self.short(2)[..], &self.short(name.len() as u16), name.as_bytes()].concat());
        body.resize(body.len().next_multiple_of(4), 0);
        body.extend([&self.short(9)[..], &self.short(1), &[9, 0, 0, 0], &[0; 4]].concat());
        self.block(1, &body)
    }

    fn packet(self, interface: u32, ticks: u64, bytes: &[u8], length: u32) -> Vec<u8> {
        let mut body = Vec::new();
        for word in [interface, (ticks >> 32) as u32, ticks as u32, bytes.len() as u32, length] {
            body.extend(self.word(word));
        }
        body.extend(bytes);
        self.block(6, &body)
    }
}

const LITTLE: Order = Order { big_endian: false };
const BIG: Order = Order { big_endian: true };

fn frames(wrap: impl Fn(&Tcp) -> (Vec<u8>, u32)) -> Vec<(u64, Vec<u8>, u32)> {
    let wrapped = |(at_ns, tcp): &(u64, Tcp)| {
        let (bytes, length) = wrap(tcp);
        (*at_ns, bytes, length)
    };
    connection().iter().map(wrapped).collect()
}

fn raw(tcp: &Tcp) -> (Vec<u8>, u32) {
    let bytes = tcp.ipv4();
    let length = bytes.len() as u32 + tcp.payload;
    (bytes, length)
}

fn behind(before: &[u8]) -> impl Fn(&Tcp) -> (Vec<u8>, u32) {
    move |tcp| {
        let (bytes, length) = raw(tcp);
        ([before, &bytes].concat(), length + before.len() as u32)
    }
}

fn ipv6(extensions: &[u8], first: u8) -> impl Fn(&Tcp) -> (Vec<u8>, u32) {
    move |tcp| {
        let header = tcp.header();
        let length = (extensions.len() + header.len()) as u32 + tcp.payload;
        let mut bytes = vec![0x60, 0, 0, 0, (length >> 8) as u8, length as u8, first, 64];
        let (one, other) = ([1_u8; 16], [2_u8; 16]);
        bytes.extend(if tcp.from_receiver { [other, one] } else { [one, other] }.concat());
        bytes.extend(extensions);
        bytes.extend(header);
        (bytes, length + 40)
    }
}

#[test]
fn pcap_of_either_order_and_resolution_is_read() {
    check(&read(&pcap(&connection())));
    for order in [LITTLE, BIG] {
        check(&read(&order.legacy(0xa1b2_c3d4, 1_000_000, 101, &frames(raw))));
        check(&read(&order.legacy(0xa1b2_3c4d, 1_000_000_000, 101, &frames(raw))));
    }
}

#[test]
fn pcapng_of_either_order_and_any_resolution_is_read() {
    for order in [LITTLE, BIG] {
        for (resolution, ticks_per_s, offset_s) in [
            (None, 1_000_000_u128, 0),
            (Some(9), 1_000_000_000, 0),
            (Some(3), 1_000, 1_600_000_000),
            (Some(0x80 | 0x1e), 1 << 30, 0),
        ] {
            let mut file = [order.section(), order.interface(101, resolution, offset_s)].concat();
            for (at_ns, bytes, length) in frames(raw) {
                let since = u128::from(at_ns - offset_s as u64 * 1_000_000_000);
                let ticks = (since * ticks_per_s).div_ceil(1_000_000_000);
                file.extend(order.packet(0, ticks as u64, &bytes, length));
            }
            check(&read(&file));
        }
    }
}

#[test]
fn interfaces_of_a_file_and_sections_of_it_are_kept_apart() {
    let mut file = Vec::new();
    for order in [LITTLE, BIG] {
        file.extend(
            [order.section(), order.interface(1, Some(9), 0), order.interface(101, Some(9), 0)].concat(),
        );
        for (at_ns, bytes, length) in frames(raw) {
            file.extend(order.packet(1, at_ns, &bytes, length));
            let ethernet = [&[0; 12][..], &[8, 0], &bytes].concat();
            file.extend(order.packet(0, at_ns, &ethernet, length + 14));
        }
        file.extend(order.block(0x0bad, b"something that nobody knows"));
    }
    let findings = read(&file);
    assert_eq!(findings.flows.len(), 4);
    assert!(findings.flows.iter().all(|flow| flow.losses.len() == 1 && flow.losses[0].packet_of_all == 1));
}

#[test]
fn both_ways_at_one_end_of_a_link_belong_together() {
    let names = ["par-nyc forward in", "par-nyc forward out", "par-nyc reverse in", "par-nyc reverse out"];
    let mut file = LITTLE.section();
    for name in &names {
        file.extend(LITTLE.named(name));
    }
    for ((at_ns, bytes, length), (_, tcp)) in frames(raw).iter().zip(connection()) {
        // Nothing arrives at the other end, and what it answers comes from nowhere.
        file.extend(LITTLE.packet(if tcp.from_receiver { 3 } else { 0 }, *at_ns, bytes, *length));
    }
    let findings = read(&file);
    check(&findings);
    assert_eq!(findings.flows[0].interface, "par-nyc (first end)");
    assert_eq!(findings.flows[0].acknowledgements, 3);
}

#[test]
fn simple_packets_have_no_time_but_numbers() {
    let mut file = [LITTLE.section(), LITTLE.interface(101, None, 0)].concat();
    for (_, mut bytes, length) in frames(raw) {
        bytes.resize(length as usize, 0);
        file.extend(LITTLE.block(3, &[&length.to_le_bytes()[..], &bytes].concat()));
    }
    let [flow] = &read(&file).flows[..] else { panic!() };
    assert_eq!((flow.losses.len(), flow.losses[0].packet, flow.losses[0].at_ns), (1, 1, 0));
}

#[test]
fn every_link_layer_leads_to_the_same_segments() {
    let ethernet = |kinds: &[u8]| [&[0; 12], kinds].concat();
    for (link_type, before) in [
        (1, ethernet(&[8, 0])),
        (1, ethernet(&[0x81, 0, 0, 5, 8, 0])),
        (1, ethernet(&[0x88, 0xa8, 0, 9, 0x81, 0, 0, 5, 8, 0])),
        (12, vec![]),
        (101, vec![]),
        (228, vec![]),
        (0, vec![2, 0, 0, 0]),
        (108, vec![0, 0, 0, 2]),
        (113, [&[0; 14][..], &[8, 0]].concat()),
        (276, [&[8, 0][..], &[0; 18]].concat()),
    ] {
        check(&read(&LITTLE.legacy(0xa1b2_3c4d, 1_000_000_000, link_type, &frames(behind(&before)))));
    }
}

#[test]
fn ipv6_is_read_behind_its_extension_headers() {
    let options = [60, 0, 1, 4, 0, 0, 0, 0];
    let destination = [44, 1, 1, 12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    let whole = [6, 0, 0, 0, 0, 0, 0, 9];
    let all = [&options[..], &destination, &whole].concat();
    check(&read(&LITTLE.legacy(0xa1b2_3c4d, 1_000_000_000, 229, &frames(ipv6(&[], 6)))));
    check(&read(&LITTLE.legacy(0xa1b2_3c4d, 1_000_000_000, 101, &frames(ipv6(&all, 0)))));
}

#[test]
fn fragments_and_other_packets_are_counted_and_left_out() {
    let (mut fragment, length) = raw(&connection()[0].1);
    fragment[6] = 0x20;
    let (mut udp, _) = raw(&connection()[0].1);
    udp[9] = 17;
    let (cut, _) = raw(&connection()[0].1);
    let frames =
        [(5, fragment, length), (6, udp, length), (7, cut[..30].to_vec(), length), (8, vec![0; 40], 40)];
    let findings = read(&LITTLE.legacy(0xa1b2_3c4d, 1_000_000_000, 101, &frames));
    let tally = findings.tally;
    assert_eq!((tally.packets, tally.fragments, tally.other, tally.cut, tally.no_ip), (4, 1, 1, 1, 1));
    assert!(findings.flows.is_empty());
}

#[test]
fn a_packet_that_an_adapter_cuts_counts_as_its_parts() {
    let syn =
        |from_receiver| Tcp { from_receiver, sequence: FIRST, flags: 2, mss: Some(1012), ..Tcp::default() };
    let data = |segment: u32, count: u32, ident: u16| Tcp {
        sequence: FIRST.wrapping_add(1 + segment * 1000),
        flags: 16,
        payload: 1000 * count,
        stamps: Some((1, 1)),
        ident,
        ..Tcp::default()
    };
    let packets = [
        (0, syn(false)),
        (1, syn(true)),
        (2, data(0, 10, 1)),
        (3, data(10, 10, 11)),
        (30_000_000, data(12, 2, 90)),
    ];
    let [flow] = &read(&pcap(&packets)).flows[..] else { panic!() };
    let lost: Vec<_> = flow.losses.iter().map(|loss| (loss.packet, loss.bytes)).collect();
    assert_eq!(lost, [(12, 1000), (13, 1000)]);
    assert_eq!((flow.packets, flow.joined, flow.retransmissions), (22, 3, 2));
}

#[test]
fn a_packet_that_was_captured_twice_is_no_retransmission() {
    let mut packets = connection();
    packets.insert(2, packets[1].clone());
    let [flow] = &read(&pcap(&packets)).flows[..] else { panic!() };
    assert_eq!((flow.copies, flow.losses.len(), flow.losses[0].packet), (1, 1, 1));
}

#[test]
fn what_the_capture_missed_is_no_loss() {
    let mut packets = connection();
    packets.remove(5);
    packets.remove(1);
    let [flow] = &read(&pcap(&packets)).flows[..] else { panic!() };
    assert_eq!((flow.losses.len(), flow.unseen), (0, 1));
}

fn refusal(file: &[u8]) -> String {
    let mut reader = match Reader::new(file) {
        Ok(reader) => reader,
        Err(error) => return error.to_string(),
    };
    loop {
        match reader.advance(1) {
            Ok(true) => {}
            Ok(false) => panic!("nothing was refused"),
            Err(error) => return error.to_string(),
        }
    }
}

#[test]
fn what_is_no_capture_is_refused_with_its_place() {
    for (file, message) in [
        (Vec::new(), "at byte 0: the file is too short for a capture; give a pcap"),
        (b"t_s\n1.5\n2.5\n".repeat(9), "at byte 0: this is not a capture; give a pcap"),
        (
            LITTLE.legacy(0xa1b2_c3d4, 1_000_000, 105, &[]),
            "at byte 20: packets of link type 105 cannot be read; capture Ethernet",
        ),
    ] {
        assert!(refusal(&file).starts_with(message), "{}", refusal(&file));
    }
    let mut long = pcap(&connection());
    long[24 + 8..24 + 12].copy_from_slice(&0x7fff_ffff_u32.to_le_bytes());
    assert!(
        refusal(&long).starts_with("at byte 24: a packet of 2147483647 captured bytes; the file is damaged")
    );
    let whole = [LITTLE.section(), LITTLE.interface(101, None, 0)].concat();
    let place = whole.len();
    for (block, message) in [
        (LITTLE.packet(1, 0, &[0; 40], 40), "a packet of interface 1, which is not described"),
        (LITTLE.interface(1, Some(99), 0), "a time resolution of 0x63"),
        ([6, 0, 0, 0, 13, 0, 0, 0, 0, 0, 0, 0].to_vec(), "a block of 13 bytes"),
        ([&LITTLE.section()[..8], &[0; 20]].concat(), "a section without its byte-order magic"),
    ] {
        let refused = refusal(&[&whole[..], &block].concat());
        assert!(refused.starts_with(&format!("at byte {place}: {message}; ")), "{refused}");
    }
}

#[test]
fn a_file_that_breaks_off_is_read_up_to_there() {
    let file = pcap(&connection());
    let end = file.len();
    let findings = read(&file[..end - 3]);
    assert_eq!(findings.tally.packets, 6);
    assert_eq!(findings.broken_off, Some((end - 16 - 40) as u64));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn any_bytes_behind_any_header_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..400), format in 0..6_usize) {
        let header = [
            Vec::new(),
            LITTLE.legacy(0xa1b2_c3d4, 1_000_000, 1, &[]),
            BIG.legacy(0xa1b2_3c4d, 1_000_000_000, 101, &[]),
            LITTLE.legacy(0xa1b2_cd34, 1_000_000, 113, &[]),
            [LITTLE.section(), LITTLE.interface(1, None, 0)].concat(),
            [BIG.section(), BIG.interface(101, None, 0)].concat(),
        ];
        let file = [&header[format][..], &bytes].concat();
        if let Ok(mut reader) = Reader::new(&file[..]) {
            while let Ok(true) = reader.advance(1) {}
            reader.finish();
        }
    }

    #[test]
    fn any_frame_never_panics(frame in prop::collection::vec(any::<u8>(), 0..120), link in 0..6_usize, version in 0..4_u8) {
        let link_type = [1, 101, 0, 113, 276, 229][link];
        let mut frame = frame;
        if let Some(first) = frame.first_mut().filter(|_| link == 1) {
            *first = [0x45, 0x46, 0x60, *first][usize::from(version)];
        }
        if let Some(protocol) = frame.get_mut(9).filter(|_| link == 1) {
            *protocol = 6;
        }
        let length = frame.len() as u32;
        read(&LITTLE.legacy(0xa1b2_c3d4, 1_000_000, link_type, &[(0, frame, length)]));
    }

    #[test]
    fn a_connection_with_wrong_bytes_never_panics(changes in prop::collection::vec((24..60_000_usize, any::<u8>()), 1..60)) {
        let world = World {
            segments: 100,
            spacing_ns: 100_000,
            delay_ns: 1_000_000,
            stamps: true,
            lost: &|number| number % 9 == 4,
            extra_ns: &|segment| segment % 7 * 300_000,
            needless: &|_| None,
        };
        let mut file = play(&world).at_receiver;
        for (place, value) in changes {
            let place = place % file.len();
            file[place] = value;
        }
        if let Ok(mut reader) = Reader::new(&file[..]) {
            while let Ok(true) = reader.advance(1) {}
            reader.finish();
        }
    }
}
