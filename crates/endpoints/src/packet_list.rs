//! Packets of a list: what a capture of them has, at its times.

use crate::agent::{AgentContext, Way};
use crate::payload::{Payload, PayloadSink};
use longhaul_network::NodeId;
use longhaul_plan::PacketList;
use longhaul_units::Time;
use std::collections::BTreeSet;

/// One packet of the list of a flow, by positions, and when it was to leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListedPacket {
    /// The flow, in the plan.
    pub flow: u32,
    /// The packet, in the flow's list.
    pub place: usize,
    /// When it leaves.
    pub at: Time,
}

/// When and how often the packets of a list leave.
#[derive(Clone, Copy, Debug)]
pub struct Passes {
    pub start: Time,
    /// Packets of this instant and later stay.
    pub stop: Time,
    pub repeat: u64,
    pub every_ns: u64,
}

/// Sends the packets of a list, pass after pass.
#[derive(Debug)]
pub struct PacketSource {
    pub way: Way,
    flow: u32,
    list: PacketList,
    passes: Passes,
    /// Whether they have bytes, which the sink has.
    pub is_real: bool,
    place: usize,
    pass: u64,
    next: Time,
    pub sent: u64,
    pub sent_bytes: u64,
}

impl PacketSource {
    /// For the flow at this position of the plan. `list` is not empty.
    pub fn new(way: Way, flow: u32, list: PacketList, passes: Passes, is_real: bool) -> Self {
        let next = Time::ZERO;
        let (place, pass, sent, sent_bytes) = (0, 0, 0, 0);
        let mut made = PacketSource { way, flow, list, passes, is_real, place, pass, next, sent, sent_bytes };
        made.next = made.time_of_next();
        made
    }

    pub fn timer(&self) -> Time {
        self.next
    }

    /// The host that it lives on.
    pub fn home(&self) -> NodeId {
        self.way.from
    }

    /// Bytes of the largest packet.
    pub fn largest(&self) -> u32 {
        self.list.bytes.iter().copied().max().unwrap_or(0)
    }

    /// What packets carry as their flow, each once.
    pub fn hashes(&self) -> BTreeSet<u32> {
        self.list.flow.iter().copied().collect()
    }

    pub fn expire(&mut self, context: &mut AgentContext<'_, impl PayloadSink>) {
        if context.now < self.next {
            return;
        }
        let place = self.place;
        let bytes = self.list.bytes[place];
        let payload = Payload::Datagram { number: self.sent, bytes, sent: context.now };
        let header = (self.list.flow[place], self.list.class[place], self.list.ttl[place]);
        let listed = ListedPacket { flow: self.flow, place, at: self.next };
        context.send_listed(&self.way, payload, bytes, header, self.is_real.then_some(listed));
        self.sent += 1;
        self.sent_bytes += u64::from(bytes);
        self.place += 1;
        if self.place == self.list.at_ns.len() {
            self.place = 0;
            self.pass += 1;
        }
        self.next = self.time_of_next();
    }

    /// [`Time::NEVER`]: there is none.
    fn time_of_next(&self) -> Time {
        if self.pass >= self.passes.repeat {
            return Time::NEVER;
        }
        let since_start = self.pass.saturating_mul(self.passes.every_ns);
        let at_ns =
            self.passes.start.ns().saturating_add(since_start).saturating_add(self.list.at_ns[self.place]);
        let at = Time::from_ns(at_ns);
        if at < self.passes.stop { at } else { Time::NEVER }
    }
}
