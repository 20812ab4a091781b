//! The bytes of packets in flight.
//!
//! A super-packet stays whole in one slot while its segments travel the model one by one; the
//! slot is free again when the fate of the last segment is known. Slots come from pools of three
//! sizes that grow in chunks and never shrink, so that steady traffic allocates nothing.

use crate::shape::Shape;
use crate::tun::{LARGEST, VNET_HEADER};

/// Bytes of the largest header in front of a packet: Ethernet's, with two VLAN tags.
pub const MOST_LINK_HEADER: usize = 22;
/// Slot sizes: headers and small packets, jumbo frames, super-packets.
const CLASSES: [usize; 3] = [2_048, 10_240, LARGEST + MOST_LINK_HEADER];
/// Slots that a pool grows by.
const CHUNK: [usize; 3] = [4_096, 512, 128];

/// The bytes of all packets of a run that are in flight.
pub struct PacketPool {
    pools: [Pool; 3],
    bodies: Vec<Body>,
    free: Vec<u32>,
    /// A slot of the largest class that the next packet is read into.
    staging: u32,
    /// Chunks that had to be added while running.
    pub grown: u64,
    limit_bytes: usize,
    held_bytes: usize,
}

#[derive(Clone, Copy)]
struct Body {
    class: u8,
    slot: u32,
    /// Where the packet starts in its slot.
    start: u8,
    /// Bytes of the link-layer header in front of it; none if it is not a frame.
    link_header: u8,
    /// Bytes of the packet, without virtio and link-layer header.
    length: u32,
    references: u32,
    shape: Shape,
    /// The simulated packet that is counted with it; 0 if there is none.
    simulated: u32,
}

/// What a port has put into a buffer: a virtio header at its start, and a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Filled {
    /// Where the packet starts.
    pub start: usize,
    /// Where it ends.
    pub end: usize,
    /// Bytes of the link-layer header in front of it; none if it is not a frame.
    pub link_header: usize,
    /// Whether it is an IP packet.
    pub is_ip: bool,
}

impl Filled {
    /// An IP packet behind the virtio header, `bytes` with it.
    pub fn with_packet(bytes: usize) -> Self {
        Filled { start: VNET_HEADER, end: bytes, link_header: 0, is_ip: true }
    }
}

/// The result of a read of a port.
pub enum Arrival {
    /// Nothing waits.
    Nothing,
    /// A packet, now held once for each of its segments.
    Packet {
        /// Its handle.
        body: u32,
    },
    /// Bytes that are not an IP packet, or contradict their virtio header.
    Malformed,
    /// No memory is left for it.
    NoMemory,
}

impl PacketPool {
    /// Pools that grow up to `limit_bytes` together.
    pub fn new(limit_bytes: usize) -> Self {
        let mut pool = PacketPool {
            pools: [Pool::new(0), Pool::new(1), Pool::new(2)],
            bodies: Vec::with_capacity(8_192),
            free: Vec::with_capacity(8_192),
            staging: 0,
            grown: 0,
            limit_bytes,
            held_bytes: 0,
        };
        for class in 0..CLASSES.len() {
            pool.grow(class);
        }
        pool.staging = pool.pools[2].free.pop().unwrap_or_default();
        pool.grown = 0;
        pool
    }

