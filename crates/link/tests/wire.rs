//! Copies, order and company on the wire.

mod common;

use common::{END, Packet, count, drain, gigabit, link, packet, probability, run_until, transparent};
use longhaul_link::{
    Change, DelayModel, Fate, Line, Link, LinkModel, LossModel, LossPosition, OfferResult, QueueLimit,
    ReorderModel,
};
use longhaul_random::Seed;
use longhaul_units::{Probability, Span, Time};
use proptest::prelude::*;

fn us(us: u64) -> Time {
    Time::from_ns(us * 1000)
}

#[test]
fn a_duplicate_follows_its_original_through_the_serialiser() {
    let mut link = link(LinkModel { duplicate: Probability::ONE, rate: gigabit(1), ..transparent() });
    assert_eq!(link.offer(us(0), packet(0, 125)), OfferResult::Taken { copies: 1 });
    assert_eq!(link.offer(us(0), packet(1, 125)), OfferResult::Taken { copies: 1 });
    assert_eq!(drain(&mut link, END), [(0, us(1)), (0, us(2)), (1, us(3)), (1, us(4))]);
    assert_eq!(link.counters().copied_packets, 2);
}

#[test]
fn a_duplicate_that_finds_the_queue_full_overflows_alone() {
    let queue = QueueLimit { packets: Some(0), bytes: None }.into();
    let mut link = link(LinkModel { duplicate: Probability::ONE, rate: gigabit(1), queue, ..transparent() });
    assert_eq!(link.offer(us(0), packet(0, 125)), OfferResult::Taken { copies: 1 });
    assert_eq!(drain(&mut link, END), [(0, us(1))]);
    let counters = link.counters();
    assert_eq!((counters.copied_packets, counters.overflowed_packets), (1, 1));
}

#[test]
fn a_lost_packet_is_not_duplicated_and_the_share_of_duplicates_keeps_its_mean() {
    const N: u64 = 200_000;
    let loss = LossModel::Independent { probability: probability(0.5) };
    let mut link = link(LinkModel { duplicate: probability(0.03), loss, ..transparent() });
    let mut copied = 0;
    for n in 0..N {
        match link.offer(us(n), packet(n, 100)) {
            OfferResult::Taken { copies } => copied += u64::from(copies),
            OfferResult::Ended(fate) => assert_eq!(fate, Fate::Lost),
        }
        drain(&mut link, us(n));
    }
    let passed = (N - link.counters().lost_packets) as f64;
    let error = (0.03 * 0.97 / passed).sqrt();
    assert_eq!(copied, link.counters().copied_packets);
    assert!((copied as f64 / passed - 0.03).abs() < 4.5 * error, "{copied} of {passed}");
}

#[test]
fn one_packet_per_block_is_lost_at_the_link_too() {
    let mut link = link(LinkModel { loss: LossModel::OnePerBlock { block: count(10) }, ..transparent() });
    for _ in 0..1000 {
        let lost = (0..10).filter(|n| link.offer(us(0), packet(*n, 100)) == OfferResult::Ended(Fate::Lost));
        assert_eq!(lost.count(), 1);
    }
}

proptest! {
    /// NemC (OSU-CISRC-2/06-TR26, 3.4) with its condition made exact.
    #[test]
    fn a_reordered_packet_is_overtaken_iff_the_next_gap_is_below_the_difference_of_the_delays(
        seed: u64, gaps in proptest::collection::vec(190u64..=210, 1..100), block in 2u64..20,
    ) {
        let (net_delay, ooo_delay) = (Span::from_us(1000), Span::from_us(1200));
        let reordering = Some(ReorderModel::Block { block: count(block), delay: ooo_delay });
        let model = LinkModel { delay: DelayModel::Constant { delay: net_delay }, reordering, ..transparent() };
        let mut link = Link::new(model, &Seed::new(seed), "a/forward", Span::ZERO);
        let mut now = Time::ZERO;
        let mut offered = vec![];
        for (number, gap) in (0..).zip(&gaps) {
            offered.push(now);
            link.offer(now, packet(number, 1500));
            now += Span::from_us(*gap);
        }
        let out = drain(&mut link, END);
        let place = |number: u64| out.iter().position(|(n, _)| *n == number).unwrap();
        for (number, gap) in gaps.iter().enumerate().take(gaps.len() - 1) {
            let delay = |n: usize| out[place(n as u64)].1.since(offered[n]);
            prop_assert!(delay(number) == net_delay || delay(number) == ooo_delay);
            // Two chosen ones in a row, at a block's edge, keep their order.
            if delay(number + 1) == net_delay {
                let overtaken = place(number as u64) > place(number as u64 + 1);
                let chosen = delay(number) == ooo_delay;
                prop_assert_eq!(overtaken, chosen && Span::from_us(*gap) < Span::from_us(200));
            }
        }
        for whole in out_delays(&out, &offered).chunks_exact(block as usize) {
            prop_assert_eq!(whole.iter().filter(|delay| **delay == ooo_delay).count(), 1);
        }
    }

    #[test]
    fn choosing_packets_moves_no_other_packets_delay(seed: u64, packets in 1usize..60) {
        let delay = DelayModel::Normal { mean: Span::from_us(100), sd: Span::from_us(30) };
        let late = Span::from_ms(1);
        let dues = |reordering| {
            let model = LinkModel { delay: delay.clone(), reorder: true, reordering, ..transparent() };
            let mut link = Link::new(model, &Seed::new(seed), "a/forward", Span::ZERO);
            for n in 0..packets {
                link.offer(Time::ZERO, packet(n as u64, 100));
            }
            let mut out = drain(&mut link, END);
            out.sort_unstable();
            out
        };
        let with = dues(Some(ReorderModel::Block { block: count(5), delay: late }));
        for (plain, chosen) in dues(None).iter().zip(&with) {
            prop_assert!(plain == chosen || chosen.1 == Time::ZERO + late);
        }
    }
}

