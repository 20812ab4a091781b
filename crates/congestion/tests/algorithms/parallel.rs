use crate::fluid::{Fluid, Losses, Path, near};
use longhaul_congestion::{AlgorithmSettings, MultcpSettings, PhiMode, StochasticModel, StochasticSettings};

const P: f64 = 1e-4;

/// Mean window with losses by chance.
fn by_chance(settings: &AlgorithmSettings) -> f64 {
    let mut pipe = Fluid::new(settings, Path::constant(0.1), Losses::Chance(P));
    pipe.run((100.0 / P) as u64);
    pipe.restart();
    pipe.run((2_500.0 / P) as u64);
    pipe.mean()
}

fn multcp(flows: f64) -> AlgorithmSettings {
    AlgorithmSettings::Multcp(MultcpSettings { flows, ..MultcpSettings::default() })
}

fn stochastic(streams: u32, phi: f64, model: StochasticModel, phi_mode: PhiMode) -> AlgorithmSettings {
    AlgorithmSettings::Stochastic(StochasticSettings {
        streams,
        phi,
        phi_mode,
        model,
        ..StochasticSettings::default()
    })
}

#[test]
fn multcp_has_the_mean_window_of_aimd_with_n_and_one_half_of_an_nth() {
    // a = N, b = 1/(2N): sqrt(a (2 - b)/(2 b p)) = sqrt((2 N^2 - N/2)/p).
    for flows in [1.0, 2.0, 4.0, 10.0_f64] {
        let n = 40_000_u64;
        let mut pipe = Fluid::new(&multcp(flows), Path::constant(0.1), Losses::EveryNth(n));
        pipe.run(100 * n);
        pipe.restart();
        pipe.run(40 * n);
        near(pipe.mean(), ((2.0 * flows * flows - flows / 2.0) * n as f64).sqrt(), 0.02);
    }
}

#[test]
fn multcp_of_one_is_reno_segment_by_segment() {
    let path = Path::constant(0.1);
    let mut one = Fluid::new(&multcp(1.0), path, Losses::EveryNth(500));
    let mut reno = Fluid::named("reno", path, Losses::EveryNth(500));
    for _ in 0..5_000 {
        one.step();
        reno.step();
        // Reno halves whole segments in flight, MulTCP its window.
        assert!((one.control_window() - reno.control_window()).abs() <= 1.0);
    }
}

#[test]
fn multcp_trebles_until_n_doubling_connections_would_have_caught_up() {
    // N = 4: 3^(ln 4/ln 1.5) = 42.8; then it doubles, at 1 for each acknowledged.
    let mut pipe = Fluid::new(&multcp(4.0), Path::constant(0.1), Losses::None);
    let before = pipe.control_window();
    pipe.step();
    assert_eq!(pipe.control_window() - before, 2.0);
    while pipe.control_window() < 43.0 {
        pipe.step();
    }
    let before = pipe.control_window();
    pipe.step();
    assert_eq!(pipe.control_window() - before, 1.0);
}

#[test]
fn stochastic_tcp_weighs_n_over_root_phi_reno_connections() {
    // N virtual streams with increase 1/phi: each has sqrt(1/phi) of Reno's window. Its own sum over 2,500
    // losses is known to about 1 %.
    let reno = by_chance(&AlgorithmSettings::named("reno").unwrap());
    for streams in [1_u32, 2, 4, 8, 16] {
        let n = f64::from(streams);
        for phi in [1.0, n, n * n] {
            let got = by_chance(&stochastic(streams, phi, StochasticModel::Explicit, PhiMode::VirtualRtt));
            near(got / reno, n / phi.sqrt(), 0.08);
        }
    }
}

#[test]
fn the_simpler_models_of_stochastic_tcp_weigh_the_same() {
    let reno = by_chance(&AlgorithmSettings::named("reno").unwrap());
    for model in [StochasticModel::Mean, StochasticModel::Draw] {
        for (streams, phi) in [(4_u32, 1.0), (8, 8.0), (4, 16.0)] {
            let got = by_chance(&stochastic(streams, phi, model, PhiMode::VirtualRtt));
            near(got / reno, f64::from(streams) / f64::sqrt(phi), 0.08);
        }
    }
}

#[test]
fn phi_multiplies_the_increase_or_the_streams_that_a_loss_strikes() {
    let reno = by_chance(&AlgorithmSettings::named("reno").unwrap());
    let explicit = StochasticModel::Explicit;
    // Twice the increase: sqrt(2) of the window.
    let faster = by_chance(&stochastic(4, 2.0, explicit, PhiMode::Multiplier));
    near(faster / reno, 4.0 * 2.0_f64.sqrt(), 0.08);
    // All streams struck by each loss: one AIMD with increase N and decrease 1/2: sqrt(N).
    let all = by_chance(&stochastic(4, 4.0, StochasticModel::Mean, PhiMode::StreamsCut));
    near(all / reno, 2.0, 0.08);
    // A fraction affects one more stream by chance: between 1 and 2.
    let some = by_chance(&stochastic(4, 1.5, explicit, PhiMode::StreamsCut));
    let (one, two) = (
        by_chance(&stochastic(4, 1.0, explicit, PhiMode::StreamsCut)),
        by_chance(&stochastic(4, 2.0, explicit, PhiMode::StreamsCut)),
    );
    assert!(two < some && some < one, "{two} {some} {one}");
}
