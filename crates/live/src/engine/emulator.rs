//! The modelled network between real hosts: what is done with packets and changes, on whoever's clock.

use super::batches::Departing;
use super::egress::{Egress, flags_of};
use super::ports::Ports;
use super::steps;
use crate::error::Result;
use crate::packet_pool::PacketPool;
use crate::recorder::Recorder;
use longhaul_endpoints::Endpoints;
use longhaul_network::journal::Entry;
use longhaul_network::{DirectionId, KnownArrivals, Network, NodeId, Packet, icmp, results};
use longhaul_plan::{Event, Plan, Way};
use longhaul_record::Distribution;
use longhaul_units::{Span, Time};
use serde_json::Value;

/// The network with simulated endpoints and real hosts' packets.
pub struct Emulator<'a, P> {
    pub(super) plan: &'a Plan,
    pub(super) network: Network,
    pub(super) endpoints: Endpoints,
    pub egress: Egress<P>,
    /// The next of the plan's events.
    pub(super) next_change: usize,
    pub(super) next_sample: Time,
    /// The time up to which all due events have been processed.
    pub(super) advanced: Time,
    /// When closed simulated connections are next reaped.
    pub(super) next_reap: Time,
    /// Lateness of events of simulated endpoints.
    pub(super) endpoint_lateness: Distribution,
    /// Time at which simulated endpoints were last polled.
    pub(super) last_endpoint_poll: Time,
    /// Problems that do not end the run, until they are reported.
    pub warnings: Vec<String>,
    /// Room for packets that are written in advance.
    coming: Vec<(Time, NodeId, Packet, DirectionId)>,
}

/// The network of `plan` as a run with real hosts uses it.
pub fn network(plan: &Plan) -> Result<Network> {
    let mut network = Network::new(plan)?;
    network.complete_routes();
    for &link in plan.measure.packet_links.iter().chain(&plan.measure.captures) {
        network.tap(link);
    }
    network.monitor(plan);
    Ok(network)
}

impl<'a, P: Ports> Emulator<'a, P> {
    /// At time zero, with `outside` as the hosts' ends. `unix_start_ns` is the Unix time of the start.
    pub fn new(
        plan: &'a Plan,
        (network, endpoints): (Network, Endpoints),
        outside: P,
        recorder: Recorder,
        unix_start_ns: u64,
    ) -> Self {
        let senders = endpoints.senders();
        let mut egress = Egress::new(plan, outside, PacketPool::new(memory_limit()), recorder, unix_start_ns);
        egress.senders = senders;
        Emulator {
            plan,
            network,
            endpoints,
            egress,
            next_change: 0,
            next_sample: Time::ZERO,
            advanced: Time::ZERO,
            next_reap: Time::ZERO + steps::REAP_INTERVAL,
            endpoint_lateness: Distribution::new(),
            last_endpoint_poll: Time::ZERO,
            warnings: Vec::new(),
            coming: Vec::new(),
        }
    }

    /// From now on, packets are announced to hosts in advance; see [`announce_arrivals`](Self::announce_arrivals).
    pub fn enable_lookahead(&mut self) {
        self.egress.known_arrivals = Some(KnownArrivals::new(&self.network));
    }

    /// How long before they are due all packets to hosts are known, as long as no link is changed.
    pub fn lookahead(&self) -> Span {
        self.egress
            .known_arrivals
            .as_ref()
            .map_or(Span::ZERO, |known_arrivals| self.network.lookahead(known_arrivals))
    }

    /// Writes to the hosts in advance what will be due before `before`, as known at `now`, the next event of the
    /// network or of a host; see [`Network::announce_arrivals`].
    pub fn announce_arrivals(&mut self, now: Time, before: Time) {
        let Some(known_arrivals) = &mut self.egress.known_arrivals else { return };
        let coming = &mut self.coming;
        self.network.announce_arrivals(now, before, known_arrivals, |host, packet, due, via| {
            coming.push((due, host, *packet, via));
        });
        coming.sort_by_key(|&(due, ..)| due);
        for (due, host, packet, via) in coming.drain(..) {
            let host = host.0 as usize;
            self.egress.depart_ahead(&Departing { host, packet: &packet, due, via: Some(via) });
        }
        self.egress.flush();
    }

    /// When the counters are next recorded.
    pub fn next_sample(&self) -> Time {
        self.next_sample
    }

