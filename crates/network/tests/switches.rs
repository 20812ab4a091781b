//! Ethernet segments: where frames come out, and that each copy of them has one fate.

mod common;
#[path = "common/recording_sink.rs"]
mod recording_sink;

use common::{direction, link, node, packet, plan};
use longhaul_network::{Fate, Flags, Message, Network, NodeId, Packet};
use longhaul_plan::*;
use longhaul_units::{Probability, Time};
use proptest::prelude::*;
use recording_sink::RecordingSink;

const ALL: NodeId = NodeId(1 << 31);
const ROUTER: u32 = 6;

/// What was delivered: host, body and due time in ms.
fn delivered(seen: &RecordingSink) -> Vec<(u32, u32, u64)> {
    seen.delivered.iter().map(|&(host, body, ps)| (host, body, ps / 1_000_000_000)).collect()
}

/// The hosts that have got a frame, in order of their numbers.
fn hosts(seen: &RecordingSink, body: u32) -> Vec<u32> {
    let mut hosts: Vec<u32> =
        seen.delivered.iter().filter(|each| each.1 == body).map(|each| each.0).collect();
    hosts.sort_unstable();
    hosts
}

/// Hosts 0, 1 and 2 at switch 4 by 1, 2 and 3 ms; host 3 at switch 5 by 4 ms; the switches 10 ms apart. Router 6, with host
/// 7 behind it by 20 ms, is at switch 4 by 5 ms.
fn segment() -> Plan {
    let switch = |name: &str| Node { ipv4: None, ..node(name, NodeKind::Switch, 0) };
    Plan {
        nodes: vec![
            node("a", NodeKind::Host, 1),
            node("b", NodeKind::Host, 2),
            node("c", NodeKind::Host, 3),
            node("d", NodeKind::Host, 4),
            switch("s"),
            switch("t"),
            node("r", NodeKind::Router, 5),
            node("far", NodeKind::Host, 6),
        ],
        links: vec![
            link("a-s", [0, 4], 1),
            link("b-s", [1, 4], 2),
            link("c-s", [2, 4], 3),
            link("d-t", [3, 5], 4),
            link("s-t", [4, 5], 10),
            link("r-s", [6, 4], 5),
            link("r-far", [6, 7], 20),
        ],
        ..plan()
    }
}

fn frame(body: u32, from: u32, to: NodeId) -> Packet {
    let mut flags = Flags::FRAME;
    flags.set(Flags::NO_REPLY, true);
    flags.set(Flags::REAL, true);
    Packet { source: NodeId(from), destination: to, flags, ttl: u8::MAX, ..packet(body, 100) }
}

/// Hosts send these frames, by node, at these times in ms.
fn run(plan: &Plan, frames: &[(u64, u32, Packet)]) -> (RecordingSink, Network) {
    let mut network = Network::new(plan).unwrap();
    let mut seen = RecordingSink::default();
    for &(ms, node, packet) in frames {
        let at = Time::from_ns(ms * 1_000_000);
        network.inject_at(at, NodeId(node), Packet { offered: at, ..packet }, true, &mut seen);
    }
    network.advance(Time::from_ns(10_000_000_000_000), &mut seen);
    (seen, network)
}

fn assert_conserved(network: &Network) {
    let totals = network.totals();
    let ended = totals.delivered
        + totals.lost
        + totals.overflowed
        + totals.dropped
        + totals.down
        + totals.no_route
        + totals.too_big
        + totals.answered
        + totals.filtered
        + totals.looped
        + network.held();
    assert_eq!(totals.injected + totals.copied + totals.replies, ended);
}

#[test]
fn a_broadcast_reaches_every_station_once_by_the_sum_of_its_delays() {
    let (seen, network) = run(&segment(), &[(0, 0, frame(1, 0, ALL))]);
    // The router's answer comes back to the sender.
    assert_eq!(delivered(&seen), [(1, 1, 3), (2, 1, 4), (0, u32::MAX, 12), (3, 1, 15)]);
    // At b, c, the switch t and the router: three copies of one frame.
    assert_eq!((seen.copied, network.totals().copied), (3, 3));
    assert_eq!(network.totals().answered, 1);
    assert_conserved(&network);
}

#[test]
fn a_known_station_alone_gets_frames_for_it() {
    let frames = [
        (0, 0, frame(1, 0, NodeId(3))),
        (100, 3, frame(2, 3, NodeId(0))),
        (200, 0, frame(3, 0, NodeId(3))),
        (300, 1, frame(4, 1, NodeId(0))),
    ];
    let (seen, network) = run(&segment(), &frames);
    assert_eq!(hosts(&seen, 1), [1, 2, 3], "nothing is known of d");
    assert_eq!(hosts(&seen, 2), [0]);
    assert_eq!(hosts(&seen, 3), [3]);
    assert_eq!(hosts(&seen, 4), [0]);
    assert_conserved(&network);
}

