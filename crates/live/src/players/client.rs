use super::wait::Waker;
use super::watch::{Until, Watch};
use crate::clock::Clock;
use crate::sockets::Socket;
use longhaul_record::Distribution;
use longhaul_units::Time;
use serde_json::{Value, json};
use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::os::fd::{AsRawFd, OwnedFd};

/// What one call hands over at most, in bytes.
const CHUNK: usize = 1 << 18;

/// A transfer that is to be.
#[derive(Clone, Copy, Debug)]
pub struct Transfer {
    pub at: Time,
    /// Position of its flow in the plan, and its number in it.
    pub flow: usize,
    pub number: u32,
    pub bytes: u64,
    pub to: SocketAddr,
}

/// Makes transfers, each over a connection of its own, at their instants.
///
/// A transfer has ended when the other end, having read it all, has closed.
pub struct Client {
    /// By instant.
    transfers: Vec<Transfer>,
    law: Option<String>,
    watch: Option<Watch>,
    open: Vec<Option<Running>>,
    free: Vec<usize>,
    zeros: Vec<u8>,
    outcome: Outcome,
}

/// A transfer under way.
struct Running {
    place: usize,
    connection: TcpStream,
    began_ns: u64,
    left: u64,
}

/// What has come of transfers.
#[derive(Default)]
struct Outcome {
    /// Flow, number, planned start, how late it began, bytes, how long it took.
    rows: Vec<(usize, u32, u64, u64, u64, Option<u64>)>,
    took: Distribution,
    lateness: Distribution,
    last_ns: u64,
    failed: u64,
    error: Option<String>,
    bytes: u64,
    bytes_sent: u64,
    segments_sent: u64,
    retransmits: u64,
}

impl Client {
    /// Of `transfers`, with the kernel's congestion control `law`; `None`: the host's.
    pub fn new(mut transfers: Vec<Transfer>, law: Option<String>) -> Self {
        transfers.sort_by_key(|each| (each.at, each.flow, each.number));
        Client {
            transfers,
            law,
            watch: None,
            open: Vec::new(),
            free: Vec::new(),
            zeros: Vec::new(),
            outcome: Outcome::default(),
        }
    }

    pub fn open(&mut self) -> io::Result<()> {
        self.watch = Some(Watch::new()?);
        self.zeros = vec![0; CHUNK];
        // Says before the run begins whether there is such a law.
        self.transfers.first().map_or(Ok(()), |first| socket(first.to, self.law.as_deref()).map(drop))
    }

    pub fn play(mut self, clock: Clock) -> io::Result<Value> {
        let Some(mut watch) = self.watch.take() else { return Err(io::ErrorKind::NotConnected.into()) };
        let (mut waker, mut next, mut ready) = (Waker::new(clock), 0, Vec::new());
        let done = loop {
            while self.transfers.get(next).is_some_and(|transfer| transfer.at <= clock.now()) {
                self.begin(next, &watch, clock);
                next += 1;
            }
            if next == self.transfers.len() && self.free.len() == self.open.len() {
                break true;
            }
            let until = self.transfers.get(next).map_or(Time::NEVER, |transfer| transfer.at);
            if !waker.wait_until(until, watch.pollfd()) {
                break false;
            }
            watch.ready(&mut ready)?;
            for &number in &ready {
                self.advance(number, &watch, clock);
            }
        };
        let end_ns = if done { self.outcome.last_ns } else { clock.ns() };
        for running in std::mem::take(&mut self.open).into_iter().flatten() {
            self.outcome.note(&self.transfers[running.place], &running, None);
        }
        let whole = done && self.outcome.failed == 0;
        Ok(self.outcome.report(next, whole, end_ns))
    }

    /// Opens the connection of the transfer at `place`.
    fn begin(&mut self, place: usize, watch: &Watch, clock: Clock) {
        let transfer = self.transfers[place];
        let number = self.free.last().copied().unwrap_or(self.open.len());
        let began_ns = clock.ns();
        match connect(transfer.to, self.law.as_deref(), watch, number) {
            Ok(connection) => {
                if self.free.pop().is_none() {
                    self.open.push(None);
                }
                self.open[number] = Some(Running { place, connection, began_ns, left: transfer.bytes });
            }
            Err(error) => self.outcome.refuse(&transfer, began_ns, &error),
        }
    }

    /// Writes what fits; after the last byte waits for the end.
    fn advance(&mut self, number: usize, watch: &Watch, clock: Clock) {
        let Some(running) = &mut self.open[number] else { return };
        let ended = match running.advance(&self.zeros) {
            Ok(Progress::Going) => return,
            Ok(Progress::Written) => match watch.change(&running.connection, number, Until::Readable) {
                Ok(()) => return,
                Err(error) => Err(error),
            },
            Ok(Progress::Ended) => Ok(clock.ns()),
            Err(error) => Err(error),
        };
        let Some(running) = self.open[number].take() else { return };
        self.free.push(number);
        if let Err(error) = &ended {
            self.outcome.fail(error);
        }
        self.outcome.note(&self.transfers[running.place], &running, ended.ok());
    }
}

