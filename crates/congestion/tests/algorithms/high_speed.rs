use crate::fluid::{Fluid, Losses, Path, near};
use longhaul_congestion::{
    Ack, Algorithm, AlgorithmSettings, BicSettings, Cause, Congestion, CongestionControl, CubicSettings,
    HighSpeedResponse, HighSpeedSettings, HtcpSettings, ScalableSettings, SlowStartSettings,
};
use longhaul_units::{Span, Time};

/// The windows when every n-th segment is lost, once that has gone on for a while.
fn every_nth(settings: &AlgorithmSettings, rtt_s: f64, n: u64) -> Fluid {
    let mut pipe = Fluid::new(settings, Path::constant(rtt_s), Losses::EveryNth(n));
    let losses = if n < 1_000_000 { 40 } else { 20 };
    pipe.run(losses * n);
    pipe.restart();
    pipe.run(losses * n);
    pipe
}

fn named(name: &str) -> AlgorithmSettings {
    AlgorithmSettings::named(name).unwrap()
}

/// RFC 3649, appendix B: w, a, and b to two decimals, at its beginning, middle and end.
const APPENDIX_B: [(f64, f64, f64); 16] = [
    (118.0, 2.0, 0.44),
    (221.0, 3.0, 0.41),
    (347.0, 4.0, 0.38),
    (495.0, 5.0, 0.37),
    (663.0, 6.0, 0.35),
    (851.0, 7.0, 0.34),
    (1_058.0, 8.0, 0.33),
    (1_284.0, 9.0, 0.32),
    (1_529.0, 10.0, 0.31),
    (5_036.0, 20.0, 0.25),
    (10_661.0, 30.0, 0.21),
    (18_955.0, 40.0, 0.18),
    (30_975.0, 50.0, 0.15),
    (48_961.0, 60.0, 0.13),
    (79_517.0, 70.0, 0.10),
    (84_035.0, 71.0, 0.10),
];

fn formula() -> HighSpeedSettings {
    let (response, slow_start) = (HighSpeedResponse::Formula, SlowStartSettings::limited());
    HighSpeedSettings { response, slow_start, ..HighSpeedSettings::default() }
}

#[test]
fn the_formula_of_highspeed_gives_the_rows_of_appendix_b() {
    let formula = formula();
    for (window, a, b) in APPENDIX_B {
        assert!((formula.increase(window) - a).abs() < 0.05, "{window}: {}", formula.increase(window));
        assert!((formula.decrease(window) - b).abs() < 0.0101, "{window}: {}", formula.decrease(window));
    }
    assert_eq!((formula.increase(38.0), formula.decrease(38.0)), (1.0, 0.5));
    near(formula.decrease(83_000.0), 0.1, 1e-12);
}

#[test]
fn all_72_rows_of_the_highspeed_table_agree_with_the_formula() {
    let (table, formula) = (HighSpeedSettings::default(), formula());
    let mut rows = 0;
    let mut window = 39_u32;
    while window <= 89_053 {
        let (here, next) = (f64::from(window), f64::from(window) + 1.0);
        if table.increase(next) > table.increase(here) || window == 89_053 {
            rows += 1;
            // The last window of a row: a is whole there, and b a 256th rounded down.
            assert!((formula.increase(here) - table.increase(here)).abs() < 0.05, "{window}");
            let b256 = table.decrease(here) * 256.0;
            assert_eq!(b256, (formula.decrease(here) * 256.0).floor(), "{window}");
        }
        window += 1;
    }
    // Row 1 ends at 38, where Reno does.
    assert_eq!(rows + 1, 72);
    assert_eq!(table.increase(1e6), 72.0);
}

#[test]
fn highspeed_has_a_mean_window_of_0_12_over_p_to_the_0_835() {
    // RFC 3649, section 5, "roughly": b changes within a sawtooth, and its geometric mean counts.
    for (n, tolerance) in [(10_000_u64, 0.12), (100_000, 0.12), (1_000_000, 0.12)] {
        let pipe = every_nth(&AlgorithmSettings::HighSpeed(formula()), 0.1, n);
        near(pipe.mean(), 0.12 * libm::pow(n as f64, 0.835), tolerance);
    }
    // Table 2 of the RFC: 263 segments at 1e-4.
    near(0.12 * libm::pow(1e4, 0.835), 263.0, 0.01);
}

