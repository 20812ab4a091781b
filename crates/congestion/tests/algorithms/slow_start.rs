use crate::fluid::{Fluid, Losses, Path, near};
use longhaul_congestion::{
    Ack, Algorithm, AlgorithmSettings, CongestionControl, CubicSettings, HyStartPlusPlusSettings,
    HyStartSettings, Reno, RenoSettings, SlowStartSettings,
};
use longhaul_units::{Span, Time};

fn reno(slow_start: SlowStartSettings, initial: f64) -> Reno {
    Reno::with(&RenoSettings { slow_start }, initial)
}

/// An acknowledgement of one segment in a round that ends at `round_end`.
fn ack(acked: u32, first_unacked: u64, next_sequence: u64, rtt_ms: u64) -> Ack {
    Ack {
        now: Time::from_ns(1),
        acked,
        delivered: acked,
        marked: 0,
        in_flight: 100,
        rtt: Some(Span::from_ms(rtt_ms)),
        srtt: Span::from_ms(rtt_ms),
        min_rtt: Span::from_ms(rtt_ms),
        window_limited: true,
        recovering: false,
        first_unacked,
        next_sequence,
        delivery: None,
    }
}

#[test]
fn one_acknowledgement_adds_l_segments_at_most() {
    // RFC 3465, section 2.3: L = 2, and 1 without byte counting or after a timeout.
    let mut two = reno(SlowStartSettings::default(), 10.0);
    two.on_ack(&ack(5, 5, 10, 100));
    assert_eq!(two.window(), 12.0);
    let mut one = reno(SlowStartSettings::Standard { limit: 1 }, 10.0);
    one.on_ack(&ack(5, 5, 10, 100));
    assert_eq!(one.window(), 11.0);
    two.on_timeout(Time::ZERO, 40);
    two.on_ack(&ack(5, 5, 10, 100));
    assert_eq!(two.window(), 2.0);
}

#[test]
fn what_slow_start_does_not_need_is_left_for_avoidance() {
    let mut reno = reno(SlowStartSettings::default(), 10.0);
    reno.on_timeout(Time::ZERO, 5);
    // To the threshold of 2.5 by 1, then by one half; the rest is 1/(2 * 2.5).
    reno.on_ack(&ack(1, 1, 2, 100));
    reno.on_ack(&ack(1, 2, 3, 100));
    assert_eq!(reno.window(), 2.5 + 0.5 / 2.5);
}

#[test]
fn limited_slow_start_adds_one_kth_of_a_segment_by_rfc_3742() {
    // Section 2 with max_ssthresh 100: K = int(cwnd/50).
    for (window, k) in [(99.0, 1.0), (101.0, 2.0), (149.0, 2.0), (150.0, 3.0), (1_000.0, 20.0)] {
        let mut reno = reno(SlowStartSettings::limited(), window);
        reno.on_ack(&ack(1, 1, 2, 100));
        assert_eq!(reno.window(), window + 1.0 / k);
    }
}

#[test]
fn limited_slow_start_takes_the_round_trips_that_rfc_3742_counts() {
    // Section 3: log2(100) rounds to 100 segments, then (w - 100)/50 to w, within the rounding of K.
    let settings = AlgorithmSettings::Reno(RenoSettings { slow_start: SlowStartSettings::limited() });
    let mut pipe = Fluid::new(&settings, Path::constant(0.1), Losses::None);
    while pipe.control.window() < 100.0 {
        pipe.step();
    }
    // From the initial 10 by doubling: in a fluid e^k, hence ln 10 round trips.
    near((pipe.now_s - 1.0) / 0.1, libm::log(10.0), 0.05);
    let began = pipe.now_s;
    while pipe.control.window() < 5_000.0 {
        pipe.step();
    }
    let rounds = (pipe.now_s - began) / 0.1;
    assert!(rounds <= 4_900.0 / 50.0 && rounds > 0.9 * 4_900.0 / 50.0, "{rounds}");
}

/// A round of `count` acknowledgements with one RTT; the sequence number that comes next.
fn round(reno: &mut Reno, from: u64, count: u64, rtt_ms: u64) -> u64 {
    for number in 0..count {
        reno.on_ack(&ack(1, from + number, from + count, rtt_ms));
    }
    from + count
}

