//! However a run is divided into shards, it is the same to the picosecond and the last counter.

use crate::common::*;
use crate::schedulers::*;
use longhaul_plan::*;
use longhaul_sim::{Records, Scheduler, Simulation};
use longhaul_units::{Rate, Span, Time};
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_ring_in_shards_is_the_same_run(
        plan in any_ring(),
        partition in prop::collection::vec(0u32..4, 12),
        at_once in 1u64..5_000,
        looks_ahead in any::<bool>(),
        threads in prop::bool::weighted(0.25),
    ) {
        let plan = apart_by(plan, &partition);
        let (expected, _) = run(&plan, Scheduler::Calendar, u64::MAX);
        let scheduler = if looks_ahead { Scheduler::Lookahead } else { Scheduler::Calendar };
        let (outcome, _) = run_in_shards(&plan, scheduler, at_once, &partition, threads);
        prop_assert_eq!(difference(&outcome.counts, &expected.counts, ""), None);
        prop_assert_eq!(different_file(&outcome, &expected), None);
    }

    #[test]
    fn any_wire_between_shards_is_the_same_wire(
        plan in any_ring(),
        wires in prop::collection::vec((any_wire(), any_wire()), 4),
        recorded in any::<bool>(),
        threads in prop::bool::weighted(0.25),
    ) {
        // Each router with its hosts is a shard. Copies of pings would be an obstacle.
        let mut plan = plan;
        plan.flows.retain(|flow| !matches!(flow.traffic, Traffic::Ping { .. }));
        for (link, (forward, reverse)) in plan.links.iter_mut().zip(wires) {
            (link.forward, link.reverse) = (forward, reverse);
        }
        if recorded {
            plan.measure.packet_links = vec![0, 1, 2, 3];
            plan.measure.captures = vec![0];
            plan.measure.packet_window_ns = SECOND;
        }
        let partition: Vec<u32> = (0..12).map(|node| if node < 4 { node } else { (node - 4) / 2 }).collect();
        let (expected, _) = run(&plan, Scheduler::Calendar, u64::MAX);
        let (outcome, _) = run_in_shards(&plan, Scheduler::Automatic, 500, &partition, threads);
        prop_assert_eq!(difference(&outcome.counts, &expected.counts, ""), None);
        prop_assert_eq!(different_file(&outcome, &expected), None);
    }

    #[test]
    fn a_change_inside_a_shard_changes_no_other(
        plan in any_ring(),
        partition in prop::collection::vec(0u32..3, 4),
        at_ns in 0..2 * SECOND,
        link in 4usize..12,
        present in any::<bool>(),
        threads in prop::bool::weighted(0.25),
    ) {
        // The links of hosts are not cut.
        let partition: Vec<u32> = (0..12).map(|node| partition[if node < 4 { node } else { (node - 4) / 2 }]).collect();
        let rate = Some(RateModel::constant(Rate::from_bits_per_s(3_000_000).unwrap()));
        let change = if present {
            Change { rate, ..Change::default() }
        } else {
            Change { present: Some(false), up: Some(false), reroute: Some(RouteCosts::Current), ..Change::default() }
        };
        let plan = apart_by(plan, &partition);
        let event = Event { at_ns, link, direction: None, route: None, change, cause: None };
        let plan = Plan { events: vec![event], ..plan };
        let (expected, _) = run(&plan, Scheduler::Calendar, u64::MAX);
        let (outcome, _) = run_in_shards(&plan, Scheduler::Automatic, 100, &partition, threads);
        prop_assert_eq!(difference(&outcome.counts, &expected.counts, ""), None);
        prop_assert_eq!(different_file(&outcome, &expected), None);
    }
}

/// What may happen on a wire that is cut.
fn any_wire() -> impl Strategy<Value = Direction> {
    let delay = prop_oneof![
        Just(DelayModel::constant(Span::from_ns(3 * MS))),
        Just(DelayModel::Normal { mean: Span::from_ns(4 * MS), sd: Span::from_ns(MS / 4) }),
        Just(DelayModel::Uniform { mean: Span::from_ns(4 * MS), half_width: Span::from_ns(2 * MS) }),
        Just(DelayModel::Random {
            mean: Span::from_ns(4 * MS),
            base: Span::from_ns(2 * MS),
            jitter: Distribution::Exponential { mean: 2e6 },
            correlation: 0.5,
        }),
    ];
    let rate = prop_oneof![
        Just(RateModel::constant(Rate::from_bits_per_s(8_000_000).unwrap())),
        Just(RateModel::constant(Rate::from_bits_per_s(40_000_000).unwrap())),
        Just(RateModel::Unlimited {}),
    ];
    let reordering = prop_oneof![
        3 => Just(None),
        1 => Just(Some(ReorderModel::Share { probability: probability(0.05), delay: Span::from_ns(9 * MS) })),
    ];
    let share = prop_oneof![Just(0.0), Just(0.01)];
    (delay, rate, reordering, any::<bool>(), share.clone(), share).prop_map(
        |(delay, rate, reordering, reorder, corrupt, duplicate)| Direction {
            delay,
            rate,
            reorder,
            reordering,
            corrupt: probability(corrupt),
            duplicate: probability(duplicate),
            ..queued(0, 1, 40)
        },
    )
}

