use crate::fluid::{Fluid, Losses, Path, near};
use longhaul_congestion::{AlgorithmSettings, FastSettings, VegasRules, VegasSettings};

#[test]
fn vegas_keeps_two_to_four_segments_in_the_queue_and_linuxs_up_to_five() {
    let both = [(VegasRules::Paper, 5.0), (VegasRules::Linux, 6.0)];
    for (capacity, (rules, most)) in
        [100.0, 1_000.0, 10_000.0].into_iter().flat_map(|capacity| both.map(|rules| (capacity, rules)))
    {
        let settings = AlgorithmSettings::Vegas(VegasSettings { rules, ..VegasSettings::default() });
        let mut pipe = Fluid::new(&settings, Path::bottleneck(0.1, capacity, 1e6), Losses::None);
        // Additive growth from where slow start ends: at most the window in round trips.
        pipe.run_for(0.2 * capacity * 0.1 + 20.0);
        for _ in 0..10_000 {
            pipe.step();
            // The window moves by whole segments, once per round trip.
            assert!((1.0..=most).contains(&pipe.queue()), "{rules:?}: {} at {capacity}", pipe.queue());
        }
        assert_eq!(pipe.lost, 0);
    }
}

#[test]
fn vegas_ends_slow_start_before_it_fills_a_buffer() {
    for rules in [VegasRules::Linux, VegasRules::Paper] {
        let settings = AlgorithmSettings::Vegas(VegasSettings { rules, ..VegasSettings::default() });
        let mut pipe = Fluid::new(&settings, Path::bottleneck(0.1, 10_000.0, 2_000.0), Losses::None);
        pipe.run_for(5.0);
        assert_eq!(pipe.lost, 0);
        assert!(pipe.control_threshold().is_finite());
    }
}

#[test]
fn vegas_of_linux_grows_in_each_round_trip_of_slow_start() {
    let leaves = |rules| {
        let settings = AlgorithmSettings::Vegas(VegasSettings { rules, ..VegasSettings::default() });
        let mut pipe = Fluid::new(&settings, Path::bottleneck(0.1, 10_000.0, 1e6), Losses::None);
        while pipe.control_threshold().is_infinite() {
            pipe.step();
        }
        (pipe.control_window(), pipe.now_s)
    };
    let (linux, paper) = (leaves(VegasRules::Linux), leaves(VegasRules::Paper));
    // The smallest RTT of the last round is from its begin, when 1,000 segments filled the path: twice of that now.
    near(linux.0, 2_000.0, 0.01);
    assert!(paper.1 - 1.0 > 1.5 * (linux.1 - 1.0), "{} and {}", paper.1, linux.1);
}

#[test]
fn fast_keeps_alpha_segments_in_the_queue() {
    for (alpha, capacity) in [(20.0, 1_000.0), (100.0, 10_000.0), (200.0, 100_000.0)] {
        let settings = AlgorithmSettings::Fast(FastSettings { alpha, ..FastSettings::default() });
        let mut pipe = Fluid::new(&settings, Path::bottleneck(0.1, capacity, 1e6), Losses::None);
        pipe.run_for(60.0);
        near(pipe.queue(), alpha, 0.02);
        // An equilibrium: no sawtooth.
        let window = pipe.control_window();
        pipe.run_for(1.0);
        near(pipe.control_window(), window, 0.001);
    }
}

#[test]
fn fast_closes_half_of_the_gap_to_a_larger_path_with_each_round_trip_of_gamma() {
    // With no queue the aim is w + alpha: gamma alpha segments per round trip.
    let mut pipe = Fluid::named("fast", Path::bottleneck(0.1, 100_000.0, 1e6), Losses::EveryNth(30_000));
    while pipe.episodes == 0 {
        pipe.step();
    }
    pipe.losses = Losses::None;
    let began = pipe.control_window();
    pipe.run_for(2.05);
    // 20 round trips; the first aim is after the first one.
    near(pipe.control_window() - began, 20.0 * 50.0, 0.06);
}
