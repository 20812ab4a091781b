//! Packets of a capture file, one after the other: pcap (draft-ietf-opsawg-pcap) and pcapng
//! (draft-ietf-opsawg-pcapng).

use crate::Error;
use crate::headers::LinkLayer;
use crate::source::Source;
use pcap_parser::nom::{Err::Incomplete, IResult};
use pcap_parser::{
    Block, LegacyPcapBlock, PcapError, PcapHeader, parse_block_be, parse_block_le, parse_pcap_frame,
    parse_pcap_frame_be, parse_pcap_frame_modified, parse_pcap_header,
};
use std::io::Read;

const HEADER: usize = 24;
const SECTION: [u8; 4] = [0x0a, 0x0d, 0x0d, 0x0a];
const BIG_ENDIAN: [u8; 4] = [0x1a, 0x2b, 0x3c, 0x4d];
const LITTLE_ENDIAN: [u8; 4] = [0x4d, 0x3c, 0x2b, 0x1a];
/// Bytes of a packet or block at most; real ones have less than 256 KiB.
const LARGEST: u32 = 1 << 24;
/// Interfaces of a file at most.
const INTERFACES: usize = 1 << 16;
const NS_PER_S: u64 = 1_000_000_000;
/// The year 2262, where signed counts of nanoseconds end.
const LATEST_NS: u64 = i64::MAX as u64;

const DAMAGED: &str = "the file is damaged from here on; capture again, or keep what is before with editcap";
const NO_CAPTURE: &str = "give a pcap or pcapng file, as tcpdump and Wireshark write them";

/// A packet as it was captured.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Packet<'a> {
    /// Position in [`Packets::interfaces`].
    pub(crate) interface: usize,
    /// Since 1970.
    pub(crate) at_ns: u64,
    /// On the wire.
    pub(crate) length: u32,
    /// As much of it as was captured.
    pub(crate) bytes: &'a [u8],
}

/// What captured packets.
#[derive(Clone, Debug)]
pub(crate) struct Interface {
    /// Of its place.
    pub(crate) name: String,
    /// The position of the first interface at the same place.
    pub(crate) place: usize,
    /// Of the capture of a run, whose packets come out of order.
    pub(crate) of_run: bool,
    /// `None` if no packet of it can be read here.
    pub(crate) link_layer: Option<LinkLayer>,
    resolution: Resolution,
    /// Added to every time.
    offset_s: i64,
}

impl Interface {
    /// Joins the interfaces that a run's capture of a link has at one of its ends, each for one way.
    fn placed(mut self, others: &[Interface]) -> Self {
        let ends = [
            (" forward in", " (first end)"),
            (" reverse out", " (first end)"),
            (" forward out", " (second end)"),
            (" reverse in", " (second end)"),
        ];
        let found = ends.iter().find_map(|(way, end)| Some(format!("{}{end}", self.name.strip_suffix(way)?)));
        if let Some(name) = found {
            self.place =
                others.iter().find(|other| other.name == name).map_or(self.place, |other| other.place);
            self.name = name;
            self.of_run = true;
        }
        self
    }
}

/// Time stamps in a second.
#[derive(Clone, Copy, Debug)]
struct Resolution {
    per_s: u64,
}

impl Resolution {
    const US: Resolution = Resolution { per_s: 1_000_000 };
    const NS: Resolution = Resolution { per_s: NS_PER_S };

    /// Of `if_tsresol` (draft-ietf-opsawg-pcapng, section 4.2): a power of 10, or of 2.
    fn of(option: u8) -> Option<Resolution> {
        let power = u32::from(option & 0x7f);
        let per_s = if option & 0x80 == 0 { 10_u64.checked_pow(power) } else { 1_u64.checked_shl(power) };
        per_s.map(|per_s| Resolution { per_s })
    }

    fn ns(self, ticks: u64, offset_s: i64) -> u64 {
        let (seconds, rest) = (ticks / self.per_s, ticks % self.per_s);
        let rest_ns = u128::from(rest) * u128::from(NS_PER_S) / u128::from(self.per_s);
        let ns =
            seconds.saturating_add_signed(offset_s).saturating_mul(NS_PER_S).saturating_add(rest_ns as u64);
        ns.min(LATEST_NS)
    }
}

/// A packet among the bytes that lie ready.
struct Found {
    interface: usize,
    at_ns: u64,
    length: u32,
    from: usize,
    captured: usize,
}

#[derive(Clone, Copy)]
enum Format {
    Legacy(Legacy),
    Blocks { big_endian: bool },
}

type Parsed<'a> = IResult<&'a [u8], LegacyPcapBlock<'a>, PcapError<&'a [u8]>>;

