use super::*;
use proptest::prelude::*;

fn sent(segments: u64) -> (Scoreboard, Sampler) {
    let (mut scoreboard, mut sampler) = (Scoreboard::default(), Sampler::default());
    for sequence in 0..segments {
        scoreboard.push(Time::from_ns(sequence), 1000, false, &mut sampler);
    }
    (scoreboard, sampler)
}

fn ack_sample() -> AckSample {
    AckSample::new(Time::from_ns(1_000_000), None, Span::ZERO)
}

fn queued(scoreboard: &mut Scoreboard, sampler: &mut Sampler) -> Vec<u64> {
    std::iter::from_fn(|| {
        let sequence = scoreboard.next_retransmission()?;
        scoreboard.retransmit(Time::from_ns(2_000_000), sequence, true, sampler);
        Some(sequence)
    })
    .collect()
}

#[test]
fn a_record_takes_forty_bytes() {
    assert_eq!(size_of::<Record>(), 40);
}

#[test]
fn a_segment_is_lost_with_three_sacked_segments_above_it() {
    let (mut scoreboard, mut sampler) = sent(10);
    for sequence in [1, 3] {
        scoreboard.sack(sequence, sequence + 1, &mut ack_sample(), &mut sampler);
        assert_eq!(scoreboard.mark_lost_by_sack(3), 0);
    }
    scoreboard.sack(4, 5, &mut ack_sample(), &mut sampler);
    assert_eq!(scoreboard.mark_lost_by_sack(3), 1, "0 has three above it, 2 has two");
    scoreboard.sack(6, 7, &mut ack_sample(), &mut sampler);
    assert_eq!(scoreboard.mark_lost_by_sack(3), 1);
    assert_eq!(queued(&mut scoreboard, &mut sampler), [0, 2]);
    // 10 sent, 4 arrived, 2 lost, 2 retransmitted.
    assert_eq!(scoreboard.in_flight(), 10 - 4 - 2 + 2);
}

#[test]
fn rack_marks_segments_sent_a_reordering_window_before_the_newest_delivery() {
    let (mut scoreboard, mut sampler) = sent(10);
    let at = |ns| Time::from_ns(ns);
    let wait = Span::from_ns(100);
    // 5 arrived; 0, 1 and 2 left at least 100 ns ago.
    scoreboard.sack(5, 6, &mut ack_sample(), &mut sampler);
    assert_eq!(
        scoreboard.mark_lost_by_time(at(102), wait, (at(5), 5)),
        RackLosses { lost: 3, lost_retransmissions: 0, reordering_timer: at(103) }
    );
    let two = RackLosses { lost: 2, lost_retransmissions: 0, reordering_timer: Time::NEVER };
    assert_eq!(scoreboard.mark_lost_by_time(at(500), wait, (at(5), 5)), two, "6 left after 5");
    assert_eq!(queued(&mut scoreboard, &mut sampler), [0, 1, 2, 3, 4]);
    // Their retransmissions are lost when a segment sent later is delivered.
    let later = at(3_000_000);
    assert_eq!(
        scoreboard.mark_lost_by_time(later, wait, (at(2_000_001), 9)),
        RackLosses { lost: 9, lost_retransmissions: 5, reordering_timer: Time::NEVER }
    );
    assert_eq!(scoreboard.in_flight(), 0);
}

#[test]
fn a_timeout_marks_all_segments_lost_and_an_undo_clears_the_marks() {
    let (mut scoreboard, mut sampler) = sent(6);
    scoreboard.sack(2, 4, &mut ack_sample(), &mut sampler);
    scoreboard.mark_all_lost(6);
    assert_eq!((scoreboard.lost_out(), scoreboard.in_flight()), (4, 0));
    assert_eq!(scoreboard.next_retransmission(), Some(0));
    scoreboard.retransmit(Time::from_ns(9), 0, false, &mut sampler);
    scoreboard.undo_loss_marks();
    // 6 sent, 2 arrived, and one extra copy of the first.
    assert_eq!((scoreboard.lost_out(), scoreboard.in_flight()), (0, 6 - 2 + 1));
    scoreboard.acknowledge(6, &mut ack_sample(), &mut sampler);
    assert_eq!(scoreboard.in_flight(), 0);
}

