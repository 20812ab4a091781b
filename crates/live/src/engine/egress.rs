//! Where packets leave the network: written to a host, or met by another fate.

use super::batches::{Batch, Batches, Departing, MOST_PARTS, changes};
use super::captured_links::CapturedLinks;
use super::class_gaps::ClassGaps;
use super::ports::Ports;
use super::real_flows::RealFlows;
use super::replays::Replays;
use super::stalls::StallDetector;
use crate::device::{self, DeviceCounters};
use crate::packet_pool::PacketPool;
use crate::recorder::Recorder;
use crate::shape::{HEADER_ROOM, HeaderChanges};
use crate::sys::packet::ETHERNET_HEADER;
use crate::tun::VNET_HEADER;
use crate::tunnel::{Content, Tunnel};
use longhaul_endpoints::{ListedPacket, PayloadPool, PayloadSink};
use longhaul_network::journal::{Departure, Entry};
use longhaul_network::{
    DirectionId, Fate, Flags, KnownArrivals, Message, NodeId, Origin, Packet, Reply, Sink, icmp, results,
};
use longhaul_plan::{Plan, Sender, Way};
use longhaul_record::{Classes, Distribution};
use longhaul_units::{Span, Time};
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::IoSlice;
use std::net::IpAddr;

/// A host's port and what happened there.
#[derive(Debug, Default, Serialize)]
pub struct Port {
    /// Whether the kernel hands over UDP super-packets, too.
    pub udp_offload: bool,
    /// Packets (segments) read from the host.
    pub read_packets: u64,
    /// Packets (segments) written to the host.
    pub written_packets: u64,
    /// Writes to the host: of a packet, or of several as one super-packet.
    pub writes: u64,
    /// Packets (segments) that the kernel refused to take.
    pub write_failed_packets: u64,
    /// Reads that failed.
    pub read_failed: u64,
    /// Link-local traffic, and what is not an IP packet.
    pub ignored_packets: u64,
    /// Super-packets refused because memory ran out.
    pub no_memory_packets: u64,
    /// What else happened at a device of the machine.
    #[serde(flatten)]
    pub device: Option<DeviceCounters>,
}

/// The gap between packets is measured if they are due within this time of each other.
const NEIGHBOURS: Span = Span::from_ms(1);

/// Where packets leave the network in a run with real hosts.
pub struct Egress<P> {
    /// The hosts' ends.
    pub outside: P,
    pub ports: Vec<Port>,
    pub packet_pool: PacketPool,
    pub recorder: Recorder,
    /// What simulated packets carry.
    pub payloads: PayloadPool,
    /// Real packets in the network.
    pub real_packets: u64,
    /// Whose they are.
    pub flows: RealFlows,
    /// Written minus due, by the last link's direction.
    pub lateness: Vec<Distribution>,
    /// The same in classes, for records during the run.
    pub late: Vec<Classes>,
    /// How far the gap between two packets, neighbours on that direction, was from what was due.
    pub spacing: Vec<Distribution>,
    /// The last packet written by direction: when it was due, and its lateness.
    last: Vec<(Time, Span)>,
    /// The same for classes of hosts' pacing.
    pub class_gaps: ClassGaps,
    /// When the machine did not run the engine, and how long the engine worked.
    pub stalls: StallDetector,
    /// Whose simulated packets are, by what they carry as their flow.
    pub senders: BTreeMap<u32, Sender>,
    /// Packets of captures that hosts get.
    pub replays: Replays,
    /// To other machines, if the network is divided among several.
    pub tunnel: Option<Box<Tunnel>>,
    addresses: Vec<(Option<IpAddr>, Option<IpAddr>)>,
    /// The host of each node that forwards packets of others; `None` for any other node.
    forwarding_host: Vec<Option<usize>>,
    /// The host of each interface; any other node itself.
    owners: Vec<usize>,
    /// Unix time of the run's start.
    pub unix_start_ns: u64,
    batches: Batches,
    /// What was written to hosts in advance, where the clock waits for packets.
    pub known_arrivals: Option<KnownArrivals>,
    /// Hosts that were written to and may have answered; each once.
    pub written_to: Vec<usize>,
    scratch: Vec<u8>,
    /// What a packet carries in the model that goes to another shard.
    crossing: Vec<u8>,
    quoted: Vec<u8>,
    rows: Rows,
    pub(super) captured_links: CapturedLinks,
    /// Links whose captures ended at their limit, until that is reported.
    pub(super) full_captures: Vec<usize>,
}

