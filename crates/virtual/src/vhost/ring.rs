//! A split virtqueue (VIRTIO 1.2, section 2.7) in the guest's memory, as the device sees it.
//!
//! Nothing in a ring is trusted: each index is checked where it is read, a chain has at most as many descriptors as the
//! queue, and memory is accessed through [`Memory`], which checks addresses.

use std::sync::atomic::{Ordering, fence};

use super::error::RingFault;
use super::memory::Memory;
use super::protocol::{Queue, RingAddresses};

const MOST_DESCRIPTORS: u32 = 32768;
const DESCRIPTOR_BYTES: u64 = 16;
const USED_ELEMENT_BYTES: u64 = 8;
/// Flags and index in front of the elements of both rings.
const RING_HEADER_BYTES: u64 = 4;

const DESC_F_NEXT: u16 = 1;
const DESC_F_WRITE: u16 = 2;
const USED_F_NO_NOTIFY: u16 = 1;
const AVAIL_F_NO_INTERRUPT: u16 = 1;

/// A buffer of the guest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    pub address: u64,
    pub bytes: u32,
}

/// A chain whose buffers the device has finished with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Used {
    /// Its first descriptor.
    pub head: u16,
    /// Bytes that were written into its buffers.
    pub written: u32,
}

/// Where a ring is, and how far the device has come in it.
#[derive(Debug)]
pub struct Ring {
    queue: Queue,
    size: u16,
    /// Guest physical addresses.
    addresses: RingAddresses,
    next_available: u16,
    next_used: u16,
}

/// The size of a queue, which must be a power of two.
pub fn checked_size(size: u32) -> Result<u16, RingFault> {
    if size.is_power_of_two() && size <= MOST_DESCRIPTORS {
        Ok(size as u16)
    } else {
        Err(RingFault::Size(size))
    }
}

impl Ring {
    /// The ring of `size` descriptors at `user`, addresses in the front end's address space. The device begins at chain
    /// `base`.
    pub fn new(
        queue: Queue,
        memory: &Memory,
        size: u16,
        user: RingAddresses,
        base: u16,
    ) -> Result<Self, RingFault> {
        let count = u64::from(size);
        let place = |part, user: u64, bytes, alignment| {
            let address = memory.guest_address(user, bytes)?;
            if address.is_multiple_of(alignment) {
                Ok(address)
            } else {
                Err(RingFault::Alignment { part, address, alignment })
            }
        };
        let addresses = RingAddresses {
            descriptors: place("descriptor table", user.descriptors, DESCRIPTOR_BYTES * count, 16)?,
            available: place("available ring", user.available, RING_HEADER_BYTES + 2 * count, 2)?,
            used: place("used ring", user.used, RING_HEADER_BYTES + USED_ELEMENT_BYTES * count, 4)?,
        };
        let next_used = memory.load_u16(addresses.used + 2)?;
        Ok(Ring { queue, size, addresses, next_available: base, next_used })
    }

    /// How many chains the driver has made available that the device has not taken.
    pub fn waiting(&self, memory: &Memory) -> Result<u16, RingFault> {
        let available = memory.load_u16(self.addresses.available + 2)?;
        let waiting = available.wrapping_sub(self.next_available);
        // A descriptor that was not given back cannot be made available again.
        let held = available.wrapping_sub(self.next_used);
        let chains = waiting.max(held);
        if chains > self.size {
            return Err(RingFault::TooManyChains { chains, size: self.size });
        }
        Ok(waiting)
    }

    /// How many of the waiting chains come before index `until` of the available ring.
    pub fn waiting_until(&self, memory: &Memory, until: u16) -> Result<u16, RingFault> {
        let (chains, waiting) = (until.wrapping_sub(self.next_available), self.waiting(memory)?);
        if chains > waiting { Err(RingFault::NotAvailable { chains, waiting }) } else { Ok(chains) }
    }

    /// The first descriptor of the waiting chain number `offset`, which must be below [`Self::waiting`].
    pub fn head(&self, memory: &Memory, offset: u16) -> Result<u16, RingFault> {
        let slot = self.next_available.wrapping_add(offset) % self.size;
        memory.load_u16(self.addresses.available + RING_HEADER_BYTES + 2 * u64::from(slot))
    }

    /// Appends the buffers of the chain at `head`, and returns their total length, which is not 0.
    pub fn chain(&self, memory: &Memory, head: u16, segments: &mut Vec<Segment>) -> Result<u64, RingFault> {
        // The guest writes the buffers of one queue and reads those of the other.
        let direction = match self.queue {
            Queue::Receive => DESC_F_WRITE,
            Queue::Transmit => 0,
        };
        let (mut index, mut total) = (head, 0);
        for _ in 0..self.size {
            if index >= self.size {
                return Err(RingFault::NoDescriptor { index, size: self.size });
            }
            let mut descriptor = [0; DESCRIPTOR_BYTES as usize];
            let at = self.addresses.descriptors + DESCRIPTOR_BYTES * u64::from(index);
            memory.read(at, &mut descriptor)?;
            let [address @ .., _, _, _, _, _, _, _, _] = descriptor;
            let [_, _, _, _, _, _, _, _, l0, l1, l2, l3, f0, f1, n0, n1] = descriptor;
            let (address, bytes) = (u64::from_le_bytes(address), u32::from_le_bytes([l0, l1, l2, l3]));
            let (flags, next) = (u16::from_le_bytes([f0, f1]), u16::from_le_bytes([n0, n1]));
            // Indirect descriptors are not offered.
            if flags & !DESC_F_NEXT != direction {
                return Err(RingFault::DescriptorFlags { index, flags });
            }
            if bytes > 0 {
                memory.check(address, u64::from(bytes))?;
                segments.push(Segment { address, bytes });
            }
            total += u64::from(bytes);
            if flags & DESC_F_NEXT == 0 {
                return if total == 0 { Err(RingFault::EmptyChain { head }) } else { Ok(total) };
            }
            index = next;
        }
        Err(RingFault::Loop { head })
    }

    /// Takes the next `count` waiting chains, which must be at most [`Self::waiting`].
    pub fn take(&mut self, count: u16) {
        self.next_available = self.next_available.wrapping_add(count);
    }

    /// Gives chains back to the driver, which sees all of them or none.
    pub fn give_back(&mut self, memory: &Memory, chains: &[Used]) -> Result<(), RingFault> {
        for used in chains {
            let slot = u64::from(self.next_used % self.size);
            let mut element = [0; USED_ELEMENT_BYTES as usize];
            element[..4].copy_from_slice(&u32::from(used.head).to_le_bytes());
            element[4..].copy_from_slice(&used.written.to_le_bytes());
            memory.write(self.addresses.used + RING_HEADER_BYTES + USED_ELEMENT_BYTES * slot, &element)?;
            self.next_used = self.next_used.wrapping_add(1);
        }
        memory.store_u16(self.addresses.used + 2, self.next_used)
    }

    /// Asks the driver not to tell of chains that it makes available.
    pub fn suppress_kicks(&self, memory: &Memory) -> Result<(), RingFault> {
        memory.store_u16(self.addresses.used, USED_F_NO_NOTIFY)
    }

    /// Whether the driver asks for an interrupt when chains are given back.
    pub fn wants_interrupt(&self, memory: &Memory) -> Result<bool, RingFault> {
        // The driver allows interrupts first and looks for used chains then; the device does it the other way round.
        fence(Ordering::SeqCst);
        Ok(memory.load_u16(self.addresses.available)? & AVAIL_F_NO_INTERRUPT == 0)
    }
}
