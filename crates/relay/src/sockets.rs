//! TCP sockets that never block, and what the kernel knows of them.

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
    /// All that came was read, so that the kernel's stamps tell when what comes now came.
    drained: bool,
    stamped: bool,
    /// The other end is done, as reading to the end will show.
    pub hung_up: bool,
    /// An urgent byte came: reads stop before it, though there is more.
    pub urgent: bool,
    /// The kernel has given the connection up, which an end that was read before hides.
    pub broken: bool,
}

/// What a read brought.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Read {
    /// So many bytes, which came at this time.
    Bytes(usize, Time),
    /// Nothing for now.
    Nothing,
    /// The other end sends no more.
    End,
    /// The connection is broken.
    Broken,
}

/// The longest that a stamp may lie back.
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

    /// Begins to connect; writable says when it is done.
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

    /// Asks the kernel to stamp what comes.
    pub fn stamp(&mut self) {
        self.stamped = setsockopt(&self.stream, sockopt::ReceiveTimestampns, &true).is_ok();
    }

    /// Limits what the kernel takes in before we do.
    pub fn limit_receiving(&self, bytes: usize) {
        let _ = setsockopt(&self.stream, sockopt::RcvBuf, &bytes);
    }

    /// Reads into `buffer`, and says when that came: by the kernel's stamp, else `now`.
    pub fn read(&mut self, buffer: &mut [u8], clock: &Clock, now: Time) -> Read {
        let fd = self.stream.as_raw_fd();
        let wanted = buffer.len();
        let mut parts = [IoSliceMut::new(buffer)];
        let stamped = self.stamped && self.drained;
        let mut space = if stamped { cmsg_space!(TimeSpec) } else { Vec::new() };
        let control = stamped.then_some(&mut space[..]);
        let (bytes, stamp) = match recvmsg::<()>(fd, &mut parts, control, MsgFlags::empty()) {
            Ok(message) => {
                let stamp = if stamped {
                    message.cmsgs().ok().and_then(|all| all.filter_map(stamp_of).next())
                } else {
                    None
                };
                (message.bytes, stamp)
            }
            // There may be something: it is looked at again in the next turn.
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
        // A short read has taken all that there was; what comes next tells itself, but an end is told once.
        self.readable = bytes == wanted || self.hung_up || self.urgent;
        self.drained = bytes < wanted;
        let arrived = stamp.map_or(now, |stamp_ns| {
            let age = Span::from_ns(unix_ns().saturating_sub(stamp_ns)).min(OLDEST);
            Time::from_ps(clock.now().ps().saturating_sub(age.ps()))
        });
        Read::Bytes(bytes, arrived)
    }

    /// What had to wait before it is read loses its stamp.
    pub fn is_neglected(&mut self) {
        self.drained = false;
    }

    /// Writes what fits; the number of bytes, zero if nothing does.
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
        // Fails where the other end is gone already, and reading tells that.
        let _ = self.stream.shutdown(Shutdown::Write);
    }

    /// Lets the connection be broken off when it is closed, instead of ended.
    pub fn will_reset(&self) {
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

fn stamp_of(message: ControlMessageOwned) -> Option<u64> {
    match message {
        ControlMessageOwned::ScmTimestampns(time) if time.tv_sec() > 0 => {
            Some(time.tv_sec() as u64 * 1_000_000_000 + time.tv_nsec() as u64)
        }
        _ => None,
    }
}

/// Allows as many open files as the system lets us have, and says how many.
pub fn raise_file_limit() -> u64 {
    use nix::sys::resource::{Resource, getrlimit, setrlimit};
    let Ok((soft, hard)) = getrlimit(Resource::RLIMIT_NOFILE) else { return 1_024 };
    let wanted = hard.min(1 << 20);
    if setrlimit(Resource::RLIMIT_NOFILE, wanted, hard).is_ok() { wanted } else { soft }
}
