//! Timeouts (RFC 6298), F-RTO (RFC 5682), tail probes and reordering timers (RFC 8985).

use crate::script::*;
use longhaul_transport::{Bound, CaState, InitialWindow, Recovery, Reduction, Settings, Undo};
use longhaul_units::Span;

/// Without probes, so that only the retransmission timer runs.
fn quiet() -> Settings {
    Settings { tail_probes: false, ..plain() }
}

#[test]
fn the_timer_starts_with_the_first_segment_and_again_with_each_acknowledgement() {
    let mut script = Script::sending(&quiet(), 20);
    script.out();
    // The handshake gave SRTT 100, RTTVAR 50: 300 ms, but at least a second.
    script.at(100).ack(1, &[]);
    script.at(150).ack(2, &[]);
    // The timer shows the last acknowledgement.
    assert_eq!(script.wait(), (1150.0, vec![2]));
    assert_eq!((script.window(), script.end.info().ca_state), (1.0, CaState::Loss));
}

#[test]
fn samples_follow_the_formula() {
    let mut settings = quiet();
    settings.timeouts.min_rto = Span::ZERO;
    let mut script = Script::sending(&settings, 20);
    script.out();
    assert_eq!(script.end.info().rto, Span::from_ms(300), "100 + 4 * 50");
    script.at(180).ack(1, &[]);
    // RTTVAR = 3/4 * 50 + 1/4 * 80 = 57.5; SRTT = 7/8 * 100 + 1/8 * 180 = 110.
    let info = script.end.info();
    assert_eq!((info.srtt, info.rttvar), (Span::from_ms(110), Span::from_us(57_500)));
    assert_eq!(info.rto, Span::from_ms(110 + 230));
    assert_eq!(info.min_rtt, Span::from_ms(100));
}

#[test]
fn timeouts_double_until_an_unambiguous_sample() {
    let mut script = Script::sending(&quiet(), 20);
    script.out();
    let mut at = 0.0;
    for wait in [1000.0, 2000.0, 4000.0, 8000.0] {
        at += wait;
        assert_eq!(script.wait(), (at, vec![0]));
    }
    assert_eq!(script.end.info().timeouts, 4);
    // Karn: the acknowledgement of what was sent four times gives no sample; the back-off stays.
    script.at(15_100).ack(1, &[]);
    assert_eq!(script.end.info().srtt, Span::from_ms(100));
    assert_eq!(script.end.info().rto, Span::from_s(16));
}

#[test]
fn the_threshold_is_set_once_for_a_segment_that_times_out_again_and_again() {
    let mut script = Script::sending(&quiet(), 20);
    script.out();
    for _ in 0..3 {
        script.wait();
        assert_eq!((script.window(), script.end.info().threshold), (1.0, 5.0));
    }
}

#[test]
fn after_a_timeout_slow_start_retransmits_the_outstanding_segments() {
    for recovery in [Recovery::NewReno, Recovery::Sack] {
        let mut script = Script::sending(&Settings { recovery, ..quiet() }, 20);
        script.out();
        assert_eq!(script.wait(), (1000.0, vec![0]));
        assert_eq!(script.at(1100).ack(1, &[]), [1, 2], "{recovery:?}");
        assert_eq!(script.at(1200).ack(2, &[]), [3, 4]);
        // What had arrived is skipped.
        if recovery == Recovery::Sack {
            assert_eq!(script.ack(3, &[(6, 10)]), [5, 10]);
        }
    }
}

#[test]
fn a_connection_gives_up_after_so_many_attempts() {
    let mut settings = quiet();
    settings.timeouts.attempts = 3;
    let mut script = Script::sending(&settings, 20);
    script.out();
    for _ in 0..3 {
        assert_eq!(script.wait().1, [0]);
    }
    assert!(script.wait().1.is_empty());
    assert!(script.end.has_failed());
    assert_eq!(script.end.timer(), longhaul_units::Time::NEVER);
}

#[test]
fn f_rto_detects_a_spurious_timeout() {
    let undo = Undo { dsack: false, timestamps: false, f_rto: true };
    let mut script = Script::sending(&Settings { undo, recovery: Recovery::Sack, ..quiet() }, 40);
    script.out();
    assert_eq!(script.wait(), (1000.0, vec![0]));
    // RFC 5682, section 2.1: an advance, so two new segments; another advance, so it was spurious.
    assert_eq!(script.at(1010).ack(1, &[]), [10, 11]);
    let sent = script.at(1011).ack(2, &[]);
    assert_eq!(script.end.info().undone, 1);
    assert_eq!(script.end.info().ca_state, CaState::Open);
    assert!(script.window() >= 10.0);
    assert!(sent.iter().all(|&number| number >= 12), "nothing old: {sent:?}");
    assert_eq!(script.end.info().retransmits, 1);
}

