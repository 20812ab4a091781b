use crate::packet::Packet;
use longhaul_units::Time;

/// Packets on the way from one direction to the next, or to a host, and when they arrive.
///
/// A ring would do; a list that is moved up now and then lets whole runs be gone through as a slice.
#[derive(Debug)]
pub(super) struct Channel {
    /// The direction that they come from.
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
        self.gone += 1;
        self.taken.0 += 1;
        self.taken.1 += u64::from(next.1.bytes);
        Some(next)
    }

    /// Takes out all that arrive before an instant, one after the other.
    #[inline]
    pub fn take_before(&mut self, before: Time, mut each: impl FnMut(Time, Packet)) -> u64 {
        let (mut packets, mut bytes) = (0, 0);
        for &(at, packet) in &self.packets[self.gone..] {
            if at >= before {
                break;
            }
            packets += 1;
            bytes += u64::from(packet.bytes);
            each(at, packet);
        }
        self.gone += packets as usize;
        self.taken.0 += packets;
        self.taken.1 += bytes;
        packets
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
