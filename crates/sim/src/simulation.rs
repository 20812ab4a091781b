use crate::apart::{Apart, Scheduler};
use crate::outlet::Outlet;
use crate::records::Records;
use longhaul_endpoints::{Endpoints, TransferProgress};
use longhaul_network::{DirectionId, Network, results};
use longhaul_plan::{Change, Plan, Way};
use longhaul_units::{Rate, Span, Time};
use serde_json::{Value, json};

/// How often the memory of closed connections is given back.
const BURIALS: Span = Span::from_s(1);

/// A plan's network with simulated endpoints.
///
/// Call [`advance`](Self::advance) until it says that the run has ended, then
/// [`finish`](Self::finish). How the calls are cut changes nothing: equal plans give equal results,
/// down to [`digest`](Self::digest).
pub struct Simulation {
    /// Without its traffic, which the endpoints have.
    plan: Plan,
    network: Network,
    endpoints: Endpoints,
    outlet: Outlet,
    apart: Apart,
    now: Time,
    /// Before this instant, everything has happened.
    done_before: Time,
    /// When the run ends; never, if its flows decide.
    end: Time,
    next_change: usize,
    next_sample: Time,
    next_burial: Time,
    /// Names of what packets carry as their flow, if flows are recorded.
    flow_names: Vec<(u32, String)>,
}

impl Simulation {
    /// Builds the run of `plan`. Errors name the field.
    pub fn new(plan: Plan, records: Records) -> Result<Self, String> {
        // Simulated hosts take packets one by one; coalescing would change no due time.
        let plan = Plan { coalesce_ns: 0, ..plan };
        let mut network = Network::new(&plan)?;
        if records.are_kept() {
            plan.measure.packet_links.iter().for_each(|&link| network.tap(link));
            network.monitor(&plan);
        }
        let endpoints = Endpoints::new(&plan, &network, |_| true)?;
        let flow_names = if records.are_kept() { endpoints.flow_names(&plan) } else { Vec::new() };
        let mut outlet = Outlet::new(&plan, records);
        if (0..2 * plan.links.len() as u32).any(|index| network.paces(DirectionId(index))) {
            outlet.senders = endpoints.senders();
        }
        let end = plan.duration_ns.map_or(Time::NEVER, Time::from_ns);
        let apart = endpoints.plan_lookahead(&mut network) && end != Time::NEVER;
        Ok(Simulation {
            apart: Apart::new(apart && network.can_look_ahead(), network.parts()),
            endpoints,
            next_sample: if outlet.records.are_kept() { Time::ZERO } else { Time::NEVER },
            outlet,
            network,
            now: Time::ZERO,
            done_before: Time::ZERO,
            end,
            next_change: 0,
            next_burial: Time::ZERO + BURIALS,
            flow_names,
            plan: Plan { flows: Vec::new(), jobs: Vec::new(), ..plan },
        })
    }

    /// Lets another scheduler work out the rest.
    pub fn by(mut self, scheduler: Scheduler) -> Self {
        self.apart.scheduler = scheduler;
        self
    }

    /// Runs on until `until`, or until about so many events have passed, whichever comes first. True when
    /// the run has ended.
    pub fn advance(&mut self, until: Time, events: u64) -> bool {
        let stop = self.events().saturating_add(events);
        let limit = until.min(self.end);
        loop {
            // A change comes before all else at its instant; what else is done then, after all else.
            let change = self.next_change();
            let mark = self.next_sample.min(self.next_burial).min(limit);
            let before = change.min(mark + Span::from_ps(1));
            while self.done_before < before {
                if self.events() >= stop || self.has_nothing_to_do() {
                    return self.has_nothing_to_do();
                }
                match self.apart.limit(self.done_before, before) {
                    Some(limit) => self.run_lookahead(limit),
                    None => self.run_by_calendar(before, stop),
                }
            }
            if before == change {
                self.change(change);
                continue;
            }
            self.now = self.now.max(mark);
            if self.next_burial == mark {
                self.endpoints.reap();
                self.next_burial += BURIALS;
            }
            if self.next_sample == mark {
                self.sample();
                self.next_sample += self.sampling_interval();
            }
            if limit == mark {
                return limit == self.end;
            }
        }
    }

    /// Runs what happens before `before`, one event after the other, until so many have passed.
    fn run_by_calendar(&mut self, before: Time, stop: u64) {
        self.stop_lookahead();
        let Simulation { network, endpoints, outlet, .. } = self;
        let (mut next_timer, decides) = (endpoints.next_event(), self.end == Time::NEVER);
        loop {
            let next_packet = network.next_event();
            let next = next_packet.min(next_timer);
            if next >= before {
                self.done_before = before;
                return;
            }
            if next_packet <= next_timer {
                let limit = next_timer.min(Time::from_ps(before.ps() - 1));
                self.now = network.advance_to_delivery(limit, outlet);
                endpoints.deliver_arrivals(self.now, network, outlet);
            } else {
                self.now = next;
                endpoints.expire(next, network, outlet);
            }
            next_timer = endpoints.next_event();
            if network.totals().hops + endpoints.steps() >= stop || decides && endpoints.are_done() {
                return;
            }
        }
    }

    /// Hosts and links have one clock from now on.
    fn stop_lookahead(&mut self) {
        if self.network.is_looking_ahead() {
            self.outlet.records.forget_packets(self.done_before);
        }
        self.endpoints.stop_lookahead(&mut self.network);
    }