#[test]
fn a_frame_for_a_station_behind_its_own_link_is_filtered() {
    let frames = [(0, 0, frame(1, 0, ALL)), (50, 0, frame(2, 8, NodeId(0)))];
    let (seen, network) = run(&segment(), &frames);
    assert!(hosts(&seen, 2).is_empty());
    assert_eq!(seen.ended.last(), Some(&(2, Fate::Filtered)));
    assert_conserved(&network);
}

#[test]
fn each_copy_meets_the_models_of_its_own_link() {
    let mut plan = segment();
    plan.links[1].reverse.loss = LossModel::Independent { probability: Probability::new(1.0).unwrap() };
    plan.links[2].mtu = 99;
    let (seen, network) = run(&plan, &[(0, 0, frame(1, 0, ALL))]);
    assert_eq!(hosts(&seen, 1), [3]);
    assert!(seen.ended.contains(&(1, Fate::Lost)) && seen.ended.contains(&(1, Fate::TooBig)));
    assert!(seen.messages.iter().all(|(_, message)| *message == Message::NeighbourReply), "no ICMP");
    assert_conserved(&network);
}

#[test]
fn a_router_answers_by_the_link_that_a_question_came_from() {
    let (seen, network) = run(&segment(), &[(0, 0, frame(1, 0, ALL))]);
    assert_eq!(seen.messages, [(ROUTER, Message::NeighbourReply)]);
    // There in 6 ms, and back in as many.
    assert_eq!(network.totals().replies, 1);
    assert!(network.totals().delivered == 4 && delivered(&seen).contains(&(0, u32::MAX, 12)));
    assert_conserved(&network);
}

#[test]
fn packets_cross_switches_along_the_routes_without_a_hop() {
    let mut network = Network::new(&segment()).unwrap();
    let mut seen = RecordingSink::default();
    let routed = Packet { source: NodeId(3), destination: NodeId(7), ttl: 2, ..packet(1, 100) };
    network.inject(Time::ZERO, routed, &mut seen);
    network.advance(Time::from_ns(1_000_000_000), &mut seen);
    // Four links, and one router: a TTL of two is enough.
    assert_eq!(delivered(&seen), [(7, 1, 4 + 10 + 5 + 20)]);
    assert_conserved(&network);
}

#[test]
fn a_station_behind_two_links_is_reported_and_its_frames_are_dropped() {
    let frames: Vec<_> = (0..8).map(|n| (10 * n, n as u32 % 2, frame(n as u32, 1 << 30, ALL))).collect();
    let (seen, mut network) = run(&segment(), &frames);
    assert_eq!(network.totals().looped, 3, "{:?}", seen.ended);
    let loops = network.take_switch_loops();
    assert_eq!(loops.len(), 1);
    assert_eq!((loops[0].switch, loops[0].station), (NodeId(4), NodeId(1 << 30)));
    assert!(network.take_switch_loops().is_empty());
    assert_conserved(&network);
}

#[test]
fn switches_in_a_circle_are_refused() {
    let mut plan = segment();
    let closing = Link { name: "again".into(), ..plan.links[4].clone() };
    plan.links.push(closing);
    assert_eq!(plan.check().unwrap_err().path(), "links[7].endpoints");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Whoever sends what to whom, nothing vanishes, and nobody hears from a frame twice or gets its own.
    #[test]
    fn every_copy_of_a_frame_has_one_fate(
        sent in prop::collection::vec((0..200u64, 0..4u32, 0..12u32), 1..80),
        loss in 0.0..0.5f64,
        down in prop::option::of(0..7usize),
    ) {
        let mut plan = segment();
        for link in &mut plan.links {
            link.forward.loss = LossModel::Independent { probability: Probability::new(loss).unwrap() };
            link.reverse = direction(3_000_000, Some(10_000_000));
        }
        if let Some(link) = down {
            plan.links[link].forward.up = false;
        }
        let mut sent = sent;
        sent.sort_unstable();
        let station = |number: u32| match number {
            0..=6 => NodeId(number),
            7 => NodeId::foreign_station(1),
            number => NodeId::group(number),
        };
        let frames: Vec<_> = sent
            .iter()
            .enumerate()
            .map(|(body, &(ms, from, to))| (ms, from, frame(body as u32, from, station(to))))
            .collect();
        let (seen, network) = run(&plan, &frames);
        assert_conserved(&network);
        prop_assert_eq!(seen.copied, network.totals().copied);
        for (body, &(_, from, _)) in sent.iter().enumerate() {
            let hosts = hosts(&seen, body as u32);
            prop_assert!(hosts.windows(2).all(|pair| pair[0] < pair[1]), "{:?}", hosts);
            prop_assert!(!hosts.contains(&from));
        }
    }
}
