use crate::egress::Egress;
use crate::exchange::Exchange;
use crate::lookahead_policy::{LookaheadPolicy, Scheduler};
use crate::records::Records;
use crate::shard::Shard;
use longhaul_endpoints::{Endpoints, TransferProgress};
use longhaul_network::results::{self, Accounts, Shards};
use longhaul_network::{Cut, DirectionId, Network, Progress};
use longhaul_plan::{Change, Link, Node, Plan, Traffic, Way};
use longhaul_record::PacketRow;
use longhaul_units::{InvalidValue, Probability, Rate, Span, Time};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io;

/// How often the memory of closed connections is given back.
const REAP_INTERVAL: Span = Span::from_s(1);
/// Shards have threads for a span in which they are expected to handle so many events: less is done before they have begun.
const EVENTS_FOR_THREADS: u64 = 5_000;
/// And if they are expected to handle so many in a window: fewer take less time than a message between threads.
const EVENTS_IN_WINDOW: u64 = 500;

/// A plan's network with simulated endpoints.
///
/// Call [`advance`](Self::advance) until it says that the run has ended, then
/// [`finish`](Self::finish). The results do not depend on how the calls divide the run, nor on how many
/// [shards](Self::divide) it has: equal plans have equal results and equal [digests](Self::digest).
pub struct Simulation {
    /// Without its traffic, which the endpoints have.
    plan: Plan,
    /// At least one.
    shards: Vec<Shard>,
    /// If there are several.
    division: Option<Division>,
    records: Records,
    lookahead_policy: LookaheadPolicy,
    now: Time,
    /// All events before this instant have been handled.
    done_before: Time,
    /// When the run ends; never, if its flows decide.
    end: Time,
    next_change: usize,
    next_sample: Time,
    next_reap: Time,
    has_pings: bool,
    /// Names of the flows of packets, if flows are recorded.
    flow_names: Vec<(u32, String)>,
}

/// How a simulation is divided into shards.
struct Division {
    /// Of each node: its shard.
    partition: Vec<u32>,
    /// Where the agents of all shards come together to be looked at.
    endpoints: Endpoints,
    /// Simulated time between two messages of a shard.
    window: Span,
    /// Events of the last span, and how long it was.
    density: (u64, Span),
    always_on_threads: bool,
}

impl Simulation {
    /// Builds the run of `plan`.
    ///
    /// # Errors
    /// If the plan cannot be simulated, with the field that is the reason.
    pub fn new(plan: Plan, mut records: Records) -> Result<Self, InvalidValue> {
        // Simulated hosts take packets one by one; coalescing would change no due time.
        let plan = Plan { coalesce_ns: 0, ..plan };
        let mut network = Network::new(&plan)?;
        if records.is_recording() {
            plan.measure
                .packet_links
                .iter()
                .chain(&plan.measure.captures)
                .for_each(|&link| network.tap(link));
            network.monitor(&plan);
        }
        let endpoints = Endpoints::new(&plan, &network, |_| true)?;
        let is_captured = records.is_recording() && !plan.measure.captures.is_empty();
        if is_captured {
            records.captures().set_headers(endpoints.headers(&plan));
        }
        let flow_names = if records.is_recording() { endpoints.flow_names(&plan) } else { Vec::new() };
        let mut egress = Egress::new(&plan, records.is_recording());
        if (0..2 * plan.links.len() as u32).any(|index| network.paces(DirectionId(index))) {
            egress.senders = endpoints.senders();
        }
        let end = plan.duration_ns.map_or(Time::NEVER, Time::from_ns);
        // A capture has packets as they enter a link, which looking ahead does not report.
        let possible = !is_captured && endpoints.plan_lookahead(&mut network) && end != Time::NEVER;
        Ok(Simulation {
            lookahead_policy: LookaheadPolicy::new(possible && network.supports_lookahead()),
            next_sample: if records.is_recording() { Time::ZERO } else { Time::NEVER },
            shards: vec![Shard::new(network, endpoints, egress)],
            division: None,
            records,
            now: Time::ZERO,
            done_before: Time::ZERO,
            end,
            next_change: 0,
            next_reap: Time::ZERO + REAP_INTERVAL,
            flow_names,
            has_pings: plan.flows.iter().any(|flow| matches!(flow.traffic, Traffic::Ping { .. })),
            plan: Plan { flows: Vec::new(), jobs: Vec::new(), ..plan },
        })
    }

