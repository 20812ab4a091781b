use crate::fluid::near;
use crate::pipe::{Line, Pipe};
use longhaul_congestion::{Algorithm, AlgorithmSettings, Bbr, Bbr3, BbrPhase, CongestionControl};

/// 10,000 segments/s and 40 ms: 400 segments of path.
fn line() -> Line {
    Line { capacity: 10_000.0, ..Line::new(0.04) }
}

fn pipe(name: &str, line: Line) -> Pipe {
    Pipe::new(&AlgorithmSettings::named(name).unwrap(), line)
}

fn v1(pipe: &Pipe) -> &Bbr {
    let Algorithm::Bbr(algorithm) = &pipe.control else { panic!("another algorithm") };
    algorithm
}

fn v3(pipe: &Pipe) -> &Bbr3 {
    let Algorithm::Bbr3(algorithm) = &pipe.control else { panic!("another algorithm") };
    algorithm
}

fn phase(pipe: &Pipe) -> BbrPhase {
    match &pipe.control {
        Algorithm::Bbr(algorithm) => algorithm.phase(),
        Algorithm::Bbr3(algorithm) => algorithm.phase(),
        _ => panic!("another algorithm"),
    }
}

fn bandwidth(pipe: &Pipe) -> f64 {
    match &pipe.control {
        Algorithm::Bbr(algorithm) => algorithm.bandwidth(),
        Algorithm::Bbr3(algorithm) => algorithm.bandwidth(),
        _ => panic!("another algorithm"),
    }
}

#[test]
fn bbr_knows_the_bandwidth_of_a_clean_path_within_5_percent() {
    for name in ["bbr", "bbr3"] {
        for capacity in [100.0, 1_000.0, 10_000.0] {
            let mut pipe = pipe(name, Line { capacity, ..line() });
            pipe.run_for(3.0);
            near(bandwidth(&pipe), capacity, 0.05);
            // ProbeRTT and the phases below 1 take some: at most a tenth.
            assert!(pipe.throughput(20.0) > 0.9 * capacity, "{name} at {capacity}");
            assert_eq!(pipe.lost, 0);
        }
    }
}

#[test]
fn bbr_drains_the_queue_of_its_startup() {
    for name in ["bbr", "bbr3"] {
        let mut pipe = pipe(name, line());
        while phase(&pipe) == BbrPhase::Startup {
            pipe.step();
        }
        // Two bandwidth-delay products and more are in flight: one and more is queue.
        assert!(pipe.queue_peak > 200.0, "{name}: {}", pipe.queue_peak);
        assert_eq!(phase(&pipe), BbrPhase::Drain);
        while phase(&pipe) == BbrPhase::Drain {
            pipe.step();
        }
        assert!(pipe.queue() < 0.05 * 400.0, "{name}: {}", pipe.queue());
    }
}

#[test]
fn bbr_startup_takes_as_many_round_trips_as_doublings_and_three() {
    // From 10 segments to 400: log2(40) = 5.3, and three rounds to see the plateau; the last ones have a queue.
    for name in ["bbr", "bbr3"] {
        let mut pipe = pipe(name, line());
        while phase(&pipe) == BbrPhase::Startup {
            pipe.step();
        }
        let rounds = (pipe.now_s - 1.0) / 0.04;
        assert!((6.0..=18.0).contains(&rounds), "{name}: {rounds}");
    }
}

#[test]
fn bbr_keeps_its_queue_short_where_losses_would_fill_the_buffer() {
    let deep = Line { buffer: 4_000.0, ..line() };
    // Probing at 1.25 for a round trip fills a quarter of the path; version 3 goes on until it has seen three
    // rounds without more bandwidth, within 2.25 paths in flight.
    for (name, paths) in [("bbr", 0.6), ("bbr3", 1.25)] {
        let mut pipe = pipe(name, deep);
        pipe.run_for(3.0);
        pipe.queue_peak = 0.0;
        pipe.run_for(10.0);
        assert!(pipe.queue_peak < paths * 400.0, "{name}: {}", pipe.queue_peak);
    }
}

/// When `ProbeRTT` began, and for how long it lasted, over `seconds`.
fn probe_rtts(pipe: &mut Pipe, seconds: f64) -> Vec<(f64, f64)> {
    let end = pipe.now_s + seconds;
    let mut found: Vec<(f64, f64)> = Vec::new();
    let mut inside = false;
    while pipe.now_s < end {
        pipe.step();
        let now = phase(pipe) == BbrPhase::ProbeRtt;
        if now && !inside {
            found.push((pipe.now_s, 0.0));
        }
        if now && let Some(last) = found.last_mut() {
            last.1 = pipe.now_s - last.0;
        }
        inside = now;
    }
    found
}

#[test]
fn bbr_probes_the_rtt_every_10_s_with_4_segments_for_200_ms() {
    let mut pipe = pipe("bbr", line());
    let mut least = f64::INFINITY;
    let began = pipe.now_s;
    while pipe.now_s < began + 12.0 {
        pipe.step();
        if phase(&pipe) == BbrPhase::ProbeRtt {
            least = least.min(pipe.control.window());
        }
    }
    assert_eq!(least, 4.0);
    // The RTT of the empty path is seen now and then by itself, which puts the next one off: then it is 10 s
    // after that.
    let found = probe_rtts(&mut pipe, 40.0);
    assert!(!found.is_empty());
    for (_, length) in &found {
        // One round trip to get there, 200 ms, and a round trip at most.
        assert!((0.2..=0.33).contains(length), "{length}");
    }
    for pair in found.windows(2) {
        assert!(pair[1].0 - pair[0].0 >= 10.0, "{found:?}");
    }
}