/// What routers look at of a packet with these headers.
pub fn flags_of(header: &icmp::Header) -> Flags {
    let mut flags = Flags::empty();
    flags.set(Flags::V6, header.version == 6);
    flags.set(Flags::DONT_FRAGMENT, header.dont_fragment);
    flags.set(Flags::NO_REPLY, header.no_reply);
    flags.set(Flags::ECHO_REQUEST, header.echo_request);
    flags
}

/// Which links' packets are recorded, and when.
struct Rows {
    packets: Vec<bool>,
    window_ns: u64,
}

impl<P: Ports> Egress<P> {
    pub fn new(
        plan: &Plan,
        outside: P,
        packet_pool: PacketPool,
        recorder: Recorder,
        unix_start_ns: u64,
    ) -> Self {
        let listed = |links: &[usize]| (0..plan.links.len()).map(|link| links.contains(&link)).collect();
        let outside_joins = outside.joins(Span::from_ns(plan.coalesce_ns));
        let port = |host| Port { udp_offload: outside.udp_offload(host), ..Port::default() };
        Egress {
            ports: (0..plan.nodes.len()).map(port).collect(),
            outside,
            packet_pool,
            recorder,
            payloads: PayloadPool::default(),
            real_packets: 0,
            flows: RealFlows::default(),
            lateness: vec![Distribution::new(); plan.links.len() * 2 + 1],
            late: vec![Classes::default(); plan.links.len() * 2 + 1],
            spacing: vec![Distribution::new(); plan.links.len() * 2 + 1],
            last: vec![(Time::NEVER, Span::ZERO); plan.links.len() * 2 + 1],
            class_gaps: ClassGaps::default(),
            stalls: StallDetector::new(),
            senders: BTreeMap::new(),
            replays: Replays::default(),
            tunnel: None,
            addresses: plan
                .nodes
                .iter()
                .map(|node| (node.ipv4.map(IpAddr::V4), node.ipv6.map(IpAddr::V6)))
                .collect(),
            forwarding_host: (0..plan.nodes.len())
                .map(|node| plan.is_forwarding(node).then(|| plan.owner(node)))
                .collect(),
            owners: (0..plan.nodes.len()).map(|node| plan.owner(node)).collect(),
            unix_start_ns,
            batches: Batches::new(outside_joins),
            known_arrivals: None,
            written_to: Vec::with_capacity(64),
            scratch: Vec::with_capacity(2_048),
            crossing: Vec::with_capacity(256),
            quoted: Vec::with_capacity(2_048),
            rows: Rows {
                packets: listed(&plan.measure.packet_links),
                window_ns: plan.measure.packet_window_ns,
            },
            captured_links: CapturedLinks::of(plan),
            full_captures: Vec::new(),
        }
    }

    /// The clock here was `later_ps` ahead of that of the machine which a packet comes from.
    pub fn convert_departure(&mut self, packet: &Packet, later_ps: i64) {
        let simulated_body = if PayloadPool::contains(packet) {
            Some(packet.body)
        } else {
            self.packet_pool.simulated_body(packet.body)
        };
        if let Some(simulated_body) = simulated_body {
            self.payloads.convert_departure(simulated_body, later_ps);
        }
    }

    /// Gathers a packet that goes to its host before the network lets it go.
    pub fn depart_ahead(&mut self, departing: &Departing<'_>) {
        if !PayloadPool::contains(departing.packet) {
            self.packet_pool.retain(departing.packet.body);
            self.depart(departing);
        }
    }

    fn depart(&mut self, departing: &Departing<'_>) {
        if let Some(before) = self.batches.add(departing, &self.packet_pool) {
            self.write(before);
        }
        if self.batches.are_full() {
            self.flush();
        }
    }