#[test]
fn only_an_original_transmission_below_rack_fack_counts_as_reordering() {
    let (mut scoreboard, mut sampler) = sent(10);
    let mut first = ack_sample();
    scoreboard.sack(4, 8, &mut first, &mut sampler);
    assert_eq!(first.reordering, 0);
    scoreboard.retransmit(Time::from_ns(99), 0, false, &mut sampler);
    let mut second = ack_sample();
    scoreboard.acknowledge(1, &mut second, &mut sampler);
    assert_eq!(second.reordering, 0);
    let mut third = ack_sample();
    scoreboard.acknowledge(2, &mut third, &mut sampler);
    assert_eq!(third.reordering, 6, "7 came before 1");
}

proptest! {
    /// After any sequence of events, each counter equals a count over all records.
    #[test]
    fn counters_equal_a_count_over_all_records(
        steps in proptest::collection::vec((0u8..8, 0u64..40, 1u64..6), 1..80)
    ) {
        let (mut scoreboard, mut sampler) = sent(20);
        for (step, (kind, number, length)) in steps.into_iter().enumerate() {
            let now = Time::from_ns(1_000_000 * (step as u64 + 1));
            let mut sample = AckSample::new(now, None, Span::ZERO);
            match kind {
                0 => scoreboard.acknowledge((scoreboard.snd_una() + number / 4).min(scoreboard.snd_nxt()), &mut sample, &mut sampler),
                1 | 2 => {
                    // The first one would be acknowledged instead.
                    let start = scoreboard.snd_una() + 1 + number;
                    scoreboard.sack(start, start + length, &mut sample, &mut sampler);
                }
                3 => drop(scoreboard.mark_lost_by_sack(3)),
                4 => _ = scoreboard.mark_lost_by_time(now, Span::from_ns(1500), (now, u64::MAX)),
                5 if number < 3 => scoreboard.mark_all_lost(scoreboard.snd_una() + length * number),
                5 if number < 5 => scoreboard.undo_loss_marks(),
                5 => scoreboard.mark_head_lost(),
                6 => if let Some(sequence) = scoreboard.next_retransmission() {
                    scoreboard.retransmit(now, sequence, true, &mut sampler);
                },
                _ => drop(scoreboard.push(now, 1000, false, &mut sampler)),
            }
            let numbers = || scoreboard.records.numbers();
            let count = |flag| numbers().filter(|&n| scoreboard.record(n).has(flag)).count() as u32;
            prop_assert_eq!(scoreboard.sacked_out, count(Record::SACKED));
            prop_assert_eq!(scoreboard.lost_out, count(Record::LOST));
            prop_assert_eq!(scoreboard.retrans_out, count(Record::RETRANS));
            let above = numbers().filter(|&n| n >= scoreboard.sack_scan && scoreboard.record(n).has(Record::SACKED)).count();
            prop_assert_eq!(scoreboard.sacked_above_scan, above as u32);
            prop_assert!(numbers().map(|n| scoreboard.record(n))
                .all(|r| !r.has(Record::SACKED) || !r.has(Record::LOST | Record::RETRANS)));
            // Each lost segment that is not in flight is in the retransmit queue.
            let waiting = numbers()
                .filter(|&n| scoreboard.record(n).has(Record::LOST) && !scoreboard.record(n).has(Record::RETRANS))
                .all(|n| scoreboard.recovery.as_ref().is_some_and(|recovery| recovery.retransmit_queue.contains(&n)));
            prop_assert!(waiting);
        }
    }
}
