//! All connections of a capture.

use crate::Error;
use crate::connection::{Connection, View};
use crate::headers::{LinkLayer, Without, frame};
use crate::order::{InOrder, Sighting};
use crate::packets::{Interface, Packet};
use crate::samples::RoundTrips;
use crate::suspects::Loss;
use crate::tcp::Segment;
use serde::Serialize;
use std::collections::BTreeMap;
use std::net::SocketAddr;

/// Connections of a capture at most.
const MOST: usize = 100_000;
/// Pieces outstanding in all connections together at most: 150 MB.
const MOST_OUTSTANDING: usize = 1 << 21;
/// A connection that is silent for so long is over.
const IDLE_NS: u64 = 600_000_000_000;
/// Packets between two searches for such connections.
const SEARCH_EVERY: u64 = 1 << 16;

/// Data that one end of a connection sent to the other.
#[derive(Clone, Debug, Serialize)]
pub struct Flow {
    /// Where it was captured: the interface, or the end of a link that a run captured.
    pub interface: String,
    /// Address and port of who sent the data.
    pub sender: SocketAddr,
    /// Address and port of who received them.
    pub receiver: SocketAddr,
    /// Time of the first packet with data, since 1970.
    pub first_ns: u64,
    /// Time of the last packet with data.
    pub last_ns: u64,
    /// Packets with data that were seen, as on the wire: what an adapter cuts or joins counts as its parts.
    pub packets: u64,
    /// Bytes of data in them.
    pub bytes: u64,
    /// Retransmitted packets with data.
    pub retransmissions: u64,
    /// Spurious retransmissions: the data had arrived.
    pub spurious: u64,
    /// Packets that arrived behind packets sent later.
    pub reordered: u64,
    /// By how many packets at most (RFC 4737, section 4.2.1).
    pub reordering_extent: u64,
    /// Packets that were captured twice, or doubled by the network.
    pub copies: u64,
    /// Packets that the receiver has and the capture has not.
    pub unseen: u64,
    /// Packets larger than the connection's segments: captured before they were cut, or after they were
    /// joined.
    pub joined: u64,
    /// Packets whose sequence numbers are too far from all others to belong to them.
    pub astray: u64,
    /// Packets given up because too many were unacknowledged.
    pub forgotten: u64,
    /// Acknowledgements of these data.
    pub acknowledgements: u64,
    /// From the capture to the receiver and back, by data and their acknowledgements.
    pub rtts: RoundTrips,
    /// Shortest time from the capture to the sender and back.
    pub sender_ns: Option<u64>,
    /// Shortest time from the capture to the receiver and back.
    pub receiver_ns: Option<u64>,
    /// Where the capture was taken.
    pub view: View,
    /// Transmissions that did not arrive, in the order in which they were sent.
    #[serde(skip)]
    pub losses: Vec<Loss>,
}

/// Packets of a capture by what is in them.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Tally {
    /// All.
    pub packets: u64,
    /// TCP.
    pub tcp: u64,
    /// IP with something else in it.
    pub other: u64,
    /// No IP.
    pub no_ip: u64,
    /// Fragments, which are left out.
    pub fragments: u64,
    /// Cut before the end of the TCP header, or contradictory.
    pub cut: u64,
    /// Of interfaces whose link layer cannot be read.
    pub unreadable: u64,
    /// Time of the first packet, since 1970.
    pub first_ns: u64,
    /// Time of the last packet.
    pub last_ns: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    lower: SocketAddr,
    upper: SocketAddr,
    place: u32,
    index: u32,
}

#[derive(Default)]
pub(crate) struct Flows {
    pub(crate) tally: Tally,
    open: BTreeMap<Key, usize>,
    /// Where the last packet belonged.
    last: Option<(Key, usize)>,
    connections: Vec<Option<Box<Connection>>>,
    begun: usize,
    /// Packets with data, at each place.
    sent: Vec<u64>,
    outstanding: usize,
    waiting: InOrder,
    closed: Vec<(usize, Flow)>,
}

impl Flows {
    pub(crate) fn take(&mut self, packet: &Packet<'_>, interfaces: &[Interface]) -> Result<(), Error> {
        if self.tally.packets == 0 {
            self.tally.first_ns = packet.at_ns;
        }
        self.tally.packets += 1;
        self.tally.last_ns = self.tally.last_ns.max(packet.at_ns);
        if self.tally.packets.is_multiple_of(SEARCH_EVERY) {
            self.close_idle(packet.at_ns, interfaces);
        }
        let Some(interface) = interfaces.get(packet.interface) else { return Ok(()) };
        let Some((segment, index)) = self.segment(interface.link_layer, packet) else { return Ok(()) };
        self.tally.tcp += 1;
        let sighting = Sighting { at_ns: packet.at_ns, place: interface.place, index, segment };
        if !interface.of_run {
            return self.see(&sighting, interfaces);
        }
        let earliest = self.waiting.exchange(sighting);
        earliest.map_or(Ok(()), |sighting| self.see(&sighting, interfaces))
    }

