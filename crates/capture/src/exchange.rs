//! One connection at one place, segment by segment: what a time/sequence graph shows.

use crate::Error;
use crate::headers::frame;
use crate::order::{InOrder, Sighting};
use crate::packets::Packets;
use crate::sequence::{Ranges, first, position};
use crate::tcp::Segment;
use std::io::Read;
use std::net::SocketAddr;

/// The largest shift of a window that counts (RFC 7323, section 2.3).
const LARGEST_SHIFT: u8 = 14;

/// Which data: those that one end of a connection sent to the other, seen at one place.
#[derive(Clone, Debug)]
pub struct Asked {
    /// As [`Flow::interface`](crate::Flow::interface) has it.
    pub interface: String,
    /// Who sent the data.
    pub sender: SocketAddr,
    /// Who received them.
    pub receiver: SocketAddr,
}

/// How data relate to those before them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Their end is beyond all others, and they fill no hole.
    New,
    /// All of them had been seen.
    Retransmitted,
    /// Some of them fill a hole: they came late, or were lost before the capture and retransmitted.
    Late,
}

/// Data in a packet, as bytes of the flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Data {
    /// Since 1970.
    pub at_ns: u64,
    /// The first byte; 0 is the flow's first that was seen.
    pub start: i64,
    /// The one after the last.
    pub end: i64,
    /// Whether they are new.
    pub kind: Kind,
}

/// What the receiver said in a packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// Since 1970.
    pub at_ns: u64,
    /// All bytes before it have arrived.
    pub acknowledged: i64,
    /// Where its window ends; `None` if the capture has not both beginnings, which say how windows are scaled.
    pub limit: Option<i64>,
    /// Bytes that have arrived beyond it (RFC 2018), from the first to the one after the last.
    pub blocks: Vec<(i64, i64)>,
}

/// A flow in the order of time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Exchange {
    /// Every packet with data.
    pub data: Vec<Data>,
    /// Every acknowledgement.
    pub answers: Vec<Answer>,
}

impl Exchange {
    /// Reads a whole capture for one flow; `reader` as for [`Reader::new`](crate::Reader::new).
    ///
    /// Nothing is found if the capture has no such flow.
    ///
    /// # Errors
    /// If the file is not a capture, or is damaged.
    pub fn read(reader: impl Read, asked: &Asked) -> Result<Self, Error> {
        let mut packets = Packets::new(reader)?;
        let mut waiting = InOrder::default();
        let mut gathering = Gathering::default();
        while packets.next(|packet, interfaces| {
            let Some(interface) = interfaces.get(packet.interface) else { return Ok(()) };
            let Some(link_layer) = interface.link_layer.filter(|_| interface.name == asked.interface) else {
                return Ok(());
            };
            let Ok((segment, index)) = frame(link_layer, packet.bytes, packet.length) else { return Ok(()) };
            let ends = (segment.source, segment.destination);
            if ends != (asked.sender, asked.receiver) && ends != (asked.receiver, asked.sender) {
                return Ok(());
            }
            let sighting = Sighting { at_ns: packet.at_ns, place: interface.place, index, segment };
            let next = if interface.of_run { waiting.exchange(sighting) } else { Some(sighting) };
            if let Some(sighting) = &next {
                gathering.take(asked, sighting);
            }
            Ok(())
        })? {}
        while let Some(sighting) = waiting.take() {
            gathering.take(asked, &sighting);
        }
        Ok(gathering.found)
    }
}

#[derive(Default)]
struct Gathering {
    found: Exchange,
    /// Position of the flow's first byte, and of the one that is expected next.
    at: Option<(u64, u64)>,
    sent: Ranges,
    /// By how much each end shifts its windows: the sender's and the receiver's.
    shifts: [WindowScale; 2],
}

/// The window scale option of the SYN of one end.
#[derive(Clone, Copy, Default)]
enum WindowScale {
    /// The capture does not have the SYN.
    #[default]
    Unknown,
    Absent,
    Shift(u8),
}

impl Gathering {
    fn take(&mut self, asked: &Asked, sighting: &Sighting) {
        let Sighting { at_ns, segment, .. } = sighting;
        let by_sender = segment.source == asked.sender;
        if segment.flags.syn() {
            self.shifts[usize::from(!by_sender)] =
                segment.options.shift.map_or(WindowScale::Absent, WindowScale::Shift);
        }
        if by_sender {
            self.take_data(*at_ns, segment);
        } else if segment.flags.ack() && !segment.flags.reset() {
            self.take_answer(*at_ns, segment);
        }
    }

    fn take_data(&mut self, at_ns: u64, segment: &Segment) {
        let sequence = segment.sequence.wrapping_add(u32::from(segment.flags.syn()));
        let (origin, next) = *self.at.get_or_insert_with(|| (first(sequence), first(sequence)));
        let Some(start) = position(next, sequence).filter(|_| segment.payload > 0) else { return };
        let end = start + u64::from(segment.payload);
        let seen_before = start >= next || self.sent.covers(start, end.min(next));
        let kind = match (seen_before, end > next) {
            (false, _) => Kind::Late,
            (true, true) => Kind::New,
            (true, false) => Kind::Retransmitted,
        };
        self.sent.insert(start, end);
        self.at = Some((origin, next.max(end)));
        let relative = |position: u64| position as i64 - origin as i64;
        self.found.data.push(Data { at_ns, start: relative(start), end: relative(end), kind });
    }

    fn take_answer(&mut self, at_ns: u64, segment: &Segment) {
        let Some((origin, next)) = self.at else { return };
        let relative = |sequence| position(next, sequence).map(|position| position as i64 - origin as i64);
        let Some(acknowledged) = relative(segment.acknowledgement) else { return };
        let shift = match self.shifts {
            // The window of a SYN is never scaled (RFC 7323, section 2.2).
            _ if segment.flags.syn() => Some(0),
            [WindowScale::Unknown, _] | [_, WindowScale::Unknown] => None,
            [WindowScale::Shift(_), WindowScale::Shift(shift)] => Some(shift.min(LARGEST_SHIFT)),
            _ => Some(0),
        };
        let blocks = segment.options.blocks().iter();
        let blocks = blocks.filter_map(|&(start, end)| Some((relative(start)?, relative(end)?))).collect();
        let limit = shift.map(|shift| acknowledged + (i64::from(segment.window) << shift));
        self.found.answers.push(Answer { at_ns, acknowledged, limit, blocks });
    }
}
