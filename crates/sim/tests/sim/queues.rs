//! Queues against queueing theory (L. Kleinrock, "Queueing Systems", volume 1, sections 3.6 and 5.6).

use crate::common::*;
use longhaul_plan::*;
use serde_json::Value;

const RATE: u64 = 8_000_000;

/// A Poisson stream of datagrams into a link of 1 byte per us, at so much load.
fn queue(load: f64, sizes: Sizes, limit_packets: Option<u64>, seconds: u64) -> Value {
    let (payload, header) = (4_000.0, 28.0);
    let forward = Direction {
        queue: QueueModel { limit_packets, ..QueueModel::default() },
        ..direction(0, Some(RATE))
    };
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
    all["links"][0]["forward"].clone()
}

fn mean_wait_us(link: &Value) -> f64 {
    link["waits"]["mean_ns"].as_f64().unwrap() / 1e3
}

/// The share of packets that waited for so long at most.
fn waited_up_to(link: &Value, us: f64) -> f64 {
    let points = link["waits"]["cdf"].as_array().unwrap();
    let below = points.iter().rev().find(|point| point[0].as_f64().unwrap() <= us * 1e3);
    below.unwrap()[1].as_f64().unwrap()
}

#[test]
fn a_poisson_stream_of_equal_packets_waits_as_in_m_d_1() {
    // Service 4,028 us; in units of it the mean wait is rho / (2 (1 - rho)).
    for load in [0.5, 0.8, 0.9] {
        let wait_us = mean_wait_us(&queue(load, Sizes::Fixed, None, 2_000));
        let expected = 4_028.0 * load / (2.0 * (1.0 - load));
        // The busier, the longer waits depend on each other: 400,000 packets give some 2 % at 0.9.
        let tolerance = 0.01 + 0.06 * libm::pow(load, 8.0);
        assert!((wait_us / expected - 1.0).abs() < tolerance, "{load}: {wait_us} {expected}");
    }
}

#[test]
fn exponential_packets_wait_as_in_m_m_1() {
    // The header, 28 bytes of 4,028, does not vary: Pollaczek and Khinchine's formula takes it in.
    for load in [0.5, 0.8] {
        let wait_us = mean_wait_us(&queue(load, Sizes::Exponential, None, 2_000));
        let variation = libm::pow(4_000.0 / 4_028.0, 2.0);
        let expected = 4_028.0 * load / (1.0 - load) * (1.0 + variation) / 2.0;
        assert!((wait_us / expected - 1.0).abs() < 0.03, "{load}: {wait_us} {expected}");
    }
}

#[test]
fn waits_are_distributed_as_in_m_d_1() {
    // A. K. Erlang (1909): with t = x / D, P(W <= x) = (1 - rho) sum_(k <= t) (rho (k - t))^k / k! e^(rho (t - k)).
    let expected = |load: f64, t: f64| {
        let term = |k: i32| {
            let behind = load * (t - f64::from(k));
            let factorial: f64 = (1..=k).map(f64::from).product();
            libm::pow(-behind, f64::from(k)) / factorial * libm::exp(behind)
        };
        (1.0 - load) * (0..=t as i32).map(term).sum::<f64>()
    };
    for load in [0.5, 0.8] {
        let link = queue(load, Sizes::Fixed, None, 4_000);
        for t in [0.0, 0.5, 1.0, 1.7, 3.0, 5.0, 8.0] {
            let (got, expected) = (waited_up_to(&link, t * 4_028.0), expected(load, t));
            assert!((got - expected).abs() < 0.01, "{load} {t}: {got} {expected}");
        }
    }
}

#[test]
fn waits_are_distributed_as_in_m_m_1() {
    // P(W > x) = rho e^(-(1 - rho) x / S). The header, 0.7 % of a packet, does not vary: hence 0.01.
    for load in [0.5, 0.8] {
        let link = queue(load, Sizes::Exponential, None, 4_000);
        for t in [0.0, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0] {
            let got = waited_up_to(&link, t * 4_028.0);
            let expected = 1.0 - load * libm::exp(-(1.0 - load) * t);
            assert!((got - expected).abs() < 0.01, "{load} {t}: {got} {expected}");
        }
    }
}

#[test]
fn a_full_queue_blocks_as_in_m_m_1_k() {
    // K counts the packet in service: the queue holds K - 1.
    for (load, room) in [(0.9f64, 10i32), (0.9, 20), (1.2, 5)] {
        let link = queue(load, Sizes::Exponential, Some(room as u64 - 1), 2_000);
        let count = |name: &str| link[name].as_f64().unwrap();
        let blocked = count("overflowed_packets") / count("offered_packets");
        let expected =
            (1.0 - load) * libm::pow(load, f64::from(room)) / (1.0 - libm::pow(load, f64::from(room + 1)));
        assert!((blocked / expected - 1.0).abs() < 0.05, "{load} {room}: {blocked} {expected}");
    }
}
