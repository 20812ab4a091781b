//! The core of each algorithm in C, compiled for this machine, against the algorithm that simulations have: both get the
//! same events, and their windows differ by one segment at most.
#![expect(clippy::disallowed_methods, reason = "these compile programs, run them, and read files")]
#![expect(clippy::print_stderr, reason = "what was found, and what was left out")]

mod connection;
mod fresh;
mod native;

use connection::{Impairment, Path, trace_of};
use longhaul_bpf_cc::{NAMES, SlowStartLimit, bpf_algorithm};
use longhaul_congestion::AlgorithmSettings;
use longhaul_transport::cc_trace::{Entry, Event};
use native::Native;

/// Segments. What the integers of a core lose is far less (2^-32 for each event), but where an algorithm compares, one of
/// the two may find a tie where the other does not.
const ONE_SEGMENT: f64 = 1.0;
/// Where it compares nothing but the window with its threshold.
const ROUNDING: f64 = 0.001;

fn far() -> Path {
    // 200 ms and 1,000 segments of BDP: windows at which these algorithms differ from Reno.
    Path { round_trip_ms: 200, segments_per_s: 5_000, buffer: 500, impairment: Impairment::None, seconds: 45 }
}

fn paths() -> Vec<(&'static str, Path)> {
    vec![
        ("random losses", Path { impairment: Impairment::Loss(2e-4), ..far() }),
        ("a short path", Path { round_trip_ms: 4, segments_per_s: 2_000, buffer: 8, ..far() }),
        ("tail drops and blackouts", Path { impairment: Impairment::Blackout, ..far() }),
        ("reordering", Path { impairment: Impairment::Reordering, ..far() }),
    ]
}

/// The largest difference of the windows, in segments, and the largest window.
fn apart(settings: &AlgorithmSettings, entries: &[Entry]) -> (f64, f64) {
    let algorithm = bpf_algorithm(settings, SlowStartLimit::Configured).unwrap();
    let windows = Native::of(algorithm.name).windows(&algorithm.parameters, 10, entries);
    assert_eq!(windows.len(), entries.len());
    let mut worst = (0.0_f64, 0.0_f64);
    for (position, (entry, window)) in entries.iter().zip(&windows).enumerate() {
        let (difference, at) = ((window - entry.window).abs(), entry.window);
        assert!(
            difference <= ONE_SEGMENT,
            "{} at event {position} {:?}: {at} segments in Rust, {window} in C",
            algorithm.name,
            entry.event
        );
        worst = (worst.0.max(difference), worst.1.max(at));
    }
    worst
}

fn has(entries: &[Entry], what: impl Fn(&Event) -> bool) -> bool {
    entries.iter().any(|entry| what(&entry.event))
}

#[test]
fn each_core_has_the_window_of_the_simulated_algorithm_within_one_segment_at_every_event() {
    for name in NAMES {
        let settings = AlgorithmSettings::named(name).unwrap();
        let mut seen = [false; 5];
        for (what, path) in paths() {
            let entries = trace_of(&settings, path);
            let (apart, largest) = apart(&settings, &entries);
            eprintln!(
                "{name}, {what}: {} events, up to {largest:.0} segments, {apart:.1e} apart",
                entries.len()
            );
            assert!(!matches!(name, "scalable" | "multcp") || apart <= ROUNDING, "{name}, {what}: {apart}");
            for (seen, found) in seen.iter_mut().zip([
                has(&entries, |event| matches!(event, Event::Congestion(_))),
                has(&entries, |event| matches!(event, Event::Timeout(..))),
                has(&entries, |event| matches!(event, Event::Recovered(_))),
                has(&entries, |event| matches!(event, Event::Spurious(_))),
                largest > 1_000.0,
            ]) {
                *seen |= found;
            }
        }
        assert_eq!(seen, [true; 5], "{name}: congestion, timeout, recovery, undoing, a large window");
    }
}

#[test]
fn parameters_reach_the_cores() {
    for settings in [
        AlgorithmSettings::Scalable(longhaul_congestion::ScalableSettings {
            increase: 0.03,
            decrease: 0.3,
            ..Default::default()
        }),
        AlgorithmSettings::Multcp(longhaul_congestion::MultcpSettings { flows: 16.0, ..Default::default() }),
        AlgorithmSettings::Htcp(longhaul_congestion::HtcpSettings {
            adaptive_backoff: false,
            rtt_scaling: false,
            ..Default::default()
        }),
        AlgorithmSettings::Bic(longhaul_congestion::BicSettings {
            max_increment: 32.0,
            beta: 0.7,
            ..Default::default()
        }),
        AlgorithmSettings::Stochastic(longhaul_congestion::StochasticSettings {
            streams: 11,
            phi: 2.5,
            ..Default::default()
        }),
        AlgorithmSettings::HighSpeed(longhaul_congestion::HighSpeedSettings {
            low_window: 20.0,
            high_decrease: 0.2,
            response: longhaul_congestion::HighSpeedResponse::Formula,
            byte_counting: true,
            ..Default::default()
        }),
    ] {
        let entries = trace_of(&settings, Path { impairment: Impairment::Loss(1e-4), seconds: 30, ..far() });
        apart(&settings, &entries);
        let plain = AlgorithmSettings::named(settings.name()).unwrap();
        let algorithm = bpf_algorithm(&plain, SlowStartLimit::Configured).unwrap();
        let windows = Native::of(algorithm.name).windows(&algorithm.parameters, 10, &entries);
        let moved = entries.iter().zip(&windows).any(|(entry, window)| (window - entry.window).abs() > 5.0);
        assert!(moved, "{}: its parameters have no effect", settings.name());
    }
}

#[test]
fn what_a_kernel_cannot_do_is_refused() {
    let refused = |settings: &AlgorithmSettings| {
        bpf_algorithm(settings, SlowStartLimit::Acknowledged).unwrap_err().to_string()
    };
    assert!(
        refused(&AlgorithmSettings::named("vegas").unwrap()).contains("choose one of scalable, highspeed")
    );
    let many = longhaul_congestion::StochasticSettings { streams: 33, ..Default::default() };
    assert!(refused(&AlgorithmSettings::Stochastic(many)).contains("at most 32"));
}
