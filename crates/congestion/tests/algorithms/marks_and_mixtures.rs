use crate::fluid::{Fluid, Losses, Path, near};
use crate::pipe::{Line, Pipe};
use longhaul_congestion::{
    Algorithm, AlgorithmSettings, CompoundSettings, CongestionControl, DctcpSettings, IllinoisSettings,
    SlowStartSettings, WestwoodSettings,
};

#[test]
fn compound_adds_an_eighth_of_w_to_the_three_quarters_per_round_trip() {
    // 10,000^(3/4) = 1,000: 125 - 1. Reno's share is the one taken off.
    let compound = CompoundSettings::default();
    near(compound.increase(10_000.0), 124.0, 1e-12);
    near(compound.increase(256.0), 7.0, 1e-12);
    // Nothing until alpha w^k is 1: w = 16.
    assert_eq!(compound.increase(16.0), 0.0);
}

#[test]
fn compound_grows_by_alpha_w_to_the_k_while_queues_are_short() {
    let mut pipe = Fluid::named("compound", Path::constant(0.1), Losses::Gap(1e6));
    while pipe.episodes == 0 {
        pipe.step();
    }
    // w' = w^k/8 per round trip: w^(1/4) grows by 1/32 per round trip.
    let began = pipe.control_window();
    pipe.run_for(10.0);
    let root = libm::pow(began, 0.25) + 100.0 / 32.0;
    near(pipe.control_window(), libm::pow(root, 4.0), 0.03);
}

#[test]
fn compound_has_the_window_of_alpha_beta_and_k_when_every_nth_segment_is_lost() {
    // With w' = a w^k per round trip, from (1 - b) W to W: n = integral of w dw/(a w^k)
    // = W^(2-k) (1 - (1-b)^(2-k))/(a (2-k)).
    let n = 100_000_u64;
    let mut pipe = Fluid::named("compound", Path::constant(0.1), Losses::EveryNth(n));
    pipe.run(40 * n);
    pipe.restart();
    pipe.run(40 * n);
    let power: f64 = 1.25;
    let share = 1.0 - libm::pow(0.5, power);
    let peak = libm::pow(n as f64 * 0.125 * power / share, 1.0 / power);
    near(pipe.peak(), peak, 0.03);
}

#[test]
fn compound_yields_to_a_queue_of_gamma_segments() {
    let mut pipe = Fluid::named("compound", Path::bottleneck(0.1, 100_000.0, 200.0), Losses::None);
    pipe.run_for(60.0);
    let Algorithm::Compound(before) = &pipe.control else { panic!("another algorithm") };
    // The queue of 200 segments is more than gamma = 30: what is left of the delay window cannot have
    // filled the buffer, Reno's part has.
    assert!(before.delay_window() < pipe.control_window() - 1_000.0);
    assert!(pipe.episodes > 0);
}

#[test]
fn westwood_leaves_bandwidth_times_smallest_rtt() {
    // 1,000 segments of path; the buffer does not matter.
    for (settings, buffer) in [WestwoodSettings::default(), WestwoodSettings::grieco_mascolo()]
        .into_iter()
        .flat_map(|settings| [200.0, 1_000.0, 3_000.0].map(|buffer| (settings.clone(), buffer)))
    {
        let settings = AlgorithmSettings::Westwood(settings);
        let mut pipe = Fluid::new(&settings, Path::bottleneck(0.1, 10_000.0, buffer), Losses::None);
        pipe.run_for(1_500.0);
        assert!(pipe.episodes > 1);
        let episodes = pipe.episodes;
        while pipe.episodes == episodes || pipe.recovering() {
            pipe.step();
        }
        near(pipe.control_threshold(), 1_000.0, 0.02);
        let Algorithm::Westwood(algorithm) = &pipe.control else { panic!("another algorithm") };
        near(algorithm.bandwidth().unwrap(), 10_000.0, 0.02);
    }
}

#[test]
fn westwood_remembers_by_its_weight() {
    // With no memory the last round trip alone counts; the window after a loss by chance is then the one
    // before it.
    let settings = |memory| {
        AlgorithmSettings::Westwood(WestwoodSettings { memory, ..WestwoodSettings::grieco_mascolo() })
    };
    let left_share = |memory| {
        let mut pipe = Fluid::new(&settings(memory), Path::constant(0.1), Losses::Gap(20.0));
        pipe.run_for(50.0);
        let before = pipe.episodes;
        let mut window = 0.0;
        while pipe.episodes == before {
            window = pipe.control_window();
            pipe.step();
        }
        pipe.left / window
    };
    assert!(left_share(0.0) > 0.98);
    assert!(left_share(0.9) < left_share(0.0));
}

