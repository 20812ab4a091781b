//! Connections over several paths.

use crate::common::*;
use longhaul_plan::*;
use serde_json::Value;

/// Hosts 0 and 1 with a link for each of `paths` between them; the nodes of further interfaces follow in pairs.
fn hosts(paths: Vec<Direction>) -> Plan {
    let mut kinds = vec![NodeKind::Host; 2];
    kinds.resize(2 * paths.len(), NodeKind::Interface);
    let links = paths.into_iter().enumerate().map(|(at, forward)| {
        let back = direction(forward.delay.mean().ns(), FAST);
        ([2 * at, 2 * at + 1], forward, back)
    });
    let mut plan = network(1500, &kinds, links.collect());
    for (number, node) in plan.nodes.iter_mut().enumerate().skip(2) {
        (node.of, node.mtu) = (Some(number % 2), 1500);
    }
    plan
}

fn subflows(paths: usize) -> Vec<[usize; 2]> {
    (0..paths).map(|at| [2 * at, 2 * at + 1]).collect()
}

fn bulk(algorithm: &str, paths: usize, payload: Option<u64>) -> Flow {
    let traffic = Traffic::Tcp {
        streams: 1,
        cc: named(algorithm),
        tcp: sack(),
        bytes: payload,
        bits_per_s: None,
        held: false,
        subflows: subflows(paths),
    };
    flow("bulk", [0, 1], traffic)
}

/// 50 and 20 Mbit/s, 20 and 40 ms there and back, queues of a bandwidth-delay product.
fn two_paths() -> Vec<Direction> {
    vec![queued(10 * MS, 50_000_000, 84), queued(20 * MS, 20_000_000, 67)]
}

fn total(counts: &Value, field: &str) -> f64 {
    counts["flows"].as_array().unwrap().iter().map(|each| each[field].as_f64().unwrap()).sum()
}

#[test]
fn rates_of_paths_add() {
    // 1448 of 1500 bytes are payload.
    let sum = 70e6 * 1448.0 / 1500.0;
    for (algorithm, least) in [("cubic", 0.97), ("reno", 0.95), ("lia", 0.9), ("olia", 0.9)] {
        let mut run = Run::new(&with(hosts(two_paths()), vec![bulk(algorithm, 2, None)]));
        let counts = [run.until(10.0), run.until(40.0)];
        let both = goodput(&counts, 0) + goodput(&counts, 1);
        assert!(both > least * sum && both < sum * 1.001, "{algorithm}: {:.3} of the sum", both / sum);
    }
}

#[test]
fn all_bytes_arrive_once_and_the_connection_ends() {
    let payload = 20_000_000;
    let plan = Plan { duration_ns: None, ..with(hosts(two_paths()), vec![bulk("cubic", 2, Some(payload))]) };
    let (end, counts) = Run::whole(&plan);
    assert_eq!(total(&counts, "bytes"), payload as f64);
    assert!(
        end.since(longhaul_units::Time::ZERO).as_secs_f64() < 1.25 * payload as f64 * 8.0 / 70e6,
        "{end:?}"
    );
    assert_eq!(counts["flows"][0]["state"], "closed");
    assert_eq!(counts["flows"][1]["state"], "closed");
    assert_eq!(counts["flows"][0]["arrived_ns"], counts["flows"][1]["arrived_ns"]);
}

#[test]
fn the_second_subflow_opens_when_the_first_is_established() {
    // The first one's SYN takes 10 ms, its SYN-ACK as much; the second one's data follow a round trip of 40 ms later.
    let mut run = Run::new(&with(hosts(two_paths()), vec![bulk("cubic", 2, None)]));
    assert_eq!(run.until(0.0199).link(1, "offered_packets"), 0.0);
    assert_eq!(run.until(0.0300).link(1, "offered_packets"), 1.0);
    assert!(run.until(0.0610).link(1, "offered_packets") > 2.0);
}

#[test]
fn a_connection_continues_over_the_other_path() {
    for lost in [0, 1] {
        let payload = 30_000_000;
        let mut plan = with(hosts(two_paths()), vec![bulk("cubic", 2, Some(payload))]);
        plan.events = vec![Event { link: lost, ..turn(2 * SECOND, false) }];
        plan.duration_ns = Some(60 * SECOND);
        let (_, counts) = Run::whole(&plan);
        assert_eq!(total(&counts, "bytes"), payload as f64, "without path {lost}");
        let arrived = counts["flows"][0]["arrived_ns"].as_f64().unwrap() / 1e9;
        let rate = [20e6, 50e6][lost] * 1448.0 / 1500.0;
        let left = payload as f64 * 8.0 - 2.0 * 70e6;
        assert!(
            arrived > 2.0 + 0.9 * left / rate && arrived < 4.5 + left / rate,
            "{arrived} s without {lost}"
        );
    }
}

#[test]
fn a_path_that_comes_back_is_used_again() {
    let mut plan = with(hosts(two_paths()), vec![bulk("cubic", 2, None)]);
    plan.events = vec![turn(2 * SECOND, false), turn(5 * SECOND, true)];
    let mut run = Run::new(&plan);
    let counts = [run.until(15.0), run.until(30.0)];
    assert!(goodput(&counts, 0) > 45e6, "{}", goodput(&counts, 0));
}

#[test]
fn coupled_subflows_share_a_bottleneck_with_one_connection() {
    // Both subflows of one connection and another one cross the same 20 Mbit/s: fair is a half. Uncoupled ones take two
    // thirds.
    let share = |algorithm: &str| {
        let kinds = [
            NodeKind::Router,
            NodeKind::Router,
            NodeKind::Host,
            NodeKind::Host,
            NodeKind::Interface,
            NodeKind::Interface,
            NodeKind::Host,
            NodeKind::Host,
        ];
        let quick = || direction(0, FAST);
        let mut links = vec![([0, 1], queued(20 * MS, 20_000_000, 67), direction(20 * MS, FAST))];
        links.extend([2, 4, 6].map(|sender| ([sender, 0], quick(), quick())));
        links.extend([3, 5, 7].map(|receiver| ([1, receiver], quick(), quick())));
        let mut plan = network(1500, &kinds, links);
        for (interface, host) in [(4, 2), (5, 3)] {
            (plan.nodes[interface].of, plan.nodes[interface].mtu) = (Some(host), 1500);
        }
        let mut multipath = bulk(algorithm, 2, None);
        (multipath.source, multipath.destination) = (2, 3);
        if let Traffic::Tcp { subflows, .. } = &mut multipath.traffic {
            *subflows = vec![[2, 3], [4, 5]];
        }
        let other = flow("other", [6, 7], tcp(named("reno"), sack()));
        let mut run = Run::new(&with(plan, vec![multipath, other]));
        let counts = [run.until(100.0), run.until(1_000.0)];
        let of: Vec<f64> = (0..3).map(|stream| goodput(&counts, stream)).collect();
        (of[0] + of[1]) / of.iter().sum::<f64>()
    };
    near("uncoupled", share("reno"), 2.0 / 3.0, 0.06);
    for algorithm in ["lia", "olia"] {
        // Losses of a full queue are not independent, as the halves of theory are.
        let share = share(algorithm);
        assert!((0.42..0.6).contains(&share), "{algorithm}: {share:.3}");
    }
}
