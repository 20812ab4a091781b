//! The pacing of a host, for tests.

use longhaul_plan::*;
use longhaul_units::Rate;
use std::num::NonZeroU64;

/// Two flows with 20 Mbit/s each, at ports below 100; the rest through a small bucket, few of which wait.
pub fn pacing() -> Pacing {
    let class = |name: &str, model, limit_packets| PacingClass {
        name: name.into(),
        model,
        limit_packets: Some(limit_packets),
        limit_bytes: None,
    };
    let paced = PacingModel::Paced { rate: Rate::from_bits_per_s(20_000_000).unwrap() };
    let bucket = PacingModel::TokenBucket {
        rate: Rate::from_bits_per_s(10_000_000).unwrap(),
        burst_bytes: NonZeroU64::new(3_000).unwrap(),
        peak: None,
    };
    Pacing {
        line: Rate::from_bits_per_s(100_000_000).unwrap(),
        line_framing: Framing::default(),
        class_framing: Framing::default(),
        classes: vec![class("one.1", paced, 10), class("one.2", paced, 10), class("rest", bucket, 5)],
        default: 2,
        rules: vec![PacingRule { class: 0, flows: 2, ports: vec![(1, 99)], ..PacingRule::default() }],
    }
}
