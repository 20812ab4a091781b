//! Which flow's a packet is.

use crate::agent::Agent;
use crate::build::spread;
use crate::endpoints::Endpoints;
use longhaul_plan::{Plan, Sender};
use std::collections::{BTreeMap, BTreeSet};

/// Ends of streams beyond which none is named.
const MAX_AGENTS: usize = 100_000;

impl Endpoints {
    /// What the packets of every stream carry as their flow, there and back, and a name for it: `bulk.0` is
    /// the first stream of the flow `bulk`, `solver.0-3` goes from rank 0 to rank 3 of a job of `plan`.
    ///
    /// Nothing is named if there are too many, and no stream whose sender is in another shard.
    pub fn flow_names(&self, plan: &Plan) -> Vec<(u32, String)> {
        if self.agents.len() > MAX_AGENTS {
            return Vec::new();
        }
        let mut names = Vec::with_capacity(2 * self.pairs.len());
        for pair in &self.pairs {
            if matches!(self.agents[pair.sender as usize], Agent::Remote) {
                continue;
            }
            let name = &self.flows[pair.flow as usize].name;
            if let Agent::PacketSource(source) = &self.agents[pair.sender as usize] {
                // Real packets have names of their own.
                let hashes = if source.is_real { BTreeSet::new() } else { source.hashes() };
                names.extend(
                    hashes.into_iter().zip(0..).map(|(hash, number)| (hash, format!("{name}.{number}"))),
                );
                continue;
            }
            names.push((spread(pair.flow, 2 * pair.stream), format!("{name}.{}", pair.stream)));
            names.push((spread(pair.flow, 2 * pair.stream + 1), format!("{name}.{} back", pair.stream)));
        }
        for agent in &self.agents {
            let Agent::Channel(channel) = agent else { continue };
            let Some(Agent::Channel(other)) = self.agents.get(channel.way.peer as usize) else { continue };
            let (job, from) = channel.owner;
            let name = plan.jobs.get(job as usize).map_or("", |job| &job.name);
            names.push((channel.way.flow, format!("{name}.{from}-{}", other.owner.1)));
        }
        names
    }

    /// Whose packets are that carry this as their flow, there and back.
    pub fn senders(&self) -> BTreeMap<u32, Sender> {
        let mut senders = BTreeMap::new();
        for pair in &self.pairs {
            if let Agent::PacketSource(source) = &self.agents[pair.sender as usize] {
                let mine = source.hashes().into_iter().map(|hash| (hash, Sender::Flow(pair.flow)));
                senders.extend(mine);
                continue;
            }
            for end in [2 * pair.stream, 2 * pair.stream + 1] {
                senders.insert(spread(pair.flow, end), Sender::Flow(pair.flow));
            }
        }
        for agent in &self.agents {
            if let Agent::Channel(channel) = agent {
                senders.insert(channel.way.flow, Sender::Job(channel.owner.0));
            }
        }
        senders
    }
}
