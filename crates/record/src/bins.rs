use std::io::{self, Write};

/// First line of a file of [`BinRow`]s.
pub const BINS_HEADER: &str = "start_ns,link,way,offered_packets,offered_bytes,offered_wire_bytes,\
delivered_packets,delivered_bytes,delivered_wire_bytes,lost_packets,overflowed_packets,dropped_packets,\
down_packets,too_big_packets,queue_packets,queue_bytes\n";

/// First line of a file of [`FlowBinRow`]s.
pub const FLOW_BINS_HEADER: &str = "start_ns,link,way,flow,offered_packets,offered_bytes,delivered_packets,\
delivered_bytes,ended_packets\n";

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
    /// Ended by the loss law.
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
    /// Whether nothing happened, and nobody waited at the end.
    pub fn is_empty(&self) -> bool {
        let BinRow { start_ns, link, reverse, .. } = *self;
        *self == BinRow { start_ns, link, reverse, ..BinRow::default() }
    }

    /// Writes the row; `link` is the link's name.
    pub fn write(&self, link: &str, out: &mut impl Write) -> io::Result<()> {
        writeln!(
            out,
            "{},{link},{},{},{},{},{},{},{},{},{},{},{},{},{},{}",
            self.start_ns,
            crate::rows::way(self.reverse),
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
        )
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
    pub fn write(&self, link: &str, out: &mut impl Write) -> io::Result<()> {
        writeln!(
            out,
            "{},{link},{},{},{},{},{},{},{}",
            self.start_ns,
            crate::rows::way(self.reverse),
            self.flow,
            self.offered_packets,
            self.offered_bytes,
            self.delivered_packets,
            self.delivered_bytes,
            self.ended_packets,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_have_as_many_fields_as_their_headers() {
        let (mut bins, mut flows) = (Vec::new(), Vec::new());
        BinRow::default().write("a-b", &mut bins).unwrap();
        FlowBinRow::default().write("a-b", &mut flows).unwrap();
        let fields = |text: &[u8]| text.split(|&byte| byte == b',').count();
        assert_eq!(fields(&bins), fields(BINS_HEADER.as_bytes()));
        assert_eq!(fields(&flows), fields(FLOW_BINS_HEADER.as_bytes()));
    }

    #[test]
    fn a_bin_in_which_somebody_waits_is_not_empty() {
        assert!(BinRow { start_ns: 5, link: 2, reverse: true, ..BinRow::default() }.is_empty());
        assert!(!BinRow { queue_packets: 1, ..BinRow::default() }.is_empty());
    }
}
