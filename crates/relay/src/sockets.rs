//! Non-blocking TCP sockets, and the kernel's arrival times.

use crate::clock::{Clock, unix_ns};
use longhaul_units::{Span, Time};
use nix::cmsg_space;
use nix::errno::Errno;
use nix::sys::socket::{
    AddressFamily, ControlMessageOwned, MsgFlags, SockFlag, SockProtocol, SockType, SockaddrStorage, connect,
    getsockopt, recvmsg, setsockopt, socket, sockopt,
};
use nix::sys::time::TimeSpec;
use std::io::{self, ErrorKind, IoSlice, IoSliceMut, Write};
use std::net::{Ipv4Addr, Ipv6Addr, Shutdown, SocketAddr, TcpStream};
use std::os::fd::{AsRawFd, OwnedFd};

/// One end of a connection.
#[derive(Debug)]
pub struct Socket {
    /// The socket.
    pub stream: TcpStream,
    /// There may be something to read.
    pub readable: bool,
    /// There may be room to write.
    pub writable: bool,
    /// Whether all bytes were read, so that the kernel's timestamps are those of the next bytes.
    drained: bool,
    stamped: bool,
    /// Whether the other end has closed, which reading to the end will confirm.
    pub hung_up: bool,
    /// Whether an urgent byte arrived: reads stop before it, although there is more.
    pub urgent: bool,
    /// Whether the kernel has reset the connection, which an earlier end of the stream would hide.
    pub broken: bool,
}

/// The result of a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Read {
    /// Bytes that arrived at this time.
    Bytes(usize, Time),
    /// Nothing has arrived.
    Nothing,
    /// The other end sends no more.
    End,
    /// The connection is broken.
    Broken,
}

/// The oldest timestamp that is used.
const OLDEST: Span = Span::from_ms(200);

impl Socket {
    /// Takes over a connection.
    pub fn new(stream: TcpStream) -> io::Result<Self> {
        stream.set_nonblocking(true)?;
        stream.set_nodelay(true)?;
        let _ = setsockopt(&stream, sockopt::KeepAlive, &true);
        // Urgent bytes (RFC 6093) keep their place among the others.
        let _ = setsockopt(&stream, sockopt::OobInline, &true);
        Ok(Socket {
            stream,
            readable: true,
            writable: true,
            drained: true,
            stamped: false,
            hung_up: false,
            urgent: false,
            broken: false,
        })
    }

    /// Starts to connect; the socket is writable when that is done.
    pub fn connecting(target: SocketAddr) -> io::Result<Self> {
        let family = if target.is_ipv4() { AddressFamily::Inet } else { AddressFamily::Inet6 };
        let flags = SockFlag::SOCK_NONBLOCK | SockFlag::SOCK_CLOEXEC;
        let fd: OwnedFd = socket(family, SockType::Stream, flags, SockProtocol::Tcp)?;
        match connect(fd.as_raw_fd(), &SockaddrStorage::from(target)) {
            Ok(()) | Err(Errno::EINPROGRESS) => {}
            Err(error) => return Err(error.into()),
        }
        let mut socket = Socket::new(TcpStream::from(fd))?;
        (socket.readable, socket.writable) = (false, false);
        Ok(socket)
    }

    /// How connecting ended.
    pub fn connected(&self) -> io::Result<()> {
        match getsockopt(&self.stream, sockopt::SocketError)? {
            0 => self.stream.peer_addr().map(drop),
            error => Err(io::Error::from_raw_os_error(error)),
        }
    }

    /// Enables the kernel's receive timestamps.
    pub fn stamp(&mut self) {
        self.stamped = setsockopt(&self.stream, sockopt::ReceiveTimestampns, &true).is_ok();
    }

    /// Limits the kernel's receive buffer.
    pub fn limit_receiving(&self, bytes: usize) {
        let _ = setsockopt(&self.stream, sockopt::RcvBuf, &bytes);
    }

