//! Copies between packets and the buffers of chains.

use std::io::IoSlice;
use std::slice::Iter;

use super::error::RingFault;
use super::features::NET_HEADER_BYTES;
use super::memory::Memory;
use super::ring::{Ring, Segment, Used};

/// Longest chain of a guest in bytes: twice a super-packet of 64 KiB.
const MOST_SENT: u64 = 128 << 10;

/// Reused between packets.
#[derive(Default)]
pub struct Scratch {
    segments: Vec<Segment>,
    used: Vec<Used>,
}

impl Scratch {
    /// Takes the next chain that the guest has made available, copies it to `buffer`, and returns its first descriptor.
    /// Chains from index `until` of the available ring on are left, if it is given.
    pub fn gather(
        &mut self,
        memory: &Memory,
        ring: &mut Ring,
        until: Option<u16>,
        buffer: &mut Vec<u8>,
    ) -> Result<Option<u16>, RingFault> {
        let waiting =
            until.map_or_else(|| ring.waiting(memory), |until| ring.waiting_until(memory, until))?;
        if waiting == 0 {
            return Ok(None);
        }
        let head = ring.head(memory, 0)?;
        self.segments.clear();
        let total = ring.chain(memory, head, &mut self.segments)?;
        if total > MOST_SENT {
            return Err(RingFault::TooLong { head, most: MOST_SENT });
        }
        buffer.resize(total as usize, 0);
        let mut rest = buffer.as_mut_slice();
        for segment in &self.segments {
            let (now, later) = rest.split_at_mut(segment.bytes as usize);
            memory.read(segment.address, now)?;
            rest = later;
        }
        ring.take(1);
        Ok(Some(head))
    }

    /// Copies `parts` into as many of the guest's buffers as are needed, and gives these back to it.
    ///
    /// With `has_header` the parts begin with a header of a network device, which gets the number of chains.
    /// Returns false, without a change, if the guest has too few buffers.
    pub fn scatter(
        &mut self,
        memory: &Memory,
        ring: &mut Ring,
        parts: &[IoSlice<'_>],
        has_header: bool,
    ) -> Result<bool, RingFault> {
        let total: u64 = parts.iter().map(|part| part.len() as u64).sum();
        if !self.find_room(memory, ring, total)? {
            return Ok(false);
        }
        let mut writer = Writer { memory, segments: self.segments.iter(), at: 0, left: 0 };
        let mut skipped = 0;
        if has_header {
            let mut header = [0; NET_HEADER_BYTES];
            let first = parts.iter().flat_map(|part| part.iter()).take(NET_HEADER_BYTES);
            header.iter_mut().zip(first).for_each(|(to, from)| *to = *from);
            // num_buffers (VIRTIO 1.2, section 5.1.6)
            header[10..].copy_from_slice(&(self.used.len() as u16).to_le_bytes());
            writer.write(&header)?;
            skipped = NET_HEADER_BYTES;
        }
        for part in parts {
            let start = skipped.min(part.len());
            skipped -= start;
            writer.write(&part[start..])?;
        }
        ring.take(self.used.len() as u16);
        ring.give_back(memory, &self.used)?;
        Ok(true)
    }

    /// Collects the buffers of as many waiting chains as hold `total` bytes; false if there are too few.
    fn find_room(&mut self, memory: &Memory, ring: &Ring, total: u64) -> Result<bool, RingFault> {
        self.segments.clear();
        self.used.clear();
        let waiting = ring.waiting(memory)?;
        let mut missing = total;
        for offset in 0..waiting {
            if missing == 0 {
                break;
            }
            let head = ring.head(memory, offset)?;
            let written = ring.chain(memory, head, &mut self.segments)?.min(missing);
            missing -= written;
            self.used.push(Used { head, written: written as u32 });
        }
        Ok(missing == 0)
    }
}

/// Writes bytes one after another into buffers that are large enough.
struct Writer<'a> {
    memory: &'a Memory,
    segments: Iter<'a, Segment>,
    at: u64,
    left: usize,
}

impl Writer<'_> {
    fn write(&mut self, mut bytes: &[u8]) -> Result<(), RingFault> {
        while !bytes.is_empty() {
            if self.left == 0 {
                let Some(segment) = self.segments.next() else { break };
                (self.at, self.left) = (segment.address, segment.bytes as usize);
                continue;
            }
            let (now, later) = bytes.split_at(self.left.min(bytes.len()));
            self.memory.write(self.at, now)?;
            self.at += now.len() as u64;
            self.left -= now.len();
            bytes = later;
        }
        Ok(())
    }
}
