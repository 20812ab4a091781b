use crate::Table;
use std::io::{self, Write};

/// Columns of a table of [`FlowRow`]s.
pub const FLOW_COLUMNS: [&str; 10] = [
    "t_ns",
    "flow",
    "stream",
    "sent_bytes",
    "received_bytes",
    "window_segments",
    "threshold_segments",
    "rtt_ns",
    "retransmits",
    "in_flight",
];

/// Columns of a table of [`PingRow`]s.
pub const PING_COLUMNS: [&str; 4] = ["flow", "seq", "sent_ns", "rtt_ns"];

/// Columns of a table of [`RequestRow`]s.
pub const REQUEST_COLUMNS: [&str; 5] = ["flow", "number", "start_ns", "bytes", "took_ns"];

/// One transfer of many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestRow {
    /// Position of the flow in the plan.
    pub flow: u32,
    /// Its number, from 0.
    pub number: u32,
    /// When it began, since the start of the run.
    pub start_ns: u64,
    /// Payload.
    pub bytes: u64,
    /// Until the sender knew that all had arrived and both ends had closed; `None`: not by the end.
    pub took_ns: Option<u64>,
}

impl RequestRow {
    /// Writes the row; `flow` is the flow's name.
    ///
    /// # Errors
    /// If the table cannot be written.
    pub fn write(&self, flow: &str, table: &mut Table<impl Write>) -> io::Result<()> {
        let row = table.row().field(flow).field(self.number).field(self.start_ns);
        row.field(self.bytes).field(self.took_ns).end()
    }
}

/// One connection, or one stream of datagrams, at one instant; counts are totals.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FlowRow {
    /// When, since the start of the run.
    pub t_ns: u64,
    /// Position of the flow in the plan.
    pub flow: u32,
    /// Which of its connections.
    pub stream: u32,
    /// Payload sent, retransmissions included.
    pub sent_bytes: u64,
    /// Payload received, in order.
    pub received_bytes: u64,
    /// Congestion window, in segments; `None` for datagrams.
    pub window_segments: Option<f64>,
    /// Slow-start threshold, in segments; `None` before the first congestion.
    pub threshold_segments: Option<f64>,
    /// Smoothed RTT; `None` before the first sample.
    pub rtt_ns: Option<u64>,
    /// Retransmitted segments.
    pub retransmits: u64,
    /// Segments on their way, as the sender thinks.
    pub in_flight: u32,
}

impl FlowRow {
    /// Writes the row; `flow` is the flow's name.
    ///
    /// # Errors
    /// If the table cannot be written.
    pub fn write(&self, flow: &str, table: &mut Table<impl Write>) -> io::Result<()> {
        let row = table.row().field(self.t_ns).field(flow).field(self.stream);
        let row = row.field(self.sent_bytes).field(self.received_bytes);
        let row = row.field(self.window_segments).field(self.threshold_segments).field(self.rtt_ns);
        row.field(self.retransmits).field(self.in_flight).end()
    }
}

/// One echo request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PingRow {
    /// Position of the flow in the plan.
    pub flow: u32,
    /// Its number, from 1.
    pub seq: u64,
    /// When it left, since the start of the run.
    pub sent_ns: u64,
    /// When its answer came, after that; `None`: never.
    pub rtt_ns: Option<u64>,
}

impl PingRow {
    /// Writes the row; `flow` is the flow's name.
    ///
    /// # Errors
    /// If the table cannot be written.
    pub fn write(&self, flow: &str, table: &mut Table<impl Write>) -> io::Result<()> {
        table.row().field(flow).field(self.seq).field(self.sent_ns).field(self.rtt_ns).end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::tests::lines;

    #[test]
    fn rows_have_a_field_for_each_column() {
        let row = FlowRow {
            t_ns: 5,
            flow: 0,
            stream: 1,
            sent_bytes: 2,
            received_bytes: 1,
            window_segments: Some(10.5),
            threshold_segments: None,
            rtt_ns: None,
            retransmits: 0,
            in_flight: 3,
        };
        let echo = PingRow { flow: 0, seq: 1, sent_ns: 9, rtt_ns: None };
        let request = RequestRow { flow: 0, number: 3, start_ns: 4, bytes: 5, took_ns: None };
        assert_eq!(lines(&FLOW_COLUMNS, |table| row.write("bulk", table))[1], "5,bulk,1,2,1,10.5,,,0,3");
        assert_eq!(lines(&PING_COLUMNS, |table| echo.write("probe", table))[1], "probe,1,9,");
        assert_eq!(lines(&REQUEST_COLUMNS, |table| request.write("rpc", table))[1], "rpc,3,4,5,");
    }
}
