//! Algorithms that shrink on losses and look at queues: by how much, or before a loss.

use crate::fluid::{Fluid, Losses, Path, near};
use longhaul_congestion::{
    Ack, Algorithm, AlgorithmSettings, Cause, Congestion, CongestionControl, Lp, LpRules, LpSettings, Veno,
    VenoSettings, Yeah, YeahSettings,
};
use longhaul_units::{Span, Time};

/// Runs until another congestion.
pub fn next_congestion(pipe: &mut Fluid) {
    let episodes = pipe.episodes;
    while pipe.episodes == episodes {
        pipe.step();
    }
}

/// The windows when every n-th segment is lost on a path without a queue, once that has gone on for a while.
pub fn every_nth(name: &str, n: u64) -> Fluid {
    let mut pipe = Fluid::named(name, Path::constant(0.1), Losses::EveryNth(n));
    pipe.run(100 * n);
    pipe.restart();
    pipe.run(40 * n);
    pipe
}

#[test]
fn veno_takes_losses_without_a_queue_for_chance_and_keeps_four_fifths() {
    // From 0.8 W to W by one segment per round trip: n = 0.2 W times 0.9 W.
    for n in [3_000_u64, 30_000] {
        let pipe = every_nth("veno", n);
        let peak = (n as f64 / 0.18).sqrt();
        near(pipe.peak(), peak, 0.02);
        near(pipe.mean(), 0.9 * peak, 0.02);
    }
}

#[test]
fn veno_halves_the_window_of_a_full_queue_and_grows_half_as_fast_beside_one() {
    let mut pipe = Fluid::named("veno", Path::bottleneck(0.1, 10_000.0, 500.0), Losses::None);
    pipe.run_for(30.0);
    next_congestion(&mut pipe);
    near(pipe.left, 750.0, 0.01);
    // One segment per round trip of 0.1 s up to the path's 1,000 segments.
    while pipe.control_window() < 990.0 {
        pipe.step();
    }
    let began = pipe.control_window();
    pipe.run_for(0.5);
    near(pipe.control_window() - began, 5.0, 0.21);
    // Beyond 2.5 segments of queue one in two round trips, of 0.1 s and the queue: q' = 10,000/(2 (1,000 + q)).
    while pipe.control_window() < 1_010.0 {
        pipe.step();
    }
    let began_s = pipe.now_s;
    while pipe.control_window() < 1_410.0 {
        pipe.step();
    }
    // The integral of 2 W/10,000.
    near(pipe.now_s - began_s, 400.0 * (1_410.0 + 1_010.0) / 10_000.0, 0.01);
}

/// An acknowledgement of `acked` segments with an RTT sample, in a round trip of 100 segments.
pub fn ack(number: u64, acked: u32, rtt_us: u64) -> Ack {
    Ack {
        now: Time::from_ns(1_000_000_000 + 1_000_000 * number),
        acked,
        delivered: acked,
        marked: 0,
        in_flight: 100,
        rtt: Some(Span::from_us(rtt_us)),
        srtt: Span::from_us(rtt_us),
        min_rtt: Span::from_us(rtt_us),
        window_limited: true,
        recovering: false,
        first_unacked: number,
        next_sequence: number + 100,
        delivery: None,
    }
}

pub fn loss(in_flight: u32) -> Congestion {
    Congestion {
        now: Time::from_ns(2_000_000_000),
        cause: Cause::Loss,
        in_flight,
        min_rtt: Span::from_ms(100),
        srtt: Span::from_ms(100),
        next_sequence: 1_000,
    }
}

#[test]
fn veno_counts_queues_in_half_segments_rounded_up() {
    // W (1 - 0.1 s/RTT) of 100 segments: 2.4 are 2.5, and 2.6 are 3. What arrives then makes it 101.
    for (queued, counted, left) in [(2.4, 2.5, 80.0), (2.6, 3.0, 50.0)] {
        let mut veno = Veno::new(&VenoSettings::default(), 99.0);
        veno.on_ack(&ack(1, 1, 100_000));
        veno.on_ack(&ack(2, 1, (100_000.0 / (1.0 - queued / 100.0)) as u64));
        assert_eq!(veno.backlog(), counted);
        veno.on_congestion(&loss(250));
        assert_eq!(veno.window(), left, "{queued}");
    }
}

#[test]
fn veno_forgets_the_smallest_rtt_in_an_idle_period() {
    let mut veno = Veno::new(&VenoSettings::default(), 100.0);
    veno.on_ack(&ack(1, 1, 100_000));
    veno.on_ack(&ack(2, 1, 200_000));
    assert!(veno.backlog() > 50.0);
    veno.on_sent(Time::from_ns(2_000_000_000), 0);
    veno.on_ack(&ack(3, 1, 200_000));
    assert_eq!(veno.backlog(), 0.0);
}

#[test]
fn yeah_without_a_queue_is_scalable_and_a_loss_takes_an_eighth() {
    // One segment for each 100 acknowledged: from 7/8 W to W in n = 100 W/8.
    for n in [10_000_u64, 50_000] {
        let pipe = every_nth("yeah", n);
        near(pipe.peak(), 0.08 * n as f64, 0.01);
    }
}

#[test]
fn yeah_keeps_a_queue_of_at_most_80_segments_and_a_round_trip_of_growth() {
    // Beyond 80 segments it gives up all of them; fast, it adds 1 % of the window per round trip.
    let mut pipe = Fluid::named("yeah", Path::bottleneck(0.1, 10_000.0, 1e6), Losses::None);
    pipe.run_for(10.0);
    let (mut least, mut most) = (f64::INFINITY, 0.0_f64);
    for _ in 0..500_000 {
        pipe.step();
        (least, most) = (least.min(pipe.queue()), most.max(pipe.queue()));
    }
    // Q = W (1 - RTT_min/RTT) is more than 80 at one round trip's end, and 11 and 11 are added in two more: the RTT is the
    // smallest one of a round trip, that of its beginning.
    assert!((80.0..=80.0 + 3.0 * 11.0).contains(&most), "{most}");
    assert!(least < 30.0, "{least}");
    assert_eq!(pipe.lost, 0);
}