/// Delays in order of packet numbers.
fn out_delays(out: &[(u64, Time)], offered: &[Time]) -> Vec<Span> {
    let mut by_number = out.to_vec();
    by_number.sort_unstable();
    by_number.iter().map(|(number, due)| due.since(offered[*number as usize])).collect()
}

#[test]
fn jitter_that_keeps_order_raises_the_mean_as_the_maximum_of_the_draws_does() {
    // In a burst, packet i comes out at the maximum of i uniform draws: mean + w (i - 1) / (i + 1).
    const BURSTS: u64 = 20_000;
    const SIZE: u64 = 4;
    let delay = DelayModel::Uniform { mean: Span::from_us(100), half_width: Span::from_us(60) };
    let mut link = link(LinkModel { delay, ..transparent() });
    let mut sums = [0.0; SIZE as usize];
    for burst in 0..BURSTS {
        let now = us(burst * 1000);
        for n in 0..SIZE {
            link.offer(now, packet(n, 100));
        }
        for (number, due) in drain(&mut link, now + Span::from_us(500)) {
            sums[number as usize] += due.since(now).ps() as f64;
        }
    }
    for (i, sum) in (1..).zip(sums) {
        let i = f64::from(i);
        let expected = 100e6 + 60e6 * (i - 1.0) / (i + 1.0);
        // The maximum of i draws on [0, 1] is Beta(i, 1): variance i / ((i + 1)^2 (i + 2)).
        let variance = 120e6 * 120e6 * i / ((i + 1.0) * (i + 1.0) * (i + 2.0));
        let error = (variance / BURSTS as f64).sqrt();
        let mean = sum / BURSTS as f64;
        assert!((mean - expected).abs() < 4.5 * error, "packet {i}: {mean} instead of {expected}");
    }
}

#[test]
fn jitter_that_may_overtake_keeps_its_mean_in_bursts_too() {
    const N: u64 = 50_000;
    let delay = DelayModel::Uniform { mean: Span::from_us(100), half_width: Span::from_us(60) };
    let mut link = link(LinkModel { delay, reorder: true, ..transparent() });
    for n in 0..N {
        link.offer(us(0), packet(n, 100));
    }
    let out = drain(&mut link, END);
    assert!(!out.is_sorted_by_key(|(number, _)| *number));
    let mean = out.iter().map(|(_, due)| due.ps() as f64).sum::<f64>() / N as f64;
    let error = 120e6 / (12.0 * N as f64).sqrt();
    assert!((mean - 100e6).abs() < 4.5 * error, "{mean} instead of 100e6 +- {error}");
}

/// Offers a train of `count` packets of 125 bytes at once, then polls at every event; gives the
/// packets that left at each of those instants.
fn departures(coalesce: Span, model: LinkModel, trains: &[u64]) -> Vec<(Time, Vec<(u64, Time)>)> {
    let mut link: Link<Packet> = Link::new(model, &Seed::new(1), "a/forward", coalesce);
    for (number, train) in (0..).zip(trains) {
        link.offer(Time::ZERO, Packet { number, bytes: 125, train: *train });
    }
    let mut departures = vec![];
    while link.next_event() < Time::NEVER {
        let event = link.next_event();
        let out = drain(&mut link, event);
        if !out.is_empty() {
            departures.push((event, out));
        }
    }
    departures
}

