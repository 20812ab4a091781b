//! Equal plans give equal runs, whoever asks, and however often.

use crate::arithmetic::any_plan;
use crate::common::*;
use longhaul_congestion::NAMES;
use longhaul_plan::*;
use longhaul_sim::{Records, Simulation};
use longhaul_units::{Span, Time};
use proptest::prelude::*;
use std::fmt::Write;
use std::num::NonZeroU32;

fn digest(plan: &Plan) -> u64 {
    let mut simulation = Simulation::new(plan.clone(), Records::none()).unwrap();
    while !simulation.advance(Time::NEVER, u64::MAX) {}
    simulation.digest()
}

/// Two flows of an algorithm, datagrams and pings share a bottleneck that loses, for 12 seconds.
fn mixture(algorithm: &str) -> Plan {
    let loss = LossModel::GilbertElliott { mean: 0.002, burst: 1.5 };
    let bottleneck = Direction { loss, ..queued(20 * MS, 10_000_000, 40) };
    let udp = even(500_000, 500, None);
    let ping = Traffic::Ping { every_ns: 100 * MS, payload_bytes: 56, count: None };
    let flows = vec![
        flow("first", [2, 3], tcp(named(algorithm), Tcp::default())),
        flow("second", [4, 5], tcp(named(algorithm), sack())),
        flow("udp", [2, 5], udp),
        flow("ping", [4, 3], ping),
    ];
    Plan { duration_ns: Some(12 * SECOND), ..with(dumbbell(1500, &[MS, 7 * MS], bottleneck), flows) }
}

/// The scenarios of the table: an algorithm each, and one for each model that draws or reorders.
fn scenarios() -> Vec<(String, Plan)> {
    let mut all: Vec<_> =
        NAMES.iter().map(|&algorithm| (format!("algorithm {algorithm}"), mixture(algorithm))).collect();
    let mut changed = |name: &str, change: &dyn Fn(&mut Direction)| {
        let mut plan = mixture("cubic");
        change(&mut plan.links[0].forward);
        all.push((name.to_owned(), plan));
    };
    changed("queue codel", &|link| {
        link.queue.discipline = QueueDiscipline::Codel(CodelParameters {
            target: Span::from_ns(5 * MS),
            interval: Span::from_ns(100 * MS),
            ecn: false,
        });
    });
    changed("queue fq-codel", &|link| {
        let (target_ns, interval_ns) = (5 * MS, 100 * MS);
        link.queue.discipline = QueueDiscipline::FqCodel(FqCodelParameters {
            target: Span::from_ns(target_ns),
            interval: Span::from_ns(interval_ns),
            quantum: NonZeroU32::new(1514).unwrap(),
            flows: 64,
            ecn: true,
        });
    });
    changed("queue pie", &|link| {
        let (target_ns, update_ns, burst_ns) = (15 * MS, 15 * MS, 150 * MS);
        link.queue.discipline = QueueDiscipline::Pie(PieParameters {
            target: Span::from_ns(target_ns),
            update: Span::from_ns(update_ns),
            alpha: 0.125,
            beta: 1.25,
            burst: Span::from_ns(burst_ns),
            ecn: false,
        });
    });
    changed("delay normal, overtaking", &|link| {
        link.delay = DelayModel::Normal { mean: Span::from_ns(20 * MS), sd: Span::from_ns(3 * MS) };
        link.reorder = true;
    });
    changed("delay lognormal, correlated", &|link| {
        let jitter = Distribution::Lognormal { mu: 14.0, sigma: 1.0 };
        link.delay = DelayModel::Random {
            mean: Span::from_ns(22 * MS),
            base: Span::from_ns(20 * MS),
            jitter,
            correlation: 0.9,
        };
    });
    changed("loss weibull gaps", &|link| {
        let gap = Distribution::Weibull { shape: 0.7, scale: 5e8, location: 0.0 };
        let burst = Distribution::Pareto { shape: 1.5, scale: 1.0 };
        link.loss = LossModel::Renewal { gap, burst, unit: GapUnit::Wall, lasts: None };
    });
    changed("copies, wrong bits, stragglers", &|link| {
        (link.duplicate, link.corrupt) = (probability(0.01), probability(0.01));
        link.reordering =
            Some(ReorderModel::Share { probability: probability(0.01), delay: Span::from_ns(30 * MS) });
    });
    changed("routes", &|link| {
        let route =
            |delay_ns| Direction { loss: LossModel::None {}, ..queued(delay_ns, 5_000_000, 40) }.link_model();
        let routes = vec![route(15 * MS), route(25 * MS)];
        link.bundle = Some(Box::new(BundleModel { policy: Policy::RoundRobin, routes, resequence: None }));
    });
    all
}