    /// Takes in one packet with its virtio header, which `read` puts into the buffer that it is given, or `None`.
    pub fn read(
        &mut self,
        read: impl FnOnce(&mut [u8]) -> std::io::Result<Option<Filled>>,
    ) -> std::io::Result<Arrival> {
        let buffer = self.pools[2].slot_mut(self.staging);
        let Some(Filled { start, end: read, link_header, is_ip }) = read(buffer)? else {
            return Ok(Arrival::Nothing);
        };
        let (Some(header), Some(packet)) = (buffer.get(..VNET_HEADER), buffer.get(start..read)) else {
            return Ok(Arrival::Malformed);
        };
        let mut shape = if is_ip { Shape::of(header, packet) } else { None };
        if shape.is_none() && link_header > 0 {
            shape = Shape::opaque(header, packet);
        }
        let Some(shape) = shape else { return Ok(Arrival::Malformed) };
        let length = packet.len();
        let segments = shape.segments(length);
        let class = if read <= CLASSES[0] { 0 } else { usize::from(read > CLASSES[1]) + 1 };
        let Some(slot) = self.take_slot(class) else { return Ok(Arrival::NoMemory) };
        let slot = if class == 2 {
            std::mem::replace(&mut self.staging, slot)
        } else {
            let (small, large) = self.pools.split_at_mut(2);
            let from = large[0].slot_mut(self.staging);
            small[class].slot_mut(slot)[..read].copy_from_slice(&from[..read]);
            slot
        };
        let body = Body {
            class: class as u8,
            slot,
            start: start as u8,
            link_header: link_header as u8,
            length: length as u32,
            references: segments,
            shape,
            simulated: 0,
        };
        Ok(Arrival::Packet { body: self.add(body) })
    }

    /// Holds a packet that a router made; held once.
    pub fn create(&mut self, packet: &[u8]) -> Option<u32> {
        self.hold(&[0; VNET_HEADER], packet)
    }

    /// Holds a packet with its virtio header; held once.
    pub fn hold(&mut self, vnet: &[u8; VNET_HEADER], packet: &[u8]) -> Option<u32> {
        self.hold_as(Shape::of(vnet, packet)?, &[], packet)
    }

    /// Holds a frame with the virtio header of what it carries, which may be anything; held once.
    pub fn hold_frame(
        &mut self,
        vnet: &[u8; VNET_HEADER],
        link_header: &[u8],
        payload: &[u8],
    ) -> Option<u32> {
        let shape = Shape::of(vnet, payload).or_else(|| Shape::opaque(vnet, payload))?;
        self.hold_as(shape, link_header, payload)
    }

    /// Holds a frame that a router made, without a virtio header: its link-layer header, and what it carries; held once.
    pub fn create_frame(&mut self, frame: &[u8], link_header: usize) -> Option<u32> {
        let (link_header, payload) = frame.split_at_checked(link_header)?;
        self.hold_as(Shape::opaque(&[0; VNET_HEADER], payload)?, link_header, payload)
    }

    fn hold_as(&mut self, shape: Shape, link_header: &[u8], payload: &[u8]) -> Option<u32> {
        let start = VNET_HEADER + link_header.len();
        let end = start + payload.len();
        let class = CLASSES.iter().position(|&size| end <= size)?;
        let slot = self.take_slot(class)?;
        let room = self.pools[class].slot_mut(slot);
        room[VNET_HEADER..start].copy_from_slice(link_header);
        room[start..end].copy_from_slice(payload);
        Some(self.add(Body {
            class: class as u8,
            slot,
            start: start as u8,
            link_header: link_header.len() as u8,
            length: payload.len() as u32,
            references: 1,
            shape,
            simulated: 0,
        }))
    }

    /// Takes the link-layer header off a frame.
    pub fn remove_link_header(&mut self, body: u32) {
        self.bodies[body as usize].link_header = 0;
    }

    /// The bytes of the packet: an IP packet, or what else a frame carries.
    pub fn packet(&self, body: u32) -> &[u8] {
        let body = &self.bodies[body as usize];
        let start = usize::from(body.start);
        &self.pools[usize::from(body.class)].slot(body.slot)[start..start + body.length as usize]
    }

    /// The link-layer header of a frame; empty for a packet that is not a frame.
    pub fn link_header(&self, body: u32) -> &[u8] {
        let body = &self.bodies[body as usize];
        let start = usize::from(body.start);
        &self.pools[usize::from(body.class)].slot(body.slot)[start - usize::from(body.link_header)..start]
    }

    /// How the packet divides into segments.
    pub fn shape(&self, body: u32) -> Shape {
        self.bodies[body as usize].shape
    }

