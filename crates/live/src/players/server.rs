use super::watch::{Until, Watch};
use crate::supervisor::ending::{told_to_stop, wait_with_signals};
use serde_json::{Value, json};
use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

/// Connections that wait to be accepted; more than a host sends at one instant.
const BACKLOG: i32 = 4096;
/// Longest time between two looks, and after the kernel had no room for a connection.
const LOOK_NS: u64 = 1_000_000_000;
const NO_ROOM_NS: u64 = 1_000_000;
/// Bytes that one call throws away at most.
const GULP: usize = 1 << 20;
/// The number of the listening socket among those that are watched.
const LISTENER: usize = usize::MAX;

/// Accepts connections, reads each to its end, and closes it then.
pub struct Server {
    at: SocketAddr,
    law: Option<String>,
    ears: Option<(TcpListener, Watch)>,
    connections: Vec<Option<TcpStream>>,
    free: Vec<usize>,
    accepted: u64,
    ended: u64,
    bytes: u64,
    error: Option<String>,
}

impl Server {
    pub fn new(at: SocketAddr, law: Option<String>) -> Self {
        Server {
            at,
            law,
            ears: None,
            connections: Vec::new(),
            free: Vec::new(),
            accepted: 0,
            ended: 0,
            bytes: 0,
            error: None,
        }
    }

    pub fn open(&mut self) -> io::Result<()> {
        use nix::sys::socket::{Backlog, SockaddrStorage, bind, listen};
        let socket = super::client::socket(self.at, self.law.as_deref())?;
        bind(socket.as_raw_fd(), &SockaddrStorage::from(self.at))?;
        listen(&socket, Backlog::new(BACKLOG)?)?;
        let (watch, listener) = (Watch::new()?, TcpListener::from(socket));
        watch.add(&listener, LISTENER, Until::Readable)?;
        self.ears = Some((listener, watch));
        Ok(())
    }

    pub fn play(mut self) -> io::Result<Value> {
        let Some((listener, mut watch)) = self.ears.take() else {
            return Err(io::ErrorKind::NotConnected.into());
        };
        let mut ready = Vec::new();
        loop {
            let stopping = told_to_stop();
            watch.ready(&mut ready)?;
            for &number in &ready {
                match number {
                    LISTENER => self.accept(&listener, &watch),
                    _ => self.read(number),
                }
            }
            if ready.is_empty() && stopping {
                break;
            }
            if ready.is_empty() {
                wait_with_signals(&mut [watch.pollfd()], LOOK_NS);
            }
        }
        Ok(json!({
            "accepted": self.accepted,
            "ended": self.ended,
            "bytes": self.bytes,
            "error": self.error,
        }))
    }

    /// Takes one connection; those that wait behind it make the listener ready again.
    fn accept(&mut self, listener: &TcpListener, watch: &Watch) {
        let accepted = accept(listener).and_then(|connection| {
            let number = self.free.last().copied().unwrap_or(self.connections.len());
            watch.add(&connection, number, Until::Readable)?;
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
            Err(error) if is_over(&error) => {}
            Err(error) => {
                // It waits in the kernel until there is room.
                self.error.get_or_insert_with(|| format!("cannot accept: {error}"));
                wait_with_signals(&mut [], NO_ROOM_NS);
            }
        }
    }

    /// Reads what is there of a connection, up to a gulp.
    fn read(&mut self, number: usize) {
        let Some(connection) = &self.connections[number] else { return };
        // SAFETY: with MSG_TRUNC, TCP throws the bytes away and writes nothing (tcp(7)).
        let read = unsafe {
            libc::recv(
                connection.as_raw_fd(),
                std::ptr::null_mut(),
                GULP,
                libc::MSG_DONTWAIT | libc::MSG_TRUNC,
            )
        };
        match read {
            1.. => self.bytes += read as u64,
            _ if read < 0 && is_over(&io::Error::last_os_error()) => {}
            _ => {
                self.ended += u64::from(read == 0);
                self.connections[number] = None;
                self.free.push(number);
            }
        }
    }
}

fn accept(listener: &TcpListener) -> io::Result<TcpStream> {
    use nix::sys::socket::{SockFlag, accept4};
    let raw = accept4(listener.as_raw_fd(), SockFlag::SOCK_NONBLOCK | SockFlag::SOCK_CLOEXEC)?;
    // SAFETY: `raw` is an open descriptor that nobody else owns.
    Ok(unsafe { OwnedFd::from_raw_fd(raw) }.into())
}

/// Whether there is nothing to do any more, rather than something wrong.
fn is_over(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, Interrupted, WouldBlock};
    matches!(error.kind(), WouldBlock | Interrupted | ConnectionAborted)
}