#[test]
fn digests_are_those_of_the_table_in_every_profile() {
    let mut table = String::new();
    for (name, plan) in scenarios() {
        writeln!(table, "{:016x} {name}", digest(&plan)).unwrap();
    }
    // After a change that is meant to move packets: put this in the place of the file.
    assert_eq!(table, include_str!("digests.txt"), "the table is now\n{table}");
}

#[test]
fn a_run_in_another_thread_is_the_same_run() {
    let plan = mixture("stochastic");
    let here = digest(&plan);
    let there = std::thread::scope(|scope| {
        let threads = [(); 2].map(|()| scope.spawn(|| digest(&plan)));
        threads.map(|thread| thread.join().unwrap())
    });
    assert_eq!(there, [here; 2]);
}

#[test]
fn another_seed_is_another_run() {
    let plan = mixture("cubic");
    assert_ne!(digest(&plan), digest(&Plan { seed: plan.seed + 1, ..plan.clone() }));
}

#[test]
fn a_flow_on_other_links_moves_nothing_of_the_first() {
    let lossy = || lossy(10 * MS, LossModel::Independent { probability: probability(0.003) });
    let slow = || queued(3 * MS, 5_000_000, 30);
    let first = || flow("first", [0, 1], tcp(named("stochastic"), Tcp::default()));
    let second = || flow("second", [2, 3], tcp(named("bbr"), Tcp::default()));
    let run = |flows| {
        let plan = with(apart(1500, vec![lossy(), slow()]), flows);
        Run::whole(&Plan { duration_ns: Some(5 * SECOND), ..plan }).1
    };
    let alone = run(vec![first()]);
    for (both, place) in [(run(vec![first(), second()]), 0), (run(vec![second(), first()]), 1)] {
        assert_eq!(alone["flows"][0], both["flows"][place]);
        assert_eq!(alone["links"][0], both["links"][0]);
        assert_ne!(alone["links"][1], both["links"][1], "the second flow does run");
    }
}

#[test]
fn records_move_nothing() {
    let mut plan = mixture("reno");
    plan.measure =
        Measure { every_ns: 50 * MS, packet_links: vec![0], packet_window_ns: SECOND, ..plan.measure };
    let records = Records::new(&plan, |_| Ok(Box::new(std::io::sink()))).unwrap();
    let mut simulation = Simulation::new(plan.clone(), records).unwrap();
    assert!(simulation.advance(Time::NEVER, u64::MAX));
    assert_eq!(simulation.digest(), digest(&plan));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn how_the_calls_are_cut_changes_nothing(
        plan in any_plan(),
        cuts in prop::collection::vec((0..100 * MS, 1u64..3000), 1..20),
    ) {
        let (end, whole) = Run::whole(&plan);
        let mut simulation = Simulation::new(plan.clone(), Records::none()).unwrap();
        let mut until = Time::ZERO;
        for (step_ns, events) in cuts.iter().cycle() {
            until = Time::from_ns(until.ns() + step_ns);
            if simulation.advance(until, *events) {
                break;
            }
        }
        prop_assert_eq!(simulation.now(), end);
        prop_assert_eq!(simulation.finish().unwrap(), whole);
    }
}