    /// Counts a simulated packet, by its body, with a packet.
    pub fn set_simulated_body(&mut self, body: u32, simulated_body: u32) {
        self.bodies[body as usize].simulated = simulated_body;
    }

    /// The body of the simulated packet that is counted with a packet.
    #[inline]
    pub fn simulated_body(&self, body: u32) -> Option<u32> {
        Some(self.bodies[body as usize].simulated).filter(|&simulated_body| simulated_body != 0)
    }

    /// One more segment holds the body.
    pub fn retain(&mut self, body: u32) {
        self.bodies[body as usize].references += 1;
    }

    /// `segments` of the body have met their fate.
    pub fn release(&mut self, body: u32, segments: u32) {
        let held = &mut self.bodies[body as usize];
        held.references = held.references.saturating_sub(segments);
        if held.references == 0 {
            let (class, slot) = (usize::from(held.class), held.slot);
            self.pools[class].free.push(slot);
            self.free.push(body);
        }
    }

    fn add(&mut self, body: Body) -> u32 {
        if let Some(index) = self.free.pop() {
            self.bodies[index as usize] = body;
            index
        } else {
            self.bodies.push(body);
            (self.bodies.len() - 1) as u32
        }
    }

    fn take_slot(&mut self, class: usize) -> Option<u32> {
        if self.pools[class].free.is_empty() {
            self.grow(class);
        }
        self.pools[class].free.pop()
    }

    fn grow(&mut self, class: usize) {
        let bytes = CLASSES[class] * CHUNK[class];
        if self.held_bytes + bytes <= self.limit_bytes || self.pools[class].chunks.is_empty() {
            self.pools[class].grow();
            self.held_bytes += bytes;
            self.grown += 1;
        }
    }
}

/// Slots of one size.
struct Pool {
    class: usize,
    chunks: Vec<Box<[u8]>>,
    free: Vec<u32>,
}

impl Pool {
    fn new(class: usize) -> Self {
        Pool { class, chunks: Vec::with_capacity(256), free: Vec::new() }
    }

    fn grow(&mut self) {
        let (size, count) = (CLASSES[self.class], CHUNK[self.class]);
        let first = (self.chunks.len() * count) as u32;
        let mut chunk = vec![0u8; size * count].into_boxed_slice();
        // Touch every page now rather than while a packet waits.
        for page in chunk.chunks_mut(4_096) {
            page[0] = 1;
        }
        self.chunks.push(chunk);
        self.free.reserve(count * self.chunks.len());
        self.free.extend((first..first + count as u32).rev());
    }

    fn slot(&self, slot: u32) -> &[u8] {
        let (chunk, start) = self.place(slot);
        &self.chunks[chunk][start..start + CLASSES[self.class]]
    }

    fn slot_mut(&mut self, slot: u32) -> &mut [u8] {
        let (chunk, start) = self.place(slot);
        &mut self.chunks[chunk][start..start + CLASSES[self.class]]
    }

    fn place(&self, slot: u32) -> (usize, usize) {
        let count = CHUNK[self.class];
        (slot as usize / count, slot as usize % count * CLASSES[self.class])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ipv4(length: usize) -> Vec<u8> {
        let mut packet = vec![0u8; length];
        packet[0] = 0x45;
        packet[2..4].copy_from_slice(&(length as u16).to_be_bytes());
        packet
    }

    #[test]
    fn a_released_body_gives_its_slot_back() {
        let mut pool = PacketPool::new(usize::MAX);
        let free = pool.pools[0].free.len();
        let body = pool.create(&ipv4(100)).unwrap();
        pool.retain(body);
        pool.release(body, 1);
        assert_eq!(pool.pools[0].free.len(), free - 1);
        pool.release(body, 1);
        assert_eq!(pool.pools[0].free.len(), free);
    }

    #[test]
    fn pools_stop_growing_at_the_limit() {
        let mut pool = PacketPool::new(0);
        let made = (0..).map_while(|_| pool.create(&ipv4(100))).count();
        assert_eq!(made, CHUNK[0]);
    }
}
