//! The guest's memory, mapped from the files that it has sent.

use std::fs::File;
use std::sync::atomic::Ordering;

use vm_memory::{
    Bytes, FileOffset, GuestAddress, GuestMemoryBackend, GuestMemoryMmap, GuestRegionMmap, MmapRegion,
};

use super::error::{Fault, RingFault};
use super::protocol::Region;

/// Regions of guest physical memory. Every access is checked against them.
///
/// A guest that shortens its file after it was mapped causes SIGBUS. That is accepted: the guest's kernel is a process
/// of the same user as the controller, which could as well kill it.
pub struct Memory {
    mapped: GuestMemoryMmap,
    translations: Vec<Translation>,
}

/// Where a region is in the front end's address space, and in the guest's.
struct Translation {
    user: u64,
    guest: u64,
    bytes: u64,
}

impl Memory {
    /// Maps `regions`, of which none may be longer than its file.
    pub fn map(mut regions: Vec<Region>) -> Result<Self, Fault> {
        regions.sort_by_key(|region| region.guest);
        let mut translations = Vec::with_capacity(regions.len());
        let mut mapped = Vec::with_capacity(regions.len());
        let mut end = 0;
        for (index, region) in regions.into_iter().enumerate() {
            let Region { guest, bytes, user, .. } = region;
            let unusable = |reason| Fault::Region { index, address: guest, bytes, reason };
            if index > 0 && guest < end {
                return Err(unusable("overlaps another".to_owned()));
            }
            mapped.push(map_region(region).map_err(unusable)?);
            end = guest + bytes;
            translations.push(Translation { user, guest, bytes });
        }
        let mapped = GuestMemoryMmap::from_regions(mapped).map_err(|error| Fault::Region {
            index: 0,
            address: 0,
            bytes: 0,
            reason: error.to_string(),
        })?;
        Ok(Memory { mapped, translations })
    }

    /// The guest physical address of `bytes` at `user`, an address in the front end's address space.
    pub fn guest_address(&self, user: u64, bytes: u64) -> Result<u64, RingFault> {
        self.translations
            .iter()
            .find_map(|region| {
                let offset = user.checked_sub(region.user)?;
                let room = region.bytes.checked_sub(offset)?;
                (bytes <= room).then_some(region.guest + offset)
            })
            .ok_or(RingFault::OutsideMemory { address: user, bytes })
    }

    /// Copies out of the guest's memory.
    pub fn read(&self, address: u64, to: &mut [u8]) -> Result<(), RingFault> {
        let bytes = to.len();
        self.mapped.read_slice(to, GuestAddress(address)).map_err(|_| outside(address, bytes))
    }

    /// Copies into the guest's memory.
    pub fn write(&self, address: u64, from: &[u8]) -> Result<(), RingFault> {
        self.mapped.write_slice(from, GuestAddress(address)).map_err(|_| outside(address, from.len()))
    }

    /// Checks that `bytes` at `address` are the guest's.
    pub fn check(&self, address: u64, bytes: u64) -> Result<(), RingFault> {
        if self.mapped.check_range(GuestAddress(address), bytes as usize) {
            Ok(())
        } else {
            Err(RingFault::OutsideMemory { address, bytes })
        }
    }

    /// Reads a little-endian integer of 16 bits, and all that the guest had written before it.
    pub fn load_u16(&self, address: u64) -> Result<u16, RingFault> {
        let loaded = self.mapped.load::<u16>(GuestAddress(address), Ordering::Acquire);
        loaded.map(u16::from_le).map_err(|_| outside(address, 2))
    }

    /// Writes a little-endian integer of 16 bits, after all that was written before it.
    pub fn store_u16(&self, address: u64, value: u16) -> Result<(), RingFault> {
        let stored = self.mapped.store(value.to_le(), GuestAddress(address), Ordering::Release);
        stored.map_err(|_| outside(address, 2))
    }
}

fn outside(address: u64, bytes: usize) -> RingFault {
    RingFault::OutsideMemory { address, bytes: bytes as u64 }
}

fn map_region(region: Region) -> Result<GuestRegionMmap, String> {
    let Region { guest, bytes, user, offset, file } = region;
    if guest.checked_add(bytes).is_none() || user.checked_add(bytes).is_none() {
        return Err("ends beyond 64 bits".to_owned());
    }
    let file = File::from(file);
    let length = file.metadata().map_err(|error| error.to_string())?.len();
    if offset.checked_add(bytes).is_none_or(|end| end > length) {
        return Err(format!("ends beyond its file of {length} bytes"));
    }
    let bytes = usize::try_from(bytes).map_err(|error| error.to_string())?;
    let mapping = MmapRegion::from_file(FileOffset::new(file, offset), bytes);
    let mapping = mapping.map_err(|error| format!("cannot be mapped: {error}"))?;
    GuestRegionMmap::new(mapping, GuestAddress(guest)).ok_or_else(|| "ends beyond 64 bits".to_owned())
}
