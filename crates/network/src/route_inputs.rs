use crate::packet::DirectionId;
use crate::routes::Routes;
use crate::topology::Topology;
use longhaul_plan::{Change, DelayModel, Plan, RouteCosts, Way};
use longhaul_units::Time;

/// What routes are computed from when the topology changes: the links that are part of the network, and their delays.
#[derive(Debug)]
pub(crate) struct RouteInputs {
    /// As now, with the delays of the plan.
    pub(crate) topology: Topology,
    /// Of each direction, as it is configured now.
    delays: Vec<DelayModel>,
}

impl RouteInputs {
    pub(crate) fn of(plan: &Plan) -> Self {
        let both = |link: &longhaul_plan::Link| [link.forward.delay.clone(), link.reverse.delay.clone()];
        RouteInputs { topology: Topology::of(plan), delays: plan.links.iter().flat_map(both).collect() }
    }

    /// Notes what `change` says of a direction, one of its parallel `route`s, and returns whether its link joined or left.
    pub(crate) fn note(&mut self, direction: DirectionId, route: Option<usize>, change: &Change) -> bool {
        if let Some(delay) = change.delay.as_ref().filter(|_| route.is_none()) {
            self.delays[direction.0 as usize] = delay.clone();
        }
        if let Some(present) = change.present {
            self.topology.links[direction.link()].present = present;
        }
        change.present.is_some()
    }

    /// The routes over the links that are part of the network at `now`; each destination is searched for when it is
    /// first needed.
    pub(crate) fn routes(&self, now: Time, costs: RouteCosts) -> Routes {
        match costs {
            RouteCosts::Configured => Routes::new(&self.topology),
            RouteCosts::Current => {
                let mut topology = self.topology.clone();
                for (link, edge) in topology.links.iter_mut().enumerate().filter(|(_, edge)| edge.present) {
                    let delay = |way| {
                        let place = DirectionId::new(link, way).0 as usize;
                        self.delays[place].mean_at(now).ns()
                    };
                    (edge.forward_ns, edge.reverse_ns) = (delay(Way::Forward), delay(Way::Reverse));
                }
                Routes::new(&topology)
            }
        }
    }

    /// The first link of each node that is part of the network, away from the node.
    pub(crate) fn uplinks(&self) -> Vec<Option<DirectionId>> {
        let mut uplinks = vec![None; self.topology.nodes.len()];
        for (link, edge) in self.topology.links.iter().enumerate().filter(|(_, edge)| edge.present) {
            let [a, b] = edge.endpoints;
            uplinks[a].get_or_insert(DirectionId::new(link, Way::Forward));
            uplinks[b].get_or_insert(DirectionId::new(link, Way::Reverse));
        }
        uplinks
    }
}