#[test]
fn hystart_plus_plus_goes_on_at_a_quarter_when_the_rtt_rises_by_an_eighth_and_ends_after_five_rounds() {
    let mut reno = reno(SlowStartSettings::hystart_plus_plus(), 10.0);
    let mut next = round(&mut reno, 0, 20, 80);
    assert_eq!(reno.window(), 30.0);
    // RFC 9406, section 4.2: RttThresh = max(4, min(80/8, 16)) = 10 ms, judged from the 8th sample on.
    next = round(&mut reno, next, 20, 89);
    assert_eq!(reno.window(), 50.0);
    // 89 + 11.125 is the threshold now; the eighth sample itself still counts in full.
    next = round(&mut reno, next, 20, 101);
    assert_eq!(reno.window(), 50.0 + 7.0 + 13.0 / 4.0);
    // Its own round and four more: the fifth that begins ends it.
    let mut window = reno.window();
    for _ in 0..4 {
        next = round(&mut reno, next, 20, 101);
        window += 5.0;
        assert_eq!(reno.window(), window);
        assert!(reno.threshold().is_infinite());
    }
    round(&mut reno, next, 1, 101);
    assert_eq!(reno.threshold(), window);
}

#[test]
fn hystart_plus_plus_resumes_when_the_rise_was_jitter() {
    let mut reno = reno(SlowStartSettings::hystart_plus_plus(), 10.0);
    let mut next = round(&mut reno, 0, 20, 80);
    next = round(&mut reno, next, 20, 95);
    let slow = reno.window();
    assert_eq!(slow, 30.0 + 7.0 + 13.0 / 4.0);
    // Below the baseline of 95 ms: eight samples, of which the eighth finds out.
    round(&mut reno, next, 20, 90);
    assert_eq!(reno.window(), slow + 7.0 / 4.0 + 13.0);
}

/// Acknowledgements of one round, so many, so many microseconds apart, the first one at `from_us`. Returns the
/// window that slow start ended at, if it ended.
fn train(
    reno: &mut Reno,
    from_us: u64,
    count: u64,
    apart_us: u64,
    rtt_ms: impl Fn(u64) -> u64,
) -> Option<f64> {
    for number in 0..count {
        let now = Time::from_ns(1_000 * (from_us + number * apart_us));
        reno.on_ack(&Ack { now, min_rtt: Span::from_ms(80), ..ack(1, number, count, rtt_ms(number)) });
        if reno.threshold().is_finite() {
            return Some(reno.threshold());
        }
    }
    None
}

#[test]
fn hystart_leaves_where_a_train_of_acknowledgements_takes_half_of_the_path() {
    // 80 ms and the millisecond of offload: 40.5 ms; one acknowledgement each 0.5 ms: the 81st is at 40 ms, the 82nd
    // at 40.5, the 83rd beyond. It is the one that adds nothing.
    let mut even = reno(SlowStartSettings::hystart(), 20.0);
    assert_eq!(train(&mut even, 1_000_000, 200, 500, |_| 80), Some(20.0 + 82.0));
    // Acknowledgements more than 2 ms apart are not a train, and below 16 segments nothing counts.
    let mut apart = reno(SlowStartSettings::hystart(), 20.0);
    assert_eq!(train(&mut apart, 1_000_000, 200, 2_100, |_| 80), None);
    let mut small = reno(SlowStartSettings::hystart(), 10.0);
    assert_eq!(train(&mut small, 1_000_000, 6, 2_000, |_| 80), None);
}

#[test]
fn hystart_leaves_where_the_rtt_of_a_round_is_more_than_an_eighth_above_the_smallest() {
    // 80/8 = 10 ms. Eight samples are recorded, the ninth can end slow start.
    let left = |rtt_ms: u64| {
        let mut reno = reno(SlowStartSettings::hystart(), 20.0);
        train(&mut reno, 1_000_000, 20, 3_000, |_| rtt_ms)
    };
    assert_eq!((left(90), left(91)), (None, Some(28.0)));
    // One sample of the round without a queue is enough to go on.
    let mut reno = reno(SlowStartSettings::hystart(), 20.0);
    assert_eq!(train(&mut reno, 1_000_000, 20, 3_000, |number| if number == 3 { 80 } else { 120 }), None);
}

