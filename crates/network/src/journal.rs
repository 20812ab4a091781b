//! Everything that a network was given and everything that it gave back, in order.
//!
//! Because the order of a network's outputs does not depend on when it is advanced, a journal is
//! compared with a replay line by line. Integers are little-endian; times are picoseconds.

use crate::packet::{DirectionId, Fate, Flags, NodeId, Origin, Packet, Reply};
use longhaul_plan::{Change, Sender};
use longhaul_units::Time;
use std::io::{self, Read};

/// The first bytes of a journal: what it is and its version.
pub const JOURNAL_MAGIC: [u8; 8] = *b"LHJRNL\x00\x01";

/// One line of a journal.
#[derive(Clone, Debug, PartialEq)]
pub enum Entry {
    /// A host sent this packet at `packet.offered`.
    Injected {
        /// As it was handed over.
        packet: Packet,
        /// Whether some node has its destination address.
        routable: bool,
    },
    /// A host sent this packet by an interface that it chose itself, maybe for another host.
    Forwarded {
        /// As it was handed over.
        packet: Packet,
        /// The interface.
        node: NodeId,
        /// Whether it has a destination.
        routable: bool,
    },
    /// A packet came from another shard of a live run.
    Imported {
        /// When.
        at: Time,
        /// By which direction.
        direction: DirectionId,
        /// When it is due at the end of that.
        due: Time,
        /// As it left the other shard.
        packet: Packet,
    },
    /// Models of a direction changed.
    Changed {
        /// When.
        at: Time,
        /// Where.
        direction: DirectionId,
        /// Which of its parallel routes; `None`: the link, or all of them.
        route: Option<usize>,
        /// To what.
        change: Box<Change>,
    },
    /// The reply of a router, if it could send one.
    Replied(Option<Reply>),
    /// What the host knows of a packet whose class its pacer chooses.
    Origin(Origin),
    /// A packet left the network.
    Departed(Departure),
    /// The network was advanced to this instant, and no further.
    Finished(Time),
}

/// How a packet left the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Departure {
    /// The host's handle of its bytes.
    pub body: u32,
    /// Position among the segments of its super-packet.
    pub segment: u16,
    /// Where it was due, or what ended it.
    pub end: Result<NodeId, Fate>,
    /// The direction by which it went to another shard; then `end` is its destination, and `at` when it is due there.
    pub exit: Option<DirectionId>,
    /// When it was due there, or ended.
    pub at: Time,
    /// DSCP and ECN, as it left.
    pub class: u8,
    /// If not zero, one bit of it is wrong, which this number chooses.
    pub damage: u32,
}

impl Departure {
    /// Of `packet`, at `at`.
    pub fn new(packet: &Packet, end: Result<NodeId, Fate>, at: Time) -> Self {
        let Packet { body, segment, class, damage, .. } = *packet;
        Departure { body, segment, end, exit: None, at, class, damage }
    }

    /// Of `packet`, which goes to another shard by `exit` and is due there at `at`.
    pub fn crossing(packet: &Packet, exit: DirectionId, at: Time) -> Self {
        Departure { exit: Some(exit), ..Departure::new(packet, Ok(packet.destination), at) }
    }
}

const INJECTED: u8 = 1;
const UNROUTABLE: u8 = 2;
const CHANGED: u8 = 3;
const REPLIED: u8 = 4;
const NO_REPLY: u8 = 5;
const DELIVERED: u8 = 6;
const ENDED: u8 = 7;
const FINISHED: u8 = 8;
const CAME: u8 = 9;
const FORWARDED: u8 = 10;
const FORWARDED_UNROUTABLE: u8 = 11;
const IMPORTED: u8 = 12;
const CROSSED: u8 = 13;