#[test]
fn below_its_low_window_highspeed_is_reno() {
    let (fast, reno) = (every_nth(&named("highspeed"), 0.1, 400), every_nth(&named("reno"), 0.1, 400));
    // Peak sqrt(8 * 400/3) = 32.7 < 38.
    assert!(fast.peak() < 38.0);
    near(fast.mean(), reno.mean(), 0.02);
}

#[test]
fn scalable_has_a_peak_of_0_08_over_p_and_a_mean_of_0_075_over_p() {
    // n acknowledgements add 0.01 n, a loss takes W/8: W = 0.08 n. In between it grows by e^(t/100)
    // round trips, in ln(8/7)/ln(1.01) of them: the mean is n over that.
    for n in [1_000_u64, 10_000, 100_000] {
        let pipe = every_nth(&AlgorithmSettings::Scalable(ScalableSettings::kelly()), 0.1, n);
        near(pipe.peak(), 0.08 * n as f64, 0.02);
        near(pipe.mean(), n as f64 * 0.01 / libm::log(8.0 / 7.0), 0.02);
        near(pipe.mean(), 0.075 * n as f64, 0.02);
    }
}

#[test]
fn scalable_of_linux_is_never_slower_than_reno() {
    // AIMD of 1 and 1/8 where windows stay below 100: W = sqrt(a (2 - b)/(2 b p)).
    let n = 800_u64;
    let pipe = every_nth(&named("scalable"), 0.1, n);
    assert!(pipe.peak() < 100.0);
    near(pipe.mean(), (1.875 / 0.25 * n as f64).sqrt(), 0.02);
    // And as in the paper beyond.
    let large = every_nth(&named("scalable"), 0.1, 10_000);
    near(large.mean(), 0.075 * 10_000.0, 0.02);
}

#[test]
fn scalable_comes_back_in_the_same_time_whatever_its_window() {
    // Kelly 2003: ln(1/(1 - b))/ln(1 + a) = 13.4 round trips.
    for window in [100.0, 10_000.0] {
        let settings = AlgorithmSettings::Scalable(ScalableSettings::kelly());
        let mut pipe = Fluid::new(&settings, Path::bottleneck(0.1, window * 10.0, 0.0), Losses::None);
        pipe.run_for(100.0);
        pipe.restart();
        pipe.run_for(100.0);
        near(100.0 / 0.1 / pipe.episodes as f64, libm::log(8.0 / 7.0) / 0.01, 0.08);
    }
}

#[test]
fn cubic_needs_k_seconds_back_to_its_maximum() {
    // RFC 9438, equation 2: cbrt(0.3 W/0.4).
    let cubic = CubicSettings::rfc9438();
    for (maximum, k_s) in [(100.0, 4.217), (1_000.0, 9.086), (10_000.0, 19.574)] {
        assert!((cubic.k_s(maximum, 0.7 * maximum) - k_s).abs() < 0.0006);
    }
    // And so it does when driven: after a loss at W it is at W again K later, but for the round trip
    // that it looks ahead.
    let settings = AlgorithmSettings::Cubic(CubicSettings { reno_friendly: false, ..cubic });
    let mut pipe = Fluid::new(&settings, Path::constant(0.1), Losses::Gap(20.0));
    pipe.run_for(100.0);
    let episodes = pipe.episodes;
    while pipe.episodes == episodes {
        pipe.step();
    }
    let (left, began) = (pipe.left, pipe.now_s);
    let maximum = left / 0.7;
    while pipe.control_window() < 0.9999 * maximum {
        pipe.step();
    }
    let k_s = (0.3 * maximum / 0.4_f64).cbrt();
    // Within 1e-4 of the maximum: cbrt(1e-4 W/C) before it.
    let short = (1e-4 * maximum / 0.4_f64).cbrt();
    assert!((pipe.now_s - began - (k_s - short)).abs() < 0.25, "{} for {k_s}", pipe.now_s - began);
}

