//! The network as its hosts see it: where packets come out, when, and that none vanishes.

mod common;
#[path = "common/pacing.rs"]
mod pacing;
#[path = "common/recording_sink.rs"]
mod recording_sink;

use common::{direction, node, packet, plan};
use longhaul_network::{DirectionId, Fate, Flags, Message, Network, NodeId, Packet};
use longhaul_plan::*;
use longhaul_units::{Probability, Time};
use proptest::prelude::*;
use recording_sink::RecordingSink;

fn run(plan: &Plan, packets: &[(u64, Packet)], polls: &[u64]) -> (RecordingSink, Network) {
    let mut network = Network::new(plan).unwrap();
    let mut seen = RecordingSink::default();
    let mut polls = polls.iter().peekable();
    for &(at, packet) in packets {
        while let Some(&poll) = polls.next_if(|&&poll| poll <= at) {
            network.advance(Time::from_ns(poll), &mut seen);
        }
        network.inject(Time::from_ns(at), packet, &mut seen);
    }
    network.advance(Time::from_ns(u64::MAX / 2_000), &mut seen);
    (seen, network)
}

#[test]
fn a_packet_takes_the_sum_of_the_delays_on_the_shortest_path() {
    let (seen, network) = run(&plan(), &[(0, packet(1, 100))], &[]);
    assert_eq!(seen.delivered, [(1, 1, 6_000_000_000)]);
    let path: Vec<usize> =
        network.path(NodeId(0), NodeId(1)).unwrap().iter().map(|each| each.link()).collect();
    assert_eq!(path, [0, 1, 2]);
}

#[test]
fn a_host_that_paces_lets_packets_in_by_the_clock_and_drops_what_its_queue_does_not_hold() {
    let mut plan = plan();
    plan.links[0].forward.pacing = Some(Box::new(pacing::pacing()));
    let packets: Vec<_> = (0..10).map(|body| (0, packet(body, 1_500))).collect();
    let (seen, network) = run(&plan, &packets, &[]);
    // A bucket of two packets at 100 Mbit/s, then one every 1200 us; one leaves at once, and five wait.
    let due = [0, 120, 1_200, 2_400, 3_600, 4_800].map(|us: u64| 6_000_000_000 + us * 1_000_000);
    assert_eq!(seen.delivered.iter().map(|each| each.2).collect::<Vec<_>>(), due);
    assert_eq!(seen.ended, (6..10).map(|body| (body, Fate::PacerDropped)).collect::<Vec<_>>());
    let class = network.pacing_counters(DirectionId(0), 2).unwrap();
    assert_eq!((class.offered_packets, class.sent_packets, class.dropped_packets), (10, 6, 4));
    assert_eq!((network.totals().pacer_dropped, network.held()), (4, 0));
}

/// Hosts at routers of which no link takes time but the one between, whose packets of one instant go to both of the far end.
#[test]
fn packets_of_one_instant_keep_their_order_whatever_their_link_is_and_whoever_watches_it() {
    let mut plan = plan();
    plan.nodes.push(node("c", NodeKind::Host, 6));
    // The link of the host to which the second packet goes comes first.
    plan.links = vec![
        common::link("s-b", [3, 1], 0),
        common::link("s-c", [3, 5], 0),
        common::link("a-r", [0, 2], 0),
        common::link("r-s", [2, 3], 20),
    ];
    plan.coalesce_ns = 0;
    let to = |destination| Packet { destination: NodeId(destination), ..packet(destination, 100) };
    let mut watched = Network::new(&plan).unwrap();
    watched.tap(3);
    let mut other = plan.clone();
    // Never taken for a pipe.
    other.links[3].forward.loss_position = LossPosition::Egress;
    for mut network in [Network::new(&plan).unwrap(), watched, Network::new(&other).unwrap()] {
        let mut seen = RecordingSink::default();
        for destination in [5, 1, 5, 1] {
            network.inject(Time::ZERO, to(destination), &mut seen);
        }
        network.advance(ms(100), &mut seen);
        let order: Vec<_> = seen.delivered.iter().map(|each| each.1).collect();
        assert_eq!(order, [5, 1, 5, 1]);
    }
}

