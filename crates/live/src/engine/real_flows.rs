//! Counts the packets of every flow of real packets, and their fates: where hosts hand packets over and where
//! these leave the network.
//!
//! A flow is one direction of a connection, all datagrams from one port to another, or the echo messages of one
//! identifier. How far a TCP connection is follows from its sequence and acknowledgement numbers (RFC 9293), so
//! without a query of the programs.

mod flow;

use flow::Flow;
use longhaul_network::{Fate, Flags, NodeId, Packet, icmp};
use longhaul_record::{FlowCountRow, FlowSampleRow};
use longhaul_units::Time;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::{BuildHasherDefault, Hasher};

/// Flows that are counted separately; the rest count as flow 0.
const MOST: usize = 65_536;
/// Flows that are sampled over time, in order of their first packets.
const MOST_SAMPLED: u32 = 1_024;
/// Flows that are found without searching.
const RECENT: usize = 256;

/// The flows of a run.
pub struct RealFlows {
    /// Hash and place of recent flows.
    recent: Box<[(u32, u32); RECENT]>,
    places: HashMap<u32, u32, BuildHasherDefault<HashedKey>>,
    /// Places of echo messages, by the hash of their hosts and their identifier.
    pings: BTreeMap<(u32, u16), u32>,
    flows: Vec<Flow>,
    /// Hosts that send flows beyond [`MOST`].
    hosts_beyond: BTreeSet<NodeId>,
    /// Places of flows that have changed since they were last sampled.
    changed: Vec<u32>,
}

impl Default for RealFlows {
    fn default() -> Self {
        RealFlows {
            recent: Box::new([(0, 0); RECENT]),
            places: HashMap::default(),
            pings: BTreeMap::new(),
            flows: vec![Flow::default()],
            hosts_beyond: BTreeSet::new(),
            changed: Vec::new(),
        }
    }
}

impl RealFlows {
    /// The host at `node` hands over a packet of so many segments, whose `bytes` these are.
    pub fn sent(&mut self, now: Time, node: NodeId, header: &icmp::Header, bytes: &[u8], segments: u32) {
        let place = self.place_to_send(node, header, bytes);
        if place == 0 {
            self.hosts_beyond.insert(node);
        }
        self.flow(place).send(now, header, bytes, segments);
    }

    /// A packet of the host at `node` comes from another machine, which counts what is sent there.
    pub fn import(&mut self, node: NodeId, header: &icmp::Header, bytes: &[u8]) {
        if self.place_to_send(node, header, bytes) == 0 {
            self.hosts_beyond.insert(node);
        }
    }

    /// A packet reached its host; `bytes` gives those of its super-packet.
    #[inline]
    pub fn delivered<'a>(&mut self, packet: &Packet, bytes: impl FnOnce() -> &'a [u8]) {
        if let Some(flow) = self.of(packet, bytes) {
            flow.deliver(packet);
        }
    }

    /// A packet ended otherwise.
    pub fn ended<'a>(&mut self, packet: &Packet, fate: Fate, bytes: impl FnOnce() -> &'a [u8]) {
        if let Some(flow) = self.of(packet, bytes) {
            flow.end(fate);
        }
    }

    /// A link made a second packet of one.
    pub fn copied<'a>(&mut self, packet: &Packet, bytes: impl FnOnce() -> &'a [u8]) {
        if let Some(flow) = self.of(packet, bytes) {
            flow.copy();
        }
    }

    /// What packets carry as their flow, each with a name: `tcp 10.0.0.1:40000 > 10.0.0.2:5201`.
    pub fn names(&self) -> impl Iterator<Item = (u32, String)> {
        self.places.iter().filter_map(|(&hash, &place)| Some((hash, self.flows[place as usize].name()?)))
    }

    /// The counts of those sampled flows that have changed since the last time.
    pub fn samples(&mut self, now: Time) -> Vec<FlowSampleRow> {
        let RealFlows { changed, flows, .. } = self;
        changed.drain(..).map(|place| flows[place as usize].sample(now, place)).collect()
    }

    /// Every flow of which anything was sent, or came from another machine.
    pub fn rows(&self) -> Vec<FlowCountRow> {
        let counted = self.flows.iter().enumerate().filter(|(_, flow)| flow.has_counted());
        counted.map(|(place, flow)| flow.row(place as u32)).collect()
    }

    /// Where the flow of a packet is that a host hands over; 0 if there are too many.
    fn place_to_send(&mut self, node: NodeId, header: &icmp::Header, bytes: &[u8]) -> u32 {
        let mut place = self.place_of(header.flow);
        if place == 0
            && let Some(added) = self.add(|| Flow::new(header, None, bytes, node))
        {
            place = added;
            self.places.insert(header.flow, place);
        }
        let Some(identifier) = flow::echo_identifier(header, bytes) else { return place };
        let key = (header.flow, identifier);
        if let Some(&known) = self.pings.get(&key) {
            return known;
        }
        let Some(added) = self.add(|| Flow::new(header, Some(identifier), bytes, node)) else { return 0 };
        self.pings.insert(key, added);
        added
    }

    /// Adds a flow, unless there are too many.
    fn add(&mut self, flow: impl FnOnce() -> Flow) -> Option<u32> {
        if self.flows.len() > MOST {
            return None;
        }
        self.flows.push(flow());
        Some((self.flows.len() - 1) as u32)
    }

    /// The flow that a packet counts in; a router's answer to one counts nowhere. Frames are never a router's answers about
    /// a flow, and have stations as their ends, which a host that forwards changes.
    #[inline]
    fn of<'a>(&mut self, packet: &Packet, bytes: impl FnOnce() -> &'a [u8]) -> Option<&mut Flow> {
        let mut place = self.place_of(packet.flow);
        if self.flows[place as usize].is_icmp() {
            let bytes = bytes();
            let header = icmp::parse(bytes);
            if let Some(identifier) = header.and_then(|header| flow::echo_identifier(&header, bytes)) {
                place = self.pings.get(&(packet.flow, identifier)).copied().unwrap_or(0);
            }
        }
        let is_part = match place {
            0 => self.hosts_beyond.contains(&packet.source),
            _ if packet.flags.has(Flags::FRAME) => true,
            place => self.flows[place as usize].has_sender(packet.source),
        };
        is_part.then(|| self.flow(place))
    }

    /// The flow at a place, which is about to change.
    #[inline]
    fn flow(&mut self, place: u32) -> &mut Flow {
        let flow = &mut self.flows[place as usize];
        if place > 0 && place < MOST_SAMPLED && flow.is_unchanged() {
            self.changed.push(place);
        }
        flow
    }

    /// Where a flow is; 0 if it is not known.
    #[inline]
    fn place_of(&mut self, hash: u32) -> u32 {
        let recent = &mut self.recent[hash as usize % RECENT];
        if recent.0 != hash || recent.1 == 0 {
            *recent = (hash, self.places.get(&hash).copied().unwrap_or(0));
        }
        recent.1
    }
}

/// The hasher of keys that are hashes already.
#[derive(Default)]
struct HashedKey(u64);

impl Hasher for HashedKey {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u32(u32::from(byte));
        }
    }

    fn write_u32(&mut self, key: u32) {
        self.0 = (self.0 ^ u64::from(key)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
}

#[cfg(test)]
mod tests;
