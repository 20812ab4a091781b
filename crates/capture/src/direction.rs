//! The data that one end of a connection sends, and what the other acknowledges.

use crate::idents::Idents;
use crate::outstanding::{Outstanding, Piece, Stamp};
use crate::samples::RoundTrips;
use crate::sequence::{Ranges, first, position};
use crate::suspects::{Loss, Place, Suspects, Suspicion};
use crate::tcp::Segment;

/// Pieces in flight at most: a window of 380 MB in packets of 1,448 bytes.
const MOST_OUTSTANDING: usize = 1 << 18;
/// Larger payloads than any frame carries: segments that an adapter will cut, or has joined.
const LARGEST_FRAME: u32 = 9_216;
/// Payload of a packet of 1,500 bytes, where nothing says better.
const USUAL_SIZE: u32 = 1_460;
/// Sooner than this, a hole is filled by reordering; where no round trip is known.
const SOON_NS: u64 = 3_000_000;

/// Counts of one direction. Packets are segments as on the wire: those that an adapter cuts count as many.
#[derive(Clone, Debug, Default)]
pub(crate) struct Counts {
    /// With data, and seen.
    pub(crate) packets: u64,
    /// Of data, retransmissions included.
    pub(crate) bytes: u64,
    pub(crate) retransmissions: u64,
    /// Retransmissions of what had arrived.
    pub(crate) spurious: u64,
    /// Packets that came later than packets sent after them.
    pub(crate) reordered: u64,
    /// Most packets by which one was late (RFC 4737, section 4.2.1).
    pub(crate) reordering_extent: u64,
    /// Packets that were seen twice: not sent twice, for their identification is the same.
    pub(crate) copies: u64,
    /// Packets that arrived and are not in the capture.
    pub(crate) unseen: u64,
    /// Captured before an adapter cut them, or after it joined them.
    pub(crate) joined: u64,
    /// Too far from all others to belong to them.
    pub(crate) astray: u64,
    /// Pieces given up because too many were outstanding.
    pub(crate) forgotten: u64,
    /// Acknowledgements of these data.
    pub(crate) acknowledgements: u64,
}

/// State of the stream, once its numbering is known.
#[derive(Clone, Copy, Debug)]
struct Edges {
    /// The first byte after the SYN, or that was seen.
    start: u64,
    /// What is below cannot be judged: it was sent before the capture, or forgotten.
    known: u64,
    /// All below is acknowledged.
    acknowledged: u64,
    /// One after the last byte.
    next: u64,
}

/// What has been learnt of one direction.
#[derive(Default)]
pub(crate) struct Direction {
    pub(crate) counts: Counts,
    pub(crate) rtts: RoundTrips,
    /// The largest segment that both ends accept.
    pub(crate) mss: Option<u16>,
    pub(crate) first_ns: Option<u64>,
    pub(crate) last_ns: u64,
    edges: Option<Edges>,
    outstanding: Outstanding,
    sacked: Ranges,
    suspects: Suspects,
    /// Packets sent so far, seen or missed.
    sent: u64,
    /// The largest payload of a packet so far.
    size: u32,
    idents: Idents,
    duplicates_reported: bool,
}

impl Direction {
    pub(crate) fn outstanding(&self) -> usize {
        self.outstanding.len()
    }

    /// Takes a segment of this direction. `all` counts the packets of all flows; `round_trip_ns` is the
    /// shortest known.
    pub(crate) fn data(&mut self, segment: &Segment, at_ns: u64, all: &mut u64, round_trip_ns: Option<u64>) {
        if segment.flags.syn() {
            let start = first(segment.sequence.wrapping_add(1));
            self.edges.get_or_insert(Edges { start, known: start, acknowledged: start, next: start });
            return;
        }
        if segment.payload > 0 {
            let place = first(segment.sequence);
            let edges = *self.edges.get_or_insert(Edges {
                start: place,
                known: place,
                acknowledged: place,
                next: place,
            });
            let Some(from) = position(edges.next, segment.sequence) else {
                self.counts.astray += 1;
                return;
            };
            // RFC 9293, section 3.8.4: a keep-alive repeats one byte, or invents it.
            if segment.payload == 1 && from + 1 == edges.acknowledged && edges.acknowledged == edges.next {
                return;
            }
            if from == edges.next {
                self.idents.follow(segment.ident);
            }
            self.first_ns.get_or_insert(at_ns);
            self.last_ns = at_ns;
            self.cut(segment, from, at_ns, all, round_trip_ns);
        }
        if let Some(edges) = self.edges.as_mut().filter(|_| segment.flags.fin())
            && position(edges.next, segment.sequence.wrapping_add(segment.payload)) == Some(edges.next)
        {
            edges.next += 1;
        }
        while self.outstanding.len() > MOST_OUTSTANDING {
            self.forget_first();
        }
        self.suspects.settle(at_ns);
    }

