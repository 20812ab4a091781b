//! Algorithms that a scenario writes as formulas against those that are built in, through network and transport.

use crate::common::*;
use crate::forms::sawtooth;
use longhaul_congestion::{AlgorithmSettings, Formula, RuleSettings, ScalableSettings};
use longhaul_plan::*;
use longhaul_sim::{Records, Simulation};
use longhaul_units::Time;

const SECONDS: u64 = 60;

fn rule(per_ack: &str, after_loss: &str, after_timeout: &str) -> AlgorithmSettings {
    AlgorithmSettings::Rule(RuleSettings {
        per_ack: Formula::new(per_ack),
        after_loss: Formula::new(after_loss),
        after_timeout: Formula::new(after_timeout),
        ..RuleSettings::default()
    })
}

/// One transfer over 100 ms with every `n`-th packet lost.
fn transfer(algorithm: AlgorithmSettings, settings: Tcp, n: u64) -> Plan {
    let loss = LossModel::Runs { runs: [(n - 1, 1)].into(), repeat: true };
    let plan = one(1500, lossy(50 * MS, loss), algorithm, settings);
    Plan { duration_ns: Some(SECONDS * SECOND), ..plan }
}

fn digest(plan: Plan) -> u64 {
    let mut simulation = Simulation::new(plan, Records::none()).unwrap();
    while !simulation.advance(Time::NEVER, u64::MAX) {}
    simulation.digest()
}

fn mean_window_of(algorithm: AlgorithmSettings, n: u64) -> f64 {
    let counts = Run::between(&transfer(algorithm, sack(), n), 10.0, SECONDS as f64 - 1.0);
    mean_window(&counts, 0, 1500, 0.1)
}

#[test]
fn a_rule_of_reno_or_scalable_gives_their_runs_bit_for_bit() {
    let scalable = |reno_friendly| {
        AlgorithmSettings::Scalable(ScalableSettings { reno_friendly, ..ScalableSettings::default() })
    };
    let eighth = "cwnd * 7 / 8";
    for settings in [sack(), Tcp::default()] {
        for n in [150, 2_000, 20_000] {
            for (ours, theirs) in [
                (rule("1 / cwnd", "in_flight / 2", "in_flight / 2"), named("reno")),
                (rule("0.01", eighth, eighth), scalable(false)),
                (rule("max(0.01, 1 / cwnd)", eighth, eighth), scalable(true)),
            ] {
                assert_eq!(
                    digest(transfer(ours.clone(), settings.clone(), n)),
                    digest(transfer(theirs, settings.clone(), n)),
                    "{ours:?} {n}"
                );
            }
        }
    }
}

#[test]
fn a_rule_that_halves_the_window_has_renos_mean_window_but_for_half_a_segment() {
    for n in [500, 2_000, 5_000] {
        let halving = mean_window_of(rule("1 / cwnd", "cwnd / 2", "cwnd / 2"), n);
        // Of a window of w whole segments are in flight: half of its fraction, a quarter of a segment on average, is
        // what Reno loses more.
        let reno = mean_window_of(named("reno"), n);
        assert!((halving - reno).abs() < 0.5, "{halving} and {reno} with a loss in {n}");
        near("the sawtooth", halving, sawtooth(n).0, 0.04);
    }
}
