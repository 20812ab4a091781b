use crate::agent::{Agent, Way, Wire};
use crate::carrier::Carrier;
use crate::datagrams::{self, Datagrams, Drain};
use crate::echoes::{self, Echoes};
use crate::records::Records;
use crate::stream::{Application, Plan as StreamPlan, StreamEnd};
use longhaul_network::{Calendar, DirectionId, Network, NodeId, results};
use longhaul_plan::{Flow, NodeKind, Plan, Recovery, Tcp, Traffic, Way as LinkWay};
use longhaul_random::Seed;
use longhaul_record::FlowRow;
use longhaul_transport::{
    Acknowledging, Bound, Connection, Ecn, InitialWindow, Internet, Pacing, ReceiveBuffer, Reduction,
    Reordering, Settings,
};
use longhaul_units::{Rate, Span, Time};
use serde_json::{Value, json};
use std::collections::VecDeque;

/// A plan's network with simulated endpoints.
///
/// Call [`advance`](Self::advance) until it says that the run has ended, then
/// [`finish`](Self::finish). How the calls are cut changes nothing: equal plans give equal results,
/// down to [`digest`](Self::digest).
pub struct Simulation {
    plan: Plan,
    network: Network,
    carrier: Carrier,
    agents: Vec<Agent>,
    pairs: Vec<Pair>,
    /// When each agent next acts.
    timers: Calendar,
    now: Time,
    /// When the run ends; never, if its flows decide.
    end: Time,
    /// Agents that have something to do yet; each is counted off once.
    busy: Vec<bool>,
    busy_agents: usize,
    next_change: usize,
    next_sample: Time,
    events: u64,
}