    /// Writes all that has been gathered.
    pub fn flush(&mut self) {
        while let Some(batch) = self.batches.take() {
            self.write(batch);
        }
    }

    fn write(&mut self, batch: Batch) {
        let Some(start) = batch.pieces.first() else { return };
        let packet = self.packet_pool.packet(start.body);
        let shape = self.packet_pool.shape(start.body);
        let mut room = [0u8; HEADER_ROOM];
        let headers = shape.headers(packet, &batch.run, batch.changes, &mut room);
        let mut parts = [IoSlice::new(&[]); MOST_PARTS];
        parts[0] = IoSlice::new(&room[..headers]);
        for (part, piece) in parts[1..].iter_mut().zip(&batch.pieces) {
            let packet = self.packet_pool.packet(piece.body);
            let shape = self.packet_pool.shape(piece.body);
            let (start, length) = shape.payload(packet.len(), piece.first, piece.count);
            *part = IoSlice::new(&packet[start..start + length]);
        }
        let mut parts = &parts[..=batch.pieces.len()];
        let damaged;
        if batch.damage != 0 {
            self.scratch.clear();
            for part in parts {
                self.scratch.extend_from_slice(part);
            }
            shape.damage(&mut self.scratch, batch.damage);
            damaged = [IoSlice::new(&self.scratch)];
            parts = &damaged;
        }
        let now = self.outside.written_at(batch.dues.last().copied().unwrap_or_default());
        self.stalls.work(now.ns());
        let port = &mut self.ports[batch.host];
        let link_header = self.packet_pool.link_header(start.body);
        let written = self.outside.write(batch.host, now, link_header, parts).is_ok();
        self.stalls.written(self.outside.now().ns());
        let packets = u64::from(batch.run.count);
        if written {
            port.written_packets += packets;
            port.writes += 1;
            self.note_written(&batch, now);
        } else {
            port.write_failed_packets += packets;
        }
        for piece in &batch.pieces {
            self.packet_pool.release(piece.body, piece.count);
        }
        self.batches.recycle(batch);
    }

    /// Notes how late the packets of a batch were that was written at `now`, and the gaps between them.
    fn note_written(&mut self, batch: &Batch, now: Time) {
        let via = self.place(batch.via);
        let mut previous: Option<Time> = None;
        for &due in &batch.dues {
            let late = now.since(due).ns();
            self.lateness[via].add(late, 1);
            self.late[via].add(late, 1);
            if let Some(before) = previous {
                // They leave at once: the whole gap between them is missing.
                let missing = due.since(before);
                self.spacing[via].add(missing.ns(), 1);
                self.class_gaps.missing(batch.flow, missing);
            }
            previous = Some(due);
        }
        if let (Some(&first_due), Some(due)) = (batch.dues.first(), previous) {
            let late = now.since(due);
            self.note_spacing(via, first_due, due, late);
            self.class_gaps.written(batch.flow, (first_due, due), late, NEIGHBOURS);
        }
        if !self.written_to.contains(&batch.host) && self.written_to.len() < 64 {
            self.written_to.push(batch.host);
        }
    }

    /// Makes the bytes of a router's message.
    fn answer(&mut self, router: NodeId, about: &Packet, message: Message) -> Option<Reply> {
        let (ipv4, ipv6) = self.addresses[router.0 as usize];
        if message == Message::NeighbourReply {
            return self.answer_discovery(router, [ipv4, ipv6], about);
        }
        let v6 = self.packet_pool.packet(about.body).first()? >> 4 == 6;
        let from = if v6 { ipv6 } else { ipv4 }?;
        self.quote(about, usize::MAX);
        let out = &mut self.scratch;
        out.clear();
        match message {
            Message::TtlExceeded => icmp::time_exceeded(&self.quoted, from, out),
            Message::TooBig { mtu } => icmp::too_big(&self.quoted, from, mtu, out),
            Message::NoRoute => icmp::unreachable(&self.quoted, from, out),
            Message::PortUnreachable => icmp::port_unreachable(&self.quoted, from, out),
            Message::EchoReply => icmp::echo_reply(&self.quoted, out),
            Message::NeighbourReply => return None,
        }
        let body = self.packet_pool.create(out)?;
        Some(Reply { body, bytes: out.len() as u32 })
    }