#[test]
fn cubic_has_the_mean_window_of_rfc_9438_section_5_1() {
    // Equation 6 with RTT 0.1 s, and the table's figures. A sawtooth that has it keeps it.
    let alone =
        AlgorithmSettings::Cubic(CubicSettings { fast_convergence: false, ..CubicSettings::rfc9438() });
    for (n, figure) in [(10_000_u64, 187.0), (100_000, 1_054.0), (1_000_000, 5_926.0)] {
        let formula = libm::pow(0.4 * 3.7 / 1.2, 0.25) * libm::pow(0.1 * n as f64, 0.75);
        near(formula, figure, 0.003);
        let peak = formula * 4.0 / 3.7;
        let mut pipe = Fluid::settled(&alone, Path::constant(0.1), Losses::EveryNth(n), peak);
        pipe.run(10 * n);
        near(pipe.mean(), formula, 0.05);
    }
    // From a slow start it comes close: fast convergence takes losses just below the maximum for a path
    // that has become smaller. At 1e-3 Reno's 39 is the larger.
    for (n, figure) in [(1_000_u64, 39.0), (10_000, 187.0), (100_000, 1_054.0)] {
        near(every_nth(&AlgorithmSettings::Cubic(CubicSettings::rfc9438()), 0.1, n).mean(), figure, 0.1);
    }
}

#[test]
fn cubic_of_linux_has_renos_mean_window_on_short_paths_and_that_of_the_rfc_a_larger_one() {
    // alpha = 3 (1 - beta)/(1 + beta) makes W = sqrt(a (1 + beta)/(2 (1 - beta) p)) that of Reno: sqrt(3/(2 p)).
    for n in [400_u64, 4_000] {
        let reno = (1.5 * n as f64).sqrt();
        let pipe = every_nth(&named("cubic"), 0.01, n);
        // The window is half a segment behind its estimate.
        near(pipe.mean() + 0.53, reno, 0.02);
    }
    // Where losses come by chance, the RFC's windows are often above the last one: there alpha is 1.
    let by_chance = |settings| {
        let settings = AlgorithmSettings::Cubic(settings);
        let mut pipe = Fluid::new(&settings, Path::constant(0.01), Losses::Chance(1.0 / 400.0));
        pipe.run(400_000);
        pipe.mean()
    };
    let (linux, rfc) = (by_chance(CubicSettings::default()), by_chance(CubicSettings::rfc9438()));
    assert!(rfc > 1.05 * linux, "{rfc} and {linux}");
}

#[test]
fn cubic_of_linux_grows_by_a_twentieth_per_round_trip_until_the_first_loss() {
    let rtt_s = 0.1;
    let settings = AlgorithmSettings::Cubic(CubicSettings { c: 1e-9, ..CubicSettings::default() });
    let mut pipe = Fluid::new(&settings, Path::bottleneck(rtt_s, 10_000.0, 1e9), Losses::None);
    while pipe.control_threshold().is_infinite() {
        pipe.step();
    }
    let began = pipe.control_window();
    // The fluid's queue makes round trips longer: the window in rounds is what counts.
    pipe.run(began as u64);
    near(pipe.control_window(), began * 1.05, 0.002);
}

#[test]
fn cubic_with_a_fixed_gap_peaks_at_c_t_cubed_over_0_3() {
    // K is the gap: W 0.3 = 0.4 T^3; mean W (3 + beta)/4.
    let (gap_s, maximum) = (10.0, 0.4 * 1_000.0 / 0.3);
    let settings =
        AlgorithmSettings::Cubic(CubicSettings { fast_convergence: false, ..CubicSettings::rfc9438() });
    let mut pipe = Fluid::settled(&settings, Path::constant(0.05), Losses::Gap(gap_s), maximum);
    pipe.run_for(99.9);
    near(pipe.peak(), maximum, 0.01);
    near(pipe.mean(), maximum * 3.7 / 4.0, 0.01);
}

