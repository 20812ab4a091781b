use super::datagram_header::{self, HEADER_BYTES};
use crate::clock::{Clock, unix_ns};
use crate::readiness::readable;
use crate::supervisor::ending::{stop_requested, wait_with_signals};
use crate::sys::datagrams::Receiver;
use longhaul_endpoints::DatagramStats;
use longhaul_plan::Plan;
use longhaul_units::Span;
use nix::sys::socket::{setsockopt, sockopt};
use serde::Serialize;
use serde_json::{Value, json};
use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::AsFd;

/// Most datagrams that one system call receives.
const BATCH: usize = 64;
/// Longest time between two polls.
const POLL_INTERVAL_NS: u64 = 1_000_000_000;
/// Receive buffer of the socket: 100 ms at 1 Gbit/s, so that the sink may be descheduled for that long.
const RECEIVE_BUFFER_BYTES: usize = 16 << 20;

/// Receives datagrams and measures each.
pub struct Sink<'a> {
    plan: &'a Plan,
    at: SocketAddr,
    socket: Option<UdpSocket>,
    stats: DatagramStats,
    /// Datagrams of other senders.
    foreign: u64,
    intervals: Vec<Interval>,
}

/// Arrivals of one sampling interval.
#[derive(Clone, Copy, Debug, Default, Serialize)]
struct Interval {
    start_ns: u64,
    end_ns: u64,
    bytes: u64,
    packets: u64,
    delay_max_ns: u64,
    delay_sum_ns: u64,
    delays: u64,
}

/// A datagram that has arrived.
struct Arrival<'a> {
    header: &'a [u8],
    bytes: u32,
    at_ns: u64,
}

impl<'a> Sink<'a> {
    pub fn new(plan: &'a Plan, at: SocketAddr) -> Self {
        Sink { plan, at, socket: None, stats: DatagramStats::default(), foreign: 0, intervals: Vec::new() }
    }

    pub fn open(&mut self) -> io::Result<()> {
        let socket = UdpSocket::bind(self.at)?;
        setsockopt(&socket, sockopt::ReceiveTimestampns, &true)?;
        // SO_RCVBUFFORCE exceeds the limit for ordinary users, and needs CAP_NET_ADMIN.
        setsockopt(&socket, sockopt::RcvBufForce, &RECEIVE_BUFFER_BYTES)
            .or_else(|_| setsockopt(&socket, sockopt::RcvBuf, &RECEIVE_BUFFER_BYTES))?;
        self.socket = Some(socket);
        Ok(())
    }

    pub fn run(mut self, clock: Clock) -> io::Result<Value> {
        let Some(socket) = self.socket.take() else { return Err(io::ErrorKind::NotConnected.into()) };
        let mut buffers = ReceiveBuffers::new();
        loop {
            let stopping = stop_requested();
            while let Some(arrived) = buffers.receive(&socket, clock)? {
                (0..arrived).for_each(|place| self.record(&buffers.arrival(place)));
            }
            if stopping {
                break;
            }
            wait_with_signals(&mut [readable(socket.as_fd())], POLL_INTERVAL_NS);
        }
        let stats = &self.stats;
        Ok(json!({
            "received": stats.received,
            "bytes": stats.received_bytes,
            "copies": stats.copies,
            "reordered": stats.reordered,
            "foreign": self.foreign,
            "delay": stats.delay.summary(),
            "intervals": self.intervals,
        }))
    }

    fn record(&mut self, arrival: &Arrival<'_>) {
        let known = datagram_header::decode(arrival.header, self.stats.expected());
        let Some((number, sent_ns)) = known else {
            self.foreign += 1;
            return;
        };
        let delay_ns = sent_ns.map(|sent_ns| arrival.at_ns.saturating_sub(sent_ns));
        self.stats.receive(number, arrival.bytes, delay_ns.map(Span::from_ns));
        let every_ns = self.plan.measure.every_ns;
        let start_ns = arrival.at_ns - arrival.at_ns % every_ns;
        // Arrival times of a burst may go back a little over the border of an interval.
        if self.intervals.last().is_none_or(|last| last.start_ns < start_ns) {
            self.intervals.push(Interval { start_ns, end_ns: start_ns + every_ns, ..Interval::default() });
        }
        if let Some(interval) = self.intervals.last_mut() {
            interval.bytes += u64::from(arrival.bytes);
            interval.packets += 1;
            if let Some(delay_ns) = delay_ns {
                interval.delays += 1;
                interval.delay_sum_ns += delay_ns;
                interval.delay_max_ns = interval.delay_max_ns.max(delay_ns);
            }
        }
    }
}

/// Buffers of one call. Only the headers of datagrams are copied out of the kernel.
struct ReceiveBuffers {
    receiver: Receiver<HEADER_BYTES>,
    /// When the batch was received, on the run's clock and on that of the arrival times.
    now_ns: u64,
    now_unix_ns: u64,
}

impl ReceiveBuffers {
    fn new() -> Self {
        ReceiveBuffers { receiver: Receiver::new(BATCH), now_ns: 0, now_unix_ns: 0 }
    }

    /// Receives the waiting datagrams; `None` if there are none.
    fn receive(&mut self, socket: &UdpSocket, clock: Clock) -> io::Result<Option<usize>> {
        let received = self.receiver.receive(socket)?;
        (self.now_ns, self.now_unix_ns) = (clock.ns(), unix_ns());
        Ok(Some(received).filter(|&received| received > 0))
    }

    /// The datagram at `place` of the last batch.
    fn arrival(&self, place: usize) -> Arrival<'_> {
        let (header, bytes) = self.receiver.datagram(place);
        let at_ns = match self.receiver.arrived_unix_ns(place) {
            Some(unix) => self.now_ns.saturating_sub(self.now_unix_ns.saturating_sub(unix)),
            None => self.now_ns,
        };
        Arrival { header, bytes, at_ns }
    }
}
