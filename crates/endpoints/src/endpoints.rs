use crate::agent::{Agent, AgentContext};
use crate::flow_info::FlowInfo;
use crate::jobs::Job;
use crate::mptcp::MptcpConnection;
use crate::payload::{Arrival, PayloadSink};
use crate::timers::Timers;
use longhaul_network::{Network, NodeId, Progress};
use longhaul_plan::{Flow, Plan};
use longhaul_record::FlowRow;
use longhaul_units::{InvalidValue, Rate, Span, Time};
use std::collections::VecDeque;

/// The simulated ends of flows and jobs.
///
/// Whenever the network has been advanced, [`deliver_arrivals`](Self::deliver_arrivals) what has arrived; at
/// [`next_event`](Self::next_event), after everything that is due in the network then,
/// [`expire`](Self::expire). Times never go back. Equal calls give equal results.
pub struct Endpoints {
    /// Of all flows of the plan.
    pub(crate) flows: Vec<FlowInfo>,
    /// When the run ends; never, if its flows decide.
    pub(crate) end: Time,
    /// Whether every packet passes the smallest MTU of its way.
    pub(crate) all_fit: bool,
    pub(crate) agents: Vec<Agent>,
    /// The agents of flows come first, two by two, in this order.
    pub(crate) pairs: Vec<Pair>,
    pub(crate) jobs: Vec<Job>,
    pub(crate) mptcp_connections: Vec<MptcpConnection>,
    pub(crate) timers: Timers,
    /// Latest instant that anyone has acted at.
    pub(crate) now: Time,
    /// Agents that have something to do yet; each is counted off once.
    pub(crate) busy: Vec<bool>,
    /// Those of them that will have done it one day.
    pub(crate) busy_agents: usize,
    /// Pairs of which an end has closed since closed connections were last reaped.
    pub(crate) closed_pairs: Vec<u32>,
    /// Pairs whose other end is on another machine, and when this one was found closed.
    pub(crate) closed_apart: VecDeque<(Time, u32)>,
    pub(crate) steps: u64,
    /// Agents that send packets with bytes.
    pub(crate) real_sources: Vec<u32>,
}

/// The two agents of a stream of a flow.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pair {
    pub flow: u32,
    pub stream: u32,
    pub sender: u32,
    pub receiver: u32,
    /// When the sender had done what it was to do.
    pub done: Option<Time>,
}

impl Pair {
    /// A row of records in which nothing is known yet of the stream.
    pub fn blank_row(&self, now: Time) -> FlowRow {
        FlowRow {
            t_ns: now.ns(),
            flow: self.flow,
            stream: self.stream,
            sent_bytes: 0,
            received_bytes: 0,
            window_segments: None,
            threshold_segments: None,
            rtt_ns: None,
            retransmits: 0,
            in_flight: 0,
        }
    }
}

impl Endpoints {
    /// The ends of those flows of `plan` that `includes` wants, and of all its jobs, on its `network`.
    ///
    /// # Errors
    /// The first flow or job that cannot be simulated, with its field.
    pub fn new(
        plan: &Plan,
        network: &Network,
        includes: impl Fn(&Flow) -> bool,
    ) -> Result<Self, InvalidValue> {
        let mut made = Endpoints {
            agents: Vec::new(),
            pairs: Vec::new(),
            jobs: Vec::new(),
            mptcp_connections: Vec::new(),
            timers: Timers::new(0, std::iter::empty()),
            now: Time::ZERO,
            busy: Vec::new(),
            busy_agents: 0,
            closed_pairs: Vec::new(),
            closed_apart: VecDeque::new(),
            steps: 0,
            real_sources: Vec::new(),
            all_fit: true,
            flows: plan.flows.iter().map(FlowInfo::of).collect(),
            end: plan.duration_ns.map_or(Time::NEVER, Time::from_ns),
        };
        for (position, flow) in plan.flows.iter().enumerate().filter(|(_, flow)| includes(flow)) {
            made.add(position as u32, flow, plan, network)
                .map_err(|error| error.within(&format!("flows[{position}]")))?;
        }
        for (position, job) in plan.jobs.iter().enumerate() {
            made.add_job(position as u32, job, plan, network)
                .map_err(|error| error.within(&format!("jobs[{position}]")))?;
        }
        made.agents.shrink_to_fit();
        made.pairs.shrink_to_fit();
        made.timers = Timers::new(plan.nodes.len(), made.agents.iter().map(Agent::home));
        for (agent, each) in made.agents.iter().enumerate() {
            made.timers.set(agent as u32, each.timer());
        }
        made.busy = made.agents.iter().map(|agent| !agent.is_done()).collect();
        made.busy_agents =
            (0..made.agents.len()).filter(|&agent| made.busy[agent] && made.is_finite(agent)).count();
        Ok(made)
    }

