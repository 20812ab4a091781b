//! Simulated parallel programs: ranks that compute and wait for messages.

use crate::agent::{Agent, AgentContext, Way};
use crate::build::{path_mtu, settings};
use crate::endpoints::Endpoints;
use crate::payload::PayloadSink;
use longhaul_network::{Network, NodeId};
use longhaul_plan::{Job as Plan, Plan as Whole, Step};
use longhaul_random::Seed;
use longhaul_record::Distribution;
use longhaul_transport::{Connection, Segment};
use longhaul_units::{InvalidValue, Span, Time};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// A rank, by its job and its number.
pub type RankId = (u32, u32);

/// Iterations of a job whose times results have one by one.
const MAX_ITERATION_TIMES: usize = 100_000;

/// One end of the connection between two ranks.
pub struct Channel {
    connection: Connection,
    pub way: Way,
    pub owner: RankId,
    /// When the end that opens does so.
    opens: Option<Time>,
    timer: Time,
}

/// Wakes a rank.
#[derive(Debug)]
pub struct ComputeTimer {
    /// The host that it lives on.
    pub home: NodeId,
    pub at: Time,
    pub owner: RankId,
}

/// A job at work, or the ranks of one that are on the hosts of one shard.
#[derive(Clone)]
pub struct Job {
    name: String,
    /// When it begins; [`Time::NEVER`] while jobs that it begins after have not ended.
    start: Time,
    /// Jobs that have not ended and that it begins after, by position.
    predecessors: BTreeSet<u32>,
    /// Its agents that act when it begins: ranks' sleepers, and the ends that open connections.
    start_agents: Vec<u32>,
    repeat: u32,
    steps: Vec<Vec<Step>>,
    ranks: Vec<Rank>,
    /// Ranks here that have steps.
    active: usize,
    /// Ranks that have finished each iteration that not all have.
    iteration_counts: BTreeMap<u32, usize>,
    iterations: Iterations,
    /// When the ranks here had finished the last iteration.
    done: Option<Time>,
    /// In a shard: when its ranks had finished each iteration. All shards together know when the job has.
    own_ends: Option<Vec<Time>>,
}

#[derive(Clone)]
struct Rank {
    step: usize,
    iteration: u32,
    compute_timer: u32,
    computing: bool,
    peers: BTreeMap<u32, Peer>,
}

/// What a rank has of another.
#[derive(Clone)]
struct Peer {
    /// The agent of its end of the connection; `None`: they share a host.
    agent: Option<u32>,
    /// Bytes that have come within the host.
    local_bytes: u64,
    /// Bytes that have been waited for.
    taken_bytes: u64,
}

impl Channel {
    pub fn connection(&self) -> &Connection {
        &self.connection
    }

    pub fn receive(
        &mut self,
        segment: &Segment,
        marked: bool,
        context: &mut AgentContext<'_, impl PayloadSink>,
    ) {
        self.connection.receive(context.now, segment, marked);
        self.transmit(context);
    }

    pub fn expire(&mut self, context: &mut AgentContext<'_, impl PayloadSink>) {
        if self.opens.is_some_and(|at| at <= context.now) {
            self.opens = None;
            self.connection.open(context.now);
        }
        if self.connection.timer() <= context.now {
            self.connection.expire(context.now);
        }
        self.transmit(context);
    }

    pub fn timer(&self) -> Time {
        self.timer
    }

    pub fn owner(&self) -> RankId {
        self.owner
    }

    /// The host that it lives on.
    pub fn home(&self) -> NodeId {
        self.way.from
    }

    fn write(&mut self, bytes: u64, context: &mut AgentContext<'_, impl PayloadSink>) {
        self.connection.write(context.now, bytes);
        if self.opens.is_none() {
            self.transmit(context);
        }
    }

    /// Lets the end that opens do so at `at`.
    fn open_at(&mut self, at: Time) {
        self.opens = Some(at);
        self.timer = self.timer.min(at);
    }

    fn transmit(&mut self, context: &mut AgentContext<'_, impl PayloadSink>) {
        while let Some(segment) = self.connection.poll(context.now) {
            context.send_segment(&self.way, &segment);
        }
        self.timer = self.connection.timer().min(self.opens.unwrap_or(Time::NEVER));
    }
}

