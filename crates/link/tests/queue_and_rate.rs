//! The queue, the serialiser and changes in place, packet by packet.

mod common;

use common::{END, bits_per_s, drain, ethernet, gigabit, link, packet, run_until, transparent};
use longhaul_link::{
    Cells, Change, CodelParameters, DelayModel, DrrParameters, Fate, Framing, LinkModel, OfferResult,
    QueueDiscipline, QueueLimit, QueueModel, RateModel,
};
use longhaul_units::{Span, Time};
use std::num::NonZeroU32;

const TAKEN: OfferResult = OfferResult::Taken { copies: 0 };
const OVERFLOWED: OfferResult = OfferResult::Ended(Fate::Overflowed);

/// 1 Gbit/s: 125 bytes last exactly 1 us.
fn gigabit_link() -> LinkModel {
    LinkModel { rate: gigabit(1), ..transparent() }
}

fn us(us: u64) -> Time {
    Time::from_ns(us * 1000)
}

#[test]
fn a_burst_leaves_back_to_back_to_the_picosecond() {
    let rate = 9_876_543_211;
    let model = LinkModel {
        rate: bits_per_s(rate),
        framing: ethernet(),
        delay: DelayModel::Constant { delay: Span::from_ms(3) },
        ..transparent()
    };
    let mut link = link(model);
    let sizes: Vec<u32> = (0..1000).map(|n| 64 + n * 7919 % 1437).collect();
    for (number, bytes) in (0..).zip(&sizes) {
        link.offer(us(5), packet(number, *bytes));
    }
    let mut bytes = 0u128;
    let expected: Vec<(u64, Time)> = (0..)
        .zip(&sizes)
        .map(|(number, size)| {
            bytes += u128::from(*size) + 38;
            let ps = bytes * 8 * 1_000_000_000_000 / u128::from(rate);
            (number, us(5) + Span::from_ps(ps as u64) + Span::from_ms(3))
        })
        .collect();
    assert_eq!(drain(&mut link, END), expected);
}

#[test]
fn a_full_ethernet_frame_at_ten_gigabit_lasts_1230_4_nanoseconds() {
    let model = LinkModel { rate: gigabit(10), framing: ethernet(), ..transparent() };
    let mut link = link(model);
    link.offer(Time::ZERO, packet(0, 1500));
    assert_eq!(drain(&mut link, END), [(0, Time::from_ps(1_230_400))]);
}

#[test]
fn what_occupies_the_wire_is_counted_with_its_framing() {
    let cells = Framing {
        overhead_bytes: 8,
        least_bytes: 0,
        cells: Some(Cells { payload_bytes: NonZeroU32::new(48).unwrap(), cell_bytes: 53 }),
    };
    // Ethernet: 40 + 38 is less than 84; 1500 + 38. ATM: 48 bytes are one cell; 1508 are 32.
    let frames = Framing { least_bytes: 84, ..ethernet() };
    for (framing, expected) in [(frames, 84 + 1538), (cells, 53 + 32 * 53)] {
        let mut link = link(LinkModel { framing, ..gigabit_link() });
        link.offer(us(0), packet(0, 40));
        link.offer(us(0), packet(1, 1500));
        drain(&mut link, END);
        assert_eq!(link.counters().wire_bytes, expected);
    }
}

#[test]
fn an_unlimited_rate_lets_nothing_wait() {
    let queue = QueueLimit { packets: Some(0), bytes: Some(0) }.into();
    let mut link =
        link(LinkModel { queue, delay: DelayModel::Constant { delay: Span::from_us(1) }, ..transparent() });
    for n in 0..10 {
        assert_eq!(link.offer(us(0), packet(n, 1500)), TAKEN);
    }
    assert_eq!(link.next_event(), us(1));
    assert_eq!(drain(&mut link, us(1)).len(), 10);
}

