use super::epoll_set::{EpollSet, Interest};
use super::timer::Timer;
use crate::clock::Clock;
use crate::sockets::Socket;
use longhaul_record::Distribution;
use longhaul_units::Time;
use serde_json::{Value, json};
use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::os::fd::{AsRawFd, OwnedFd};

/// Most bytes that one call writes.
const MAX_WRITE_BYTES: usize = 1 << 18;

/// A planned transfer.
#[derive(Clone, Copy, Debug)]
pub struct Transfer {
    pub at: Time,
    /// Position of its flow in the plan, and its number in it.
    pub flow: usize,
    pub number: u32,
    pub bytes: u64,
    pub to: SocketAddr,
}

/// Starts each transfer at its time over a new connection.
///
/// A transfer is complete when the server has read it and closed the connection.
pub struct Client {
    /// Sorted by start time.
    transfers: Vec<Transfer>,
    algorithm: Option<String>,
    epoll_set: Option<EpollSet>,
    open: Vec<Option<OpenTransfer>>,
    free: Vec<usize>,
    zeros: Vec<u8>,
    results: TransferResults,
}

/// A transfer whose connection is open.
struct OpenTransfer {
    place: usize,
    connection: TcpStream,
    began_ns: u64,
    left: u64,
}

/// Results of the transfers.
#[derive(Default)]
struct TransferResults {
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
    /// The kernel's last estimate of each connection.
    rtt: Distribution,
    /// Of the first connection.
    algorithm: Option<String>,
}

impl Client {
    /// A client for `transfers` with the kernel's congestion-control `algorithm`; `None`: the host's default.
    pub fn new(mut transfers: Vec<Transfer>, algorithm: Option<String>) -> Self {
        transfers.sort_by_key(|each| (each.at, each.flow, each.number));
        Client {
            transfers,
            algorithm,
            epoll_set: None,
            open: Vec::new(),
            free: Vec::new(),
            zeros: Vec::new(),
            results: TransferResults::default(),
        }
    }

    pub fn open(&mut self) -> io::Result<()> {
        self.epoll_set = Some(EpollSet::new()?);
        self.zeros = vec![0; MAX_WRITE_BYTES];
        // Reports before the run starts whether the kernel has the algorithm.
        self.transfers.first().map_or(Ok(()), |first| socket(first.to, self.algorithm.as_deref()).map(drop))
    }

    pub fn run(mut self, clock: Clock) -> io::Result<Value> {
        let Some(mut epoll_set) = self.epoll_set.take() else {
            return Err(io::ErrorKind::NotConnected.into());
        };
        let (mut timer, mut next, mut ready) = (Timer::new(clock), 0, Vec::new());
        let done = loop {
            while self.transfers.get(next).is_some_and(|transfer| transfer.at <= clock.now()) {
                self.open_connection(next, &epoll_set, clock);
                next += 1;
            }
            if next == self.transfers.len() && self.free.len() == self.open.len() {
                break true;
            }
            let next_start = self.transfers.get(next).map_or(Time::NEVER, |transfer| transfer.at);
            if !timer.wait_until(next_start, epoll_set.pollfd()) {
                break false;
            }
            epoll_set.ready(&mut ready)?;
            for &number in &ready {
                self.advance(number, &epoll_set, clock);
            }
        };
        let end_ns = if done { self.results.last_ns } else { clock.ns() };
        for running in std::mem::take(&mut self.open).into_iter().flatten() {
            self.results.record(&self.transfers[running.place], &running, None);
        }
        let whole = done && self.results.failed == 0;
        Ok(self.results.report(next, whole, end_ns))
    }

    /// Opens the connection of the transfer at `place`.
    fn open_connection(&mut self, place: usize, epoll_set: &EpollSet, clock: Clock) {
        let transfer = self.transfers[place];
        let number = self.free.last().copied().unwrap_or(self.open.len());
        let began_ns = clock.ns();
        match connect(transfer.to, self.algorithm.as_deref(), epoll_set, number) {
            Ok(connection) => {
                if self.free.pop().is_none() {
                    self.open.push(None);
                }
                self.open[number] = Some(OpenTransfer { place, connection, began_ns, left: transfer.bytes });
            }
            Err(error) => self.results.record_failed_connect(&transfer, began_ns, &error),
        }
    }

