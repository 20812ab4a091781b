use crate::egress::Egress;
use crate::lookahead_policy::{LookaheadPolicy, Scheduler};
use crate::records::Records;
use longhaul_endpoints::{Endpoints, TransferProgress};
use longhaul_network::{DirectionId, Network, results};
use longhaul_plan::{Change, Plan, Way};
use longhaul_units::{InvalidValue, Rate, Span, Time};
use serde_json::{Value, json};
use std::io;

/// How often the memory of closed connections is given back.
const REAP_INTERVAL: Span = Span::from_s(1);

/// A plan's network with simulated endpoints.
///
/// Call [`advance`](Self::advance) until it says that the run has ended, then
/// [`finish`](Self::finish). The results do not depend on how the calls divide the run: equal plans have equal
/// results and equal [digests](Self::digest).
pub struct Simulation {
    /// Without its traffic, which the endpoints have.
    plan: Plan,
    network: Network,
    endpoints: Endpoints,
    egress: Egress,
    lookahead_policy: LookaheadPolicy,
    now: Time,
    /// All events before this instant have been handled.
    done_before: Time,
    /// When the run ends; never, if its flows decide.
    end: Time,
    next_change: usize,
    next_sample: Time,
    next_reap: Time,
    /// Names of the flows of packets, if flows are recorded.
    flow_names: Vec<(u32, String)>,
}

impl Simulation {
    /// Builds the run of `plan`.
    ///
    /// # Errors
    /// If the plan cannot be simulated, with the field that is the reason.
    pub fn new(plan: Plan, records: Records) -> Result<Self, InvalidValue> {
        // Simulated hosts take packets one by one; coalescing would change no due time.
        let plan = Plan { coalesce_ns: 0, ..plan };
        let mut network = Network::new(&plan)?;
        if records.is_recording() {
            plan.measure.packet_links.iter().for_each(|&link| network.tap(link));
            network.monitor(&plan);
        }
        let endpoints = Endpoints::new(&plan, &network, |_| true)?;
        let flow_names = if records.is_recording() { endpoints.flow_names(&plan) } else { Vec::new() };
        let mut egress = Egress::new(&plan, records);
        if (0..2 * plan.links.len() as u32).any(|index| network.paces(DirectionId(index))) {
            egress.senders = endpoints.senders();
        }
        let end = plan.duration_ns.map_or(Time::NEVER, Time::from_ns);
        let possible = endpoints.plan_lookahead(&mut network) && end != Time::NEVER;
        Ok(Simulation {
            lookahead_policy: LookaheadPolicy::new(possible && network.supports_lookahead(), network.parts()),
            endpoints,
            next_sample: if egress.records.is_recording() { Time::ZERO } else { Time::NEVER },
            egress,
            network,
            now: Time::ZERO,
            done_before: Time::ZERO,
            end,
            next_change: 0,
            next_reap: Time::ZERO + REAP_INTERVAL,
            flow_names,
            plan: Plan { flows: Vec::new(), jobs: Vec::new(), ..plan },
        })
    }

    /// Selects the scheduler of the rest of the run.
    #[must_use]
    pub fn with_scheduler(mut self, scheduler: Scheduler) -> Self {
        self.lookahead_policy.scheduler = scheduler;
        self
    }

