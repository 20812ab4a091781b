//! Changes of the scenario: what arrives before one has the configuration before it, whatever the machine does.

use crate::common::*;
use longhaul_plan::{Change, Event, Way};
use longhaul_relay::{Settings, Wrapper};
use longhaul_units::Span;
use std::io::{Read, Write};
use std::net::UdpSocket;
use std::time::{Duration, Instant};

const CHANGE_NS: u64 = 1_000_000_000;
const BEFORE_NS: u64 = 1_000_000;
const AFTER_NS: u64 = 5_000_000;

/// A delay of 1 ms that becomes 5 ms after a second, for a stream and for datagrams.
fn changing() -> Settings {
    let listeners = vec![forward(echo()), datagrams(udp_echo())];
    let mut settings = settings(direction(BEFORE_NS / 1_000, None), direction(0, None), listeners);
    settings.events = vec![Event {
        at_ns: CHANGE_NS,
        link: 0,
        direction: Some(Way::Forward),
        route: None,
        change: Change { delay: Some(direction(AFTER_NS / 1_000, None).delay), ..Default::default() },
        cause: None,
    }];
    settings
}

/// Of each message to the target: when it arrived, and how long it was to be delayed, in ns.
fn delays(messages: &str) -> Vec<(u64, u64)> {
    let rows = messages.lines().skip(1).map(|line| {
        let field: Vec<u64> = line.split(',').map(|word| word.parse().unwrap()).collect();
        (field[1], (field[3], field[4]))
    });
    rows.filter(|(from, _)| *from == 0).map(|(_, delay)| delay).collect()
}

fn check(delays: &[(u64, u64)]) {
    for &(arrived, wanted) in delays {
        let configured = if arrived < CHANGE_NS { BEFORE_NS } else { AFTER_NS };
        assert_eq!(wanted, configured, "of a message that arrived at {arrived} ns");
    }
    for after in [false, true] {
        assert!(delays.iter().any(|(arrived, _)| (*arrived >= CHANGE_NS) == after), "{delays:?}");
    }
}

#[test]
fn a_change_holds_from_its_instant_on() {
    let relay = start(changing());
    let begun = Instant::now();
    let mut stream = relay.client();
    while begun.elapsed().as_secs_f64() < 1.2 {
        stream.write_all(b"x").unwrap();
        stream.read_exact(&mut [0]).unwrap();
        std::thread::sleep(Duration::from_millis(10));
    }
    let (_, [messages]) = relay.stop_and_read(["messages.csv"]);
    check(&delays(&messages));
}

/// Occupies the relay, as a machine without a free processor does.
struct Occupies;

impl Wrapper for Occupies {
    fn operation(&mut self, _: u64, from: usize, _: usize, data: &mut Vec<u8>) -> Span {
        if from == 0 && data == b"occupied" {
            std::thread::sleep(Duration::from_millis(300));
        }
        Span::ZERO
    }
}

#[test]
fn what_is_read_late_has_the_configuration_of_its_arrival() {
    let relay = start_with(changing(), Some(Box::new(Occupies)));
    let begun = Instant::now();
    let mut occupying = relay.client();
    let mut streams: Vec<_> = (0..10).map(|_| relay.client()).collect();
    for stream in &mut streams {
        stream.write_all(b"open").unwrap();
        stream.read_exact(&mut [0; 4]).unwrap();
    }
    let client = UdpSocket::bind(any(CLIENTS)).unwrap();
    let until = |ms: u64| {
        std::thread::sleep((begun + Duration::from_millis(ms)).saturating_duration_since(Instant::now()));
    };
    until(850);
    occupying.write_all(b"occupied").unwrap();
    for (n, stream) in streams.iter_mut().enumerate() {
        until(900 + 20 * n as u64);
        stream.write_all(b"late").unwrap();
        client.send_to(b"late", relay.addresses[1]).unwrap();
    }
    for stream in &mut streams {
        stream.read_exact(&mut [0; 4]).unwrap();
    }
    std::thread::sleep(Duration::from_millis(50));
    let (result, [messages]) = relay.stop_and_read(["messages.csv"]);
    assert_eq!(result["datagrams"], 20);
    let delays = delays(&messages);
    assert_eq!(delays.len(), 1 + 3 * 10);
    check(&delays);
}