    /// Whether there are any.
    pub fn is_empty(&self) -> bool {
        self.agents.is_empty()
    }

    /// How many there are, those of other shards included.
    pub fn agents(&self) -> usize {
        self.agents.len()
    }

    /// Whether one of them has packets to send yet that real hosts get.
    pub fn sends_real_packets(&self) -> bool {
        self.real_sources.iter().any(|&agent| self.agents[agent as usize].timer() != Time::NEVER)
    }

    /// When one of them next acts by itself; or it may turn out then that it was put off.
    #[inline]
    pub fn next_event(&self) -> Time {
        self.timers.earliest()
    }

    /// Whether all that have an end of their own have sent what they were to send.
    pub fn are_done(&self) -> bool {
        self.busy_agents == 0 && self.jobs.iter().all(Job::is_done)
    }

    /// Gives every packet that has arrived by `now` to its agent, in order. True if there were any.
    #[inline]
    pub fn deliver_arrivals(
        &mut self,
        now: Time,
        network: &mut Network,
        sink: &mut impl PayloadSink,
    ) -> bool {
        let any = !sink.payloads().arrived.is_empty();
        if any {
            self.deliver_all_arrivals(now, network, sink);
        }
        any
    }

    fn deliver_all_arrivals(&mut self, now: Time, network: &mut Network, sink: &mut impl PayloadSink) {
        let mut arrived = std::mem::take(&mut sink.payloads().arrived);
        while !arrived.is_empty() {
            arrived.drain(..).for_each(|arrival| self.receive(arrival, now, network, sink));
            // What agents sent may have arrived at this very instant, over links without delay.
            if !sink.payloads().arrived.is_empty() {
                std::mem::swap(&mut arrived, &mut sink.payloads().arrived);
            }
        }
        sink.payloads().arrived = arrived;
    }

    #[inline(always)]
    fn receive(&mut self, arrival: Arrival, now: Time, network: &mut Network, sink: &mut impl PayloadSink) {
        self.now = now;
        let (agent, payload) = sink.payloads().take(arrival);
        let mut context = AgentContext { now, network, sink };
        self.agents[agent as usize].receive(&payload, arrival.marked, &mut context);
        self.after_event(agent, &mut context);
    }

    /// Lets the agent act whose turn is first, at `now`, and hands over what arrives at once. False if it
    /// had been put off.
    pub fn expire(&mut self, now: Time, network: &mut Network, sink: &mut impl PayloadSink) -> bool {
        let Some((_, agent)) = self.timers.first() else { return false };
        self.run_agent(agent, now, network, sink)
    }

    fn run_agent(
        &mut self,
        agent: u32,
        now: Time,
        network: &mut Network,
        sink: &mut impl PayloadSink,
    ) -> bool {
        let timer = self.agents[agent as usize].timer();
        if timer > now {
            // It was put off after it had been set.
            self.timers.set(agent, timer);
            return false;
        }
        self.now = now;
        self.steps += 1;
        let mut context = AgentContext { now, network, sink };
        self.agents[agent as usize].expire(&mut context);
        self.after_event(agent, &mut context);
        self.deliver_arrivals(now, network, sink);
        true
    }

    /// Whether each host may go by its own clock: none hears of another but by packets, and no packet
    /// needs more than a network that [looks ahead](Network::start_lookahead).
    pub fn plan_lookahead(&self, network: &mut Network) -> bool {
        self.may_look_ahead() && network.plan_lookahead(self.node_pairs().into_iter())
    }

    /// Lets each host and link go by its own clock from `now` on, before which everything has happened. To be called only
    /// if the network [can](Network::supports_lookahead).
    pub fn start_lookahead(&mut self, now: Time, network: &mut Network, sink: &mut impl PayloadSink) {
        if !network.lookahead_is_active() {
            network.start_lookahead(now, sink);
            self.timers.set_lookahead(true);
        }
    }

    /// Lets each host and then each link do what it does before `limit`, as far as what comes to it is known. After so many
    /// rounds as it takes until [all](Progress::Done) have come there, everything has happened before `limit`.
    pub fn run_round(&mut self, limit: Time, network: &mut Network, sink: &mut impl PayloadSink) -> Progress {
        let (mut all, mut any) = (true, false);
        for place in 0..self.timers.hosts() {
            let node = self.timers.host(place);
            let until = network.horizon(node).min(limit);
            all &= until == limit;
            self.run_host_until(until, place, node, network, sink);
            any |= network.acted(node, until);
        }
        let (links_all, links_any) = network.advance_lookahead(limit, sink);
        Progress::of(all && links_all, any || links_any)
    }

