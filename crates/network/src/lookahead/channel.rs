use crate::packet::Packet;
use longhaul_units::Time;

/// Packets on the way from one direction to the next, or to or from a host, and when they arrive.
///
/// A ring would do; a list that is moved up now and then lets whole runs be gone through as a slice.
#[derive(Debug)]
pub(super) struct Channel {
    /// The direction that they come from, if they come from one.
    pub from: u32,
    /// Packets taken out that their link has not been told of, and their bytes.
    pub taken: (u64, u64),
    packets: Vec<(Time, Packet)>,
    /// So many of them have been taken out.
    gone: usize,
}

impl Channel {
    pub fn new(from: u32) -> Self {
        Channel { from, taken: (0, 0), packets: Vec::new(), gone: 0 }
    }

    /// When the first one arrives.
    #[inline]
    pub fn first(&self) -> Option<Time> {
        self.packets.get(self.gone).map(|&(due, _)| due)
    }

    #[inline]
    pub fn push(&mut self, due: Time, packet: Packet) {
        if self.packets.len() == self.packets.capacity() {
            self.move_up();
        }
        self.packets.push((due, packet));
    }

    #[inline]
    pub fn take(&mut self) -> Option<(Time, Packet)> {
        let next = *self.packets.get(self.gone)?;
        self.forget(1, u64::from(next.1.bytes));
        Some(next)
    }

    /// All packets, the first ones first, to be changed and then [`move_on`](Self::move_on).
    #[inline]
    pub fn waiting(&mut self) -> &mut [(Time, Packet)] {
        &mut self.packets[self.gone..]
    }

    /// Takes out the first `count`, of so many bytes, for another one.
    #[inline]
    pub fn move_on(&mut self, count: usize, bytes: u64, onward: &mut Channel) {
        if onward.packets.capacity() - onward.packets.len() < count {
            onward.move_up();
        }
        onward.packets.extend_from_slice(&self.packets[self.gone..self.gone + count]);
        self.forget(count, bytes);
    }

    /// The first `count`, of so many bytes, have been taken out.
    #[inline]
    pub fn forget(&mut self, count: usize, bytes: u64) {
        self.gone += count;
        self.taken.0 += count as u64;
        self.taken.1 += bytes;
    }

    /// Takes out all there are, without telling anyone.
    pub fn drain(&mut self) -> impl Iterator<Item = (Time, Packet)> {
        let gone = std::mem::take(&mut self.gone);
        self.packets.drain(..).skip(gone)
    }

    #[inline(never)]
    fn move_up(&mut self) {
        // Less than half: it is cheaper to grow.
        if self.gone > self.packets.len() / 2 {
            self.packets.drain(..self.gone);
            self.gone = 0;
        }
    }
}
