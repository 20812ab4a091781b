//! Packets that are due, gathered by the host that they go to: consecutive segments of a flow are written as one
//! super-packet.
//!
//! Nothing waits here for a packet that is not yet due, unless the clock waits for packets. An engine that is on time gathers one packet, or the segments
//! that the link gives out together; one that is late gathers what became due during its last write, and so writes
//! fewer, larger packets the later it is.

use crate::packet_pool::PacketPool;
use crate::shape::{HeaderChanges, Run};
use longhaul_network::{DirectionId, Packet};
use longhaul_units::{Span, Time};

/// Most segments that are gathered before all are written.
const MOST_SEGMENTS: usize = 64;
/// Most parts of a written packet: its headers, and the payload of each piece.
pub const MOST_PARTS: usize = MOST_SEGMENTS + 1;

/// Segments that are written to a host as one packet.
#[derive(Debug)]
pub struct Batch {
    pub host: usize,
    pub flow: u32,
    pub via: Option<DirectionId>,
    pub changes: HeaderChanges,
    pub damage: u32,
    pub run: Run,
    /// Where the segments are, in order.
    pub pieces: Vec<Piece>,
    /// When each segment was due, in order.
    pub dues: Vec<Time>,
}

/// Consecutive segments of one body.
#[derive(Clone, Copy, Debug)]
pub struct Piece {
    pub body: u32,
    pub first: u32,
    pub count: u32,
}

/// A packet that leaves the network.
pub struct Departing<'a> {
    pub host: usize,
    pub packet: &'a Packet,
    pub due: Time,
    pub via: Option<DirectionId>,
}

/// At most one batch for each host.
#[derive(Debug)]
pub struct Batches {
    open: Vec<Batch>,
    segments: usize,
    /// Batches whose memory is used again.
    spare: Vec<Batch>,
    /// How far apart the due times of joined segments may be; `None` if none are joined.
    within: Option<Span>,
}

impl Batches {
    pub fn new(within: Option<Span>) -> Self {
        Batches {
            open: Vec::with_capacity(MOST_SEGMENTS),
            segments: 0,
            spare: Vec::with_capacity(MOST_SEGMENTS),
            within,
        }
    }

    /// Adds a packet to the batch of its host, or begins one. Returns the batch that must be written before: that
    /// of the host, if the packet cannot join it.
    pub fn add(&mut self, departing: &Departing<'_>, pool: &PacketPool) -> Option<Batch> {
        let place = self.open.iter().position(|batch| batch.host == departing.host);
        if let Some(place) = place
            && let Some(within) = self.within
            && self.open[place].starts_within(within, departing.due)
            && self.open[place].join(departing, pool)
        {
            self.segments += 1;
            return None;
        }
        let before = place.map(|place| self.open.remove(place));
        self.segments -= before.as_ref().map_or(0, |batch| batch.dues.len());
        let mut batch = self.spare.pop().unwrap_or_else(Batch::empty);
        batch.begin(departing, pool);
        self.open.push(batch);
        self.segments += 1;
        before
    }

    /// Whether what has been gathered must be written before more is added.
    pub fn are_full(&self) -> bool {
        self.segments >= MOST_SEGMENTS || self.within.is_none()
    }

    /// The batch that was begun first.
    pub fn take(&mut self) -> Option<Batch> {
        if self.open.is_empty() {
            return None;
        }
        let batch = self.open.remove(0);
        self.segments -= batch.dues.len();
        Some(batch)
    }

    /// Gives the memory of a batch that was written back.
    pub fn recycle(&mut self, batch: Batch) {
        self.spare.push(batch);
    }
}

impl Batch {
    fn empty() -> Self {
        Batch {
            host: 0,
            flow: 0,
            via: None,
            changes: HeaderChanges { hops: 0, class: 0 },
            damage: 0,
            run: Run::default(),
            pieces: Vec::with_capacity(MOST_SEGMENTS),
            dues: Vec::with_capacity(MOST_SEGMENTS),
        }
    }

    fn begin(&mut self, departing: &Departing<'_>, pool: &PacketPool) {
        let packet = departing.packet;
        let first = u32::from(packet.segment);
        self.host = departing.host;
        self.flow = packet.flow;
        self.via = departing.via;
        self.changes = changes(packet, pool);
        self.damage = packet.damage;
        self.run = pool.shape(packet.body).run(pool.packet(packet.body), first, 1);
        self.pieces.clear();
        self.pieces.push(Piece { body: packet.body, first, count: 1 });
        self.dues.clear();
        self.dues.push(departing.due);
    }

    /// Whether its first segment was due at most `span` before `due`.
    fn starts_within(&self, span: Span, due: Time) -> bool {
        self.dues.first().is_some_and(|&first| due.since(first) <= span)
    }

    /// Adds a segment if it continues the batch.
    fn join(&mut self, departing: &Departing<'_>, pool: &PacketPool) -> bool {
        let packet = departing.packet;
        let same = self.flow == packet.flow
            && self.via == departing.via
            && self.changes == changes(packet, pool)
            && self.damage == 0
            && packet.damage == 0;
        let (Some(&start), Some(&last)) = (self.pieces.first(), self.pieces.last()) else { return false };
        let index = u32::from(packet.segment);
        if !same || self.run.closed || pool.link_header(start.body) != pool.link_header(packet.body) {
            return false;
        }
        let continues = last.body == packet.body && last.first + last.count == index;
        let (shape, bytes) = (pool.shape(start.body), pool.packet(start.body));
        if continues && self.pieces.len() == 1 {
            self.run = shape.run(bytes, start.first, self.run.count + 1);
        } else {
            let (other, next) = (pool.shape(packet.body), pool.packet(packet.body));
            let Some(run) = shape.join(bytes, &self.run, (&other, next, index)) else { return false };
            self.run = run;
        }
        match self.pieces.last_mut() {
            Some(last) if continues => last.count += 1,
            _ => self.pieces.push(Piece { body: packet.body, first: index, count: 1 }),
        }
        self.dues.push(departing.due);
        true
    }
}