/// How far a transfer has come.
enum Progress {
    Going,
    Written,
    Ended,
}

impl Running {
    fn advance(&mut self, zeros: &[u8]) -> io::Result<Progress> {
        if self.left == 0 {
            return Ok(match would_block(self.connection.read(&mut [0]))? {
                Some(0) => Progress::Ended,
                _ => Progress::Going,
            });
        }
        while self.left > 0 {
            let chunk = (zeros.len() as u64).min(self.left) as usize;
            match would_block(self.connection.write(&zeros[..chunk]))? {
                Some(written) => self.left -= written as u64,
                None => return Ok(Progress::Going),
            }
        }
        self.connection.shutdown(Shutdown::Write)?;
        Ok(Progress::Written)
    }
}

fn would_block(result: io::Result<usize>) -> io::Result<Option<usize>> {
    match result {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => {
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

impl Outcome {
    /// Of a transfer that ended at `ended_ns`, or did not.
    fn note(&mut self, transfer: &Transfer, running: &Running, ended_ns: Option<u64>) {
        if let Ok(socket) = Socket::of(&running.connection) {
            // Its first and its last segment count one byte each.
            self.bytes += socket.acked_bytes.saturating_sub(1).min(transfer.bytes);
            self.bytes_sent += socket.sent_bytes;
            self.segments_sent += u64::from(socket.segments_sent);
            self.retransmits += u64::from(socket.retransmits);
        }
        let took_ns = ended_ns.map(|at_ns| at_ns - running.began_ns);
        if let Some(ns) = took_ns {
            self.took.add(ns, 1);
        }
        self.last_ns = self.last_ns.max(ended_ns.unwrap_or(0));
        self.row(transfer, running.began_ns, took_ns);
    }

    /// Of one for which there was no socket.
    fn refuse(&mut self, transfer: &Transfer, began_ns: u64, error: &io::Error) {
        self.fail(error);
        self.row(transfer, began_ns, None);
    }

    fn fail(&mut self, error: &io::Error) {
        self.failed += 1;
        self.error.get_or_insert_with(|| error.to_string());
    }

    fn row(&mut self, transfer: &Transfer, began_ns: u64, took_ns: Option<u64>) {
        let late_ns = began_ns.saturating_sub(transfer.at.ns());
        self.lateness.add(late_ns, 1);
        self.rows.push((transfer.flow, transfer.number, transfer.at.ns(), late_ns, transfer.bytes, took_ns));
    }

    /// In the words of a simulated flow of requests, as of `end_ns`.
    fn report(mut self, begun: usize, whole: bool, end_ns: u64) -> Value {
        self.rows.sort_unstable();
        json!({
            "bytes": self.bytes,
            "segments_sent": self.segments_sent,
            "bytes_sent": self.bytes_sent,
            "retransmits": self.retransmits,
            "done_ns": whole.then_some(self.last_ns),
            "end_ns": end_ns,
            "begun": begun,
            "done": self.took.count(),
            "failed": self.failed,
            "error": self.error,
            "took": self.took.summary(),
            "lateness": self.lateness.summary(),
            "requests": self.rows,
        })
    }
}

/// A connection to `to`, under way, that `watch` tells of as `number`.
fn connect(to: SocketAddr, law: Option<&str>, watch: &Watch, number: usize) -> io::Result<TcpStream> {
    use nix::errno::Errno;
    use nix::sys::socket::{SockaddrStorage, connect};
    let socket = socket(to, law)?;
    match connect(socket.as_raw_fd(), &SockaddrStorage::from(to)) {
        Ok(()) | Err(Errno::EINPROGRESS) => {}
        Err(error) => return Err(error.into()),
    }
    watch.add(&socket, number, Until::Writable)?;
    Ok(socket.into())
}

/// A TCP socket that never waits, in the family of `address`.
pub fn socket(address: SocketAddr, law: Option<&str>) -> io::Result<OwnedFd> {
    use nix::sys::socket::{AddressFamily, SockFlag, SockType, setsockopt, socket, sockopt};
    let family = if address.is_ipv6() { AddressFamily::Inet6 } else { AddressFamily::Inet };
    let flags = SockFlag::SOCK_NONBLOCK | SockFlag::SOCK_CLOEXEC;
    let socket = socket(family, SockType::Stream, flags, None)?;
    if let Some(law) = law {
        setsockopt(&socket, sockopt::TcpCongestion, &law.into()).map_err(|error| {
            io::Error::other(format!("the kernel refuses the congestion control {law}: {}", error.desc()))
        })?;
    }
    Ok(socket)
}
