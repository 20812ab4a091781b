//! IP packets alone, in the format that Longhaul writes them: pcap with nanoseconds and link type RAW.

use crate::Error;
use crate::packets::Packets;
use std::io::{self, Read, Write};

/// Nanoseconds, little-endian (draft-ietf-opsawg-pcap).
const MAGIC: u32 = 0xa1b2_3c4d;
/// `LINKTYPE_RAW`: the packet begins with its IP header.
const RAW: u32 = 101;
const SNAPLEN: u32 = 262_144;
const NS_PER_S: u64 = 1_000_000_000;

/// The packets of a file, in memory.
#[derive(Clone, Debug, Default)]
pub struct RawPackets {
    bytes: Vec<u8>,
    /// Where each ends.
    ends: Vec<usize>,
}

impl RawPackets {
    /// All packets of a capture, as they are.
    ///
    /// # Errors
    /// If it is damaged, or cut short.
    pub fn read(reader: impl Read) -> Result<Self, Error> {
        let mut packets = Packets::new(reader)?;
        let mut found = RawPackets::default();
        while packets.next(|packet, _| {
            found.bytes.extend_from_slice(packet.bytes);
            found.ends.push(found.bytes.len());
            Ok(())
        })? {}
        match packets.broken_off() {
            Some(place) => Err(Error::at(place, "the file ends within a packet", "write it again")),
            None => Ok(found),
        }
    }

    /// One of them.
    pub fn get(&self, place: usize) -> Option<&[u8]> {
        let end = *self.ends.get(place)?;
        let start = if place == 0 { 0 } else { self.ends[place - 1] };
        self.bytes.get(start..end)
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.ends.len()).filter_map(|place| self.get(place))
    }
}

/// Writes IP packets with their times in ns.
///
/// # Errors
/// If `out` does not take them.
pub fn write_raw<'a>(out: &mut impl Write, packets: impl Iterator<Item = (u64, &'a [u8])>) -> io::Result<()> {
    out.write_all(&MAGIC.to_le_bytes())?;
    // Version 2.4; the two fields after it are not used.
    for half in [2_u16, 4, 0, 0, 0, 0] {
        out.write_all(&half.to_le_bytes())?;
    }
    out.write_all(&SNAPLEN.to_le_bytes())?;
    out.write_all(&RAW.to_le_bytes())?;
    for (at_ns, bytes) in packets {
        let length = bytes.len() as u32;
        for word in [(at_ns / NS_PER_S) as u32, (at_ns % NS_PER_S) as u32, length, length] {
            out.write_all(&word.to_le_bytes())?;
        }
        out.write_all(bytes)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_again() {
        let packets = [vec![0x45; 40], vec![0x60; 1500], vec![0x45; 20]];
        let mut file = Vec::new();
        write_raw(&mut file, (0..).zip(&packets).map(|(n, each)| (n * 1_500_000_000, each.as_slice())))
            .unwrap();
        let read = RawPackets::read(file.as_slice()).unwrap();
        assert!(read.iter().eq(packets.iter().map(Vec::as_slice)));
        assert_eq!(read.get(3), None);
        let cut = RawPackets::read(&file[..file.len() - 1]).unwrap_err();
        assert_eq!(cut.message, "the file ends within a packet");
    }
}
