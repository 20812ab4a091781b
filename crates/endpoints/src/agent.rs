use crate::cargo::{Carrier, Load};
use crate::datagrams::{Datagrams, Drain};
use crate::echoes::Echoes;
use crate::ranks::{Channel, Owner, Sleeper};
use crate::stream::StreamEnd;
use longhaul_network::{Flags, Network, NodeId, Packet};
use longhaul_units::Time;

/// A simulated end: it is told the time and what arrives, and sends.
pub(crate) enum Agent {
    /// One end of a TCP connection.
    Stream(Box<StreamEnd>),
    /// Sends datagrams.
    Datagrams(Box<Datagrams>),
    /// Receives them.
    Drain(Box<Drain>),
    /// Sends echo requests and waits for the answers, or answers them.
    Echoes(Box<Echoes>),
    /// One end of a connection between two ranks of a job.
    Channel(Box<Channel>),
    /// Wakes a rank of a job.
    Sleeper(Box<Sleeper>),
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
pub struct Wire<'a, C> {
    pub(crate) now: Time,
    pub(crate) network: &'a mut Network,
    pub(crate) carrier: &'a mut C,
}

impl<C: Carrier> Wire<'_, C> {
    /// Sends a packet of `bytes` (IP and above) with `load`.
    #[inline(always)]
    pub(crate) fn send(&mut self, way: &Way, load: Load, bytes: u32, class: u8) {
        let mut flags = Flags::DONT_FRAGMENT;
        flags.set(Flags::V6, way.ipv6);
        flags.set(Flags::ECHO_REQUEST, matches!(load, Load::Echo(_)));
        flags.set(Flags::TAKEN, matches!(load, Load::Datagram { .. }));
        let packet = Packet {
            body: self.carrier.cargo().load(way.peer, load),
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
        };
        self.carrier.sent(&packet);
        self.network.inject(self.now, packet, self.carrier);
    }
}

impl Agent {
    /// Something arrives.
    pub fn receive(&mut self, load: &Load, marked: bool, wire: &mut Wire<'_, impl Carrier>) {
        match (self, load) {
            (Agent::Stream(end), Load::Segment(segment)) => end.receive(segment, marked, wire),
            (Agent::Channel(channel), Load::Segment(segment)) => channel.receive(segment, marked, wire),
            (Agent::Drain(drain), &Load::Datagram { number, bytes, sent }) => {
                drain.reception.receive(number, bytes, Some(wire.now.since(sent)));
            }
            (Agent::Echoes(echoes), &Load::Echo(number)) => echoes.answer(number, wire),
            (Agent::Echoes(echoes), &Load::EchoReply(number)) => echoes.receive(number, wire),
            _ => {}
        }
    }

    /// Does what is due.
    pub fn expire(&mut self, wire: &mut Wire<'_, impl Carrier>) {
        match self {
            Agent::Stream(end) => end.expire(wire),
            Agent::Datagrams(datagrams) => datagrams.expire(wire),
            Agent::Echoes(echoes) => echoes.expire(wire),
            Agent::Channel(channel) => channel.expire(wire),
            Agent::Sleeper(sleeper) => sleeper.at = Time::NEVER,
            Agent::Drain(_) => {}
        }
    }

    /// When [`expire`](Self::expire) next has something to do.
    pub fn timer(&self) -> Time {
        match self {
            Agent::Stream(end) => end.timer(),
            Agent::Datagrams(datagrams) => datagrams.timer(),
            Agent::Echoes(echoes) => echoes.timer(),
            Agent::Channel(channel) => channel.timer(),
            Agent::Sleeper(sleeper) => sleeper.at,
            Agent::Drain(_) => Time::NEVER,
        }
    }

    /// From where to where it may send.
    pub fn way(&self) -> Option<(NodeId, NodeId)> {
        let way = match self {
            Agent::Stream(end) => &end.way,
            Agent::Datagrams(datagrams) => &datagrams.way,
            Agent::Echoes(echoes) => &echoes.way,
            Agent::Channel(channel) => &channel.way,
            Agent::Drain(_) | Agent::Sleeper(_) => return None,
        };
        Some((way.from, way.to))
    }

    /// The host that it lives on.
    pub fn home(&self) -> NodeId {
        match self {
            Agent::Stream(end) => end.home(),
            Agent::Datagrams(datagrams) => datagrams.home(),
            Agent::Echoes(echoes) => echoes.home(),
            Agent::Channel(channel) => channel.home(),
            Agent::Sleeper(sleeper) => sleeper.home,
            Agent::Drain(drain) => drain.home,
        }
    }

    /// The rank that may go on after something has happened here.
    pub fn owner(&self) -> Option<Owner> {
        match self {
            Agent::Channel(channel) => Some(channel.owner()),
            Agent::Sleeper(sleeper) => Some(sleeper.owner),
            _ => None,
        }
    }

    /// Whether it has done all that it was to do.
    pub fn is_done(&self) -> bool {
        match self {
            Agent::Stream(end) => end.is_done(),
            Agent::Datagrams(datagrams) => datagrams.timer() == Time::NEVER,
            Agent::Echoes(echoes) => echoes.is_done(),
            // Jobs know themselves when they are done.
            Agent::Drain(_) | Agent::Channel(_) | Agent::Sleeper(_) => true,
        }
    }
}