#[test]
fn f_rto_continues_recovery_after_a_genuine_timeout() {
    let undo = Undo { dsack: false, timestamps: false, f_rto: true };
    let mut script = Script::sending(&Settings { undo, recovery: Recovery::Sack, ..quiet() }, 40);
    script.out();
    script.wait();
    assert_eq!(script.at(1100).ack(1, &[]), [10, 11]);
    // The new ones arrive beyond a gap: 1 to 9 are lost.
    assert_eq!(script.at(1200).ack(1, &[(10, 11)])[0], 1);
    assert_eq!((script.end.info().undone, script.end.info().lost), (0, 9));
}

#[test]
fn a_tail_loss_probe_is_sent_after_two_round_trips_and_reveals_the_loss() {
    // Ten segments, the last two lost.
    let mut script = Script::sending(&plain(), 10);
    script.out();
    script.at(100);
    for number in 1..=8 {
        script.ack(number, &[]);
    }
    // PTO = 2 SRTT after the last acknowledgement; nothing new to send, so the last goes again.
    let srtt = script.end.info().srtt.as_secs_f64() * 1e3;
    let (at, sent) = script.wait();
    assert!((at - (100.0 + 2.0 * srtt)).abs() < 1e-6, "{at}");
    assert_eq!(sent, [9]);
    // Its SACK shows by RACK that 8 is lost: sent before it, and longer ago than the reordering window.
    assert_eq!(script.at(400).ack(8, &[(9, 10)]), [8]);
    assert!(script.at(500).ack(10, &[]).is_empty());
    let info = script.end.info();
    assert_eq!((info.timeouts, info.tail_probes, info.recoveries), (0, 1, 1));
}

#[test]
fn the_probe_timeout_of_a_single_segment_includes_a_delayed_ack() {
    let mut script = Script::sending(&plain(), 1);
    script.out();
    // 2 * 100 + 200 ms.
    assert_eq!(script.wait(), (400.0, vec![0]));
}

#[test]
fn a_probe_that_repairs_the_only_loss_reduces_the_window_once() {
    let mut script = Script::sending(&plain(), 10);
    script.out();
    script.at(100).ack(9, &[]);
    assert_eq!(script.wait().1, [9]);
    // Acknowledged together with what follows, without D-SACK: the original was lost.
    script.end.write(ms(600), 1000 * MSS);
    let new = script.out();
    assert!(!new.is_empty());
    let before = script.window();
    script.at(800).ack(11, &[]);
    assert!(script.window() < before);
    assert_eq!((script.end.info().losses, script.end.info().recoveries), (1, 0));
}

#[test]
fn a_needless_probe_does_not_reduce_the_window() {
    let mut script = Script::sending(&plain(), 10);
    script.out();
    script.at(100).ack(9, &[]);
    assert_eq!(script.wait().1, [9]);
    let before = script.window();
    script.at(801).ack(10, &[(9, 10)]);
    assert_eq!((script.window(), script.end.info().losses), (before, 0));
}

#[test]
fn a_probe_prefers_new_data() {
    let mut script = Script::sending(&plain(), 100);
    assert_eq!(script.out().len(), 10);
    assert_eq!(script.wait(), (200.0, vec![10]), "beyond the window");
}

#[test]
fn the_initial_reordering_window_of_rack_is_a_quarter_round_trip() {
    let mut script = Script::sending(&plain(), 1000);
    script.out();
    script.at(100);
    // 0 is late by one; no reordering is known, two SACKed: a quarter of 100 ms.
    assert_eq!(script.ack(0, &[(1, 2)]), [10]);
    assert_eq!(script.ack(0, &[(1, 3)]), [11]);
    let (at, sent) = script.wait();
    assert_eq!((at, sent[0]), (125.0, 0));
    assert_eq!(script.end.info().recoveries, 1);
}

#[test]
fn without_reordering_rack_detects_a_loss_by_three_sacked_segments() {
    let mut script = Script::sending(&plain(), 1000);
    script.out();
    script.at(100);
    script.ack(0, &[(1, 2)]);
    script.ack(0, &[(1, 3)]);
    assert_eq!(script.ack(0, &[(1, 4)]), [0]);
}

#[test]
fn rack_tolerates_reordering_that_it_has_measured() {
    let mut script = Script::sending(&plain(), 1000);
    script.out();
    script.at(100);
    // 0 arrives after 1 and 2, within the window: reordering, no loss.
    script.ack(0, &[(1, 3)]);
    let first = script.at(110).ack(3, &[]);
    assert_eq!(script.end.info().reordering, 2);
    // Six of the seven others overtake 3: the quarter is waited for, in recovery or not.
    let mut sent = first;
    for last in 5..=10 {
        sent.extend(script.ack(3, &[(4, last)]));
    }
    assert!(!sent.contains(&3));
    script.at(120).ack(10, &[]);
    assert_eq!((script.end.info().recoveries, script.end.info().retransmits), (0, 0));
}