#[test]
fn cubic_of_linux_2_6_22_grows_by_16_segments_per_100_ms_beyond_its_maximum() {
    let settings = AlgorithmSettings::Cubic(CubicSettings::linux_2_6_22());
    let mut pipe = Fluid::new(&settings, Path::constant(0.2), Losses::Gap(30.0));
    // 20 s beyond the maximum the curve would climb by 3 C t^2 = 480/s.
    pipe.run_for(25.0);
    let before = pipe.control_window();
    pipe.run_for(2.0);
    near(pipe.control_window() - before, 320.0, 0.02);
}

#[test]
fn bic_adds_16_segments_per_round_trip_far_from_its_maximum() {
    // Linear regime: a = 16 up, b = 0.2 down: W = sqrt(a (2 - b)/(2 b p)) with the last maximum far away;
    // with search and fast convergence off, that is all there is.
    let b = 1.0 - 819.0 / 1024.0;
    let settings = AlgorithmSettings::Bic(BicSettings {
        search_divisor: 1.0,
        min_increment: 16.0,
        fast_convergence: false,
        ..BicSettings::default()
    });
    for n in [100_000_u64, 1_000_000] {
        let mean = (16.0 * (2.0 - b) * n as f64 / (2.0 * b)).sqrt();
        let peak = mean / (1.0 - b / 2.0);
        let mut pipe = Fluid::settled(&settings, Path::constant(0.1), Losses::EveryNth(n), peak);
        pipe.run(20 * n);
        // Less the last segments below the maximum, of which it never takes more than are left.
        near(pipe.mean(), mean, 0.03);
    }
}

/// One sawtooth of BIC, from its rules alone: segments from just after a loss at
/// `maximum` to `maximum` again, and round trips.
fn bic_sawtooth(maximum: f64) -> (f64, f64) {
    let mut window = maximum * 819.0 / 1024.0;
    let (mut segments, mut rounds) = (0.0, 0.0);
    while window < maximum {
        // In hundredths of a round trip, since the window moves with each acknowledgement.
        segments += window / 100.0;
        rounds += 0.01;
        let step = (maximum - window) / 4.0;
        window += 0.01 * if step <= 1.0 { 0.2 } else { step.min(16.0) };
    }
    (segments, rounds)
}

/// A segment more for an acknowledgement of `acked` segments, at a window of 400.
fn growth(name: &str, acked: u32, before: u32) -> f64 {
    let mut control = Algorithm::new(&named(name), 800.0);
    let ack = acknowledging(acked);
    control.on_congestion(&Congestion {
        now: Time::ZERO,
        cause: Cause::Loss,
        in_flight: 400,
        min_rtt: ack.min_rtt,
        srtt: ack.srtt,
        next_sequence: 0,
    });
    for _ in 0..before {
        control.on_ack(&Ack { window_limited: false, ..ack });
    }
    let window = control.window();
    control.on_ack(&ack);
    control.window() - window
}

fn acknowledging(acked: u32) -> Ack {
    Ack {
        now: Time::from_ns(1_000_000_000),
        acked,
        delivered: acked,
        marked: 0,
        in_flight: 400,
        rtt: None,
        srtt: Span::from_ms(100),
        min_rtt: Span::from_ms(100),
        window_limited: true,
        recovering: false,
        first_unacked: 10,
        next_sequence: 410,
        delivery: None,
    }
}

#[test]
fn highspeed_counts_acknowledgements_and_the_others_segments() {
    near(growth("highspeed", 2, 0), growth("highspeed", 1, 0), 1e-9);
    near(growth("scalable", 2, 0), 2.0 * growth("scalable", 1, 0), 1e-9);
}