    /// Reads into `buffer`; the arrival time is the kernel's timestamp, or else `now`.
    pub fn read(&mut self, buffer: &mut [u8], clock: Clock, now: Time) -> Read {
        let fd = self.stream.as_raw_fd();
        let wanted = buffer.len();
        let mut parts = [IoSliceMut::new(buffer)];
        let stamped = self.stamped && self.drained;
        let mut space = if stamped { cmsg_space!(TimeSpec) } else { Vec::new() };
        let control = stamped.then_some(&mut space[..]);
        let (bytes, stamp) = match recvmsg::<()>(fd, &mut parts, control, MsgFlags::empty()) {
            Ok(message) => {
                let stamp = if stamped {
                    message.cmsgs().ok().and_then(|mut all| all.find_map(|message| stamp_of(&message)))
                } else {
                    None
                };
                (message.bytes, stamp)
            }
            // There may be more, which the next turn reads.
            Err(Errno::EINTR) => return Read::Nothing,
            Err(Errno::EAGAIN) => {
                (self.readable, self.drained) = (false, true);
                return Read::Nothing;
            }
            Err(_) => {
                self.readable = false;
                return Read::Broken;
            }
        };
        if bytes == 0 {
            self.readable = false;
            return Read::End;
        }
        // A short read has taken all bytes; epoll reports the next ones, but the end only once.
        self.readable = bytes == wanted || self.hung_up || self.urgent;
        self.drained = bytes < wanted;
        let arrived = stamp.map_or(now, |stamp_ns| {
            let age = Span::from_ns(unix_ns().saturating_sub(stamp_ns)).min(OLDEST);
            Time::from_ps(clock.now().ps().saturating_sub(age.ps()))
        });
        Read::Bytes(bytes, arrived)
    }

    /// Marks bytes that had to wait before they are read: their timestamps are not used.
    pub fn mark_readable(&mut self) {
        self.drained = false;
    }

    /// Writes the bytes that fit; returns their number, which may be zero.
    pub fn write(&mut self, parts: &[IoSlice<'_>]) -> io::Result<usize> {
        match self.stream.write_vectored(parts) {
            Ok(bytes) => Ok(bytes),
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {
                self.writable = false;
                Ok(0)
            }
            Err(error) => Err(error),
        }
    }

    /// Says that nothing more will be written.
    pub fn end(&self) {
        // Fails if the other end is gone, which the next read reports.
        let _ = self.stream.shutdown(Shutdown::Write);
    }

    /// Lets the connection be broken off when it is closed, instead of ended.
    pub fn reset_on_close(&self) {
        let linger = nix::libc::linger { l_onoff: 1, l_linger: 0 };
        let _ = setsockopt(&self.stream, sockopt::Linger, &linger);
    }

    /// Whom a redirected connection was made to, if it was.
    pub fn original_target(&self) -> Option<SocketAddr> {
        let ours = self.stream.local_addr().ok()?;
        let told = if ours.is_ipv4() {
            let address = getsockopt(&self.stream, sockopt::OriginalDst).ok();
            address.map(|it| {
                SocketAddr::from((
                    Ipv4Addr::from(u32::from_be(it.sin_addr.s_addr)),
                    u16::from_be(it.sin_port),
                ))
            })
        } else {
            let address = getsockopt(&self.stream, sockopt::Ip6tOriginalDst).ok();
            address.map(|it| {
                SocketAddr::from((Ipv6Addr::from(it.sin6_addr.s6_addr), u16::from_be(it.sin6_port)))
            })
        };
        told.or(Some(ours))
    }
}

fn stamp_of(message: &ControlMessageOwned) -> Option<u64> {
    match message {
        ControlMessageOwned::ScmTimestampns(time) if time.tv_sec() > 0 => {
            Some(time.tv_sec() as u64 * 1_000_000_000 + time.tv_nsec() as u64)
        }
        _ => None,
    }
}

/// Raises the limit of open files to its maximum, and returns it.
pub fn raise_file_limit() -> u64 {
    use nix::sys::resource::{Resource, getrlimit, setrlimit};
    let Ok((soft, hard)) = getrlimit(Resource::RLIMIT_NOFILE) else { return 1_024 };
    let wanted = hard.min(1 << 20);
    if setrlimit(Resource::RLIMIT_NOFILE, wanted, hard).is_ok() { wanted } else { soft }
}
