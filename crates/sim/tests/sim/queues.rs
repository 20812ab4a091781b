//! Queues against queueing theory (L. Kleinrock, "Queueing Systems", volume 1, sections 3.6 and 5.6).

use crate::common::*;
use longhaul_plan::*;

const RATE: u64 = 8_000_000;

/// A Poisson stream of datagrams into a link of 1 byte per us, at so much load.
fn queue(load: f64, sizes: Sizes, limit_packets: Option<u64>, seconds: u64) -> (f64, f64, u64) {
    let (payload, header) = (4_000.0, 28.0);
    let forward =
        Direction { queue: Queue { limit_packets, ..Queue::default() }, ..direction(0, Some(RATE)) };
    let bits_per_s = (load * RATE as f64 * payload / (payload + header)) as u64;
    let traffic = Traffic::Udp {
        bits_per_s,
        payload_bytes: payload as u32,
        bytes: None,
        arrivals: Arrivals::Poisson,
        sizes,
        on_off: None,
    };
    let plan = Plan { duration_ns: Some(seconds * SECOND), ..pipe(65_535, forward) };
    let (_, all) = Run::whole(&with(plan, vec![flow("poisson", [0, 1], traffic)]));
    let link = &all["links"][0]["forward"];
    let number = |name: &str| link[name].as_f64().unwrap();
    let offered = number("offered_packets");
    (number("wait_mean_ns") / 1e3, number("overflowed_packets") / offered, offered as u64)
}

#[test]
fn a_poisson_stream_of_equal_packets_waits_as_in_m_d_1() {
    // Service 4,028 us; in units of it the mean wait is rho / (2 (1 - rho)).
    for load in [0.5, 0.8, 0.9] {
        let (wait_us, _, packets) = queue(load, Sizes::Fixed, None, 2_000);
        let expected = 4_028.0 * load / (2.0 * (1.0 - load));
        // The busier, the longer waits depend on each other: 400,000 packets give some 2 % at 0.9.
        let tolerance = 0.01 + 0.06 * libm::pow(load, 8.0);
        assert!((wait_us / expected - 1.0).abs() < tolerance, "{load}: {wait_us} {expected} {packets}");
    }
}

#[test]
fn exponential_packets_wait_as_in_m_m_1() {
    // The header, 28 bytes of 4,028, does not vary: Pollaczek and Khinchine's formula takes it in.
    for load in [0.5, 0.8] {
        let (wait_us, _, _) = queue(load, Sizes::Exponential, None, 2_000);
        let variation = libm::pow(4_000.0 / 4_028.0, 2.0);
        let expected = 4_028.0 * load / (1.0 - load) * (1.0 + variation) / 2.0;
        assert!((wait_us / expected - 1.0).abs() < 0.03, "{load}: {wait_us} {expected}");
    }
}

#[test]
fn a_full_queue_blocks_as_in_m_m_1_k() {
    // K counts the packet in service: the queue holds K - 1.
    for (load, room) in [(0.9f64, 10i32), (0.9, 20), (1.2, 5)] {
        let (_, blocked, packets) = queue(load, Sizes::Exponential, Some(room as u64 - 1), 2_000);
        let expected =
            (1.0 - load) * libm::pow(load, f64::from(room)) / (1.0 - libm::pow(load, f64::from(room + 1)));
        assert!((blocked / expected - 1.0).abs() < 0.05, "{load} {room}: {blocked} {expected} {packets}");
    }
}
