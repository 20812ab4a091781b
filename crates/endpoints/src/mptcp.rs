//! Connections of Multipath TCP (RFC 8684): one stream of data over several subflows, each a TCP connection.
//!
//! The scheduler gives the next data to the subflow with the shortest round trip among those that have sent all they
//! were given (C. Raiciu et al., "How Hard Can It Be?", NSDI 2012, section 4). A subflow whose retransmission timer expires gets
//! nothing until it hears of its data again, and what it has not heard of goes to others, too (section 3.3.6 of
//! RFC 8684). Data are in order when all before them have arrived over any subflow; no more are on the way than the
//! largest receive window.

use crate::agent::{Agent, AgentContext};
use crate::endpoints::Endpoints;
use crate::payload::PayloadSink;
use crate::stream::TcpEndpoint;
use longhaul_congestion::Coupling;
use longhaul_units::Time;
use std::collections::{BTreeMap, VecDeque};

/// A connection over several paths.
pub struct MptcpConnection {
    /// The first one opens it; others follow when that is established.
    subflows: Vec<Subflow>,
    mss: u64,
    /// Payload in all; endless if `None`.
    bytes: Option<u64>,
    /// The largest receive window, in bytes.
    window: u64,
    coupled: bool,
    /// Data that have been given to a subflow.
    assigned: u64,
    /// Data that go to a subflow again, from where and how many.
    again: VecDeque<(u64, u64)>,
    acknowledged: DataSet,
    received: DataSet,
    joined: bool,
    ended: bool,
    /// When all data had arrived.
    arrived: Option<Time>,
}

/// A path of a connection.
struct Subflow {
    sender: u32,
    receiver: u32,
    /// What it was given, by its own sequence numbers, from the oldest that it has not heard of.
    mappings: VecDeque<Mapping>,
    given: u64,
    acknowledged: u64,
    received: u64,
    /// Of what it brought, what had not come before.
    first_bytes: u64,
    timed_out: bool,
}

/// Data of a subflow, from `start` of its own sequence on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Mapping {
    start: u64,
    data: u64,
    bytes: u64,
}

/// A set of bytes of the stream.
#[derive(Default)]
struct DataSet {
    /// All before are members.
    next: u64,
    /// Others, by their begin, that do not touch.
    beyond: BTreeMap<u64, u64>,
}

impl DataSet {
    /// Adds `bytes` from `start` on; returns how many were no members.
    fn add(&mut self, start: u64, bytes: u64) -> u64 {
        let (mut from, mut until) = (start.max(self.next), start + bytes);
        if from >= until {
            return 0;
        }
        let mut new = until - from;
        // Those that touch it, from the last one on.
        while let Some((&begin, &end)) = self.beyond.range(..=until).next_back()
            && end >= from
        {
            new -= end.min(until).saturating_sub(begin.max(from));
            (from, until) = (from.min(begin), until.max(end));
            self.beyond.remove(&begin);
        }
        if from <= self.next {
            self.next = until;
        } else {
            self.beyond.insert(from, until);
        }
        new
    }

    /// The parts of `bytes` from `start` on that are no members.
    fn missing(&self, start: u64, bytes: u64) -> Vec<(u64, u64)> {
        let (mut from, until) = (start.max(self.next), start + bytes);
        let mut parts = Vec::new();
        let before = self.beyond.range(..from).next_back().map_or(0, |(_, &end)| end);
        from = from.max(before);
        for (&begin, &end) in self.beyond.range(from..) {
            if begin >= until {
                break;
            }
            if begin > from {
                parts.push((from, begin - from));
            }
            from = end;
        }
        if from < until {
            parts.push((from, until - from));
        }
        parts
    }
}

impl Subflow {
    fn give(&mut self, data: u64, bytes: u64) {
        let start = self.given;
        self.given += bytes;
        match self.mappings.back_mut() {
            Some(last) if last.data + last.bytes == data => last.bytes += bytes,
            _ => self.mappings.push_back(Mapping { start, data, bytes }),
        }
    }

    /// The data that its own sequence numbers from `from` up to `until` carry.
    fn data(&self, from: u64, until: u64) -> impl Iterator<Item = (u64, u64)> {
        self.mappings.iter().filter_map(move |mapping| {
            let begin = from.max(mapping.start);
            let end = until.min(mapping.start + mapping.bytes);
            (begin < end).then(|| (mapping.data + (begin - mapping.start), end - begin))
        })
    }