    /// Divides the run among shards: each node, by its position in the plan, is in the one that `partition` says. To be called
    /// before the run begins. Where several processors are free, shards run at the same time; results are the same.
    ///
    /// # Errors
    /// What stands against it: see [`obstacle`](Self::obstacle), or a link that cannot be cut. The run is not divided then.
    pub fn divide(&mut self, partition: &[u32]) -> Result<(), InvalidValue> {
        let count = partition.iter().max().map_or(1, |&last| last + 1);
        if self.division.is_some() {
            return Err(invalid("the run is divided already"));
        }
        if count == 1 {
            return Ok(());
        }
        if partition.len() != self.plan.nodes.len() {
            return Err(invalid("each node of the plan needs a shard"));
        }
        if let Some(reason) = self.obstacle() {
            return Err(invalid(reason));
        }
        let looks_ahead = self.may_look_ahead();
        let [whole] = &mut self.shards[..] else { return Ok(()) };
        let is_split =
            |(node, each): (usize, &Node)| each.of.is_some_and(|host| partition[host] != partition[node]);
        if self.plan.nodes.iter().enumerate().any(is_split) {
            return Err(invalid("all interfaces of a host must be in one shard"));
        }
        let networks: Vec<Network> = (0..count)
            .map(|own| whole.network.shard(&self.plan, partition, own))
            .collect::<Result<_, InvalidValue>>()?;
        let is_cut = |cut: &Cut| {
            let [near, far] = self.plan.links[cut.link].endpoints;
            partition[near] != partition[far]
        };
        let cuts = whole.network.cuts(&self.plan);
        let lookahead = cuts.iter().filter(|cut| is_cut(cut)).map(|cut| cut.lookahead).min();
        let window = lookahead.map_or(Span::from_ps(u64::MAX), Shard::window);
        let ends = self.plan.links.iter().flat_map(|link| [link.endpoints[1], link.endpoints[0]]);
        let peers: Vec<u32> = ends.map(|to| partition[to]).collect();
        let pairs = whole.endpoints.node_pairs();
        let parts = whole.endpoints.split(partition, count, self.plan.nodes.len());
        let mut shards = Vec::new();
        for ((own, mut network), (part, exchange)) in
            (0u32..).zip(networks).zip(parts.into_iter().zip(Exchange::between(count)))
        {
            if looks_ahead {
                network.plan_lookahead(pairs.iter().copied());
            }
            let mut egress = Egress::new(&self.plan, self.records.is_recording());
            egress.senders.clone_from(&whole.egress.senders);
            shards.push(Shard::new(network, part, egress).with_exchange(own, exchange, &peers, window));
        }
        if let Some(Shard { endpoints, .. }) = self.shards.pop() {
            let density = (0, Span::from_s(1));
            self.division = Some(Division {
                partition: partition.to_vec(),
                endpoints,
                window,
                density,
                always_on_threads: false,
            });
        }
        self.shards = shards;
        Ok(())
    }

    /// Gives each shard a thread even where that is slower, for tests.
    #[doc(hidden)]
    pub fn always_on_threads(&mut self) {
        if let Some(division) = &mut self.division {
            division.always_on_threads = true;
        }
    }

