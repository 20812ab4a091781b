//! Mean windows against closed forms, through the network and the transport, over a path without a
//! queue and an RTT that is known.

use crate::common::*;
use longhaul_congestion::{
    AlgorithmSettings, CubicSettings, HighSpeedResponse, HighSpeedSettings, HtcpSettings, MultcpSettings,
    ScalableSettings, SlowStartSettings, StochasticSettings,
};
use longhaul_plan::*;
use longhaul_units::Time;

/// One-way delay; the round trip is 0.1 s.
const DELAY_NS: u64 = 50 * MS;
const RTT_S: f64 = 0.1;

/// Loses a packet of the first window, and from then on the last of every `n`.
fn every(n: u64) -> LossModel {
    let mut runs = vec![(10, 1)];
    runs.resize(2000, (n - 1, 1));
    LossModel::Runs { runs: runs.into(), repeat: false }
}

/// Begins with a window of `peak`, so that a loss in it stands where a cycle ends.
fn from_peak(settings: &Tcp, peak: f64) -> Tcp {
    Tcp { initial_window: Some(peak as u32), ..*settings }
}

/// Mean window of `algorithm` under `loss` from the end of `warm` round trips on, over as many as `rounds`.
fn window(algorithm: AlgorithmSettings, settings: Tcp, loss: LossModel, [warm, rounds]: [f64; 2]) -> f64 {
    let plan = one(1500, lossy(DELAY_NS, loss), algorithm, settings);
    let counts = Run::between(&plan, RTT_S * warm, RTT_S * (warm + rounds));
    mean_window(&counts, 0, 1500, RTT_S)
}

/// An algorithm whose mean window is expected to be `mean`, from `peak` down and up again.
struct Cycle {
    algorithm: AlgorithmSettings,
    settings: Tcp,
    mean: f64,
    peak: f64,
}

impl Cycle {
    fn new(algorithm: AlgorithmSettings, mean: f64, peak: f64) -> Self {
        Cycle { algorithm, settings: sack(), mean, peak }
    }

    /// With each n-th packet lost: asserts the mean over so many cycles after `warm` ones.
    #[track_caller]
    fn check(self, n: u64, [warm, cycles]: [f64; 2], tolerance: f64) {
        let what = format!("{} with a loss in {n}, {:?}", self.algorithm.name(), self.settings.recovery);
        let rounds = n as f64 / self.mean;
        let settings = from_peak(&self.settings, self.peak);
        let got = window(self.algorithm, settings, every(n), [warm * rounds, cycles * rounds]);
        near(&what, got, self.mean, tolerance);
    }
}

/// Mean and peak of Reno. One segment per round trip: the rounds from W/2 to W carry (3/8) W^2 + (3/4) W
/// segments, and one round of recovery W/2; for large n the mean is 0.75 sqrt(8n/3).
pub fn sawtooth(n: u64) -> (f64, f64) {
    let n = n as f64;
    let peak = (-1.25 + (1.25f64 * 1.25 + 1.5 * n).sqrt()) / 0.75;
    (n / (peak / 2.0 + 2.0), peak)
}

#[test]
fn reno_has_the_mean_window_of_its_sawtooth_over_four_decades() {
    for (n, cycles) in [(100, 400.0), (1000, 100.0), (10_000, 30.0), (100_000, 5.0)] {
        let (mean, peak) = sawtooth(n);
        near("the sawtooth itself", mean, 0.75 * (8.0 * n as f64 / 3.0).sqrt(), 0.15);
        Cycle::new(named("reno"), mean, peak).check(n, [4.0, cycles], 0.04);
    }
}

#[test]
fn every_way_to_find_losses_leaves_renos_mean_window_as_it_is() {
    for recovery in [Recovery::Reno, Recovery::Newreno, Recovery::SackAdaptive, Recovery::Rack] {
        let (mean, peak) = sawtooth(3000);
        let reno = Cycle::new(named("reno"), mean, peak);
        Cycle { settings: Tcp { recovery, ..sack() }, ..reno }.check(3000, [4.0, 20.0], 0.03);
    }
}

#[test]
fn delayed_acknowledgements_change_nothing_when_bytes_are_counted() {
    let (mean, peak) = sawtooth(3000);
    let reno = Cycle::new(named("reno"), mean, peak);
    Cycle { settings: Tcp { delayed_ack: true, ..sack() }, ..reno }.check(3000, [4.0, 20.0], 0.05);
}

#[test]
fn random_loss_gives_the_square_root_law() {
    for (p, rounds) in [(1e-2, 20_000.0), (1e-3, 20_000.0), (1e-4, 20_000.0)] {
        let loss = LossModel::Independent { probability: probability(p) };
        let got = window(named("reno"), sack(), loss, [1000.0, rounds]);
        near(&format!("{p}"), got, (3.0 / (2.0 * p)).sqrt(), 0.1);
    }
}