    fn forget_acknowledged(&mut self) {
        while self.mappings.front().is_some_and(|first| first.start + first.bytes <= self.acknowledged) {
            self.mappings.pop_front();
        }
    }
}

impl MptcpConnection {
    pub fn new(mss: u64, bytes: Option<u64>, window: u64, coupled: bool) -> Self {
        MptcpConnection {
            subflows: Vec::new(),
            mss,
            bytes,
            window,
            coupled,
            assigned: 0,
            again: VecDeque::new(),
            acknowledged: DataSet::default(),
            received: DataSet::default(),
            joined: false,
            ended: false,
            arrived: None,
        }
    }

    pub fn add(&mut self, sender: u32, receiver: u32) {
        self.subflows.push(Subflow {
            sender,
            receiver,
            mappings: VecDeque::new(),
            given: 0,
            acknowledged: 0,
            received: 0,
            first_bytes: 0,
            timed_out: false,
        });
    }

    /// Payload that came over the subflow with this receiver before it came over another.
    pub fn first_bytes(&self, receiver: u32) -> u64 {
        self.subflows.iter().find(|each| each.receiver == receiver).map_or(0, |each| each.first_bytes)
    }

    /// When all had arrived.
    pub fn arrived(&self) -> Option<Time> {
        self.arrived
    }

    /// Notes what the ends know now.
    fn observe(&mut self, now: Time, agents: &[Agent]) {
        for subflow in &mut self.subflows {
            let (Some(sender), Some(receiver)) = (end(agents, subflow.sender), end(agents, subflow.receiver))
            else {
                continue;
            };
            let received = receiver.received();
            for (data, bytes) in subflow.data(subflow.received, received).collect::<Vec<_>>() {
                subflow.first_bytes += self.received.add(data, bytes);
            }
            subflow.received = received;
            let acknowledged = sender.acknowledged();
            for (data, bytes) in subflow.data(subflow.acknowledged, acknowledged) {
                self.acknowledged.add(data, bytes);
            }
            subflow.acknowledged = acknowledged;
            subflow.forget_acknowledged();
            let timed_out = sender.has_timed_out();
            if timed_out && !subflow.timed_out {
                for (data, bytes) in subflow.data(subflow.acknowledged, u64::MAX) {
                    self.again.extend(self.acknowledged.missing(data, bytes));
                }
            }
            subflow.timed_out = timed_out;
        }
        if self.arrived.is_none() && self.bytes.is_some_and(|bytes| self.received.next >= bytes) {
            self.arrived = Some(now);
        }
    }

    /// The next data for a subflow, of which `handed` bytes have been handed over.
    fn next(&mut self, handed: u64) -> Option<(u64, u64)> {
        while let Some((start, bytes)) = self.again.pop_front() {
            let Some(&(start, bytes)) = self.acknowledged.missing(start, bytes).first() else { continue };
            let chunk = bytes.min(self.mss);
            if bytes > chunk {
                self.again.push_front((start + chunk, bytes - chunk));
            }
            return Some((start, chunk));
        }
        let limit = self.bytes.unwrap_or(u64::MAX).min(handed).min(self.acknowledged.next + self.window);
        let (start, chunk) = (self.assigned, limit.saturating_sub(self.assigned).min(self.mss));
        self.assigned += chunk;
        (chunk > 0).then_some((start, chunk))
    }

    fn is_acknowledged(&self) -> bool {
        self.bytes.is_some_and(|bytes| self.acknowledged.next >= bytes)
    }
}

fn end(agents: &[Agent], agent: u32) -> Option<&TcpEndpoint> {
    match &agents[agent as usize] {
        Agent::Stream(end) => Some(end),
        _ => None,
    }
}

fn end_mut(agents: &mut [Agent], agent: u32) -> Option<&mut TcpEndpoint> {
    match &mut agents[agent as usize] {
        Agent::Stream(end) => Some(end),
        _ => None,
    }
}

