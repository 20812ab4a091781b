//! Slow start, congestion avoidance, limited transmit, fast retransmit: RFC 5681, 3042, 6582.

use crate::script::*;
use longhaul_transport::{Idle, InitialWindow, Recovery, Reduction, Settings};

fn with(recovery: Recovery) -> Settings {
    Settings { recovery, reduction: Reduction::Standard, ..plain() }
}

#[test]
fn slow_start_sends_two_segments_per_acknowledged_segment() {
    let mut script = Script::sending(&plain(), 1000);
    assert_eq!(script.out(), (0..10).collect::<Vec<_>>());
    script.at(100);
    let mut next = 10;
    for number in 1..=10 {
        assert_eq!(script.ack(number, &[]), [next, next + 1]);
        next += 2;
    }
    assert_eq!(script.window(), 20.0);
    // An acknowledgement of two grows the window by two (RFC 3465, L = 2).
    assert_eq!(script.at(200).ack(12, &[]), [30, 31, 32, 33]);
}

#[test]
fn congestion_avoidance_grows_by_one_segment_per_window() {
    let mut script = Script::sending(&with(Recovery::Sack), 1000);
    script.out();
    script.at(100);
    for last in 2..=4 {
        script.ack(0, &[(1, last)]);
    }
    script.at(200);
    // Recovery ends at half of the flight of ten.
    script.ack(12, &[]);
    assert_eq!(script.window(), 5.0);
    let mut expected = 5.0;
    let mut number = 12;
    for _ in 0..12 {
        number += 1;
        script.ack(number, &[]);
        expected += 1.0 / expected;
        assert!((script.window() - expected).abs() < 1e-12);
    }
    assert!((6.9..7.1).contains(&script.window()), "5 + 6 acknowledgements, 6 + 6: two round trips");
}

#[test]
fn the_first_two_duplicate_acks_send_new_data_and_the_third_retransmits() {
    for recovery in [Recovery::Reno, Recovery::NewReno] {
        let mut script = Script::sending(&with(recovery), 1000);
        script.out();
        script.at(100);
        assert_eq!(script.ack(0, &[]), [10]);
        assert_eq!(script.ack(0, &[]), [11]);
        assert_eq!(script.ack(0, &[]), [0], "{recovery:?}");
        assert_eq!(script.window(), 5.0, "half of 10: limited transmit does not count");
        // Window 5 + 3 + k, 12 outstanding: the fifth further duplicate lets one go.
        for _ in 0..4 {
            assert!(script.ack(0, &[]).is_empty());
        }
        assert_eq!(script.ack(0, &[]), [12]);
        assert_eq!(script.ack(0, &[]), [13]);
    }
}

#[test]
fn without_limited_transmit_duplicate_acks_send_nothing() {
    for recovery in [Recovery::NewReno, Recovery::Sack] {
        let mut script = Script::sending(&Settings { limited_transmit: false, ..with(recovery) }, 1000);
        script.out();
        script.at(100);
        let sacks = [(1, 2), (1, 3)];
        for sack in sacks {
            let blocks: &[_] = if recovery == Recovery::Sack { &[sack] } else { &[] };
            assert!(script.ack(0, blocks).is_empty(), "{recovery:?}");
        }
    }
}

#[test]
fn tahoe_restarts_from_the_lost_segment_with_a_window_of_one() {
    let mut script = Script::sending(&with(Recovery::Tahoe), 1000);
    script.out();
    script.at(100);
    script.ack(0, &[]);
    script.ack(0, &[]);
    assert_eq!(script.ack(0, &[]), [0]);
    assert_eq!((script.window(), script.end.info().threshold), (1.0, 5.0));
    assert!(script.ack(0, &[]).is_empty(), "further duplicates count for nothing");
    assert_eq!(script.at(200).ack(1, &[]), [1, 2], "slow start, over the same ground");
    assert_eq!(script.ack(2, &[]), [3, 4]);
}

/// Ten in flight, of which 0, 3 and 6 are lost: seven duplicates.
fn three_losses(recovery: Recovery) -> Script {
    let mut script = Script::sending(&with(recovery), 1000);
    script.out();
    script.at(100);
    let sent: Vec<u64> = (0..7).flat_map(|_| script.ack(0, &[])).collect();
    // Two by limited transmit, then the first again; 12 outstanding, a window of 5 + 3 + 4.
    assert_eq!(sent, [10, 11, 0]);
    script
}

