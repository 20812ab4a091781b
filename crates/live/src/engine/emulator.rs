//! The modelled network between real hosts: what is done with packets and changes, on whoever's clock.

use super::batches::Departing;
use super::bridges::{Bridges, Forwarding};
use super::control::Reply;
use super::egress::{Egress, flags_of};
use super::horizons::Horizons;
use super::joint_flows::OtherEnds;
use super::ports::Ports;
use super::returned::{self, Returned, ReturnedPackets};
use super::stations::Stations;
use super::steps;
use crate::device::{self, Mac, mac_of};
use crate::error::Result;
use crate::packet_pool::PacketPool;
use crate::recorder::{CapturedLink, Recorder};
use longhaul_endpoints::Endpoints;
use longhaul_network::journal::Entry;
use longhaul_network::{DirectionId, Flags, KnownArrivals, Network, NodeId, Packet, icmp, results};
use longhaul_plan::{Event, Plan, Port, Way};
use longhaul_record::Distribution;
use longhaul_units::{Span, Time};
use serde_json::Value;
use std::collections::VecDeque;
use std::net::IpAddr;

/// The network with simulated endpoints and real hosts' packets.
pub struct Emulator<'a, P> {
    pub(super) plan: &'a Plan,
    pub(super) network: Network,
    pub(super) endpoints: Endpoints,
    pub egress: Egress<P>,
    /// Where frames of bridged devices go.
    pub(super) bridges: Bridges,
    /// What came back in at routed devices.
    pub(super) returned: ReturnedPackets,
    /// Who is at switches.
    stations: Stations,
    /// The next of the plan's events.
    pub(super) next_change: usize,
    /// Requested changes that are not due yet, by their times; those of one request are made together.
    pub(super) requested: VecDeque<Vec<Event>>,
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
    pub(super) warnings: Vec<String>,
    /// Room for the devices that a frame goes to.
    frame_ends: Vec<usize>,
    /// Room for packets of other machines: where they come, from which, and when they are due there.
    pub(super) arrived: Vec<(DirectionId, u32, Time, Packet)>,
    /// How far this engine may go, if others in this process have a part of the simulated ends.
    pub(super) horizons: Option<Horizons>,
    /// Everything that other engines of this process send is there that is due before this.
    pub(super) horizon: Time,
    /// Where simulated ends are that this engine does not have.
    pub(super) other_ends: OtherEnds,
    /// Whether the common end of several engines has come: nothing more is handled, and what is due is still on its way.
    pub(super) has_ended: bool,
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
            bridges: Bridges::of(plan),
            returned: ReturnedPackets::default(),
            stations: Stations::of(plan),
            next_change: 0,
            requested: VecDeque::new(),
            next_sample: Time::ZERO,
            advanced: Time::ZERO,
            next_reap: Time::ZERO + steps::REAP_INTERVAL,
            endpoint_lateness: Distribution::new(),
            last_endpoint_poll: Time::ZERO,
            warnings: Vec::new(),
            frame_ends: Vec::new(),
            arrived: Vec::new(),
            horizons: None,
            horizon: Time::NEVER,
            other_ends: OtherEnds::None,
            has_ended: false,
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
        self.endpoints.are_done() && self.egress.replays.are_done(self.egress.outside.now())
    }

    /// Changes links at the time of `events`, which is not past and the same for all of them.
    pub fn request(&mut self, events: Vec<Event>) {
        let Some(at_ns) = events.first().map(|event| event.at_ns) else { return };
        let place = self.requested.partition_point(|each| each[0].at_ns <= at_ns);
        self.requested.insert(place, events);
    }

    /// Changes links, all at the time of the first, and records the changes at once.
    pub fn change(&mut self, events: &[Event]) {
        let rows: Vec<Value> = events.iter().map(|event| self.apply_link_change(event)).collect();
        self.egress.recorder.changes(&rows);
        if let Some(at) = events.first().map(|event| Time::from_ns(event.at_ns)) {
            self.network.announce_departures_by(at, &mut self.egress);
        }
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

    /// Captures the packets of a link from now on, at both of its ends, until the files have grown by `limit_bytes`.
    pub fn begin_capture(&mut self, link: usize, snaplen: u32, limit_bytes: u64) -> Reply {
        let Egress { captured_links, recorder, unix_start_ns, .. } = &mut self.egress;
        let is_new = captured_links.begin(link, snaplen, limit_bytes);
        if is_new {
            recorder.begin_capture(CapturedLink::new(self.plan, link, snaplen));
            self.network.tap(link);
        }
        let snaplen = captured_links.snaplen(link).unwrap_or_default() as u32;
        let since_ns = *unix_start_ns + self.egress.outside.now().ns();
        Reply::Capturing { is_new, snaplen, unix_start_ns: self.egress.unix_start_ns, since_ns }
    }

    /// Ends a capture that began while the run was running, and hands over what it has.
    pub fn end_capture(&mut self, link: usize) {
        if self.egress.captured_links.end(link) {
            self.egress.recorder.end_capture();
        }
    }

    /// The problems since the last call that do not end the run.
    pub fn take_warnings(&mut self) -> Vec<String> {
        let plan = self.plan;
        for link in self.egress.full_captures.drain(..) {
            self.warnings.push(format!("the capture of link {} ended at its limit", plan.links[link].name));
        }
        for found in self.network.take_switch_loops() {
            let mac = self.stations.mac_of(found.station).unwrap_or_else(|| mac_of(found.station.0 as usize));
            let names = found.links.map(|direction| {
                let ends = plan.links[direction.link()].endpoints;
                &plan.nodes[ends[usize::from(direction.way() == Way::Forward)]].name
            });
            self.warnings.push(loop_warning(mac, names));
        }
        for (node, other) in self.egress.outside.take_looped() {
            self.warnings.push(returned::frames_warning(&plan.nodes[node].name, &plan.nodes[other].name));
        }
        std::mem::take(&mut self.warnings)
    }

    /// Takes packet `body`, which a host sends at `now`; everything before must have been processed.
    pub fn inject(&mut self, now: Time, node: usize, body: u32) {
        if self.bridges.contains(node) {
            return self.inject_frame(now, node, body);
        }
        if self.stations.contains(node) {
            if !self.is_for_router(body) {
                return self.inject_at_switch(now, node, body);
            }
            // Routers of the model take packets without Ethernet headers.
            self.egress.packet_pool.remove_link_header(body);
        }
        let bytes = self.egress.packet_pool.packet(body);
        let shape = self.egress.packet_pool.shape(body);
        let length = bytes.len();
        let segments = shape.segments(length);
        let source = NodeId(node as u32);
        let wire = self.network.wired_to(source);
        let leaves = |header: &icmp::Header| wire.is_some() || !is_local(header.destination);
        let Some(header) = icmp::parse(bytes).filter(leaves) else {
            self.egress.packet_pool.release(body, segments);
            self.egress.ports[node].ignored_packets += 1;
            return;
        };
        self.egress.ports[node].read_packets += u64::from(segments);
        if matches!(self.plan.nodes[node].port, Some(Port::Routed { .. }))
            && self.is_returned(source, &header, segments)
        {
            self.egress.packet_pool.release(body, segments);
            return;
        }
        let bytes = self.egress.packet_pool.packet(body);
        let forwards = self.network.is_forwarding(source);
        let origin = if forwards { self.origin(source, header.source) } else { source };
        if origin == source {
            self.egress.flows.sent(now, source, &header, bytes, segments);
        }
        // A bridged device has no address.
        let takes_packets = |node: &NodeId| !self.bridges.contains(node.0 as usize);
        let known = self.network.node_at(header.destination).filter(takes_packets);
        let destination = match wire {
            // Whatever it is, it comes to the other end of the wire.
            Some(far) => known.filter(|_| self.network.is_forwarding(far)).or(Some(far)),
            None => known.or(self.gateway(node)),
        };
        let mut flags = flags_of(&header);
        flags.set(Flags::REAL, true);
        let mut packet = Packet {
            body,
            segment: 0,
            segments: segments as u16,
            bytes: 0,
            source: origin,
            destination: destination.unwrap_or(source),
            ttl: header.ttl,
            hops: 0,
            flags,
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
            if forwards {
                self.egress.recorder.note(|| Entry::Forwarded { packet, node: source, routable });
                self.network.inject_at(now, source, packet, routable, &mut self.egress);
                continue;
            }
            self.egress.recorder.note(|| Entry::Injected { packet, routable });
            match destination {
                Some(_) => self.network.inject(now, packet, &mut self.egress),
                None => self.network.inject_unroutable(now, packet, &mut self.egress),
            }
        }
        self.network.announce_departures_by(now, &mut self.egress);
        self.egress.flush();
        self.endpoints.deliver_arrivals(now, &mut self.network, &mut self.egress);
    }

    /// Whether a frame has an IP packet that a router of the model is to forward or to answer.
    fn is_for_router(&self, body: u32) -> bool {
        let pool = &self.egress.packet_pool;
        let (bytes, link_header) = (pool.packet(body), pool.link_header(body));
        Stations::router(self.plan, link_header).is_some()
            && !pool.shape(body).is_opaque()
            && device::discovery(kind_of(link_header), bytes).is_none()
            && icmp::parse(bytes).is_some_and(|header| !is_local(header.destination))
    }

    /// Takes the frame `body`, which the interface or the device `node` sends to its switch.
    fn inject_at_switch(&mut self, now: Time, node: usize, body: u32) {
        let pool = &self.egress.packet_pool;
        let (bytes, shape, link_header) = (pool.packet(body), pool.shape(body), pool.link_header(body));
        let (length, segments) = (bytes.len(), shape.segments(bytes.len()));
        let (destination, source) = self.stations.ends(self.plan, link_header);
        let header = if shape.is_opaque() { None } else { icmp::parse(bytes) };
        let here = NodeId(node as u32);
        self.egress.ports[node].read_packets += u64::from(segments);
        let forwards = self.network.is_forwarding(here);
        if let Some(header) = &header
            && (!forwards || self.origin(here, header.source) == here)
        {
            self.egress.flows.sent(now, here, header, bytes, segments);
        }
        let mut packet = Packet {
            source,
            destination,
            body,
            segments: segments as u16,
            ..frame_packet(now, header.as_ref(), link_header)
        };
        packet.flags.set(Flags::FRAME, true);
        packet.flags.set(Flags::REAL, true);
        self.egress.real_packets += u64::from(segments);
        for segment in 0..segments {
            packet.segment = segment as u16;
            packet.bytes = shape.segment_bytes(length, segment);
            self.egress.recorder.note(|| Entry::Forwarded { packet, node: here, routable: true });
            self.network.inject_at(now, here, packet, true, &mut self.egress);
        }
        self.egress.flush();
        self.endpoints.deliver_arrivals(now, &mut self.network, &mut self.egress);
    }

    /// Takes the frame `body`, which arrives at a bridged device at `now`, and sends it to each device of the segment that
    /// is to have it. Routers carry it as a pseudowire does (RFC 4448): whatever it is, and without an answer.
    fn inject_frame(&mut self, now: Time, node: usize, body: u32) {
        let mut ends = std::mem::take(&mut self.frame_ends);
        ends.clear();
        let Emulator { egress, bridges, warnings, plan, .. } = self;
        let pool = &egress.packet_pool;
        let (bytes, shape) = (pool.packet(body), pool.shape(body));
        let (length, segments) = (bytes.len(), shape.segments(bytes.len()));
        egress.ports[node].read_packets += u64::from(segments);
        let link_header = pool.link_header(body);
        match bridges.forward(now, node, link_header) {
            Forwarding::To(nodes) => ends.extend_from_slice(nodes),
            Forwarding::Local => {}
            Forwarding::Looped { found_at } => {
                let mac = device::stations(link_header).map_or_else(Mac::default, |(_, source)| source);
                let names = |other: usize| [&plan.nodes[node].name, &plan.nodes[other].name];
                warnings.extend(found_at.map(|other| loop_warning(mac, names(other))));
            }
        }
        let header = if shape.is_opaque() { None } else { icmp::parse(bytes) };
        let source = NodeId(node as u32);
        if let Some(header) = header.as_ref().filter(|_| !ends.is_empty()) {
            egress.flows.sent(now, source, header, bytes, segments);
        }
        let mut packet = Packet {
            source,
            body,
            segments: segments as u16,
            ..frame_packet(now, header.as_ref(), link_header)
        };
        // One more holds the bytes until all copies are on their way.
        egress.packet_pool.retain(body);
        for (copy, &end) in ends.iter().enumerate() {
            packet.destination = NodeId(end as u32);
            let Egress { packet_pool, flows, .. } = &mut self.egress;
            for _ in 0..if copy > 0 { segments } else { 0 } {
                packet_pool.retain(body);
                flows.copied(&packet, || packet_pool.packet(body));
            }
            self.egress.real_packets += u64::from(segments);
            for segment in 0..segments {
                packet.segment = segment as u16;
                packet.bytes = shape.segment_bytes(length, segment);
                self.egress.recorder.note(|| Entry::Injected { packet, routable: true });
                self.network.inject(now, packet, &mut self.egress);
            }
        }
        let unused = if ends.is_empty() { segments } else { 0 };
        self.egress.packet_pool.release(body, unused + 1);
        self.frame_ends = ends;
        self.egress.flush();
        self.endpoints.deliver_arrivals(now, &mut self.network, &mut self.egress);
    }

    /// The node that sent a packet which a host sends by `interface`, by its source address: another one, if the host
    /// forwards it.
    fn origin(&self, interface: NodeId, source: IpAddr) -> NodeId {
        let others = |node: &NodeId| !self.network.is_same_host(*node, interface);
        self.network.node_at(source).filter(others).unwrap_or(interface)
    }

    /// Whether a packet at a routed device left the network there before, and would leave it there again.
    fn is_returned(&mut self, device: NodeId, header: &icmp::Header, segments: u32) -> bool {
        let Some(home) = self.network.node_at(header.source) else { return false };
        if self.network.is_same_host(home, device) {
            return false;
        }
        let is_lost = self.network.node_at(header.destination) == Some(device);
        let returned = Returned { home: home.0 as usize, is_lost };
        if self.returned.count(device.0 as usize, returned, u64::from(segments)) {
            let name = |node: NodeId| self.plan.nodes[node.0 as usize].name.as_str();
            let ends = (header.source, header.destination);
            self.warnings.push(returned::packets_warning(ends, name(device), name(home), is_lost));
        }
        is_lost
    }

    /// The gateway for packets from `node` to addresses outside the scenario.
    fn gateway(&self, node: usize) -> Option<NodeId> {
        self.plan.gateway.filter(|&gateway| gateway != node).map(|gateway| NodeId(gateway as u32))
    }
}

