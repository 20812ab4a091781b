//! Routes against a reference that relaxes every edge until nothing changes.

use longhaul_network::{DirectionId, Edge, NodeId, Routes, Topology};
use longhaul_plan::{NodeKind, RouteOverride};
use proptest::prelude::*;

const FAR: (u64, u32) = (u64::MAX / 4, 0);

/// The two ends and the cost of each direction.
fn directions(topology: &Topology) -> Vec<(usize, usize, u64)> {
    let both = |edge: &Edge| {
        let [a, b] = edge.endpoints;
        [(a, b, edge.forward_ns), (b, a, edge.reverse_ns)]
    };
    topology.links.iter().flat_map(both).collect()
}

/// The path by the words of docs/models/routing.md: the least delay, then the fewest links, then at each
/// node the link that stands first; where there is an override, its link.
fn reference(topology: &Topology, from: usize, to: usize) -> Option<Vec<DirectionId>> {
    let edges = directions(topology);
    let passes = |node: usize| node == to || topology.nodes[node] == NodeKind::Router;
    let mut distance = vec![FAR; topology.nodes.len()];
    distance[to] = (0, 0);
    for _ in 0..topology.nodes.len() {
        for &(a, b, cost) in &edges {
            if passes(b) && distance[b] != FAR {
                distance[a] = distance[a].min((distance[b].0 + cost, distance[b].1 + 1));
            }
        }
    }
    let mut path = Vec::new();
    let mut node = from;
    while node != to {
        if path.len() > topology.nodes.len() || (node != from && !passes(node)) {
            return None;
        }
        let by_hand = topology.overrides.iter().rfind(|each| (each.node, each.destination) == (node, to));
        let best = |&index: &usize| {
            let (a, b, cost) = edges[index];
            let ends = a == node && passes(b) && distance[b] != FAR;
            ends && (distance[b].0 + cost, distance[b].1 + 1) == distance[node]
        };
        let direction = match by_hand {
            Some(route) => (2 * route.link..2 * route.link + 2).find(|&index| edges[index].0 == node),
            None => (0..edges.len()).find(best),
        }?;
        path.push(DirectionId(direction as u32));
        node = edges[direction].1;
    }
    Some(path)
}

prop_compose! {
    /// Up to four hosts and five routers with any links between them, of few delays, so that many paths tie.
    fn any_topology()(
        hosts in 0usize..5,
        routers in 1usize..6,
        links in prop::collection::vec((0usize..9, 0usize..9, 0u64..4, 0u64..4), 1..20),
        overrides in prop::collection::vec((0usize..20, any::<bool>(), 0usize..9), 0..4),
    ) -> Topology {
        let count = hosts + routers;
        let nodes: Vec<NodeKind> = (0..count).map(|index| {
            if index < hosts { NodeKind::Host } else { NodeKind::Router }
        }).collect();
        let links: Vec<Edge> = links.into_iter().filter(|(a, b, _, _)| a % count != b % count)
            .map(|(a, b, forward_ns, reverse_ns)| Edge { endpoints: [a % count, b % count], forward_ns, reverse_ns, present: true })
            .collect();
        let overrides = overrides.into_iter().filter(|_| !links.is_empty()).map(|(link, end, to)| {
            let link = link % links.len();
            RouteOverride { node: links[link].endpoints[usize::from(end)], destination: to % count, link }
        }).filter(|route| route.node != route.destination).collect();
        let hosts = (0..nodes.len()).collect();
        Topology { nodes, hosts, links, overrides, hash_seeds: Vec::new() }
    }
}

fn nodes(topology: &Topology) -> impl Iterator<Item = NodeId> + Clone + use<> {
    (0..topology.nodes.len() as u32).map(NodeId)
}

proptest! {
    #[test]
    fn paths_are_those_of_the_reference_ties_and_overrides_included(topology in any_topology()) {
        prop_assert_eq!(topology.check(), Ok(()));
        let (on_demand, complete) = (Routes::new(&topology), Routes::new(&topology).tabulate());
        complete.complete();
        for from in nodes(&topology) {
            for to in nodes(&topology) {
                let expected = reference(&topology, from.0 as usize, to.0 as usize);
                prop_assert_eq!(&on_demand.path(from, to), &expected, "{:?} to {:?}", from, to);
                prop_assert_eq!(&complete.path(from, to), &expected, "{:?} to {:?}", from, to);
            }
        }
    }

    #[test]
    fn a_tree_is_the_union_of_the_paths_of_its_sources_nearest_first(
        topology in any_topology(),
        chosen in prop::collection::vec(any::<prop::sample::Index>(), 0..9),
    ) {
        let routes = Routes::new(&topology);
        let edges = directions(&topology);
        let sources: Vec<NodeId> =
            chosen.iter().map(|each| NodeId(each.index(topology.nodes.len()) as u32)).collect();
        for destination in nodes(&topology) {
            let tree = routes.tree(&sources, destination);
            let mut expected: Vec<DirectionId> =
                sources.iter().filter_map(|&source| routes.path(source, destination)).flatten().collect();
            expected.sort_unstable();
            expected.dedup();
            let mut found: Vec<DirectionId> = tree.iter().map(|step| step.1).collect();
            found.sort_unstable();
            prop_assert_eq!(found, expected);
            let mut known = vec![destination];
            for &(node, direction) in &tree {
                let (from, far, _) = edges[direction.0 as usize];
                prop_assert_eq!(node, NodeId(from as u32));
                prop_assert!(known.contains(&NodeId(far as u32)) && !known.contains(&node));
                known.push(node);
            }
        }
    }
}

