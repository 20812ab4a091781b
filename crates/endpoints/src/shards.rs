//! Endpoints of which several shards have a part each.

use crate::agent::Agent;
use crate::endpoints::Endpoints;
use crate::timers::Timers;
use longhaul_network::NodeId;
use longhaul_record::FlowRow;
use longhaul_units::Time;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU8, Ordering};

/// Which ends of each stream have closed, for shards on several threads.
#[derive(Debug)]
pub struct ClosedEnds(Vec<AtomicU8>);

/// What the ends of streams in one shard know at one instant, each by the position of its stream.
#[derive(Debug, Default)]
pub struct EndSamples {
    sent: Vec<(u32, FlowRow)>,
    received: Vec<(u32, u64)>,
}

impl EndSamples {
    /// The state of every stream at `now`, of what all shards know.
    pub fn joined(shards: &[EndSamples], now: Time) -> Vec<FlowRow> {
        let sent: BTreeMap<u32, FlowRow> =
            shards.iter().flat_map(|shard| shard.sent.iter().copied()).collect();
        let received: BTreeMap<u32, u64> =
            shards.iter().flat_map(|shard| shard.received.iter().copied()).collect();
        let row = |(place, row)| FlowRow {
            t_ns: now.ns(),
            received_bytes: received.get(&place).copied().unwrap_or(0),
            ..row
        };
        sent.into_iter().map(row).collect()
    }
}

impl Endpoints {
    /// Whether hosts can be in different shards: packets are all that an agent on one host learns of those on others.
    pub fn can_be_sharded(&self) -> bool {
        self.jobs.is_empty() && self.mptcp_connections.is_empty()
    }

    /// From where to where agents send; see [`longhaul_network::Network::plan_lookahead`].
    pub fn node_pairs(&self) -> Vec<(NodeId, NodeId)> {
        let mut ways: Vec<_> = self.agents.iter().filter_map(Agent::way).collect();
        ways.sort_unstable();
        ways.dedup();
        ways
    }

    /// Whether each host may advance by its own clock: hosts share no state, and no packet exceeds the MTU of its path.
    pub fn may_look_ahead(&self) -> bool {
        self.all_fit && self.can_be_sharded()
    }

    /// Moves all agents into endpoints for `count` shards: `partition` is the shard of each node.
    /// [`swap_agents`](Self::swap_agents) brings them back.
    pub fn split(&mut self, partition: &[u32], count: u32, nodes: usize) -> Vec<Endpoints> {
        let mut shards: Vec<Endpoints> = (0..count).map(|own| self.part(own, partition)).collect();
        self.swap_agents(&mut shards.iter_mut().collect::<Vec<_>>(), partition);
        for shard in &mut shards {
            shard.timers = Timers::new(nodes, shard.agents.iter().map(Agent::home));
            for (agent, each) in (0u32..).zip(&shard.agents) {
                if each.home().is_some() {
                    shard.timers.set(agent, each.timer());
                }
            }
        }
        shards
    }

    fn part(&self, own: u32, partition: &[u32]) -> Endpoints {
        let is_own = |agent: &Agent| agent.home().is_some_and(|home| partition[home.0 as usize] == own);
        let busy: Vec<bool> =
            self.busy.iter().zip(&self.agents).map(|(&busy, agent)| busy && is_own(agent)).collect();
        let own_sources = self.real_sources.iter().filter(|&&agent| is_own(&self.agents[agent as usize]));
        Endpoints {
            flows: self.flows.clone(),
            end: self.end,
            all_fit: self.all_fit,
            agents: self.agents.iter().map(|_| Agent::Remote).collect(),
            pairs: self.pairs.clone(),
            jobs: Vec::new(),
            mptcp_connections: Vec::new(),
            timers: Timers::new(0, std::iter::empty()),
            now: self.now,
            busy_agents: (0..busy.len()).filter(|&agent| busy[agent] && self.is_finite(agent)).count(),
            busy,
            closed_pairs: Vec::new(),
            steps: 0,
            real_sources: own_sources.copied().collect(),
        }
    }

