//! What routes are computed from: a network reduced to nodes, links with costs, and next hops given by hand.

use longhaul_plan::{Multipath, NodeKind, Plan, RouteOverride};
use longhaul_random::Seed;
use longhaul_units::InvalidValue;

/// A network as routing sees it. Indices are those of the plan.
#[derive(Clone, Debug)]
pub struct Topology {
    /// The kind of each node.
    pub nodes: Vec<NodeKind>,
    /// The host of each interface; any other node itself.
    pub hosts: Vec<usize>,
    /// The links.
    pub links: Vec<Edge>,
    /// Next hops that replace the shortest path; the last one for a node and a destination holds.
    pub overrides: Vec<RouteOverride>,
    /// With multipath by flow hash, what each node mixes into the hash; else empty.
    pub hash_seeds: Vec<u64>,
}

/// A link as routing sees it.
#[derive(Clone, Copy, Debug)]
pub struct Edge {
    /// The two nodes; forward is from the first to the second.
    pub endpoints: [usize; 2],
    /// Mean one-way delay from the first endpoint to the second.
    pub forward_ns: u64,
    /// Mean one-way delay from the second endpoint to the first.
    pub reverse_ns: u64,
    /// Whether it is part of the network now.
    pub present: bool,
}

impl Topology {
    /// The topology of `plan`.
    pub fn of(plan: &Plan) -> Self {
        let edge = |link: &longhaul_plan::Link| Edge {
            endpoints: link.endpoints,
            forward_ns: link.forward.mean_delay().ns(),
            reverse_ns: link.reverse.mean_delay().ns(),
            present: link.present,
        };
        let hashes = plan.multipath == Multipath::FlowHash;
        Topology {
            nodes: plan.nodes.iter().map(|node| node.kind).collect(),
            hosts: plan.nodes.iter().enumerate().map(|(index, node)| node.of.unwrap_or(index)).collect(),
            links: plan.links.iter().map(edge).collect(),
            overrides: plan.routes.clone(),
            hash_seeds: if hashes {
                hash_seeds(plan.seed, plan.nodes.iter().map(|node| node.name.as_str()))
            } else {
                Vec::new()
            },
        }
    }

    /// Checks that every index refers to a node or a link, as [`Plan::check`] does for a plan.
    ///
    /// # Errors
    /// The first index that does not, as in `links[3].endpoints`.
    pub fn check(&self) -> Result<(), InvalidValue> {
        let node = |index: usize, place: String| {
            if index < self.nodes.len() {
                Ok(())
            } else {
                Err(InvalidValue::new(place, format!("there is no node {index}")))
            }
        };
        if !self.hash_seeds.is_empty() && self.hash_seeds.len() != self.nodes.len() {
            return Err(InvalidValue::new("hash_seeds", "are not one for each node"));
        }
        if self.hosts.len() != self.nodes.len() {
            return Err(InvalidValue::new("hosts", "are not one for each node"));
        }
        for (position, &host) in self.hosts.iter().enumerate() {
            node(host, format!("hosts[{position}]"))?;
        }
        for (position, link) in self.links.iter().enumerate() {
            link.endpoints
                .into_iter()
                .try_for_each(|end| node(end, format!("links[{position}].endpoints")))?;
        }
        for (position, route) in self.overrides.iter().enumerate() {
            node(route.node, format!("routes[{position}].node"))?;
            node(route.destination, format!("routes[{position}].destination"))?;
            let place = || format!("routes[{position}].link");
            match self.links.get(route.link) {
                None => {
                    return Err(InvalidValue::new(place(), format!("there is no link {}", route.link)));
                }
                Some(link) if !link.endpoints.contains(&route.node) => {
                    return Err(InvalidValue::new(place(), format!("does not touch node {}", route.node)));
                }
                Some(_) => (),
            }
        }
        Ok(())
    }
}

/// What each of these nodes mixes into the hashes of flows, in a run with this seed.
pub fn hash_seeds<'a>(seed: u64, names: impl Iterator<Item = &'a str>) -> Vec<u64> {
    let seed = Seed::new(seed);
    names.map(|name| seed.stream(&format!("{name}/multipath")).bits()).collect()
}
