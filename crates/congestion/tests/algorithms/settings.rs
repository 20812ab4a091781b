use longhaul_congestion::{
    Algorithm, AlgorithmSettings, CongestionControl, CubicSettings, HighSpeedResponse, NAMES,
    SlowStartSettings,
};
use serde_json::{from_str, json, to_value};

#[test]
fn every_name_names_an_algorithm_and_nothing_else_does() {
    for name in NAMES {
        let settings = AlgorithmSettings::named(name).unwrap();
        assert_eq!(settings.name(), name);
        assert_eq!(Algorithm::new(&settings, 10.0).window(), 10.0);
    }
    assert_eq!(AlgorithmSettings::named("newreno"), None);
}

#[test]
fn a_plan_carries_every_algorithm_and_its_parameters() {
    for name in NAMES {
        let settings = AlgorithmSettings::named(name).unwrap();
        let text = to_value(&settings).unwrap();
        assert_eq!(text["algorithm"], json!(name));
        assert_eq!(from_str::<AlgorithmSettings>(&text.to_string()).unwrap(), settings);
        // What is left out is customary.
        assert_eq!(
            from_str::<AlgorithmSettings>(&json!({ "algorithm": name }).to_string()).unwrap(),
            settings
        );
    }
}

#[test]
fn parameters_are_read_by_name_and_a_wrong_name_is_refused() {
    let text = r#"{"algorithm": "highspeed", "response": "table", "slow_start": {"kind": "standard"}}"#;
    let AlgorithmSettings::HighSpeed(read) = from_str(text).unwrap() else { panic!("another algorithm") };
    assert_eq!(read.response, HighSpeedResponse::Table);
    assert_eq!(read.slow_start, SlowStartSettings::Standard { limit: 2 });
    let wrong =
        from_str::<AlgorithmSettings>(r#"{"algorithm": "cubic", "betta": 0.5}"#).unwrap_err().to_string();
    assert!(wrong.contains("betta") && wrong.contains("beta"), "{wrong}");
    assert!(from_str::<AlgorithmSettings>(r#"{"algorithm": "newreno"}"#).is_err());
}

#[test]
fn the_cubic_of_linux_2_6_22_steps_back_to_819_1024ths() {
    let old = CubicSettings::linux_2_6_22();
    assert_eq!(old.beta, 819.0 / 1024.0);
    // K with that beta: cbrt(W (1 - beta)/C), as published for windows of 100, 1,000 and 10,000.
    for (window, k_s) in [(100.0, 3.685), (1_000.0, 7.940), (10_000.0, 17.105)] {
        assert!((old.k_s(window, old.beta * window) - k_s).abs() < 0.01);
    }
}

#[test]
fn customary_parameters_are_in_range_and_others_are_refused_with_a_remedy() {
    for name in NAMES {
        assert_eq!(AlgorithmSettings::named(name).unwrap().check(), Ok(()), "{name}");
    }
    let refused = |text: &str| from_str::<AlgorithmSettings>(text).unwrap().check().unwrap_err().to_string();
    assert_eq!(
        refused(r#"{"algorithm": "cubic", "beta": 1.5}"#),
        "beta: 1.5 is out of range; write a number from 0.001 to 0.999"
    );
    assert_eq!(
        refused(r#"{"algorithm": "stochastic", "streams": 0}"#),
        "streams: 0 is out of range; write a number from 1 to 65536"
    );
    let text = r#"{"algorithm": "reno", "slow_start": {"kind": "limited", "max_threshold": 0}}"#;
    assert!(refused(text).starts_with("slow_start.max_threshold: 0 is"));
    assert_eq!(
        refused(r#"{"algorithm": "westwood", "tick_ns": 18446744073709551615}"#),
        "tick_ns: 18446744073709552000 is out of range; write a number from 0 to 1000000000"
    );
    let spans =
        [("westwood", "least_interval_ns"), ("htcp", "low_speed_ns"), ("fast", "slow_start_delay_ns")];
    for (algorithm, field) in spans {
        let text = format!(r#"{{"algorithm": "{algorithm}", "{field}": 1000000000001}}"#);
        assert!(refused(&text).starts_with(&format!("{field}: 1000000000001 is")), "{}", refused(&text));
    }
    for (kind, field) in [
        ("hystart", "ack_delta_ns"),
        ("hystart", "ack_delay_ns"),
        ("hystart", "min_rtt_threshold_ns"),
        ("hystart", "max_rtt_threshold_ns"),
        ("hystart++", "min_rtt_threshold_ns"),
        ("hystart++", "max_rtt_threshold_ns"),
    ] {
        let slow_start = format!(r#"{{"kind": "{kind}", "{field}": 1000000000001}}"#);
        let text = format!(r#"{{"algorithm": "reno", "slow_start": {slow_start}}}"#);
        assert!(refused(&text).starts_with(&format!("slow_start.{field}: ")), "{}", refused(&text));
    }
    let nan = AlgorithmSettings::Cubic(CubicSettings { c: f64::NAN, ..CubicSettings::default() });
    assert!(nan.check().is_err());
}
