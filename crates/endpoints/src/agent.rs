use crate::datagrams::{DatagramSink, DatagramSource};
use crate::jobs::{Channel, ComputeTimer, RankId};
use crate::packet_list::{ListedPacket, PacketSource};
use crate::payload::{Payload, PayloadSink};
use crate::ping::Ping;
use crate::stream::TcpEndpoint;
use longhaul_network::{Flags, Network, NodeId, Packet};
use longhaul_transport::{Flags as SegmentFlags, Segment};
use longhaul_units::Time;

/// ECT(0), the lower two bits of the traffic class (RFC 3168, section 5).
const ECT: u8 = 2;

/// A simulated end: it is told the time and what arrives, and sends.
pub(crate) enum Agent {
    /// One end of a TCP connection.
    Stream(Box<TcpEndpoint>),
    /// Sends datagrams.
    DatagramSource(Box<DatagramSource>),
    /// Sends the packets of a list.
    PacketSource(Box<PacketSource>),
    /// Receives datagrams, or packets of a list.
    DatagramSink(Box<DatagramSink>),
    /// Sends echo requests and waits for the answers, or answers them.
    Ping(Box<Ping>),
    /// One end of a connection between two ranks of a job.
    Channel(Box<Channel>),
    /// Wakes a rank of a job.
    ComputeTimer(Box<ComputeTimer>),
    /// On a host of another shard.
    Remote,
}

/// From where to where an agent sends, and how its packets look.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Way {
    pub from: NodeId,
    pub to: NodeId,
    /// The agent at the other end.
    pub peer: u32,
    /// Hash of the flow.
    pub flow: u32,
    pub ipv6: bool,
}

/// What agents act through, at one instant.
pub struct AgentContext<'a, C> {
    pub(crate) now: Time,
    pub(crate) network: &'a mut Network,
    pub(crate) sink: &'a mut C,
}

impl<C: PayloadSink> AgentContext<'_, C> {
    /// Sends a packet of `bytes` (IP and above) with `payload`.
    #[inline]
    pub(crate) fn send(&mut self, way: &Way, payload: Payload, bytes: u32, class: u8) {
        let mut flags = Flags::DONT_FRAGMENT;
        flags.set(Flags::ECHO_REQUEST, matches!(payload, Payload::Echo(_)));
        flags.set(Flags::TAKEN, matches!(payload, Payload::Datagram { .. }));
        let body = self.sink.payloads().insert(way.peer, payload);
        self.send_body(way, body, bytes, class, flags);
    }

    /// Sends a packet of a list, with this flow, class and TTL; its bytes are the sink's, if it is a real one.
    pub(crate) fn send_listed(
        &mut self,
        way: &Way,
        payload: Payload,
        bytes: u32,
        (flow, class, ttl): (u32, u8, u8),
        real: Option<ListedPacket>,
    ) {
        let mut flags = Flags::DONT_FRAGMENT;
        flags.set(Flags::TAKEN, true);
        let body = self.sink.payloads().insert(way.peer, payload);
        let mut packet = Packet { flow, ttl, ..self.packet(way, body, bytes, class, flags) };
        if let Some(listed) = real {
            self.sink.add_bytes(&listed, &mut packet);
        }
        self.sink.sent(&packet);
        self.network.inject(self.now, packet, self.sink);
    }

    /// Sends a segment.
    #[inline(always)]
    pub(crate) fn send_segment(&mut self, way: &Way, segment: &Segment) {
        let class = if segment.flags.has(SegmentFlags::ECT) { ECT } else { 0 };
        let body = self.sink.payloads().insert_segment(way.peer, segment);
        self.send_body(way, body, segment.total_bytes(), class, Flags::DONT_FRAGMENT);
    }

    #[inline(always)]
    fn send_body(&mut self, way: &Way, body: u32, bytes: u32, class: u8, flags: Flags) {
        let packet = self.packet(way, body, bytes, class, flags);
        self.sink.sent(&packet);
        self.network.inject(self.now, packet, self.sink);
    }

    #[inline(always)]
    fn packet(&self, way: &Way, body: u32, bytes: u32, class: u8, mut flags: Flags) -> Packet {
        flags.set(Flags::V6, way.ipv6);
        Packet {
            body,
            segment: 0,
            segments: 1,
            bytes,
            source: way.from,
            destination: way.to,
            ttl: 64,
            hops: 0,
            flags,
            class,
            flow: way.flow,
            damage: 0,
            offered: self.now,
        }
    }
}

