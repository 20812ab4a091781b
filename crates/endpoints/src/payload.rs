mod encoding;

use crate::capture::{CapturedPacket, SentSegment};
use crate::packet_list::ListedPacket;
use longhaul_network::{Fate, Message, Packet, Reply, Sink};
use longhaul_record::{PacketRow, PingRow, SegmentRow};
use longhaul_transport::{Block, Flags, Segment};
use longhaul_units::Time;
use std::collections::{BTreeMap, VecDeque};

/// What a simulated packet carries.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Payload {
    /// Of TCP.
    Segment(Segment),
    /// A datagram, by its number, its payload, and when it left.
    Datagram { number: u64, bytes: u32, sent: Time },
    /// An echo request, by its number.
    Echo(u64),
    /// Its answer.
    EchoReply(u64),
}

/// The payloads of packets that move from one pool to another, in the order of the packets.
#[derive(Debug, Default)]
pub struct PayloadBatch {
    slots: Vec<Slot>,
    /// SACK blocks of the segments that have some.
    sacks: Vec<[Block; 3]>,
}

/// A packet that reached its host.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrival {
    body: u32,
    /// Whether the network marked it (CE).
    pub marked: bool,
}

/// A sink that carries simulated packets: it hands what [`PayloadPool::contains`] on to the methods of
/// [`PayloadPool`] that are named like its own.
pub trait PayloadSink: Sink {
    /// What they carry.
    fn payloads(&mut self) -> &mut PayloadPool;

    /// `packet` is one of a capture, which a real host gets: the sink may give it bytes, and headers as they say.
    /// Its body must then lead to the one that it has here, to which later calls of [`PayloadPool`] refer.
    fn add_bytes(&mut self, listed: &ListedPacket, packet: &mut Packet) {
        let _ = (listed, packet);
    }

    /// An endpoint is about to send `packet`.
    fn sent(&mut self, packet: &Packet) {
        let _ = packet;
    }
}

/// What simulated packets carry, and those that have arrived.
#[derive(Default)]
pub struct PayloadPool {
    slots: Vec<Slot>,
    /// SACK blocks of segments that have some, by their slots.
    sacks: Vec<[Block; 3]>,
    /// First in, first out: packets of a burst get neighbouring slots, burst after burst, so that the processor's
    /// prefetching finds them when they arrive.
    free: VecDeque<u32>,
    pub(crate) arrived: Vec<Arrival>,
    pub(crate) ping_rows: Vec<PingRow>,
    damaged: u64,
    /// Echo messages that ended on their way, by what they carry as their flow and by their fate.
    echo_fates: BTreeMap<(u32, &'static str), u64>,
}

/// What packets carry, and to whom: a [`Payload`] without the SACK blocks, which few have.
#[derive(Clone, Copy, Debug)]
struct Slot {
    /// Of a segment; or the number of a datagram or an echo.
    sequence: u64,
    acknowledged: u64,
    sent: Time,
    echo: Time,
    /// Of a segment; or the payload of a datagram.
    window: u32,
    bytes: u16,
    flags: Flags,
    agent: u32,
    /// Packets that carry it: more than one after a link has made copies. So many as there can be are never counted
    /// down again.
    references: u16,
    kind: Kind,
    /// Whether one of them has arrived.
    has_arrived: bool,
}

// A slot is written and read once for each packet; together, those of packets in flight fill the caches.
const _: () = assert!(size_of::<Slot>() == 48);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Segment,
    /// The blocks are in [`PayloadPool::sacks`].
    SegmentWithSacks,
    Datagram,
    Echo,
    EchoReply,
}

impl Slot {
    fn new(agent: u32, kind: Kind, number: u64) -> Self {
        Slot {
            sequence: number,
            acknowledged: 0,
            sent: Time::ZERO,
            echo: Time::ZERO,
            window: 0,
            bytes: 0,
            flags: Flags::NONE,
            agent,
            references: 1,
            kind,
            has_arrived: false,
        }
    }

    #[inline(always)]
    fn of(agent: u32, kind: Kind, segment: &Segment) -> Self {
        Slot {
            acknowledged: segment.acknowledged,
            sent: segment.sent,
            echo: segment.echo,
            window: segment.window,
            bytes: segment.bytes,
            flags: segment.flags,
            ..Slot::new(agent, kind, segment.sequence)
        }
    }

    /// Its segment, which has these blocks.
    #[inline]
    fn segment(&self, sacks: [Block; 3]) -> Segment {
        let Slot { sequence, acknowledged, sent, echo, window, bytes, flags, .. } = *self;
        Segment { sequence, acknowledged, sent, echo, sacks, window, bytes, flags }
    }
}

/// Set in the bodies of simulated packets, and in no others.
const SIMULATED: u32 = 1 << 31;

