//! SACK-based recovery by counting: RFC 6675, RFC 9937; and what undoes it: RFC 3708, RFC 3522.

use crate::script::*;
use longhaul_transport::{Bound, CaState, Recovery, Reduction, Reordering, Settings};

fn standard() -> Settings {
    Settings { recovery: Recovery::Sack, reduction: Reduction::Standard, ..plain() }
}

/// 20 in flight from a window of 20, at 100 ms.
fn twenty(settings: &Settings, written: u64) -> Script {
    let mut settings = *settings;
    settings.initial_window = longhaul_transport::InitialWindow::Segments(20);
    let mut script = Script::sending(&settings, written);
    assert_eq!(script.out().len(), 20.min(written as usize));
    script.at(100);
    script
}

#[test]
fn recovery_sends_while_the_pipe_is_below_the_window() {
    let mut script = twenty(&standard(), 1000);
    // Limited transmit: the pipe shrinks by what was SACKed.
    assert_eq!(script.ack(0, &[(1, 2)]), [20]);
    assert_eq!(script.ack(0, &[(1, 3)]), [21]);
    // 22 outstanding, 3 SACKed, 1 lost and retransmitted: pipe 19, window 10.
    assert_eq!(script.ack(0, &[(1, 4)]), [0]);
    let info = script.end.info();
    assert_eq!((info.in_flight, info.window, info.ca_state), (19, 10.0, CaState::Recovery));
    for last in 5..=13 {
        assert!(script.ack(0, &[(1, last)]).is_empty(), "pipe {}", script.end.info().in_flight);
    }
    assert_eq!(script.end.info().in_flight, 10);
    assert_eq!(script.ack(0, &[(1, 14)]), [22], "one delivered, one sent");
    // Everything up to 22 arrives: recovery ends.
    script.at(200);
    script.ack(22, &[]);
    assert_eq!(script.end.info().ca_state, CaState::Open);
    assert_eq!(script.end.info().retransmits, 1);
}

#[test]
fn recovery_retransmits_lost_segments_before_it_sends_new_ones() {
    let mut script = twenty(&standard(), 1000);
    // 0, 4 and 8 lost; the last twelve arrive in one acknowledgement: pipe 22 - ...
    script.ack(0, &[(1, 2)]);
    script.ack(0, &[(1, 3)]);
    assert_eq!(script.ack(0, &[(1, 4)]), [0]);
    assert!(script.ack(0, &[(5, 8), (1, 4)]).is_empty(), "4 is lost too; pipe 22 - 6 - 2 + 1 = 15");
    // 3 lost, 12 SACKed, 22 outstanding, 1 retransmitted: pipe 8, room for two: 4 and 8.
    assert_eq!(script.ack(0, &[(9, 15), (5, 8), (1, 4)]), [4, 8]);
    // Nothing is lost beyond; one more delivered lets one new go.
    assert_eq!(script.ack(0, &[(9, 16), (5, 8), (1, 4)]), [22]);
}

#[test]
fn without_new_data_recovery_retransmits_holes_and_then_the_rescue_segment() {
    // 10 written and sent; 0 lost, 1 to 3 and 5 arrive: 4 is below the greatest SACKed one with only one
    // SACKed above it, so that it is not lost (rule 3). Then rule 4: the last that has not arrived.
    let mut script = Script::sending(&standard(), 10);
    script.out();
    script.at(100);
    script.ack(0, &[(1, 2)]);
    script.ack(0, &[(1, 3)]);
    assert_eq!(script.ack(0, &[(1, 4)]), [0]);
    // Pipe: 10 - 4 SACKed - 1 lost + 1 retransmitted = 6; window 5.
    assert!(script.ack(0, &[(5, 6), (1, 4)]).is_empty());
    // 0's copy arrives: acknowledged to 4; outstanding 6, 1 SACKed: pipe 5.
    assert!(script.at(200).ack(4, &[(5, 6)]).is_empty());
    // 6 arrives: pipe 4, rule 3 sends 4; the original may still be under way: pipe 5.
    assert_eq!(script.ack(4, &[(5, 7)]), [4]);
    // 7 arrives, which makes 4 lost, but its copy is under way: pipe 2 (8, 9) + 1, two rescues? One only.
    assert_eq!(script.ack(4, &[(5, 8)]), [9]);
    assert!(script.ack(4, &[(5, 9)]).is_empty());
}

#[test]
fn a_second_window_of_losses_reduces_a_second_time() {
    let mut script = twenty(&standard(), 1000);
    for last in 2..=20 {
        script.ack(0, &[(1, last)]);
    }
    // Recovery ends below 22; 22 itself was lost among what followed.
    let before = script.window();
    script.at(200).ack(22, &[]);
    assert_eq!(script.window(), before, "recovery ends without growth");
    for last in 24..=26 {
        script.ack(22, &[(23, last)]);
    }
    assert_eq!(script.end.info().recoveries, 2);
    assert!(script.window() < before);
}

#[test]
fn proportional_reduction_sends_one_for_every_two_delivered() {
    let settings = Settings { reduction: Reduction::Proportional(Bound::Safe), ..standard() };
    let mut script = twenty(&settings, 1000);
    assert_eq!(script.ack(0, &[(1, 2)]), [20]);
    assert_eq!(script.ack(0, &[(1, 3)]), [21]);
    // RecoverFS: 22 outstanding - 2 SACKed before = 20; target 10. After the k-th delivered of recovery
    // ceil(k / 2) have left: 1 0 1 0 ...
    assert_eq!(script.ack(0, &[(1, 4)]), [0]);
    let mut new = 22;
    for last in 5..=19u64 {
        let k = last - 3;
        let sent = script.ack(0, &[(1, last)]);
        if k % 2 == 1 {
            assert_eq!(sent, [new], "{last}");
            new += 1;
        } else {
            assert!(sent.is_empty(), "{last}");
        }
    }
}