#[test]
fn westwood_of_linux_has_half_of_the_window_until_the_recovery_ends() {
    let mut pipe = Fluid::named("westwood", Path::bottleneck(0.1, 10_000.0, 200.0), Losses::None);
    pipe.run_for(100.0);
    let episodes = pipe.episodes;
    let mut window = 0.0;
    while pipe.episodes == episodes {
        window = pipe.control_window();
        pipe.step();
    }
    near(pipe.left, window / 2.0, 0.01);
}

#[test]
fn westwood_of_linux_measures_in_ticks() {
    // A round trip of 20.1 ms is 21 ticks of 1 ms: the path seems to carry 21/20.1 of what it does.
    let mut pipe = Fluid::named("westwood", Path::bottleneck(0.0201, 10_000.0, 100.0), Losses::None);
    pipe.run_for(100.0);
    let episodes = pipe.episodes;
    while pipe.episodes == episodes || pipe.recovering() {
        pipe.step();
    }
    near(pipe.control_threshold(), 210.0, 0.02);
}

#[test]
fn illinois_has_its_endpoints() {
    // Section 3: alpha 10 to 0.3, beta 1/8 to 1/2, at 1 %, 10 %, 80 % and 100 % of the longest delay.
    let illinois = IllinoisSettings::default();
    assert_eq!(illinois.alpha(0.0, 0.1), 10.0);
    assert_eq!(illinois.alpha(0.001, 0.1), 10.0);
    near(illinois.alpha(0.001_000_001, 0.1), 10.0, 1e-4);
    near(illinois.alpha(0.1, 0.1), 0.3, 1e-9);
    assert_eq!((illinois.beta(0.01, 0.1), illinois.beta(0.08, 0.1)), (0.125, 0.5));
    near(illinois.beta(0.045, 0.1), 0.3125, 1e-12);
}

#[test]
fn illinois_on_a_path_that_never_queues_is_aimd_of_10_and_an_eighth() {
    // W = sqrt(a (2 - b)/(2 b p)).
    let n = 100_000_u64;
    let mut pipe = Fluid::named("illinois", Path::constant(0.1), Losses::EveryNth(n));
    pipe.run(40 * n);
    pipe.restart();
    pipe.run(40 * n);
    near(pipe.mean(), (10.0 * 1.875 / 0.25 * n as f64).sqrt(), 0.02);
}

#[test]
fn illinois_yields_half_to_a_full_buffer_and_an_eighth_to_an_empty_one() {
    let mut pipe = Fluid::named("illinois", Path::bottleneck(0.1, 10_000.0, 500.0), Losses::None);
    pipe.run_for(120.0);
    near(pipe.left, 750.0, 0.03);
}

#[test]
fn dctcp_has_the_fixed_point_of_alizadeh() {
    // SIGCOMM 2010, section 3.3: alpha^2 (1 - alpha/4) = (2 W + 1)/(W + 1)^2, about sqrt(2/W), where W is the
    // window at which marking begins. The paper's flow meets the mark one round trip late, as here.
    // Marking begins above a seventh of the path, so that the queue never runs dry; and between two segments,
    // so that rounding does not decide.
    // The mean forgets slowly enough for a sawtooth: g < 1.386/sqrt(2 W) (section 3.3).
    for (capacity, mark_above, gain) in [(1_000.0, 20.5, 1.0 / 16.0), (10_000.0, 200.5, 1.0 / 64.0)] {
        let line = Line { capacity, mark_above, ..Line::new(0.1) };
        let settings = AlgorithmSettings::Dctcp(DctcpSettings { gain, ..DctcpSettings::default() });
        let mut pipe = Pipe::new(&settings, line);
        pipe.run_for(100.0);
        let (mut sum, mut count) = (0.0, 0.0);
        while pipe.now_s < 300.0 {
            pipe.run_for(0.01);
            let Algorithm::Dctcp(algorithm) = &pipe.control else { panic!("another algorithm") };
            sum += algorithm.alpha();
            count += 1.0;
        }
        let window: f64 = capacity * 0.1 + mark_above;
        near(sum / count, (2.0 / window).sqrt(), 0.2);
        assert_eq!(pipe.lost, 0);
    }
}

#[test]
fn algorithms_of_growth_are_not_told_apart_by_their_slow_start() {
    // The override reaches every algorithm that has one.
    for name in ["highspeed", "cubic", "reno"] {
        let text = format!(r#"{{"algorithm": "{name}", "slow_start": {{"kind": "standard", "limit": 1}}}}"#);
        let settings: AlgorithmSettings = serde_json::from_str(&text).unwrap();
        let mut pipe = Fluid::new(&settings, Path::constant(0.1), Losses::None);
        pipe.run(1_000);
        assert_eq!(pipe.control.window(), 1_010.0, "{name}");
    }
    assert_eq!(SlowStartSettings::default(), SlowStartSettings::Standard { limit: 2 });
}
