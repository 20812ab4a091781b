//! Looking ahead and the calendar work out the same run, to the picosecond and the last counter.

use crate::common::*;
use longhaul_plan::*;
use longhaul_sim::{Records, Scheduler, Simulation};
use longhaul_units::{Rate, Span, Time};
use proptest::prelude::*;
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::num::NonZeroU64;
use std::sync::{Arc, Mutex};

/// A run's counts, its digest, and every file it wrote, by name.
#[derive(PartialEq)]
pub struct Outcome {
    pub counts: Value,
    pub files: BTreeMap<String, String>,
}

#[derive(Clone, Default)]
struct File(Arc<Mutex<Vec<u8>>>);

impl Write for File {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

pub fn run(plan: &Plan, scheduler: Scheduler, at_once: u64) -> (Outcome, bool) {
    run_in_shards(plan, scheduler, at_once, &vec![0; plan.nodes.len()], false)
}

/// The same, with each node in one of several shards, each on a thread even where that does not pay.
pub fn run_in_shards(
    plan: &Plan,
    scheduler: Scheduler,
    at_once: u64,
    partition: &[u32],
    threads: bool,
) -> (Outcome, bool) {
    let mut files = BTreeMap::new();
    let records = Records::new(plan, |name| {
        let file = File::default();
        files.insert(name.to_owned(), file.clone());
        Ok(Box::new(file))
    });
    let mut simulation = Simulation::new(plan.clone(), records.unwrap()).unwrap().with_scheduler(scheduler);
    simulation.divide(partition).unwrap();
    if threads {
        simulation.always_on_threads();
    }
    assert_eq!(simulation.shard_count(), partition.iter().max().map_or(1, |&last| last as usize + 1));
    let mut looked = false;
    while !simulation.advance(Time::NEVER, at_once) {
        looked |= simulation.lookahead_is_active();
    }
    looked |= simulation.lookahead_is_active();
    let counts = simulation.finish().unwrap();
    let text = |file: &File| file.0.lock().unwrap().escape_ascii().to_string().replace("\\n", "\n");
    let files = files.iter().map(|(name, file)| (name.clone(), text(file))).collect();
    (Outcome { counts, files }, looked)
}

/// Where two results first differ.
pub fn difference(a: &Value, b: &Value, at: &str) -> Option<String> {
    match (a, b) {
        (Value::Object(a), Value::Object(b)) if a.len() == b.len() => {
            a.iter().find_map(|(key, each)| difference(each, b.get(key)?, &format!("{at}.{key}")))
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            let mut pairs = a.iter().zip(b).enumerate();
            pairs.find_map(|(place, (a, b))| difference(a, b, &format!("{at}[{place}]")))
        }
        _ => (a != b).then(|| format!("{at}: {a} and {b}")),
    }
}

/// Few values, so that packets often meet at the same instant.
fn any_pipe() -> impl Strategy<Value = Direction> {
    let delay = prop_oneof![Just(0), Just(MS), Just(5 * MS), 0..20 * MS];
    let rate = prop_oneof![Just(8_000_000), Just(40_000_000), 1_000_000u64..100_000_000];
    let limit = prop_oneof![
        Just((None, None)),
        (1u64..40).prop_map(|packets| (Some(packets), None)),
        (3_000u64..60_000).prop_map(|bytes| (None, Some(bytes))),
    ];
    let gap = Distribution::Weibull { shape: 0.7, scale: 2e8, location: 0.0 };
    let burst = Distribution::Constant { value: 1.0 };
    let loss = prop_oneof![
        3 => Just(LossModel::None {}),
        1 => (0.0..0.05).prop_map(|share| LossModel::Independent { probability: probability(share) }),
        1 => (5u64..50).prop_map(|every| LossModel::Periodic { every: NonZeroU64::new(every).unwrap() }),
        1 => Just(LossModel::Renewal { gap, burst, unit: GapUnit::Wall, lasts: None }),
    ];
    (delay, rate, limit, loss).prop_map(|(delay_ns, rate, (packets, bytes), loss)| Direction {
        loss,
        queue: QueueModel { limit_packets: packets, limit_bytes: bytes, ..QueueModel::default() },
        ..direction(delay_ns, Some(rate))
    })
}

fn any_traffic() -> impl Strategy<Value = Traffic> {
    let requests = Traffic::Requests {
        gap: Distribution::Exponential { mean: 1e8 },
        size: Distribution::Constant { value: 30_000.0 },
        cc: named("reno"),
        tcp: Tcp::default(),
    };
    prop_oneof![
        (0..longhaul_congestion::NAMES.len(), 1u32..3).prop_map(|(algorithm, streams)| Traffic::Tcp {
            streams,
            cc: named(longhaul_congestion::NAMES[algorithm]),
            tcp: sack(),
            bytes: None,
            bits_per_s: None,
            held: false,
            subflows: vec![],
        }),
        Just(requests),
        prop_oneof![Just(1_000_000u64), 10_000u64..4_000_000].prop_map(|rate| even(rate, 1_000, None)),
        Just(Traffic::Ping { every_ns: 10 * MS, payload_bytes: 972, count: None }),
    ]
}

/// Hosts on a ring of four routers, two on each, and flows between any of them.
pub fn any_ring() -> impl Strategy<Value = Plan> {
    let pipes = prop::collection::vec((any_pipe(), any_pipe()), 12);
    let flows = prop::collection::vec((any_traffic(), 0usize..8, 1usize..8, 0..2u64), 1..9);
    let recorded = (prop::collection::vec(0usize..12, 0..6), prop_oneof![Just(2 * MS), Just(SECOND)]);
    (pipes, flows, any::<u64>(), recorded).prop_map(
        |(pipes, flows, seed, (packet_links, packet_window_ns))| {
            let ends = |link: usize| if link < 4 { [link, (link + 1) % 4] } else { [(link - 4) / 2, link] };
            let kinds = [[NodeKind::Router; 4].as_slice(), &[NodeKind::Host; 8]].concat();
            let links = pipes.into_iter().enumerate().map(|(link, (there, back))| (ends(link), there, back));
            let plan = network(1500, &kinds, links.collect());
            let flows = flows.into_iter().enumerate().map(|(number, (traffic, from, on, start))| {
                let ends = [4 + from, 4 + (from + on) % 8];
                Flow { start_ns: start * 500 * MS, ..flow(&format!("f{number}"), ends, traffic) }
            });
            let measure =
                Measure { every_ns: 300 * MS, packet_links, packet_window_ns, ..plan.measure.clone() };
            Plan { seed, duration_ns: Some(2 * SECOND), measure, ..with(plan, flows.collect()) }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn both_schedulers_work_out_the_same_run(plan in any_ring(), at_once in 1u64..5_000) {
        let (expected, _) = run(&plan, Scheduler::Calendar, u64::MAX);
        let (outcome, looked) = run(&plan, Scheduler::Lookahead, at_once);
        prop_assert!(looked);
        prop_assert_eq!(difference(&outcome.counts, &expected.counts, ""), None);
        prop_assert!(outcome == expected, "records differ");
    }

    #[test]
    fn a_change_may_end_looking_ahead_but_changes_nothing_else(plan in any_ring(), at_ns in 0..2 * SECOND, link in 0usize..12) {
        let change = Change { rate: Some(RateModel::constant(Rate::from_bits_per_s(3_000_000).unwrap())), ..Change::default() };
        let event = Event { at_ns, link, direction: None, route: None, change, cause: None };
        let plan = Plan { events: vec![event], ..plan };
        let (expected, _) = run(&plan, Scheduler::Calendar, u64::MAX);
        let (outcome, _) = run(&plan, Scheduler::Automatic, 100);
        prop_assert_eq!(difference(&outcome.counts, &expected.counts, ""), None);
        prop_assert!(outcome == expected, "records differ");
    }
}

#[test]
fn what_cannot_look_ahead_keeps_to_the_calendar() {
    let jitter = DelayModel::Normal { mean: Span::from_ns(20 * MS), sd: Span::from_ns(MS) };
    let links: [(&str, Direction); 3] = [
        ("jitter", Direction { delay: jitter, ..queued(0, 10_000_000, 40) }),
        ("copies", Direction { duplicate: probability(0.01), ..queued(5 * MS, 10_000_000, 40) }),
        ("no time at all", direction(0, None)),
    ];
    for (name, link) in links {
        let plan = with(pipe(1500, link), vec![flow("bulk", [0, 1], tcp(named("reno"), sack()))]);
        let plan = Plan { duration_ns: Some(SECOND / 10), ..plan };
        let (_, looked) = run(&plan, Scheduler::Lookahead, 1_000);
        assert!(!looked, "{name}");
    }
}

#[test]
fn packets_too_big_for_their_way_are_refused_by_both_schedulers() {
    let traffic = [
        even(1_000_000, 1_473, None),
        Traffic::Ping { every_ns: 10 * MS, payload_bytes: 1_473, count: None },
    ];
    for traffic in traffic {
        let plan = with(pipe(1500, queued(MS, 10_000_000, 40)), vec![flow("big", [0, 1], traffic)]);
        let plan = Plan { duration_ns: Some(SECOND), ..plan };
        let (expected, _) = run(&plan, Scheduler::Calendar, u64::MAX);
        let (outcome, _) = run(&plan, Scheduler::Lookahead, u64::MAX);
        assert_eq!(expected.counts["packets"]["delivered"], 0, "one byte more than the link takes");
        assert_eq!(difference(&outcome.counts, &expected.counts, ""), None);
    }
}

#[test]
fn the_end_is_recorded_once_even_if_it_is_time_for_a_sample() {
    let bulk = flow("bulk", [0, 1], tcp(named("reno"), sack()));
    let plan = with(pipe(1500, queued(MS, 10_000_000, 40)), vec![bulk]);
    for (end_ns, last) in [(3 * SECOND, 3 * SECOND), (3 * SECOND - MS, 3 * SECOND - MS)] {
        let (outcome, _) =
            run(&Plan { duration_ns: Some(end_ns), ..plan.clone() }, Scheduler::Automatic, u64::MAX);
        let rows = outcome.files["flows.csv"].lines().skip(1);
        let times: Vec<u64> = rows.map(|row| row.split(',').next().unwrap().parse().unwrap()).collect();
        assert_eq!(times, [0, SECOND, 2 * SECOND, last]);
    }
}

#[test]
fn lookahead_begins_again_when_traffic_does() {
    // With nothing to do, lookahead fails in its first milliseconds.
    let plan = apart(1500, vec![direction(MS, Some(100_000_000)); 50]);
    let bulk = |pair: usize| Flow {
        start_ns: 60 * MS,
        ..flow(&format!("bulk{pair}"), [2 * pair, 2 * pair + 1], tcp(named("reno"), sack()))
    };
    let plan = Plan { duration_ns: Some(SECOND), ..with(plan, (0..50).map(bulk).collect()) };
    let mut simulation = Simulation::new(plan, Records::none()).unwrap();
    simulation.advance(Time::from_ns(50 * MS), u64::MAX);
    assert!(!simulation.lookahead_is_active());
    simulation.advance(Time::from_ns(200 * MS), u64::MAX);
    assert!(simulation.lookahead_is_active());
}