impl PayloadPool {
    /// Whether `packet` is a simulated one.
    #[inline]
    pub fn contains(packet: &Packet) -> bool {
        packet.body & SIMULATED != 0
    }

    /// The agent that `packet` is for.
    #[inline]
    pub fn agent(&self, packet: &Packet) -> u32 {
        self.slots[(packet.body & !SIMULATED) as usize].agent
    }

    /// Moves the payloads of `packets` from this pool to `batch`.
    pub fn export(&mut self, packets: &[(Time, Packet)], batch: &mut PayloadBatch) {
        for (_, packet) in packets {
            let place = (packet.body & !SIMULATED) as usize;
            batch.slots.push(self.slots[place]);
            if self.slots[place].kind == Kind::SegmentWithSacks {
                batch.sacks.push(self.sacks[place]);
            }
            self.release(packet.body);
        }
    }

    /// Moves the payloads of `packets` from `batch`, to which another pool [exported](Self::export) them in this order, to this
    /// pool.
    pub fn import(&mut self, packets: &mut [(Time, Packet)], batch: &mut PayloadBatch) {
        let mut sacks = batch.sacks.drain(..);
        for ((_, packet), slot) in packets.iter_mut().zip(batch.slots.drain(..)) {
            packet.body = self.insert_slot(Slot { references: 1, has_arrived: false, ..slot });
            if slot.kind == Kind::SegmentWithSacks
                && let Some(blocks) = sacks.next()
            {
                self.put_sacks((packet.body & !SIMULATED) as usize, blocks);
            }
        }
    }

    /// What records have of the segment that `packet` carries on its `passage`, if it is one of TCP.
    pub fn segment(&self, packet: &Packet, passage: PacketRow) -> Option<SegmentRow> {
        let Payload::Segment(segment) = self.payload((packet.body & !SIMULATED) as usize) else {
            return None;
        };
        let answers = segment.flags.has(Flags::ACK);
        Some(SegmentRow {
            packet: passage,
            sequence: segment.sequence,
            bytes: segment.bytes,
            retransmitted: segment.flags.has(Flags::RETRANSMISSION),
            acknowledged: answers.then_some(segment.acknowledged),
            window_bytes: segment.window,
            blocks: segment.sacks.map(|block| block.absolute(segment.acknowledged)),
        })
    }

    /// `packet` as it is now, with what it carries.
    pub fn captured(&self, packet: &Packet) -> CapturedPacket {
        let place = (packet.body & !SIMULATED) as usize;
        CapturedPacket { packet: *packet, agent: self.slots[place].agent, payload: self.payload(place) }
    }

    /// What `packet`, which is being sent, occupies of the sequence space of its connection; `None` if it is a
    /// retransmission or occupies nothing.
    pub fn sent_segment(&self, packet: &Packet) -> Option<SentSegment> {
        let place = (packet.body & !SIMULATED) as usize;
        match self.payload(place) {
            Payload::Segment(segment) => SentSegment::new(self.slots[place].agent, &segment),
            _ => None,
        }
    }

    /// Packets that arrived with a wrong bit: their checksum is wrong, and hosts drop them.
    pub fn damaged(&self) -> u64 {
        self.damaged
    }

    /// The fates of echo requests since this was last asked, by flow and number.
    pub fn take_ping_rows(&mut self) -> Vec<PingRow> {
        let mut rows = std::mem::take(&mut self.ping_rows);
        rows.sort_unstable_by_key(|row| (row.flow, row.seq));
        rows
    }

    /// See [`Sink::deliver`].
    #[inline]
    pub fn deliver(&mut self, packet: &Packet) {
        if packet.damage != 0 {
            self.damaged += 1;
            self.release(packet.body);
            return;
        }
        self.slots[(packet.body & !SIMULATED) as usize].has_arrived = true;
        self.arrived.push(Arrival { body: packet.body, marked: packet.class & 3 == 3 });
    }

    /// Echo messages that ended on their way: their flow, their fate, and how many.
    pub fn echo_fates(&self) -> Vec<(u32, &'static str, u64)> {
        self.echo_fates.iter().map(|(&(flow, fate), &count)| (flow, fate, count)).collect()
    }

    /// See [`Sink::end`].
    pub fn end(&mut self, packet: &Packet, fate: Fate) {
        let slot = &self.slots[(packet.body & !SIMULATED) as usize];
        // While a copy of it is under way, it has not ended, and never if one has arrived.
        let ends = slot.references == 1 && !slot.has_arrived;
        if ends && matches!(slot.kind, Kind::Echo | Kind::EchoReply) {
            *self.echo_fates.entry((packet.flow, fate.name())).or_default() += 1;
        }
        self.release(packet.body);
    }

    /// See [`Sink::copied`].
    pub fn copied(&mut self, packet: &Packet) {
        let references = &mut self.slots[(packet.body & !SIMULATED) as usize].references;
        *references = references.saturating_add(1);
    }

