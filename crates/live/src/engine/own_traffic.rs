//! Traffic that engines have themselves, where several have a part of the network: simulated flows, and replayed captures.

use super::horizons::Horizons;
use super::joint_flows::{JointFlows, OtherEnds};
use super::{endpoints, network};
use crate::error::{Error, Result};
use crate::tunnel;
use longhaul_endpoints::Endpoints;
use longhaul_network::Network;
use longhaul_plan::{Flow, Plan, Sender, Traffic};
use longhaul_units::Probability;
use std::collections::BTreeMap;

/// What one engine of several has of it.
pub struct OwnTraffic {
    pub endpoints: Endpoints,
    /// Whose all such packets are, by what they carry as their flow.
    pub senders: BTreeMap<u32, Sender>,
    /// Of engines in one process. Machines have none: one that is late would hold up the real packets of all others.
    pub horizons: Option<Horizons>,
    pub other_ends: OtherEnds,
}

impl OwnTraffic {
    /// The share of each of `count` threads, which have the nodes that `partition` says; `None` without such traffic.
    ///
    /// # Errors
    /// If it cannot be divided.
    pub fn of_threads(plan: &Plan, partition: &[u32], count: u32) -> Result<Vec<Option<Box<Self>>>> {
        let network = network(plan)?;
        let Some(whole) = divisible(plan, &network, "run it with one engine thread")? else {
            return Ok((0..count).map(|_| None).collect());
        };
        let senders = whole.senders();
        let links: Vec<[u32; 2]> =
            plan.links.iter().map(|link| link.endpoints.map(|node| partition[node])).collect();
        let horizons = Horizons::between(&links, count, &network.least_delays(plan));
        let parts = JointFlows::between(whole, partition, count).into_iter().zip(horizons);
        let own = |((endpoints, joint), horizons)| {
            let other_ends = OtherEnds::OnThreads(Box::new(joint));
            Some(Box::new(OwnTraffic {
                endpoints,
                senders: senders.clone(),
                horizons: Some(horizons),
                other_ends,
            }))
        };
        Ok(parts.map(own).collect())
    }

    /// The share of one of several machines.
    ///
    /// # Errors
    /// The same.
    pub fn of_machine(plan: &Plan, machines: &tunnel::Settings) -> Result<Option<Box<Self>>> {
        let Some(mut whole) = divisible(plan, &network(plan)?, "run it on one machine")? else {
            return Ok(None);
        };
        let senders = whole.senders();
        let parts = whole.split(&machines.partition, machines.machines.len() as u32, plan.nodes.len());
        let own = parts.into_iter().nth(machines.own as usize);
        Ok(own.map(|endpoints| {
            Box::new(OwnTraffic { endpoints, senders, horizons: None, other_ends: OtherEnds::OnMachines })
        }))
    }
}

/// The simulated ends of all of `plan`, if there are any.
fn divisible(plan: &Plan, network: &Network, remedy: &str) -> Result<Option<Endpoints>> {
    let whole = endpoints(plan, network)?;
    match obstacle(plan, &whole) {
        _ if whole.is_empty() => Ok(None),
        Some(obstacle) => Err(Error::new(obstacle).with_remedy(remedy)),
        None => Ok(Some(whole)),
    }
}

/// Why the simulated ends of `plan` cannot be divided, if so.
fn obstacle(plan: &Plan, whole: &Endpoints) -> Option<&'static str> {
    let pings = |flow: &Flow| flow.simulated && matches!(flow.traffic, Traffic::Ping { .. });
    let links = plan.links.iter().flat_map(|link| [link.forward.duplicate, link.reverse.duplicate]);
    let changes = plan.events.iter().filter_map(|event| event.change.duplicate);
    let duplicates = links.chain(changes).any(|chance| chance > Probability::ZERO);
    if !whole.can_be_divided() {
        Some(
            "simulated programs that start after others, and simulated flows of Multipath TCP, cannot be divided",
        )
    } else if plan.flows.iter().any(pings) && duplicates {
        Some("simulated pings on links that duplicate packets cannot be divided")
    } else {
        None
    }
}