/// The plan, with a delay of a millisecond where links between shards have less: else, these would go microsecond by
/// microsecond.
fn apart_by(mut plan: Plan, partition: &[u32]) -> Plan {
    for link in
        plan.links.iter_mut().filter(|link| partition[link.endpoints[0]] != partition[link.endpoints[1]])
    {
        for way in [&mut link.forward, &mut link.reverse] {
            way.delay = DelayModel::constant(way.delay.mean().max(Span::from_ns(MS)));
        }
    }
    plan
}

/// The first line of a record that differs, and its file.
fn different_file(outcome: &Outcome, expected: &Outcome) -> Option<String> {
    outcome.files.iter().find_map(|(name, text)| {
        let other = &expected.files[name];
        let pairs = text.lines().zip(other.lines()).enumerate();
        let line = pairs.clone().find(|(_, (a, b))| a != b);
        let line = line.map(|(number, (a, b))| format!("{name}:{number}: {a} and {b}"));
        line.or_else(|| {
            (text.len() != other.len())
                .then(|| format!("{name} has {} and {} bytes", text.len(), other.len()))
        })
    })
}

/// Two sites of six hosts each, 10 ms apart; every host sends to one of the other site.
fn two_sites(wan: Direction) -> Plan {
    let mut kinds = vec![NodeKind::Router; 2];
    let mut links = vec![([0, 1], wan.clone(), wan)];
    for host in 2..14 {
        kinds.push(NodeKind::Host);
        links.push(([host, host % 2], queued(MS / 10, 100_000_000, 100), queued(MS / 10, 100_000_000, 100)));
    }
    let flows = (2..14).map(|host| {
        let to = if host % 2 == 0 { host + 1 } else { host - 1 };
        flow(&format!("f{host}"), [host, to], tcp(named("cubic"), sack()))
    });
    let plan = network(1500, &kinds, links);
    Plan { duration_ns: Some(SECOND), ..with(plan, flows.collect()) }
}

fn by_site(plan: &Plan) -> Vec<u32> {
    (0..plan.nodes.len()).map(|node| node as u32 % 2).collect()
}

#[test]
fn shards_on_threads_are_the_same_run() {
    // Enough events for threads; with a queue that needs the calendar, and without.
    let plain = two_sites(queued(10 * MS, 1_000_000_000, 500));
    let mut marked = plain.clone();
    for link in &mut marked.links[1..] {
        link.forward.queue.discipline = QueueDiscipline::Codel(CodelParameters {
            target: Span::from_ns(5 * MS),
            interval: Span::from_ns(100 * MS),
            ecn: false,
        });
    }
    for (plan, looks_ahead) in [(plain, true), (marked, false)] {
        let (expected, _) = run(&plan, Scheduler::Automatic, u64::MAX);
        let (outcome, looked) = run_in_shards(&plan, Scheduler::Automatic, 100_000, &by_site(&plan), false);
        assert_eq!(looked, looks_ahead);
        assert_eq!(difference(&outcome.counts, &expected.counts, ""), None);
        assert_eq!(different_file(&outcome, &expected), None);
    }
}

#[test]
fn captured_packets_that_cross_are_recorded_once() {
    let mut plan = two_sites(queued(10 * MS, 1_000_000_000, 500));
    plan.measure = Measure {
        packet_links: vec![0, 1],
        packet_window_ns: SECOND,
        captures: vec![0, 1],
        every_ns: 300 * MS,
        ..plan.measure
    };
    plan.duration_ns = Some(SECOND / 4);
    let (expected, _) = run(&plan, Scheduler::Calendar, u64::MAX);
    for scheduler in [Scheduler::Calendar, Scheduler::Lookahead, Scheduler::Automatic] {
        let (outcome, _) = run_in_shards(&plan, scheduler, 1_000, &by_site(&plan), false);
        assert!(expected.files["segments.csv"].lines().count() > 5_000);
        assert_eq!(different_file(&outcome, &expected), None);
    }
}