/// 1 us per packet of 125 bytes, then 50 us of wire.
fn slow() -> LinkModel {
    LinkModel { rate: gigabit(1), delay: DelayModel::Constant { delay: Span::from_us(50) }, ..transparent() }
}

#[test]
fn segments_of_one_train_leave_together_when_the_last_within_the_span_is_due() {
    // Due at 51, 52, ... 56 us; 3 us after the first is the fourth.
    let out = departures(Span::from_us(3), slow(), &[0; 6]);
    let first = vec![(0, us(51)), (1, us(52)), (2, us(53)), (3, us(54))];
    let second = vec![(4, us(55)), (5, us(56))];
    assert_eq!(out, [(us(54), first), (us(56), second)]);
}

#[test]
fn segments_leave_together_on_a_link_without_delay_too() {
    let model = LinkModel { delay: DelayModel::Constant { delay: Span::ZERO }, ..slow() };
    let out = departures(Span::from_us(2), model, &[0; 4]);
    assert_eq!(out, [(us(3), vec![(0, us(1)), (1, us(2)), (2, us(3))]), (us(4), vec![(3, us(4))])]);
}

#[test]
fn segments_of_two_trains_never_leave_together() {
    let out = departures(Span::from_us(100), slow(), &[0, 0, 1, 1]);
    let (first, second) = (vec![(0, us(51)), (1, us(52))], vec![(2, us(53)), (3, us(54))]);
    assert_eq!(out, [(us(52), first), (us(54), second)]);
}

#[test]
fn no_coalescing_gives_out_each_packet_at_its_own_instant() {
    let instants: Vec<Time> = departures(Span::ZERO, slow(), &[0; 5]).iter().map(|(at, _)| *at).collect();
    assert_eq!(instants, [us(51), us(52), us(53), us(54), us(55)]);
}

#[test]
fn a_segment_that_enters_after_its_train_was_due_travels_alone() {
    for prompt in [true, false] {
        let model = LinkModel { delay: DelayModel::Constant { delay: Span::from_us(1) }, ..transparent() };
        let mut link: Link<Packet> = Link::new(model, &Seed::new(1), "a/forward", Span::from_us(10));
        link.offer(us(0), Packet { number: 0, bytes: 100, train: 0 });
        if prompt {
            assert_eq!(drain(&mut link, us(1)), [(0, us(1))]);
        }
        link.offer(us(2), Packet { number: 1, bytes: 100, train: 0 });
        assert_eq!(link.next_event(), if prompt { us(3) } else { us(1) });
    }
}

#[test]
fn a_late_packet_that_is_due_divides_a_train_rather_than_pass_it() {
    let reordering = Some(ReorderModel::Block { block: count(4), delay: Span::from_ns(51_500) });
    let out = departures(Span::from_us(100), LinkModel { reordering, ..slow() }, &[0; 4]);
    // This seed chooses packet 1, due at 53.5 us; packets 2 and 3, due at 53 and 54, are a train.
    let (first, late) = ((0, us(51)), (1, Time::from_ns(53_500)));
    let expected = [(first.1, vec![first]), (late.1, vec![(2, us(53)), late]), (us(54), vec![(3, us(54))])];
    assert_eq!(out, expected);
}

#[test]
fn packets_leave_the_order_from_a_change_on_and_no_longer_after_the_next() {
    let delay = DelayModel::Constant { delay: Span::from_us(5) };
    let mut link = link(LinkModel { delay, ..transparent() });
    let every = ReorderModel::Share { probability: probability(1.0), delay: Span::from_us(50) };
    link.offer(us(0), packet(0, 100));
    link.change(us(1), &Change { reordering: Some(every), ..Change::default() });
    link.offer(us(1), packet(1, 100));
    link.change(us(2), &Change { reordering: Some(ReorderModel::None {}), ..Change::default() });
    link.offer(us(2), packet(2, 100));
    assert_eq!(drain(&mut link, END), [(0, us(5)), (2, us(7)), (1, us(51))]);
}

#[test]
fn what_waited_behind_a_late_packet_is_an_event_of_its_own_after_the_change() {
    let every = ReorderModel::Share { probability: probability(1.0), delay: Span::from_us(50) };
    let mut link = link(LinkModel { rate: gigabit(1), reordering: Some(every), ..transparent() });
    for number in 0..2 {
        link.offer(us(0), packet(number, 125));
    }
    link.change(Time::from_ns(500), &Change { reordering: Some(ReorderModel::None {}), ..Change::default() });
    // 1 waits until 1 us, and passes 0, which is late.
    assert_eq!(link.next_event(), us(1));
    let mut out = Vec::new();
    run_until(&mut link, END, &mut out);
    assert_eq!(out, [(1, us(2)), (0, us(51))]);
}