#[test]
fn rack_detects_a_lost_retransmission() {
    let mut script = Script::sending(&plain(), 1000);
    script.out();
    script.at(100);
    for last in 2..=4 {
        script.ack(0, &[(1, last)]);
    }
    assert_eq!(script.end.info().retransmits, 1);
    script.at(101);
    let later: Vec<u64> = (5..=10).flat_map(|last| script.ack(0, &[(1, last)])).collect();
    assert!(!later.is_empty(), "new data, sent after the copy of 0");
    let newest = *later.last().unwrap();
    // That the newest arrives, and 0 does not, shows that the copy is lost: no timeout is needed.
    let sent = script.at(205).ack(0, &[(newest, newest + 1), (1, 10)]);
    assert!(sent.contains(&0), "{sent:?}");
    assert_eq!(script.end.info().timeouts, 0);
}

#[test]
fn on_a_timeout_rack_marks_only_overdue_segments_lost() {
    // RFC 8985, section 6.3.
    let mut settings = quiet();
    settings.timeouts.min_rto = Span::ZERO;
    let mut script = Script::sending(&settings, 12);
    script.out();
    assert_eq!(script.at(299).ack(0, &[(9, 10)]), [10]);
    let (at, sent) = script.wait();
    assert_eq!(at, 300.0);
    // The round trip of 9 was 299 ms, a quarter of 100 ms more is allowed: not overdue, so that only
    // the first is retransmitted, though ten others have not arrived.
    assert_eq!(sent, [0]);
    assert_eq!((script.end.info().timeouts, script.end.info().lost), (1, 1));
}

#[test]
fn in_recovery_rack_has_no_reordering_window_without_reordering() {
    let mut script = Script::sending(&quiet(), 1000);
    script.out();
    script.at(100);
    assert_eq!(script.ack(0, &[(1, 2)]), [10]);
    assert_eq!(script.ack(0, &[(1, 3)]), [11]);
    assert_eq!(script.ack(0, &[(1, 4)]), [0]);
    script.at(101);
    let new: Vec<u64> = (5..=10).flat_map(|last| script.ack(0, &[(1, last)])).collect();
    assert_eq!(new[0], 12);
    // 11 left at 100 ms, 12 at 101 ms and has arrived after 100 ms: 11 is overdue since 200 ms.
    assert_eq!(script.at(201).ack(11, &[(12, 13)])[0], 11);
}

#[test]
fn a_retransmission_in_recovery_restarts_the_rto_timer() {
    let mut script = Script::sending(&quiet(), 10);
    script.out();
    script.at(100);
    assert_eq!((2..=4).flat_map(|last| script.ack(0, &[(1, last)])).collect::<Vec<_>>(), [0]);
    assert_eq!(script.wait().0, 1100.0);
}

#[test]
fn only_the_first_partial_ack_restarts_the_rto_timer() {
    // RFC 6582, section 4: the impatient variant.
    let mut script = Script::sending(&Settings { recovery: Recovery::NewReno, ..quiet() }, 10);
    script.out();
    script.at(100);
    for _ in 0..5 {
        script.ack(0, &[]);
    }
    assert_eq!(script.at(200).ack(3, &[]), [3]);
    assert_eq!(script.at(300).ack(6, &[]), [6]);
    assert_eq!(script.wait().0, 1200.0);
}

#[test]
fn no_second_probe_goes_before_a_round_trip_has_been_sampled() {
    // RFC 8985, section 7.3, second condition.
    let mut script = Script::sending(&plain(), 10);
    script.out();
    script.at(100).ack(9, &[]);
    assert_eq!(script.wait().1, [9]);
    // Acknowledged, but ambiguous: no sample.
    script.at(801).ack(10, &[(9, 10)]);
    script.end.write(ms(901), MSS);
    assert_eq!(script.out(), [10]);
    assert!(script.wait().1.is_empty(), "the probe is left out");
    assert_eq!(script.wait().1, [10]);
    let info = script.end.info();
    assert_eq!((info.tail_probes, info.timeouts), (1, 1));
}

#[test]
fn the_probe_timeout_is_at_most_the_rto() {
    let mut settings = plain();
    settings.timeouts.min_rto = Span::ZERO;
    let mut script = Script::sending(&settings, 40);
    script.out();
    script.at(100);
    for number in 1..=10 {
        script.ack(number, &[]);
    }
    // Ten samples of 100 ms: RTTVAR = 50 (3/4)^10 = 2.8 ms, so that RTO < 2 SRTT.
    let rto = script.end.info().rto.as_secs_f64() * 1e3;
    assert!(rto < 120.0, "{rto}");
    let (at, sent) = script.wait();
    assert!((at - (100.0 + rto)).abs() < 1e-6, "{at}");
    assert_eq!((sent, script.end.info().timeouts), (vec![30], 0));
}

