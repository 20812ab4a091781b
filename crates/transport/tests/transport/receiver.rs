//! Delayed acknowledgements (RFC 5681, section 4.2), ECN echo (RFC 3168, RFC 8257), windows (RFC 9293).

use crate::script::*;
use longhaul_transport::{AckPolicy, Ecn, Flags, Idle, InitialWindow, LimitedBy, ReceiveBuffer, Settings};
use longhaul_units::Span;

/// A receiver alone: acknowledgement numbers and ECN echoes of what it answers.
fn answers(segments: &[longhaul_transport::Segment]) -> Vec<(u64, bool)> {
    segments.iter().map(|segment| (segment.acknowledged, segment.flags.has(Flags::ECE))).collect()
}

#[test]
fn every_second_segment_is_acknowledged_and_a_lone_one_after_the_delay() {
    let mut script = Script::new(&plain());
    assert!(answers(&script.data(0, false)).is_empty());
    assert_eq!(answers(&script.data(1, false)), [(2, false)]);
    script.at(10);
    assert!(answers(&script.data(2, false)).is_empty());
    let (at, segments) = script.wait_for_segments();
    assert_eq!((at, answers(&segments)), (50.0, vec![(3, false)]));
    // The count starts again with each acknowledgement.
    assert!(answers(&script.data(3, false)).is_empty());
}

#[test]
fn the_first_segments_are_acknowledged_one_by_one_if_asked_for() {
    let quick = AckPolicy { quick: 3, ..plain().ack_policy };
    let mut script = Script::new(&Settings { ack_policy: quick, ..plain() });
    let counts: Vec<usize> = (0..6).map(|sequence| script.data(sequence, false).len()).collect();
    assert_eq!(counts, [1, 1, 1, 0, 1, 0]);
}

#[test]
fn out_of_order_segments_and_duplicates_are_acknowledged_immediately() {
    let mut script = Script::new(&plain());
    script.data(0, false);
    for (sequence, acknowledged) in [(2, 1), (3, 1), (5, 1), (1, 4), (4, 6), (4, 6)] {
        assert_eq!(answers(&script.data(sequence, false)), [(acknowledged, false)], "{sequence}");
    }
    assert!(answers(&script.data(6, false)).is_empty(), "in order again");
    assert_eq!(script.end.received(), 7 * MSS);
    assert_eq!(script.end.info().duplicates_received, 1);
}

#[test]
fn acknowledgements_are_piggybacked_on_data() {
    let mut script = Script::sending(&plain(), 0);
    assert!(answers(&script.data(0, false)).is_empty());
    script.end.write(ms(100), MSS);
    let out = script.segments();
    assert_eq!((out.len(), out[0].bytes, out[0].acknowledged), (1, 1000, 1));
    // The timer of the delayed acknowledgement is off: the next deadline is the tail probe's.
    assert_eq!(script.wait_for_segments().0, 400.0);
}

#[test]
fn data_leave_room_for_sack_blocks() {
    let mut script = Script::sending(&plain(), 0);
    script.data(1, false);
    script.end.write(ms(100), 2 * MSS);
    let out = script.segments();
    assert_eq!(out[0].bytes, 1000 - 12, "a block and its option header take 12 bytes");
    assert!(out.iter().all(|segment| segment.total_bytes() <= 1000 + 40));
    assert!(!out[0].sacks[0].is_empty());
}

fn ecn(kind: Ecn) -> Script {
    let settings = Settings { ecn: kind, ..plain() };
    let extra = if kind == Ecn::Exact { Flags::ECE | Flags::AE } else { Flags::ECE };
    Script::with_syn(&settings, extra)
}

#[test]
fn ece_is_sent_until_cwr() {
    let mut script = ecn(Ecn::Classic);
    assert!(answers(&script.data(0, false)).is_empty());
    assert_eq!(answers(&script.data(1, true)), [(2, true)]);
    script.data(2, false);
    assert_eq!(answers(&script.data(3, false)), [(4, true)]);
    script.data_with(4, false, Flags::CWR);
    assert_eq!(answers(&script.data(5, false)), [(6, false)]);
}

#[test]
fn a_change_of_ce_is_acknowledged_immediately_and_exactly() {
    // RFC 8257, section 3.2.
    let mut script = ecn(Ecn::Exact);
    assert!(answers(&script.data(0, false)).is_empty());
    // One unmarked segment was not acknowledged yet: it is, without echo; then the marked one.
    assert_eq!(answers(&script.data(1, true)), [(1, false), (2, true)]);
    assert!(answers(&script.data(2, true)).is_empty());
    assert_eq!(answers(&script.data(3, true)), [(4, true)]);
    assert_eq!(answers(&script.data(4, false)), [(5, false)]);
}

#[test]
fn a_sender_halves_once_per_window_of_marks_and_says_so_on_new_data() {
    let settings = Settings { ecn: Ecn::Classic, ..plain() };
    let mut script = Script::with_syn(&settings, Flags::ECE);
    script.ack(0, &[]);
    script.end.write(ms(100), 1000 * MSS);
    let first = script.segments();
    assert!(first.iter().all(|segment| segment.flags.has(Flags::ECT) && !segment.flags.has(Flags::CWR)));
    script.at(100);
    for number in 1..=6 {
        let sent = script.ack_with(number, &[], |segment| segment.flags |= Flags::ECE);
        // 10 in flight, window 5: nothing goes before the sixth.
        assert_eq!(sent.len(), usize::from(number == 6), "{number}");
    }
    assert_eq!(script.window(), 5.0);
    assert!(script.last.unwrap().flags.has(Flags::CWR | Flags::ECT));
    script.ack_with(10, &[], |segment| segment.flags |= Flags::ECE);
    assert!(!script.last.unwrap().flags.has(Flags::CWR));
    let before = script.window();
    // Sent after the reduction, and marked again: a second one.
    script.at(200).ack_with(11, &[], |segment| segment.flags |= Flags::ECE);
    assert!(script.window() < 0.7 * before);
}

