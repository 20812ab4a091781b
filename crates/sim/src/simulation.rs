use crate::outlet::Outlet;
use crate::records::Records;
use longhaul_endpoints::Endpoints;
use longhaul_network::{DirectionId, Network, results};
use longhaul_plan::{Plan, Way};
use longhaul_units::{Span, Time};
use serde_json::{Value, json};

/// How often the memory of closed connections is given back.
const BURIALS: Span = Span::from_s(1);

/// A plan's network with simulated endpoints.
///
/// Call [`advance`](Self::advance) until it says that the run has ended, then
/// [`finish`](Self::finish). How the calls are cut changes nothing: equal plans give equal results,
/// down to [`digest`](Self::digest).
pub struct Simulation {
    plan: Plan,
    network: Network,
    endpoints: Endpoints,
    outlet: Outlet,
    now: Time,
    /// When the run ends; never, if its flows decide.
    end: Time,
    next_change: usize,
    next_sample: Time,
    next_burial: Time,
    events: u64,
}

impl Simulation {
    /// Builds the run of `plan`. Errors name the field.
    pub fn new(plan: &Plan, records: Records) -> Result<Self, String> {
        // Simulated hosts take packets one by one; coalescing would change no due time.
        let mut network = Network::new(&Plan { coalesce_ns: 0, ..plan.clone() })?;
        if records.are_kept() {
            plan.measure.packet_links.iter().for_each(|&link| network.tap(link));
        }
        Ok(Simulation {
            endpoints: Endpoints::new(plan, &network, |_| true)?,
            next_sample: if records.are_kept() { Time::ZERO } else { Time::NEVER },
            outlet: Outlet::new(plan, records),
            network,
            now: Time::ZERO,
            end: plan.duration_ns.map_or(Time::NEVER, Time::from_ns),
            next_change: 0,
            next_burial: Time::ZERO + BURIALS,
            events: 0,
            plan: plan.clone(),
        })
    }

    /// Runs on until `until`, or until so many events have passed, whichever comes first. True when
    /// the run has ended.
    pub fn advance(&mut self, until: Time, events: u64) -> bool {
        let stop = self.events.saturating_add(events);
        while self.events < stop {
            let network = self.network.next_event();
            let timer = self.endpoints.next_event();
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
            if next > self.next_burial {
                self.endpoints.bury();
                self.next_burial += BURIALS;
                continue;
            }
            self.now = next;
            self.events += 1;
            let Simulation { network: net, endpoints, outlet, .. } = self;
            if change <= next {
                self.change();
            } else if network <= next {
                net.advance(next, outlet);
                endpoints.hand_over(next, net, outlet);
            } else if timer <= next {
                endpoints.expire(next, net, outlet);
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
        let idle = self.endpoints.are_done() && self.network.next_event() == Time::NEVER;
        self.end == Time::NEVER && (idle || next == Time::NEVER)
    }

    fn change(&mut self) {
        let event = self.plan.events[self.next_change].clone();
        self.next_change += 1;
        for way in [Way::Forward, Way::Reverse] {
            if event.direction.is_none_or(|only| only == way) {
                let direction = DirectionId::new(event.link, way);
                self.network.change(self.now, direction, event.route, &event.change, &mut self.outlet);
            }
        }
        self.endpoints.hand_over(self.now, &mut self.network, &mut self.outlet);
    }

    fn sample(&mut self) {
        let Outlet { records, cargo, .. } = &mut self.outlet;
        results::samples(&self.network, &self.plan, self.now).into_iter().for_each(|row| records.sample(row));
        self.endpoints.samples(self.now).for_each(|row| records.flow(row));
        cargo.echoes().into_iter().for_each(|row| records.echo(row));
    }

    /// How far the run has come.
    pub fn now(&self) -> Time {
        self.now
    }

    /// Events so far: one for each step of a link, a timer, a change or a sample.
    pub fn events(&self) -> u64 {
        self.events
    }

    /// The fingerprint of every packet that has left the network so far.
    pub fn digest(&self) -> u64 {
        self.outlet.digest.value()
    }

    /// Writes the last records; returns what the run counted, as results have it.
    pub fn finish(&mut self) -> Result<Value, String> {
        self.endpoints.close(self.now, &mut self.network, &mut self.outlet);
        if self.outlet.records.are_kept() {
            self.sample();
        }
        let (flows, requests) = self.endpoints.flows(self.now);
        let records = &mut self.outlet.records;
        requests.into_iter().for_each(|row| records.request(row));
        records.finish().map_err(|error| format!("cannot write the records: {error}"))?;
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
            "jobs": self.endpoints.jobs(),
            "events": self.events,
            "hops": hops,
            "damaged": self.outlet.cargo.damaged(),
            "digest": format!("{:016x}", self.digest()),
        }))
    }
}
