//! A flow that is alone fills its link, whatever its algorithm.

use crate::common::*;
use longhaul_congestion::NAMES;
use longhaul_plan::Tcp;

/// Asserts that one flow of `algorithm` delivers 95 % (CDG: 80 %) of what its payload can have of a link of 60 ms and a
/// queue of one bandwidth-delay product, from `from_s` to `to_s`.
fn check(algorithm: &str, bits_per_s: u64, mtu: u32, [from_s, to_s]: [f64; 2]) {
    let product = bits_per_s * 60 / 8000 / u64::from(mtu);
    let plan = one(mtu, queued(30 * MS, bits_per_s, product), named(algorithm), Tcp::default());
    let most = bits_per_s as f64 * (1.0 - HEADER_BYTES as f64 / f64::from(mtu));
    let share = goodput(&Run::between(&plan, from_s, to_s), 0) / most;
    // CDG backs off to seven tenths of the path and of the few segments of its queue: 0.85 and more on average.
    let least = if algorithm == "cdg" { 0.8 } else { 0.95 };
    assert!((least..1.001).contains(&share), "{algorithm}, {mtu} bytes: {share}");
}

#[test]
fn every_algorithm_fills_a_link_of_200_megabits() {
    for algorithm in NAMES {
        check(algorithm, 200_000_000, 9000, [60.0, 120.0]);
    }
}

#[test]
#[ignore = "minutes"]
fn every_algorithm_fills_a_gigabit_of_large_packets() {
    for algorithm in NAMES {
        check(algorithm, 1_000_000_000, 9000, [60.0, 120.0]);
    }
}

#[test]
#[ignore = "minutes"]
fn every_algorithm_fills_a_gigabit_of_small_packets() {
    for algorithm in NAMES {
        // Westwood+ averages the bandwidth over ten round trips: when slow start ends in its one loss,
        // it remembers about half of the bandwidth. One segment more in each of 2200 round trips, 130 s,
        // makes up for that.
        // The slow start of CDG ends at less than half of the path, and that of NV at 40 segments of 5,000.
        let seconds = match algorithm {
            "westwood" => [150.0, 210.0],
            "cdg" => [240.0, 360.0],
            "nv" => [360.0, 420.0],
            _ => [60.0, 120.0],
        };
        check(algorithm, 1_000_000_000, 1500, seconds);
    }
}