    /// Makes the answer of a router to a frame that asks for one of its addresses, by ARP or neighbour discovery.
    fn answer_discovery(
        &mut self,
        router: NodeId,
        own: [Option<IpAddr>; 2],
        about: &Packet,
    ) -> Option<Reply> {
        let link_header = self.packet_pool.link_header(about.body);
        // A tag says that the question is of a virtual LAN, in which the router is not.
        let kind = (link_header.len() == ETHERNET_HEADER)
            .then(|| u16::from_be_bytes([link_header[12], link_header[13]]))?;
        let question = device::discovery(kind, self.packet_pool.packet(about.body))?;
        let asked = question.asked.filter(|&asked| own.contains(&Some(asked)))?;
        let (_, from) = device::stations(link_header)?;
        self.scratch.clear();
        device::answer(&mut self.scratch, (device::mac_of(router.0 as usize), asked), &question, from);
        let frame = &self.scratch[VNET_HEADER..];
        let body = self.packet_pool.create_frame(frame, ETHERNET_HEADER)?;
        Some(Reply { body, bytes: (frame.len() - ETHERNET_HEADER) as u32 })
    }

    /// The index of the figures of packets from `via`; packets that stay within their host have the last one.
    fn place(&self, via: Option<DirectionId>) -> usize {
        via.map_or(self.lateness.len() - 1, |direction| direction.0 as usize)
    }

    /// Notes how far the gap before a group that was written `late` is from the gap that was due.
    fn note_spacing(&mut self, via: usize, first_due: Time, due: Time, late: Span) {
        let (before, late_before) = self.last[via];
        self.last[via] = (due, late);
        if first_due >= before && first_due.since(before) <= NEIGHBOURS {
            // The group's first packet was late by more than its last.
            let late_first = late + due.since(first_due);
            let error = late_first.saturating_sub(late_before).max(late_before.saturating_sub(late_first));
            self.spacing[via].add(error.ns(), 1);
        }
    }

    /// The host that a packet is for; `None` if a frame carries no IP packet, or one for nobody of the plan.
    fn owner_of_destination(&self, packet: &Packet) -> Option<usize> {
        if !packet.flags.has(Flags::FRAME) {
            return Some(self.owners[packet.destination.0 as usize]);
        }
        let to = icmp::parse(self.packet_pool.packet(packet.body))?.destination;
        let node = self.addresses.iter().position(|&(ipv4, ipv6)| ipv4 == Some(to) || ipv6 == Some(to));
        node.map(|node| self.owners[node])
    }

    fn is_recorded(&self, link: usize, offered: Time) -> bool {
        self.rows.packets[link] && offered.ns() % 1_000_000_000 < self.rows.window_ns
    }

    /// How many bytes of the packet are captured, if any are; simulated ones have none.
    fn captured_bytes(&self, direction: DirectionId, packet: &Packet) -> Option<usize> {
        self.captured_links.snaplen(direction.link()).filter(|_| !PayloadPool::contains(packet))
    }

    /// Copies the first bytes of one segment, with its own headers and that of its frame, into `self.quoted`.
    fn quote(&mut self, packet: &Packet, most: usize) {
        let bytes = self.packet_pool.packet(packet.body);
        let shape = self.packet_pool.shape(packet.body);
        let mut room = [0u8; HEADER_ROOM];
        let run = shape.run(bytes, u32::from(packet.segment), 1);
        let headers = shape.headers(bytes, &run, changes(packet, &self.packet_pool), &mut room);
        let (start, length) = shape.payload(bytes.len(), u32::from(packet.segment), 1);
        self.quoted.clear();
        self.quoted.extend_from_slice(self.packet_pool.link_header(packet.body));
        self.quoted.extend_from_slice(&room[crate::tun::VNET_HEADER..headers]);
        let rest = most.saturating_sub(self.quoted.len()).min(length);
        self.quoted.extend_from_slice(&bytes[start..start + rest]);
    }

