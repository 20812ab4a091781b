//! How much memory a connection takes that waits.

use crate::scoreboard::Record;
use crate::{Connection, Settings};
use longhaul_congestion::{AlgorithmSettings, Cubic, Reno};
use longhaul_random::Seed;
use longhaul_units::{Span, Time};
use std::sync::Arc;

/// What HyStart may take beside the algorithm that begins with it; `longhaul-congestion` has the test.
const HYSTART: usize = 128;

/// Both ends of a connection that has sent `segments` and waits for more to send.
fn waiting(algorithm: &str, segments: u64) -> [Connection; 2] {
    let (settings, seed) = (Arc::new(Settings::default()), Seed::new(1));
    let algorithm = Arc::new(AlgorithmSettings::named(algorithm).unwrap());
    let mut near = Connection::connect(&settings, &algorithm, seed.stream("near"));
    let mut far = Connection::listen(&settings, &algorithm, seed.stream("far"));
    let mut now = Time::ZERO;
    near.open(now);
    near.write(now, segments * u64::from(settings.mss));
    while near.acknowledged() < segments * u64::from(settings.mss) {
        while let Some(segment) = near.poll(now) {
            far.receive(now, &segment, false);
        }
        while let Some(segment) = far.poll(now) {
            near.receive(now, &segment, false);
        }
        now += Span::from_ms(1);
        far.expire(now);
    }
    [near, far]
}

/// Everything on the heap that belongs to it, but for what it shares with others.
fn heap(connection: &Connection, algorithm: usize) -> usize {
    let algorithm =
        if connection.sender.algorithm.is_initialized() { size_of::<[usize; 2]>() + algorithm } else { 0 };
    assert!(connection.handshake.is_none(), "the handshake is over");
    assert!(!connection.sender.algorithm.keeps_rng(), "no algorithm here draws");
    assert!(
        connection.sender.scoreboard.has_no_recovery_state() && connection.receiver.is_in_order(),
        "nothing is lost"
    );
    algorithm + connection.sender.scoreboard.capacity() * size_of::<Record>()
}

#[test]
fn a_connection_takes_752_bytes() {
    assert_eq!(size_of::<Connection>(), 752);
}

#[test]
fn both_ends_of_an_idle_flow_take_less_than_two_kilobytes() {
    for (name, algorithm) in [("reno", size_of::<Reno>()), ("cubic", size_of::<Cubic>() + HYSTART)] {
        for segments in [1, 100] {
            let total: usize = waiting(name, segments)
                .iter()
                .map(|end| size_of::<Connection>() + heap(end, algorithm))
                .sum();
            assert!(total < 2000, "{name} after {segments} segments: {total} bytes");
        }
    }
}

#[test]
fn a_pure_receiver_has_no_algorithm() {
    let [near, far] = waiting("cubic", 10);
    assert!(near.sender.algorithm.is_initialized() && !far.sender.algorithm.is_initialized());
}
