use crate::fluid::{Fluid, Losses, Path, near};
use longhaul_congestion::{
    Ack, Algorithm, AlgorithmSettings, Cause, Congestion, CongestionControl, CubicSettings, Formula,
    RuleSettings, ScalableSettings,
};
use longhaul_units::{Span, Time};

/// CUBIC without its Reno-friendly region and fast convergence, as a rule.
const CUBIC: &str =
    "max(0, min(0.5, (0.4 * (since_loss + rtt - cbrt(0.75 * cwnd_at_loss)) ^ 3 + cwnd_at_loss) / cwnd - 1))";

fn rule(per_ack: &str, after_loss: &str) -> AlgorithmSettings {
    let settings = AlgorithmSettings::Rule(RuleSettings {
        per_ack: Formula::new(per_ack),
        after_loss: Formula::new(after_loss),
        after_timeout: Formula::new(after_loss),
        ..RuleSettings::default()
    });
    assert_eq!(settings.check(), Ok(()));
    settings
}

fn scalable(reno_friendly: bool) -> AlgorithmSettings {
    AlgorithmSettings::Scalable(ScalableSettings { reno_friendly, ..ScalableSettings::default() })
}

#[test]
fn a_rule_of_reno_or_scalable_has_their_windows_bit_for_bit() {
    for (rule, built_in) in [
        (rule("1 / cwnd", "in_flight / 2"), AlgorithmSettings::named("reno").unwrap()),
        (rule("0.01", "cwnd * 7 / 8"), scalable(false)),
        (rule("max(0.01, 1 / cwnd)", "cwnd * 7 / 8"), scalable(true)),
    ] {
        for n in [100, 5_000] {
            let mut ours = Fluid::new(&rule, Path::constant(0.1), Losses::EveryNth(n));
            let mut theirs = Fluid::new(&built_in, Path::constant(0.1), Losses::EveryNth(n));
            for _ in 0..50 * n {
                ours.step();
                theirs.step();
                assert_eq!(ours.control_window().to_bits(), theirs.control_window().to_bits());
            }
        }
    }
}

#[test]
fn a_rule_that_halves_the_window_is_within_a_segment_of_reno() {
    let mut rule = Fluid::new(&rule("1 / cwnd", "cwnd / 2"), Path::constant(0.1), Losses::EveryNth(500));
    let mut reno = Fluid::named("reno", Path::constant(0.1), Losses::EveryNth(500));
    for _ in 0..50_000 {
        rule.step();
        reno.step();
        // Reno halves the whole segments in flight, the rule the window with its fraction.
        assert!((rule.control_window() - reno.control_window()).abs() <= 1.0);
    }
}

#[test]
fn a_rule_of_aimd_has_the_mean_window_of_its_increase_and_decrease() {
    // sqrt(a (2 - b) n / (2 b)); sqrt(3 n/2) for a = 1 and b = 1/2.
    for (per_ack, after_loss, a, b) in [
        ("1 / cwnd", "cwnd / 2", 1.0, 0.5),
        ("2 / cwnd", "cwnd * 0.75", 2.0, 0.25),
        ("0.2 / cwnd", "cwnd * 0.875", 0.2, 0.125),
    ] {
        for n in [1_000_u64, 10_000, 100_000] {
            let mut pipe = Fluid::new(&rule(per_ack, after_loss), Path::constant(0.1), Losses::EveryNth(n));
            // A loss takes what slow start has too much to (1 - b)^2 of it.
            pipe.run(100 * n);
            pipe.restart();
            pipe.run(40 * n);
            near(pipe.mean(), (a * (2.0 - b) * n as f64 / (2.0 * b)).sqrt(), 0.02);
        }
    }
}

#[test]
fn a_rule_of_cubic_has_the_mean_window_of_rfc_9438_and_of_the_built_in_cubic() {
    let cubic = AlgorithmSettings::Cubic(CubicSettings {
        fast_convergence: false,
        reno_friendly: false,
        ..CubicSettings::rfc9438()
    });
    for n in [10_000_u64, 100_000, 1_000_000] {
        let formula = libm::pow(0.4 * 3.7 / 1.2, 0.25) * libm::pow(0.1 * n as f64, 0.75);
        let mean = |settings: &AlgorithmSettings| {
            let peak = formula * 4.0 / 3.7;
            let mut pipe = Fluid::settled(settings, Path::constant(0.1), Losses::EveryNth(n), peak);
            pipe.run(10 * n);
            pipe.mean()
        };
        let ours = mean(&rule(CUBIC, "cwnd * 0.7"));
        near(ours, formula, 0.05);
        near(ours, mean(&cubic), 0.02);
    }
}