impl Endpoints {
    pub(crate) fn add_job(
        &mut self,
        number: u32,
        plan: &Plan,
        whole: &Whole,
        network: &Network,
    ) -> Result<(), InvalidValue> {
        let predecessors: BTreeSet<u32> = (0u32..)
            .zip(&whole.jobs)
            .filter(|(_, other)| plan.after.contains(&other.name))
            .map(|(position, _)| position)
            .collect();
        let start = if predecessors.is_empty() { Time::from_ns(plan.start_ns) } else { Time::NEVER };
        let mut start_agents = Vec::new();
        let mut ranks = Vec::with_capacity(plan.ranks.len());
        for (rank, &node) in (0u32..).zip(&plan.ranks) {
            let home = NodeId(node as u32);
            let compute_timer = self.agents.len() as u32;
            start_agents.push(compute_timer);
            self.agents.push(Agent::ComputeTimer(Box::new(ComputeTimer {
                at: start,
                home,
                owner: (number, rank),
            })));
            ranks.push(Rank {
                step: 0,
                iteration: 0,
                compute_timer,
                computing: false,
                peers: BTreeMap::new(),
            });
        }
        let mut pairs = BTreeSet::new();
        for (rank, steps) in (0u32..).zip(&plan.steps) {
            for step in steps {
                if let Step::Send { to: other, .. } | Step::Receive { from: other, .. } = *step {
                    pairs.insert((rank.min(other), rank.max(other)));
                }
            }
        }
        for (first, second) in pairs {
            let ends = self.connect_ranks((number, start), plan, (first, second), whole, network)?;
            start_agents.extend(ends.0);
            for (rank, other, agent) in [(first, second, ends.0), (second, first, ends.1)] {
                let peer = Peer { agent, local_bytes: 0, taken_bytes: 0 };
                ranks[rank as usize].peers.insert(other, peer);
            }
        }
        self.jobs.push(Job {
            name: plan.name.clone(),
            start,
            predecessors,
            start_agents,
            repeat: plan.repeat,
            steps: plan.steps.clone(),
            ranks,
            active: plan.steps.iter().filter(|steps| !steps.is_empty()).count(),
            iteration_counts: BTreeMap::new(),
            iterations: Iterations::new(start),
            done: None,
            own_ends: None,
        });
        Ok(())
    }

    /// The agents of a connection between two ranks; none if they share a host.
    fn connect_ranks(
        &mut self,
        (number, start): (u32, Time),
        plan: &Plan,
        (first, second): (u32, u32),
        whole: &Whole,
        network: &Network,
    ) -> Result<(Option<u32>, Option<u32>), InvalidValue> {
        let node = |rank: u32| NodeId(plan.ranks[rank as usize] as u32);
        let (from, to) = (node(first), node(second));
        if from == to {
            return Ok((None, None));
        }
        let mtu = path_mtu(whole, network, [from, to])?;
        let (settings, algorithm) = (Arc::new(settings(&plan.tcp, mtu)), Arc::new(plan.cc.clone()));
        let stream = first * plan.ranks.len() as u32 + second;
        let (there, back) = self.ways(from, to, u32::MAX - number, stream, plan.tcp.ipv6);
        let seed = Seed::new(whole.seed);
        let rng = |end: &str| seed.stream(&format!("{}/{first}-{second}/{end}", plan.name));
        let client = Connection::connect(&settings, &algorithm, rng("source"));
        let server = Connection::listen(&settings, &algorithm, rng("destination"));
        let place = self.agents.len() as u32;
        let ends = [(client, there, first, Some(start)), (server, back, second, None)];
        for (connection, way, rank, opens) in ends {
            let owner = (number, rank);
            let timer = opens.unwrap_or(Time::NEVER);
            self.agents.push(Agent::Channel(Box::new(Channel { connection, way, owner, opens, timer })));
        }
        Ok((Some(place), Some(place + 1)))
    }

    /// Goes on with a rank as far as it gets.
    pub(crate) fn progress(&mut self, owner: RankId, context: &mut AgentContext<'_, impl PayloadSink>) {
        let mut woken = vec![owner];
        while let Some((number, rank)) = woken.pop() {
            while let Some(step) = self.next_step((number, rank)) {
                if !self.execute_step((number, rank), step, &mut woken, context) {
                    break;
                }
            }
            if self.jobs[number as usize].done == Some(self.now) {
                self.start_waiting_jobs(number);
            }
        }
    }

