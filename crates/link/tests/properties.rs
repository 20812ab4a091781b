//! What holds for every link, whatever its models and whatever happens to it.

mod common;

use common::{
    Input, Polls, any_bit_rate, any_bundle, any_inputs, any_model, bits_per_s, count, inputs, offers,
    ordered_model, play,
};
use longhaul_link::{
    Bundle, Change, DelayModel, Fate, Line, Link, LinkModel, LossPosition, OfferResult, QueueDiscipline,
    QueueModel, RateModel, ReorderModel,
};
use longhaul_random::Seed;
use longhaul_units::{Probability, Span, Time};
use proptest::prelude::*;
use std::collections::BTreeMap;

fn link(model: &LinkModel, seed: u64, coalesce: Span) -> Link<common::Packet> {
    Link::new(model.clone(), &Seed::new(seed), "a/forward", coalesce)
}

/// The total size on the wire of the packets that came out, by number.
fn wire_bytes(inputs: &[(Span, Input)], framing: u32, number: u64) -> u64 {
    match inputs[number as usize].1 {
        Input::Offer { bytes, .. } => u64::from(bytes) + u64::from(framing),
        Input::Change(_) => 0,
    }
}

proptest! {
    #[test]
    fn each_packet_taken_in_comes_out_once_per_copy_and_no_other_does(
        model in any_model(), inputs in any_inputs(), seed: u64, coalesce_us in 0u64..20,
    ) {
        // `play` asserts conservation after every input as well.
        let run = play(link(&model, seed, Span::from_us(coalesce_us)), &inputs, Polls::Prompt);
        let mut expected = BTreeMap::new();
        let numbers = (0u64..).zip(&inputs).filter(|(_, (_, input))| matches!(input, Input::Offer { .. }));
        for ((number, _), offered) in numbers.zip(&run.fates) {
            if let OfferResult::Taken { copies } = offered {
                expected.insert(number, 1 + copies);
            }
        }
        let mut seen = BTreeMap::new();
        for number in run.out.iter().map(|each| each.0).chain(run.inside.iter().map(|each| each.0)) {
            *seen.entry(number).or_insert(0) += 1;
        }
        prop_assert_eq!(seen, expected);
        let lost_inside = run.inside.iter().filter(|each| each.1 == Fate::Lost).count() as u64;
        prop_assert_eq!(run.ended(Fate::Lost) + lost_inside, run.counters.lost_packets);
        let left_inside = run.inside.iter().filter(|each| each.1 == Fate::Down).count() as u64;
        prop_assert_eq!(run.ended(Fate::Down) + left_inside, run.counters.down_packets);
    }

    #[test]
    fn where_due_times_are_known_at_once_knowing_them_changes_nothing(
        model in ordered_model(), gigabits in prop::sample::select(vec![None, Some(1u64), Some(10), Some(25)]),
        delay_us in 0u64..50, inputs in any_inputs(), seed: u64,
    ) {
        let model = LinkModel {
            up: true,
            loss_position: LossPosition::Ingress,
            queue: QueueModel { discipline: QueueDiscipline::Fifo, ..model.queue.clone() },
            rate: gigabits.map_or(RateModel::Unlimited {}, |rate| bits_per_s(rate * 1_000_000_000)),
            delay: DelayModel::Constant { delay: Span::from_us(delay_us) },
            duplicate: Probability::ZERO,
            corrupt: Probability::ZERO,
            ..model
        };
        let made = || link(&model, seed, Span::ZERO);
        prop_assert!(matches!(Line::from(made()), Line::Pipe(_)));
        for polls in [Polls::Prompt, Polls::Never] {
            let plain = play(Line::Link(Box::new(made())), &inputs, polls);
            prop_assert_eq!(&play(Line::from(made()), &inputs, polls), &plain);
        }
    }

    #[test]
    fn packets_keep_their_order_whatever_changes(
        model in ordered_model(), inputs in inputs(), seed: u64, coalesce_us in 0u64..20,
    ) {
        let run = play(link(&model, seed, Span::from_us(coalesce_us)), &inputs, Polls::Prompt);
        prop_assert!(run.out.is_sorted_by_key(|(number, _)| *number));
    }

    #[test]
    fn packets_come_out_in_order_of_their_due_times(model in any_model(), inputs in any_inputs(), seed: u64) {
        for polls in [Polls::Prompt, Polls::Never] {
            let run = play(link(&model, seed, Span::from_us(5)), &inputs, polls);
            prop_assert!(run.out.is_sorted_by_key(|(_, due)| *due));
        }
    }

    #[test]
    fn late_and_rare_polls_change_no_fate_and_no_due_time(
        model in any_model(), inputs in any_inputs(), seed: u64, coalesce_us in 0u64..20,
    ) {
        let run = |polls| play(link(&model, seed, Span::from_us(coalesce_us)), &inputs, polls);
        let prompt = run(Polls::Prompt);
        prop_assert_eq!(&run(Polls::AtInputs), &prompt);
        prop_assert_eq!(&run(Polls::Never), &prompt);
    }

    #[test]
    fn coalescing_changes_no_fate_and_no_due_time(model in any_model(), inputs in any_inputs(), seed: u64) {
        let alone = play(link(&model, seed, Span::ZERO), &inputs, Polls::Prompt);
        let together = play(link(&model, seed, Span::from_us(10)), &inputs, Polls::Prompt);
        prop_assert_eq!(alone, together);
    }

    #[test]
    fn no_window_of_time_carries_more_than_the_rate(
        model in ordered_model(), rate in any_bit_rate(), line in any_bit_rate(), which in 0..3, offers in offers(),
        seed: u64, burst_bytes in 9_040u64..30_000,
    ) {
        // What a model lets through beyond its rate: nothing, the packet that has just begun, a bucket.
        let (rate_model, rate, slack) = match which {
            0 => (RateModel::Constant { rate }, rate, 0),
            1 => (RateModel::Paced { rate: rate.min(line), line: rate.max(line) }, rate.min(line), 9_040),
            _ => (RateModel::TokenBucket { rate, burst_bytes: count(burst_bytes), peak: None }, rate, burst_bytes),
        };
        let model = LinkModel { delay: DelayModel::Constant { delay: Span::from_us(7) }, rate: rate_model, ..model };
        let run = play(link(&model, seed, Span::ZERO), &offers, Polls::Prompt);
        // The end of the play opens the link; up to the last offer the model holds.
        let last = offers.iter().fold(Time::ZERO, |at, (pause, _)| at + *pause) + Span::from_us(7);
        let out: Vec<_> = run.out.iter().filter(|each| each.1 <= last).collect();
        for (i, (_, from)) in out.iter().enumerate() {
            let mut bytes = 0;
            for (number, until) in &out[i + 1..] {
                bytes += wire_bytes(&offers, model.framing.overhead_bytes, *number);
                // Both ends are rounded down to the picosecond, hence the one.
                let span = rate.time_for(bytes.saturating_sub(slack));
                prop_assert!(until.since(*from) + Span::from_ps(1) >= span);
            }
        }
    }

    #[test]
    fn parallel_routes_lose_nothing_silently_and_do_not_mind_late_polls(
        model in any_bundle(), inputs in any_inputs(), seed: u64,
    ) {
        let run = |polls| {
            let bundle = Bundle::new(true, model.clone(), &Seed::new(seed), "a/forward");
            play(Line::Bundle(Box::new(bundle)), &inputs, polls)
        };
        let prompt = run(Polls::Prompt);
        prop_assert_eq!(&run(Polls::AtInputs), &prompt);
        prop_assert_eq!(&run(Polls::Never), &prompt);
        prop_assert!(prompt.out.is_sorted_by_key(|(_, due)| *due));
        // Whoever has begun to leave has waited, if only for no time.
        let ended_after = prompt.counters.lost_packets + prompt.counters.delivered_packets;
        prop_assert!(prompt.waits.count() >= prompt.counters.delivered_packets);
        prop_assert!(prompt.waits.count() <= ended_after);
    }

    #[test]
    fn another_link_beside_it_moves_no_draw(model in any_model(), offers in offers(), seed: u64) {
        let alone = play(link(&model, seed, Span::ZERO), &offers, Polls::Prompt);
        let seed = Seed::new(seed);
        let mut neighbour = Link::new(model.clone(), &seed, "b/forward", Span::ZERO);
        let beside = Link::new(model, &seed, "a/forward", Span::ZERO);
        for n in 0..50 {
            neighbour.offer(Time::ZERO, common::packet(n, 100));
        }
        prop_assert_eq!(play(beside, &offers, Polls::Prompt), alone);
    }

    #[test]
    fn other_models_lose_the_same_packets(model in any_model(), others in any_model(), offers in offers(), seed: u64) {
        // Models that count time or bytes meet the same packets only at the near end.
        let others = LinkModel { loss: model.loss.clone(), loss_position: LossPosition::Ingress, ..others };
        let model = LinkModel { loss_position: LossPosition::Ingress, ..model };
        let lost = |model: &LinkModel| -> Vec<bool> {
            let run = play(link(model, seed, Span::ZERO), &offers, Polls::Prompt);
            run.fates.iter().map(|fate| *fate == OfferResult::Ended(Fate::Lost)).collect()
        };
        prop_assert_eq!(lost(&model), lost(&others));
    }

    #[test]
    fn a_change_to_what_holds_already_changes_nothing(
        model in any_model(), offers in offers(), seed: u64, pause_ns in 0u64..5_000, at in 0usize..80,
    ) {
        let same = Change {
            up: Some(true),
            loss: None, // A loss model starts afresh.
            queue: match &model.queue.discipline {
                QueueDiscipline::Fifo => Some(model.queue.clone()),
                _ => None, // And so does active queue management.
            },
            rate: Some(model.rate.clone()),
            delay: match &model.delay {
                DelayModel::Random { .. } => None, // And so does a correlation.
                other => Some(other.clone()),
            },
            reorder: Some(model.reorder),
            duplicate: Some(model.duplicate),
            corrupt: Some(model.corrupt),
            loss_position: Some(model.loss_position),
            framing: Some(model.framing),
            reordering: match model.reordering {
                None => Some(ReorderModel::None {}),
                Some(_) => None, // Blocks and gaps begin afresh.
            },
            coalesce: Some(Span::ZERO),
            present: Some(true),
            reroute: None,
            pacing: vec![],
        };
        let pause = Span::from_ns(pause_ns);
        let with = |change: Change| {
            let mut inputs = offers.clone();
            inputs.insert(at.min(offers.len()), (pause, Input::Change(Box::new(change))));
            play(link(&model, seed, Span::ZERO), &inputs, Polls::Prompt)
        };
        prop_assert_eq!(with(same), with(Change::default()));
    }
}