#[test]
fn an_override_takes_another_way() {
    let mut plan = plan();
    plan.routes = vec![RouteOverride { node: 2, destination: 1, link: 3 }];
    let (seen, _) = run(&plan, &[(0, packet(1, 100))], &[]);
    assert_eq!(seen.delivered, [(1, 1, 14_000_000_000)]);
}

#[test]
fn ttl_allows_one_router_less_than_its_value() {
    for (ttl, arrives) in [(1, false), (2, false), (3, true)] {
        let (seen, _) = run(&plan(), &[(0, Packet { ttl, ..packet(1, 100) })], &[]);
        assert_eq!(seen.delivered.iter().any(|each| each.1 == 1), arrives, "ttl {ttl}");
        if !arrives {
            assert_eq!(seen.messages, [(u32::from(ttl) + 1, Message::TtlExceeded)]);
            assert_eq!(seen.ended, [(1, Fate::TtlExpired)]);
        }
    }
}

#[test]
fn a_packet_that_does_not_fit_is_answered_with_the_mtu() {
    let mut plan = plan();
    plan.links[1].mtu = 1400;
    let (seen, network) = run(&plan, &[(0, packet(1, 1401)), (0, packet(2, 1400))], &[]);
    assert_eq!(seen.messages, [(2, Message::TooBig { mtu: 1400 })]);
    assert_eq!(seen.ended, [(1, Fate::TooBig)]);
    assert!(seen.delivered.iter().any(|each| each.1 == 2));
    assert_eq!(network.totals().replies, 1);
}

#[test]
fn errors_are_not_answered_by_errors() {
    let mut error = packet(1, 100);
    error.flags.set(Flags::NO_REPLY, true);
    let (seen, _) = run(&plan(), &[(0, Packet { ttl: 1, ..error })], &[]);
    assert_eq!((seen.messages.len(), seen.ended.len()), (0, 1));
}

#[test]
fn hosts_do_not_forward() {
    let mut plan = plan();
    plan.nodes[3].kind = NodeKind::Host;
    let (seen, _) = run(&plan, &[(0, packet(1, 100))], &[]);
    assert_eq!(seen.ended, [(1, Fate::NoRoute)]);
}

/// All-pairs shortest delays by Floyd and Warshall, through routers only.
fn floyd(plan: &Plan) -> Vec<Vec<u64>> {
    const FAR: u64 = u64::MAX / 4;
    let count = plan.nodes.len();
    let mut cost = vec![vec![FAR; count]; count];
    for (node, row) in cost.iter_mut().enumerate() {
        row[node] = 0;
    }
    for link in &plan.links {
        let [a, b] = link.endpoints;
        cost[a][b] = cost[a][b].min(link.forward.mean_delay().ns());
        cost[b][a] = cost[b][a].min(link.reverse.mean_delay().ns());
    }
    for middle in (0..count).filter(|&node| plan.nodes[node].kind == NodeKind::Router) {
        for from in 0..count {
            for to in 0..count {
                cost[from][to] = cost[from][to].min(cost[from][middle] + cost[middle][to]);
            }
        }
    }
    cost
}

prop_compose! {
    /// Up to four hosts and five routers with any links between them.
    fn any_plan()(
        hosts in 2usize..5,
        routers in 0usize..6,
        links in prop::collection::vec((0usize..9, 0usize..9, 1u64..50, 1u64..50), 1..20),
    ) -> Plan {
        let count = hosts + routers;
        let nodes = (0..count).map(|index| {
            let kind = if index < hosts { NodeKind::Host } else { NodeKind::Router };
            node(&format!("n{index}"), kind, index as u8 + 1)
        }).collect();
        let links = links.into_iter().enumerate().filter(|(_, (a, b, _, _))| a % count != b % count)
            .map(|(index, (a, b, out, back))| Link {
                name: format!("l{index}"),
                endpoints: [a % count, b % count],
                mtu: 1500,
                present: true,
                forward: direction(out * 1_000, Some(50_000_000)),
                reverse: direction(back * 1_000, Some(50_000_000)),
            }).collect();
        Plan { nodes, links, ..plan() }
    }
}