    /// See [`Sink::reply`]. Routers answer echo requests; simulated hosts need no other message, because
    /// they know the MTU of their path and the model's routes do not change.
    pub fn reply(&mut self, about: &Packet, message: Message) -> Option<Reply> {
        let Slot { kind, agent, sequence: number, .. } = self.slots[(about.body & !SIMULATED) as usize];
        (kind == Kind::Echo && message == Message::EchoReply)
            .then(|| Reply { body: self.insert(agent, Payload::EchoReply(number)), bytes: about.bytes })
    }

    /// Takes `payload` for `agent`; returns the packet's body.
    #[inline]
    pub(crate) fn insert(&mut self, agent: u32, payload: Payload) -> u32 {
        match payload {
            Payload::Segment(segment) => self.insert_segment(agent, &segment),
            Payload::Datagram { number, bytes, sent } => {
                self.insert_slot(Slot { window: bytes, sent, ..Slot::new(agent, Kind::Datagram, number) })
            }
            Payload::Echo(number) => self.insert_slot(Slot::new(agent, Kind::Echo, number)),
            Payload::EchoReply(number) => self.insert_slot(Slot::new(agent, Kind::EchoReply, number)),
        }
    }

    /// Takes a segment for `agent`; returns the packet's body.
    #[inline(always)]
    pub(crate) fn insert_segment(&mut self, agent: u32, segment: &Segment) -> u32 {
        if segment.sacks[0].is_empty() {
            return self.insert_slot(Slot::of(agent, Kind::Segment, segment));
        }
        let body = self.insert_slot(Slot::of(agent, Kind::SegmentWithSacks, segment));
        self.put_sacks((body & !SIMULATED) as usize, segment.sacks);
        body
    }

    #[inline(always)]
    fn insert_slot(&mut self, slot: Slot) -> u32 {
        let Some(place) = self.free.pop_front() else { return self.add_slot(slot) };
        self.slots[place as usize] = slot;
        place | SIMULATED
    }

    #[cold]
    fn add_slot(&mut self, slot: Slot) -> u32 {
        self.slots.push(slot);
        (self.slots.len() - 1) as u32 | SIMULATED
    }

    #[inline(never)]
    fn put_sacks(&mut self, place: usize, sacks: [Block; 3]) {
        if self.sacks.len() <= place {
            self.sacks.resize(self.slots.len(), Default::default());
        }
        self.sacks[place] = sacks;
    }

    /// What an arrival brings, and whom.
    #[inline]
    pub(crate) fn take(&mut self, arrival: Arrival) -> (u32, Payload) {
        let place = (arrival.body & !SIMULATED) as usize;
        let brought = (self.slots[place].agent, self.payload(place));
        self.release(arrival.body);
        brought
    }

    #[inline]
    fn payload(&self, place: usize) -> Payload {
        let slot = &self.slots[place];
        match slot.kind {
            Kind::Segment => Payload::Segment(slot.segment(Default::default())),
            Kind::SegmentWithSacks => Payload::Segment(slot.segment(self.sacks[place])),
            Kind::Datagram => {
                Payload::Datagram { number: slot.sequence, bytes: slot.window, sent: slot.sent }
            }
            Kind::Echo => Payload::Echo(slot.sequence),
            Kind::EchoReply => Payload::EchoReply(slot.sequence),
        }
    }

    #[inline]
    fn release(&mut self, body: u32) {
        let place = body & !SIMULATED;
        let slot = &mut self.slots[place as usize];
        if slot.references < u16::MAX {
            slot.references -= 1;
        }
        if slot.references == 0 {
            self.free.push_back(place);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use longhaul_network::NodeId;

    #[test]
    fn a_duplicated_echo_has_ended_only_if_no_copy_arrives() {
        let mut payloads = PayloadPool::default();
        let mut duplicated = |number| {
            let packet = Packet {
                body: payloads.insert(0, Payload::Echo(number)),
                segment: 0,
                segments: 1,
                bytes: 84,
                source: NodeId(0),
                destination: NodeId(1),
                ttl: 64,
                hops: 0,
                flags: longhaul_network::Flags::empty(),
                class: 0,
                flow: 7,
                damage: 0,
                offered: Time::ZERO,
            };
            payloads.copied(&packet);
            packet
        };
        let [first, second, third] = [1, 2, 3].map(&mut duplicated);
        payloads.deliver(&first);
        let arrival = payloads.arrived.remove(0);
        payloads.take(arrival);
        payloads.end(&first, Fate::Lost);
        payloads.end(&second, Fate::Lost);
        payloads.deliver(&second);
        assert_eq!(payloads.echo_fates(), []);
        payloads.end(&third, Fate::Lost);
        payloads.end(&third, Fate::Down);
        assert_eq!(payloads.echo_fates(), [(7, "down", 1)]);
    }
}