    /// Gives up the oldest piece.
    pub(crate) fn forget_first(&mut self) {
        let begins = self.outstanding.forget_first();
        self.counts.forgotten += 1;
        if let Some(edges) = &mut self.edges {
            edges.known = begins.unwrap_or(edges.next);
            edges.acknowledged = edges.acknowledged.max(edges.known);
        }
    }

    /// Cuts what an adapter will cut, and takes each packet.
    fn cut(&mut self, segment: &Segment, from: u64, at_ns: u64, all: &mut u64, round_trip_ns: Option<u64>) {
        let usual = match self.mss {
            Some(mss) => u32::from(mss),
            None if segment.payload > LARGEST_FRAME => USUAL_SIZE,
            None => u32::MAX,
        };
        let size = usual.saturating_sub(segment.options_length).max(1).min(segment.payload);
        self.counts.joined += u64::from(size < segment.payload);
        self.size = self.size.max(size);
        self.counts.bytes += u64::from(segment.payload);
        let end = from + u64::from(segment.payload);
        let mut start = from;
        while start < end {
            let packet = Packet {
                start,
                end: end.min(start + u64::from(size)),
                at_ns,
                stamp_value: segment.options.stamps.map(|stamps| stamps.value),
                ident: segment.ident,
            };
            self.packet(&packet, all, round_trip_ns);
            start = packet.end;
        }
    }

    fn packet(&mut self, packet: &Packet, all: &mut u64, round_trip_ns: Option<u64>) {
        let Some(mut edges) = self.edges else { return };
        self.counts.packets += 1;
        if packet.end <= edges.next {
            self.retransmitted(packet, edges, all, round_trip_ns);
            return;
        }
        if packet.start < edges.next && packet.start >= edges.known {
            // New data behind old ones: the old part was retransmitted.
            self.retransmitted(&Packet { end: edges.next, ..*packet }, edges, all, round_trip_ns);
        } else if packet.start > edges.next {
            let packets = (packet.start - edges.next).div_ceil(u64::from(self.size));
            self.outstanding.push(Piece {
                start: edges.next,
                end: packet.start,
                transmissions: 0,
                ..packet.piece(self.stamp(packet.at_ns, *all))
            });
            self.sent += packets;
            *all += packets;
        }
        let piece = packet.piece(self.stamp(packet.at_ns, *all));
        self.outstanding.push(Piece { start: packet.start.max(edges.next), ..piece });
        self.sent += 1;
        *all += 1;
        edges.next = packet.end;
        self.edges = Some(edges);
    }

    fn stamp(&self, at_ns: u64, all: u64) -> Stamp {
        Stamp { at_ns, packet: self.sent, packet_of_all: all }
    }

    /// Takes a packet whose data lie before the end of the stream.
    fn retransmitted(&mut self, packet: &Packet, edges: Edges, all: &mut u64, round_trip_ns: Option<u64>) {
        let stamp = self.stamp(packet.at_ns, *all);
        if packet.end <= edges.acknowledged {
            if packet.start >= edges.known {
                self.counts.retransmissions += 1;
                self.counts.spurious += 1;
                self.suspects.add(&Suspicion::of(packet, edges, stamp, true));
            }
            self.sent += 1;
            *all += 1;
            return;
        }
        let soon_ns = round_trip_ns.map_or(SOON_NS, |rtt| rtt / 4 * 3);
        let (suspects, sacked, idents) = (&mut self.suspects, &self.sacked, &self.idents);
        let (mut late, mut copy, mut needless) = (None, false, true);
        let behind = packet.start.max(edges.acknowledged);
        self.outstanding.between(behind, packet.end, self.size, |piece| {
            if piece.is_hole() && packet.is_late(piece, idents, soon_ns) {
                late = Some(piece.stamp.packet);
                piece.transmissions = 1;
                piece.stamp.at_ns = packet.at_ns;
                needless = false;
                return;
            }
            if packet.ident != 0 && packet.ident == piece.ident && !piece.is_hole() {
                copy = true;
                return;
            }
            let arrived = !piece.is_hole() && sacked.covers(piece.start, piece.end);
            needless &= arrived;
            suspects.add(&Suspicion {
                start: piece.start,
                end: piece.end,
                position: piece.start.saturating_sub(edges.start),
                sent: piece.stamp,
                transmission: piece.transmissions.max(1),
                repaired_at_ns: packet.at_ns,
                place: if piece.is_hole() { Place::Before } else { Place::Beyond },
                arrived,
            });
            let transmissions = piece.transmissions.max(1).saturating_add(1);
            *piece = Piece { start: piece.start, end: piece.end, transmissions, ..packet.piece(stamp) };
        });
        if copy {
            self.counts.copies += 1;
        } else if let Some(number) = late {
            self.counts.reordered += 1;
            // Between it and this one, all but the holes were seen.
            self.counts.reordering_extent =
                self.counts.reordering_extent.max(self.sent.saturating_sub(number + 1));
        } else {
            self.counts.retransmissions += 1;
            self.counts.spurious += u64::from(needless);
            self.sent += 1;
            *all += 1;
        }
    }

