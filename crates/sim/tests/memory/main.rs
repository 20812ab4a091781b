//! What a simulated flow takes on the heap, counted by the allocator.
//!
//! In a process of its own, one test at a time: another thread's memory would be counted, too.

#[path = "../sim/common.rs"]
#[expect(dead_code, reason = "made for other tests")]
mod common;

use common::*;
use longhaul_congestion::Reno;
use longhaul_plan::{Distribution, Flow, NodeKind, Plan, Traffic};
use longhaul_sim::{Records, Simulation};
use longhaul_transport::Connection;
use longhaul_units::{Histogram, Time};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};
use std::alloc::System;
use std::sync::{Mutex, PoisonError};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

const FEW: usize = 1_000;
const MANY: usize = 2_000;

/// Two hosts, and so many flows that begin from `start_ns` on, one after the other, and then send one
/// segment in 12 s.
fn plan(flows: usize, start_ns: u64) -> Plan {
    let links = vec![([0, 1], direction(10 * MS, FAST), direction(10 * MS, FAST))];
    let network = network(1500, &[NodeKind::Host; 2], links);
    let traffic = Traffic::Tcp {
        streams: 1,
        cc: named("reno"),
        tcp: sack(),
        bytes: None,
        bits_per_s: Some(1_000),
        held: false,
        subflows: vec![],
    };
    let flows = (0..flows).map(|number| {
        let begun = start_ns + number as u64 * MS / 10;
        Flow { start_ns: begun, ..flow(&format!("flow{number:04}"), [0, 1], traffic.clone()) }
    });
    with(Plan { duration_ns: Some(30 * SECOND), ..network }, flows.collect())
}

/// What a run of so many flows holds after two seconds.
fn held(flows: usize, start_ns: u64) -> usize {
    let region = Region::new(ALLOCATOR);
    let mut simulation = Simulation::new(plan(flows, start_ns), Records::none()).unwrap();
    assert!(!simulation.advance(Time::from_ns(2 * SECOND), u64::MAX));
    let all = region.change();
    all.bytes_allocated - all.bytes_deallocated
}

/// Bytes that each further flow takes.
fn of_a_flow(start_ns: u64) -> f64 {
    (held(MANY, start_ns) - held(FEW, start_ns)) as f64 / (MANY - FEW) as f64
}

/// Of a flow that has not begun, in bytes: what its ends are told, and where they are kept.
const PLANNED: usize = {
    let (ends, application, in_common) = (2 * 80, 96, 64);
    let (name, facts) = (2 * size_of::<usize>() + 8, 40);
    let (agents, pair) = (2 * 16, 32);
    // Of each end: where its timer stands, and its place on its host; thrice 8 bytes in the calendar.
    let timers = 2 * (8 + 4 + 3 * 8);
    let busy = 2;
    ends + application + in_common + name + facts + agents + pair + timers + busy
};

/// What comes to that when a flow begins, sends a segment, and waits.
const BEGUN: usize = {
    let algorithm = size_of::<[usize; 2]>() + size_of::<Reno>();
    // At the end that sends; a test of the transport has its size.
    let sender = 440;
    let round_trips = size_of::<Histogram>() + 4 * size_of::<(u16, u32)>();
    2 * size_of::<Connection>() + sender + algorithm + round_trips
};

static ALONE: Mutex<()> = Mutex::new(());

#[test]
fn a_flow_takes_what_its_two_connections_take_and_little_more() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let (planned, begun) = (of_a_flow(20 * SECOND), of_a_flow(0));
    // Lists grow by doubling, and are not always full.
    let slack = 1.02;
    assert!(planned <= slack * PLANNED as f64, "not begun: {planned} bytes, expected {PLANNED}");
    let more = begun - planned;
    assert!(more <= slack * BEGUN as f64, "begun: {more} bytes more, expected {BEGUN}");
    assert!(begun < 1_700.0, "{begun} bytes");
}

#[test]
fn too_many_requests_are_refused_before_they_are_made() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let traffic = Traffic::Requests {
        gap: Distribution::Constant { value: 1.0 },
        size: Distribution::Constant { value: 1.0 },
        cc: named("reno"),
        tcp: sack(),
    };
    let plan = with(plan(0, 0), vec![flow("web", [0, 1], traffic)]);
    let region = Region::new(ALLOCATOR);
    let error = Simulation::new(plan, Records::none()).err().unwrap();
    assert_eq!(error.to_string(), "flows[0].traffic.gap: makes more than 10000000 requests");
    // A start and a size of each, in a list that doubles.
    assert!(region.change().bytes_allocated < 2 * 16 * (1 << 24));
}
