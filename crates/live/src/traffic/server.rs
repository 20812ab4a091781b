use super::epoll_set::{EpollSet, Interest};
use crate::supervisor::ending::{stop_requested, wait_with_signals};
use nix::sys::socket::{MsgFlags, recv};
use serde_json::{Value, json};
use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::AsRawFd;

/// Backlog of the listening socket; more connections than a host opens at once.
const BACKLOG: i32 = 4096;
/// Longest time between two polls, and delay of the next accept after a failed one.
const POLL_INTERVAL_NS: u64 = 1_000_000_000;
const ACCEPT_RETRY_NS: u64 = 1_000_000;
/// Most bytes that one call reads and discards.
const MAX_READ_BYTES: usize = 1 << 20;
/// The listening socket's number in the epoll set.
const LISTENER: usize = usize::MAX;

/// Accepts connections, reads each to its end and then closes it.
pub struct Server {
    at: SocketAddr,
    algorithm: Option<String>,
    sockets: Option<(TcpListener, EpollSet)>,
    connections: Vec<Option<TcpStream>>,
    free: Vec<usize>,
    accepted: u64,
    ended: u64,
    bytes: u64,
    /// Of [`MAX_READ_BYTES`], and never written.
    discarded: Vec<u8>,
    error: Option<String>,
}

impl Server {
    pub fn new(at: SocketAddr, algorithm: Option<String>) -> Self {
        Server {
            at,
            algorithm,
            sockets: None,
            connections: Vec::new(),
            free: Vec::new(),
            accepted: 0,
            ended: 0,
            bytes: 0,
            discarded: vec![0; MAX_READ_BYTES],
            error: None,
        }
    }

    pub fn open(&mut self) -> io::Result<()> {
        use nix::sys::socket::{Backlog, SockaddrStorage, bind, listen};
        let socket = super::client::socket(self.at, self.algorithm.as_deref())?;
        bind(socket.as_raw_fd(), &SockaddrStorage::from(self.at))?;
        listen(&socket, Backlog::new(BACKLOG)?)?;
        let (epoll_set, listener) = (EpollSet::new()?, TcpListener::from(socket));
        epoll_set.add(&listener, LISTENER, Interest::Readable)?;
        self.sockets = Some((listener, epoll_set));
        Ok(())
    }

    pub fn run(mut self) -> io::Result<Value> {
        let Some((listener, mut epoll_set)) = self.sockets.take() else {
            return Err(io::ErrorKind::NotConnected.into());
        };
        let mut ready = Vec::new();
        loop {
            let stopping = stop_requested();
            epoll_set.ready(&mut ready)?;
            for &number in &ready {
                match number {
                    LISTENER => self.accept(&listener, &epoll_set),
                    _ => self.read(number),
                }
            }
            if ready.is_empty() && stopping {
                break;
            }
            if ready.is_empty() {
                wait_with_signals(&mut [epoll_set.pollfd()], POLL_INTERVAL_NS);
            }
        }
        Ok(json!({
            "accepted": self.accepted,
            "ended": self.ended,
            "bytes": self.bytes,
            "error": self.error,
        }))
    }

    /// Accepts one connection; further waiting ones make the listener ready again.
    fn accept(&mut self, listener: &TcpListener, epoll_set: &EpollSet) {
        let accepted = listener.accept().and_then(|(connection, _)| {
            let number = self.free.last().copied().unwrap_or(self.connections.len());
            epoll_set.add(&connection, number, Interest::Readable)?;
            Ok((number, connection))
        });
        match accepted {
            Ok((number, connection)) => {
                self.accepted += 1;
                if self.free.pop().is_none() {
                    self.connections.push(None);
                }
                self.connections[number] = Some(connection);
            }
            Err(error) if is_transient(&error) => {}
            Err(error) => {
                // The connection stays in the backlog until a descriptor is free.
                self.error.get_or_insert_with(|| format!("cannot accept: {error}"));
                wait_with_signals(&mut [], ACCEPT_RETRY_NS);
            }
        }
    }

    /// Reads at most [`MAX_READ_BYTES`] from a connection.
    fn read(&mut self, number: usize) {
        let Some(connection) = &self.connections[number] else { return };
        // With MSG_TRUNC, TCP discards the bytes and leaves the buffer as it is (tcp(7)).
        let flags = MsgFlags::MSG_DONTWAIT | MsgFlags::MSG_TRUNC;
        match recv(connection.as_raw_fd(), &mut self.discarded, flags).map_err(io::Error::from) {
            Ok(read @ 1..) => self.bytes += read as u64,
            Err(error) if is_transient(&error) => {}
            read => {
                self.ended += u64::from(read.is_ok());
                self.connections[number] = None;
                self.free.push(number);
            }
        }
    }
}

/// Whether the error only means that there is nothing to do now.
fn is_transient(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, Interrupted, WouldBlock};
    matches!(error.kind(), WouldBlock | Interrupted | ConnectionAborted)
}