/// Segments per second: J. Padhye, V. Firoiu, D. Towsley, J. Kurose, "Modeling TCP throughput",
/// SIGCOMM 1998, formula 33 with b = 1 and no limit of the window.
fn padhye(p: f64, rtt_s: f64, timeout_s: f64) -> f64 {
    let fast = rtt_s * (2.0 * p / 3.0).sqrt();
    let share = (3.0 * (3.0 * p / 8.0).sqrt()).min(1.0);
    1.0 / (fast + timeout_s * share * p * (1.0 + 32.0 * p * p))
}

#[test]
fn heavy_loss_gives_padhyes_formula() {
    for recovery in [Recovery::Reno, Recovery::Newreno, Recovery::Sack, Recovery::Rack] {
        for (p, rounds) in [(0.003, 10_000.0), (0.01, 20_000.0), (0.03, 20_000.0), (0.05, 20_000.0)] {
            let loss = LossModel::Independent { probability: probability(p) };
            let settings = Tcp { recovery, ..sack() };
            let got = window(named("reno"), settings, loss, [1000.0, rounds]) / RTT_S;
            // What repairs several losses in a round trip has fewer timeouts than the model, which is
            // of Reno.
            let tolerance = if recovery == Recovery::Reno { 0.1 } else { 0.2 };
            near(&format!("{recovery:?} {p}"), got, padhye(p, RTT_S, RTT_S + 0.2), tolerance);
        }
    }
}

#[test]
fn scalable_has_a_window_in_proportion_to_the_gap() {
    // 0.01 per acknowledgement is 1 % per round trip: ln(8/7) / 0.01 rounds from 7/8 to the whole, and
    // one of recovery. Without that one, and over packets instead of over time: 0.08/p.
    let rounds = libm::log(8.0 / 7.0) / 0.01 + 1.0;
    for (n, cycles) in [(1000, 60.0), (10_000, 40.0), (100_000, 5.0)] {
        let mean = n as f64 / rounds;
        near("Kelly's", mean, 0.08 * n as f64, 0.14);
        let kelly = AlgorithmSettings::Scalable(ScalableSettings::kelly());
        Cycle::new(kelly, mean, mean * 1.07).check(n, [10.0, cycles], 0.03);
    }
}

/// RFC 3649, section 3.
fn highspeed(n: u64, cycles: [f64; 2]) {
    let mean = 0.12 * libm::pow(n as f64, 0.835);
    // For each acknowledged segment, as the RFC's model has it, which knows no delayed acknowledgements.
    let settings = HighSpeedSettings {
        response: HighSpeedResponse::Formula,
        byte_counting: true,
        slow_start: SlowStartSettings::limited(),
        ..HighSpeedSettings::default()
    };
    Cycle::new(AlgorithmSettings::HighSpeed(settings), mean, mean * 1.2).check(n, cycles, 0.12);
}

#[test]
fn highspeed_has_the_window_of_rfc_3649() {
    highspeed(10_000, [5.0, 20.0]);
    highspeed(100_000, [2.0, 5.0]);
}

#[test]
#[ignore = "minutes"]
fn highspeed_has_the_window_of_rfc_3649_at_one_in_a_million() {
    highspeed(1_000_000, [5.0, 10.0]);
}

/// RFC 9438, section 5.1: (C (3 + beta) / (4 (1 - beta)))^(1/4) (RTT/p)^(3/4).
fn cubic(n: u64, cycles: [f64; 2]) {
    let mean = libm::pow(0.4 * 3.7 / (4.0 * 0.3), 0.25) * libm::pow(RTT_S * n as f64, 0.75);
    // A loss that comes a segment early would count as a sign of other flows (section 4.7).
    let algorithm =
        AlgorithmSettings::Cubic(CubicSettings { fast_convergence: false, ..CubicSettings::rfc9438() });
    Cycle::new(algorithm, mean, mean / 0.925).check(n, cycles, 0.1);
}

#[test]
fn cubic_has_the_average_window_of_rfc_9438() {
    cubic(100_000, [3.0, 8.0]);
}

#[test]
#[ignore = "minutes"]
fn cubic_has_the_average_window_of_rfc_9438_at_one_in_a_million() {
    cubic(1_000_000, [3.0, 10.0]);
}

