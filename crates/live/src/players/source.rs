use super::stamp::{self, STAMP};
use super::wait::Waker;
use crate::clock::Clock;
use longhaul_endpoints::Schedule;
use longhaul_record::Distribution;
use longhaul_units::{Span, Time};
use serde_json::{Value, json};
use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::AsRawFd;

/// Datagrams that one system call sends at most.
const BATCH: usize = 64;
/// The largest payload of a datagram.
const LARGEST: usize = 65_507;

/// Sends the datagrams of a schedule.
pub struct Source {
    schedule: Schedule,
    /// How long it stays afterwards.
    linger: Span,
    from: SocketAddr,
    to: SocketAddr,
    socket: Option<UdpSocket>,
    /// How long after its instant each datagram was given to the kernel.
    lateness: Distribution,
    sent: u64,
    sent_bytes: u64,
    /// Datagrams that the kernel refused, and the first reason.
    failed: u64,
    error: Option<String>,
}

/// A datagram that is due.
#[derive(Clone, Copy)]
struct Due {
    stamp: [u8; STAMP],
    bytes: usize,
}

impl Source {
    pub fn new(schedule: Schedule, linger: Span, from: SocketAddr, to: SocketAddr) -> Self {
        Source {
            schedule,
            linger,
            from,
            to,
            socket: None,
            lateness: Distribution::new(),
            sent: 0,
            sent_bytes: 0,
            failed: 0,
            error: None,
        }
    }

    pub fn open(&mut self) -> io::Result<()> {
        // It stays unconnected: what routers say about one datagram is not to stop the next.
        self.socket = Some(UdpSocket::bind(self.from)?);
        Ok(())
    }

    pub fn play(mut self, clock: Clock) -> io::Result<Value> {
        let Some(socket) = self.socket.take() else { return Err(io::ErrorKind::NotConnected.into()) };
        let mut waker = Waker::new(clock);
        let mut batch = Batch::new(self.to);
        let mut last = Time::ZERO;
        while self.schedule.timer() != Time::NEVER && waker.sleep_until(self.schedule.timer()) {
            let now = clock.now();
            while self.schedule.timer() <= now && batch.due.len() < BATCH {
                last = self.schedule.timer();
                let bytes = self.schedule.depart();
                self.lateness.add(now.since(last).ns(), 1);
                let number = self.sent + batch.due.len() as u64;
                batch.due.push(Due { stamp: stamp::write(number, now.ns()), bytes: bytes as usize });
            }
            self.send(&socket, &mut batch);
        }
        let done = self.schedule.timer() == Time::NEVER;
        let end = if done { last } else { clock.now() };
        if done {
            waker.sleep_until(end + self.linger);
        }
        Ok(json!({
            "sent": self.sent,
            "bytes_sent": self.sent_bytes,
            "failed": self.failed,
            "error": self.error,
            "done": done,
            "end_ns": end.ns(),
            "lateness": self.lateness.summary(),
        }))
    }

    /// Sends what has gathered. What the kernel refuses counts as sent, and is lost.
    fn send(&mut self, socket: &UdpSocket, batch: &mut Batch) {
        let mut first = 0;
        while first < batch.due.len() {
            match batch.send(socket, first) {
                Ok(sent) => first += sent,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    self.failed += 1;
                    self.error.get_or_insert_with(|| error.to_string());
                    first += 1;
                }
            }
        }
        self.sent += batch.due.len() as u64;
        self.sent_bytes += batch.due.iter().map(|due| due.bytes as u64).sum::<u64>();
        batch.due.clear();
    }
}

/// Datagrams that leave together, and what the kernel wants to see of them.
struct Batch {
    due: Vec<Due>,
    zeros: Vec<u8>,
    to: nix::sys::socket::SockaddrStorage,
    parts: Vec<[libc::iovec; 2]>,
    messages: Vec<libc::mmsghdr>,
}

impl Batch {
    fn new(to: SocketAddr) -> Self {
        Batch {
            due: Vec::with_capacity(BATCH),
            zeros: vec![0; LARGEST],
            to: to.into(),
            parts: Vec::with_capacity(BATCH),
            messages: Vec::with_capacity(BATCH),
        }
    }

    /// Sends those from `first` on; returns how many it sent, at least one.
    fn send(&mut self, socket: &UdpSocket, first: usize) -> io::Result<usize> {
        use nix::sys::socket::SockaddrLike;
        let due = &mut self.due[first..];
        let part = |start: *mut u8, length| libc::iovec { iov_base: start.cast(), iov_len: length };
        self.parts.clear();
        self.messages.clear();
        for each in due.iter_mut() {
            let head = each.bytes.min(STAMP);
            let rest = (each.bytes - head).min(LARGEST);
            self.parts.push([part(each.stamp.as_mut_ptr(), head), part(self.zeros.as_mut_ptr(), rest)]);
        }
        for parts in &mut self.parts {
            // SAFETY: an all-zero header is valid.
            let mut message: libc::mmsghdr = unsafe { std::mem::zeroed() };
            message.msg_hdr.msg_name = self.to.as_ptr().cast_mut().cast();
            message.msg_hdr.msg_namelen = self.to.len();
            message.msg_hdr.msg_iov = parts.as_mut_ptr();
            message.msg_hdr.msg_iovlen = 2;
            self.messages.push(message);
        }
        // SAFETY: all that the headers point at outlives the call and is not moved: the parts were
        // gathered before the first pointer to them was taken.
        let sent = unsafe {
            libc::sendmmsg(socket.as_raw_fd(), self.messages.as_mut_ptr(), self.messages.len() as u32, 0)
        };
        usize::try_from(sent).map_err(|_| io::Error::last_os_error())
    }
}