#[test]
fn packets_that_a_removed_link_ends_are_recorded_when_they_end() {
    // They have been offered long before, and other rows have been written since.
    let mut plan = two_sites(queued(10 * MS, 1_000_000_000, 500));
    let change = Change { present: Some(false), up: Some(false), ..Change::default() };
    let at_ns = SECOND / 4;
    plan.events = vec![Event { at_ns, link: 1, direction: None, route: None, change, cause: None }];
    plan.measure =
        Measure { packet_links: vec![0, 1], packet_window_ns: SECOND, every_ns: 300 * MS, ..plan.measure };
    plan.duration_ns = Some(SECOND / 2);
    let (expected, _) = run(&plan, Scheduler::Calendar, u64::MAX);
    let ended = |line: &&str| line.starts_with("l1,") && line.contains(",down,");
    assert!(expected.files["packets.csv"].lines().filter(ended).count() > 50);
    let (looked_ahead, _) = run(&plan, Scheduler::Automatic, 1_000);
    assert_eq!(different_file(&looked_ahead, &expected), None);
    let (divided, _) = run_in_shards(&plan, Scheduler::Automatic, 1_000, &by_site(&plan), false);
    assert_eq!(different_file(&divided, &expected), None);
}

#[test]
fn what_cannot_be_divided_says_why() {
    let refused = |plan: &Plan| {
        let mut simulation = Simulation::new(plan.clone(), Records::none()).unwrap();
        simulation.divide(&by_site(plan)).err().unwrap().to_string()
    };
    let jitter = DelayModel::Normal { mean: Span::from_ns(20 * MS), sd: Span::from_ns(3 * MS) };
    let plan = two_sites(Direction { delay: jitter, ..queued(0, 10_000_000, 40) });
    assert!(refused(&plan).contains("link l0 cannot be cut"), "{}", refused(&plan));
    let plan = two_sites(direction(0, None));
    assert!(refused(&plan).contains("link l0 cannot be cut"), "{}", refused(&plan));
    let plan = two_sites(queued(10 * MS, 1_000_000_000, 500));
    let changed = Plan { events: vec![turn(SECOND, false)], ..plan.clone() };
    assert!(refused(&changed).contains("link l0 cannot be cut"), "{}", refused(&changed));
    let flows = vec![Flow { stop_ns: Some(SECOND), ..plan.flows[0].clone() }];
    let endless = Plan { duration_ns: None, flows, ..plan.clone() };
    assert!(refused(&endless).contains("no duration"), "{}", refused(&endless));
    let mut simulation = Simulation::new(plan, Records::none()).unwrap();
    assert!(simulation.divide(&[0, 1]).err().unwrap().to_string().contains("each node"));
}

#[test]
fn a_flow_that_is_paced_from_outside_is_paced_in_its_shard() {
    let plan = two_sites(queued(10 * MS, 1_000_000_000, 500));
    let held = |partition: &[u32]| {
        let mut simulation = Simulation::new(plan.clone(), Records::none()).unwrap();
        simulation.divide(partition).unwrap();
        simulation.advance(Time::from_ns(SECOND / 4), u64::MAX);
        assert!(simulation.pace(3, Rate::from_bits_per_s(2_000_000)));
        simulation.advance(Time::NEVER, u64::MAX);
        (simulation.progress(), simulation.digest())
    };
    assert_eq!(held(&by_site(&plan)), held(&vec![0; plan.nodes.len()]));
}

#[test]
fn the_load_of_a_plan_is_where_its_packets_are() {
    // Six flows each way share 1 Gbit/s; each host is behind 100 Mbit/s and could send 8,333 packets of 1500 bytes a second.
    let plan = two_sites(queued(10 * MS, 1_000_000_000, 500));
    let load = Simulation::new(plan.clone(), Records::none()).unwrap().load(&plan);
    assert_eq!(load.obstacle, None);
    let host = 1e8 / (8.0 * (1500.0 - HEADER_BYTES as f64));
    near("host's packets", load.links[1].packets_per_s, 3.0 * host, 1e-9);
    near("packets between the sites", load.links[0].packets_per_s, 18.0 * host, 1e-9);
    // A host sends data and acknowledgements over one link, and receives both.
    near("host's work", load.nodes[2], host * 1.5 * (45.0 + 53.0 + 10.0), 1e-9);
    // A router passes on what its six hosts send, and what comes for them.
    near("router's work", load.nodes[0], 6.0 * host * 1.5 * 20.0, 1e-9);
    let lookahead = load.links[0].lookahead;
    assert_eq!(
        lookahead,
        Span::from_ns(10 * MS) + Rate::from_bits_per_s(1_000_000_000).unwrap().time_for(20)
    );
}

#[test]
fn work_takes_longer_where_links_cannot_look_ahead() {
    let load = |delay| {
        let plan = two_sites(Direction { delay, ..queued(0, 10_000_000, 40) });
        Simulation::new(plan.clone(), Records::none()).unwrap().load(&plan)
    };
    let mean = Span::from_ns(20 * MS);
    let constant = load(DelayModel::Constant { delay: mean });
    let jittered = load(DelayModel::Normal { mean, sd: Span::from_ns(MS) });
    for (slow, fast) in jittered.nodes.iter().zip(&constant.nodes) {
        near("work", *slow, 2.8 * fast, 1e-9);
    }
}