proptest! {
    #[test]
    fn paths_are_the_shortest(plan in any_plan()) {
        let network = Network::new(&plan).unwrap();
        let cost = floyd(&plan);
        for (from, row) in cost.iter().enumerate() {
            for (to, &cheapest) in row.iter().enumerate() {
                let Some(path) = network.path(NodeId(from as u32), NodeId(to as u32)) else {
                    prop_assert!(cheapest >= u64::MAX / 4, "{from} to {to} has a way");
                    continue;
                };
                let delay: u64 = path.iter().map(|direction| {
                    let link = &plan.links[direction.link()];
                    if direction.way() == Way::Forward { &link.forward } else { &link.reverse }.mean_delay().ns()
                }).sum();
                prop_assert_eq!(delay, cheapest);
            }
        }
    }

    #[test]
    fn no_packet_vanishes_and_late_polls_change_nothing(
        plan in any_plan(),
        packets in prop::collection::vec((0u64..3_000_000, 60u32..1600, 1u8..6), 1..80),
        polls in prop::collection::vec(0u64..4_000_000, 0..40),
        duplicate in 0.0f64..0.5,
    ) {
        let mut plan = plan;
        for link in &mut plan.links {
            link.forward.duplicate = Probability::new(duplicate).unwrap();
            link.reverse.loss = LossModel::Independent { probability: Probability::new(0.2).unwrap() };
        }
        let mut packets: Vec<(u64, Packet)> = packets
            .into_iter()
            .enumerate()
            .map(|(body, (at, bytes, ttl))| (at, Packet { ttl, ..packet(body as u32, bytes) }))
            .collect();
        packets.sort_by_key(|each| each.0);
        let mut polls = polls;
        polls.sort_unstable();
        let (seen, network) = run(&plan, &packets, &polls);
        let totals = network.totals();
        prop_assert_eq!(network.held(), 0);
        prop_assert_eq!(
            totals.injected + totals.copied + totals.replies,
            totals.delivered + totals.lost + totals.overflowed + totals.dropped + totals.down
                + totals.no_route + totals.ttl_expired + totals.too_big + totals.answered
        );
        prop_assert_eq!(seen.delivered.len() as u64, totals.delivered);
        prop_assert_eq!(seen.copied, totals.copied);
        let (rarely, _) = run(&plan, &packets, &[]);
        prop_assert_eq!(seen, rarely);
    }
}

/// Both directions of a link join or leave at `at`; routes follow if `reroute` says how.
fn join_or_leave(
    network: &mut Network,
    seen: &mut RecordingSink,
    at: Time,
    link: usize,
    present: bool,
    reroute: Option<RouteCosts>,
) {
    let change = Change { up: Some(present), present: Some(present), reroute, ..Change::default() };
    for way in [Way::Forward, Way::Reverse] {
        network.change(at, DirectionId::new(link, way), None, &change, seen);
    }
}

fn ms(at: u64) -> Time {
    Time::from_ns(at * 1_000_000)
}

#[test]
fn packets_on_a_link_that_leaves_end_as_down_and_later_ones_take_the_other_path() {
    for rate in [None, Some(1_000_000)] {
        let mut plan = plan();
        plan.links[1].forward = direction(2_000_000, rate);
        let mut network = Network::new(&plan).unwrap();
        let mut seen = RecordingSink::default();
        // At r after 1 ms, on r-s until 3 ms (or waiting for its serialiser): the link leaves at 2 ms.
        for body in 1..=3 {
            network.inject(ms(0), packet(body, 100), &mut seen);
        }
        join_or_leave(&mut network, &mut seen, ms(2), 1, false, Some(RouteCosts::Configured));
        assert_eq!(seen.ended, [(1, Fate::Down), (2, Fate::Down), (3, Fate::Down)]);
        network.inject(ms(2), packet(4, 100), &mut seen);
        network.advance(ms(100), &mut seen);
        // a-r, r-t, t-s, s-b: 1 + 5 + 5 + 3 ms.
        assert_eq!(seen.delivered, [(1, 4, ms(16).ps())]);
        join_or_leave(&mut network, &mut seen, ms(100), 1, true, Some(RouteCosts::Configured));
        network.inject(ms(100), packet(5, 100), &mut seen);
        network.advance(ms(200), &mut seen);
        assert_eq!(seen.delivered.len(), 2);
        assert_eq!(network.held(), 0);
        let counters = network.link_counters(DirectionId(2)).link;
        assert_eq!((counters.offered_packets, counters.down_packets, counters.delivered_packets), (4, 3, 1));
    }
}

