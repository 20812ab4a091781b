//! How much memory a connection takes that waits.

use crate::scoreboard::Record;
use crate::sender::Sender;
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
    assert!(connection.handshake.is_none(), "the handshake is over");
    assert!(connection.receiver.is_in_order(), "nothing is lost");
    let Some(sender) = connection.sender.sender() else { return 0 };
    assert!(!sender.algorithm.keeps_rng(), "no algorithm here draws");
    assert!(sender.loss.is_none() && sender.scoreboard.has_no_recovery_state(), "nothing is lost");
    size_of::<Sender>() + algorithm + sender.scoreboard.capacity() * size_of::<Record>()
}

#[test]
fn a_connection_takes_232_bytes_and_a_sender_440() {
    assert_eq!((size_of::<Connection>(), size_of::<Sender>()), (232, 440));
}

#[test]
fn both_ends_of_an_idle_flow_take_less_than_1250_bytes() {
    for (name, algorithm) in [("reno", size_of::<Reno>()), ("cubic", size_of::<Cubic>() + HYSTART)] {
        for segments in [1, 100] {
            let total: usize = waiting(name, segments)
                .iter()
                .map(|end| size_of::<Connection>() + heap(end, algorithm))
                .sum();
            assert!(total < 1250, "{name} after {segments} segments: {total} bytes");
        }
    }
}

#[test]
fn a_pure_receiver_has_no_sender() {
    let [near, far] = waiting("cubic", 10);
    assert!(near.sender.sender().is_some() && far.sender.sender().is_none());
}
