use crate::PacketRow;
use crate::rows::way;
use std::io::{self, Write};

/// First line of a file of [`SegmentRow`]s.
pub const SEGMENTS_HEADER: &str =
    "link,way,offered_ns,due_ns,flow,sequence,bytes,again,acknowledged,window_bytes,blocks\n";

/// The passage of one simulated TCP segment over one link. Data are counted in segments, from the flow's first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SegmentRow {
    /// Its packet's passage.
    pub packet: PacketRow,
    /// The segment's number.
    pub sequence: u64,
    /// Payload.
    pub bytes: u16,
    /// Whether it has been sent before.
    pub again: bool,
    /// What its sender expects next from the other end, if it says so.
    pub acknowledged: Option<u64>,
    /// What its sender takes beyond that.
    pub window_bytes: u32,
    /// What its sender has beyond that, from the first to the one after the last; empty ones do not count.
    pub blocks: [(u64, u64); 3],
}

impl SegmentRow {
    /// Writes the row; `link` is the link's name.
    pub fn write(&self, link: &str, out: &mut impl Write) -> io::Result<()> {
        let PacketRow { reverse, offered_ns, due_ns, flow, .. } = self.packet;
        write!(out, "{link},{},{offered_ns},", way(reverse))?;
        if let Some(due_ns) = due_ns {
            write!(out, "{due_ns}")?;
        }
        write!(out, ",{flow},{},{},{},", self.sequence, self.bytes, u8::from(self.again))?;
        if let Some(acknowledged) = self.acknowledged {
            write!(out, "{acknowledged}")?;
        }
        write!(out, ",{},", self.window_bytes)?;
        for (start, end) in self.blocks.iter().filter(|(start, end)| start != end) {
            write!(out, "{start}-{end} ")?;
        }
        writeln!(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_has_as_many_fields_as_its_header() {
        let packet = PacketRow {
            link: 0,
            reverse: true,
            offered_ns: 5,
            due_ns: None,
            bytes: 64,
            fate: "lost",
            flow: 9,
        };
        let row = SegmentRow {
            packet,
            sequence: 7,
            bytes: 0,
            again: false,
            acknowledged: Some(12),
            window_bytes: 65_535,
            blocks: [(15, 16), (18, 20), (0, 0)],
        };
        let mut line = Vec::new();
        row.write("a-b", &mut line).unwrap();
        let line = String::from_utf8(line).unwrap();
        assert_eq!(line, "a-b,reverse,5,,9,7,0,0,12,65535,15-16 18-20 \n");
        assert_eq!(line.split(',').count(), SEGMENTS_HEADER.split(',').count());
    }
}
