use crate::Table;
use std::io::{self, Write};

/// Columns of a table of [`SampleRow`]s.
pub const SAMPLE_COLUMNS: [&str; 17] = [
    "t_ns",
    "link",
    "way",
    "offered_packets",
    "offered_bytes",
    "copied_packets",
    "delivered_packets",
    "delivered_bytes",
    "wire_bytes",
    "lost_packets",
    "overflowed_packets",
    "dropped_packets",
    "down_packets",
    "too_big_packets",
    "waiting_packets",
    "waiting_bytes",
    "flying_packets",
];

/// Columns of a table of [`PacketRow`]s.
pub const PACKET_COLUMNS: [&str; 7] = ["link", "way", "offered_ns", "due_ns", "bytes", "fate", "flow"];

/// The counters of one direction of a link at one instant; they never go back, but for the last three.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SampleRow {
    /// When, since the start of the run.
    pub t_ns: u64,
    /// Position of the link in the plan.
    pub link: u32,
    /// Whether this is the direction from the second endpoint to the first.
    pub reverse: bool,
    /// Packets that came to the link.
    pub offered_packets: u64,
    /// Their IP bytes.
    pub offered_bytes: u64,
    /// Duplicates made.
    pub copied_packets: u64,
    /// Packets that left at the far end.
    pub delivered_packets: u64,
    /// Their IP bytes.
    pub delivered_bytes: u64,
    /// Bytes, with framing, of the packets that have begun to leave.
    pub wire_bytes: u64,
    /// Ended by the loss model.
    pub lost_packets: u64,
    /// Ended by the queue's limit.
    pub overflowed_packets: u64,
    /// Ended by active queue management.
    pub dropped_packets: u64,
    /// Ended because the link was down.
    pub down_packets: u64,
    /// Refused because of the MTU.
    pub too_big_packets: u64,
    /// Waiting now.
    pub waiting_packets: u64,
    /// IP bytes waiting now.
    pub waiting_bytes: u64,
    /// On the wire now.
    pub flying_packets: u64,
}

impl SampleRow {
    /// Writes the row; `link` is the link's name.
    ///
    /// # Errors
    /// If the table cannot be written.
    pub fn write(&self, link: &str, table: &mut Table<impl Write>) -> io::Result<()> {
        let counts = [
            self.offered_packets,
            self.offered_bytes,
            self.copied_packets,
            self.delivered_packets,
            self.delivered_bytes,
            self.wire_bytes,
            self.lost_packets,
            self.overflowed_packets,
            self.dropped_packets,
            self.down_packets,
            self.too_big_packets,
            self.waiting_packets,
            self.waiting_bytes,
            self.flying_packets,
        ];
        table.row().field(self.t_ns).field(link).field(way(self.reverse)).fields(counts).end()
    }
}

/// The passage of one packet over one link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketRow {
    /// Position of the link in the plan.
    pub link: u32,
    /// Whether it went from the second endpoint to the first.
    pub reverse: bool,
    /// When it came to the link.
    pub offered_ns: u64,
    /// When it left at the far end; `None` if it ended on the way.
    pub due_ns: Option<u64>,
    /// IP bytes.
    pub bytes: u32,
    /// `delivered`, or what ended it.
    pub fate: &'static str,
    /// Its hash of hosts, protocol and ports.
    pub flow: u32,
}

impl PacketRow {
    /// Writes the row; `link` is the link's name.
    ///
    /// # Errors
    /// If the table cannot be written.
    pub fn write(&self, link: &str, table: &mut Table<impl Write>) -> io::Result<()> {
        let row = table.row().field(link).field(way(self.reverse)).field(self.offered_ns).field(self.due_ns);
        row.field(self.bytes).field(self.fate).field(self.flow).end()
    }
}

pub(crate) fn way(reverse: bool) -> &'static str {
    if reverse { "reverse" } else { "forward" }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::tests::lines;

    #[test]
    fn a_sample_has_a_field_for_each_column() {
        let written = lines(&SAMPLE_COLUMNS, |table| SampleRow::default().write("a-b", table));
        assert_eq!(written[1], "0,a-b,forward,0,0,0,0,0,0,0,0,0,0,0,0,0,0");
    }

    #[test]
    fn a_packet_that_ended_has_no_due_time() {
        let row = PacketRow {
            link: 0,
            reverse: true,
            offered_ns: 5,
            due_ns: None,
            bytes: 84,
            fate: "lost",
            flow: 9,
        };
        let written = lines(&PACKET_COLUMNS, |table| row.write("a-b", table));
        assert_eq!(written[1], "a-b,reverse,5,,84,lost,9");
    }
}