    /// Why the run cannot be divided into shards, if so.
    pub fn obstacle(&self) -> Option<&'static str> {
        let duplicates =
            |link: &Link| [&link.forward, &link.reverse].iter().any(|way| way.duplicate > Probability::ZERO);
        if self.end == Time::NEVER {
            Some("the scenario has no duration, so that its flows decide when the run ends")
        } else if !self.shards.iter().all(|shard| shard.endpoints.can_be_sharded()) {
            Some("ranks of simulated programs and subflows of MPTCP share state")
        } else if self.plan.measure.monitor.is_some() {
            Some("links are monitored")
        } else if self.plan.links.iter().any(duplicates) && self.has_pings {
            Some("a link duplicates packets, and copies of a ping may end in different shards")
        } else {
            None
        }
    }

    /// The network of a run that is not divided.
    pub(crate) fn network(&self) -> &Network {
        &self.shards[0].network
    }

    /// Whether each host and link may advance by its own clock, at least as the run begins.
    pub(crate) fn may_look_ahead(&self) -> bool {
        self.lookahead_policy.is_possible()
            && self.shards.iter().all(|shard| shard.endpoints.may_look_ahead())
    }

    /// How many shards there are.
    pub fn shard_count(&self) -> usize {
        self.shards.len()
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
                if let Some(limit) = self.lookahead_policy.limit(self.done_before, before) {
                    self.run_lookahead(limit);
                } else {
                    // Until lookahead is tried again.
                    let shards = self.shards.len();
                    let until = self.lookahead_policy.calendar_until(self.done_before, before, shards);
                    self.run_by_calendar(until, stop);
                }
            }
            if before == change {
                self.change(change);
                continue;
            }
            self.now = self.now.max(mark);
            if self.next_reap == mark {
                self.reap();
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

    /// Handles the events before `before` one after the other, until their count reaches `stop` if there is but one shard.
    fn run_by_calendar(&mut self, before: Time, stop: u64) {
        self.stop_lookahead();
        if let [shard] = &mut self.shards[..] {
            shard.run_by_calendar(before, stop, self.end == Time::NEVER);
            (self.now, self.done_before) = (shard.now, shard.done_before);
        } else {
            let events = self.events();
            let span = before.since(self.done_before);
            self.run_shards(before, false);
            self.lookahead_policy.record_stride(span, self.events() - events);
        }
    }

    /// Returns to one clock for all hosts and links.
    fn stop_lookahead(&mut self) {
        if self.lookahead_is_active() {
            let shards = &self.shards;
            let crosses = |row: &PacketRow| shards.iter().any(|shard| shard.egress.crosses(row));
            self.records.forget_packets(self.done_before, |row| !crosses(row));
        }
        self.shards.iter_mut().for_each(Shard::stop_lookahead);
    }

    /// Handles the events before `limit`, each host and link by its own clock.
    fn run_lookahead(&mut self, limit: Time) {
        let before = self.events();
        let span = limit.since(self.done_before);
        let rounds = self.run_shards(limit, true);
        self.write_packets(limit);
        let events = self.events() - before;
        let visits =
            rounds.iter().zip(&self.shards).map(|(rounds, shard)| rounds * shard.network.parts()).sum();
        let rounds = rounds.iter().copied().max().unwrap_or(0);
        self.lookahead_policy.record_rounds(limit, span, events, rounds, visits);
    }

    /// Lets all shards handle their events before `limit`; returns how many rounds each took.
    fn run_shards(&mut self, limit: Time, looks_ahead: bool) -> Vec<u64> {
        let before = self.events();
        let span = limit.since(self.done_before);
        let rounds = match (&mut self.shards[..], &self.division) {
            ([shard], _) => vec![shard.run(limit, looks_ahead)],
            (shards, Some(division)) if !division.always_on_threads && !division.is_worth_threads(span) => {
                run_on_this_thread(shards, limit, looks_ahead)
            }
            (shards, _) => run_on_threads(shards, limit, looks_ahead),
        };
        for shard in &mut self.shards {
            shard.receive();
        }
        self.done_before = limit;
        self.now = self.shards.iter().map(|shard| shard.now).max().unwrap_or(self.now).max(self.now);
        let events = self.events() - before;
        if let Some(division) = &mut self.division {
            division.density = (events, span);
        }
        rounds
    }

    fn reap(&mut self) {
        match (&mut self.shards[..], &mut self.division) {
            (shards, Some(Division { endpoints, partition, .. })) => {
                endpoints.reap_shards(&mut parts(shards), partition);
            }
            (shards, None) => shards.iter_mut().for_each(|shard| shard.endpoints.reap()),
        }
    }

    /// Calls `look` with the endpoints of all shards together.
    fn look_at_endpoints<R>(&mut self, look: impl FnOnce(&Endpoints) -> R) -> R {
        match (&mut self.shards[..], &mut self.division) {
            (shards, Some(Division { endpoints, partition, .. })) => {
                endpoints.swap_agents(&mut parts(shards), partition);
                let seen = look(endpoints);
                endpoints.swap_agents(&mut parts(shards), partition);
                seen
            }
            (shards, None) => look(&shards[0].endpoints),
        }
    }

    /// The networks of all shards.
    fn networks(&self) -> Shards<'_> {
        Shards(self.shards.iter().map(|shard| &shard.network).collect())
    }

    /// Records packets that have passed before `now`.
    fn write_packets(&mut self, now: Time) {
        for shard in &mut self.shards {
            self.records.packets(&mut shard.egress.passed);
            if let Some(captured) = &mut shard.egress.captures {
                self.records.captured(captured);
            }
        }
        self.records.write_packets(now);
    }

    /// Lets the application of a bulk transfer over TCP, by its position in the plan, write at `rate` from
    /// now on, or nothing until the next call. False if there is no such flow.
    pub fn pace(&mut self, flow: u32, rate: Option<Rate>) -> bool {
        self.stop_lookahead();
        let at = self.done_before;
        self.shards.iter_mut().fold(false, |found, shard| shard.endpoints.pace(flow, at, rate) | found)
    }

    /// The progress of bulk transfers over TCP.
    pub fn progress(&mut self) -> Vec<TransferProgress> {
        self.look_at_endpoints(Endpoints::bulk_progress)
    }

    fn next_change(&self) -> Time {
        self.plan.events.get(self.next_change).map_or(Time::NEVER, |event| Time::from_ns(event.at_ns))
    }

    /// Whether the flows decide when the run ends, and all have ended and no packet is in flight, or no event is left.
    fn is_finished(&self) -> bool {
        let Shard { network, endpoints, .. } = &self.shards[0];
        let quiet = || network.next_event() == Time::NEVER;
        let stuck = || endpoints.next_event() == Time::NEVER && self.next_change() == Time::NEVER;
        self.end == Time::NEVER && quiet() && (endpoints.are_done() || stuck())
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
                for Shard { network, egress, .. } in &mut self.shards {
                    if network.owns(direction) {
                        before.push((way, network.change(at, direction, event.route, &change, egress)));
                    } else {
                        network.note_change(at, direction, event.route, &change);
                    }
                }
            }
        }
        if self.records.is_recording() {
            self.records.change(&results::applied(&event, &before));
        }
        for Shard { network, endpoints, egress, now, .. } in &mut self.shards {
            *now = at;
            endpoints.deliver_arrivals(at, network, egress);
        }
        let possible = self
            .shards
            .iter()
            .all(|Shard { network, egress, .. }| egress.captures.is_none() && network.supports_lookahead());
        self.lookahead_policy.set_possible(self.end != Time::NEVER && possible);
    }

    fn sampling_interval(&self) -> Span {
        Span::from_ns(self.plan.measure.every_ns)
    }

    fn sample(&mut self) {
        let now = self.now;
        for shard in &mut self.shards {
            shard.network.settle(now);
        }
        self.write_packets(self.done_before);
        self.record_bins(false);
        for row in results::samples(&self.networks(), &self.plan, now) {
            self.records.sample(row);
        }
        let rows = self.look_at_endpoints(|endpoints| endpoints.samples(now).collect::<Vec<_>>());
        for row in rows {
            self.records.flow(row);
        }
        self.record_pings();
    }

    fn record_bins(&mut self, all: bool) {
        for shard in &mut self.shards {
            self.records.bins(&shard.network.take_bins(all));
        }
    }

    fn record_pings(&mut self) {
        let rows = self.shards.iter_mut().flat_map(|shard| shard.egress.payloads.take_ping_rows());
        let mut rows: Vec<_> = rows.collect();
        rows.sort_by_key(|row| (row.flow, row.seq));
        for row in rows {
            self.records.ping(row);
        }
    }

    /// The time of the simulation.
    pub fn now(&self) -> Time {
        self.now
    }

    /// Events so far: one for each packet that arrived at a link, and one for each timer.
    pub fn events(&self) -> u64 {
        self.shards.iter().map(Shard::events).sum()
    }

    /// Whether each host and link advances by its own clock now.
    pub fn lookahead_is_active(&self) -> bool {
        self.shards.iter().any(|shard| shard.network.lookahead_is_active())
    }

    /// The fingerprint of every packet that has left the network so far.
    pub fn digest(&self) -> u64 {
        self.shards.iter().fold(0, |all, shard| all.wrapping_add(shard.egress.digest.value()))
    }

    /// Writes the last records and returns the results.
    ///
    /// # Errors
    /// If the records could not be written.
    pub fn finish(&mut self) -> io::Result<Value> {
        for Shard { network, endpoints, egress, .. } in &mut self.shards {
            network.settle(self.now);
            endpoints.close(self.now, network, egress);
        }
        let has_sampled_now = self.next_sample == self.now + self.sampling_interval();
        if self.records.is_recording() && !has_sampled_now {
            self.sample();
        }
        self.record_pings();
        self.write_packets(self.now + Span::from_ps(1));
        self.record_bins(true);
        let now = self.now;
        let (flows, requests) = self.look_at_endpoints(|endpoints| endpoints.flows(now));
        for row in requests {
            self.records.request(row);
        }
        self.records.flush()?;
        Ok(self.results(&flows))
    }

    /// The results so far, marked as `unfinished`. Hands the records so far to the operating system.
    ///
    /// # Errors
    /// If the records could not be written.
    pub fn interim_results(&mut self) -> io::Result<Value> {
        self.records.flush()?;
        let now = self.now;
        let (flows, _requests) = self.look_at_endpoints(|endpoints| endpoints.flows(now));
        let mut account = self.results(&flows);
        account["unfinished"] = json!(true);
        Ok(account)
    }

    fn results(&self, flows: &[Value]) -> Value {
        let networks = self.networks();
        json!({
            "mode": "sim",
            "duration_ns": self.now.ns(),
            "error": null,
            "links": results::links(&networks, &self.plan),
            "packets": results::packets(&networks),
            "pacing": results::pacing(&networks, &self.plan),
            "flows": flows,
            "jobs": self.shards[0].endpoints.jobs(),
            "flow_names": self.flow_names,
            "events": self.events(),
            "hops": networks.totals().hops,
            "damaged": self.shards.iter().map(|shard| shard.egress.payloads.damaged()).sum::<u64>(),
            "echo_fates": self.echo_fates(),
            "digest": format!("{:016x}", self.digest()),
        })
    }

    fn echo_fates(&self) -> Vec<(u32, &'static str, u64)> {
        let mut all: BTreeMap<(u32, &'static str), u64> = BTreeMap::new();
        for (flow, fate, count) in self.shards.iter().flat_map(|shard| shard.egress.payloads.echo_fates()) {
            *all.entry((flow, fate)).or_default() += count;
        }
        all.into_iter().map(|((flow, fate), count)| (flow, fate, count)).collect()
    }
}

