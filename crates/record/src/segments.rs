use crate::rows::way;
use crate::{PacketRow, Table};
use std::fmt::Write as _;
use std::io::{self, Write};

/// Columns of a table of [`SegmentRow`]s.
pub const SEGMENT_COLUMNS: [&str; 11] = [
    "link",
    "way",
    "offered_ns",
    "due_ns",
    "flow",
    "sequence",
    "bytes",
    "retransmitted",
    "acknowledged",
    "window_bytes",
    "blocks",
];

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
    pub retransmitted: bool,
    /// What its sender expects next from the other end, if it says so.
    pub acknowledged: Option<u64>,
    /// What its sender takes beyond that.
    pub window_bytes: u32,
    /// What its sender has beyond that, from the first to the one after the last; empty ones do not count.
    pub blocks: [(u64, u64); 3],
}

impl SegmentRow {
    /// Writes the row; `link` is the link's name.
    ///
    /// # Errors
    /// If the table cannot be written.
    pub fn write(&self, link: &str, table: &mut Table<impl Write>) -> io::Result<()> {
        let PacketRow { reverse, offered_ns, due_ns, flow, .. } = self.packet;
        let mut blocks = String::new();
        for (start, end) in self.blocks.iter().filter(|(start, end)| start != end) {
            let _ = write!(blocks, "{start}-{end} ");
        }
        let row = table.row().field(link).field(way(reverse)).field(offered_ns).field(due_ns).field(flow);
        let row = row.field(self.sequence).field(self.bytes).field(u8::from(self.retransmitted));
        row.field(self.acknowledged).field(self.window_bytes).field(&*blocks).end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::tests::lines;

    #[test]
    fn a_row_has_a_field_for_each_column() {
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
            retransmitted: false,
            acknowledged: Some(12),
            window_bytes: 65_535,
            blocks: [(15, 16), (18, 20), (0, 0)],
        };
        let written = lines(&SEGMENT_COLUMNS, |table| row.write("a-b", table));
        assert_eq!(written[1], "a-b,reverse,5,,9,7,0,0,12,65535,15-16 18-20 ");
    }
}