#[derive(Clone, Copy)]
struct Legacy {
    frame: fn(&[u8]) -> Parsed<'_>,
    /// Bytes before each packet.
    before: usize,
    big_endian: bool,
    ns_per_tick: u64,
}

/// Reads a capture file from the front.
pub(crate) struct Packets<R> {
    source: Source<R>,
    format: Format,
    interfaces: Vec<Interface>,
    /// The first interface of the section.
    section: usize,
    /// Bytes of what was returned last.
    pending: usize,
    /// Where the file breaks off within a packet.
    broken_off: Option<u64>,
}

impl<R: Read> Packets<R> {
    /// Reads the header.
    pub(crate) fn new(reader: R) -> Result<Self, Error> {
        let mut source = Source::new(reader);
        let first = source.peek(HEADER)?;
        let mut interfaces = Vec::new();
        let format = if first.starts_with(&SECTION) {
            Format::Blocks { big_endian: false }
        } else {
            let short = first.len() < HEADER;
            let Ok((_, header)) = parse_pcap_header(first) else {
                let what =
                    if short { "the file is too short for a capture" } else { "this is not a capture" };
                return Err(Error::at(0, what, NO_CAPTURE));
            };
            interfaces.push(legacy_interface(&header)?);
            source.consume(HEADER);
            Format::Legacy(legacy(&header))
        };
        Ok(Packets { source, format, interfaces, section: 0, pending: 0, broken_off: None })
    }

    pub(crate) fn interfaces(&self) -> &[Interface] {
        &self.interfaces
    }

    pub(crate) fn broken_off(&self) -> Option<u64> {
        self.broken_off
    }

    /// Hands the next packet to `visit`; false at the end.
    pub(crate) fn next(
        &mut self,
        visit: impl FnOnce(Packet<'_>, &[Interface]) -> Result<(), Error>,
    ) -> Result<bool, Error> {
        self.source.consume(std::mem::take(&mut self.pending));
        let found = match self.format {
            Format::Legacy(legacy) => self.next_legacy(legacy)?,
            Format::Blocks { .. } => self.next_block()?,
        };
        let Some(found) = found else { return Ok(false) };
        let Found { interface, at_ns, length, from, captured } = found;
        let bytes = &self.source.ready(from + captured)[from..];
        visit(Packet { interface, at_ns, length, bytes }, &self.interfaces)?;
        Ok(true)
    }

    fn next_legacy(&mut self, legacy: Legacy) -> Result<Option<Found>, Error> {
        let place = self.source.offset();
        let head = self.source.peek(legacy.before)?;
        if head.len() < legacy.before {
            self.broken_off = (!head.is_empty()).then_some(place);
            return Ok(None);
        }
        let captured = word(head, 8, legacy.big_endian);
        if captured > LARGEST {
            return Err(Error::at(place, format!("a packet of {captured} captured bytes"), DAMAGED));
        }
        let total = legacy.before + captured as usize;
        if self.source.peek(total)?.len() < total {
            self.broken_off = Some(place);
            return Ok(None);
        }
        self.pending = total;
        let Ok((_, frame)) = (legacy.frame)(self.source.ready(total)) else {
            return Err(Error::at(place, "this is not a packet", DAMAGED));
        };
        let at_ns = u64::from(frame.ts_sec) * NS_PER_S + u64::from(frame.ts_usec) * legacy.ns_per_tick;
        let length = frame.origlen.max(captured);
        let captured = frame.data.len();
        Ok(Some(Found { interface: 0, at_ns, length, from: legacy.before, captured }))
    }

    fn next_block(&mut self) -> Result<Option<Found>, Error> {
        loop {
            let place = self.source.offset();
            let Some((total, big_endian)) = self.block(place)? else { return Ok(None) };
            let parse = if big_endian { parse_block_be } else { parse_block_le };
            let block = match parse(self.source.ready(total)) {
                Ok((_, block)) => block,
                Err(Incomplete(_)) => {
                    return Err(Error::at(place, "a block is longer than it says", DAMAGED));
                }
                Err(_) => return Err(Error::at(place, "a block contradicts itself", DAMAGED)),
            };
            let (interface, ticks, length, captured) = match block {
                Block::EnhancedPacket(packet) => {
                    let ticks = u64::from(packet.ts_high) << 32 | u64::from(packet.ts_low);
                    let end = packet.data.len().min(packet.caplen as usize);
                    (packet.if_id, Some(ticks), packet.origlen, end)
                }
                Block::SimplePacket(packet) => {
                    (0, None, packet.origlen, packet.data.len().min(packet.origlen as usize))
                }
                other => {
                    let described = match other {
                        Block::SectionHeader(_) => {
                            self.section = self.interfaces.len();
                            None
                        }
                        Block::InterfaceDescription(each) => Some(Interface {
                            name: match each.if_name() {
                                Some(Ok(name)) if !name.is_empty() => name.to_owned(),
                                _ => (self.interfaces.len() - self.section).to_string(),
                            },
                            place: self.interfaces.len(),
                            of_run: false,
                            link_layer: LinkLayer::of(each.linktype.0),
                            resolution: Resolution::of(each.if_tsresol).ok_or_else(|| {
                                let message = format!("a time resolution of {:#x}", each.if_tsresol);
                                Error::at(place, message, DAMAGED)
                            })?,
                            offset_s: if big_endian {
                                each.if_tsoffset.swap_bytes()
                            } else {
                                each.if_tsoffset
                            },
                        }),
                        _ => None,
                    };
                    self.interfaces
                        .extend(described.map(|each| each.placed(&self.interfaces[self.section..])));
                    if self.interfaces.len() > INTERFACES {
                        return Err(Error::at(place, format!("more than {INTERFACES} interfaces"), DAMAGED));
                    }
                    self.source.consume(total);
                    continue;
                }
            };
            let index = self.section.saturating_add(interface as usize);
            let Some(described) = self.interfaces.get(index) else {
                let message = format!("a packet of interface {interface}, which is not described");
                return Err(Error::at(place, message, DAMAGED));
            };
            self.pending = total;
            // The packet stands behind its fixed fields: section 4.3, and for simple ones 4.4.
            let from = if ticks.is_some() { 28 } else { 12 };
            let at_ns = ticks.map_or(0, |ticks| described.resolution.ns(ticks, described.offset_s));
            let length = length.max(captured as u32);
            return Ok(Some(Found { interface: index, at_ns, length, from, captured }));
        }
    }

    /// Makes a whole block ready: its length, and its order of bytes.
    fn block(&mut self, place: u64) -> Result<Option<(usize, bool)>, Error> {
        let head = self.source.peek(12)?;
        if head.len() < 12 {
            self.broken_off = (!head.is_empty()).then_some(place);
            return Ok(None);
        }
        let Format::Blocks { ref mut big_endian } = self.format else { return Ok(None) };
        if head.starts_with(&SECTION) {
            *big_endian = match head[8..12] {
                ref magic if magic == BIG_ENDIAN => true,
                ref magic if magic == LITTLE_ENDIAN => false,
                _ => return Err(Error::at(place, "a section without its byte-order magic", DAMAGED)),
            };
        }
        let big_endian = *big_endian;
        let total = word(head, 4, big_endian);
        if total < 12 || !total.is_multiple_of(4) || total > LARGEST {
            return Err(Error::at(place, format!("a block of {total} bytes"), DAMAGED));
        }
        let total = total as usize;
        if self.source.peek(total)?.len() < total {
            self.broken_off = Some(place);
            return Ok(None);
        }
        Ok(Some((total, big_endian)))
    }
}

fn word(bytes: &[u8], at: usize, big_endian: bool) -> u32 {
    let four = [bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]];
    if big_endian { u32::from_be_bytes(four) } else { u32::from_le_bytes(four) }
}