#[test]
fn a_rule_that_yields_to_queueing_holds_the_queue_where_it_says() {
    // 1000 segments/s and 100 ms: grows below an RTT of 120 ms and shrinks above it, a queue of 20 segments.
    let rule = rule("if(rtt < 1.2 * min_rtt, 1, -1) / cwnd", "cwnd / 2");
    let mut pipe = Fluid::new(&rule, Path::bottleneck(0.1, 1_000.0, 100.0), Losses::None);
    pipe.run_for(5.0);
    // Slow start overflows the buffer once.
    assert_eq!(pipe.episodes, 1);
    pipe.run_for(60.0);
    pipe.restart();
    pipe.run_for(60.0);
    assert_eq!(pipe.episodes, 0);
    near(pipe.mean(), 120.0, 0.01);
}

fn ack(now_ms: u64, acked: u32) -> Ack {
    Ack {
        now: Time::from_ns(now_ms * 1_000_000),
        acked,
        delivered: acked,
        marked: 0,
        in_flight: 40,
        rtt: None,
        srtt: Span::from_ms(100),
        min_rtt: Span::from_ms(50),
        window_limited: true,
        recovering: false,
        first_unacked: 0,
        next_sequence: 20,
        delivery: None,
    }
}

fn loss(now_ms: u64) -> Congestion {
    Congestion {
        now: Time::from_ns(now_ms * 1_000_000),
        cause: Cause::Loss,
        in_flight: 40,
        min_rtt: Span::from_ms(50),
        srtt: Span::from_ms(100),
        next_sequence: 20,
    }
}

#[test]
fn results_that_make_no_sense_are_clamped() {
    let after = |per_ack: &str, after_loss: &str| {
        let mut control = Algorithm::new(&rule(per_ack, after_loss), 40.0);
        control.on_congestion(&loss(0));
        let left = control.window();
        control.on_ack(&ack(1, 2));
        (left, control.window() - left)
    };
    for (per_ack, growth) in [
        ("5", 2.0),
        ("1 / 0", 2.0),
        ("0 / 0", 0.0),
        ("sqrt(-1)", 0.0),
        ("-0.25", -0.5),
        ("-7", -2.0),
        ("-1 / 0", -2.0),
    ] {
        assert_eq!(after(per_ack, "10"), (10.0, growth), "{per_ack}");
    }
    for (after_loss, left) in
        [("1e9", 40.0), ("1 / 0", 40.0), ("0 / 0", 2.0), ("-3", 2.0), ("0.5", 2.0), ("cwnd + 1", 40.0)]
    {
        assert_eq!(after("0", after_loss), (left, 0.0), "{after_loss}");
    }
    assert_eq!(after("-1", "2"), (2.0, 0.0));
}

#[test]
fn a_rule_that_shrinks_its_window_does_not_return_to_slow_start() {
    let mut control = Algorithm::new(&rule("if(cwnd > 8, -1, 0)", "10"), 40.0);
    control.on_congestion(&loss(0));
    for at in 1..10 {
        control.on_ack(&ack(at, 1));
    }
    assert_eq!((control.window(), control.threshold()), (8.0, 8.0));
}

#[test]
fn since_loss_and_cwnd_at_loss_are_those_of_the_last_loss_that_was_one() {
    let mut control = Algorithm::new(&rule("since_loss / 10", "cwnd_at_loss / 2"), 40.0);
    // Before the first loss, the window at the loss is the window.
    control.on_congestion(&loss(1_000));
    assert_eq!(control.window(), 20.0);
    control.on_ack(&ack(3_000, 1));
    assert_eq!(control.window(), 20.2);
    // The second loss is at 20.2 segments, and finds 40 at the first.
    control.on_congestion(&loss(4_000));
    assert_eq!(control.window(), 20.0);
    control.on_spurious(Time::from_ns(4_100_000_000));
    assert_eq!(control.window(), 20.2);
    control.on_ack(&ack(5_000, 1));
    assert!((control.window() - 20.6).abs() < 1e-12);
}

#[test]
fn a_timeout_leaves_one_segment_and_the_threshold_of_its_formula() {
    let settings = RuleSettings { after_timeout: Formula::new("cwnd / 4"), ..RuleSettings::default() };
    let mut control = Algorithm::new(&AlgorithmSettings::Rule(settings), 40.0);
    control.on_timeout(Time::from_ns(1), 40);
    assert_eq!((control.window(), control.threshold()), (1.0, 10.0));
}

#[test]
fn a_wrong_formula_is_refused_with_its_place() {
    let text = r#"{"algorithm": "rule", "per_ack": 0.01, "after_loss": "cwin / 2"}"#;
    let settings: AlgorithmSettings = serde_json::from_str(text).unwrap();
    let error = settings.check().unwrap_err();
    assert_eq!((error.path(), error.rule()), ("after_loss", "unknown variable \"cwin\""));
    let text = r#"{"algorithm": "rule", "per_ack": true}"#;
    let error = serde_json::from_str::<AlgorithmSettings>(text).unwrap_err().to_string();
    assert!(error.contains("a formula, such as 1 / cwnd, or a number"), "{error}");
}
