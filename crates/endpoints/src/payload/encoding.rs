//! What simulated packets carry, as bytes: a packet that crosses to another shard takes them along.

use super::{Kind, PayloadPool, SIMULATED, Slot};
use longhaul_transport::{Block, Flags};
use longhaul_units::Time;

const KINDS: [Kind; 5] = [Kind::Segment, Kind::SegmentWithSacks, Kind::Datagram, Kind::Echo, Kind::EchoReply];

impl PayloadPool {
    /// Moves what the packet with this body carries from the pool to the end of `out`.
    pub fn encode(&mut self, body: u32, out: &mut Vec<u8>) {
        let place = (body & !SIMULATED) as usize;
        let slot = &self.slots[place];
        let kind = KINDS.iter().position(|kind| *kind == slot.kind).unwrap_or_default();
        out.push(kind as u8);
        out.extend_from_slice(&slot.agent.to_le_bytes());
        for number in [slot.sequence, slot.acknowledged, slot.sent.ps(), slot.echo.ps()] {
            out.extend_from_slice(&number.to_le_bytes());
        }
        out.extend_from_slice(&slot.window.to_le_bytes());
        for number in [slot.bytes, slot.flags.bits()] {
            out.extend_from_slice(&number.to_le_bytes());
        }
        if slot.kind == Kind::SegmentWithSacks {
            for number in self.sacks[place].iter().flat_map(|block| [block.start, block.end]) {
                out.extend_from_slice(&number.to_le_bytes());
            }
        }
        self.release(body);
    }

    /// Takes what another pool has [encoded](Self::encode), and returns the body of the packet that carries it; `None` if it is
    /// malformed, or for none of so many `agents`.
    pub fn decode(&mut self, mut bytes: &[u8], agents: usize) -> Option<u32> {
        let from = &mut bytes;
        let [kind] = next(from)?;
        let kind = *KINDS.get(usize::from(kind))?;
        let agent = u32::from_le_bytes(next(from)?);
        if agent as usize >= agents {
            return None;
        }
        let mut numbers = [0; 4];
        for number in &mut numbers {
            *number = u64::from_le_bytes(next(from)?);
        }
        let [sequence, acknowledged, sent, echo] = numbers;
        let slot = Slot {
            acknowledged,
            sent: Time::from_ps(sent),
            echo: Time::from_ps(echo),
            window: u32::from_le_bytes(next(from)?),
            bytes: u16::from_le_bytes(next(from)?),
            flags: Flags::from_bits(u16::from_le_bytes(next(from)?)),
            ..Slot::new(agent, kind, sequence)
        };
        let mut sacks = [Block::default(); 3];
        if kind == Kind::SegmentWithSacks {
            for Block { start, end } in &mut sacks {
                (*start, *end) = (i32::from_le_bytes(next(from)?), i32::from_le_bytes(next(from)?));
            }
        }
        if !from.is_empty() {
            return None;
        }
        let body = self.insert_slot(slot);
        if kind == Kind::SegmentWithSacks {
            self.put_sacks((body & !SIMULATED) as usize, sacks);
        }
        Some(body)
    }

    /// The clock here was `later_ps` ahead of the one by which the packet with this body was sent: a datagram left so much later.
    /// Times in segments are for those who wrote them, who get them back (RFC 7323, section 3).
    pub fn convert_departure(&mut self, body: u32, later_ps: i64) {
        let slot = &mut self.slots[(body & !SIMULATED) as usize];
        if slot.kind == Kind::Datagram {
            slot.sent = Time::from_ps(slot.sent.ps().saturating_add_signed(later_ps));
        }
    }
}

fn next<const N: usize>(from: &mut &[u8]) -> Option<[u8; N]> {
    let (head, rest) = from.split_first_chunk()?;
    *from = rest;
    Some(*head)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::payload::{Arrival, Payload};
    use longhaul_transport::Segment;
    use proptest::prelude::*;

    /// What arrives at `pool` with the packet of this body.
    fn taken(pool: &mut PayloadPool, body: u32) -> (u32, String) {
        let (agent, payload) = pool.take(Arrival { body, marked: false });
        (agent, format!("{payload:?}"))
    }

    proptest! {
        #[test]
        fn a_payload_that_crosses_is_the_same_in_the_other_pool(
            kind in 0u8..4, agent in 0u32..9, numbers: [u64; 4], window: u32, small: [u16; 2], blocks: [i32; 6]
        ) {
            let [sequence, acknowledged, sent, echo] = numbers;
            let (sent, echo) = (Time::from_ps(sent), Time::from_ps(echo));
            let block = |place: usize| Block { start: blocks[place], end: blocks[place + 1] };
            let payload = match kind {
                0 => Payload::Segment(Segment {
                    sequence,
                    acknowledged,
                    sent,
                    echo,
                    sacks: [block(0), block(2), block(4)],
                    window,
                    bytes: small[0],
                    flags: Flags::from_bits(small[1]),
                }),
                1 => Payload::Datagram { number: sequence, bytes: window, sent },
                2 => Payload::Echo(sequence),
                _ => Payload::EchoReply(sequence),
            };
            let (mut here, mut there) = (PayloadPool::default(), PayloadPool::default());
            let kept = here.insert(agent, payload);
            let crossing = here.insert(agent, payload);
            let mut bytes = Vec::new();
            here.encode(crossing, &mut bytes);
            prop_assert!(there.decode(&bytes, agent as usize).is_none(), "there is no such agent");
            let body = there.decode(&bytes, 9).unwrap();
            prop_assert_eq!(taken(&mut there, body), taken(&mut here, kept));
            prop_assert_eq!(here.free.len(), here.slots.len(), "nothing is left behind");
            for length in 0..bytes.len() {
                prop_assert!(there.decode(&bytes[..length], 9).is_none());
            }
        }

        #[test]
        fn a_datagram_of_another_clock_left_at_its_time_by_this_one(sent_ps in 500u64..1_000_000, later_ps in -500i64..500) {
            let mut pool = PayloadPool::default();
            let sent = Time::from_ps(sent_ps);
            let body = pool.insert(3, Payload::Datagram { number: 7, bytes: 100, sent });
            pool.convert_departure(body, later_ps);
            let sent = Time::from_ps(sent_ps.strict_add_signed(later_ps));
            let expected = format!("{:?}", Payload::Datagram { number: 7, bytes: 100, sent });
            prop_assert_eq!(taken(&mut pool, body), (3, expected));
        }

        #[test]
        fn whatever_bytes_come_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..100)) {
            let mut pool = PayloadPool::default();
            if let Some(body) = pool.decode(&bytes, usize::MAX) {
                pool.release(body);
            }
        }
    }
}
