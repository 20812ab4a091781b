use crate::fluid::{Fluid, Losses, Path, near};
use longhaul_congestion::{Ack, Algorithm, AlgorithmSettings, Cause, Congestion, CongestionControl};
use longhaul_units::{Span, Time};

#[test]
fn reno_has_a_mean_window_of_sqrt_3_over_2p_when_every_nth_segment_is_lost() {
    // Mathis et al. 1997: W(peak)^2 3/8 = n. Over four decades; at small windows the one segment that
    // is lost, and whole segments in flight, count for a per cent or two.
    for (n, tolerance) in [(100_u64, 0.05), (1_000, 0.02), (10_000, 0.01), (100_000, 0.01)] {
        let mut pipe = Fluid::named("reno", Path::constant(0.1), Losses::EveryNth(n));
        pipe.run(30 * n);
        pipe.restart();
        pipe.run(40 * n);
        let n = n as f64;
        near(pipe.mean(), (1.5 * n).sqrt(), tolerance);
        near(pipe.peak(), (8.0 * n / 3.0).sqrt(), tolerance);
        near(pipe.mean() / pipe.peak(), 0.75, tolerance);
    }
}

#[test]
fn reno_has_a_mean_window_of_1_31_over_sqrt_p_when_each_segment_is_lost_by_chance() {
    // Ott, Kemperman, Mathis, "The Stationary Behavior of Ideal TCP Congestion Avoidance", 1996: 1.3098.
    // 4,000 losses: the window's standard deviation of about 40 % of its mean over 4,000 nearly
    // independent cycles is 0.6 %, and losses within one round trip, which count once, add up to W p.
    for p in [1e-3, 1e-4] {
        let mut pipe = Fluid::named("reno", Path::constant(0.1), Losses::Chance(p));
        pipe.run((100.0 / p) as u64);
        pipe.restart();
        pipe.run((4_000.0 / p) as u64);
        near(pipe.mean(), 1.3098 / p.sqrt(), 0.03 + 1.31 * p.sqrt());
    }
}

#[test]
fn reno_with_a_fixed_gap_of_time_has_a_window_of_three_halves_of_gap_over_rtt() {
    // a = 1, b = 1/2: ((1 + b)/2) a T / ((1 - b) RTT).
    let mut pipe = Fluid::named("reno", Path::constant(0.05), Losses::Gap(10.0));
    pipe.run_for(200.0);
    pipe.restart();
    pipe.run_for(200.0);
    near(pipe.mean(), 1.5 * 10.0 / 0.05, 0.02);
}

fn ack(acked: u32) -> Ack {
    Ack {
        now: Time::from_ns(1),
        acked,
        delivered: acked,
        marked: 0,
        in_flight: 20,
        rtt: None,
        srtt: Span::from_ms(100),
        min_rtt: Span::from_ms(100),
        window_limited: true,
        recovering: false,
        first_unacked: 0,
        next_sequence: 20,
        delivery: None,
    }
}

fn loss(in_flight: u32) -> Congestion {
    Congestion {
        now: Time::from_ns(1),
        cause: Cause::Loss,
        in_flight,
        min_rtt: Span::from_ms(100),
        srtt: Span::from_ms(100),
        next_sequence: 20,
    }
}

#[test]
fn reno_halves_what_was_in_flight_and_a_timeout_leaves_one_segment() {
    let mut reno = Algorithm::new(&AlgorithmSettings::named("reno").unwrap(), 20.0);
    reno.on_congestion(&loss(13));
    assert_eq!((reno.window(), reno.threshold()), (6.5, 6.5));
    reno.on_timeout(Time::ZERO, 6);
    assert_eq!((reno.window(), reno.threshold()), (1.0, 3.0));
    // RFC 5681, equation 4: two segments at least.
    reno.on_timeout(Time::ZERO, 1);
    assert_eq!((reno.window(), reno.threshold()), (1.0, 2.0));
}

#[test]
fn tahoe_goes_back_to_one_segment_and_slow_starts_to_half() {
    let mut tahoe = Algorithm::new(&AlgorithmSettings::named("tahoe").unwrap(), 20.0);
    tahoe.on_congestion(&loss(20));
    assert_eq!((tahoe.window(), tahoe.threshold()), (1.0, 10.0));
    for _ in 0..9 {
        tahoe.on_ack(&Ack { recovering: true, ..ack(1) });
    }
    assert_eq!(tahoe.window(), 10.0);
    tahoe.on_ack(&ack(1));
    assert_eq!(tahoe.window(), 10.1);
}

#[test]
fn a_spurious_reduction_is_taken_back_once() {
    // BBR keeps no threshold; its windows after this are its model's.
    for name in longhaul_congestion::NAMES.into_iter().filter(|name| !name.starts_with("bbr")) {
        let mut control = Algorithm::new(&AlgorithmSettings::named(name).unwrap(), 20.0);
        control.on_timeout(Time::ZERO, 20);
        assert_eq!(control.window(), 1.0, "{name}");
        control.on_spurious(Time::ZERO);
        assert_eq!((control.window(), control.threshold()), (20.0, f64::INFINITY), "{name}");
        control.on_spurious(Time::ZERO);
        assert_eq!(control.window(), 20.0, "{name}");
    }
}

#[test]
fn nothing_grows_in_recovery_or_unused_but_for_tahoe() {
    for name in longhaul_congestion::NAMES.into_iter().filter(|name| !name.starts_with("bbr")) {
        let mut control = Algorithm::new(&AlgorithmSettings::named(name).unwrap(), 20.0);
        control.on_ack(&Ack { window_limited: false, ..ack(2) });
        assert_eq!(control.window(), 20.0, "{name}");
        control.on_ack(&Ack { recovering: true, ..ack(2) });
        assert_eq!(control.window() > 20.0, name == "tahoe", "{name}");
        assert_eq!(control.steers_recovery(), name == "tahoe", "{name}");
    }
}
