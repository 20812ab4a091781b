//! CDG: how likely it backs off, by how much, and what it leaves to losses.

use crate::fluid::{Fluid, Losses, Path, near};
use crate::loss_and_delay::{ack, every_nth, loss};
use longhaul_congestion::{Ack, Cdg, CdgSettings, CongestionControl, SlowStartSettings};
use longhaul_random::Seed;
use longhaul_units::Span;

fn settings() -> CdgSettings {
    CdgSettings { slow_start: SlowStartSettings::default(), ..CdgSettings::default() }
}

/// A flow with RTTs in ms, one for each round trip.
struct Rounds {
    cdg: Cdg,
    number: u64,
}

impl Rounds {
    fn new(settings: &CdgSettings, seed: u64) -> Self {
        let mut cdg = Cdg::new(settings, 100.0);
        cdg.on_start(&mut Seed::new(seed).stream("connection"));
        Rounds { cdg, number: 0 }
    }

    /// An acknowledgement that ends a round trip of 101 segments.
    fn ack(&mut self, rtt_us: u64) -> Ack {
        self.number += 101;
        ack(self.number, 1, rtt_us)
    }

    fn run(&mut self, rtts_us: impl IntoIterator<Item = u64>) {
        for rtt_us in rtts_us {
            let ack = self.ack(rtt_us);
            self.cdg.on_ack(&ack);
        }
    }
}

#[test]
fn cdg_backs_off_with_the_probability_of_the_gradient() {
    // 1 - exp(-g/G) with g over eight round trips, and G = 1 ms/(42 * 8) for their mean.
    const FLOWS: u64 = 4_000;
    for rise_us in [1_000, 4_000, 16_500] {
        let backs_off = |seed| {
            let mut flow = Rounds::new(&settings(), seed);
            flow.run([50_000; 10]);
            flow.run([50_000 + rise_us]);
            flow.cdg.threshold().is_finite()
        };
        let found = (0..FLOWS).filter(|&seed| backs_off(seed)).count() as f64 / FLOWS as f64;
        let mean_gradient_ms = rise_us as f64 / 1e3 / 8.0;
        let expected = 1.0 - libm::exp(-mean_gradient_ms * 42.0 * 8.0 / 1e3);
        let deviation = (expected * (1.0 - expected) / FLOWS as f64).sqrt();
        assert!((found - expected).abs() < 4.0 * deviation, "{rise_us}: {found}, not {expected}");
    }
}

#[test]
fn cdg_never_backs_off_where_the_rtt_falls_or_stays() {
    for seed in 0..100 {
        let mut flow = Rounds::new(&settings(), seed);
        flow.run((0..50).map(|round| 100_000 - 100 * (round / 3)));
        assert!(flow.cdg.threshold().is_infinite());
    }
}

#[test]
fn a_backoff_of_cdg_takes_a_round_trip_and_leaves_the_square_root_of_a_half() {
    let mut flow = Rounds::new(&settings(), 1);
    // A gradient of a second is a backoff for certain.
    flow.run([50_000, 1_050_000]);
    let before = flow.cdg.window();
    assert_eq!((before, flow.cdg.threshold()), (101.0, 71.0));
    // 101 - 50 (1 - 71/101) of them, as in proportional rate reduction.
    let ack = Ack { acked: 50, delivered: 50, first_unacked: flow.number + 50, ..ack(0, 1, 50_000) };
    flow.cdg.on_ack(&ack);
    assert_eq!(flow.cdg.window(), 101.0 - 14.0);
    flow.cdg.on_ack(&Ack { acked: 50, delivered: 50, first_unacked: flow.number + 100, ..ack });
    assert_eq!(flow.cdg.window(), 101.0 - 29.0);
    flow.cdg.on_ack(&Ack { acked: 1, delivered: 1, first_unacked: flow.number + 101, ..ack });
    assert_eq!(flow.cdg.window(), 71.0);
}

#[test]
fn cdg_gives_up_after_five_backoffs_that_leave_the_rtt_as_long_as_it_was() {
    let backoffs = |ineffective_backoffs, rtts_us: &[u64]| {
        let mut flow = Rounds::new(&CdgSettings { ineffective_backoffs, ..settings() }, 1);
        let mut count = 0;
        let mut threshold = flow.cdg.threshold();
        for &rtt_us in rtts_us {
            flow.run([rtt_us]);
            count += u32::from(flow.cdg.threshold() < threshold);
            threshold = flow.cdg.threshold();
        }
        count
    };
    // One acknowledgement backs off and the next one completes the backoff.
    let rising: Vec<_> = (1..=32).map(|second| second * 1_000_000).collect();
    assert_eq!(backoffs(5, &rising), 5);
    assert_eq!(backoffs(2, &rising), 2);
    // From 101 segments to two, by seven tenths each.
    assert!(backoffs(0, &rising) > 8);
    // Where the RTT falls in between, it was worth it.
    let falling: Vec<_> = rising[..6].iter().chain(&[6_000_000, 1_000]).chain(&rising).copied().collect();
    assert_eq!(backoffs(3, &falling), 6);
    assert_eq!(backoffs(3, &rising), 3);
}

