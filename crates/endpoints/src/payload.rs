use longhaul_network::{Fate, Message, Packet, Reply, Sink};
use longhaul_record::{PacketRow, PingRow, SegmentRow};
use longhaul_transport::{Flags, Segment};
use longhaul_units::Time;
use std::collections::BTreeMap;

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

    /// An endpoint is about to send `packet`.
    fn sent(&mut self, packet: &Packet) {
        let _ = packet;
    }
}

/// What simulated packets carry, and those that have arrived.
#[derive(Default)]
pub struct PayloadPool {
    slots: Vec<Slot>,
    free: Vec<u32>,
    pub(crate) arrived: Vec<Arrival>,
    pub(crate) ping_rows: Vec<PingRow>,
    damaged: u64,
    /// Echo messages that ended on their way, by what they carry as their flow and by their fate.
    echo_fates: BTreeMap<(u32, &'static str), u64>,
}

/// What a packet brings, and whom.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slot {
    pub payload: Payload,
    pub agent: u32,
    /// Packets that carry it: more than one after a link has made copies.
    references: u32,
    /// Whether one of them has arrived.
    has_arrived: bool,
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

    /// What records have of the segment that `packet` carries on its `passage`, if it is one of TCP.
    pub fn segment(&self, packet: &Packet, passage: PacketRow) -> Option<SegmentRow> {
        let Payload::Segment(segment) = self.slots[(packet.body & !SIMULATED) as usize].payload else {
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
        if ends && matches!(slot.payload, Payload::Echo(_) | Payload::EchoReply(_)) {
            *self.echo_fates.entry((packet.flow, fate.name())).or_default() += 1;
        }
        self.release(packet.body);
    }

    /// See [`Sink::copied`].
    pub fn copied(&mut self, packet: &Packet) {
        self.slots[(packet.body & !SIMULATED) as usize].references += 1;
    }

    /// See [`Sink::reply`]. Routers answer echo requests; simulated hosts need no other message, because
    /// they know the MTU of their path and the model's routes do not change.
    pub fn reply(&mut self, about: &Packet, message: Message) -> Option<Reply> {
        let Slot { payload: Payload::Echo(number), agent, .. } =
            self.slots[(about.body & !SIMULATED) as usize]
        else {
            return None;
        };
        (message == Message::EchoReply)
            .then(|| Reply { body: self.insert(agent, Payload::EchoReply(number)), bytes: about.bytes })
    }

    /// Takes `payload` for `agent`; returns the packet's body.
    #[inline]
    pub(crate) fn insert(&mut self, agent: u32, payload: Payload) -> u32 {
        let slot = Slot { payload, agent, references: 1, has_arrived: false };
        let place = if let Some(place) = self.free.pop() {
            self.slots[place as usize] = slot;
            place
        } else {
            self.slots.push(slot);
            (self.slots.len() - 1) as u32
        };
        place | SIMULATED
    }

    /// What an arrival brings.
    #[inline]
    pub(crate) fn take(&mut self, arrival: Arrival) -> Slot {
        let slot = self.slots[(arrival.body & !SIMULATED) as usize];
        self.release(arrival.body);
        slot
    }

    #[inline]
    fn release(&mut self, body: u32) {
        let place = body & !SIMULATED;
        let slot = &mut self.slots[place as usize];
        slot.references -= 1;
        if slot.references == 0 {
            self.free.push(place);
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