    /// Takes what still waits, at the end of the file.
    pub(crate) fn take_waiting(&mut self, interfaces: &[Interface]) -> Result<(), Error> {
        while let Some(sighting) = self.waiting.take() {
            self.see(&sighting, interfaces)?;
        }
        Ok(())
    }

    fn see(&mut self, sighting: &Sighting, interfaces: &[Interface]) -> Result<(), Error> {
        let &Sighting { at_ns, place, index, ref segment } = sighting;
        let number = self.find(segment, place, index, interfaces)?;
        if self.sent.len() <= place {
            self.sent.resize(place + 1, 0);
        }
        let Some(connection) = self.connections[number].as_deref_mut() else { return Ok(()) };
        let before = connection.outstanding();
        connection.take(segment, at_ns, &mut self.sent[place]);
        self.outstanding = self.outstanding + connection.outstanding() - before;
        while self.outstanding > MOST_OUTSTANDING {
            let longer = connection.directions.iter_mut().max_by_key(|direction| direction.outstanding());
            match longer.filter(|direction| direction.outstanding() > 0) {
                Some(direction) => direction.forget_first(),
                None => break,
            }
            self.outstanding -= 1;
        }
        Ok(())
    }

    fn segment(&mut self, link_layer: Option<LinkLayer>, packet: &Packet<'_>) -> Option<(Segment, u32)> {
        let Some(link_layer) = link_layer else {
            self.tally.unreadable += 1;
            return None;
        };
        let count = match frame(link_layer, packet.bytes, packet.length) {
            Ok(found) => return Some(found),
            Err(Without::Ip) => &mut self.tally.no_ip,
            Err(Without::Tcp) => &mut self.tally.other,
            Err(Without::Whole) => &mut self.tally.fragments,
            Err(Without::Header) => &mut self.tally.cut,
        };
        *count += 1;
        None
    }

    /// The connection that a segment belongs to; a new one if need be.
    fn find(
        &mut self,
        segment: &Segment,
        place: usize,
        index: u32,
        interfaces: &[Interface],
    ) -> Result<usize, Error> {
        let (one, other) = (segment.source, segment.destination);
        let key = Key { lower: one.min(other), upper: one.max(other), place: place as u32, index };
        let found = match self.last {
            Some((last, number)) if last == key => Some(number),
            _ => self.open.get(&key).copied(),
        };
        if let Some(number) = found {
            let over = self.connections[number].as_ref().is_some_and(|each| each.is_over(segment));
            if !over {
                self.last = Some((key, number));
                return Ok(number);
            }
            self.close(number, interfaces);
        }
        if self.begun == MOST {
            let message = format!("there are more than {MOST} connections");
            let remedy = "keep some: tcpdump -r FILE -w SOME host ADDRESS";
            return Err(Error::anywhere(message, remedy));
        }
        let number = self.connections.len();
        self.connections.push(Some(Box::new(Connection::new(place as u32, segment))));
        self.begun += 1;
        self.open.insert(key, number);
        self.last = Some((key, number));
        Ok(number)
    }

    fn close_idle(&mut self, now_ns: u64, interfaces: &[Interface]) {
        let connections = &self.connections;
        let idle = |number: usize| {
            connections[number].as_ref().is_none_or(|each| each.last_ns.saturating_add(IDLE_NS) < now_ns)
        };
        let over: Vec<usize> = self.open.values().copied().filter(|&number| idle(number)).collect();
        self.open.retain(|_, number| !idle(*number));
        self.last = None;
        for number in over {
            self.close(number, interfaces);
        }
    }

    fn close(&mut self, number: usize, interfaces: &[Interface]) {
        let Some(mut connection) = self.connections[number].take() else { return };
        self.outstanding -= connection.outstanding();
        for each in 0..2 {
            let [sender_ns, receiver_ns] = connection.turns(each);
            let view = connection.view(each);
            let direction = &mut connection.directions[each];
            let Some(first_ns) = direction.first_ns else { continue };
            let losses = direction.finish();
            let counts = &direction.counts;
            let flow = Flow {
                interface: interfaces[connection.place as usize].name.clone(),
                sender: connection.ends[each],
                receiver: connection.ends[1 - each],
                first_ns,
                last_ns: direction.last_ns,
                packets: counts.packets,
                bytes: counts.bytes,
                retransmissions: counts.retransmissions,
                spurious: counts.spurious,
                reordered: counts.reordered,
                reordering_extent: counts.reordering_extent,
                copies: counts.copies,
                unseen: counts.unseen,
                joined: counts.joined,
                astray: counts.astray,
                forgotten: counts.forgotten,
                acknowledgements: counts.acknowledgements,
                rtts: std::mem::take(&mut direction.rtts),
                sender_ns,
                receiver_ns,
                view,
                losses,
            };
            self.closed.push((number, flow));
        }
    }

    /// All flows with data, in the order in which their connections began.
    pub(crate) fn finish(&mut self, interfaces: &[Interface]) -> Vec<Flow> {
        for number in 0..self.connections.len() {
            self.close(number, interfaces);
        }
        let mut flows = std::mem::take(&mut self.closed);
        flows.sort_by_key(|&(number, _)| number);
        flows.into_iter().map(|(_, flow)| flow).collect()
    }
}