fn legacy(header: &PcapHeader) -> Legacy {
    let big_endian = header.is_bigendian();
    let ns_per_tick = if header.is_nanosecond_precision() { 1 } else { 1_000 };
    if header.is_modified_format() {
        Legacy { frame: parse_pcap_frame_modified, before: 24, big_endian, ns_per_tick }
    } else if big_endian {
        Legacy { frame: parse_pcap_frame_be, before: 16, big_endian, ns_per_tick }
    } else {
        Legacy { frame: parse_pcap_frame, before: 16, big_endian, ns_per_tick }
    }
}

fn legacy_interface(header: &PcapHeader) -> Result<Interface, Error> {
    // The upper bits say whether frames end with a check sequence.
    let kind = header.network.0 & 0xffff;
    let link_layer = LinkLayer::of(kind);
    if link_layer.is_none() {
        let remedy = "capture Ethernet, raw IP, Linux cooked or loopback packets";
        return Err(Error::at(20, format!("packets of link type {kind} cannot be read"), remedy));
    }
    let resolution = if header.is_nanosecond_precision() { Resolution::NS } else { Resolution::US };
    Ok(Interface { name: "0".to_owned(), place: 0, of_run: false, link_layer, resolution, offset_s: 0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_fit_into_signed_nanoseconds() {
        assert_eq!(Resolution::US.ns(1_500_000, 2), 3_500_000_000);
        for (ticks, offset_s) in [(u64::MAX, 0), (u64::MAX, i64::MAX), (9_223_372_037 * 1_000_000, 0)] {
            assert_eq!(Resolution::US.ns(ticks, offset_s), i64::MAX as u64, "{ticks} ticks");
        }
    }
}