/// The warning about a station that is behind two devices of a bridge, or two links of a switch.
fn loop_warning(mac: Mac, mut nodes: [&String; 2]) -> String {
    let station: Vec<String> = mac.iter().map(|byte| format!("{byte:02x}")).collect();
    nodes.sort();
    format!(
        "frames of {} are lost: it is behind {} and {} at once; disconnect these, they are a loop",
        station.join(":"),
        nodes[0],
        nodes[1],
    )
}

/// A frame as the network has it, but for its ends, body and segments: it has no hops, and nobody answers it.
fn frame_packet(now: Time, header: Option<&icmp::Header>, link_header: &[u8]) -> Packet {
    let mut flags = Flags::NO_REPLY;
    flags.set(Flags::V6, header.is_some_and(|header| header.version == 6));
    Packet {
        body: 0,
        segment: 0,
        segments: 1,
        bytes: 0,
        source: NodeId(0),
        destination: NodeId(0),
        ttl: u8::MAX,
        hops: 0,
        flags,
        class: header.map_or(0, |header| header.class),
        flow: header.map_or_else(|| hash_of(link_header), |header| header.flow),
        damage: 0,
        offered: now,
    }
}

/// The kind of a frame behind its tags; 0 without a whole header.
fn kind_of(link_header: &[u8]) -> u16 {
    link_header.last_chunk().map_or(0, |kind| u16::from_be_bytes(*kind))
}

/// The flow of a frame that is not an IP packet: a hash (FNV-1a) of addresses, tags and kind.
fn hash_of(link_header: &[u8]) -> u32 {
    link_header.iter().fold(0x811c_9dc5, |hash, &byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

/// Whether the destination is multicast, broadcast or link-local: routers do not forward it.
fn is_local(destination: IpAddr) -> bool {
    match destination {
        IpAddr::V4(address) => address.is_multicast() || address.is_broadcast() || address.is_link_local(),
        IpAddr::V6(address) => address.is_multicast() || address.is_unicast_link_local(),
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