    /// Swaps the agents of `shards` with those here: the first call collects all agents here, the second returns each to its
    /// shard. `partition` is the shard of each node.
    pub fn swap_agents(&mut self, shards: &mut [&mut Endpoints], partition: &[u32]) {
        for agent in 0..self.agents.len() {
            let Some(home) = self.agents[agent]
                .home()
                .or_else(|| shards.iter().find_map(|shard| shard.agents[agent].home()))
            else {
                continue;
            };
            let shard = partition[home.0 as usize] as usize;
            std::mem::swap(&mut self.agents[agent], &mut shards[shard].agents[agent]);
        }
        for shard in shards {
            self.now = self.now.max(shard.now);
            for (own, other) in self.pairs.iter_mut().zip(&shard.pairs) {
                own.done = [own.done, other.done].into_iter().flatten().min();
            }
        }
    }

    /// Gives back the memory of connections that both ends, in whichever of `shards`, have closed, and know to be closed.
    pub fn reap_shards(&mut self, shards: &mut [&mut Endpoints], partition: &[u32]) {
        for shard in &mut *shards {
            self.closed_pairs.append(&mut shard.closed_pairs);
        }
        if self.closed_pairs.is_empty() {
            return;
        }
        self.swap_agents(shards, partition);
        let reaped = self.reap_closed();
        self.swap_agents(shards, partition);
        for agent in reaped {
            for shard in &mut *shards {
                if shard.agents[agent as usize].home().is_some() {
                    shard.timers.set(agent, Time::NEVER);
                }
            }
        }
    }

    /// Room for what shards of these endpoints tell each other of streams that have [closed](Self::reap_own).
    pub fn closed_ends(&self) -> ClosedEnds {
        ClosedEnds(self.pairs.iter().map(|_| AtomicU8::new(0)).collect())
    }

    /// Gives back the memory of this shard's ends of connections that both ends have closed, and know to be closed. The other end may
    /// be on another thread, which says so by `closed`.
    pub fn reap_own(&mut self, closed: &ClosedEnds) {
        let mut waiting = Vec::new();
        for place in std::mem::take(&mut self.closed_pairs) {
            let pair = self.pairs[place as usize];
            let has_closed =
                |agent: u32| matches!(&self.agents[agent as usize], Agent::Stream(end) if end.is_closed());
            let own = u8::from(has_closed(pair.sender)) | u8::from(has_closed(pair.receiver)) << 1;
            if closed.0[place as usize].fetch_or(own, Ordering::Relaxed) | own != 3 {
                waiting.push(place);
                continue;
            }
            for agent in [pair.sender, pair.receiver] {
                if let Agent::Stream(end) = &mut self.agents[agent as usize] {
                    end.reap();
                    self.timers.set(agent, Time::NEVER);
                }
            }
        }
        waiting.dedup();
        self.closed_pairs = waiting;
    }

    /// What the ends in this shard know at `now`; [joined](EndSamples::joined) with those of the others, the state of every stream.
    pub fn end_samples(&self, now: Time) -> EndSamples {
        let pairs = || (0u32..).zip(&self.pairs);
        EndSamples {
            sent: pairs().filter_map(|(place, pair)| Some((place, self.sender_row(pair, now)?))).collect(),
            received: pairs()
                .filter_map(|(place, pair)| {
                    Some((place, self.receiver_bytes(pair).filter(|&bytes| bytes > 0)?))
                })
                .collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_has_the_bytes_that_its_receiver_counts_in_another_shard() {
        let row = FlowRow {
            t_ns: 7,
            flow: 3,
            stream: 1,
            sent_bytes: 500,
            received_bytes: 0,
            window_segments: Some(10.0),
            threshold_segments: None,
            rtt_ns: Some(4),
            retransmits: 2,
            in_flight: 5,
        };
        let senders =
            EndSamples { sent: vec![(4, row), (6, FlowRow { stream: 2, ..row })], received: vec![] };
        let receivers = EndSamples { sent: vec![], received: vec![(4, 400), (5, 9)] };
        let joined = EndSamples::joined(&[receivers, senders], Time::from_ns(100));
        let expected =
            [FlowRow { t_ns: 100, received_bytes: 400, ..row }, FlowRow { t_ns: 100, stream: 2, ..row }];
        assert_eq!(joined, expected, "one whose sender is not open is left out");
    }
}