#[test]
fn yeah_is_slow_where_the_queueing_delay_is_an_eighth_of_the_smallest_rtt() {
    // 100 segments of path: beyond 12.5 of queue it grows by one per round trip, far below 80.
    let mut pipe = Fluid::named("yeah", Path::bottleneck(0.1, 1_000.0, 60.0), Losses::None);
    next_congestion(&mut pipe);
    next_congestion(&mut pipe);
    // The loss meets it slow for more than 16 round trips: it competes, and half of the window is left.
    near(pipe.left, 80.0, 0.02);
    while pipe.queue() < 20.0 {
        pipe.step();
    }
    let Algorithm::Yeah(yeah) = &pipe.control else { panic!("another algorithm") };
    assert!(!yeah.is_fast());
    let (began_s, began) = (pipe.now_s, pipe.control_window());
    while pipe.control_window() < began + 20.0 {
        pipe.step();
    }
    // 20 round trips of (W/1,000) s.
    near(pipe.now_s - began_s, 20.0 * (began + 10.0) / 1_000.0, 0.05);
}

#[test]
fn yeah_gives_up_no_more_than_leaves_the_window_of_a_competing_reno_flow() {
    let mut yeah = Yeah::new(&YeahSettings::default(), 400.0);
    yeah.on_congestion(&loss(1_000));
    assert_eq!(yeah.window(), 350.0);
    let mut number = 0;
    let mut round = |yeah: &mut Yeah, rtt_us| {
        for _ in 0..100 {
            number += 1;
            yeah.on_ack(&ack(number, 1, rtt_us));
        }
    };
    // The first acknowledgement of a connection ends a round trip of one sample, which decides nothing.
    round(&mut yeah, 100_000);
    round(&mut yeah, 100_000);
    assert!(yeah.is_fast());
    let before = yeah.window();
    // Half of the RTT is queue, and half of the window is the most that it gives up; a Reno flow would have half of that.
    round(&mut yeah, 200_000);
    round(&mut yeah, 200_000);
    assert!(
        (0.5 * before - 2.0..0.5 * before + 2.0).contains(&yeah.window()),
        "{before} to {}",
        yeah.window()
    );
    let reno = yeah.reno_window();
    near(reno, yeah.window() / 2.0, 0.02);
    for _ in 0..3 {
        round(&mut yeah, 200_000);
    }
    // The least that it keeps grows as Reno does.
    assert_eq!(yeah.reno_window(), reno + 3.0);
    near(yeah.window(), yeah.reno_window(), 0.03);
}

fn lp_of_paper() -> LpSettings {
    LpSettings { rules: LpRules::Paper, ..LpSettings::default() }
}

#[test]
fn lp_halves_the_window_when_the_rtt_is_a_fifth_above_the_smallest() {
    // An early congestion at a delay s leaves the range b to 2 s, and the next one is at s = b + 0.15 (2 s - b):
    // s = 0.85/0.7 b. In a path of 1,000 segments that is a window of 1,214.
    let mut pipe =
        Fluid::new(&AlgorithmSettings::Lp(lp_of_paper()), Path::bottleneck(0.1, 10_000.0, 1e6), Losses::None);
    pipe.run_for(600.0);
    let mut peaks = Vec::new();
    let mut window = pipe.control_window();
    while peaks.len() < 3 {
        pipe.step();
        if pipe.control_window() < window {
            peaks.push(window);
            near(pipe.control_window(), window / 2.0, 0.01);
        }
        window = pipe.control_window();
    }
    for peak in peaks {
        near(peak, 1_000.0 * 0.85 / 0.7, 0.01);
    }
    assert_eq!((pipe.lost, pipe.episodes), (0, 0));
}

#[test]
fn lp_infers_for_three_round_trips_and_yields_all_to_a_delay_that_keeps_rising() {
    let mut lp = Lp::new(&lp_of_paper(), 100.0);
    lp.on_ack(&ack(1, 1, 100_000));
    assert_eq!(lp.window(), 101.0);
    // The smoothed delay is 112.5 ms: above the range that is known.
    lp.on_ack(&ack(2, 1, 200_000));
    assert_eq!(lp.window(), 50.0);
    // The inference phase is three RTTs long. Nothing grows in it; afterwards it does.
    let mut patient = lp.clone();
    patient.on_ack(&Ack { now: Time::from_ns(1_290_000_000), ..ack(3, 1, 100_000) });
    assert_eq!(patient.window(), 50.0);
    patient.on_ack(&Ack { now: Time::from_ns(1_310_000_000), ..ack(4, 1, 100_000) });
    assert_eq!(patient.window(), 50.0 + 1.0 / 50.0);
    // 135.9 ms are above 112.5 + 0.15 * 112.5 ms: another early congestion.
    lp.on_ack(&ack(3, 1, 300_000));
    assert_eq!(lp.window(), 1.0);
}

#[test]
fn lp_without_a_queue_is_reno_and_that_of_linux_with_one_too() {
    // From W/2 to W: n = 3/8 W^2.
    let pipe = every_nth("lp", 15_000);
    near(pipe.peak(), 200.0, 0.02);
    let mut pipe = Fluid::named("lp", Path::bottleneck(0.1, 10_000.0, 500.0), Losses::None);
    pipe.run_for(30.0);
    next_congestion(&mut pipe);
    near(pipe.left, 750.0, 0.01);
}
