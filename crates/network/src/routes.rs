//! Static shortest paths by mean one-way delay; then fewer hops; then the lower link.
//!
//! A host with a single link is not part of the search: it is reached through the node that it
//! hangs on. So a thousand hosts on ten routers cost ten searches over ten nodes.

use crate::packet::DirectionId;
use longhaul_plan::{NodeKind, Plan, Way};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

const NONE: u32 = u32::MAX;
/// Up to so many nodes every route stands in one table (1 MB).
const SMALL: usize = 512;

/// Where packets go next.
#[derive(Debug)]
pub struct Routes {
    /// Of each node with a single link that is a host: the node beyond, the way there, the way back.
    leaves: Vec<Option<Leaf>>,
    /// Position of each other node in the table.
    core: Vec<u32>,
    /// For each core destination, for each core node: the direction to take, or `NONE`.
    table: Vec<Vec<u32>>,
    overrides: BTreeMap<(u32, u32), u32>,
    /// Of small networks, the answer to every question: node by node, each by destination.
    all: Vec<u32>,
    nodes: usize,
}

#[derive(Clone, Copy, Debug)]
struct Leaf {
    attached_to: u32,
    out: u32,
    back: u32,
}

struct Edge {
    from: usize,
    to: usize,
    cost_ns: u64,
    direction: DirectionId,
}

impl Routes {
    /// Computes the routes of `plan`, whose indices have been checked.
    pub fn new(plan: &Plan) -> Self {
        let edges = edges(plan);
        let mut outgoing: Vec<Vec<&Edge>> = vec![Vec::new(); plan.nodes.len()];
        let mut incoming: Vec<Vec<&Edge>> = vec![Vec::new(); plan.nodes.len()];
        for edge in &edges {
            outgoing[edge.from].push(edge);
            incoming[edge.to].push(edge);
        }
        let leaves: Vec<Option<Leaf>> = (0..plan.nodes.len())
            .map(|node| match (plan.nodes[node].kind, &outgoing[node][..]) {
                (NodeKind::Host, [only]) => Some(Leaf {
                    attached_to: only.to as u32,
                    out: only.direction.0,
                    back: only.direction.0 ^ 1,
                }),
                _ => None,
            })
            .collect();
        let mut core = vec![NONE; plan.nodes.len()];
        let members: Vec<usize> = (0..plan.nodes.len()).filter(|&node| leaves[node].is_none()).collect();
        for (position, &node) in members.iter().enumerate() {
            core[node] = position as u32;
        }
        let table = members
            .iter()
            .map(|&destination| search(plan, destination, &members, &core, &incoming))
            .collect();
        let overrides = plan
            .routes
            .iter()
            .map(|route| {
                let reverse = plan.links[route.link].endpoints[0] != route.node;
                let way = if reverse { Way::Reverse } else { Way::Forward };
                ((route.node as u32, route.destination as u32), DirectionId::new(route.link, way).0)
            })
            .collect();
        let mut routes = Routes { leaves, core, table, overrides, all: Vec::new(), nodes: plan.nodes.len() };
        if routes.nodes <= SMALL {
            let ends = 0..routes.nodes as u32;
            let pairs =
                ends.clone().flat_map(|node| ends.clone().map(move |destination| (node, destination)));
            routes.all = pairs
                .map(|(node, destination)| routes.search_next(node, destination).map_or(NONE, |next| next.0))
                .collect();
        }
        routes
    }

    /// The direction that a packet at `node` for `destination` takes.
    #[inline]
    pub fn next(&self, node: u32, destination: u32) -> Option<DirectionId> {
        if self.all.is_empty() {
            return self.search_next(node, destination);
        }
        let direction = self.all[node as usize * self.nodes + destination as usize];
        (direction != NONE).then_some(DirectionId(direction))
    }

    fn search_next(&self, node: u32, destination: u32) -> Option<DirectionId> {
        if !self.overrides.is_empty()
            && let Some(&direction) = self.overrides.get(&(node, destination))
        {
            return Some(DirectionId(direction));
        }
        let mut target = destination;
        if let Some(leaf) = self.leaves[destination as usize] {
            if leaf.attached_to == node {
                return Some(DirectionId(leaf.back));
            }
            target = leaf.attached_to;
        }
        if let Some(leaf) = self.leaves[node as usize] {
            return Some(DirectionId(leaf.out));
        }
        let (target, node) = (self.core[target as usize], self.core[node as usize]);
        let direction = *self.table.get(target as usize)?.get(node as usize)?;
        (direction != NONE).then_some(DirectionId(direction))
    }
}

fn edges(plan: &Plan) -> Vec<Edge> {
    plan.links
        .iter()
        .enumerate()
        .flat_map(|(link, each)| {
            let [a, b] = each.endpoints;
            [
                Edge {
                    from: a,
                    to: b,
                    cost_ns: each.forward.mean_delay_ns(),
                    direction: DirectionId::new(link, Way::Forward),
                },
                Edge {
                    from: b,
                    to: a,
                    cost_ns: each.reverse.mean_delay_ns(),
                    direction: DirectionId::new(link, Way::Reverse),
                },
            ]
        })
        .collect()
}

/// Dijkstra's search backwards from `destination`; only routers are passed through.
fn search(
    plan: &Plan,
    destination: usize,
    members: &[usize],
    core: &[u32],
    incoming: &[Vec<&Edge>],
) -> Vec<u32> {
    let mut best: Vec<(u64, u32, u32)> = vec![(u64::MAX, u32::MAX, NONE); members.len()];
    let mut open = BinaryHeap::new();
    best[core[destination] as usize] = (0, 0, NONE);
    open.push(Reverse((0u64, 0u32, destination)));
    while let Some(Reverse((cost, hops, node))) = open.pop() {
        let here = best[core[node] as usize];
        if (cost, hops) != (here.0, here.1) {
            continue;
        }
        if node != destination && plan.nodes[node].kind == NodeKind::Host {
            continue;
        }
        for edge in &incoming[node] {
            let from = core[edge.from];
            if from == NONE {
                continue;
            }
            let found = (cost.saturating_add(edge.cost_ns), hops + 1, edge.direction.0);
            let known = &mut best[from as usize];
            if found < *known {
                let shorter = (found.0, found.1) != (known.0, known.1);
                *known = found;
                if shorter {
                    open.push(Reverse((found.0, found.1, edge.from)));
                }
            }
        }
    }
    best.into_iter().map(|(_, _, direction)| direction).collect()
}