    fn capture(
        &mut self,
        direction: DirectionId,
        packet: &Packet,
        (at, departure): (Time, bool),
        snaplen: usize,
    ) {
        self.quote(packet, snaplen);
        let kept = self.quoted.len().min(snaplen);
        let link_header = self.packet_pool.link_header(packet.body).len() as u32;
        let frames = if link_header > 0 { 2 } else { 0 };
        // What comes to the link in one direction is seen at the end where the other direction leaves it.
        let end = usize::from((direction.way() == Way::Reverse) != departure);
        self.recorder.capture(
            (direction.link() as u32, end),
            u32::from(departure) + frames,
            self.unix_start_ns + at.ns(),
            packet.bytes + link_header,
            &self.quoted[..kept],
        );
        if self.captured_links.count(direction.link(), kept) {
            self.full_captures.push(direction.link());
        }
    }
}

impl<P: Ports> PayloadSink for Egress<P> {
    #[inline]
    fn payloads(&mut self) -> &mut PayloadPool {
        &mut self.payloads
    }

    fn add_bytes(&mut self, listed: &ListedPacket, packet: &mut Packet) {
        let body = self.replays.bytes(listed).and_then(|bytes| self.packet_pool.create(bytes));
        let Some(body) = body else { return self.replays.left_without_bytes(listed) };
        self.packet_pool.set_simulated_body(body, packet.body);
        let bytes = self.packet_pool.packet(body);
        if let Some(header) = icmp::parse(bytes) {
            self.flows.sent(listed.at, packet.source, &header, bytes, 1);
            packet.flags = flags_of(&header);
        }
        packet.body = body;
        self.real_packets += 1;
        self.replays.in_network += 1;
        self.replays.left(listed, self.outside.now());
    }

    fn sent(&mut self, packet: &Packet) {
        self.recorder.note(|| Entry::Injected { packet: *packet, routable: true });
    }
}

impl<P: Ports> Sink for Egress<P> {
    fn deliver(&mut self, host: NodeId, packet: Packet, due: Time, via: Option<DirectionId>) {
        self.recorder.note(|| Entry::Departed(Departure::new(&packet, Ok(host), due)));
        if PayloadPool::contains(&packet) {
            return self.payloads.deliver(&packet);
        }
        self.real_packets -= 1;
        if let Some(simulated_body) = self.packet_pool.simulated_body(packet.body) {
            self.replays.in_network -= 1;
            self.payloads.deliver(&Packet { body: simulated_body, ..packet });
        }
        let passes_on = self.forwarding_host[host.0 as usize]
            .is_some_and(|forwards| self.owner_of_destination(&packet) != Some(forwards));
        let Egress { flows, packet_pool, .. } = self;
        if !passes_on {
            flows.delivered(&packet, || packet_pool.packet(packet.body));
        }
        if let (Some(known_arrivals), Some(via)) = (&self.known_arrivals, via)
            && known_arrivals.includes(via, due)
        {
            return self.packet_pool.release(packet.body, 1);
        }
        self.depart(&Departing { host: host.0 as usize, packet: &packet, due, via });
    }

    fn end(&mut self, packet: Packet, fate: Fate, at: Time, _link: Option<DirectionId>) {
        self.recorder.note(|| Entry::Departed(Departure::new(&packet, Err(fate), at)));
        if PayloadPool::contains(&packet) {
            return self.payloads.end(&packet, fate);
        }
        self.real_packets -= 1;
        if let Some(simulated_body) = self.packet_pool.simulated_body(packet.body) {
            self.replays.in_network -= 1;
            self.payloads.end(&Packet { body: simulated_body, ..packet }, fate);
        }
        let Egress { flows, packet_pool, .. } = self;
        flows.ended(&packet, fate, || packet_pool.packet(packet.body));
        self.packet_pool.release(packet.body, 1);
    }

