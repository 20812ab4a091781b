use crate::Table;
use crate::rows::way;
use std::io::{self, Write};

/// Columns of a table of [`BinRow`]s.
pub const BIN_COLUMNS: [&str; 16] = [
    "start_ns",
    "link",
    "way",
    "offered_packets",
    "offered_bytes",
    "offered_wire_bytes",
    "delivered_packets",
    "delivered_bytes",
    "delivered_wire_bytes",
    "lost_packets",
    "overflowed_packets",
    "dropped_packets",
    "down_packets",
    "too_big_packets",
    "queue_packets",
    "queue_bytes",
];

/// Columns of a table of [`FlowBinRow`]s.
pub const FLOW_BIN_COLUMNS: [&str; 9] = [
    "start_ns",
    "link",
    "way",
    "flow",
    "offered_packets",
    "offered_bytes",
    "delivered_packets",
    "delivered_bytes",
    "ended_packets",
];

/// What one direction of a link did within one bin of time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BinRow {
    /// When the bin begins, since the start of the run.
    pub start_ns: u64,
    /// Position of the link in the plan.
    pub link: u32,
    /// Whether this is the direction from the second endpoint to the first.
    pub reverse: bool,
    /// Packets that came to the link.
    pub offered_packets: u64,
    /// Their IP bytes.
    pub offered_bytes: u64,
    /// Their bytes with framing.
    pub offered_wire_bytes: u64,
    /// Packets that were due at the far end.
    pub delivered_packets: u64,
    /// Their IP bytes.
    pub delivered_bytes: u64,
    /// Their bytes with framing.
    pub delivered_wire_bytes: u64,
    /// Ended by the loss model.
    pub lost_packets: u64,
    /// Ended by the queue's limit.
    pub overflowed_packets: u64,
    /// Ended by active queue management.
    pub dropped_packets: u64,
    /// Ended because the link was down.
    pub down_packets: u64,
    /// Refused because of the MTU; not among those that were offered.
    pub too_big_packets: u64,
    /// Waiting when the bin ended.
    pub queue_packets: u64,
    /// IP bytes waiting when the bin ended.
    pub queue_bytes: u64,
}

impl BinRow {
    /// Whether no event happened, and no packet waited at the end.
    pub fn is_empty(&self) -> bool {
        let BinRow { start_ns, link, reverse, .. } = *self;
        *self == BinRow { start_ns, link, reverse, ..BinRow::default() }
    }

    /// Writes the row; `link` is the link's name.
    ///
    /// # Errors
    /// If the table cannot be written.
    pub fn write(&self, link: &str, table: &mut Table<impl Write>) -> io::Result<()> {
        let counts = [
            self.offered_packets,
            self.offered_bytes,
            self.offered_wire_bytes,
            self.delivered_packets,
            self.delivered_bytes,
            self.delivered_wire_bytes,
            self.lost_packets,
            self.overflowed_packets,
            self.dropped_packets,
            self.down_packets,
            self.too_big_packets,
            self.queue_packets,
            self.queue_bytes,
        ];
        table.row().field(self.start_ns).field(link).field(way(self.reverse)).fields(counts).end()
    }
}

/// What one flow did on one direction of a link within one bin of time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlowBinRow {
    /// When the bin begins, since the start of the run.
    pub start_ns: u64,
    /// Position of the link in the plan.
    pub link: u32,
    /// Whether this is the direction from the second endpoint to the first.
    pub reverse: bool,
    /// The packets' hash of hosts, protocol and ports.
    pub flow: u32,
    /// Packets that came to the link.
    pub offered_packets: u64,
    /// Their IP bytes.
    pub offered_bytes: u64,
    /// Packets that were due at the far end.
    pub delivered_packets: u64,
    /// Their IP bytes.
    pub delivered_bytes: u64,
    /// Packets that ended otherwise.
    pub ended_packets: u64,
}

impl FlowBinRow {
    /// Writes the row; `link` is the link's name.
    ///
    /// # Errors
    /// If the table cannot be written.
    pub fn write(&self, link: &str, table: &mut Table<impl Write>) -> io::Result<()> {
        let counts = [
            self.offered_packets,
            self.offered_bytes,
            self.delivered_packets,
            self.delivered_bytes,
            self.ended_packets,
        ];
        let row = table.row().field(self.start_ns).field(link).field(way(self.reverse));
        row.field(self.flow).fields(counts).end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::tests::lines;

    #[test]
    fn rows_have_a_field_for_each_column() {
        let bin = lines(&BIN_COLUMNS, |table| BinRow::default().write("a-b", table));
        let flow = lines(&FLOW_BIN_COLUMNS, |table| FlowBinRow::default().write("a-b", table));
        assert_eq!(bin[1], "0,a-b,forward,0,0,0,0,0,0,0,0,0,0,0,0,0");
        assert_eq!(flow[1], "0,a-b,forward,0,0,0,0,0,0");
    }

    #[test]
    fn a_bin_in_which_somebody_waits_is_not_empty() {
        assert!(BinRow { start_ns: 5, link: 2, reverse: true, ..BinRow::default() }.is_empty());
        assert!(!BinRow { queue_packets: 1, ..BinRow::default() }.is_empty());
    }
}