    /// Runs on until `until`, or until about so many events have passed, whichever comes first. True when
    /// the run has ended.
    pub fn advance(&mut self, until: Time, events: u64) -> bool {
        let stop = self.events().saturating_add(events);
        let limit = until.min(self.end);
        loop {
            // At one instant, a change precedes all events, and reaping and sampling follow them.
            let change = self.next_change();
            let mark = self.next_sample.min(self.next_reap).min(limit);
            let before = change.min(mark + Span::from_ps(1));
            while self.done_before < before {
                if self.events() >= stop || self.is_finished() {
                    return self.is_finished();
                }
                match self.lookahead_policy.limit(self.done_before, before) {
                    Some(limit) => self.run_lookahead(limit),
                    // Until lookahead is tried again.
                    None => self.run_by_calendar(self.lookahead_policy.calendar_until(before), stop),
                }
            }
            if before == change {
                self.change(change);
                continue;
            }
            self.now = self.now.max(mark);
            if self.next_reap == mark {
                self.endpoints.reap();
                self.next_reap += REAP_INTERVAL;
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

    /// Handles the events before `before` one after the other, until their count reaches `stop`.
    fn run_by_calendar(&mut self, before: Time, stop: u64) {
        self.stop_lookahead();
        let Simulation { network, endpoints, egress, .. } = self;
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
                self.now = network.advance_to_delivery(limit, egress);
                endpoints.deliver_arrivals(self.now, network, egress);
            } else {
                self.now = next;
                endpoints.expire(next, network, egress);
            }
            next_timer = endpoints.next_event();
            if network.totals().hops + endpoints.steps() >= stop || decides && endpoints.are_done() {
                return;
            }
        }
    }

    /// Returns to one clock for all hosts and links.
    fn stop_lookahead(&mut self) {
        if self.network.lookahead_is_active() {
            self.egress.records.forget_packets(self.done_before);
        }
        self.endpoints.stop_lookahead(&mut self.network);
    }

    /// Handles the events before `limit`, each host and link by its own clock.
    fn run_lookahead(&mut self, limit: Time) {
        let before = self.events();
        let Simulation { network, endpoints, egress, done_before, .. } = self;
        let rounds = endpoints.run_lookahead(*done_before, limit, network, egress);
        let span = limit.since(*done_before);
        self.done_before = limit;
        self.now = Time::from_ps(limit.ps() - 1);
        self.egress.records.write_packets(limit);
        let events = self.events() - before;
        self.lookahead_policy.record_rounds(limit, span, events, rounds);
    }

    /// Lets the application of a bulk transfer over TCP, by its position in the plan, write at `rate` from
    /// now on, or nothing until the next call. False if there is no such flow.
    pub fn pace(&mut self, flow: u32, rate: Option<Rate>) -> bool {
        self.stop_lookahead();
        self.endpoints.pace(flow, self.done_before, rate)
    }

    /// The progress of bulk transfers over TCP.
    pub fn progress(&self) -> Vec<TransferProgress> {
        self.endpoints.bulk_progress()
    }

    fn next_change(&self) -> Time {
        self.plan.events.get(self.next_change).map_or(Time::NEVER, |event| Time::from_ns(event.at_ns))
    }

    /// Whether the flows decide when the run ends, and all have ended and no packet is in flight, or no event is left.
    fn is_finished(&self) -> bool {
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
        let change = Change { coalesce: None, ..event.change.clone() };
        let mut before = Vec::with_capacity(2);
        for way in [Way::Forward, Way::Reverse] {
            if event.direction.is_none_or(|only| only == way) {
                let direction = DirectionId::new(event.link, way);
                let Simulation { network, egress, .. } = self;
                before.push((way, network.change(at, direction, event.route, &change, egress)));
            }
        }
        if self.egress.records.is_recording() {
            self.egress.records.change(&results::applied(&event, &before));
        }
        self.endpoints.deliver_arrivals(self.now, &mut self.network, &mut self.egress);
        self.lookahead_policy.set_possible(self.end != Time::NEVER && self.network.supports_lookahead());
    }

    fn sampling_interval(&self) -> Span {
        Span::from_ns(self.plan.measure.every_ns)
    }

    fn sample(&mut self) {
        self.network.settle(self.now);
        let records = &mut self.egress.records;
        records.write_packets(self.done_before);
        records.bins(&self.network.take_bins(false));
        for row in results::samples(&self.network, &self.plan, self.now) {
            records.sample(row);
        }
        self.endpoints.samples(self.now).for_each(|row| records.flow(row));
        self.record_pings();
    }

    fn record_pings(&mut self) {
        let Egress { records, payloads, .. } = &mut self.egress;
        payloads.take_ping_rows().into_iter().for_each(|row| records.ping(row));
    }

    /// The time of the simulation.
    pub fn now(&self) -> Time {
        self.now
    }

    /// Events so far: one for each packet that arrived at a link, and one for each timer.
    pub fn events(&self) -> u64 {
        self.network.totals().hops + self.endpoints.steps()
    }

    /// Whether each host and link advances by its own clock now.
    pub fn lookahead_is_active(&self) -> bool {
        self.network.lookahead_is_active()
    }

    /// The fingerprint of every packet that has left the network so far.
    pub fn digest(&self) -> u64 {
        self.egress.digest.value()
    }

    /// Writes the last records and returns the results.
    ///
    /// # Errors
    /// If the records could not be written.
    pub fn finish(&mut self) -> io::Result<Value> {
        self.network.settle(self.now);
        self.endpoints.close(self.now, &mut self.network, &mut self.egress);
        let has_sampled_now = self.next_sample == self.now + self.sampling_interval();
        if self.egress.records.is_recording() && !has_sampled_now {
            self.sample();
        }
        self.record_pings();
        self.egress.records.write_packets(self.now + Span::from_ps(1));
        self.egress.records.bins(&self.network.take_bins(true));
        let (flows, requests) = self.endpoints.flows(self.now);
        let records = &mut self.egress.records;
        for row in requests {
            records.request(row);
        }
        records.flush()?;
        Ok(self.results(&flows))
    }

    /// The results so far, marked as `unfinished`. Hands the records so far to the operating system.
    ///
    /// # Errors
    /// If the records could not be written.
    pub fn interim_results(&mut self) -> io::Result<Value> {
        self.egress.records.flush()?;
        let (flows, _requests) = self.endpoints.flows(self.now);
        let mut account = self.results(&flows);
        account["unfinished"] = json!(true);
        Ok(account)
    }

    fn results(&self, flows: &[Value]) -> Value {
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
            "damaged": self.egress.payloads.damaged(),
            "echo_fates": self.egress.payloads.echo_fates(),
            "digest": format!("{:016x}", self.digest()),
        })
    }
}