    /// Runs what happens before `limit`, each host and link by its own clock.
    fn run_lookahead(&mut self, limit: Time) {
        let before = self.events();
        let Simulation { network, endpoints, outlet, done_before, .. } = self;
        let rounds = endpoints.run_lookahead(*done_before, limit, network, outlet);
        let span = limit.since(*done_before);
        self.done_before = limit;
        self.now = Time::from_ps(limit.ps() - 1);
        self.outlet.records.write_packets(limit);
        let events = self.events() - before;
        self.apart.learn(limit, span, events, rounds);
    }

    /// Lets the application of a bulk transfer over TCP, by its position in the plan, hand over at `rate` from
    /// now on, or nothing until it is told again. False if there is no such flow.
    pub fn pace(&mut self, flow: u32, rate: Option<Rate>) -> bool {
        self.stop_lookahead();
        self.endpoints.pace(flow, self.done_before, rate)
    }

    /// How far bulk transfers over TCP have come.
    pub fn progress(&self) -> Vec<TransferProgress> {
        self.endpoints.bulk_progress()
    }

    fn next_change(&self) -> Time {
        self.plan.events.get(self.next_change).map_or(Time::NEVER, |event| Time::from_ns(event.at_ns))
    }

    /// The flows decide when the run ends, and nobody will send any more, and nothing is under way; or
    /// nothing will ever happen again.
    fn has_nothing_to_do(&self) -> bool {
        let quiet = || self.network.next_event() == Time::NEVER;
        let stuck = || self.endpoints.next_event() == Time::NEVER && self.next_change() == Time::NEVER;
        self.end == Time::NEVER && quiet() && (self.endpoints.are_done() || stuck())
    }

    fn change(&mut self, at: Time) {
        self.now = at;
        self.stop_lookahead();
        let event = self.plan.events[self.next_change].clone();
        self.next_change += 1;
        // Simulated hosts take packets one by one.
        let change = Change { coalesce_ns: None, ..event.change.clone() };
        let mut before = Vec::with_capacity(2);
        for way in [Way::Forward, Way::Reverse] {
            if event.direction.is_none_or(|only| only == way) {
                let direction = DirectionId::new(event.link, way);
                let Simulation { network, outlet, .. } = self;
                before.push((way, network.change(at, direction, event.route, &change, outlet)));
            }
        }
        if self.outlet.records.are_kept() {
            self.outlet.records.change(&results::applied(&event, &before));
        }
        self.endpoints.deliver_arrivals(self.now, &mut self.network, &mut self.outlet);
        self.apart.allow(self.end != Time::NEVER && self.network.can_look_ahead());
    }

    fn sampling_interval(&self) -> Span {
        Span::from_ns(self.plan.measure.every_ns)
    }

    fn sample(&mut self) {
        self.network.settle(self.now);
        let records = &mut self.outlet.records;
        records.write_packets(self.done_before);
        records.bins(&self.network.take_bins(false));
        results::samples(&self.network, &self.plan, self.now).into_iter().for_each(|row| records.sample(row));
        self.endpoints.samples(self.now).for_each(|row| records.flow(row));
        self.record_echoes();
    }

    fn record_echoes(&mut self) {
        let Outlet { records, payloads, .. } = &mut self.outlet;
        payloads.take_echo_rows().into_iter().for_each(|row| records.echo(row));
    }

    /// How far the run has come.
    pub fn now(&self) -> Time {
        self.now
    }

    /// Events so far: one for each packet that came to a link, and one for each timer.
    pub fn events(&self) -> u64 {
        self.network.totals().hops + self.endpoints.steps()
    }

    /// Whether hosts and links go each by its own clock now.
    pub fn is_looking_ahead(&self) -> bool {
        self.network.is_looking_ahead()
    }

    /// The fingerprint of every packet that has left the network so far.
    pub fn digest(&self) -> u64 {
        self.outlet.digest.value()
    }

    /// Writes the last records; returns what the run counted, as results have it.
    pub fn finish(&mut self) -> Result<Value, String> {
        self.network.settle(self.now);
        self.endpoints.close(self.now, &mut self.network, &mut self.outlet);
        let has_sampled_now = self.next_sample == self.now + self.sampling_interval();
        if self.outlet.records.are_kept() && !has_sampled_now {
            self.sample();
        }
        self.record_echoes();
        self.outlet.records.write_packets(self.now + Span::from_ps(1));
        self.outlet.records.bins(&self.network.take_bins(true));
        let (flows, requests) = self.endpoints.flows(self.now);
        let records = &mut self.outlet.records;
        requests.into_iter().for_each(|row| records.request(row));
        records.flush().map_err(|error| format!("cannot write the records: {error}"))?;
        Ok(self.account(flows))
    }

    /// What the run has counted so far, marked as `unfinished`; what it has recorded is on its way to disk.
    pub fn so_far(&mut self) -> Result<Value, String> {
        self.outlet.records.flush().map_err(|error| format!("cannot write the records: {error}"))?;
        let (flows, _requests) = self.endpoints.flows(self.now);
        let mut account = self.account(flows);
        account["unfinished"] = json!(true);
        Ok(account)
    }

    fn account(&self, flows: Vec<Value>) -> Value {
        json!({
            "mode": "sim",
            "duration_ns": self.now.ns(),
            "error": null,
            "links": results::links(&self.network, &self.plan),
            "packets": results::packets(&self.network),
            "pacing": results::pacing(&self.network, &self.plan),
            "flows": flows,
            "jobs": self.endpoints.jobs(),
            "flow_names": self.flow_names,
            "events": self.events(),
            "hops": self.network.totals().hops,
            "damaged": self.outlet.payloads.damaged(),
            "echo_fates": self.outlet.payloads.echo_fates(),
            "digest": format!("{:016x}", self.digest()),
        })
    }
}
