//! Links counted in bins of time, against arithmetic.

mod common;

use common::*;
use longhaul_network::{Bins, DirectionId, Fate, Message, Network, NodeId, Packet, Reply, Sink};
use longhaul_plan::*;
use longhaul_units::Time;

const BIN_US: u64 = 500;

#[derive(Default)]
struct NullSink;

impl Sink for NullSink {
    fn deliver(&mut self, _: NodeId, _: Packet, _: Time, _: Option<DirectionId>) {}
    fn end(&mut self, _: Packet, _: Fate, _: Time, _: Option<DirectionId>) {}
    fn copied(&mut self, _: &Packet) {}
    fn reply(&mut self, _: NodeId, _: &Packet, _: Message) -> Option<Reply> {
        None
    }
}

/// Hosts a and b, and 12 Mbit/s from one to the other: a packet of 1,500 bytes takes 1 ms.
fn narrow(limit_packets: Option<u64>) -> Plan {
    let mut plan = plan();
    plan.nodes.truncate(2);
    plan.links.truncate(1);
    let link = &mut plan.links[0];
    link.endpoints = [0, 1];
    link.forward = Direction {
        queue: QueueModel { limit_packets, ..QueueModel::default() },
        ..direction(2_000_000, Some(12_000_000))
    };
    plan.measure.monitor = Some(Monitor { every_ns: BIN_US * 1_000, links: vec![0], flows: true });
    plan
}

/// Ten packets at 0.1 ms, looked after every `step_us` until 20 ms.
fn burst(plan: &Plan, step_us: u64) -> Bins {
    burst_until(plan, step_us, 20_000)
}

fn burst_until(plan: &Plan, step_us: u64, end_us: u64) -> Bins {
    let mut network = Network::new(plan).unwrap();
    network.monitor(plan);
    let start = Time::from_ns(100_000);
    for body in 0..10 {
        let packet = Packet { flow: 1 + body % 2, offered: start, ..packet(body, 1_500) };
        network.inject(start, packet, &mut NullSink);
    }
    for us in (100..=end_us).step_by(step_us as usize) {
        network.advance(Time::from_ns(us * 1_000), &mut NullSink);
    }
    network.settle(Time::from_ns(end_us * 1_000));
    network.take_bins(true)
}

#[test]
fn a_queue_is_counted_as_it_stands_when_a_bin_ends() {
    for step_us in [10, 700, 19_900] {
        let bins = burst(&narrow(None), step_us);
        for row in &bins.directions {
            // One begins to leave at 0.1 ms, and one each ms later.
            let ends_us = row.start_ns / 1_000 + BIN_US;
            let begun = ((ends_us - 100) / 1_000 + 1).min(10);
            assert_eq!(row.queue_packets, 10 - begun, "at {ends_us} us, every {step_us} us");
            assert_eq!(row.queue_bytes, 1_500 * (10 - begun));
        }
    }
}

#[test]
fn packets_count_when_they_come_and_when_they_are_due() {
    let bins = burst(&narrow(None), 10);
    let offered: Vec<(u64, u64)> = bins
        .directions
        .iter()
        .filter(|row| row.offered_packets > 0)
        .map(|row| (row.start_ns, row.offered_packets))
        .collect();
    assert_eq!(offered, [(0, 10)]);
    // The nth is due after n ms of sending and 2 ms of wire: at 3.1 ms, 4.1 ms, ...
    let due: Vec<(u64, u64, u64)> = bins
        .directions
        .iter()
        .filter(|row| row.delivered_packets > 0)
        .map(|row| (row.start_ns, row.delivered_packets, row.delivered_bytes))
        .collect();
    let expected: Vec<(u64, u64, u64)> = (3..13).map(|ms| (ms * 1_000_000, 1, 1_500)).collect();
    assert_eq!(due, expected);
    let of_flow = |flow| -> u64 {
        bins.flows.iter().filter(|row| row.flow == flow).map(|row| row.delivered_bytes).sum()
    };
    assert_eq!((of_flow(1), of_flow(2)), (7_500, 7_500));
}

#[test]
fn drops_count_by_their_cause() {
    let bins = burst(&narrow(Some(4)), 10);
    let sum = |count: fn(&longhaul_record::BinRow) -> u64| -> u64 { bins.directions.iter().map(count).sum() };
    assert_eq!(sum(|row| row.overflowed_packets), 5, "one leaves, four wait");
    assert_eq!(sum(|row| row.delivered_packets), 5);
    assert_eq!(sum(|row| row.offered_packets), 10);
    assert_eq!(bins.flows.iter().map(|row| row.ended_packets).sum::<u64>(), 5);

    let mut plan = narrow(None);
    plan.links[0].mtu = 1_000;
    let bins = burst(&plan, 10);
    assert_eq!((bins.directions[0].too_big_packets, bins.directions[0].offered_packets), (10, 0));
}

#[test]
fn a_run_that_ends_with_a_bin_has_no_bin_beyond() {
    // Five have begun to leave by 5 ms.
    let bins = burst_until(&narrow(None), 10, 5_000);
    let last = bins.directions.last().unwrap();
    assert_eq!((last.start_ns, last.queue_packets), (4_500_000, 5));
    assert_eq!(bins.directions.len(), 10);
    // What is delivered at 5.1 ms, in a bin that is not over, counts.
    let bins = burst_until(&narrow(None), 10, 5_200);
    let last = bins.directions.last().unwrap();
    assert_eq!((last.start_ns, last.delivered_packets, last.queue_packets), (5_000_000, 1, 4));
}

#[test]
fn quiet_time_has_no_bins() {
    let bins = burst(&narrow(None), 10);
    assert!(bins.directions.iter().all(|row| !row.is_empty() && !row.reverse));
    // 0.1 ms to 9.1 ms somebody waits, and the last two are due at 11.1 and 12.1 ms.
    assert_eq!(bins.directions.last().unwrap().start_ns, 12_000_000);
    assert_eq!(bins.directions.len(), 18 + 4);
}