    /// Goes back to one clock for all, when all have come to the same instant.
    pub fn stop_lookahead(&mut self, network: &mut Network) {
        if network.lookahead_is_active() {
            network.stop_lookahead();
            self.timers.set_lookahead(false);
        }
    }

    /// Lets a host do what it does before `until`.
    #[inline(never)]
    fn run_host_until(
        &mut self,
        until: Time,
        place: u32,
        node: NodeId,
        network: &mut Network,
        sink: &mut impl PayloadSink,
    ) {
        loop {
            let timer = self.timers.earliest_of(place);
            let before = until.min(timer + Span::from_ps(1));
            if let Some(at) = network.arrive_ahead(node, before, sink) {
                if let Some(arrival) = sink.payloads().arrived.pop() {
                    self.receive(arrival, at, network, sink);
                }
            } else if timer < until
                && let Some(agent) = self.timers.first_of(place)
            {
                self.run_agent(agent, timer, network, sink);
            } else {
                return;
            }
        }
    }

    /// Lets the applications of a bulk transfer over TCP, by its position in the plan, hand over at `rate`
    /// each from `at` on, or nothing. `at` has not come yet. False if there is no such flow.
    pub fn pace(&mut self, flow: u32, at: Time, rate: Option<Rate>) -> bool {
        let of_flow: Vec<u32> =
            self.pairs.iter().filter(|pair| pair.flow == flow).map(|pair| pair.sender).collect();
        for &sender in &of_flow {
            let Agent::Stream(end) = &mut self.agents[sender as usize] else { return false };
            end.pace(at, rate);
            self.timers.set(sender, end.timer());
        }
        !of_flow.is_empty()
    }

    /// Timers that have gone off so far.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// Gives back the memory of connections that both ends have closed, and know to be closed. To be
    /// called at instants that do not depend on the order in which hosts were served.
    pub fn reap(&mut self) {
        for agent in self.reap_closed() {
            self.timers.set(agent, Time::NEVER);
        }
    }

    /// The same but for the timers of the agents that it returns.
    pub(crate) fn reap_closed(&mut self) -> Vec<u32> {
        let mut reaped = Vec::new();
        for place in std::mem::take(&mut self.closed_pairs) {
            let Pair { sender, receiver, .. } = self.pairs[place as usize];
            let both = [sender as usize, receiver as usize];
            if both.iter().all(|&each| matches!(&self.agents[each], Agent::Stream(end) if end.is_closed())) {
                for each in both {
                    if let Agent::Stream(end) = &mut self.agents[each] {
                        end.reap();
                    }
                    reaped.push(each as u32);
                }
            }
        }
        reaped
    }

    /// Ends the waiting for what will not come any more, at the end of the run.
    pub fn close(&mut self, now: Time, network: &mut Network, sink: &mut impl PayloadSink) {
        self.now = now;
        for agent in &mut self.agents {
            if let Agent::Ping(ping) = agent {
                ping.close(&mut AgentContext { now, network, sink });
            }
        }
    }

    #[inline(always)]
    fn after_event(&mut self, agent: u32, context: &mut AgentContext<'_, impl PayloadSink>) {
        self.set_timer(agent);
        if let Some(owner) = self.agents[agent as usize].owner() {
            self.progress(owner, context);
        } else if let Some(mptcp) = self.agents[agent as usize].mptcp() {
            self.progress_mptcp(mptcp, context);
        }
    }

    #[inline(always)]
    pub(crate) fn set_timer(&mut self, agent: u32) {
        let place = agent as usize;
        let timer = self.agents[place].timer();
        self.timers.set_no_later_than(agent, timer);
        if timer == Time::NEVER {
            self.on_idle(place);
        }
    }

    /// Whether what an agent has to do ends without the run.
    pub(crate) fn is_finite(&self, agent: usize) -> bool {
        self.pairs.get(agent / 2).is_some_and(|pair| self.flows[pair.flow as usize].is_finite)
    }

    /// Notes what it means that an agent will do nothing more by itself.
    fn on_idle(&mut self, place: usize) {
        let pair = place / 2;
        if pair >= self.pairs.len() {
            return;
        }
        if self.busy[place] && self.agents[place].is_done() {
            self.busy[place] = false;
            self.busy_agents -= usize::from(self.is_finite(place));
            self.pairs[pair].done.get_or_insert(self.now);
        }
        if matches!(&self.agents[place], Agent::Stream(end) if end.is_closed()) {
            self.closed_pairs.push(pair as u32);
        }
    }
}