impl Entry {
    /// Appends the entry to `out`.
    pub fn encode(&self, out: &mut Vec<u8>) {
        match self {
            Entry::Injected { packet, routable } => {
                out.push(if *routable { INJECTED } else { UNROUTABLE });
                encode_packet(packet, out);
            }
            Entry::Forwarded { packet, node, routable } => {
                out.push(if *routable { FORWARDED } else { FORWARDED_UNROUTABLE });
                encode_packet(packet, out);
                out.extend(node.0.to_le_bytes());
            }
            Entry::Imported { at, direction, due, packet } => {
                out.push(IMPORTED);
                out.extend(at.ps().to_le_bytes());
                out.extend(direction.0.to_le_bytes());
                out.extend(due.ps().to_le_bytes());
                encode_packet(packet, out);
                out.push(packet.hops);
                out.extend(packet.damage.to_le_bytes());
            }
            Entry::Changed { at, direction, route, change } => {
                let text = serde_json::to_vec(change).unwrap_or_default();
                out.push(CHANGED);
                out.extend(at.ps().to_le_bytes());
                out.extend(direction.0.to_le_bytes());
                out.extend(route.map_or(u32::MAX, |route| route as u32).to_le_bytes());
                out.extend((text.len() as u32).to_le_bytes());
                out.extend(text);
            }
            Entry::Replied(Some(reply)) => {
                out.push(REPLIED);
                out.extend(reply.body.to_le_bytes());
                out.extend(reply.bytes.to_le_bytes());
            }
            Entry::Replied(None) => out.push(NO_REPLY),
            Entry::Origin(Origin { protocol, ports, sender }) => {
                let (kind, which) = match sender {
                    None => (0, 0),
                    Some(Sender::Flow(which)) => (1, *which),
                    Some(Sender::Job(which)) => (2, *which),
                };
                let (from, to) = ports.unwrap_or_default();
                let has = u8::from(protocol.is_some()) | u8::from(ports.is_some()) << 1;
                out.extend([CAME, has, protocol.unwrap_or(0)]);
                out.extend(from.to_le_bytes());
                out.extend(to.to_le_bytes());
                out.push(kind);
                out.extend(which.to_le_bytes());
            }
            Entry::Departed(departure) => {
                let (tag, which) = match (departure.end, departure.exit) {
                    (Ok(host), None) => (DELIVERED, host.0),
                    (Ok(node), Some(_)) => (CROSSED, node.0),
                    (Err(fate), _) => (ENDED, fate as u32),
                };
                out.push(tag);
                if let Some(exit) = departure.exit {
                    out.extend(exit.0.to_le_bytes());
                }
                out.extend(departure.at.ps().to_le_bytes());
                out.extend(departure.body.to_le_bytes());
                out.extend(departure.segment.to_le_bytes());
                out.extend(which.to_le_bytes());
                out.push(departure.class);
                out.extend(departure.damage.to_le_bytes());
            }
            Entry::Finished(at) => {
                out.push(FINISHED);
                out.extend(at.ps().to_le_bytes());
            }
        }
    }

    /// Reads the next entry; `None` at the end.
    ///
    /// # Errors
    /// If the journal is cut short, or is not a journal.
    pub fn decode(from: &mut impl Read) -> io::Result<Option<Entry>> {
        let mut tag = [0];
        if from.read(&mut tag)? == 0 {
            return Ok(None);
        }
        let mut fields = Fields(from);
        Ok(Some(match tag[0] {
            tag @ (INJECTED | UNROUTABLE) => {
                Entry::Injected { packet: fields.packet()?, routable: tag == INJECTED }
            }
            tag @ (FORWARDED | FORWARDED_UNROUTABLE) => Entry::Forwarded {
                packet: fields.packet()?,
                node: NodeId(fields.u32()?),
                routable: tag == FORWARDED,
            },
            IMPORTED => {
                let (at, direction) = (fields.time()?, DirectionId(fields.u32()?));
                let (due, packet) = (fields.time()?, fields.packet()?);
                let packet = Packet { hops: fields.u8()?, damage: fields.u32()?, ..packet };
                Entry::Imported { at, direction, due, packet }
            }
            CHANGED => {
                let at = fields.time()?;
                let direction = DirectionId(fields.u32()?);
                let route = Some(fields.u32()?).filter(|&route| route != u32::MAX);
                let length = fields.u32()?;
                let mut text = Vec::new();
                fields.0.take(u64::from(length)).read_to_end(&mut text)?;
                let change = serde_json::from_slice(&text).map_err(|error| broken(&error.to_string()))?;
                Entry::Changed { at, direction, route: route.map(|route| route as usize), change }
            }
            REPLIED => Entry::Replied(Some(Reply { body: fields.u32()?, bytes: fields.u32()? })),
            NO_REPLY => Entry::Replied(None),
            CAME => {
                let has = fields.u8()?;
                let protocol = Some(fields.u8()?).filter(|_| has & 1 != 0);
                let ports = Some((fields.u16()?, fields.u16()?)).filter(|_| has & 2 != 0);
                let (kind, which) = (fields.u8()?, fields.u32()?);
                let sender = match kind {
                    0 => None,
                    1 => Some(Sender::Flow(which)),
                    2 => Some(Sender::Job(which)),
                    _ => return Err(broken("unknown sender")),
                };
                Entry::Origin(Origin { protocol, ports, sender })
            }
            tag @ (DELIVERED | ENDED | CROSSED) => {
                let exit = if tag == CROSSED { Some(DirectionId(fields.u32()?)) } else { None };
                let at = fields.time()?;
                let body = fields.u32()?;
                let segment = fields.u16()?;
                let which = fields.u32()?;
                let end = if tag == ENDED {
                    Err(*Fate::ALL.get(which as usize).ok_or_else(|| broken("unknown fate"))?)
                } else {
                    Ok(NodeId(which))
                };
                Entry::Departed(Departure {
                    body,
                    segment,
                    end,
                    exit,
                    at,
                    class: fields.u8()?,
                    damage: fields.u32()?,
                })
            }
            FINISHED => Entry::Finished(fields.time()?),
            other => return Err(broken(&format!("unknown entry {other}"))),
        }))
    }
}