#[test]
fn packets_that_are_late_by_a_shorter_delay_pass_those_that_are_late_by_a_longer_one() {
    let mut link = link(transparent());
    let late = |delay| ReorderModel::Share { probability: probability(1.0), delay: Span::from_us(delay) };
    for (at, delay) in [(0, 50), (1, 10), (2, 20)] {
        link.change(us(at), &Change { reordering: Some(late(delay)), ..Change::default() });
        link.offer(us(at), packet(at, 100));
    }
    assert_eq!(drain(&mut link, END), [(1, us(11)), (2, us(22)), (0, us(50))]);
}

#[test]
fn what_waits_passes_a_new_loss_position_at_the_egress() {
    let all = LossModel::Independent { probability: probability(1.0) };
    let mut link = link(LinkModel { rate: gigabit(1), ..transparent() });
    for number in 0..3 {
        link.offer(us(0), packet(number, 1250));
    }
    let place = Some(LossPosition::Egress);
    link.change(us(5), &Change { loss: Some(all), loss_position: place, ..Change::default() });
    // 0 has left the queue already; 1 and 2 are transmitted, and lost then.
    let mut out = Vec::new();
    run_until(&mut link, END, &mut out);
    assert_eq!(out, [(0, us(10))]);
    assert_eq!((link.counters().lost_packets, link.counters().wire_bytes), (2, 3 * 1250));
}

#[test]
fn segments_join_within_a_new_span_and_those_under_way_stay_as_they_are() {
    let mut link = link(LinkModel {
        rate: gigabit(1),
        delay: DelayModel::Constant { delay: Span::from_us(100) },
        ..transparent()
    });
    let train = |number| Packet { train: 0, ..packet(number, 1250) };
    for number in 0..2 {
        link.offer(us(0), train(number));
    }
    // 0 and 1 start at 0 and 10 us, before the change, and leave one by one; 2 and 3 leave together.
    link.change(us(10), &Change { coalesce: Some(Span::from_us(15)), ..Change::default() });
    for number in 2..4 {
        link.offer(us(10), train(number));
    }
    assert_eq!(drain(&mut link, us(110)), [(0, us(110))]);
    assert_eq!(drain(&mut link, us(120)), [(1, us(120))]);
    assert_eq!(link.next_event(), us(140));
    assert!(drain(&mut link, us(139)).is_empty());
    assert_eq!(drain(&mut link, us(140)), [(2, us(130)), (3, us(140))]);
    // And back: what enters from now on leaves alone again, behind a group that is under way.
    for number in 4..6 {
        link.offer(us(140), train(number));
    }
    link.change(us(150), &Change { coalesce: Some(Span::ZERO), ..Change::default() });
    for number in 6..8 {
        link.offer(us(150), train(number));
    }
    let mut out = Vec::new();
    run_until(&mut link, END, &mut out);
    assert_eq!(out.iter().map(|each| each.0).collect::<Vec<_>>(), [4, 5, 6, 7]);
}

/// Packets of 1 us each over 1 ms give or take 50 us, which may overtake.
fn overtaking() -> Link<Packet> {
    let delay = DelayModel::Uniform { mean: Span::from_us(1000), half_width: Span::from_us(50) };
    let mut link = link(LinkModel { delay, reorder: true, rate: gigabit(1), ..transparent() });
    link.record_departures();
    (0..4).for_each(|number| {
        link.offer(us(0), packet(number, 125));
    });
    link
}

#[test]
fn what_has_begun_to_leave_no_longer_waits_where_packets_may_overtake() {
    let mut line = Line::Link(Box::new(overtaking()));
    for (at, waiting) in [(0, 3), (1, 2), (2, 1), (3, 0)] {
        line.settle(us(at));
        assert_eq!((line.waiting().0, line.in_flight()), (waiting, 4 - waiting), "at {at} us");
    }
}

#[test]
fn departures_are_recorded_with_the_times_at_which_they_arrive() {
    let mut link = overtaking();
    assert!(link.knows_due_at_departure());
    let mut recorded = Vec::new();
    for at in 0..5 {
        let departures = link.departures(us(at)).unwrap();
        recorded.extend(departures.drain(..).map(|(due, packet)| (due, packet.number)));
        assert_eq!(recorded.len() as u64, (at + 1).min(4), "at {at} us");
    }
    recorded.sort_unstable();
    let arrived: Vec<_> = drain(&mut link, END).into_iter().map(|(number, due)| (due, number)).collect();
    assert_eq!(recorded, arrived);
}