#[test]
fn a_loss_in_a_window_that_was_reduced_for_a_mark_reduces_it_no_further() {
    let settings = Settings { ecn: Ecn::Classic, ..plain() };
    let mut script = Script::with_syn(&settings, Flags::ECE);
    script.end.write(ms(100), 1000 * MSS);
    script.out();
    script.at(100).ack_with(1, &[], |segment| segment.flags |= Flags::ECE);
    assert_eq!(script.window(), 5.0);
    let sent: Vec<u64> = (3..=5).flat_map(|last| script.ack(1, &[(2, last)])).collect();
    assert_eq!(sent, [1]);
    assert_eq!((script.window(), script.end.info().recoveries), (5.0, 1));
}

#[test]
fn an_exact_echo_reduces_once_per_window_too() {
    let mut script = ecn(Ecn::Exact);
    script.end.write(ms(100), 1000 * MSS);
    script.out();
    script.at(100);
    let echo = |segment: &mut longhaul_transport::Segment| segment.flags |= Flags::ECE;
    for number in 1..=4 {
        script.ack_with(number, &[], echo);
    }
    assert_eq!(script.end.info().threshold, 5.0);
    assert_eq!(script.end.info().marks, 4);
}

#[test]
fn info_reports_what_limits_the_sender() {
    let mut script = Script::with_offer(&plain(), Flags::NONE, 12_000);
    assert_eq!(script.end.info().limited_by, LimitedBy::Application);
    script.end.write(ms(100), 20 * MSS);
    script.out();
    assert_eq!(script.end.info().limited_by, LimitedBy::Window);
    let offer = |segment: &mut longhaul_transport::Segment| segment.window = 12_000 - 5000;
    script.at(100).ack_with(5, &[], offer);
    assert_eq!(script.end.info().limited_by, LimitedBy::Receiver);
    assert_eq!(script.end.info().receiver_window_bytes, 7000);
}

#[test]
fn without_negotiation_no_segment_is_ecn_capable() {
    let settings = Settings { ecn: Ecn::Classic, ..plain() };
    let mut script = Script::sending(&settings, 10);
    assert!(script.segments().iter().all(|segment| !segment.flags.any(Flags::ECT | Flags::CWR)));
}

#[test]
fn probes_of_a_closed_window_back_off() {
    let mut settings = plain();
    settings.timeouts.max_rto = Span::from_s(5);
    // A window of two segments, and data for ten.
    let mut script = Script::with_offer(&settings, Flags::NONE, 2000);
    script.end.write(ms(100), 10 * MSS);
    assert_eq!(script.out(), [0, 1]);
    script.at(100);
    assert!(script.ack_with(2, &[], |segment| segment.window = 0).is_empty());
    let mut times = Vec::new();
    for _ in 0..5 {
        let (at, segments) = script.wait_for_segments();
        assert_eq!(segments.len(), 1);
        assert!(segments[0].flags.has(Flags::PROBE) && !segments[0].occupies_sequence_space());
        times.push(at);
    }
    // 1 s after the window closed, then 2, 4 and at most 5 more.
    assert_eq!(times, [1100.0, 3100.0, 7100.0, 12_100.0, 17_100.0]);
    script.at(17_200);
    assert_eq!(script.ack_with(2, &[], |segment| segment.window = 3000), [2, 3, 4]);
    assert_eq!(script.end.info().window_probes, 5);
}

#[test]
fn a_probe_is_answered_at_once() {
    let mut script = Script::new(&plain());
    script.data(0, false);
    let probe = |segment: &mut longhaul_transport::Segment| segment.flags |= Flags::PROBE;
    let before = script.end.info().segments_received;
    script.ack_with(0, &[], probe);
    assert_eq!(script.last.unwrap().acknowledged, 1);
    assert_eq!(script.end.info().segments_received, before + 1);
}

#[test]
fn a_stopped_reader_closes_the_window_and_a_window_update_opens_it() {
    let settings = Settings {
        receive_buffer: ReceiveBuffer::fixed(4 * MSS),
        reads_at_once: false,
        ack_policy: AckPolicy { every: 1, ..plain().ack_policy },
        ..plain()
    };
    let mut script = Script::new(&settings);
    let windows: Vec<u32> = (0..4).map(|sequence| script.data(sequence, false)[0].window).collect();
    assert_eq!(windows, [3000, 2000, 1000, 0]);
    script.end.read(ms(200), 999);
    assert_eq!(script.segments().len(), 0, "not worth a segment");
    script.end.read(ms(200), 1);
    assert_eq!(script.segments()[0].window, 1000);
    assert_eq!(script.end.received(), 4 * MSS);
}

#[test]
fn the_sender_avoids_silly_windows() {
    let settings = Settings { idle: Idle::Keep, initial_window: InitialWindow::Rfc6928, ..plain() };
    let mut script = Script::with_offer(&settings, Flags::NONE, 4000);
    script.end.write(ms(100), 10 * MSS);
    assert_eq!(script.out(), [0, 1, 2, 3]);
    script.at(100);
    // Room for 300 bytes is less than half of the greatest window: nothing goes.
    assert!(script.ack_with(4, &[], |segment| segment.window = 300).is_empty());
    assert_eq!(script.ack_with(4, &[], |segment| segment.window = 1000), [4]);
}