#[test]
fn the_limit_counts_waiting_packets_and_not_the_one_being_sent() {
    let queue = QueueLimit { packets: Some(2), bytes: None }.into();
    let mut link =
        link(LinkModel { queue, delay: DelayModel::Constant { delay: Span::from_ms(9) }, ..gigabit_link() });
    let fates: Vec<OfferResult> = (0..5).map(|n| link.offer(us(0), packet(n, 125))).collect();
    assert_eq!(fates, [TAKEN, TAKEN, TAKEN, OVERFLOWED, OVERFLOWED]);
    assert_eq!((link.waiting(), link.in_flight()), ((2, 250), 1));
    // Packet 1 starts at 1 us, which makes room for one; what is on the wire does not count.
    assert_eq!(link.offer(Time::from_ps(999_999), packet(5, 125)), OVERFLOWED);
    assert_eq!(link.offer(us(1), packet(6, 125)), TAKEN);
    assert_eq!(link.offer(us(1), packet(7, 125)), OVERFLOWED);
    let ms9 = Span::from_ms(9);
    let expected = [(0, us(1) + ms9), (1, us(2) + ms9), (2, us(3) + ms9), (6, us(4) + ms9)];
    assert_eq!(drain(&mut link, END), expected);
    assert_eq!(link.counters().overflowed_packets, 4);
}

#[test]
fn the_byte_limit_refuses_what_does_not_fit_and_takes_what_does() {
    let queue = QueueLimit { packets: None, bytes: Some(3000) }.into();
    let mut link = link(LinkModel { queue, framing: ethernet(), ..gigabit_link() });
    let sizes = [9000, 1500, 1000, 501, 500, 1];
    let fates: Vec<OfferResult> =
        (0..).zip(sizes).map(|(n, bytes)| link.offer(us(0), packet(n, bytes))).collect();
    assert_eq!(fates, [TAKEN, TAKEN, TAKEN, OVERFLOWED, TAKEN, OVERFLOWED]);
    assert_eq!(link.waiting(), (3, 3000));
}

#[test]
fn a_queue_of_nothing_still_sends_when_the_wire_is_free() {
    let queue = QueueLimit { packets: Some(0), bytes: None }.into();
    let mut link = link(LinkModel { queue, ..gigabit_link() });
    assert_eq!(link.offer(us(0), packet(0, 125)), TAKEN);
    assert_eq!(link.offer(us(0), packet(1, 125)), OVERFLOWED);
    assert_eq!(link.offer(us(1), packet(2, 125)), TAKEN);
}

#[test]
fn waiting_times_are_those_of_the_queue_alone() {
    let mut link =
        link(LinkModel { delay: DelayModel::Constant { delay: Span::from_ms(1) }, ..gigabit_link() });
    for n in 0..4 {
        link.offer(us(10), packet(n, 125));
    }
    drain(&mut link, END);
    // 0 + 1 + 2 + 3 us.
    assert_eq!((link.waits().count(), link.waits().positive()), (4, 3));
    assert_eq!((link.waits().sum_ps(), link.waits().longest()), (6_000_000, Span::from_us(3)));
    assert_eq!(link.counters().wire_delay_ps, 4_000_000_000);
}

#[test]
fn a_new_rate_holds_from_the_next_packet_on() {
    let mut link = link(gigabit_link());
    for n in 0..3 {
        link.offer(us(0), packet(n, 1250));
    }
    // Packet 0 is half sent and finishes at 10 us; the others last 100 us each.
    let slow = bits_per_s(100_000_000);
    link.change(us(5), &Change { rate: Some(slow), ..Change::default() });
    assert_eq!(drain(&mut link, END), [(0, us(10)), (1, us(110)), (2, us(210))]);
}

#[test]
fn the_carried_fraction_of_the_old_rate_is_not_taken_for_one_of_the_new() {
    let (old, slow) = (9_999_999_999, 1_000);
    let mut link = link(LinkModel { rate: bits_per_s(old), ..transparent() });
    link.offer(us(0), packet(0, 1000));
    link.offer(us(0), packet(1, 1000));
    link.change(us(0), &Change { rate: Some(bits_per_s(slow)), ..Change::default() });
    // 8000 bit at the old rate last 800,000.00008 ps; those 0.00008 ps * old / slow would be 0.8 ns.
    let first = Time::from_ps(8_000 * 1_000_000_000_000 / old);
    assert_eq!(drain(&mut link, END), [(0, first), (1, first + Span::from_s(8))]);
}

