use super::stamp::{self, STAMP};
use crate::clock::{Clock, unix_ns};
use crate::supervisor::ending::{told_to_stop, wait_with_signals};
use longhaul_endpoints::DatagramStats;
use longhaul_plan::Plan;
use longhaul_units::Span;
use serde::Serialize;
use serde_json::{Value, json};
use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::AsRawFd;

/// Datagrams that one system call receives at most.
const BATCH: usize = 64;
/// Longest time between two looks.
const LOOK_NS: u64 = 1_000_000_000;
/// Of the socket: 100 ms of 1 Gbit/s, so that the sink may be off the processor that long.
const BUFFER: libc::c_int = 16 << 20;
/// Of the control message with the instant of arrival.
const CONTROL: usize = 64;

/// Receives datagrams, and measures each.
pub struct Sink<'a> {
    plan: &'a Plan,
    at: SocketAddr,
    socket: Option<UdpSocket>,
    stats: DatagramStats,
    /// Datagrams that its source did not send.
    foreign: u64,
    intervals: Vec<Interval>,
}

/// What arrived during one sampling interval.
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
    head: [u8; STAMP],
    kept: usize,
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
        // The first asks for more than ordinary users may have.
        set(&socket, libc::SO_RCVBUFFORCE, BUFFER).or_else(|_| set(&socket, libc::SO_RCVBUF, BUFFER))?;
        self.socket = Some(socket);
        Ok(())
    }

    pub fn play(mut self, clock: Clock) -> io::Result<Value> {
        let Some(socket) = self.socket.take() else { return Err(io::ErrorKind::NotConnected.into()) };
        let mut inbox = Inbox::new();
        loop {
            let stopping = told_to_stop();
            while let Some(arrived) = inbox.receive(&socket, clock)? {
                (0..arrived).for_each(|place| self.note(&inbox.arrival(place)));
            }
            if stopping {
                break;
            }
            let readable = libc::pollfd { fd: socket.as_raw_fd(), events: libc::POLLIN, revents: 0 };
            wait_with_signals(&mut [readable], LOOK_NS);
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

    fn note(&mut self, arrival: &Arrival) {
        let known = stamp::read(&arrival.head[..arrival.kept], self.stats.expected());
        let Some((number, sent_ns)) = known else {
            self.foreign += 1;
            return;
        };
        let delay_ns = sent_ns.map(|sent_ns| arrival.at_ns.saturating_sub(sent_ns));
        self.stats.receive(number, arrival.bytes, delay_ns.map(Span::from_ns));
        let every_ns = self.plan.measure.every_ns;
        let start_ns = arrival.at_ns - arrival.at_ns % every_ns;
        // Stamps of a burst may go back a little over the border of an interval.
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
    // SAFETY: the value outlives the call, and its size is what is said.
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

/// Room for what arrives. Only the stamps are copied out of the kernel.
struct Inbox {
    heads: Vec<[u8; STAMP]>,
    controls: Vec<Control>,
    parts: Vec<libc::iovec>,
    messages: Vec<libc::mmsghdr>,
    /// When the batch was received, by the run's clock and by that of the stamps.
    now_ns: u64,
    now_unix_ns: u64,
}

/// Aligned as the kernel wants it.
#[repr(C, align(8))]
#[derive(Clone, Copy)]
struct Control([u8; CONTROL]);

impl Inbox {
    fn new() -> Self {
        Inbox {
            heads: vec![[0; STAMP]; BATCH],
            controls: vec![Control([0; CONTROL]); BATCH],
            parts: Vec::with_capacity(BATCH),
            messages: Vec::with_capacity(BATCH),
            now_ns: 0,
            now_unix_ns: 0,
        }
    }

    /// Receives what is there; `None`: nothing.
    fn receive(&mut self, socket: &UdpSocket, clock: Clock) -> io::Result<Option<usize>> {
        self.parts.clear();
        self.messages.clear();
        for head in &mut self.heads {
            self.parts.push(libc::iovec { iov_base: head.as_mut_ptr().cast(), iov_len: STAMP });
        }
        for (part, control) in self.parts.iter_mut().zip(&mut self.controls) {
            // SAFETY: an all-zero header is valid.
            let mut message: libc::mmsghdr = unsafe { std::mem::zeroed() };
            message.msg_hdr.msg_iov = part;
            message.msg_hdr.msg_iovlen = 1;
            message.msg_hdr.msg_control = control.0.as_mut_ptr().cast();
            message.msg_hdr.msg_controllen = CONTROL as _;
            self.messages.push(message);
        }
        // With MSG_TRUNC, the length of a message is that of the whole datagram.
        let flags = libc::MSG_DONTWAIT | libc::MSG_TRUNC;
        // SAFETY: all that the headers point at outlives the call and is not moved.
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

    /// What the last batch has at `place`.
    fn arrival(&self, place: usize) -> Arrival {
        let message = &self.messages[place];
        let bytes = message.msg_len;
        let at_ns = match arrived_unix_ns(&message.msg_hdr) {
            Some(unix) => self.now_ns.saturating_sub(self.now_unix_ns.saturating_sub(unix)),
            None => self.now_ns,
        };
        Arrival { head: self.heads[place], kept: (bytes as usize).min(STAMP), bytes, at_ns }
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