#[test]
fn hystart_has_the_constants_of_linux() {
    let found = HyStartSettings::default();
    assert_eq!((found.low_window, found.rtt_samples, found.min_rtt_divisor), (16.0, 8, 8));
    assert_eq!((found.ack_delta_ns, found.ack_delay_ns), (2_000_000, 1_000_000));
    assert_eq!((found.min_rtt_threshold_ns, found.max_rtt_threshold_ns), (4_000_000, 16_000_000));
}

#[test]
fn hystart_leaves_before_a_deep_buffer_overflows_and_standard_does_not() {
    // 1,000 segments fit the path. In a fluid a round grows by e, so the rise of an eighth is seen below
    // 1,125 e; five rounds at a quarter then grow by e^(5/4) in all: below 10,700.
    let path = Path::bottleneck(0.1, 10_000.0, 9_700.0);
    let mut standard = Fluid::named("reno", path, Losses::None);
    standard.run_for(5.0);
    assert!(standard.lost > 0);
    for slow_start in [SlowStartSettings::hystart(), SlowStartSettings::hystart_plus_plus()] {
        let settings = AlgorithmSettings::Reno(RenoSettings { slow_start });
        let mut careful = Fluid::new(&settings, path, Losses::None);
        careful.run_for(5.0);
        assert_eq!(careful.lost, 0);
        assert!(careful.control.threshold().is_finite() && careful.queue() < 9_700.0);
    }
}

#[test]
fn hystart_plus_plus_has_the_constants_of_rfc_9406() {
    // Section 4.3.
    let HyStartPlusPlusSettings {
        limit,
        min_rtt_threshold_ns,
        max_rtt_threshold_ns,
        min_rtt_divisor,
        rtt_samples,
        growth_divisor,
        rounds,
    } = HyStartPlusPlusSettings::default();
    assert_eq!((min_rtt_threshold_ns, max_rtt_threshold_ns), (4_000_000, 16_000_000));
    assert_eq!((limit, min_rtt_divisor, rtt_samples, rounds), (8, 8, 8, 5));
    assert_eq!(growth_divisor, 4.0);
}

#[test]
fn each_algorithm_begins_with_its_customary_slow_start() {
    let first = |name: &str, window: f64| {
        let mut control = Algorithm::new(&AlgorithmSettings::named(name).unwrap(), window);
        control.on_ack(&ack(20, 20, 200, 100));
        control.window() - window
    };
    assert_eq!(first("cubic", 200.0), 20.0);
    assert_eq!(first("tahoe", 200.0), 1.0);
    for name in
        ["reno", "bic", "highspeed", "scalable", "htcp", "fast", "compound", "westwood", "illinois", "dctcp"]
    {
        assert_eq!(first(name, 200.0), 2.0, "{name}");
    }
}

#[test]
fn cubic_that_left_slow_start_without_loss_keeps_up_with_reno() {
    // RFC 9438, section 4.10: cwnd_prior is the window then, so that alpha is 1 from the start; 0.53 otherwise.
    let mut cubic = Algorithm::new(&AlgorithmSettings::Cubic(CubicSettings::rfc9438()), 10.0);
    let at = |ms: u64, acknowledgement: Ack| Ack { now: Time::from_ns(1_000_000 * ms), ..acknowledgement };
    let mut next = 0;
    for rtt_ms in [80, 89, 101, 101, 101, 101, 101] {
        for number in 0..20 {
            cubic.on_ack(&at(1, ack(1, next + number, next + 20, rtt_ms)));
        }
        next += 20;
    }
    assert!(cubic.threshold().is_infinite());
    let left = cubic.window();
    // A round of as many acknowledgements as the window has segments, in no time: the curve is flat.
    for _ in 0..left as u64 {
        cubic.on_ack(&at(1, Ack { srtt: Span::ZERO, ..ack(1, next, next + 20, 101) }));
        next += 1;
    }
    assert_eq!(cubic.threshold(), left);
    let (reno, slower) = (left + 1.0, left + 3.0 * 0.3 / 1.7);
    assert!((cubic.window() - reno).abs() < 0.05, "{} and not {slower}", cubic.window());
}
