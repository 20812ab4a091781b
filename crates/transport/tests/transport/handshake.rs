//! SYN and FIN (RFC 9293, section 3.5 and 3.6), and what a lost SYN costs (RFC 6298, RFC 6928).

use crate::pipe::{Pipe, Way};
use crate::script::{ms, reno};
use longhaul_random::Seed;
use longhaul_transport::{Connection, Ecn, Flags, Recovery, Settings, State};
use longhaul_units::Time;
use std::sync::Arc;

fn ends(near: &Settings, far: &Settings) -> (Connection, Connection) {
    let seed = Seed::new(3);
    (
        Connection::connect(&Arc::new(*near), &Arc::new(reno()), seed.stream("near")),
        Connection::listen(&Arc::new(*far), &Arc::new(reno()), seed.stream("far")),
    )
}

#[test]
fn a_syn_is_retransmitted_with_back_off_and_then_given_up() {
    let mut settings = Settings::default();
    settings.timeouts.syn_attempts = 3;
    let (mut near, _) = ends(&settings, &settings);
    near.open(Time::ZERO);
    assert!(near.poll(Time::ZERO).unwrap().flags.has(Flags::SYN));
    for at in [1000, 3000, 7000] {
        assert_eq!(near.timer(), ms(at));
        near.expire(ms(at));
        assert!(near.poll(ms(at)).unwrap().flags.has(Flags::SYN));
    }
    near.expire(ms(15_000));
    assert_eq!(near.poll(ms(15_000)), None);
    assert!(near.has_failed());
    assert_eq!(near.timer(), Time::NEVER);
}

#[test]
fn after_a_lost_syn_the_window_begins_with_one_segment() {
    for (lost, window) in [(false, 10.0), (true, 1.0)] {
        let settings = Settings::default();
        let (mut near, mut far) = ends(&settings, &settings);
        near.open(Time::ZERO);
        let mut syn = near.poll(Time::ZERO).unwrap();
        let mut now = ms(50);
        if lost {
            near.expire(ms(1000));
            syn = near.poll(ms(1000)).unwrap();
            now = ms(1050);
        }
        far.receive(now, &syn, false);
        let answer = far.poll(now).unwrap();
        assert!(answer.flags.has(Flags::SYN | Flags::ACK));
        near.receive(now, &answer, false);
        assert!(near.is_established());
        assert_eq!(near.info().window, window);
    }
}

#[test]
fn a_lost_syn_ack_is_retransmitted() {
    let settings = Settings::default();
    let (mut near, mut far) = ends(&settings, &settings);
    near.open(Time::ZERO);
    let syn = near.poll(Time::ZERO).unwrap();
    far.receive(ms(50), &syn, false);
    assert!(far.poll(ms(50)).is_some());
    assert_eq!(far.timer(), ms(1050));
    far.expire(ms(1050));
    let answer = far.poll(ms(1050)).unwrap();
    near.receive(ms(1100), &answer, false);
    let last = near.poll(ms(1100)).unwrap();
    assert!(!last.flags.has(Flags::SYN));
    far.receive(ms(1150), &last, false);
    assert!(near.is_established() && far.is_established());
}

#[test]
fn ends_negotiate_the_options_of_both() {
    let plain = Settings {
        recovery: Recovery::NewReno,
        timestamps: false,
        window_scaling: false,
        ..Settings::default()
    };
    let both = Settings { ecn: Ecn::Classic, ..Settings::default() };
    for (near, far, all) in [(both, both, true), (both, plain, false), (plain, both, false)] {
        let (mut near, mut far) = ends(&near, &far);
        near.open(Time::ZERO);
        far.receive(ms(50), &near.poll(Time::ZERO).unwrap(), false);
        let answer = far.poll(ms(50)).unwrap();
        near.receive(ms(100), &answer, false);
        near.write(ms(100), 5000);
        let sent: Vec<_> = std::iter::from_fn(|| near.poll(ms(100))).collect();
        assert!(sent.iter().all(|segment| segment.flags.has(Flags::TIMESTAMPS) == all));
        assert_eq!(sent.iter().any(|segment| segment.flags.has(Flags::ECT)), all);
        // A gap: the first does not arrive.
        for segment in &sent[sent.len() - 2..] {
            far.receive(ms(150), segment, false);
        }
        let answers: Vec<_> = std::iter::from_fn(|| far.poll(ms(150))).collect();
        assert!(answers.iter().all(|segment| segment.sacks[0].is_empty() != all));
        assert!(answers.iter().all(|segment| all || segment.window <= 65_535));
    }
}

#[test]
fn the_fin_is_on_the_last_data_segment() {
    let settings = Settings::default();
    let mut pipe = Pipe::new(&settings, &settings, reno(), Way::plain(50), Way::plain(50));
    pipe.near.write(Time::ZERO, 10_000);
    pipe.near.close(Time::ZERO);
    pipe.far.write(Time::ZERO, 3000);
    pipe.far.close(Time::ZERO);
    pipe.run_until(ms(10_000));
    assert!(pipe.near.is_closed() && pipe.far.is_closed());
    // 7 segments of up to 1448 bytes; the answer's 3; none of its own for the end.
    assert_eq!(pipe.near.info().segments_sent, 7);
    assert_eq!(pipe.far.info().segments_sent, 3);
    assert_eq!((pipe.far.received(), pipe.near.received()), (10_000, 3000));
    assert_eq!(pipe.near.timer(), Time::NEVER);
}

#[test]
fn a_late_fin_has_its_own_segment_and_one_end_may_close_alone() {
    let settings = Settings::default();
    let mut pipe = Pipe::new(&settings, &settings, reno(), Way::plain(50), Way::plain(50));
    pipe.near.write(Time::ZERO, 1448);
    pipe.run_until(ms(1000));
    pipe.near.close(ms(1000));
    pipe.run_until(ms(2000));
    assert_eq!(pipe.near.info().segments_sent, 2);
    assert!(pipe.far.has_ended() && !pipe.near.is_closed());
    assert_eq!(pipe.near.info().state, State::Established);
    // Half closed, the other direction still works.
    pipe.far.write(ms(2000), 5000);
    pipe.far.close(ms(2000));
    pipe.run_until(ms(4000));
    assert!(pipe.near.is_closed() && pipe.far.is_closed());
    assert_eq!(pipe.near.received(), 5000);
}