fn encode_packet(packet: &Packet, out: &mut Vec<u8>) {
    out.extend(packet.offered.ps().to_le_bytes());
    out.extend(packet.body.to_le_bytes());
    out.extend(packet.segment.to_le_bytes());
    out.extend(packet.segments.to_le_bytes());
    out.extend(packet.bytes.to_le_bytes());
    out.extend(packet.source.0.to_le_bytes());
    out.extend(packet.destination.0.to_le_bytes());
    out.extend([packet.ttl, packet.flags.bits(), packet.class]);
    out.extend(packet.flow.to_le_bytes());
}

fn broken(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what.to_owned())
}

struct Fields<'a, R>(&'a mut R);

impl<R: Read> Fields<'_, R> {
    fn array<const N: usize>(&mut self) -> io::Result<[u8; N]> {
        let mut bytes = [0; N];
        self.0.read_exact(&mut bytes)?;
        Ok(bytes)
    }

    fn u8(&mut self) -> io::Result<u8> {
        Ok(self.array::<1>()?[0])
    }

    fn u16(&mut self) -> io::Result<u16> {
        self.array().map(u16::from_le_bytes)
    }

    fn u32(&mut self) -> io::Result<u32> {
        self.array().map(u32::from_le_bytes)
    }

    fn time(&mut self) -> io::Result<Time> {
        self.array().map(u64::from_le_bytes).map(Time::from_ps)
    }

    fn packet(&mut self) -> io::Result<Packet> {
        Ok(Packet {
            offered: self.time()?,
            body: self.u32()?,
            segment: self.u16()?,
            segments: self.u16()?,
            bytes: self.u32()?,
            source: NodeId(self.u32()?),
            destination: NodeId(self.u32()?),
            ttl: self.u8()?,
            hops: 0,
            flags: Flags::from_bits(self.u8()?),
            class: self.u8()?,
            flow: self.u32()?,
            damage: 0,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries() -> Vec<Entry> {
        let packet = Packet {
            body: 7,
            segment: 2,
            segments: 3,
            bytes: 1_500,
            source: NodeId(1),
            destination: NodeId(4),
            ttl: 64,
            hops: 0,
            flags: Flags::NO_REPLY,
            class: 3,
            flow: 99,
            damage: 0,
            offered: Time::from_ps(12_345),
        };
        let mut entries = vec![
            Entry::Injected { packet, routable: true },
            Entry::Injected { packet, routable: false },
            Entry::Forwarded { packet, node: NodeId(3), routable: true },
            Entry::Forwarded { packet, node: NodeId(3), routable: false },
            Entry::Changed {
                at: Time::from_ns(5),
                direction: DirectionId(3),
                route: Some(2),
                change: Box::new(Change {
                    loss: Some(longhaul_plan::LossModel::None {}),
                    corrupt: longhaul_units::Probability::new(0.1 + 0.2),
                    ..Change::default()
                }),
            },
            Entry::Replied(Some(Reply { body: 8, bytes: 56 })),
            Entry::Replied(None),
            Entry::Origin(Origin::default()),
            Entry::Origin(Origin {
                protocol: Some(6),
                ports: Some((40_000, 5_001)),
                sender: Some(Sender::Job(3)),
            }),
            Entry::Departed(Departure::new(&packet, Ok(NodeId(4)), Time::from_ns(9))),
            Entry::Departed(Departure::crossing(&packet, DirectionId(2), Time::from_ns(9))),
            Entry::Imported {
                at: Time::from_ns(8),
                direction: DirectionId(5),
                due: Time::from_ns(9),
                packet: Packet { hops: 3, damage: 77, ..packet },
            },
            Entry::Finished(Time::from_ns(10)),
        ];
        entries.extend(
            Fate::ALL.map(|fate| Entry::Departed(Departure::new(&packet, Err(fate), Time::from_ns(9)))),
        );
        entries
    }

    #[test]
    fn what_is_written_is_read_back() {
        let mut bytes = Vec::new();
        for entry in &entries() {
            entry.encode(&mut bytes);
        }
        let mut rest = &bytes[..];
        for entry in entries() {
            assert_eq!(Entry::decode(&mut rest).unwrap(), Some(entry));
        }
        assert_eq!(Entry::decode(&mut rest).unwrap(), None);
    }

    #[test]
    fn what_is_cut_short_or_foreign_is_an_error() {
        for entry in entries() {
            let mut bytes = Vec::new();
            entry.encode(&mut bytes);
            for length in 1..bytes.len() {
                assert!(Entry::decode(&mut &bytes[..length]).is_err(), "{entry:?} cut to {length}");
            }
        }
        assert!(Entry::decode(&mut &[200u8, 1, 2][..]).is_err());
    }
}