#[test]
fn an_adaptive_dup_thresh_follows_the_largest_reordering() {
    let settings = Settings { reordering: Reordering::Adaptive { max: 300 }, ..standard() };
    let mut script = twenty(&settings, 1000);
    // 0 arrives after five later ones: retransmitted at the third, for nothing, as the D-SACK shows.
    for last in 2..=6 {
        script.ack(0, &[(1, last)]);
    }
    script.at(110).ack(6, &[]);
    script.at(200).ack(22, &[(0, 1)]);
    let info = script.end.info();
    assert_eq!((info.recoveries, info.undone, info.reordering), (1, 1, 5));
    // Now five duplicates mean nothing, and the sixth does.
    let mut sent = Vec::new();
    for last in 24..=28 {
        sent.extend(script.ack(22, &[(23, last)]));
    }
    assert!(!sent.contains(&22));
    assert_eq!(script.end.info().recoveries, 1);
    let sixth = script.ack(22, &[(23, 29)]);
    assert!(sixth.contains(&22), "{sixth:?}");
}

#[test]
fn dsacks_for_all_retransmissions_undo_the_reduction() {
    let mut script = twenty(&standard(), 1000);
    for last in 2..=4 {
        script.ack(0, &[(1, last)]);
    }
    assert_eq!(script.window(), 10.0);
    // The original was only late; without timestamps that is not known yet.
    script.at(101).ack(4, &[]);
    assert_eq!((script.window(), script.end.info().undone), (10.0, 0));
    // The copy arrives, and is reported.
    script.at(200).ack(22, &[(0, 1)]);
    assert_eq!(script.end.info().undone, 1);
    assert!(script.window() >= 20.0, "{}", script.window());
    assert_eq!(script.end.info().dsacks, 1);
}

#[test]
fn an_echoed_timestamp_from_before_the_retransmission_undoes_the_reduction() {
    for (late, undone) in [(true, 1), (false, 0)] {
        let settings = Settings { timestamps: true, ..standard() };
        let mut script = twenty(&settings, 1000);
        let original = script.last.unwrap().sent;
        for last in 2..=4 {
            script.ack(0, &[(1, last)]);
        }
        let again = script.last.unwrap().sent;
        assert!(original < again);
        script.at(200).ack_with(4, &[], |segment| segment.echo = if late { original } else { again });
        assert_eq!(script.end.info().undone, undone);
        assert_eq!(script.end.info().ca_state, if late { CaState::Open } else { CaState::Recovery });
    }
}

#[test]
fn the_echo_of_an_earlier_recoverys_retransmission_undoes_nothing() {
    let settings = Settings { timestamps: true, ..standard() };
    let mut script = twenty(&settings, 1000);
    for last in 2..=20 {
        script.ack(0, &[(1, last)]);
    }
    // 22 was sent in the recovery of 0, lost, and is retransmitted before that ends.
    let mut sent = Vec::new();
    for last in 24..=27 {
        sent.extend(script.at(150).ack(0, &[(23, last), (1, 22)]));
    }
    assert!(sent.contains(&22) && sent.contains(&34), "{sent:?}");
    let copy = script.last.unwrap().sent;
    let mut later = script.at(200).ack_with(22, &[(23, 28)], |segment| segment.echo = copy);
    // Another one is lost in the recovery that follows; then the copy of 22 arrives.
    for last in 30..=35 {
        later.extend(script.at(230).ack(22, &[(29, last), (23, 28)]));
    }
    assert!(later.contains(&28), "{later:?}");
    let window = script.window();
    script.at(250).ack_with(28, &[(29, 35)], |segment| segment.echo = copy);
    assert_eq!((script.end.info().recoveries, script.end.info().undone), (2, 0));
    assert_eq!(script.window(), window);
}

#[test]
fn an_old_acknowledgement_changes_nothing() {
    let mut script = twenty(&standard(), 1000);
    script.ack(10, &[]);
    let before = script.end.info();
    assert!(script.ack(5, &[(7, 9)]).is_empty());
    assert!(script.ack(5000, &[]).is_empty(), "of what was never sent");
    let after = script.end.info();
    assert_eq!(after.segments_received, before.segments_received + 2);
    assert_eq!((after.window, after.outstanding, after.sacked), (before.window, before.outstanding, 0));
}

#[test]
fn losses_during_a_recovery_begin_the_next_one() {
    let mut script = twenty(&standard(), 1000);
    let sent: Vec<u64> = (2..=20).flat_map(|last| script.ack(0, &[(1, last)])).collect();
    assert!(sent.contains(&25), "{sent:?}");
    // 22 is found lost while the first recovery lasts: retransmitted, without a second reduction.
    assert_eq!(script.at(200).ack(0, &[(23, 26), (1, 22)])[0], 22);
    assert_eq!((script.end.info().recoveries, script.window()), (1, 10.0));
    // When the first one ends, it counts.
    script.ack(22, &[(23, 26)]);
    assert_eq!(script.end.info().recoveries, 2);
    assert!(script.window() < 10.0);
}