#[test]
fn a_host_with_one_link_hangs_on_the_node_beyond() {
    let edge = |a, b| Edge { endpoints: [a, b], forward_ns: 1, reverse_ns: 1, present: true };
    let (host, router) = (NodeKind::Host, NodeKind::Router);
    let links = vec![edge(3, 2), edge(0, 2), edge(1, 2), edge(1, 3)];
    let topology = Topology {
        nodes: vec![host, host, router, router],
        hosts: vec![0, 1, 2, 3],
        links,
        overrides: vec![],
        hash_seeds: vec![],
    };
    let routes = Routes::new(&topology);
    let found: Vec<_> = nodes(&topology).map(|node| routes.attachment(node)).collect();
    assert_eq!(found, [Some((NodeId(2), 1)), None, None, None]);
}

/// A host's two interfaces, 0 and 3, each at a router of its own; host 4 is at the interface 3 without any router.
#[test]
fn an_interface_without_a_path_is_reached_by_another_one_of_its_host() {
    let edge = |a, b| Edge { endpoints: [a, b], forward_ns: 1, reverse_ns: 1, present: true };
    let (host, router, interface) = (NodeKind::Host, NodeKind::Router, NodeKind::Interface);
    let topology = Topology {
        nodes: vec![host, router, host, interface, host],
        hosts: vec![0, 1, 2, 0, 4],
        links: vec![edge(0, 1), edge(1, 2), edge(3, 4)],
        overrides: vec![],
        hash_seeds: vec![],
    };
    let routes = Routes::new(&topology);
    let path = |from, to| routes.path(NodeId(from), NodeId(to));
    assert_eq!(path(2, 0), Some(vec![DirectionId(3), DirectionId(1)]));
    assert_eq!(path(2, 3), path(2, 0), "the host takes packets for all of its addresses");
    assert_eq!(path(4, 0), Some(vec![DirectionId(5)]));
    assert_eq!(path(4, 2), None, "no path leads through a host");
    let tree = routes.tree(&[NodeId(2), NodeId(4)], NodeId(3));
    assert_eq!(tree.len(), 3, "{tree:?}");
}

#[test]
fn an_index_without_a_node_or_link_is_refused_with_its_place() {
    let edge = Edge { endpoints: [0, 1], forward_ns: 1, reverse_ns: 1, present: true };
    let right = Topology {
        nodes: vec![NodeKind::Router; 3],
        hosts: vec![0, 1, 2],
        links: vec![edge],
        overrides: vec![],
        hash_seeds: vec![],
    };
    let by_hand = |node, destination, link| Topology {
        overrides: vec![RouteOverride { node, destination, link }],
        ..right.clone()
    };
    let wrong = [
        (Topology { links: vec![Edge { endpoints: [0, 3], ..edge }], ..right.clone() }, "links[0].endpoints"),
        (by_hand(3, 0, 0), "routes[0].node"),
        (by_hand(0, 3, 0), "routes[0].destination"),
        (by_hand(0, 1, 1), "routes[0].link"),
        (by_hand(2, 1, 0), "routes[0].link"),
    ];
    for (topology, place) in wrong {
        assert_eq!(topology.check().unwrap_err().path(), place);
    }
    assert_eq!(right.check(), Ok(()));
}

/// Two stages of three equal routers each between routers 0 and 7, and a longer way over router 8.
fn two_stages() -> Topology {
    let edge = |a, b, ns| Edge { endpoints: [a, b], forward_ns: ns, reverse_ns: ns, present: true };
    let mut links: Vec<Edge> = (1..4).map(|first| edge(0, first, 1)).collect();
    for first in 1..4 {
        links.extend((4..7).map(|second| edge(first, second, 1)));
    }
    links.extend((4..7).map(|second| edge(second, 7, 1)));
    links.extend([edge(0, 8, 1), edge(8, 7, 5)]);
    let names: Vec<String> = (0..9).map(|node| format!("r{node}")).collect();
    Topology {
        nodes: vec![NodeKind::Router; 9],
        hosts: (0..9).collect(),
        links,
        overrides: vec![],
        hash_seeds: longhaul_network::hash_seeds(7, names.iter().map(String::as_str)),
    }
}