    /// Begins the jobs that have waited for this one, which has ended, and for no other any more.
    fn start_waiting_jobs(&mut self, ended: u32) {
        let now = self.now;
        for number in 0..self.jobs.len() {
            let job = &mut self.jobs[number];
            if !job.predecessors.remove(&ended) || !job.predecessors.is_empty() {
                continue;
            }
            (job.start, job.iterations) = (now, Iterations::new(now));
            for agent in std::mem::take(&mut job.start_agents) {
                match &mut self.agents[agent as usize] {
                    Agent::ComputeTimer(compute_timer) => compute_timer.at = now,
                    Agent::Channel(channel) => channel.open_at(now),
                    _ => {}
                }
                self.timers.set(agent, now);
            }
        }
    }

    /// The step that a rank is at; between two iterations it goes over to the next. `None`: it has done
    /// all, or has nothing to do.
    fn next_step(&mut self, (number, rank): RankId) -> Option<Step> {
        let now = self.now;
        let job = &mut self.jobs[number as usize];
        let steps = &job.steps[rank as usize];
        let at = &mut job.ranks[rank as usize];
        if now < job.start || at.iteration >= job.repeat {
            return None;
        }
        if let Some(&step) = steps.get(at.step) {
            return Some(step);
        }
        let first = *steps.first()?;
        let ended = at.iteration;
        at.iteration += 1;
        at.step = 0;
        let more = at.iteration < job.repeat;
        let finished = job.iteration_counts.entry(ended).or_default();
        *finished += 1;
        if *finished == job.active {
            job.iteration_counts.remove(&ended);
            job.end_iteration(now);
            if ended + 1 == job.repeat {
                job.done = Some(now);
            }
        }
        more.then_some(first)
    }

    /// Whether the step is done; otherwise the rank waits.
    fn execute_step(
        &mut self,
        (number, rank): RankId,
        step: Step,
        woken: &mut Vec<RankId>,
        context: &mut AgentContext<'_, impl PayloadSink>,
    ) -> bool {
        match step {
            Step::Send { to, bytes } => {
                let job = &mut self.jobs[number as usize];
                job.ranks[rank as usize].step += 1;
                match job.ranks[rank as usize].peers.get(&to).and_then(|peer| peer.agent) {
                    Some(agent) => self.write(agent, bytes, context),
                    None => {
                        if let Some(peer) = job.ranks[to as usize].peers.get_mut(&rank) {
                            peer.local_bytes += bytes;
                            woken.push((number, to));
                        }
                    }
                }
                true
            }
            Step::Receive { from, bytes } => {
                let at = &mut self.jobs[number as usize].ranks[rank as usize];
                let Some(peer) = at.peers.get_mut(&from) else { return false };
                let came = match peer.agent.map(|agent| &self.agents[agent as usize]) {
                    Some(Agent::Channel(channel)) => channel.connection.received(),
                    _ => peer.local_bytes,
                };
                if came < peer.taken_bytes + bytes {
                    return false;
                }
                peer.taken_bytes += bytes;
                at.step += 1;
                true
            }
            Step::Compute { ns } => {
                let at = &mut self.jobs[number as usize].ranks[rank as usize];
                let compute_timer = at.compute_timer;
                if at.computing {
                    let over = self.compute_is_done(compute_timer);
                    let at = &mut self.jobs[number as usize].ranks[rank as usize];
                    at.computing = !over;
                    at.step += usize::from(over);
                    return over;
                }
                at.computing = true;
                let until = self.now + Span::from_ns(ns);
                if let Agent::ComputeTimer(each) = &mut self.agents[compute_timer as usize] {
                    each.at = until;
                }
                self.timers.set(compute_timer, until);
                false
            }
        }
    }

    fn compute_is_done(&self, compute_timer: u32) -> bool {
        matches!(&self.agents[compute_timer as usize], Agent::ComputeTimer(each) if each.at == Time::NEVER)
    }

    fn write(&mut self, agent: u32, bytes: u64, context: &mut AgentContext<'_, impl PayloadSink>) {
        if let Agent::Channel(channel) = &mut self.agents[agent as usize] {
            channel.write(bytes, context);
        }
        self.set_timer(agent);
    }
}

impl Job {
    /// Whether the ranks here have no iterations left.
    pub fn is_done(&self) -> bool {
        self.done.is_some() || self.repeat == 0 || (self.own_ends.is_some() && self.active == 0)
    }

    /// Whether it begins when others have ended, whose ranks may be anywhere.
    pub fn waits_for_others(&self) -> bool {
        !self.predecessors.is_empty()
    }

