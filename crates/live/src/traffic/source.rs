use super::datagram_header::{self, HEADER_BYTES};
use super::timer::Timer;
use crate::clock::Clock;
use crate::sys::datagrams::Sender;
use longhaul_endpoints::Schedule;
use longhaul_record::Distribution;
use longhaul_units::{Span, Time};
use nix::sys::socket::SockaddrStorage;
use serde_json::{Value, json};
use std::io::{self, IoSlice};
use std::net::{SocketAddr, UdpSocket};

/// Most datagrams that one system call sends.
const BATCH: usize = 64;
/// The largest payload of a datagram.
const MAX_PAYLOAD_BYTES: usize = 65_507;

/// Sends the datagrams of a schedule.
pub struct Source {
    schedule: Schedule,
    /// How long the source stays after its last datagram.
    linger: Span,
    from: SocketAddr,
    to: SocketAddr,
    socket: Option<UdpSocket>,
    /// Lateness of each datagram when the kernel took it.
    lateness: Distribution,
    sent: u64,
    sent_bytes: u64,
    /// Datagrams that the kernel refused, and the first reason.
    failed: u64,
    error: Option<String>,
}

/// A datagram that is due.
#[derive(Clone, Copy)]
struct DueDatagram {
    stamp: [u8; HEADER_BYTES],
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
        // The socket stays unconnected, so that an ICMP error about one datagram does not stop the next.
        self.socket = Some(UdpSocket::bind(self.from)?);
        Ok(())
    }

    pub fn run(mut self, clock: Clock) -> io::Result<Value> {
        let Some(socket) = self.socket.take() else { return Err(io::ErrorKind::NotConnected.into()) };
        let mut timer = Timer::new(clock);
        let mut batch = Batch::new(self.to);
        let mut last = Time::ZERO;
        while self.schedule.timer() != Time::NEVER && timer.sleep_until(self.schedule.timer()) {
            let now = clock.now();
            while self.schedule.timer() <= now && batch.due.len() < BATCH {
                last = self.schedule.timer();
                let bytes = self.schedule.depart();
                self.lateness.add(now.since(last).ns(), 1);
                let number = self.sent + batch.due.len() as u64;
                batch.due.push(DueDatagram {
                    stamp: datagram_header::encode(number, now.ns()),
                    bytes: bytes as usize,
                });
            }
            self.send(&socket, &mut batch);
        }
        let done = self.schedule.timer() == Time::NEVER;
        let end = if done { last } else { clock.now() };
        if done {
            timer.sleep_until(end + self.linger);
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

    /// Sends the batch. A datagram that the kernel refuses counts as sent and lost.
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

/// Datagrams that one system call sends.
struct Batch {
    due: Vec<DueDatagram>,
    zeros: Vec<u8>,
    to: SockaddrStorage,
    sender: Sender,
}

impl Batch {
    fn new(to: SocketAddr) -> Self {
        Batch {
            due: Vec::with_capacity(BATCH),
            zeros: vec![0; MAX_PAYLOAD_BYTES],
            to: to.into(),
            sender: Sender::default(),
        }
    }

    /// Sends the datagrams from `first` on; returns how many it sent, at least one.
    fn send(&mut self, socket: &UdpSocket, first: usize) -> io::Result<usize> {
        let due = &self.due[first..];
        let mut parts = [[IoSlice::new(&[]); 2]; BATCH];
        for (parts, each) in parts.iter_mut().zip(due) {
            let header = each.bytes.min(HEADER_BYTES);
            let rest = (each.bytes - header).min(MAX_PAYLOAD_BYTES);
            *parts = [IoSlice::new(&each.stamp[..header]), IoSlice::new(&self.zeros[..rest])];
        }
        self.sender.send(socket, &self.to, &parts[..due.len()])
    }
}