#[test]
fn a_loss_leaves_cdg_half_of_the_window_that_it_would_have_without_backoffs() {
    for (shadow_window, left) in [(true, 50.0), (false, 35.0)] {
        let mut flow = Rounds::new(&CdgSettings { shadow_window, ..settings() }, 1);
        flow.run([50_000, 1_050_000]);
        flow.run([50_000]);
        assert_eq!((flow.cdg.window(), flow.cdg.shadow_window()), (71.0, 101.0));
        flow.cdg.on_congestion(&loss(250));
        assert_eq!(flow.cdg.window(), left);
    }
}

#[test]
fn a_loss_during_a_backoff_of_cdg_takes_nothing_more() {
    let mut flow = Rounds::new(&settings(), 1);
    flow.run([50_000, 1_050_000]);
    flow.cdg.on_congestion(&loss(250));
    assert_eq!((flow.cdg.window(), flow.cdg.shadow_window()), (71.0, 101.0));
}

#[test]
fn cdg_tolerates_losses_where_both_extremes_of_the_rtt_rise_and_not_where_only_the_smallest_does() {
    let tolerant = CdgSettings { loss_tolerance: true, backoff_factor: 0.0, ..settings() };
    // Extremes of two samples a round trip.
    let left = |extremes: [[u64; 2]; 3]| {
        let mut flow = Rounds::new(&tolerant, 1);
        for [min_us, max_us] in extremes {
            let last = flow.ack(min_us);
            flow.cdg.on_ack(&Ack { acked: 0, first_unacked: last.first_unacked - 1, ..ack(0, 1, max_us) });
            flow.cdg.on_ack(&last);
        }
        let before = flow.cdg.window();
        flow.cdg.on_congestion(&loss(250));
        flow.cdg.window() / before
    };
    near(left([[50_000, 60_000], [51_000, 61_000], [52_000, 62_000]]), 1.0, 0.01);
    near(left([[50_000, 60_000], [51_000, 60_000], [52_000, 60_000]]), 0.5, 0.02);
}

#[test]
fn cdg_without_a_queue_is_reno() {
    // From W/2 to W: n = 3/8 W^2, and W/2 in the recovery.
    let peak = ((0.25_f64 + 1.5 * 15_000.0).sqrt() - 0.5) / 0.75;
    near(every_nth("cdg", 15_000).peak(), peak, 0.02);
}

#[test]
fn cdg_alone_at_a_bottleneck_backs_off_after_the_round_trips_that_its_probabilities_give() {
    // Each round trip adds a segment, 1 ms, so that the k-th one beside a queue has a sum of min(k, 8) ms.
    let mut stays = 1.0;
    let mut expected = 0.0;
    for round in 1..200 {
        expected += stays;
        stays *= libm::exp(-0.042 * f64::from(round.min(8)));
    }
    let mut pipe = Fluid::named("cdg", Path::bottleneck(0.1, 1_000.0, 1e6), Losses::None);
    pipe.run_for(20.0);
    let (mut queues, mut backoffs) = (0.0, 0);
    let mut falls = false;
    while backoffs < 400 {
        let window = pipe.control_window();
        let queue = pipe.queue();
        pipe.step();
        let fell = pipe.control_window() < window;
        // Gradients of before a backoff count for eight round trips, so that others may follow without a queue.
        if fell && !falls && queue > 0.0 {
            queues += queue;
            backoffs += 1;
            near(pipe.control_threshold(), window * 724.0 / 1024.0, 0.02);
        }
        // A reduction goes on until the window grows again.
        falls = fell || (falls && pipe.control_window() <= window);
    }
    // The segment that the round trip adds is there when it ends, or not yet.
    let mean = queues / f64::from(backoffs);
    assert!((expected - 0.7..expected + 1.7).contains(&mean), "{mean}, not {expected}");
    assert_eq!(pipe.lost, 0);
}

#[test]
fn cdg_ends_slow_start_where_the_rtt_rises_by_an_eighth_or_acknowledgements_come_for_half_of_an_rtt() {
    let mut pipe = Fluid::named("cdg", Path::bottleneck(0.1, 10_000.0, 1e6), Losses::None);
    while pipe.control_threshold().is_infinite() {
        pipe.step();
    }
    // Evenly spaced, less than 3 ms apart: a train as soon as a round trip has more than 33 of them.
    assert!((33.0..=140.0).contains(&pipe.control_window()), "{}", pipe.control_window());
}

#[test]
fn the_handshake_is_a_sample_of_the_first_round_trip_of_cdg() {
    // Backoffs are certain. The smallest RTT rises from the handshake's to that of the data.
    let certain = CdgSettings { backoff_factor: 1e9, ..settings() };
    for (handshake_us, backs_off) in [(20_000, true), (22_000, false)] {
        let mut flow = Rounds::new(&certain, 1);
        let first = Ack { min_rtt: Span::from_us(handshake_us), ..flow.ack(22_000) };
        flow.cdg.on_ack(&first);
        flow.run([22_000]);
        assert_eq!(flow.cdg.threshold().is_finite(), backs_off);
    }
}
