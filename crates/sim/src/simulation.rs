use crate::agent::{Agent, Wire};
use crate::carrier::Carrier;
use crate::ranks::Job;
use crate::records::Records;
use longhaul_network::{Calendar, DirectionId, Network, results};
use longhaul_plan::{Plan, Way};
use longhaul_random::Seed;
use longhaul_units::{Span, Time};
use serde_json::{Value, json};

/// A plan's network with simulated endpoints.
///
/// Call [`advance`](Self::advance) until it says that the run has ended, then
/// [`finish`](Self::finish). How the calls are cut changes nothing: equal plans give equal results,
/// down to [`digest`](Self::digest).
pub struct Simulation {
    pub(crate) plan: Plan,
    pub(crate) network: Network,
    pub(crate) carrier: Carrier,
    pub(crate) agents: Vec<Agent>,
    pub(crate) pairs: Vec<Pair>,
    pub(crate) jobs: Vec<Job>,
    /// When each agent next acts.
    pub(crate) timers: Calendar,
    pub(crate) now: Time,
    /// When the run ends; never, if its flows decide.
    pub(crate) end: Time,
    /// Agents that have something to do yet; each is counted off once.
    busy: Vec<bool>,
    busy_agents: usize,
    next_change: usize,
    next_sample: Time,
    events: u64,
}

/// The two agents of a stream of a flow.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pair {
    pub(crate) flow: u32,
    pub(crate) stream: u32,
    pub(crate) sender: u32,
    pub(crate) receiver: u32,
    /// When the sender had done what it was to do.
    pub(crate) done: Option<Time>,
}

impl Simulation {
    /// Builds the run of `plan`. Errors name the field.
    pub fn new(plan: &Plan, records: Records) -> Result<Self, String> {
        // Simulated hosts take packets one by one; coalescing would change no due time.
        let mut network = Network::new(&Plan { coalesce_ns: 0, ..plan.clone() })?;
        if records.are_kept() {
            plan.measure.packet_links.iter().for_each(|&link| network.tap(link));
        }
        let listed = (0..plan.links.len()).map(|link| plan.measure.packet_links.contains(&link)).collect();
        let next_sample = if records.are_kept() { Time::ZERO } else { Time::NEVER };
        let mut made = Simulation {
            carrier: Carrier::new(records, listed, plan.measure.packet_window_ns),
            network,
            agents: Vec::new(),
            pairs: Vec::new(),
            jobs: Vec::new(),
            timers: Calendar::new(0),
            now: Time::ZERO,
            end: plan.duration_ns.map_or(Time::NEVER, Time::from_ns),
            busy: Vec::new(),
            busy_agents: 0,
            next_change: 0,
            next_sample,
            events: 0,
            plan: plan.clone(),
        };
        let seed = Seed::new(plan.seed);
        for (position, flow) in plan.flows.iter().enumerate() {
            made.add(position as u32, flow, &seed).map_err(|error| format!("flows[{position}].{error}"))?;
        }
        for (position, job) in plan.jobs.iter().enumerate() {
            made.add_job(position as u32, job, &seed).map_err(|error| format!("jobs[{position}].{error}"))?;
        }
        made.agents.shrink_to_fit();
        made.pairs.shrink_to_fit();
        made.timers = Calendar::new(made.agents.len());
        for (agent, each) in made.agents.iter().enumerate() {
            made.timers.set(agent as u32, each.timer());
        }
        made.busy = made.agents.iter().map(|agent| !agent.is_done()).collect();
        made.busy_agents = made.busy.iter().filter(|&&busy| busy).count();
        Ok(made)
    }

    /// Runs on until `until`, or until so many events have passed, whichever comes first. True when
    /// the run has ended.
    pub fn advance(&mut self, until: Time, events: u64) -> bool {
        let stop = self.events.saturating_add(events);
        while self.events < stop {
            let network = self.network.next_event();
            let timer = self.timers.first().map_or(Time::NEVER, |(time, _)| time);
            let change = self
                .plan
                .events
                .get(self.next_change)
                .map_or(Time::NEVER, |event| Time::from_ns(event.at_ns));
            let next = network.min(timer).min(change).min(self.next_sample);
            if self.has_nothing_to_do(next) {
                return true;
            }
            let limit = until.min(self.end);
            if next > limit {
                self.now = self.now.max(limit);
                return limit == self.end;
            }
            self.now = next;
            self.events += 1;
            if change <= next {
                self.change();
            } else if network <= next {
                self.network.advance(next, &mut self.carrier);
                self.hand_over();
            } else if timer <= next {
                self.expire();
            } else {
                self.sample();
                self.next_sample += Span::from_ns(self.plan.measure.every_ns);
            }
        }
        false
    }