#[test]
fn lifting_the_rate_frees_what_waits_when_the_packet_being_sent_has_left() {
    let mut link = link(gigabit_link());
    for n in 0..3 {
        link.offer(us(0), packet(n, 1250));
    }
    link.change(us(5), &Change { rate: Some(RateModel::Unlimited {}), ..Change::default() });
    link.offer(us(6), packet(3, 1250));
    assert_eq!(drain(&mut link, END), [(0, us(10)), (1, us(10)), (2, us(10)), (3, us(10))]);
}

#[test]
fn a_new_limit_keeps_what_waits_and_refuses_what_comes() {
    let mut link = link(gigabit_link());
    for n in 0..4 {
        link.offer(us(0), packet(n, 125));
    }
    let queue = Some(QueueLimit { packets: Some(1), bytes: None }.into());
    link.change(us(0), &Change { queue, ..Change::default() });
    assert_eq!(link.offer(us(0), packet(4, 125)), OVERFLOWED);
    // At 3 us packet 3 has started, so that one may wait again.
    assert_eq!(link.offer(us(3), packet(5, 125)), TAKEN);
    let expected: Vec<(u64, Time)> = [0, 1, 2, 3, 5].into_iter().zip((1..).map(us)).collect();
    assert_eq!(drain(&mut link, END), expected);
}

#[test]
fn a_new_delay_holds_for_packets_that_start_from_then_on_and_keeps_their_order() {
    let mut link =
        link(LinkModel { delay: DelayModel::Constant { delay: Span::from_us(50) }, ..gigabit_link() });
    for n in 0..3 {
        link.offer(us(0), packet(n, 1250));
    }
    // Packet 1 starts at 10 us and still follows the old model; packet 2 catches up with it.
    let delay = Some(DelayModel::Constant { delay: Span::from_us(5) });
    link.change(us(10), &Change { delay, ..Change::default() });
    assert_eq!(drain(&mut link, END), [(0, us(60)), (1, us(70)), (2, us(70))]);
}

#[test]
fn a_shorter_delay_lets_packets_overtake_where_that_is_allowed() {
    let delay = DelayModel::Constant { delay: Span::from_us(50) };
    let mut link = link(LinkModel { delay, reorder: true, ..gigabit_link() });
    for n in 0..3 {
        link.offer(us(0), packet(n, 1250));
    }
    let delay = Some(DelayModel::Constant { delay: Span::from_us(5) });
    link.change(us(10), &Change { delay, ..Change::default() });
    assert_eq!(link.next_event(), us(25), "packet 2 starts at 20 us and is on the wire for 5 us at least");
    assert_eq!(drain(&mut link, END), [(2, us(35)), (0, us(60)), (1, us(70))]);
}

#[test]
fn a_link_that_is_down_refuses_packets_keeps_those_that_wait_and_delivers_those_under_way() {
    let mut link =
        link(LinkModel { delay: DelayModel::Constant { delay: Span::from_us(3) }, ..gigabit_link() });
    for n in 0..3 {
        link.offer(us(0), packet(n, 1250));
    }
    link.change(us(5), &Change { up: Some(false), ..Change::default() });
    assert_eq!(link.offer(us(6), packet(3, 1250)), OfferResult::Ended(Fate::Down));
    assert_eq!(link.next_event(), us(13));
    assert_eq!(drain(&mut link, us(40)), [(0, us(13))]);
    assert_eq!((link.next_event(), link.waiting()), (Time::NEVER, (2, 2500)));

    link.change(us(50), &Change { up: Some(true), ..Change::default() });
    assert_eq!(link.next_event(), us(63));
    assert_eq!(drain(&mut link, END), [(1, us(63)), (2, us(73))]);
    assert_eq!(link.counters().down_packets, 1);
    assert_eq!(link.waits().longest(), Span::from_us(60));
}

#[test]
fn a_flap_shorter_than_a_packet_delays_nothing() {
    let mut link = link(gigabit_link());
    for n in 0..2 {
        link.offer(us(0), packet(n, 1250));
    }
    link.change(us(2), &Change { up: Some(false), ..Change::default() });
    link.change(us(4), &Change { up: Some(true), ..Change::default() });
    assert_eq!(drain(&mut link, END), [(0, us(10)), (1, us(20))]);
}

