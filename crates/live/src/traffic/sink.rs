use super::datagram_header::{self, HEADER_BYTES};
use crate::clock::{Clock, unix_ns};
use crate::supervisor::ending::{stop_requested, wait_with_signals};
use longhaul_endpoints::DatagramStats;
use longhaul_plan::Plan;
use longhaul_units::Span;
use serde::Serialize;
use serde_json::{Value, json};
use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::AsRawFd;

/// Most datagrams that one system call receives.
const BATCH: usize = 64;
/// Longest time between two polls.
const POLL_INTERVAL_NS: u64 = 1_000_000_000;
/// Receive buffer of the socket: 100 ms at 1 Gbit/s, so that the sink may be descheduled for that long.
const RECEIVE_BUFFER_BYTES: libc::c_int = 16 << 20;
/// Length of the control message with the arrival time.
const CONTROL_BYTES: usize = 64;

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
struct Arrival {
    header: [u8; HEADER_BYTES],
    header_bytes: usize,
    bytes: u32,
    at_ns: u64,
}

impl<'a> Sink<'a> {
    pub fn new(plan: &'a Plan, at: SocketAddr) -> Self {
        Sink { plan, at, socket: None, stats: DatagramStats::default(), foreign: 0, intervals: Vec::new() }
    }

    pub fn open(&mut self) -> io::Result<()> {
        let socket = UdpSocket::bind(self.at)?;
        set(&socket, libc::SO_TIMESTAMPNS, 1)?;
        // SO_RCVBUFFORCE exceeds the limit for ordinary users, and needs CAP_NET_ADMIN.
        set(&socket, libc::SO_RCVBUFFORCE, RECEIVE_BUFFER_BYTES)
            .or_else(|_| set(&socket, libc::SO_RCVBUF, RECEIVE_BUFFER_BYTES))?;
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
            let readable = libc::pollfd { fd: socket.as_raw_fd(), events: libc::POLLIN, revents: 0 };
            wait_with_signals(&mut [readable], POLL_INTERVAL_NS);
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

    fn record(&mut self, arrival: &Arrival) {
        let known = datagram_header::decode(&arrival.header[..arrival.header_bytes], self.stats.expected());
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

fn set(socket: &UdpSocket, option: libc::c_int, value: libc::c_int) -> io::Result<()> {
    // SAFETY: the value outlives the call, and its size is the one given.
    let result = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            option,
            (&raw const value).cast(),
            size_of::<libc::c_int>() as libc::socklen_t,
        )
    };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Buffers of one call. Only the headers of datagrams are copied out of the kernel.
struct ReceiveBuffers {
    headers: Vec<[u8; HEADER_BYTES]>,
    controls: Vec<Control>,
    parts: Vec<libc::iovec>,
    messages: Vec<libc::mmsghdr>,
    /// When the batch was received, on the run's clock and on that of the arrival times.
    now_ns: u64,
    now_unix_ns: u64,
}

/// A control message, aligned as the kernel requires.
#[repr(C, align(8))]
#[derive(Clone, Copy)]
struct Control([u8; CONTROL_BYTES]);

impl ReceiveBuffers {
    fn new() -> Self {
        ReceiveBuffers {
            headers: vec![[0; HEADER_BYTES]; BATCH],
            controls: vec![Control([0; CONTROL_BYTES]); BATCH],
            parts: Vec::with_capacity(BATCH),
            messages: Vec::with_capacity(BATCH),
            now_ns: 0,
            now_unix_ns: 0,
        }
    }

    /// Receives the waiting datagrams; `None` if there are none.
    fn receive(&mut self, socket: &UdpSocket, clock: Clock) -> io::Result<Option<usize>> {
        self.parts.clear();
        self.messages.clear();
        for header in &mut self.headers {
            self.parts.push(libc::iovec { iov_base: header.as_mut_ptr().cast(), iov_len: HEADER_BYTES });
        }
        for (part, control) in self.parts.iter_mut().zip(&mut self.controls) {
            // SAFETY: an all-zero header is valid.
            let mut message: libc::mmsghdr = unsafe { std::mem::zeroed() };
            message.msg_hdr.msg_iov = part;
            message.msg_hdr.msg_iovlen = 1;
            message.msg_hdr.msg_control = control.0.as_mut_ptr().cast();
            message.msg_hdr.msg_controllen = CONTROL_BYTES as _;
            self.messages.push(message);
        }
        // With MSG_TRUNC, the length of a message is that of the whole datagram.
        let flags = libc::MSG_DONTWAIT | libc::MSG_TRUNC;
        // SAFETY: everything that the headers point at outlives the call and is not moved.
        let received = unsafe {
            libc::recvmmsg(
                socket.as_raw_fd(),
                self.messages.as_mut_ptr(),
                BATCH as u32,
                flags as _,
                std::ptr::null_mut(),
            )
        };
        (self.now_ns, self.now_unix_ns) = (clock.ns(), unix_ns());
        if received > 0 {
            return Ok(Some(received as usize));
        }
        let error = io::Error::last_os_error();
        match error.kind() {
            io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted => Ok(None),
            _ if received == 0 => Ok(None),
            _ => Err(error),
        }
    }

    /// The datagram at `place` of the last batch.
    fn arrival(&self, place: usize) -> Arrival {
        let message = &self.messages[place];
        let bytes = message.msg_len;
        let at_ns = match arrived_unix_ns(&message.msg_hdr) {
            Some(unix) => self.now_ns.saturating_sub(self.now_unix_ns.saturating_sub(unix)),
            None => self.now_ns,
        };
        Arrival {
            header: self.headers[place],
            header_bytes: (bytes as usize).min(HEADER_BYTES),
            bytes,
            at_ns,
        }
    }
}

/// When the kernel took a datagram from the network, in ns since 1970.
fn arrived_unix_ns(header: &libc::msghdr) -> Option<u64> {
    // SAFETY: the kernel filled the control buffer, whose length it set; the macros stay within it.
    unsafe {
        let control = libc::CMSG_FIRSTHDR(header);
        if control.is_null()
            || (*control).cmsg_level != libc::SOL_SOCKET
            || (*control).cmsg_type != libc::SCM_TIMESTAMPNS
        {
            return None;
        }
        let time: libc::timespec = std::ptr::read_unaligned(libc::CMSG_DATA(control).cast());
        Some(time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64)
    }
}
