use crate::packet::Packet;
use longhaul_link::Transit;
use longhaul_units::Time;

/// Packets on the way from one direction to the next, or to or from a host, and when they arrive.
///
/// One cache line: in a large network, each is far from the last one that was used.
#[derive(Debug)]
#[repr(align(64))]
pub(super) struct Channel {
    /// The direction that they come from, if they come from one.
    pub from: u32,
    /// Packets taken out that their link does not count yet, and their bytes.
    pub taken: (u64, u64),
    packets: Transit<Packet>,
}

impl Channel {
    pub fn new(from: u32) -> Self {
        Channel { from, taken: (0, 0), packets: Transit::default() }
    }

    /// When the first one arrives.
    #[inline]
    pub fn first(&self) -> Option<Time> {
        self.packets.first()
    }

    #[inline]
    pub fn push(&mut self, due: Time, packet: Packet) {
        self.packets.push(due, packet);
    }

    /// Adds a copy of `entry`, which may then be changed.
    #[inline]
    pub fn append(&mut self, entry: &(Time, Packet)) -> Option<&mut (Time, Packet)> {
        self.packets.append(entry)
    }

    /// Adds `packets`, the first ones first.
    #[inline]
    pub fn extend(&mut self, packets: &[(Time, Packet)]) {
        self.packets.extend(packets);
    }

    /// Takes out the first one, if it arrives by `until`.
    #[inline]
    pub fn take(&mut self, until: Time) -> Option<(Time, Packet)> {
        let next = self.packets.take(until)?;
        self.count(1, u64::from(next.1.bytes));
        Some(next)
    }

    /// All packets, the first ones first, to be changed and then [`move_on`](Self::move_on).
    #[inline]
    pub fn waiting(&mut self) -> &mut [(Time, Packet)] {
        self.packets.waiting()
    }

    /// Takes out the first `count`, of so many bytes, for another one.
    #[inline]
    pub fn move_on(&mut self, count: usize, bytes: u64, onward: &mut Channel) {
        self.packets.move_on(count, &mut onward.packets);
        self.count(count, bytes);
    }

    /// The first `count`, of so many bytes, have been taken out.
    #[inline]
    pub fn forget(&mut self, count: usize, bytes: u64) {
        self.packets.forget(count);
        self.count(count, bytes);
    }

    /// All packets, of which none has been taken out, to be emptied without being counted.
    pub fn all(&mut self) -> &mut Vec<(Time, Packet)> {
        self.packets.all()
    }

    /// Takes out all packets, without counting them.
    pub fn drain(&mut self) -> impl Iterator<Item = (Time, Packet)> {
        self.packets.drain()
    }

    fn count(&mut self, packets: usize, bytes: u64) {
        self.taken.0 += packets as u64;
        self.taken.1 += bytes;
    }
}