#[test]
fn rack_tells_an_original_transmission_from_its_retransmission() {
    // RFC 8985, section 6.2, step 2. 4 to 9 are under way still when 0 arrives: the echo tells that it
    // is the original, so that nothing sent before the copy is overdue.
    let undo = Undo { dsack: false, timestamps: false, f_rto: false };
    for (late, lost) in [(true, 0), (false, 6)] {
        let mut script = Script::sending(&Settings { timestamps: true, undo, ..quiet() }, 10);
        script.out();
        let original = script.last.unwrap().sent;
        script.at(100);
        for last in 2..=4 {
            script.ack(0, &[(1, last)]);
        }
        let copy = script.last.unwrap().sent;
        assert!(copy > original);
        script.at(250).ack_with(4, &[], |segment| segment.echo = if late { original } else { copy });
        assert_eq!(script.end.info().losses, 1 + lost, "{late}");
    }
}

#[test]
fn a_late_arrival_lengthens_the_round_trip_that_rack_waits() {
    // RFC 8985, section 6.2, step 2: RACK.rtt is this acknowledgement's, whether or not its segment left last.
    let mut script = Script::sending(&plain(), 10);
    script.out();
    script.at(100).ack(0, &[(9, 10)]);
    // 4 comes 120 ms after it left: the others, which left with it, have 25 ms more.
    script.at(120).ack(0, &[(4, 5), (9, 10)]);
    let (at, sent) = script.wait();
    assert_eq!((at, sent[0]), (145.0, 0));
}

#[test]
fn recoveries_from_timeouts_narrow_the_reordering_window_too() {
    // RFC 8985, section 6.2, step 4: a D-SACK makes it two quarters, for 16 recoveries of either kind.
    for (recoveries, wait) in [(15, 50.0), (16, 25.0)] {
        let mut script = Script::sending(&quiet(), 1000);
        script.out();
        let mut sent = script.at(100).ack_with(10, &[(0, 1)], |_| ());
        assert_eq!(script.end.info().dsacks, 1);
        for _ in 0..recoveries {
            script.wait();
            let next = sent.last().unwrap() + 1;
            sent = script.ack(next, &[]);
            assert_eq!(script.end.info().ca_state, CaState::Open);
        }
        assert_eq!(script.end.info().timeouts, recoveries);
        let (first, last) = (sent[0], *sent.last().unwrap());
        assert!(last > first, "{sent:?}");
        let now = script.elapsed_ms();
        script.at(now + 100).ack(first, &[(last, last + 1)]);
        assert_eq!(script.wait().0, (now + 100) as f64 + wait);
    }
}

#[test]
fn a_duplicate_acknowledgement_with_a_sack_option_does_not_clear_a_probe() {
    // RFC 8985, section 7.4.2, case 2, is for those without.
    for (sacks, losses) in [(&[(3, 4)][..], 1), (&[], 0)] {
        let mut script = Script::sending(&plain(), 10);
        script.out();
        script.at(100).ack(9, &[]);
        assert_eq!(script.wait().1, [9]);
        script.end.write(ms(600), 1000 * MSS);
        assert!(!script.out().is_empty());
        script.at(700).ack(10, &[]);
        script.ack(10, sacks);
        script.at(800).ack(11, &[]);
        assert_eq!(script.end.info().losses, losses);
    }
}

#[test]
fn a_lost_retransmission_reduces_the_window_again_without_prr() {
    // RFC 8985, section 9.3: once more, and once per window.
    for (reduction, windows) in
        [(Reduction::Standard, [10.0, 5.0]), (Reduction::Proportional(Bound::Safe), [10.0, 10.0])]
    {
        let settings = Settings { initial_window: InitialWindow::Segments(20), reduction, ..quiet() };
        let mut script = Script::sending(&settings, 1000);
        script.out();
        script.at(100);
        let mut newest = 0;
        for last in 3..=20 {
            newest = script.ack(0, &[(2, last)]).last().copied().unwrap_or(newest).max(newest);
        }
        assert_eq!(script.end.info().lost, 2, "0 and 1");
        assert_eq!((script.window(), script.end.info().retransmits), (windows[0], 2));
        script.at(201).ack(0, &[(2, newest + 1)]);
        assert_eq!(script.end.info().losses, 4, "and their copies");
        assert_eq!(script.window(), windows[1]);
    }
}