#[test]
fn newreno_repairs_one_loss_per_partial_acknowledgement() {
    let mut script = three_losses(Recovery::NewReno);
    script.at(200);
    // Window 12 - 3 acknowledged + 1 = 10, outstanding 9: the hole, and one new (RFC 6582, 3.2, step 3).
    assert_eq!(script.ack(3, &[]), [3, 12]);
    assert_eq!(script.at(300).ack(6, &[]), [6, 13]);
    assert_eq!(script.end.info().recoveries, 1);
    // All that was outstanding when recovery began: the window is the threshold. 12 and 13 are in flight.
    assert_eq!(script.at(400).ack(12, &[]), [14, 15, 16]);
    assert_eq!(script.window(), 5.0);
}

#[test]
fn reno_leaves_recovery_at_the_first_new_acknowledgement() {
    let mut script = three_losses(Recovery::Reno);
    // Window 5, 9 outstanding: nothing goes, and only a timeout helps, as Fall and Floyd 1996 show.
    assert!(script.at(200).ack(3, &[]).is_empty());
    assert_eq!(script.window(), 5.0);
}

#[test]
fn newreno_ignores_duplicate_acks_of_spurious_retransmissions() {
    let mut script = Script::sending(&with(Recovery::NewReno), 1000);
    script.out();
    let (_, again) = script.wait();
    assert_eq!(again, [0]);
    // All ten had arrived: the acknowledgement of all, then three duplicates from needless copies.
    script.ack(10, &[]);
    for _ in 0..3 {
        let sent = script.ack(10, &[]);
        assert!(sent.iter().all(|&number| number >= 10), "no fast retransmit: {sent:?}");
    }
    assert_eq!(script.end.info().recoveries, 0);
}

#[test]
fn idle_periods_halve_the_window_per_rto_and_restart_resets_it() {
    // RTO 1 s, 2.5 s of silence: two halvings.
    for idle in [Idle::Keep, Idle::Decay, Idle::Restart] {
        let settings = Settings { idle, initial_window: InitialWindow::Segments(2), ..plain() };
        let mut script = Script::sending(&settings, 60);
        let mut flight = script.out();
        for round in 1..=5 {
            script.at(100 * round);
            flight = flight.iter().flat_map(|number| script.ack(number + 1, &[])).collect();
        }
        assert!(flight.is_empty(), "2 + 4 + 8 + 16 + 30 = 60");
        let window = script.window();
        assert!(window >= 28.0, "{window}");
        script.at(400 + 2500);
        script.end.write(ms(3000), 1000 * MSS);
        let expected = match idle {
            Idle::Keep => window,
            Idle::Decay => window / 4.0,
            Idle::Restart => 2.0,
        };
        assert_eq!(script.out().len(), expected as usize, "{idle:?}");
        // Then it grows as in slow start, up to what it was.
        script.at(3000);
        assert_eq!(script.ack(61, &[]).len(), 2);
    }
}

#[test]
fn an_unused_window_does_not_grow() {
    let mut script = Script::sending(&plain(), 4);
    script.out();
    script.at(100).ack(4, &[]);
    assert_eq!(script.window(), 10.0);
}

#[test]
fn a_short_segment_waits_for_the_others_with_nagle() {
    for (nagle, expected) in [(false, 1), (true, 0)] {
        let settings = Settings { nagle, ..plain() };
        let mut script = Script::sending(&settings, 1);
        assert_eq!(script.out(), [0]);
        script.end.write(ms(100), 10);
        assert_eq!(script.out().len(), expected);
        script.at(50);
        assert_eq!(script.ack(1, &[]).len(), 1 - expected);
    }
}

#[test]
fn the_send_buffer_bounds_what_is_outstanding() {
    let settings = Settings { send_buffer: 4 * MSS, ..plain() };
    let mut script = Script::sending(&settings, 1000);
    assert_eq!(script.out(), [0, 1, 2, 3]);
    assert_eq!(script.at(100).ack(1, &[]), [4]);
    assert_eq!(script.window(), 10.0, "the window was not the limit");
}

#[test]
fn window_pacing_spreads_twice_the_window_over_a_round_trip() {
    let settings = Settings { pacing: longhaul_transport::Pacing::Window, ..plain() };
    let mut script = Script::sending(&settings, 1000);
    assert_eq!(script.out(), [0], "the handshake gave a round trip of 100 ms");
    // Slow start: 2 * 10 / 100 ms.
    for expected in 1..10 {
        assert_eq!(script.wait(), (5.0 * expected as f64, vec![expected]));
    }
}

#[test]
fn a_window_update_is_not_a_duplicate_ack() {
    // RFC 5681, section 2, (e).
    let mut script = Script::sending(&with(Recovery::NewReno), 10);
    script.out();
    script.at(100);
    for more in 1..=4 {
        assert!(script.ack_with(0, &[], |segment| segment.window += more).is_empty());
    }
    assert_eq!(script.end.info().recoveries, 0);
}