/// Changes of a packet's headers by the network. Routers carry frames without a look at the TTL of what is in them.
pub fn changes(packet: &Packet, pool: &PacketPool) -> HeaderChanges {
    let hops = if pool.link_header(packet.body).is_empty() { packet.hops } else { 0 };
    HeaderChanges { hops, class: packet.class }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tun::VNET_HEADER;
    use longhaul_network::{Flags, NodeId};

    const ANY: Option<Span> = Some(Span::from_s(1));

    /// A datagram of 100 bytes from port `port`, as a host hands it over, and the packet that travels.
    fn datagram(pool: &mut PacketPool, port: u8) -> Packet {
        let mut bytes = [0u8; 128];
        bytes[0] = 0x45;
        bytes[3] = 128;
        bytes[6] = 0x40;
        bytes[9] = 17;
        bytes[21] = port;
        bytes[25] = 108;
        // The receiver completes the checksum, at byte 6 of the header at 20.
        let mut vnet = [0u8; VNET_HEADER];
        vnet[0] = 1;
        vnet[6..8].copy_from_slice(&20u16.to_ne_bytes());
        vnet[8..10].copy_from_slice(&6u16.to_ne_bytes());
        let body = pool.hold(&vnet, &bytes).unwrap();
        let flow = u32::from(port);
        Packet {
            body,
            segment: 0,
            segments: 1,
            bytes: 128,
            source: NodeId(0),
            destination: NodeId(1),
            ttl: 64,
            hops: 0,
            flags: Flags::empty(),
            class: 0,
            flow,
            damage: 0,
            offered: Time::ZERO,
        }
    }

    /// Adds a datagram of `port` to `host`, due `us` after the start.
    fn add(
        batches: &mut Batches,
        pool: &mut PacketPool,
        (host, port, us): (usize, u8, u64),
    ) -> Option<Batch> {
        let packet = datagram(pool, port);
        let due = Time::ZERO + Span::from_us(us);
        batches.add(&Departing { host, packet: &packet, due, via: None }, pool)
    }

    #[test]
    fn datagrams_of_a_flow_gather_although_packets_of_other_hosts_are_between() {
        let (mut batches, mut pool) = (Batches::new(ANY), PacketPool::new(usize::MAX));
        for us in 0..3 {
            assert!(add(&mut batches, &mut pool, (1, 7, 2 * us)).is_none());
        }
        assert!(add(&mut batches, &mut pool, (2, 9, 5)).is_none());
        assert!(add(&mut batches, &mut pool, (1, 7, 6)).is_none());
        let batch = batches.take().unwrap();
        assert_eq!((batch.host, batch.run.count, batch.run.payload), (1, 4, 400));
        let dues: Vec<u64> = batch.dues.iter().map(|due| due.ns() / 1_000).collect();
        assert_eq!(dues, [0, 2, 4, 6], "each keeps the time at which it was due");
        assert_eq!(batches.take().unwrap().host, 2);
        assert!(batches.take().is_none());
    }

    #[test]
    fn a_packet_of_another_flow_leaves_after_those_that_its_host_gets_before() {
        let (mut batches, mut pool) = (Batches::new(ANY), PacketPool::new(usize::MAX));
        add(&mut batches, &mut pool, (1, 7, 0));
        let before = add(&mut batches, &mut pool, (1, 8, 1)).unwrap();
        assert_eq!((before.flow, before.run.count), (7, 1));
        assert_eq!(batches.take().unwrap().flow, 8);
    }

    #[test]
    fn segments_that_are_due_too_far_apart_are_not_joined() {
        let (mut batches, mut pool) = (Batches::new(Some(Span::from_us(10))), PacketPool::new(usize::MAX));
        for us in [0, 5, 10] {
            assert!(add(&mut batches, &mut pool, (1, 7, us)).is_none());
        }
        assert_eq!(add(&mut batches, &mut pool, (1, 7, 11)).unwrap().run.count, 3);
        assert_eq!(batches.take().unwrap().run.count, 1);
    }

    #[test]
    fn a_damaged_packet_is_written_alone() {
        let (mut batches, mut pool) = (Batches::new(ANY), PacketPool::new(usize::MAX));
        add(&mut batches, &mut pool, (1, 7, 0));
        let packet = Packet { damage: 1, ..datagram(&mut pool, 7) };
        let departing = Departing { host: 1, packet: &packet, due: Time::ZERO, via: None };
        assert!(batches.add(&departing, &pool).is_some());
        assert!(add(&mut batches, &mut pool, (1, 7, 0)).is_some());
    }

    #[test]
    fn batches_are_full_with_64_segments_or_at_once_if_nothing_is_joined() {
        let (mut batches, mut pool) = (Batches::new(ANY), PacketPool::new(usize::MAX));
        let added = (0..).take_while(|_| {
            add(&mut batches, &mut pool, (1, 7, 0));
            !batches.are_full()
        });
        assert_eq!(added.count(), MOST_SEGMENTS - 1);
        let mut alone = Batches::new(None);
        add(&mut alone, &mut pool, (1, 7, 0));
        assert!(alone.are_full());
    }
}