    /// Writes as much as the socket takes; after the last byte waits for the server to close.
    fn advance(&mut self, number: usize, epoll_set: &EpollSet, clock: Clock) {
        let Some(running) = &mut self.open[number] else { return };
        let ended = match running.advance(&self.zeros) {
            Ok(Progress::Pending) => return,
            Ok(Progress::Written) => {
                match epoll_set.change(&running.connection, number, Interest::Readable) {
                    Ok(()) => return,
                    Err(error) => Err(error),
                }
            }
            Ok(Progress::Ended) => Ok(clock.ns()),
            Err(error) => Err(error),
        };
        let Some(running) = self.open[number].take() else { return };
        self.free.push(number);
        if let Err(error) = &ended {
            self.results.fail(error);
        }
        self.results.record(&self.transfers[running.place], &running, ended.ok());
    }
}

/// Progress of a transfer.
enum Progress {
    Pending,
    Written,
    Ended,
}

impl OpenTransfer {
    fn advance(&mut self, zeros: &[u8]) -> io::Result<Progress> {
        if self.left == 0 {
            return Ok(match would_block(self.connection.read(&mut [0]))? {
                Some(0) => Progress::Ended,
                _ => Progress::Pending,
            });
        }
        while self.left > 0 {
            let chunk = (zeros.len() as u64).min(self.left) as usize;
            match would_block(self.connection.write(&zeros[..chunk]))? {
                Some(written) => self.left -= written as u64,
                None => return Ok(Progress::Pending),
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

impl TransferResults {
    /// Records a transfer that ended at `ended_ns`, or did not end.
    fn record(&mut self, transfer: &Transfer, running: &OpenTransfer, ended_ns: Option<u64>) {
        if let Ok(socket) = Socket::of(&running.connection) {
            // Its first and its last segment count one byte each.
            self.bytes += socket.acked_bytes.saturating_sub(1).min(transfer.bytes);
            self.bytes_sent += socket.sent_bytes;
            self.segments_sent += u64::from(socket.segments_sent);
            self.retransmits += u64::from(socket.retransmits);
            self.rtt.add(u64::from(socket.rtt_us) * 1_000, u64::from(socket.rtt_us > 0));
        }
        if self.algorithm.is_none() {
            self.algorithm = algorithm_of(&running.connection);
        }
        let took_ns = ended_ns.map(|at_ns| at_ns - running.began_ns);
        if let Some(ns) = took_ns {
            self.took.add(ns, 1);
        }
        self.last_ns = self.last_ns.max(ended_ns.unwrap_or(0));
        self.row(transfer, running.began_ns, took_ns);
    }

    /// Records a transfer whose connection could not be opened.
    fn record_failed_connect(&mut self, transfer: &Transfer, began_ns: u64, error: &io::Error) {
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

    /// The results with the keys of a simulated flow of requests, as of `end_ns`.
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
            "rtt": self.rtt.summary(),
            "algorithm": self.algorithm,
            "requests": self.rows,
        })
    }
}

/// The name of a connection's congestion control.
fn algorithm_of(connection: &TcpStream) -> Option<String> {
    use nix::sys::socket::{getsockopt, sockopt};
    let name = getsockopt(connection, sockopt::TcpCongestion).ok()?;
    Some(name.to_string_lossy().trim_end_matches('\0').to_owned())
}

/// Starts a connection to `to` and adds it to `epoll_set` as `number`.
fn connect(
    to: SocketAddr,
    algorithm: Option<&str>,
    epoll_set: &EpollSet,
    number: usize,
) -> io::Result<TcpStream> {
    use nix::errno::Errno;
    use nix::sys::socket::{SockaddrStorage, connect};
    let socket = socket(to, algorithm)?;
    match connect(socket.as_raw_fd(), &SockaddrStorage::from(to)) {
        Ok(()) | Err(Errno::EINPROGRESS) => {}
        Err(error) => return Err(error.into()),
    }
    epoll_set.add(&socket, number, Interest::Writable)?;
    Ok(socket.into())
}

/// A non-blocking TCP socket in the family of `address`.
pub fn socket(address: SocketAddr, algorithm: Option<&str>) -> io::Result<OwnedFd> {
    use nix::sys::socket::{AddressFamily, SockFlag, SockType, setsockopt, socket, sockopt};
    let family = if address.is_ipv6() { AddressFamily::Inet6 } else { AddressFamily::Inet };
    let flags = SockFlag::SOCK_NONBLOCK | SockFlag::SOCK_CLOEXEC;
    let socket = socket(family, SockType::Stream, flags, None)?;
    if let Some(algorithm) = algorithm {
        setsockopt(&socket, sockopt::TcpCongestion, &algorithm.into()).map_err(|error| {
            io::Error::other(format!(
                "the kernel refuses the congestion-control algorithm {algorithm}: {}",
                error.desc()
            ))
        })?;
    }
    Ok(socket)
}
