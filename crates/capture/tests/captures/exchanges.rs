//! A flow segment by segment: sequence numbers become bytes of the flow, and windows their ends.

use crate::wire::{FIRST, MSS, Tcp, World, pcap, play, read};
use longhaul_capture::{Asked, Exchange, Kind};

const SYN: u8 = 2;
const ACK: u8 = 16;

fn asked() -> Asked {
    Asked {
        interface: "0".to_owned(),
        sender: "10.0.0.1:36864".parse().unwrap(),
        receiver: "10.0.0.2:5000".parse().unwrap(),
    }
}

fn data(segment: u32) -> Tcp {
    Tcp { sequence: FIRST.wrapping_add(1 + segment * MSS), flags: ACK, payload: MSS, ..Tcp::default() }
}

fn ack(segment: u32, blocks: &[(u32, u32)]) -> Tcp {
    let number = |segment: u32| FIRST.wrapping_add(1 + segment * MSS);
    Tcp {
        from_receiver: true,
        acknowledgement: number(segment),
        flags: ACK,
        blocks: blocks.iter().map(|&(start, end)| (number(start), number(end))).collect(),
        ..Tcp::default()
    }
}

fn syns(shifts: [Option<u8>; 2]) -> Vec<(u64, Tcp)> {
    let [sender, receiver] = shifts;
    let first = Tcp { sequence: FIRST, flags: SYN, shift: sender, ..Tcp::default() };
    let second = Tcp {
        from_receiver: true,
        acknowledgement: FIRST.wrapping_add(1),
        flags: SYN | ACK,
        shift: receiver,
        ..Tcp::default()
    };
    vec![(1, first), (2, second)]
}

fn exchange(packets: &[(u64, Tcp)]) -> Exchange {
    Exchange::read(&pcap(packets)[..], &asked()).unwrap()
}

#[test]
fn positions_go_on_where_sequence_numbers_wrap_and_what_comes_again_is_known() {
    let mut packets = syns([Some(7), Some(2)]);
    packets.extend((0..8).map(|segment| (10 + u64::from(segment), data(segment))));
    packets.push((30, ack(6, &[(7, 8)])));
    packets.push((31, data(6)));
    packets.push((40, ack(8, &[])));
    let found = exchange(&packets);
    let mss = i64::from(MSS);
    assert_eq!(
        found.data.iter().map(|each| (each.start, each.end)).collect::<Vec<_>>(),
        [0, 1, 2, 3, 4, 5, 6, 7, 6].map(|segment| (segment * mss, (segment + 1) * mss))
    );
    let again: Vec<u64> =
        found.data.iter().filter(|each| each.kind != Kind::New).map(|each| each.at_ns).collect();
    assert_eq!(again, [31]);
    assert_eq!(found.data[8].kind, Kind::Retransmitted);
    // 65,535 stands in every header; a SYN's is not shifted.
    assert_eq!(
        found.answers.iter().map(|each| (each.acknowledged, each.limit)).collect::<Vec<_>>(),
        [(0, Some(65_535)), (6 * mss, Some(6 * mss + 4 * 65_535)), (8 * mss, Some(8 * mss + 4 * 65_535))]
    );
    assert_eq!(found.answers[1].blocks, [(7 * mss, 8 * mss)]);
}

#[test]
fn a_window_is_shifted_only_if_both_ends_say_so_and_unknown_without_their_beginnings() {
    let rest = [(10, data(0)), (20, ack(1, &[]))];
    let limit = |shifts: [Option<u8>; 2]| {
        let packets = [syns(shifts), rest.to_vec()].concat();
        exchange(&packets).answers.last().map(|each| each.limit)
    };
    assert_eq!(limit([None, Some(2)]), Some(Some(i64::from(MSS) + 65_535)));
    assert_eq!(limit([Some(2), None]), Some(Some(i64::from(MSS) + 65_535)));
    assert_eq!(limit([Some(2), Some(200)]), Some(Some(i64::from(MSS) + (65_535 << 14))));
    assert_eq!(exchange(&rest).answers.last().map(|each| each.limit), Some(None));
}

#[test]
fn data_that_fill_a_hole_are_late_and_not_seen_again() {
    let found = exchange(&[(10, data(0)), (11, data(2)), (12, data(1)), (13, data(1))]);
    let kinds: Vec<Kind> = found.data.iter().map(|each| each.kind).collect();
    assert_eq!(kinds, [Kind::New, Kind::New, Kind::Late, Kind::Retransmitted]);
}

#[test]
fn data_that_begin_again_and_go_on_are_new_unless_they_fill_a_hole() {
    let two = |segment: u32| Tcp { payload: 2 * MSS, ..data(segment) };
    let kinds =
        |packets: &[(u64, Tcp)]| exchange(packets).data.iter().map(|each| each.kind).collect::<Vec<_>>();
    assert_eq!(
        kinds(&[(10, data(0)), (11, two(0)), (12, two(0))]),
        [Kind::New, Kind::New, Kind::Retransmitted]
    );
    assert_eq!(kinds(&[(10, data(0)), (11, data(2)), (12, two(1))]), [Kind::New, Kind::New, Kind::Late]);
    let over = Tcp { payload: 3 * MSS, ..data(1) };
    assert_eq!(kinds(&[(10, data(0)), (11, data(2)), (12, over)]), [Kind::New, Kind::New, Kind::Late]);
}

#[test]
fn what_is_sent_again_is_as_much_as_the_flow_counts() {
    let world = World {
        segments: 2_000,
        spacing_ns: 100_000,
        delay_ns: 5_000_000,
        stamps: true,
        lost: &|number| number % 97 == 13,
        extra_ns: &|_| 0,
        needless: &|_| None,
    };
    let played = play(&world);
    let flow = &read(&played.at_sender).flows[0];
    let asked = Asked { interface: flow.interface.clone(), sender: flow.sender, receiver: flow.receiver };
    let found = Exchange::read(&played.at_sender[..], &asked).unwrap();
    assert_eq!(found.data.len() as u64, flow.packets);
    let again = found.data.iter().filter(|each| each.kind == Kind::Retransmitted).count();
    assert_eq!(again as u64, flow.retransmissions);
    assert!(again > 15);
    let other = Asked { interface: "1".to_owned(), ..asked };
    assert_eq!(Exchange::read(&played.at_sender[..], &other).unwrap(), Exchange::default());
}
