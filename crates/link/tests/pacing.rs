//! What holds for every pacer, whatever comes when.

use longhaul_link::{ClassModel, Framing, LinkPacket, Pacer, PacerModel, PacingModel, QueueLimit};
use longhaul_units::{Rate, Span, Time};
use proptest::prelude::*;
use std::num::NonZeroU64;

#[derive(Clone, Copy, Debug, PartialEq)]
struct Packet {
    number: usize,
    bytes: u32,
}

impl LinkPacket for Packet {
    fn bytes(&self) -> u32 {
        self.bytes
    }
}

/// After a pause, to a class, so many bytes.
type Offer = (Span, usize, u32);

const CLASSES: usize = 4;
const FRAMING: Framing = Framing { overhead_bytes: 38, least_bytes: 84, cells: None };
const LARGEST: u64 = 9_038;

fn rate(bits_per_s: u64) -> Rate {
    Rate::from_bits_per_s(bits_per_s).unwrap()
}

/// Models whose rates the line carries, 1 Gbit/s in all.
fn any_model() -> impl Strategy<Value = PacerModel> {
    let model =
        (0..3usize, 8_000u64..250_000_000, LARGEST..60_000).prop_map(
            |(kind, bits, burst_bytes)| match kind {
                0 => PacingModel::Normal {},
                1 => PacingModel::Paced { rate: rate(bits) },
                _ => PacingModel::TokenBucket {
                    rate: rate(bits),
                    burst_bytes: NonZeroU64::new(burst_bytes).unwrap(),
                    peak: None,
                },
            },
        );
    let class = (model, prop::option::of(1u64..20))
        .prop_map(|(pacing, packets)| ClassModel { pacing, limit: QueueLimit { packets, bytes: None } });
    prop::collection::vec(class, CLASSES).prop_map(|classes| PacerModel {
        line: rate(1_000_000_000),
        line_framing: FRAMING,
        class_framing: FRAMING,
        classes,
    })
}

fn offers() -> impl Strategy<Value = Vec<Offer>> {
    let pause = prop_oneof![3 => Just(0u64), 3 => 0..20_000u64, 1 => 0..3_000_000u64].prop_map(Span::from_ns);
    prop::collection::vec((pause, 0..CLASSES, 20u32..9_000), 1..150)
}

struct Run {
    /// Number, class, framed bytes and start of what left.
    sent: Vec<(usize, usize, u64, Time)>,
    dropped: Vec<usize>,
    latest: [Span; CLASSES],
}

/// Everything leaves in the end. `prompt`: the pacer is looked at at each of its events, too.
fn play(model: &PacerModel, offers: &[Offer], prompt: bool) -> Run {
    let mut pacer = Pacer::new(model);
    let (mut sent, mut dropped, mut now) = (Vec::new(), Vec::new(), Time::ZERO);
    let mut take = |pacer: &mut Pacer<Packet>, until: Time| {
        while prompt && pacer.next_event() <= until && pacer.next_event() < Time::NEVER {
            let event = pacer.next_event();
            let (packet, class, at) = pacer.take(event).unwrap();
            assert_eq!(at, event);
            sent.push((packet.number, class, u64::from(FRAMING.framed(packet.bytes)), at));
        }
        while let Some((packet, class, at)) = pacer.take(until) {
            sent.push((packet.number, class, u64::from(FRAMING.framed(packet.bytes)), at));
        }
    };
    for (number, &(pause, class, bytes)) in offers.iter().enumerate() {
        now += pause;
        take(&mut pacer, now);
        if !pacer.offer(now, class, Packet { number, bytes }) {
            dropped.push(number);
        }
        let counted: u64 = (0..CLASSES).map(|class| pacer.counters(class).waiting_packets).sum();
        assert_eq!(counted, pacer.waiting());
    }
    take(&mut pacer, Time::NEVER);
    for class in 0..CLASSES {
        let all = pacer.counters(class);
        assert_eq!(all.offered_packets, all.sent_packets + all.dropped_packets);
        assert_eq!((all.waiting_packets, all.waiting_bytes), (0, 0));
    }
    let latest = std::array::from_fn(|class| pacer.counters(class).latest);
    Run { sent, dropped, latest }
}

proptest! {
    #[test]
    fn every_packet_leaves_once_or_is_dropped_and_classes_keep_their_order(
        model in any_model(), offers in offers(),
    ) {
        let run = play(&model, &offers, true);
        let mut numbers: Vec<_> = run.sent.iter().map(|each| each.0).chain(run.dropped).collect();
        numbers.sort_unstable();
        prop_assert_eq!(numbers, (0..offers.len()).collect::<Vec<_>>());
        for class in 0..CLASSES {
            prop_assert!(run.sent.iter().filter(|each| each.1 == class).is_sorted_by_key(|each| each.0));
        }
    }

    #[test]
    fn late_looks_change_no_start(model in any_model(), offers in offers()) {
        let (prompt, late) = (play(&model, &offers, true), play(&model, &offers, false));
        prop_assert_eq!(prompt.sent, late.sent);
        prop_assert_eq!(prompt.dropped, late.dropped);
    }

    #[test]
    fn packets_never_overlap_on_the_line(model in any_model(), offers in offers()) {
        for pair in play(&model, &offers, true).sent.windows(2) {
            prop_assert!(pair[1].3.since(pair[0].3) >= model.line.time_for(pair[0].2));
        }
    }

    /// A(t, t + tau) <= r (tau + l) + 1 packet for a paced class that others made late by at most l, and
    /// <= b + r tau for a bucket.
    #[test]
    fn no_window_of_time_carries_more_of_a_class_than_its_rate(model in any_model(), offers in offers()) {
        let run = play(&model, &offers, true);
        for (class, each) in model.classes.iter().enumerate() {
            let (rate, late, slack) = match each.pacing {
                PacingModel::Normal {} => continue,
                PacingModel::Paced { rate } => (rate, run.latest[class], 0),
                PacingModel::TokenBucket { rate, burst_bytes, .. } => (rate, Span::ZERO, burst_bytes.get()),
            };
            let sent: Vec<_> = run.sent.iter().filter(|each| each.1 == class).collect();
            for first in 0..sent.len() {
                let mut bytes = 0;
                for last in first..sent.len() {
                    // A bucket pays for the last packet, too; a clock before the next one.
                    let before = bytes;
                    bytes += sent[last].2;
                    let paid = if slack > 0 { bytes.saturating_sub(slack) } else { before };
                    let window = sent[last].3.since(sent[first].3) + late + Span::from_ps(1);
                    prop_assert!(window >= rate.time_for(paid), "class {class}: {bytes} bytes in {window:?}");
                }
            }
        }
    }

    /// A(t, t + tau) <= r tau + 1 packet, with gaps that are exact.
    #[test]
    fn a_class_that_has_the_line_alone_is_never_late(
        bits in 8_000u64..1_000_000_000, offers in offers(),
    ) {
        let class = ClassModel { pacing: PacingModel::Paced { rate: rate(bits) }, limit: QueueLimit::default() };
        let model = PacerModel {
            line: rate(1_000_000_000), line_framing: FRAMING, class_framing: FRAMING, classes: vec![class; CLASSES],
        };
        let alone: Vec<Offer> = offers.iter().map(|&(pause, _, bytes)| (pause, 0, bytes)).collect();
        let run = play(&model, &alone, true);
        prop_assert_eq!(run.latest[0], Span::ZERO);
        for pair in run.sent.windows(2) {
            let gap = pair[1].3.since(pair[0].3) + Span::from_ps(1);
            prop_assert!(gap >= rate(bits).time_for(pair[0].2));
        }
    }
}