    /// Takes an acknowledgement of this direction's data.
    ///
    /// Returns the round-trip time from here to the receiver and back, if it says one.
    pub(crate) fn acknowledge(&mut self, segment: &Segment, at_ns: u64) -> Option<u64> {
        let mut edges = self.edges?;
        let below = position(edges.next, segment.acknowledgement)?;
        self.counts.acknowledgements += 1;
        self.blocks(segment, edges, below);
        if below <= edges.acknowledged {
            return None;
        }
        let taken = self.outstanding.take_below(below);
        self.counts.unseen += taken.unseen.div_ceil(u64::from(self.size.max(1)));
        let only_in_order = !self.sacked.reach_below(below);
        self.sacked.forget_below(below);
        // RFC 3522: what the receiver echoes is older than the retransmission, so it was the original.
        if let (Some(piece), Some(stamps)) = (taken.first, segment.options.stamps)
            && piece.transmissions == 2
            && !self.duplicates_reported
            && piece.stamp_value.is_some_and(|value| older(stamps.echo, value))
        {
            self.counts.spurious += u64::from(self.suspects.arrived(piece.start));
        }
        edges.acknowledged = below;
        if below > edges.next {
            let beyond = (below - edges.next).div_ceil(u64::from(self.size.max(1)));
            // The FIN's number alone is not a packet with data.
            self.counts.unseen += if below - edges.next > 1 { beyond } else { 0 };
            edges.next = below;
        }
        self.edges = Some(edges);
        let piece = taken.last.filter(|_| taken.unambiguous && only_in_order)?;
        let rtt_ns = at_ns.checked_sub(piece.stamp.at_ns)?;
        self.rtts.add(at_ns, rtt_ns);
        Some(rtt_ns)
    }

    /// SACK blocks (RFC 2018), of which the first may report duplicates (RFC 2883, section 4).
    fn blocks(&mut self, segment: &Segment, edges: Edges, below: u64) {
        let found = segment.options.blocks();
        let place = |block: &(u32, u32)| {
            let (start, end) = (position(edges.next, block.0)?, position(edges.next, block.1)?);
            (start < end && end <= edges.next).then_some((start, end))
        };
        let second = found.get(1).and_then(place);
        for (index, block) in found.iter().enumerate() {
            let Some((start, end)) = place(block) else { continue };
            let within = second.is_some_and(|other| other.0 <= start && end <= other.1);
            if index == 0 && (end <= below || within) {
                self.duplicates_reported = true;
                self.counts.spurious += self.suspects.duplicates(start, end);
            } else if end > edges.acknowledged {
                self.sacked.insert(start, end);
            }
        }
    }

    /// Losses, in the order in which the packets were sent; nothing is outstanding afterwards.
    pub(crate) fn finish(&mut self) -> Vec<Loss> {
        self.outstanding = Outstanding::default();
        self.sacked.clear();
        self.suspects.finish()
    }
}

/// A packet with data, as on the wire.
#[derive(Clone, Copy)]
struct Packet {
    start: u64,
    end: u64,
    at_ns: u64,
    stamp_value: Option<u32>,
    ident: u16,
}

impl Packet {
    fn piece(&self, stamp: Stamp) -> Piece {
        Piece {
            start: self.start,
            end: self.end,
            stamp,
            stamp_value: self.stamp_value,
            ident: self.ident,
            transmissions: 1,
        }
    }

    /// Whether this is what `hole` waited for, and no retransmission of it.
    ///
    /// Its sender stamped and numbered it before what came behind the hole. With equal stamps, or none, and
    /// numbers that say nothing, time decides: a retransmission takes a round trip from the moment that
    /// shows the hole.
    fn is_late(&self, hole: &Piece, idents: &Idents, soon_ns: u64) -> bool {
        match (self.stamp_value, hole.stamp_value) {
            (Some(own), Some(behind)) if own != behind => older(own, behind),
            _ => match idents.order(self.ident, hole.ident) {
                Some(order) => order.is_lt(),
                None => self.at_ns.saturating_sub(hole.stamp.at_ns) < soon_ns,
            },
        }
    }
}

impl Suspicion {
    fn of(packet: &Packet, edges: Edges, sent: Stamp, arrived: bool) -> Self {
        Suspicion {
            start: packet.start,
            end: packet.end,
            position: packet.start.saturating_sub(edges.start),
            sent,
            transmission: 1,
            repaired_at_ns: packet.at_ns,
            place: Place::Beyond,
            arrived,
        }
    }
}

/// Comparison of time stamps (RFC 7323, section 5.2).
fn older(one: u32, other: u32) -> bool {
    (one.wrapping_sub(other) as i32) < 0
}