impl Agent {
    /// Something arrives.
    pub fn receive(
        &mut self,
        payload: &Payload,
        marked: bool,
        context: &mut AgentContext<'_, impl PayloadSink>,
    ) {
        match (self, payload) {
            (Agent::Stream(end), Payload::Segment(segment)) => end.receive(segment, marked, context),
            (Agent::Channel(channel), Payload::Segment(segment)) => channel.receive(segment, marked, context),
            (Agent::DatagramSink(sink), &Payload::Datagram { number, bytes, sent }) => {
                sink.stats.receive(number, bytes, Some(context.now.since(sent)));
            }
            (Agent::Ping(ping), &Payload::Echo(number)) => ping.send_reply(number, context),
            (Agent::Ping(ping), &Payload::EchoReply(number)) => ping.receive(number, context),
            _ => {}
        }
    }

    /// Does what is due.
    pub fn expire(&mut self, context: &mut AgentContext<'_, impl PayloadSink>) {
        match self {
            Agent::Stream(end) => end.expire(context),
            Agent::DatagramSource(datagrams) => datagrams.expire(context),
            Agent::PacketSource(packets) => packets.expire(context),
            Agent::Ping(ping) => ping.expire(context),
            Agent::Channel(channel) => channel.expire(context),
            Agent::ComputeTimer(compute_timer) => compute_timer.at = Time::NEVER,
            Agent::DatagramSink(_) | Agent::Remote => {}
        }
    }

    /// When [`expire`](Self::expire) next has something to do.
    pub fn timer(&self) -> Time {
        match self {
            Agent::Stream(end) => end.timer(),
            Agent::DatagramSource(datagrams) => datagrams.timer(),
            Agent::PacketSource(packets) => packets.timer(),
            Agent::Ping(ping) => ping.timer(),
            Agent::Channel(channel) => channel.timer(),
            Agent::ComputeTimer(compute_timer) => compute_timer.at,
            Agent::DatagramSink(_) | Agent::Remote => Time::NEVER,
        }
    }

    /// From where to where it may send.
    pub fn way(&self) -> Option<(NodeId, NodeId)> {
        let way = match self {
            Agent::Stream(end) => &end.way,
            Agent::DatagramSource(datagrams) => &datagrams.way,
            Agent::PacketSource(packets) => &packets.way,
            Agent::Ping(ping) => &ping.way,
            Agent::Channel(channel) => &channel.way,
            Agent::DatagramSink(_) | Agent::ComputeTimer(_) | Agent::Remote => return None,
        };
        Some((way.from, way.to))
    }

    /// The host that it lives on, if this shard has it.
    pub fn home(&self) -> Option<NodeId> {
        Some(match self {
            Agent::Stream(end) => end.home(),
            Agent::DatagramSource(datagrams) => datagrams.home(),
            Agent::PacketSource(packets) => packets.home(),
            Agent::Ping(ping) => ping.home(),
            Agent::Channel(channel) => channel.home(),
            Agent::ComputeTimer(compute_timer) => compute_timer.home,
            Agent::DatagramSink(sink) => sink.home,
            Agent::Remote => return None,
        })
    }

    /// The rank that may go on after something has happened here.
    pub fn owner(&self) -> Option<RankId> {
        match self {
            Agent::Channel(channel) => Some(channel.owner()),
            Agent::ComputeTimer(compute_timer) => Some(compute_timer.owner),
            _ => None,
        }
    }

    /// The connection over several paths that it is an end of a subflow of.
    #[inline]
    pub fn mptcp(&self) -> Option<u32> {
        match self {
            Agent::Stream(end) => end.mptcp(),
            _ => None,
        }
    }

    /// Whether it has done all that it was to do.
    pub fn is_done(&self) -> bool {
        match self {
            Agent::Stream(end) => end.is_done(),
            Agent::DatagramSource(datagrams) => datagrams.timer() == Time::NEVER,
            Agent::PacketSource(packets) => packets.timer() == Time::NEVER,
            Agent::Ping(ping) => ping.is_done(),
            // Jobs know themselves when they are done.
            Agent::DatagramSink(_) | Agent::Channel(_) | Agent::ComputeTimer(_) | Agent::Remote => true,
        }
    }
}