#[test]
fn bic_multiplies_its_increments_by_the_segments_per_acknowledgement() {
    // The mean begins with 2, and forgets by sixteenths; 4 per acknowledgement are 4 x 4 at last.
    let one = growth("bic", 1, 1_000);
    near(growth("bic", 4, 1_000), 16.0 * one, 1e-6);
    let first = 2.0 - 1.0 / 16.0;
    near(growth("bic", 1, 0), first * one, 1e-6);
}

#[test]
fn bic_searches_for_its_maximum_as_its_rules_say() {
    // Every n segments it loses at the maximum whose sawtooth has n of them.
    for maximum in [500.0, 2_000.0, 8_000.0] {
        let (segments, rounds) = bic_sawtooth(maximum);
        let pipe = every_nth(&named("bic"), 0.1, segments as u64);
        near(pipe.peak(), maximum, 0.03);
        near(pipe.mean(), segments / rounds, 0.03);
    }
}

#[test]
fn htcp_adds_22_segments_three_seconds_after_a_loss() {
    // 1 + 10 (3 - 1) + (3 - 1)^2/4.
    let htcp = HtcpSettings::default();
    for (seconds, alpha) in [(0, 1.0), (1, 1.0), (2, 11.25), (3, 22.0), (5, 45.0)] {
        assert_eq!(htcp.increase(Span::from_s(seconds)), alpha);
    }
}

#[test]
fn htcp_with_a_fixed_gap_has_the_window_of_its_integral() {
    // Constant throughput is out of the question with a growing window, and 1/2 is what is left:
    // 2 (1 - 1/2) alpha per round trip for T seconds is half of the peak:
    // W = 2/RTT (T + 5 (T - 1)^2 + (T - 1)^3/12).
    let settings = AlgorithmSettings::Htcp(HtcpSettings {
        adaptive_backoff: false,
        rtt_scaling: false,
        ..HtcpSettings::default()
    });
    let (rtt_s, gap_s) = (0.05, 8.0);
    let mut pipe = Fluid::new(&settings, Path::constant(rtt_s), Losses::Gap(gap_s));
    pipe.run_for(160.0);
    pipe.restart();
    pipe.run_for(160.0);
    // The clock starts as the recovery ends, after a round trip.
    let beyond = gap_s - rtt_s - 1.0;
    let peak = 2.0 / rtt_s * (gap_s + 5.0 * beyond * beyond + beyond * beyond * beyond / 12.0);
    near(pipe.peak(), peak, 0.02);
}

#[test]
fn htcp_yields_only_the_queue_when_throughput_is_steady() {
    // 1,000 segments of path and 500 of buffer: RTTmin/RTTmax = 2/3 leaves 1,000, a path still full.
    let mut pipe = Fluid::named("htcp", Path::bottleneck(0.1, 10_000.0, 500.0), Losses::None);
    pipe.run_for(60.0);
    near(pipe.left, 1_000.0, 0.03);
    // With a buffer larger than the path it is 1/2, and with none 0.8.
    let mut deep = Fluid::named("htcp", Path::bottleneck(0.1, 10_000.0, 3_000.0), Losses::None);
    deep.run_for(100.0);
    near(deep.left, 2_000.0, 0.03);
    let mut bare = Fluid::named("htcp", Path::bottleneck(0.1, 10_000.0, 0.0), Losses::None);
    bare.run_for(60.0);
    near(bare.left, 800.0, 0.05);
}

#[test]
fn htcp_scaled_by_rtt_grows_alike_per_second() {
    let scaled = AlgorithmSettings::Htcp(HtcpSettings {
        rtt_scaling: true,
        adaptive_backoff: false,
        slow_start: SlowStartSettings::default(),
        ..HtcpSettings::default()
    });
    let peak = |rtt_s: f64| {
        let mut pipe = Fluid::new(&scaled, Path::constant(rtt_s), Losses::Gap(8.0));
        pipe.run_for(160.0);
        pipe.restart();
        pipe.run_for(80.0);
        pipe.peak()
    };
    // alpha RTT/0.1 per round trip is alpha/0.1 per second.
    near(peak(0.05), peak(0.1), 0.05);
}
