//! The TCP header and its options (RFC 9293, section 3.1; RFC 7323; RFC 2018).

use crate::headers::{Without, short, word};
use std::net::{IpAddr, SocketAddr};

/// SACK blocks of a header at most: 40 bytes of options.
const BLOCKS: usize = 4;

/// What a TCP header says.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Segment {
    pub(crate) source: SocketAddr,
    pub(crate) destination: SocketAddr,
    pub(crate) sequence: u32,
    pub(crate) acknowledgement: u32,
    pub(crate) flags: Flags,
    /// As it stands in the header, before it is shifted.
    pub(crate) window: u16,
    /// Bytes of data, captured or not.
    pub(crate) payload: u32,
    /// Bytes of the header beyond the first 20.
    pub(crate) options_length: u32,
    pub(crate) options: Options,
    /// IPv4's identification; 0 with IPv6.
    pub(crate) ident: u16,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Flags(u8);

impl Flags {
    pub(crate) fn fin(self) -> bool {
        self.0 & 1 != 0
    }

    pub(crate) fn syn(self) -> bool {
        self.0 & 2 != 0
    }

    pub(crate) fn reset(self) -> bool {
        self.0 & 4 != 0
    }

    pub(crate) fn ack(self) -> bool {
        self.0 & 16 != 0
    }
}

/// The options that matter here.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Options {
    pub(crate) mss: Option<u16>,
    /// By how much windows are shifted (RFC 7323, section 2.2).
    pub(crate) shift: Option<u8>,
    pub(crate) stamps: Option<Stamps>,
    blocks: [(u32, u32); BLOCKS],
    block_count: u8,
}

/// RFC 7323, section 3.2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stamps {
    pub(crate) value: u32,
    pub(crate) echo: u32,
}

impl Options {
    /// SACK blocks, the first being the latest.
    pub(crate) fn blocks(&self) -> &[(u32, u32)] {
        &self.blocks[..usize::from(self.block_count)]
    }

    fn parse(mut bytes: &[u8]) -> Self {
        let mut found = Options::default();
        while let [kind, after @ ..] = bytes {
            match kind {
                0 => break,
                1 => {
                    bytes = after;
                    continue;
                }
                _ => {}
            }
            let Some(&length) = after.first() else { break };
            let Some(value) = bytes.get(2..usize::from(length)) else { break };
            match (kind, value.len()) {
                (2, 2) => found.mss = short(value, 0).ok(),
                (3, 1) => found.shift = value.first().copied(),
                (5, _) => {
                    found.block_count = 0;
                    for (place, block) in found.blocks.iter_mut().zip(value.chunks_exact(8)) {
                        if let (Ok(start), Ok(end)) = (word(block, 0), word(block, 4)) {
                            *place = (start, end);
                            found.block_count += 1;
                        }
                    }
                }
                (8, 8) => {
                    if let (Ok(value), Ok(echo)) = (word(value, 0), word(value, 4)) {
                        found.stamps = Some(Stamps { value, echo });
                    }
                }
                _ => {}
            }
            bytes = &bytes[usize::from(length)..];
        }
        found
    }
}

/// The segment at the front of `bytes`, with `length` bytes on the wire; addresses are source and
/// destination.
pub(crate) fn segment(
    bytes: &[u8],
    length: u32,
    addresses: [IpAddr; 2],
    ident: u16,
) -> Result<Segment, Without> {
    let fixed: &[u8; 20] = bytes.first_chunk().ok_or(Without::Header)?;
    let header = usize::from(fixed[12] >> 4) * 4;
    if header < 20 {
        return Err(Without::Header);
    }
    let payload = length.checked_sub(header as u32).ok_or(Without::Header)?;
    let options = Options::parse(&bytes[20..bytes.len().min(header)]);
    Ok(Segment {
        source: SocketAddr::new(addresses[0], u16::from_be_bytes([fixed[0], fixed[1]])),
        destination: SocketAddr::new(addresses[1], u16::from_be_bytes([fixed[2], fixed[3]])),
        sequence: u32::from_be_bytes([fixed[4], fixed[5], fixed[6], fixed[7]]),
        acknowledgement: u32::from_be_bytes([fixed[8], fixed[9], fixed[10], fixed[11]]),
        flags: Flags(fixed[13]),
        window: u16::from_be_bytes([fixed[14], fixed[15]]),
        payload,
        options_length: header as u32 - 20,
        options,
        ident,
    })
}