    /// When the plan next changes a link; [`Time::NEVER`] if it does not.
    pub fn next_change(&self) -> Time {
        self.next_change_at()
    }

    /// Whether a part of the traffic is simulated.
    pub fn has_endpoints(&self) -> bool {
        !self.endpoints.is_empty()
    }

    /// Whether all finite simulated flows and jobs have completed, and all packets of captures have met their fate.
    pub fn endpoints_are_done(&self) -> bool {
        self.endpoints.are_done() && self.egress.replays.in_network == 0
    }

    /// Changes links, all at the time of the first, and records the changes at once.
    pub fn change(&mut self, events: &[Event]) {
        let rows: Vec<Value> = events.iter().map(|event| self.apply_link_change(event)).collect();
        self.egress.recorder.changes(&rows);
        self.egress.flush();
        let Some(at) = events.first().map(|event| Time::from_ns(event.at_ns)) else { return };
        self.endpoints.deliver_arrivals(at, &mut self.network, &mut self.egress);
    }

    /// Applies one change and returns its row of the records.
    fn apply_link_change(&mut self, event: &Event) -> Value {
        let at = Time::from_ns(event.at_ns);
        let mut before = Vec::with_capacity(2);
        for way in [Way::Forward, Way::Reverse] {
            if event.direction.is_some_and(|only| only != way) {
                continue;
            }
            let direction = DirectionId::new(event.link, way);
            self.egress.recorder.note(|| Entry::Changed {
                at,
                direction,
                route: event.route,
                change: Box::new(event.change.clone()),
            });
            let counted = self.network.change(at, direction, event.route, &event.change, &mut self.egress);
            before.push((way, counted));
        }
        results::applied(event, &before)
    }

    /// Takes packet `body`, which a host sends at `now`; everything before must have been processed.
    pub fn inject(&mut self, now: Time, node: usize, body: u32) {
        let bytes = self.egress.packet_pool.packet(body);
        let shape = self.egress.packet_pool.shape(body);
        let length = bytes.len();
        let segments = shape.segments(length);
        let Some(header) = icmp::parse(bytes).filter(|header| !is_local(header.destination)) else {
            self.egress.packet_pool.release(body, segments);
            self.egress.ports[node].ignored_packets += 1;
            return;
        };
        self.egress.ports[node].read_packets += u64::from(segments);
        let source = NodeId(node as u32);
        self.egress.flows.sent(now, source, &header, bytes, segments);
        let destination = self.network.node_at(header.destination).or(self.gateway(node));
        let mut packet = Packet {
            body,
            segment: 0,
            segments: segments as u16,
            bytes: 0,
            source,
            destination: destination.unwrap_or(source),
            ttl: header.ttl,
            hops: 0,
            flags: flags_of(&header),
            class: header.class,
            flow: header.flow,
            damage: 0,
            offered: now,
        };
        self.egress.real_packets += u64::from(segments);
        for segment in 0..segments {
            packet.segment = segment as u16;
            packet.bytes = shape.segment_bytes(length, segment);
            let routable = destination.is_some();
            self.egress.recorder.note(|| Entry::Injected { packet, routable });
            match destination {
                Some(_) => self.network.inject(now, packet, &mut self.egress),
                None => self.network.inject_unroutable(now, packet, &mut self.egress),
            }
        }
        self.egress.flush();
        self.endpoints.deliver_arrivals(now, &mut self.network, &mut self.egress);
    }

    /// The gateway for packets from `node` to addresses outside the scenario.
    fn gateway(&self, node: usize) -> Option<NodeId> {
        self.plan.gateway.filter(|&gateway| gateway != node).map(|gateway| NodeId(gateway as u32))
    }
}

/// Whether the destination is multicast, broadcast or link-local: routers do not forward it.
fn is_local(destination: std::net::IpAddr) -> bool {
    match destination {
        std::net::IpAddr::V4(address) => {
            address.is_multicast() || address.is_broadcast() || address.is_link_local()
        }
        std::net::IpAddr::V6(address) => address.is_multicast() || address.is_unicast_link_local(),
    }
}

/// Half of the available memory: beyond it, packets are dropped and counted.
fn memory_limit() -> usize {
    let available = std::fs::read_to_string("/proc/meminfo").ok().and_then(|text| {
        let line = text.lines().find(|line| line.starts_with("MemAvailable:"))?;
        line.split_whitespace().nth(1)?.parse::<usize>().ok()
    });
    available.map_or(1 << 30, |kib| kib * 1024 / 2)
}