#[test]
fn a_link_may_begin_down() {
    let mut link = link(LinkModel { up: false, ..transparent() });
    assert_eq!(link.offer(us(0), packet(0, 100)), OfferResult::Ended(Fate::Down));
    link.change(us(1), &Change { up: Some(true), ..Change::default() });
    assert_eq!(link.offer(us(1), packet(1, 100)), TAKEN);
    assert_eq!(drain(&mut link, us(1)), [(1, us(1))]);
}

/// A queue without limit.
fn with(discipline: QueueDiscipline) -> QueueModel {
    QueueModel { discipline, ..QueueModel::default() }
}

#[test]
fn another_discipline_takes_over_what_waits_in_the_order_of_arrival() {
    // Flows are the number modulo 5: DRR would interleave 0 and 5 with 1, FIFO and a new DRR must not lose any.
    let drr = QueueDiscipline::Drr(DrrParameters { quantum: NonZeroU32::new(1250).unwrap(), flows: 64 });
    let mut link = link(LinkModel { queue: with(drr), ..gigabit_link() });
    for number in [0, 5, 10, 1, 6] {
        link.offer(us(0), packet(number, 1250));
    }
    link.change(us(5), &Change { queue: Some(QueueModel::default()), ..Change::default() });
    assert_eq!(link.waiting(), (4, 5_000), "nothing is flushed");
    // 0 is being sent; from now on it is first in, first out.
    let expected: Vec<_> = [0, 5, 10, 1, 6].into_iter().zip((1..).map(|n| us(10 * n))).collect();
    assert_eq!(drain(&mut link, END), expected);
}

#[test]
fn what_waited_in_a_fifo_takes_turns_in_a_new_drr() {
    let mut link = link(gigabit_link());
    for number in [0, 5, 10, 1, 6] {
        link.offer(us(0), packet(number, 1250));
    }
    let drr = QueueDiscipline::Drr(DrrParameters { quantum: NonZeroU32::new(1250).unwrap(), flows: 1 << 16 });
    link.change(us(5), &Change { queue: Some(with(drr)), ..Change::default() });
    // After 0, flows 0 (5, 10) and 1 (1, 6) take turns, beginning with the one that came first.
    let numbers: Vec<u64> = drain(&mut link, END).into_iter().map(|(number, _)| number).collect();
    assert_eq!(numbers, [0, 5, 1, 10, 6]);
}

#[test]
fn a_new_discipline_measures_the_sojourn_of_what_waited_from_its_arrival() {
    // 30 packets of 10 us; CoDel with a target of 5 us and an interval of 50 us drops the first that leaves
    // 50 us after one was found late.
    let mut link = link(gigabit_link());
    for number in 0..30 {
        link.offer(us(0), packet(number, 1250));
    }
    let codel = CodelParameters { target: Span::from_us(5), interval: Span::from_us(50), ecn: false };
    link.change(us(5), &Change { queue: Some(with(QueueDiscipline::Codel(codel))), ..Change::default() });
    let mut out = Vec::new();
    run_until(&mut link, END, &mut out);
    // Late since the dequeue at 10 us; dropping begins at the first dequeue at or after 60 us, of packet 6.
    assert_eq!(out.iter().map(|each| each.0).find(|&number| number > 5), Some(7));
    assert!(link.counters().dropped_packets > 0);
}

#[test]
fn new_framing_holds_from_the_next_packet_on() {
    let mut link = link(gigabit_link());
    for number in 0..3 {
        link.offer(us(0), packet(number, 1212));
    }
    // The first needs 9.696 us and finishes so; the others have 38 bytes more, 10 us each.
    link.change(us(5), &Change { framing: Some(ethernet()), ..Change::default() });
    let first = Time::from_ns(9_696);
    let expected = [(0, first), (1, first + Span::from_us(10)), (2, first + Span::from_us(20))];
    assert_eq!(drain(&mut link, END), expected);
    assert_eq!(link.counters().wire_bytes, 1212 + 2 * 1250);
}