/// Pearson's statistic of these counts against equal shares.
fn chi_squared(counts: &[u64]) -> f64 {
    let mean = counts.iter().sum::<u64>() as f64 / counts.len() as f64;
    let off = |count: u64| count as f64 - mean;
    counts.iter().map(|&count| off(count) * off(count) / mean).sum()
}

#[test]
fn flows_use_all_equal_paths_alike_and_routers_divide_them_independently() {
    let topology = two_stages();
    for routes in [Routes::new(&topology), Routes::new(&topology).tabulate()] {
        let mut counts = [0u64; 9];
        for flow in 0..90_000u32 {
            // Hashes of flows that differ in few bits.
            let path = routes.path_of(NodeId(0), NodeId(7), flow).unwrap();
            assert_eq!(path.len(), 3);
            let (first, second) = (path[0].link(), path[1].link() - 3);
            assert_eq!(second / 3, first);
            counts[second] += 1;
        }
        // 8 degrees of freedom: 26.1 is exceeded once in a thousand.
        assert!(chi_squared(&counts) < 26.1, "{counts:?}");
        assert_eq!(routes.used(&[NodeId(0)], NodeId(7)).len(), 3 + 9 + 3, "the longer way is not used");
        assert!(!routes.is_single_path(NodeId(0), NodeId(7)));
        assert!(routes.is_single_path(NodeId(8), NodeId(0)));
        assert_eq!(routes.path(NodeId(0), NodeId(7)).unwrap()[0], DirectionId(0), "the first stands for all");
    }
}

#[test]
fn a_path_that_joins_or_leaves_moves_few_flows() {
    // RFC 2992, section 3: with hash-threshold, adding the (N+1)-th next hop at the end moves half of the flows at most.
    let (whole, mut fewer) = (two_stages(), two_stages());
    fewer.links[2].present = false;
    let (whole, fewer) = (Routes::new(&whole), Routes::new(&fewer));
    let flows = 30_000u32;
    let first = |routes: &Routes, flow| routes.path_of(NodeId(0), NodeId(7), flow).unwrap()[0];
    let moved = (0..flows).filter(|&flow| first(&whole, flow) != first(&fewer, flow)).count();
    // Of three parts, the last (1/3) and the end of the second (1/6) move: half.
    let (expected, deviation) = (f64::from(flows) / 2.0, (f64::from(flows) / 4.0).sqrt());
    assert!((moved as f64 - expected).abs() < 4.0 * deviation, "{moved} of {flows}");
    assert!((0..flows).all(|flow| first(&fewer, flow).link() < 2));
}

#[test]
fn without_multipath_every_flow_takes_the_first_of_equal_paths() {
    let topology = Topology { hash_seeds: Vec::new(), ..two_stages() };
    let routes = Routes::new(&topology).tabulate();
    let first = routes.path(NodeId(0), NodeId(7));
    assert!((0..1000).all(|flow| routes.path_of(NodeId(0), NodeId(7), flow) == first));
    assert_eq!(routes.used(&[NodeId(0)], NodeId(7)).len(), 3);
}

proptest! {
    #[test]
    fn each_path_of_a_flow_is_a_shortest_one(topology in any_topology(), flows in prop::collection::vec(any::<u32>(), 8)) {
        let topology = Topology { overrides: vec![], ..topology };
        let many = Topology { hash_seeds: (0..topology.nodes.len() as u64).collect(), ..topology.clone() };
        let edges = directions(&topology);
        let cost = |path: &[DirectionId]| path.iter().map(|each| edges[each.0 as usize].2).sum::<u64>();
        for routes in [Routes::new(&many), Routes::new(&many).tabulate()] {
            for from in nodes(&topology) {
                for to in nodes(&topology) {
                    let single = reference(&topology, from.0 as usize, to.0 as usize);
                    prop_assert_eq!(&routes.path(from, to), &single);
                    for &flow in &flows {
                        let path = routes.path_of(from, to, flow);
                        prop_assert_eq!(path.is_some(), single.is_some());
                        if let (Some(path), Some(single)) = (path, &single) {
                            prop_assert_eq!((cost(&path), path.len()), (cost(single), single.len()));
                        }
                    }
                }
            }
        }
    }
}