/// The two agents of a stream of a flow.
#[derive(Clone, Copy, Debug)]
struct Pair {
    flow: u32,
    stream: u32,
    sender: u32,
    receiver: u32,
    /// When the sender had done what it was to do.
    done: Option<Time>,
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
        made.timers = Calendar::new(made.agents.len());
        for (agent, each) in made.agents.iter().enumerate() {
            made.timers.set(agent as u32, each.timer());
        }
        made.busy = made.agents.iter().map(|agent| !agent.is_done()).collect();
        made.busy_agents = made.busy.iter().filter(|&&busy| busy).count();
        Ok(made)
    }

    fn add(&mut self, position: u32, flow: &Flow, seed: &Seed) -> Result<(), String> {
        let (from, to) = (NodeId(flow.source as u32), NodeId(flow.destination as u32));
        let start = Time::from_ns(flow.start_ns);
        let stop = flow.stop_ns.map_or(Time::NEVER, Time::from_ns).min(self.end);
        let endless = |finite: bool| {
            if finite || stop != Time::NEVER {
                Ok(())
            } else {
                Err("stop_ns: neither the flow nor the run ever ends".to_owned())
            }
        };
        match &flow.traffic {
            Traffic::Tcp { streams, law, tcp, bytes, bits_per_s } => {
                endless(bytes.is_some())?;
                let mtu = self.path_mtu(from, to)?.min(self.path_mtu(to, from)?);
                let settings = settings(tcp, mtu);
                for stream in 0..*streams {
                    let (there, back) = self.ways(from, to, position, stream, tcp.ipv6);
                    let name = format!("{}/{stream}", flow.name);
                    let plan = StreamPlan {
                        start,
                        stop,
                        bytes: *bytes,
                        rate: bits_per_s.and_then(Rate::from_bits_per_s),
                        mss: settings.mss,
                    };
                    let chance = |end: &str| seed.stream(&format!("{name}/{end}"));
                    let client = Connection::connect(&settings, law, chance("source"));
                    let server = Connection::listen(&settings, law, chance("destination"));
                    let client = StreamEnd::new(client, there, Some(Application::new(plan)));
                    let server = StreamEnd::new(server, back, None);
                    self.pair(
                        position,
                        stream,
                        Agent::Stream(Box::new(client)),
                        Agent::Stream(Box::new(server)),
                    );
                }
            }
            Traffic::Udp { bits_per_s, payload_bytes, bytes } => {
                endless(bytes.is_some())?;
                let rate =
                    Rate::from_bits_per_s(*bits_per_s).ok_or("traffic.bits_per_s: must be positive")?;
                let (there, _) = self.ways(from, to, position, 0, false);
                let plan = datagrams::Plan {
                    payload_bytes: *payload_bytes,
                    rate,
                    start,
                    stop,
                    bytes: bytes.unwrap_or(u64::MAX),
                };
                let drain = Drain::new(*payload_bytes);
                self.pair(position, 0, Agent::Datagrams(Datagrams::new(there, plan)), Agent::Drain(drain));
            }
            Traffic::Ping { every_ns, payload_bytes, count } => {
                endless(count.is_some())?;
                let (mut there, back) = self.ways(from, to, position, 0, false);
                if self.plan.nodes[flow.destination].kind == NodeKind::Router {
                    // A router answers by itself, to the one who asked.
                    there.peer -= 1;
                }
                let plan = echoes::Plan {
                    flow: position,
                    payload_bytes: *payload_bytes,
                    every: Span::from_ns(*every_ns),
                    start,
                    stop,
                    count: count.unwrap_or(u64::MAX),
                };
                let (asks, answers) = (Echoes::new(there, plan), Echoes::mirror(back, plan));
                self.pair(position, 0, Agent::Echoes(asks), Agent::Echoes(answers));
            }
        }
        Ok(())
    }

    /// The ways of the pair of agents that is added next.
    fn ways(&self, from: NodeId, to: NodeId, position: u32, stream: u32, ipv6: bool) -> (Way, Way) {
        let sender = self.agents.len() as u32;
        let there = Way { from, to, peer: sender + 1, flow: spread(position, 2 * stream), ipv6 };
        let back = Way { from: to, to: from, peer: sender, flow: spread(position, 2 * stream + 1), ipv6 };
        (there, back)
    }

    fn pair(&mut self, flow: u32, stream: u32, sender: Agent, receiver: Agent) {
        let place = self.agents.len() as u32;
        self.agents.extend([sender, receiver]);
        self.pairs.push(Pair { flow, stream, sender: place, receiver: place + 1, done: None });
    }

    /// The largest packet that passes all the way.
    fn path_mtu(&self, from: NodeId, to: NodeId) -> Result<u16, String> {
        let path = self.network.path(from, to).ok_or("destination: no way leads there")?;
        let links = path.iter().map(|direction: &DirectionId| self.plan.links[direction.link()].mtu);
        let host = |node: NodeId| Some(self.plan.nodes[node.0 as usize].mtu).filter(|&mtu| mtu > 0);
        let least = links.chain(host(from)).chain(host(to)).min().unwrap_or(1500);
        Ok(least.min(u32::from(u16::MAX)) as u16)
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
        let idle = self.busy_agents == 0 && self.network.next_event() == Time::NEVER;
        self.end == Time::NEVER && (idle || next == Time::NEVER)
    }

    fn change(&mut self) {
        let event = self.plan.events[self.next_change].clone();
        self.next_change += 1;
        for way in [LinkWay::Forward, LinkWay::Reverse] {
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
        self.hand_over();
    }

    fn set_timer(&mut self, agent: u32) {
        let place = agent as usize;
        let timer = self.agents[place].timer();
        self.timers.set(agent, timer);
        if timer == Time::NEVER && self.busy[place] && self.agents[place].is_done() {
            self.busy[place] = false;
            self.busy_agents -= 1;
            self.pairs[place / 2].done.get_or_insert(self.now);
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

    fn flow_row(&self, pair: &Pair) -> Option<FlowRow> {
        let blank = FlowRow {
            t_ns: self.now.ns(),
            flow: pair.flow,
            stream: pair.stream,
            sent_bytes: 0,
            received_bytes: 0,
            window_segments: None,
            threshold_segments: None,
            rtt_ns: None,
            retransmits: 0,
            in_flight: 0,
        };
        match (&self.agents[pair.sender as usize], &self.agents[pair.receiver as usize]) {
            (Agent::Stream(sender), Agent::Stream(receiver)) => {
                let info = sender.info();
                Some(FlowRow {
                    sent_bytes: info.bytes_sent,
                    received_bytes: receiver.info().bytes_received,
                    window_segments: Some(info.window),
                    threshold_segments: Some(info.threshold).filter(|threshold| threshold.is_finite()),
                    rtt_ns: Some(info.srtt.ns()).filter(|&rtt| rtt > 0),
                    retransmits: info.retransmits,
                    in_flight: info.in_flight,
                    ..blank
                })
            }
            (Agent::Datagrams(sender), Agent::Drain(receiver)) => Some(FlowRow {
                sent_bytes: sender.sent_bytes(),
                received_bytes: receiver.received_bytes(),
                ..blank
            }),
            _ => None,
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
        carrier.records.finish().map_err(|error| format!("cannot write the records: {error}"))?;
        let hops: u64 = (0..2 * self.plan.links.len())
            .map(|direction| self.network.link_counters(DirectionId(direction as u32)).link.offered_packets)
            .sum();
        Ok(json!({
            "mode": "sim",
            "duration_ns": self.now.ns(),
            "error": null,
            "links": results::links(&self.network, &self.plan),
            "packets": results::packets(&self.network),
            "flows": VecDeque::from_iter(self.pairs.iter().map(|pair| self.flow_result(pair))),
            "events": self.events,
            "hops": hops,
            "damaged": self.carrier.damaged,
            "digest": format!("{:016x}", self.digest()),
        }))
    }

    fn flow_result(&self, pair: &Pair) -> Value {
        let flow = &self.plan.flows[pair.flow as usize];
        let end = pair.done.unwrap_or(self.now).min(flow.stop_ns.map_or(Time::NEVER, Time::from_ns));
        let span_s = end.since(Time::from_ns(flow.start_ns)).as_secs_f64();
        let rate = |bytes: u64| if span_s > 0.0 { Some(bytes as f64 * 8.0 / span_s) } else { None };
        let head = |bytes: u64| {
            json!({
                "name": flow.name,
                "stream": pair.stream,
                "span_s": span_s,
                "bytes": bytes,
                "goodput_bits_per_s": rate(bytes),
                "done_ns": pair.done.map(Time::ns),
            })
        };
        match (&self.agents[pair.sender as usize], &self.agents[pair.receiver as usize]) {
            (Agent::Stream(sender), Agent::Stream(receiver)) => {
                let info = sender.info();
                let mut result = head(receiver.info().bytes_received);
                result["state"] = json!(format!("{:?}", info.state).to_lowercase());
                result["segments_sent"] = json!(info.segments_sent);
                result["retransmits"] = json!(info.retransmits);
                result["losses"] = json!(info.losses);
                result["timeouts"] = json!(info.timeouts);
                result["recoveries"] = json!(info.recoveries);
                result["undone"] = json!(info.undone);
                result["marks"] = json!(info.marks);
                result["dsacks"] = json!(info.dsacks);
                result["tail_probes"] = json!(info.tail_probes);
                result["reordering"] = json!(info.reordering);
                result["window_segments"] = json!(info.window);
                result["srtt_ns"] = json!(info.srtt.ns());
                result["min_rtt_ns"] = json!(info.min_rtt.ns());
                result
            }
            (Agent::Datagrams(sender), Agent::Drain(receiver)) => {
                let mut result = head(receiver.received_bytes());
                result["sent"] = json!(sender.sent);
                result["received"] = json!(receiver.received);
                result["out_of_order"] = json!(receiver.out_of_order);
                result
            }
            (Agent::Echoes(asks), _) => {
                let mut result = head(0);
                result["sent"] = json!(asks.sent);
                result["received"] = json!(asks.received);
                result
            }
            _ => Value::Null,
        }
    }
}

/// A number that tells flows apart, evenly spread (the finaliser of splitmix64).
fn spread(flow: u32, end: u32) -> u32 {
    let mut x = (u64::from(flow) << 32 | u64::from(end)).wrapping_add(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (x ^ (x >> 31)) as u32
}

fn settings(tcp: &Tcp, mtu: u16) -> Settings {
    let internet = if tcp.ipv6 { Internet::V6 } else { Internet::V4 };
    let default = Settings::for_mtu(mtu, internet);
    use longhaul_transport::Recovery as R;
    let (recovery, reordering) = match tcp.recovery {
        Recovery::Tahoe => (R::Tahoe, Reordering::Fixed(3)),
        Recovery::Reno => (R::Reno, Reordering::Fixed(3)),
        Recovery::Newreno => (R::NewReno, Reordering::Fixed(3)),
        Recovery::Sack => (R::Sack, Reordering::Fixed(3)),
        Recovery::SackAdaptive => (R::Sack, Reordering::Adaptive { most: 127 }),
        Recovery::Rack => (R::Rack, Reordering::Fixed(3)),
    };
    let least = Span::from_ns(tcp.min_rto_ns);
    Settings {
        recovery,
        reordering,
        initial_window: tcp.initial_window.map_or(default.initial_window, InitialWindow::Segments),
        acknowledging: Acknowledging { every: if tcp.delayed_ack { 2 } else { 1 }, ..default.acknowledging },
        ecn: if tcp.ecn { Ecn::Classic } else { Ecn::Off },
        pacing: if tcp.pacing { Pacing::Window } else { Pacing::Law },
        reduction: Reduction::Proportional(Bound::Safe),
        timeouts: longhaul_transport::Timeouts { least, least_variation: least, ..default.timeouts },
        send_buffer: tcp.buffer_bytes.unwrap_or(default.send_buffer),
        receive_buffer: tcp.buffer_bytes.map_or(default.receive_buffer, |most| ReceiveBuffer {
            bytes: most.min(ReceiveBuffer::linux().bytes),
            most,
            offered: 1,
        }),
        ..default
    }
}
