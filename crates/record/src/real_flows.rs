use crate::Table;
use std::io::{self, Write};
use std::net::IpAddr;

/// Fates of packets that are not delivered.
const FATES: usize = 11;

/// Columns of a table of [`FlowCountRow`]s.
pub const FLOW_COUNT_COLUMNS: [&str; 31] = [
    "flow",
    "protocol",
    "source",
    "source_port",
    "destination",
    "destination_port",
    "first_ns",
    "last_ns",
    "last_new_ns",
    "last_acknowledged_ns",
    "sent_packets",
    "sent_bytes",
    "payload_bytes",
    "new_bytes",
    "retransmitted_packets",
    "retransmitted_bytes",
    "acknowledged_bytes",
    "delivered_packets",
    "delivered_bytes",
    "copied_packets",
    "lost_packets",
    "overflowed_packets",
    "dropped_packets",
    "down_packets",
    "no_route_packets",
    "ttl_expired_packets",
    "too_big_packets",
    "answered_packets",
    "pacer_dropped_packets",
    "filtered_packets",
    "looped_packets",
];

/// Columns of a table of [`FlowSampleRow`]s.
pub const FLOW_SAMPLE_COLUMNS: [&str; 9] = [
    "t_ns",
    "flow",
    "sent_packets",
    "payload_bytes",
    "retransmitted_packets",
    "acknowledged_bytes",
    "delivered_packets",
    "delivered_bytes",
    "ended_packets",
];

/// A flow of real packets, and the fates of its packets: one direction of a connection, all datagrams from
/// one port to another, or the echo messages of one identifier.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlowCountRow {
    /// Its number; 0 is the sum of all flows that are not counted separately.
    pub flow: u32,
    /// The number of its protocol.
    pub protocol: u8,
    /// Address of the host that sends it; `None` of flow 0.
    pub source: Option<IpAddr>,
    /// Its port there, or the identifier of echo messages.
    pub source_port: Option<u16>,
    /// Address of the host that it is sent to.
    pub destination: Option<IpAddr>,
    /// Its port there.
    pub destination_port: Option<u16>,
    /// When its first packet came into the network.
    pub first_ns: u64,
    /// When its last packet did.
    pub last_ns: u64,
    /// When new data of a TCP connection did last.
    pub last_new_ns: Option<u64>,
    /// When the sender of this flow last acknowledged something new of the opposite one.
    pub last_acknowledged_ns: Option<u64>,
    /// Counts so far.
    pub counts: FlowCounts,
    /// Payload that was not sent before, by the sequence numbers of TCP.
    pub new_bytes: u64,
    /// Retransmitted payload.
    pub retransmitted_bytes: u64,
    /// IP bytes that came into the network.
    pub sent_bytes: u64,
    /// Packets that links made.
    pub copied_packets: u64,
    /// Packets that ended otherwise, by their fate: lost, overflowed, dropped, down, no route, TTL expired, too
    /// big, answered, dropped by pacing, filtered by switches, looped.
    pub ended: [u64; FATES],
}

/// Counts of a flow that are sampled over time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlowCounts {
    /// Packets that came into the network.
    pub sent_packets: u64,
    /// Payload of TCP, UDP or ICMP in them, retransmissions included.
    pub payload_bytes: u64,
    /// Packets that carry nothing new.
    pub retransmitted_packets: u64,
    /// Payload of the opposite flow that the sender of this one acknowledged: it arrived there in order.
    pub acknowledged_bytes: u64,
    /// Packets that reached their host.
    pub delivered_packets: u64,
    /// Their IP bytes.
    pub delivered_bytes: u64,
}

/// The counts of a flow at one instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowSampleRow {
    /// When, since the start of the run.
    pub t_ns: u64,
    /// Its number.
    pub flow: u32,
    /// Counts so far.
    pub counts: FlowCounts,
    /// Packets that ended otherwise than delivered.
    pub ended_packets: u64,
}

impl FlowCountRow {
    /// Writes the row.
    ///
    /// # Errors
    /// If the table cannot be written.
    pub fn write(&self, table: &mut Table<impl Write>) -> io::Result<()> {
        let of = &self.counts;
        let counts = [
            of.sent_packets,
            self.sent_bytes,
            of.payload_bytes,
            self.new_bytes,
            of.retransmitted_packets,
            self.retransmitted_bytes,
            of.acknowledged_bytes,
            of.delivered_packets,
            of.delivered_bytes,
            self.copied_packets,
        ];
        let row = table.row().field(self.flow).field(self.protocol);
        let row = row.field(self.source).field(self.source_port);
        let row = row.field(self.destination).field(self.destination_port);
        let row = row.field(self.first_ns).field(self.last_ns).field(self.last_new_ns);
        row.field(self.last_acknowledged_ns).fields(counts).fields(self.ended).end()
    }
}

impl FlowSampleRow {
    /// Writes the row.
    ///
    /// # Errors
    /// If the table cannot be written.
    pub fn write(&self, table: &mut Table<impl Write>) -> io::Result<()> {
        let of = &self.counts;
        let counts = [
            of.sent_packets,
            of.payload_bytes,
            of.retransmitted_packets,
            of.acknowledged_bytes,
            of.delivered_packets,
            of.delivered_bytes,
            self.ended_packets,
        ];
        table.row().field(self.t_ns).field(self.flow).fields(counts).end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_have_as_many_fields_as_columns() {
        let row = FlowCountRow {
            flow: 1,
            protocol: 6,
            source: Some([10, 0, 0, 1].into()),
            source_port: Some(40_000),
            destination: None,
            destination_port: None,
            first_ns: 1,
            last_ns: 2,
            last_new_ns: None,
            last_acknowledged_ns: Some(3),
            counts: FlowCounts::default(),
            new_bytes: 0,
            retransmitted_bytes: 0,
            sent_bytes: 0,
            copied_packets: 0,
            ended: [0; FATES],
        };
        let sample = FlowSampleRow { t_ns: 5, flow: 1, counts: FlowCounts::default(), ended_packets: 0 };
        let (mut counts, mut samples) = (Vec::new(), Vec::new());
        row.write(&mut Table::new(&mut counts, &FLOW_COUNT_COLUMNS).unwrap()).unwrap();
        sample.write(&mut Table::new(&mut samples, &FLOW_SAMPLE_COLUMNS).unwrap()).unwrap();
        assert!(counts.ends_with(b"1,6,10.0.0.1,40000,,,1,2,,3,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0\n"));
        assert!(samples.ends_with(b"5,1,0,0,0,0,0,0,0\n"));
    }
}