impl Division {
    /// Whether shards are to have threads in the next `span`.
    fn is_worth_threads(&self, span: Span) -> bool {
        self.expected_events(span) >= EVENTS_FOR_THREADS
            && self.expected_events(span.min(self.window)) >= EVENTS_IN_WINDOW
    }

    /// How many events a span is expected to have: as many in relation as the last one.
    fn expected_events(&self, span: Span) -> u64 {
        let (events, of) = self.density;
        (u128::from(events) * u128::from(span.ps()) / u128::from(of.ps().max(1))) as u64
    }
}

fn invalid(reason: &str) -> InvalidValue {
    InvalidValue::new("shards", reason.to_owned())
}

fn parts(shards: &mut [Shard]) -> Vec<&mut Endpoints> {
    shards.iter_mut().map(|shard| &mut shard.endpoints).collect()
}

/// All shards on this thread, each as far as it can go at a time.
fn run_on_this_thread(shards: &mut [Shard], limit: Time, looks_ahead: bool) -> Vec<u64> {
    let mut rounds = vec![0; shards.len()];
    let mut left: Vec<usize> = (0..shards.len()).collect();
    while !left.is_empty() {
        left.retain(|&place| {
            let progress = shards[place].step(limit, looks_ahead);
            rounds[place] += u64::from(progress != Progress::None);
            progress != Progress::Done
        });
    }
    rounds
}

/// Each shard on a thread of its own.
fn run_on_threads(shards: &mut [Shard], limit: Time, looks_ahead: bool) -> Vec<u64> {
    let Some((first, others)) = shards.split_first_mut() else { return Vec::new() };
    first.exchange.iter().for_each(Exchange::begin);
    std::thread::scope(|scope| {
        let others: Vec<_> =
            others.iter_mut().map(|shard| scope.spawn(move || shard.run(limit, looks_ahead))).collect();
        let mut rounds = vec![first.run(limit, looks_ahead)];
        // A thread that panicked has said why; the scope panics, too.
        rounds.extend(others.into_iter().filter_map(|other| other.join().ok()));
        rounds
    })
}