#[test]
fn until_routes_have_converged_packets_still_go_to_the_link_that_left() {
    let mut network = Network::new(&plan()).unwrap();
    let mut seen = RecordingSink::default();
    join_or_leave(&mut network, &mut seen, ms(10), 1, false, None);
    network.inject(ms(10), packet(1, 100), &mut seen);
    network.advance(ms(20), &mut seen);
    assert_eq!(seen.ended, [(1, Fate::Down)]);
    let reroute = Change { reroute: Some(RouteCosts::Configured), ..Change::default() };
    network.change(ms(20), DirectionId(0), None, &reroute, &mut seen);
    network.inject(ms(20), packet(2, 100), &mut seen);
    network.advance(ms(50), &mut seen);
    assert_eq!(seen.delivered, [(1, 2, ms(34).ps())]);
}

#[test]
fn a_host_that_moves_keeps_its_address_and_is_told_when_it_is_cut_off() {
    let mut plan = plan();
    // b hangs on s; a link to t is not there yet.
    plan.links.push(Link { name: "b-t".into(), endpoints: [1, 4], present: false, ..plan.links[2].clone() });
    assert!(plan.is_dynamic());
    let mut network = Network::new(&plan).unwrap();
    let mut seen = RecordingSink::default();
    let links = |network: &Network| -> Vec<usize> {
        let path = network.path(NodeId(0), NodeId(1));
        path.into_iter().flatten().map(DirectionId::link).collect()
    };
    assert_eq!(links(&network), [0, 1, 2]);
    join_or_leave(&mut network, &mut seen, ms(1), 2, false, Some(RouteCosts::Configured));
    network.inject(ms(1), packet(1, 100), &mut seen);
    network.advance(ms(5), &mut seen);
    assert_eq!(seen.ended, [(1, Fate::NoRoute)]);
    assert_eq!(seen.messages, [(2, Message::NoRoute)]);
    join_or_leave(&mut network, &mut seen, ms(10), 5, true, Some(RouteCosts::Configured));
    assert_eq!(links(&network), [0, 3, 5]);
}

#[test]
fn routes_by_current_delays_follow_a_series() {
    let mut plan = plan();
    // From 10 ms on, r-s takes 20 ms, and the way over t is shorter.
    let text = r#"{"model":"series","points":[[0,2000000],[10000000,20000000]],"repeat_ns":null,"mean_ns":2000000,"linear":false}"#;
    if let Ok(model) = serde_json::from_str::<DelayModel>(text) {
        plan.links[1].forward.delay = model;
    }
    assert_eq!(plan.links[1].forward.delay.mean_at(ms(11)), longhaul_units::Span::from_ns(20_000_000));
    let mut network = Network::new(&plan).unwrap();
    let mut seen = RecordingSink::default();
    let first = |network: &Network| network.path(NodeId(0), NodeId(1)).unwrap()[1].link();
    for (at, costs, link) in
        [(5, RouteCosts::Current, 1), (11, RouteCosts::Configured, 1), (11, RouteCosts::Current, 3)]
    {
        let reroute = Change { reroute: Some(costs), ..Change::default() };
        network.change(ms(at), DirectionId(0), None, &reroute, &mut seen);
        assert_eq!(first(&network), link, "{at} ms, {costs:?}");
    }
}