    fn copied(&mut self, packet: &Packet) {
        if PayloadPool::contains(packet) {
            return self.payloads.copied(packet);
        }
        self.real_packets += 1;
        if let Some(simulated_body) = self.packet_pool.simulated_body(packet.body) {
            self.replays.in_network += 1;
            self.payloads.copied(&Packet { body: simulated_body, ..*packet });
        }
        let Egress { flows, packet_pool, .. } = self;
        flows.copied(packet, || packet_pool.packet(packet.body));
        self.packet_pool.retain(packet.body);
    }

    fn crosses(&mut self, direction: DirectionId, packets: &mut Vec<(Time, Packet)>) {
        let Egress { tunnel: Some(tunnel), packet_pool, payloads, crossing, recorder, .. } = self else {
            return;
        };
        for (due, packet) in packets.drain(..) {
            recorder.note(|| Entry::Departed(Departure::crossing(&packet, direction, due)));
            crossing.clear();
            if PayloadPool::contains(&packet) {
                payloads.encode(packet.body, crossing);
                let content = Content { simulated: crossing, ..Content::default() };
                tunnel.send_packet(direction, due, &packet, &content);
                continue;
            }
            if let Some(simulated_body) = packet_pool.simulated_body(packet.body) {
                payloads.encode(simulated_body, crossing);
                self.replays.in_network -= 1;
            }
            let bytes = packet_pool.packet(packet.body);
            let shape = packet_pool.shape(packet.body);
            let run = shape.run(bytes, u32::from(packet.segment), 1);
            let mut room = [0u8; HEADER_ROOM];
            // The machine that delivers it lowers its TTL.
            let changes = HeaderChanges { hops: 0, class: packet.class };
            let headers = shape.headers(bytes, &run, changes, &mut room);
            let (start, length) = shape.payload(bytes.len(), u32::from(packet.segment), 1);
            let parts = [&room[..headers], &bytes[start..start + length]];
            let link_header = packet_pool.link_header(packet.body);
            let content = Content { parts: Some(parts), link_header, simulated: crossing };
            tunnel.send_packet(direction, due, &packet, &content);
            packet_pool.release(packet.body, 1);
            self.real_packets -= 1;
        }
    }

    fn reply(&mut self, router: NodeId, about: &Packet, message: Message) -> Option<Reply> {
        let reply = if PayloadPool::contains(about) {
            self.payloads.reply(about, message)
        } else {
            let reply = self.answer(router, about, message);
            self.real_packets += u64::from(reply.is_some());
            reply
        };
        self.recorder.note(|| Entry::Replied(reply));
        reply
    }

    fn origin(&mut self, packet: &Packet) -> Origin {
        let origin = if PayloadPool::contains(packet) {
            Origin { sender: self.senders.get(&packet.flow).copied(), ..Origin::default() }
        } else {
            let simulated_body = self.packet_pool.simulated_body(packet.body);
            let sender = simulated_body.and_then(|_| self.senders.get(&packet.flow).copied());
            if self.packet_pool.shape(packet.body).is_opaque() {
                Origin { sender, ..Origin::default() }
            } else {
                Origin { sender, ..icmp::origin(self.packet_pool.packet(packet.body)) }
            }
        };
        self.recorder.note(|| Entry::Origin(origin));
        origin
    }

    fn sorted(&mut self, direction: DirectionId, class: usize, packet: &Packet) {
        self.class_gaps.sorted(direction, class, packet);
    }

    fn offered(&mut self, direction: DirectionId, packet: &Packet, at: Time) {
        if let Some(snaplen) = self.captured_bytes(direction, packet) {
            self.capture(direction, packet, (at, false), snaplen);
        }
    }

    fn passed(
        &mut self,
        direction: DirectionId,
        packet: &Packet,
        offered: Time,
        due: std::result::Result<Time, (Fate, Time)>,
    ) {
        let link = direction.link();
        if self.is_recorded(link, offered) {
            let due = due.map_err(|(fate, _)| fate);
            self.recorder.packet(results::passage(direction, packet, offered, due));
        }
        if let Some(snaplen) = self.captured_bytes(direction, packet)
            && let Ok(due) = due
        {
            self.capture(direction, packet, (due, true), snaplen);
        }
    }
}