impl Endpoints {
    /// Something has happened at an end of a subflow.
    #[cold]
    pub(crate) fn progress_mptcp(&mut self, number: u32, context: &mut AgentContext<'_, impl PayloadSink>) {
        let Some(mptcp) = self.mptcp_connections.get_mut(number as usize) else { return };
        let agents = &mut self.agents;
        mptcp.observe(context.now, agents);
        let senders: Vec<u32> = mptcp.subflows.iter().map(|each| each.sender).collect();
        if mptcp.ended {
            return;
        }
        let mut changed = Vec::new();
        let first = end(agents, senders[0]);
        let handed = first.map_or(0, TcpEndpoint::handed);
        if !mptcp.joined && first.is_some_and(TcpEndpoint::is_established) {
            mptcp.joined = true;
            for &sender in &senders[1..] {
                if let Some(end) = end_mut(agents, sender) {
                    end.join(context.now);
                }
            }
            changed.extend_from_slice(&senders[1..]);
        }
        if mptcp.coupled {
            couple(agents, &senders);
        }
        while let Some(place) = fastest(agents, &senders) {
            let Some((data, bytes)) = mptcp.next(handed) else { break };
            mptcp.subflows[place].give(data, bytes);
            if let Some(end) = end_mut(agents, senders[place]) {
                end.give(bytes, context);
            }
            changed.push(senders[place]);
        }
        if mptcp.is_acknowledged() {
            mptcp.ended = true;
            for &sender in &senders {
                if let Some(end) = end_mut(agents, sender) {
                    end.end(context);
                }
            }
            changed.extend_from_slice(&senders);
        }
        changed.sort_unstable();
        changed.dedup();
        for sender in changed {
            self.set_timer(sender);
        }
    }
}

/// The subflow that data go to: that with the shortest round trip of those that want some.
fn fastest(agents: &[Agent], senders: &[u32]) -> Option<usize> {
    let wants = |&(_, &sender): &(usize, &u32)| end(agents, sender).is_some_and(TcpEndpoint::wants_data);
    let srtt = |sender: u32| end(agents, sender).map_or(Time::NEVER.ns(), |end| end.srtt().ns());
    senders.iter().enumerate().filter(wants).min_by_key(|&(_, &sender)| srtt(sender)).map(|(place, _)| place)
}

/// Tells each subflow of the others.
fn couple(agents: &mut [Agent], senders: &[u32]) {
    let of = |&sender: &u32| end(agents, sender).and_then(TcpEndpoint::subflow).map(|each| (sender, each));
    let (known, subflows): (Vec<u32>, Vec<_>) = senders.iter().filter_map(of).unzip();
    for (own, &sender) in known.iter().enumerate() {
        if let Some(end) = end_mut(agents, sender) {
            end.couple(&Coupling { subflows: &subflows, own });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_counts_what_is_new() {
        let mut set = DataSet::default();
        assert_eq!(set.add(10, 10), 10);
        assert_eq!(set.add(30, 10), 10);
        assert_eq!(set.missing(0, 50), [(0, 10), (20, 10), (40, 10)]);
        assert_eq!(set.missing(12, 20), [(20, 10)]);
        assert_eq!(set.add(15, 20), 10);
        assert_eq!(set.next, 0);
        assert_eq!(set.add(0, 12), 10);
        assert_eq!(set.next, 40);
        assert_eq!(set.add(0, 40), 0);
        assert_eq!(set.missing(35, 10), [(40, 5)]);
        assert!(set.beyond.is_empty());
    }

    #[test]
    fn a_subflow_knows_which_data_it_carries() {
        let mut connection = MptcpConnection::new(1000, Some(5_000), 4_000, false);
        connection.add(0, 1);
        connection.add(2, 3);
        for place in [0, 1, 0, 0] {
            let (data, bytes) = connection.next(u64::MAX).unwrap();
            connection.subflows[place].give(data, bytes);
        }
        assert_eq!(connection.next(u64::MAX), None, "the window");
        assert_eq!(connection.subflows[0].data(0, 2_500).collect::<Vec<_>>(), [(0, 1_000), (2_000, 1_500)]);
        assert_eq!(connection.subflows[1].data(0, 9_000).collect::<Vec<_>>(), [(1_000, 1_000)]);
        connection.again.extend([(1_000, 1_000), (2_500, 1_500)]);
        connection.acknowledged.add(0, 1_500);
        assert_eq!(connection.next(u64::MAX), Some((1_500, 500)));
        assert_eq!(connection.next(u64::MAX), Some((2_500, 1_000)));
        assert_eq!(connection.next(u64::MAX), Some((3_500, 500)));
        assert_eq!(connection.next(u64::MAX), Some((4_000, 1_000)), "no more than there are");
        assert_eq!(connection.next(u64::MAX), None);
    }
}