/// Mean window with one packet lost each `gap_s` seconds, the first in the first window, which is
/// `peak`: over so many gaps after `warm` ones.
fn fixed_gap(algorithm: AlgorithmSettings, gap_s: f64, peak: f64, [warm, gaps]: [u64; 2]) -> f64 {
    // The handshake takes one round trip; some data go first. Before the line all of a window would be
    // lost or not at one instant.
    let first_s = RTT_S + 1e-6;
    let at = |loss| Time::from_ns(((first_s + gap_s * f64::from(loss)) * 1e9) as u64);
    let loss = LossModel::Times { times: (0..200).map(at).collect(), repeat: None };
    let forward = Direction { loss_position: LossPosition::Egress, ..lossy(DELAY_NS, loss) };
    let plan = one(1500, forward, algorithm, from_peak(&sack(), peak));
    let [from_s, to_s] = [warm, warm + gaps].map(|count| first_s + gap_s * count as f64);
    mean_window(&Run::between(&plan, from_s, to_s), 0, 1500, RTT_S)
}

#[test]
fn a_fixed_gap_gives_reno_three_halves_of_the_gap_in_round_trips() {
    for gap_s in [8.0, 20.0] {
        // W/2 = T/RTT; the mean is 3/4 W.
        let got = fixed_gap(named("reno"), gap_s, 2.0 * gap_s / RTT_S, [4, 10]);
        near("Reno", got, 1.5 * gap_s / RTT_S, 0.03);
    }
}

#[test]
fn a_fixed_gap_of_k_keeps_cubic_where_it_is() {
    for gap_s in [5.0, 8.0] {
        // K = T: C T^3 = (1 - beta) Wmax; the cubic's mean is Wmax (3 + beta) / 4. Neither higher nor
        // lower windows lead back there soon, so it begins there, and without fast convergence.
        let peak = 0.4 * gap_s * gap_s * gap_s / 0.3;
        let algorithm =
            AlgorithmSettings::Cubic(CubicSettings { fast_convergence: false, ..CubicSettings::rfc9438() });
        near("CUBIC", fixed_gap(algorithm, gap_s, peak, [1, 10]), peak * 3.7 / 4.0, 0.05);
    }
}

#[test]
fn a_fixed_gap_gives_htcp_the_integral_of_its_increase() {
    for gap_s in [4.0f64, 6.0] {
        let settings =
            HtcpSettings { adaptive_backoff: false, rtt_scaling: false, ..HtcpSettings::default() };
        // alpha(t) = 1 + 10 (t - 1) + (t - 1)^2 / 4 after a second. W/2 is what grows in T: its integral
        // over RTT; the mean is W/2 and the mean of what has grown.
        // The clock starts as the recovery ends, a round trip after the loss.
        let late = gap_s - 1.0 - RTT_S;
        let half = (gap_s + 5.0 * late * late + late * late * late / 12.0) / RTT_S;
        let area = gap_s * gap_s / 2.0 + 5.0 * late * late * late / 3.0 + late * late * late * late / 48.0;
        let expected = half + area / (gap_s * RTT_S);
        let got = fixed_gap(AlgorithmSettings::Htcp(settings), gap_s, 2.0 * half, [4, 8]);
        near(&format!("H-TCP {gap_s}"), got, expected, 0.05);
    }
}

#[test]
fn multcp_weighs_as_its_flows_do() {
    for flows in [1.0f64, 2.0, 4.0, 8.0] {
        // Additive increase a and decrease by a share b: (a (2 - b) / (2 b p))^(1/2), here with a = N and
        // b = 1/(2N): against one Reno N ((2 - 1/(2N)) / 1.5)^(1/2).
        let (a, b) = (flows, 0.5 / flows);
        let mean = (a * (2.0 - b) / (2.0 * b) * 10_000.0).sqrt();
        let algorithm = AlgorithmSettings::Multcp(MultcpSettings { flows, ..MultcpSettings::default() });
        Cycle::new(algorithm, mean, mean / (1.0 - b / 2.0)).check(10_000, [8.0, 30.0], 0.06);
    }
}

#[test]
fn stochastic_weighs_n_over_the_root_of_phi() {
    // So many rounds that there are as many losses for each.
    let run = |algorithm, weight: f64| {
        let loss = LossModel::Independent { probability: probability(2e-4) };
        window(algorithm, sack(), loss, [2000.0 / weight, 20_000.0 / weight])
    };
    let reno = run(named("reno"), 1.0);
    for streams in [2u32, 4, 8] {
        let n = f64::from(streams);
        for phi in [1.0, n, n * n] {
            let algorithm = StochasticSettings { streams, phi, ..StochasticSettings::default() };
            let weight = n / phi.sqrt();
            let ratio = run(AlgorithmSettings::Stochastic(algorithm), weight) / reno;
            near(&format!("N {streams}, phi {phi}"), ratio, weight, 0.08);
        }
    }
}
