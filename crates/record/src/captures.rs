use std::io::{self, Write};

const SECTION: u32 = 0x0a0d_0d0a;
const INTERFACE: u32 = 1;
const ENHANCED_PACKET: u32 = 6;
const BYTE_ORDER: u32 = 0x1a2b_3c4d;
/// What packets of an interface start with (tcpdump.org/linktypes.html).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u16)]
pub enum LinkType {
    /// `LINKTYPE_ETHERNET`: the Ethernet header.
    Ethernet = 1,
    /// `LINKTYPE_RAW`: the IP header.
    Raw = 101,
}
/// Interfaces of the captures at either end of a link: what enters the link there, and what leaves it there.
pub const CAPTURE_INTERFACES: [[&str; 2]; 2] = [["forward in", "reverse out"], ["reverse in", "forward out"]];
const OPTION_NAME: u16 = 2;
const OPTION_RESOLUTION: u16 = 9;

/// Writes packets as pcapng (draft-ietf-opsawg-pcapng) with nanosecond time stamps.
pub struct Capture<W: Write> {
    out: W,
    snaplen: u32,
}

impl<W: Write> Capture<W> {
    /// Starts a capture with these interfaces by name, keeping `snaplen` bytes of each packet.
    ///
    /// # Errors
    /// If the writer underneath fails.
    pub fn new(mut out: W, interfaces: &[(&str, LinkType)], snaplen: u32) -> io::Result<Self> {
        let mut section = Vec::new();
        section.extend_from_slice(&BYTE_ORDER.to_le_bytes());
        section.extend_from_slice(&[1, 0, 0, 0]);
        section.extend_from_slice(&u64::MAX.to_le_bytes());
        write_block(&mut out, SECTION, &section)?;
        for (name, link_type) in interfaces {
            let mut interface = Vec::new();
            interface.extend_from_slice(&(*link_type as u16).to_le_bytes());
            interface.extend_from_slice(&[0, 0]);
            interface.extend_from_slice(&snaplen.to_le_bytes());
            push_option(&mut interface, OPTION_NAME, name.as_bytes());
            push_option(&mut interface, OPTION_RESOLUTION, &[9]);
            push_option(&mut interface, 0, &[]);
            write_block(&mut out, INTERFACE, &interface)?;
        }
        Ok(Capture { out, snaplen })
    }

    /// Bytes kept of each packet.
    pub fn snaplen(&self) -> u32 {
        self.snaplen
    }

    /// Adds a packet of `length` bytes, of which `bytes` are at hand, seen at `unix_ns` on `interface`.
    ///
    /// # Errors
    /// If the writer underneath fails.
    pub fn packet(&mut self, interface: u32, unix_ns: u64, length: u32, bytes: &[u8]) -> io::Result<()> {
        let kept = &bytes[..bytes.len().min(self.snaplen as usize)];
        let mut packet = Vec::with_capacity(20 + kept.len() + 3);
        packet.extend_from_slice(&interface.to_le_bytes());
        packet.extend_from_slice(&((unix_ns >> 32) as u32).to_le_bytes());
        packet.extend_from_slice(&(unix_ns as u32).to_le_bytes());
        packet.extend_from_slice(&(kept.len() as u32).to_le_bytes());
        packet.extend_from_slice(&length.to_le_bytes());
        packet.extend_from_slice(kept);
        packet.resize(packet.len().next_multiple_of(4), 0);
        write_block(&mut self.out, ENHANCED_PACKET, &packet)
    }

    /// Hands everything to the writer underneath.
    ///
    /// # Errors
    /// If the writer underneath fails.
    pub fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

fn push_option(block: &mut Vec<u8>, code: u16, value: &[u8]) {
    block.extend_from_slice(&code.to_le_bytes());
    block.extend_from_slice(&(value.len() as u16).to_le_bytes());
    block.extend_from_slice(value);
    block.resize(block.len().next_multiple_of(4), 0);
}

fn write_block(out: &mut impl Write, kind: u32, body: &[u8]) -> io::Result<()> {
    let length = (12 + body.len()) as u32;
    out.write_all(&kind.to_le_bytes())?;
    out.write_all(&length.to_le_bytes())?;
    out.write_all(body)?;
    out.write_all(&length.to_le_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_follow_one_another_without_a_gap() {
        let mut file = Vec::new();
        let mut capture =
            Capture::new(&mut file, &["par-nyc in", "par-nyc out"].map(|name| (name, LinkType::Raw)), 4)
                .unwrap();
        capture.packet(1, 0x1_0000_0002, 84, b"abcdefg").unwrap();
        let mut kinds = Vec::new();
        let mut rest = &file[..];
        while !rest.is_empty() {
            let word = |at: usize| u32::from_le_bytes(rest[at..at + 4].try_into().unwrap());
            let length = word(4) as usize;
            assert_eq!(word(length - 4) as usize, length, "the length stands at both ends");
            kinds.push(word(0));
            if word(0) == ENHANCED_PACKET {
                assert_eq!((word(8), word(12), word(16), word(20), word(24)), (1, 1, 2, 4, 84));
                assert_eq!(&rest[28..32], b"abcd");
            }
            rest = &rest[length..];
        }
        assert_eq!(kinds, [SECTION, INTERFACE, INTERFACE, ENHANCED_PACKET]);
    }
}
