use crate::agent::{AgentContext, Way};
use crate::datagram_stats::DatagramStats;
use crate::payload::{Payload, PayloadSink};
use crate::schedule::Schedule;
use longhaul_network::NodeId;
use longhaul_units::Time;

/// Sends datagrams on schedule.
#[derive(Debug)]
pub struct DatagramSource {
    pub way: Way,
    schedule: Schedule,
    /// IP and UDP headers.
    header_bytes: u32,
    pub sent: u64,
    pub sent_bytes: u64,
}

impl DatagramSource {
    pub fn new(way: Way, schedule: Schedule) -> Self {
        DatagramSource { way, schedule, header_bytes: header_bytes(way.ipv6), sent: 0, sent_bytes: 0 }
    }

    pub fn timer(&self) -> Time {
        self.schedule.timer()
    }

    /// Bytes of the largest packet that it may send, IP and above.
    pub fn largest(&self) -> u32 {
        self.schedule.largest() + self.header_bytes
    }

    /// The host that it lives on.
    pub fn home(&self) -> NodeId {
        self.way.from
    }

    pub fn expire(&mut self, context: &mut AgentContext<'_, impl PayloadSink>) {
        if context.now < self.schedule.timer() {
            return;
        }
        let bytes = self.schedule.depart();
        let payload = Payload::Datagram { number: self.sent, bytes, sent: context.now };
        context.send(&self.way, payload, bytes + self.header_bytes, 0);
        self.sent += 1;
        self.sent_bytes += u64::from(bytes);
    }
}

/// Bytes of the headers of IP and UDP.
pub fn header_bytes(ipv6: bool) -> u32 {
    8 + if ipv6 { 40 } else { 20 }
}

/// Receives datagrams and counts.
pub struct DatagramSink {
    /// The host that it lives on.
    pub home: NodeId,
    pub stats: DatagramStats,
}

impl DatagramSink {
    pub fn new(home: NodeId) -> Self {
        DatagramSink { home, stats: DatagramStats::default() }
    }
}
