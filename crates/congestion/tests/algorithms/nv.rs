//! NV: the queue that it keeps, how it shrinks, and how the smallest RTT misleads it.

use crate::fluid::near;
use crate::loss_and_delay::{ack, loss};
use crate::pipe::{Line, Pipe};
use longhaul_congestion::{Ack, AlgorithmSettings, CongestionControl, Delivery, Nv, NvSettings};
use longhaul_units::{Span, Time};

/// NV that forgets nothing but once, after 2 s.
fn constant() -> NvSettings {
    NvSettings { reset_period_ns: 1_000_000_000_000, ..NvSettings::default() }
}

fn pipe(settings: NvSettings) -> Pipe {
    Pipe::new(&AlgorithmSettings::Nv(settings), Line::new(0.1))
}

#[test]
fn nv_keeps_its_pad_in_the_queue_and_follows_the_rate() {
    // 500 and 1,000 segments per second in 0.1 s are 50 and 100 segments, and ten more may wait.
    let mut pipe = pipe(constant());
    for (capacity, path) in [(500.0, 50.0), (1_000.0, 100.0)] {
        pipe.line.capacity = capacity;
        pipe.run_for(30.0);
        for _ in 0..2_000 {
            pipe.step();
            let window = pipe.control.window();
            assert!((path + 8.0..=path + 12.0).contains(&window), "{window} at {capacity}");
        }
    }
    assert_eq!(pipe.lost, 0);
}

#[test]
fn nv_takes_its_own_queue_for_the_path_when_the_smallest_rtt_is_replaced() {
    // The smallest RTT of a period is that of its beginning, and the queue becomes ten segments more than that in the
    // next one: ten segments in two periods, of 5 s on average.
    let mut pipe = pipe(NvSettings::default());
    pipe.run_for(30.0);
    let first = pipe.queue();
    pipe.run_for(400.0);
    near(pipe.queue() - first, 10.0 * 400.0 / 10.0, 0.15);
}

/// Acknowledgements of NV alone, with a window's worth of samples in each round trip.
struct Rounds {
    nv: Nv,
    number: u64,
}

impl Rounds {
    /// A round trip, in which `delivered` segments were.
    fn run(&mut self, rtt_us: u64, delivered: u32) {
        for _ in 0..100 {
            self.number += 1;
            let delivery = Delivery {
                delivered,
                interval: Span::from_us(rtt_us),
                prior_delivered: 0,
                total_delivered: 0,
                in_flight_at_send: delivered,
                newly_lost: 0,
                lost: 0,
                app_limited: false,
            };
            self.nv.on_ack(&Ack {
                delivery: Some(delivery),
                window_limited: false,
                ..ack(self.number, 1, rtt_us)
            });
        }
    }
}

fn rounds(settings: &NvSettings) -> Rounds {
    Rounds { nv: Nv::new(settings, 100.0), number: 0 }
}

#[test]
fn nv_gives_up_thirty_per_cent_of_what_is_above_the_limit() {
    let mut flow = rounds(&constant());
    flow.run(100_000, 100);
    // Half of the rate: 50 segments without a queue and ten are the limit, once the smoothed RTT is there.
    for _ in 0..2 {
        flow.run(200_000, 100);
        assert_eq!(flow.nv.window(), 100.0);
    }
    let mut last = flow.nv.window();
    while last > 60.0 {
        flow.run(200_000, 100);
        flow.run(200_000, 100);
        let (window, threshold) = (flow.nv.window(), flow.nv.threshold());
        if window == last {
            continue;
        }
        // The largest rate since the last decision may be one of before: the limit is 60 or more.
        assert!((60.0..=110.0).contains(&threshold), "{threshold}");
        let excess = last - threshold;
        let taken = if excess > 2.0 { (excess * 38.0 / 128.0).floor().max(2.0) } else { excess };
        assert_eq!(window, last - taken);
        last = window;
    }
    assert_eq!(last, flow.nv.threshold());
}

#[test]
fn a_loss_leaves_nv_four_fifths_and_a_timeout_halves_its_growth() {
    let mut nv = Nv::new(&NvSettings::default(), 100.0);
    nv.on_congestion(&loss(250));
    // 819/1024, rounded down.
    assert_eq!(nv.window(), 79.0);
    nv.on_timeout(Time::from_ns(3_000_000_000), 250);
    assert_eq!((nv.window(), nv.threshold()), (1.0, 63.0));
}

#[test]
fn nv_does_not_grow_after_a_loss_until_it_has_decided() {
    let mut flow = rounds(&constant());
    flow.run(100_000, 100);
    flow.nv.on_congestion(&loss(250));
    let left = flow.nv.window();
    let limited = |flow: &mut Rounds| {
        flow.number += 1;
        let growing = Ack { delivery: None, ..ack(flow.number, 50, 100_000) };
        flow.nv.on_ack(&growing);
        flow.nv.on_ack(&growing);
    };
    // The recovery lasts until 1,000 segments are acknowledged.
    flow.number = 1_000;
    limited(&mut flow);
    assert_eq!(flow.nv.window(), left);
    // Its first round trip ends at once, and the second one with samples enough.
    flow.run(100_000, 100);
    flow.run(100_000, 100);
    flow.run(100_000, 100);
    limited(&mut flow);
    assert!(flow.nv.window() > left, "{}", flow.nv.window());
}
