//! Endpoints of which several shards have a part each.

use crate::agent::Agent;
use crate::endpoints::Endpoints;
use crate::timers::Timers;
use longhaul_network::NodeId;
use longhaul_units::Time;

impl Endpoints {
    /// Whether hosts can be in different shards.
    pub fn can_be_sharded(&self) -> bool {
        self.hosts_share_no_state() && self.real_sources.is_empty()
    }

    /// Whether packets are all that an agent on one host learns of those on others.
    fn hosts_share_no_state(&self) -> bool {
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
        self.all_fit && self.hosts_share_no_state()
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
            busy: self.busy.iter().zip(&self.agents).map(|(&busy, agent)| busy && is_own(agent)).collect(),
            busy_agents: self.busy_agents,
            closed_pairs: Vec::new(),
            steps: 0,
            real_sources: Vec::new(),
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
}
