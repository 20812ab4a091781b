//! Endpoints of which several shards have a part each.

use crate::agent::Agent;
use crate::endpoints::{Endpoints, Pair};
use crate::jobs::Job;
use crate::timers::Timers;
use longhaul_network::NodeId;
use longhaul_record::FlowRow;
use longhaul_units::{Span, Time};
use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicU8, Ordering};

/// How long an end stays closed before it is reaped if the other one is on another machine, which may not have its last
/// acknowledgement (TIME-WAIT of RFC 9293, section 3.6.1; as long as in Linux).
const TIME_WAIT: Span = Span::from_s(60);
/// How long samples of a machine have a stream after its last change.
const LAST_SAMPLES: Span = Span::from_s(1);

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

    /// Whether they can be divided among engines that each end by themselves. Ranks of a job learn from each other by packets alone, but
    /// only all together know when one has ended that another waits for.
    pub fn can_be_divided(&self) -> bool {
        self.mptcp_connections.is_empty() && !self.jobs.iter().any(Job::waits_for_others)
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
            jobs: self
                .jobs
                .iter()
                .map(|job| job.part(|agent| is_own(&self.agents[agent as usize])))
                .collect(),
            mptcp_connections: Vec::new(),
            timers: Timers::new(0, std::iter::empty()),
            now: self.now,
            busy_agents: (0..busy.len()).filter(|&agent| busy[agent] && self.is_finite(agent)).count(),
            busy,
            closed_pairs: Vec::new(),
            closed_apart: VecDeque::new(),
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

    /// The same at `now` on a machine, which does not know when ends on other machines have closed.
    pub fn reap_on_machine(&mut self, now: Time) {
        for &place in &self.closed_pairs {
            let pair = &self.pairs[place as usize];
            let is_here = |agent: u32| !matches!(self.agents[agent as usize], Agent::Remote);
            if is_here(pair.sender) != is_here(pair.receiver) {
                self.closed_apart.push_back((now, place));
            }
        }
        self.reap();
        while let Some(&(since, place)) = self.closed_apart.front()
            && since + TIME_WAIT <= now
        {
            self.closed_apart.pop_front();
            let pair = self.pairs[place as usize];
            for agent in [pair.sender, pair.receiver] {
                if let Agent::Stream(end) = &mut self.agents[agent as usize] {
                    end.reap();
                    self.timers.set(agent, Time::NEVER);
                }
            }
        }
    }

    /// What the ends on this machine know of each stream at `now`. Where one end is on another machine, which has a row of its own for
    /// it, a row has the columns of the other end.
    pub fn machine_samples(&self, now: Time) -> impl Iterator<Item = FlowRow> {
        self.pairs.iter().filter(move |pair| !self.has_long_ended(pair, now)).filter_map(move |pair| {
            let received_bytes = self.receiver_bytes(pair).unwrap_or(0);
            let known = self.sender_row(pair, now).or_else(|| {
                let sends_elsewhere = matches!(self.agents[pair.sender as usize], Agent::Remote);
                (sends_elsewhere && received_bytes > 0).then(|| pair.blank_row(now))
            })?;
            Some(FlowRow { received_bytes, ..known })
        })
    }

    /// Whether an end of `pair` has been closed for longer than [`LAST_SAMPLES`].
    fn has_long_ended(&self, pair: &Pair, now: Time) -> bool {
        let ended = |agent: u32| match &self.agents[agent as usize] {
            Agent::Stream(end) if !end.is_open() => end.ended(),
            Agent::Stream(end) if end.is_closed() => pair.done.or(end.ended()),
            _ => None,
        };
        let ends = [pair.sender, pair.receiver].map(ended);
        ends.into_iter().flatten().any(|ended| ended + LAST_SAMPLES < now)
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
    use crate::payload::{Arrival, PayloadPool, PayloadSink};
    use longhaul_network::{DirectionId, Fate, Message, Network, Packet, Reply, Sink};
    use longhaul_plan::Plan;
    use serde_json::{Value, json};

    /// 10 ms between two hosts, and 100 kB over TCP from one to the other.
    fn plan() -> Plan {
        let direction = json!({
            "up": true, "loss": {"model": "none"}, "queue": {"limit_packets": null, "limit_bytes": null},
            "rate": {"model": "unlimited"}, "delay": {"model": "constant", "delay_ns": 10_000_000}, "reorder": false,
            "duplicate": 0.0, "corrupt": 0.0,
        });
        let host = |name: &str, ipv4: &str| json!({"name": name, "kind": "host", "ipv4": ipv4, "mtu": 1500});
        let plan: Value = json!({
            "version": longhaul_plan::VERSION, "name": "pair", "seed": 1, "duration_ns": 200_000_000_000u64,
            "coalesce_ns": 0,
            "nodes": [host("a", "10.0.0.1"), host("b", "10.0.0.2")],
            "links": [{"name": "wan", "endpoints": [0, 1], "mtu": 1500, "forward": direction, "reverse": direction}],
            "routes": [], "programs": [], "events": [],
            "measure": {
                "every_ns": 100_000_000, "captures": [], "snaplen": 96, "packet_links": [], "packet_window_ns": 0,
                "journal": false,
            },
            "flows": [{
                "name": "file", "source": 0, "destination": 1, "start_ns": 0, "stop_ns": null, "simulated": true,
                "traffic": {
                    "kind": "tcp", "streams": 1, "cc": {"algorithm": "reno"}, "bytes": 100_000, "bits_per_s": null,
                    "tcp": {"buffer_bytes": 1_000_000, "ipv6": false},
                },
            }],
        });
        Plan::from_json(plan.to_string().as_bytes()).unwrap()
    }

    /// What simulated packets carry, and the hosts of those that have arrived.
    #[derive(Default)]
    struct Hosts(PayloadPool, Vec<NodeId>);

    impl Sink for Hosts {
        fn deliver(&mut self, host: NodeId, packet: Packet, _: Time, _: Option<DirectionId>) {
            self.1.push(host);
            self.0.deliver(&packet);
        }
        fn end(&mut self, packet: Packet, fate: Fate, _: Time, _: Option<DirectionId>) {
            self.0.end(&packet, fate);
        }
        fn copied(&mut self, packet: &Packet) {
            self.0.copied(packet);
        }
        fn reply(&mut self, _: NodeId, about: &Packet, message: Message) -> Option<Reply> {
            self.0.reply(about, message)
        }
    }

    impl PayloadSink for Hosts {
        fn payloads(&mut self) -> &mut PayloadPool {
            &mut self.0
        }
    }

    /// Lets the ends in both shards, each of which has one host, act until `end`.
    fn run(shards: &mut [Endpoints], network: &mut Network, hosts: &mut Hosts, end: Time) {
        loop {
            let timer = shards.iter().map(Endpoints::next_event).min().unwrap_or(Time::NEVER);
            let now = network.next_event().min(timer);
            if now > end {
                return;
            }
            network.advance(now, hosts);
            let arrived: Vec<Arrival> = std::mem::take(&mut hosts.0.arrived);
            for (arrival, host) in arrived.into_iter().zip(std::mem::take(&mut hosts.1)) {
                hosts.0.arrived.push(arrival);
                let shard = (host.0 as usize).min(shards.len() - 1);
                shards[shard].deliver_arrivals(now, network, hosts);
            }
            for shard in &mut *shards {
                if shard.next_event() <= now {
                    shard.expire(now, network, hosts);
                }
            }
        }
    }

    #[test]
    fn each_machine_records_what_its_end_knows_and_reaps_it_after_time_wait() {
        let plan = plan();
        let mut network = Network::new(&plan).unwrap();
        let mut whole = Endpoints::new(&plan, &network, |_| true).unwrap();
        let mut shards = whole.split(&[0, 1], 2, 2);
        let mut hosts = Hosts::default();
        let at = |ms: u64| Time::ZERO + Span::from_ms(ms);
        run(&mut shards, &mut network, &mut hosts, at(500));
        let rows = |shard: &Endpoints, ms: u64| -> Vec<(u64, u64)> {
            shard.machine_samples(at(ms)).map(|row| (row.sent_bytes, row.received_bytes)).collect()
        };
        assert_eq!(rows(&shards[0], 500), [(100_000, 0)]);
        assert_eq!(rows(&shards[1], 500), [(0, 100_000)]);
        let results: Vec<Value> = shards.iter().flat_map(|shard| shard.flows(at(500)).0).collect();
        let known =
            |field: &str| -> Vec<bool> { results.iter().map(|result| !result[field].is_null()).collect() };
        for (field, expected) in [
            ("segments_sent", [true, false]),
            ("done_ns", [true, false]),
            ("rtt", [true, false]),
            ("bytes", [false, true]),
            ("arrived_ns", [false, true]),
            ("goodput_bits_per_s", [false, true]),
        ] {
            assert_eq!(known(field), expected, "{field}");
        }
        // It has long ended.
        assert!(shards.iter().all(|shard| rows(shard, 5_000).is_empty()));
        let is_open = |shard: &Endpoints, agent: usize| matches!(&shard.agents[agent], Agent::Stream(end) if end.is_open());
        for (agent, shard) in shards.iter_mut().enumerate() {
            shard.reap_on_machine(at(1_000));
            shard.reap_on_machine(at(60_999));
            assert!(is_open(shard, agent));
            shard.reap_on_machine(at(61_000));
            assert!(!is_open(shard, agent));
            assert!(rows(shard, 61_000).is_empty());
        }
        // Results stay.
        assert_eq!(shards[1].flows(at(500)).0[0]["bytes"], 100_000);
    }

    #[test]
    fn a_job_in_two_shards_has_the_results_of_one() {
        let send = |to: u32| json!({"do": "send", "to": to, "bytes": 30_000});
        let receive = |from: u32| json!({"do": "receive", "from": from, "bytes": 30_000});
        let compute = json!({"do": "compute", "ns": 3_000_000});
        let job = json!({
            "name": "halo", "start_ns": 5_000_000, "ranks": [0, 1, 0], "repeat": 4, "cc": {"algorithm": "reno"},
            "tcp": {"buffer_bytes": 1_000_000, "ipv6": false},
            "steps": [[compute, send(1), receive(1)], [receive(0), compute, send(0)], []],
        });
        let mut plan = plan();
        plan.flows.clear();
        plan.jobs = vec![serde_json::from_value(job).unwrap()];
        let results = |count: u32, end: Time| {
            let mut network = Network::new(&plan).unwrap();
            let mut whole = Endpoints::new(&plan, &network, |_| true).unwrap();
            assert!(whole.can_be_divided() && !whole.can_be_sharded());
            let mut shards = match count {
                1 => vec![whole],
                _ => whole.split(&[0, 1], 2, 2),
            };
            run(&mut shards, &mut network, &mut Hosts::default(), end);
            let are_done = shards.iter().all(Endpoints::are_done);
            let mut jobs: Vec<Vec<Value>> = shards.iter().map(Endpoints::jobs).collect();
            (are_done, if count == 1 { jobs.remove(0) } else { crate::jobs::joined(&jobs).unwrap() })
        };
        let at = |ms: u64| Time::ZERO + Span::from_ms(ms);
        let (are_done, whole) = results(1, at(1_000));
        assert!(are_done);
        assert_eq!(whole[0]["iterations"], 4);
        // Two of the link's delays, and two computations.
        assert_eq!(whole[0]["iteration_ns"][3], 26_000_000);
        assert_eq!(results(2, at(1_000)), (true, whole));
        // It is interrupted in an iteration that the ranks of one shard have finished.
        for ms in [0, 60, 80, 90, 150, 200, 236] {
            assert_eq!(results(2, at(ms)), results(1, at(ms)), "{ms} ms");
        }
    }

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