    /// The share of a shard, which has those ranks for which `is_own` holds of their agents.
    pub fn part(&self, is_own: impl Fn(u32) -> bool) -> Job {
        let own = self.ranks.iter().zip(&self.steps).filter(|(rank, _)| is_own(rank.compute_timer));
        Job {
            active: own.filter(|(_, steps)| !steps.is_empty()).count(),
            own_ends: Some(Vec::new()),
            ..self.clone()
        }
    }

    fn end_iteration(&mut self, now: Time) {
        match &mut self.own_ends {
            Some(ends) => ends.push(now),
            None => self.iterations.end(now),
        }
    }

    /// What became of it; of the ranks of a shard, what [`joined`] needs.
    pub fn result(&self) -> Value {
        let start = (self.start != Time::NEVER).then_some(self.start);
        if let Some(ends) = &self.own_ends {
            let ends_ns: Vec<u64> = ends.iter().map(|end| end.ns()).collect();
            return json!(Part {
                name: self.name.clone(),
                ranks: self.ranks.len(),
                repeat: self.repeat,
                start_ns: start.map(Time::ns),
                has_ranks: self.active > 0,
                ends_ns
            });
        }
        self.iterations.result(&self.name, self.ranks.len(), self.repeat, start, self.done)
    }
}

/// The iterations of a job that have ended.
#[derive(Clone)]
struct Iterations {
    times: Distribution,
    /// How long each of the first ones took, in ns.
    first_ns: Vec<u64>,
    last_end: Time,
}

impl Iterations {
    /// None, of a job that begins at `start`.
    fn new(start: Time) -> Self {
        Iterations { times: Distribution::new(), first_ns: Vec::new(), last_end: start }
    }

    fn end(&mut self, now: Time) {
        let took_ns = now.since(self.last_end).ns();
        self.times.add(took_ns, 1);
        if self.first_ns.len() < MAX_ITERATION_TIMES {
            self.first_ns.push(took_ns);
        }
        self.last_end = now;
    }

    /// What became of their job, which is `done` if it has no more.
    fn result(
        &self,
        name: &str,
        ranks: usize,
        repeat: u32,
        start: Option<Time>,
        done: Option<Time>,
    ) -> Value {
        json!({
            "name": name,
            "ranks": ranks,
            "start_ns": start.map(Time::ns),
            "iterations": self.times.count(),
            "repeat": repeat,
            "wall_ns": done.zip(start).map(|(done, start)| done.since(start).ns()),
            "iteration": self.times.summary(),
            "iteration_ns": self.first_ns,
        })
    }
}

/// What a shard knows of a job.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Part {
    name: String,
    ranks: usize,
    repeat: u32,
    start_ns: Option<u64>,
    /// Whether ranks with steps are in it.
    has_ranks: bool,
    /// When its ranks had finished each iteration.
    ends_ns: Vec<u64>,
}

/// The results of all jobs, of those of each shard: an iteration has ended when the ranks of all shards have finished it.
///
/// # Errors
/// If a result is not that of a shard.
pub fn joined(shards: &[Vec<Value>]) -> serde_json::Result<Vec<Value>> {
    let count = shards.iter().map(Vec::len).min().unwrap_or(0);
    (0..count)
        .map(|place| {
            let parts = shards.iter().map(|jobs| Part::deserialize(&jobs[place]));
            Ok(joined_job(&parts.collect::<serde_json::Result<Vec<_>>>()?))
        })
        .collect()
}

fn joined_job(parts: &[Part]) -> Value {
    let with_ranks = || parts.iter().filter(|part| part.has_ranks);
    let finished = with_ranks().map(|part| part.ends_ns.len()).min().unwrap_or(0);
    let start = parts.iter().find_map(|part| part.start_ns).map(Time::from_ns);
    let mut iterations = Iterations::new(start.unwrap_or(Time::ZERO));
    for iteration in 0..finished {
        let ends = with_ranks().map(|part| Time::from_ns(part.ends_ns[iteration]));
        iterations.end(ends.fold(iterations.last_end, Time::max));
    }
    let (name, ranks, repeat) =
        parts.first().map_or(("", 0, 0), |part| (&*part.name, part.ranks, part.repeat));
    let done = (finished > 0 && finished as u64 == u64::from(repeat)).then_some(iterations.last_end);
    iterations.result(name, ranks, repeat, start, done)
}
