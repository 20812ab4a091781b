//! Mean windows against closed forms, through the whole transport.

use crate::pipe::{Pipe, Way};
use crate::script::reno;
use longhaul_transport::{AckPolicy, Recovery, Reduction, Settings};
use longhaul_units::{Span, Time};

/// Segments acknowledged per round trip of 100 ms, when each n-th new segment is lost, `every` segments
/// are acknowledged together.
fn mean_window(settings: &Settings, every: u32, n: u64) -> f64 {
    let ack_policy = AckPolicy { every, ..settings.ack_policy };
    let settings = Settings { ack_policy, ..*settings };
    let out = Way { every: n, gap: Span::from_ns(100), ..Way::plain(50) };
    let mut pipe = Pipe::new(&settings, &settings, reno(), out, Way::plain(50));
    pipe.near.write(Time::ZERO, u64::MAX / 2);
    // The slow start and some sawtooths to forget it.
    let peak = (8.0 * n as f64 / 3.0).sqrt();
    let saw = Span::from_ps((peak / 2.0 * 0.1e12) as u64);
    let warm = Time::ZERO + Span::from_ps(5 * saw.ps());
    pipe.run_until(warm);
    let (before, timeouts) = (pipe.near.info().delivered, pipe.near.info().timeouts);
    let length = Span::from_ps(40 * saw.ps());
    pipe.run_until(warm + length);
    let info = pipe.near.info();
    assert_eq!(info.timeouts, timeouts, "no timeouts once it is steady");
    (info.delivered - before) as f64 / (length.as_secs_f64() / 0.1)
}

/// A sawtooth from W/2 to W holds (3/8) W^2 segments: W = sqrt(8n/3), and the mean is 3/4 of it.
fn expected(n: u64) -> f64 {
    0.75 * (8.0 * n as f64 / 3.0).sqrt()
}

fn check(settings: &Settings, every: u32, n: u64) {
    let (got, expected) = (mean_window(settings, every, n), expected(n));
    let kind = (settings.recovery, settings.reduction, every, n);
    assert!((got / expected - 1.0).abs() < 0.05, "{kind:?}: {got:.1}, not {expected:.1}");
}

#[test]
fn reno_with_sack_has_the_mean_window_of_the_sawtooth() {
    let settings =
        Settings { recovery: Recovery::Sack, reduction: Reduction::Standard, ..Settings::default() };
    for n in [1000, 10_000] {
        check(&settings, 1, n);
    }
}

#[test]
fn proportional_reduction_and_rack_and_newreno_leave_the_mean_window_as_it_is() {
    for recovery in [Recovery::Sack, Recovery::Rack, Recovery::NewReno] {
        check(&Settings { recovery, ..Settings::default() }, 1, 3000);
    }
}

#[test]
fn delayed_acknowledgements_change_nothing_when_bytes_are_counted() {
    // RFC 3465: the window grows by what is acknowledged, so that b = 2 does not enter. (Counting
    // acknowledgements would give 0.75 sqrt(4n/3).)
    check(&Settings { recovery: Recovery::Sack, ..Settings::default() }, 2, 3000);
}