#[test]
fn bbr3_probes_the_rtt_every_5_s_with_half_of_its_path() {
    let mut pipe = pipe("bbr3", line());
    pipe.run_for(3.0);
    let mut least = f64::INFINITY;
    while pipe.now_s < 15.0 {
        pipe.step();
        if phase(&pipe) == BbrPhase::ProbeRtt {
            least = least.min(pipe.control.window());
        }
    }
    near(least, 200.0, 0.06);
    let found = probe_rtts(&mut pipe, 40.0);
    assert!(found.len() >= 3, "{found:?}");
    for pair in found.windows(2) {
        assert!((5.0..=10.5).contains(&(pair[1].0 - pair[0].0)), "{found:?}");
    }
}

#[test]
fn bbr_goes_round_its_cycle_of_eight_gains() {
    let mut pipe = pipe("bbr", line());
    pipe.run_for(3.0);
    let (mut fast, mut slow, mut steps) = (0_u32, 0_u32, 0_u32);
    for _ in 0..20_000 {
        pipe.step();
        let longhaul_congestion::Pacing::SegmentsPerSecond(rate) = pipe.control.pacing() else {
            panic!("BBR paces")
        };
        let gain = rate / v1(&pipe).bandwidth();
        steps += 1;
        fast += u32::from((gain - 1.25).abs() < 0.01);
        slow += u32::from((gain - 0.75).abs() < 0.01);
    }
    // One in eight faster, and slower until the queue is gone: at most one in eight.
    let share = f64::from(fast) / f64::from(steps);
    assert!((0.08..=0.25).contains(&share), "{share}");
    assert!(slow > 0 && slow <= fast);
}

#[test]
fn bbr3_visits_down_cruise_refill_and_up_in_turn() {
    use BbrPhase::{Cruise, Down, ProbeRtt, Refill, Up};
    let mut pipe = pipe("bbr3", line());
    pipe.run_for(2.0);
    let mut visited = vec![phase(&pipe)];
    while pipe.now_s < 30.0 {
        pipe.step();
        if *visited.last().unwrap() != phase(&pipe) {
            visited.push(phase(&pipe));
        }
    }
    for phase in [Down, Cruise, Refill, Up, ProbeRtt] {
        assert!(visited.contains(&phase), "{phase:?} in {visited:?}");
    }
    for pair in visited.windows(2) {
        let follows = match pair[0] {
            Down => [Cruise, Refill, ProbeRtt].contains(&pair[1]),
            Cruise => [Refill, ProbeRtt].contains(&pair[1]),
            Refill => [Up, ProbeRtt].contains(&pair[1]),
            Up => [Down, ProbeRtt].contains(&pair[1]),
            ProbeRtt => pair[1] == Cruise,
            _ => false,
        };
        assert!(follows, "{pair:?}");
    }
}

#[test]
fn bbr_does_not_mind_a_per_cent_of_losses_and_reno_does() {
    let lossy = Line { loss: 0.01, ..line() };
    // Version 3 follows losses down between two probes, by (1 - p)^k in k rounds: over 63 rounds a mean of 0.75.
    for (name, share) in [("bbr", 0.8), ("bbr3", 0.6)] {
        let mut pipe = pipe(name, lossy);
        pipe.run_for(5.0);
        let got = pipe.throughput(20.0);
        assert!(got > share * 10_000.0, "{name}: {got}");
    }
    // sqrt(1.5/0.01)/0.04 = 306 segments per second.
    let mut reno = pipe("reno", lossy);
    reno.run_for(5.0);
    assert!(reno.throughput(20.0) < 400.0);
}

#[test]
fn bbr3_backs_off_from_losses_above_2_percent_and_bbr_does_not() {
    let lossy = Line { loss: 0.06, ..line() };
    let (mut old, mut new) = (pipe("bbr", lossy), pipe("bbr3", lossy));
    old.run_for(5.0);
    new.run_for(5.0);
    let (old_rate, new_rate) = (old.throughput(20.0), new.throughput(20.0));
    assert!(v3(&new).long_term_inflight().is_finite());
    assert!(old_rate > 0.8 * 10_000.0, "{old_rate}");
    assert!(new_rate < 0.75 * old_rate, "{new_rate} of {old_rate}");
}

#[test]
fn bbr3_loses_less_than_bbr_at_a_shallow_buffer() {
    // A tenth of the path.
    let shallow = Line { buffer: 40.0, ..line() };
    let share = |name: &str| {
        let mut pipe = pipe(name, shallow);
        pipe.run_for(5.0);
        let (delivered, lost) = (pipe.delivered, pipe.lost);
        let rate = pipe.throughput(30.0);
        assert!(rate > 0.75 * 10_000.0, "{name}: {rate}");
        (pipe.lost - lost) as f64 / (pipe.delivered - delivered) as f64
    };
    let (old, new) = (share("bbr"), share("bbr3"));
    assert!(new < 0.02 && new < old, "{new} against {old}");
}

#[test]
fn bbr_finds_a_path_that_has_become_wider_or_narrower() {
    for name in ["bbr", "bbr3"] {
        let mut pipe = pipe(name, Line { buffer: 2_000.0, ..line() });
        pipe.run_for(5.0);
        pipe.line.capacity = 20_000.0;
        pipe.run_for(20.0);
        near(bandwidth(&pipe), 20_000.0, 0.1);
        pipe.line.capacity = 5_000.0;
        pipe.run_for(30.0);
        near(bandwidth(&pipe), 5_000.0, 0.1);
    }
}