    /// The flows decide when the run ends, and nobody will send any more, and nothing is under way; or
    /// there is no next event at all.
    fn has_nothing_to_do(&self, next: Time) -> bool {
        let idle = self.busy_agents == 0 && self.jobs_are_done() && self.network.next_event() == Time::NEVER;
        self.end == Time::NEVER && (idle || next == Time::NEVER)
    }

    fn change(&mut self) {
        let event = self.plan.events[self.next_change].clone();
        self.next_change += 1;
        for way in [Way::Forward, Way::Reverse] {
            if event.direction.is_none_or(|only| only == way) {
                let direction = DirectionId::new(event.link, way);
                self.network.change(self.now, direction, event.route, &event.change, &mut self.carrier);
            }
        }
        self.hand_over();
    }

    /// Gives every packet that has arrived to its agent, in order.
    fn hand_over(&mut self) {
        let mut arrived = std::mem::take(&mut self.carrier.arrived);
        while !arrived.is_empty() {
            for arrival in arrived.drain(..) {
                let Simulation { network, carrier, agents, now, .. } = self;
                let mut wire = Wire { now: *now, network, carrier };
                agents[arrival.agent as usize].receive(arrival.load, arrival.marked, &mut wire);
                self.set_timer(arrival.agent);
                if let Some(owner) = self.agents[arrival.agent as usize].owner() {
                    self.progress(owner);
                }
            }
            // What agents sent may have arrived at this very instant, over links without delay.
            std::mem::swap(&mut arrived, &mut self.carrier.arrived);
        }
        self.carrier.arrived = arrived;
    }

    fn expire(&mut self) {
        let Some((_, agent)) = self.timers.first() else { return };
        let Simulation { network, carrier, agents, now, .. } = self;
        agents[agent as usize].expire(&mut Wire { now: *now, network, carrier });
        self.set_timer(agent);
        if let Some(owner) = self.agents[agent as usize].owner() {
            self.progress(owner);
        }
        self.hand_over();
    }

    pub(crate) fn set_timer(&mut self, agent: u32) {
        let place = agent as usize;
        let timer = self.agents[place].timer();
        self.timers.set(agent, timer);
        if timer == Time::NEVER && self.busy[place] && self.agents[place].is_done() {
            self.busy[place] = false;
            self.busy_agents -= 1;
            self.pairs[place / 2].done.get_or_insert(self.now);
        }
        if timer == Time::NEVER {
            self.bury(place);
        }
    }

    /// A connection that both ends have closed, and know to be closed, is needed no more.
    fn bury(&mut self, place: usize) {
        let both = [place, place ^ 1];
        let closed = |agent: &Agent| matches!(agent, Agent::Stream(end) if end.is_closed());
        if both.iter().all(|&each| closed(&self.agents[each])) {
            for each in both {
                if let Agent::Stream(end) = &mut self.agents[each] {
                    end.bury();
                }
            }
        }
    }

    fn sample(&mut self) {
        for row in results::samples(&self.network, &self.plan, self.now) {
            self.carrier.records.sample(row);
        }
        for pair in &self.pairs {
            if let Some(row) = self.flow_row(pair) {
                self.carrier.records.flow(row);
            }
        }
    }

    /// How far the run has come.
    pub fn now(&self) -> Time {
        self.now
    }

    /// Events so far: one for each step of a link, a timer, a change or a sample.
    pub fn events(&self) -> u64 {
        self.events
    }

    /// The fingerprint of every packet that has left the network so far, in order.
    pub fn digest(&self) -> u64 {
        self.carrier.digest.value()
    }

    /// Writes the last records; returns what the run counted, as results have it.
    pub fn finish(&mut self) -> Result<Value, String> {
        if self.carrier.records.are_kept() {
            self.sample();
        }
        let Simulation { network, carrier, agents, now, .. } = self;
        for agent in agents.iter_mut() {
            if let Agent::Echoes(echoes) = agent {
                echoes.close(&mut Wire { now: *now, network, carrier });
            }
        }
        let flows = self.flow_results();
        self.carrier.records.finish().map_err(|error| format!("cannot write the records: {error}"))?;
        let hops: u64 = (0..2 * self.plan.links.len())
            .map(|direction| self.network.link_counters(DirectionId(direction as u32)).link.offered_packets)
            .sum();
        Ok(json!({
            "mode": "sim",
            "duration_ns": self.now.ns(),
            "error": null,
            "links": results::links(&self.network, &self.plan),
            "packets": results::packets(&self.network),
            "flows": flows,
            "jobs": self.job_results(),
            "events": self.events,
            "hops": hops,
            "damaged": self.carrier.damaged,
            "digest": format!("{:016x}", self.digest()),
        }))
    }
}
