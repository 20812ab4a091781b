//! Many sockets at once, each known by a number.

use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout};
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use std::io;
use std::os::fd::{AsFd, AsRawFd};

/// Sockets that one look tells of at most.
const BATCH: usize = 64;

/// Tells which sockets are ready for what they wait for.
pub struct Watch {
    epoll: Epoll,
    events: Vec<EpollEvent>,
}

/// What a socket waits for.
#[derive(Clone, Copy)]
pub enum Until {
    Readable,
    Writable,
}

impl Until {
    fn event(self, number: usize) -> EpollEvent {
        let flags = match self {
            Until::Readable => EpollFlags::EPOLLIN,
            Until::Writable => EpollFlags::EPOLLOUT,
        };
        EpollEvent::new(flags, number as u64)
    }
}

impl Watch {
    /// Of no socket yet; from now on this process may open as many as it will ever be allowed.
    pub fn new() -> io::Result<Self> {
        let (_, most) = getrlimit(Resource::RLIMIT_NOFILE)?;
        setrlimit(Resource::RLIMIT_NOFILE, most, most)?;
        let epoll = Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC)?;
        Ok(Watch { epoll, events: vec![EpollEvent::empty(); BATCH] })
    }

    /// Watches `socket` until it is closed.
    pub fn add(&self, socket: &impl AsFd, number: usize, until: Until) -> io::Result<()> {
        Ok(self.epoll.add(socket, until.event(number))?)
    }

    /// From now on `socket`, which was added, waits for something else.
    pub fn change(&self, socket: &impl AsFd, number: usize, until: Until) -> io::Result<()> {
        Ok(self.epoll.modify(socket, &mut until.event(number))?)
    }

    /// The numbers of some that are ready, or have failed, without waiting.
    pub fn ready(&mut self, numbers: &mut Vec<usize>) -> io::Result<()> {
        numbers.clear();
        let found = match self.epoll.wait(&mut self.events, EpollTimeout::ZERO) {
            Err(nix::errno::Errno::EINTR) => 0,
            found => found?,
        };
        numbers.extend(self.events[..found].iter().map(|event| event.data() as usize));
        Ok(())
    }

    /// What becomes readable when any is ready.
    pub fn pollfd(&self) -> libc::pollfd {
        libc::pollfd { fd: self.epoll.0.as_raw_fd(), events: libc::POLLIN, revents: 0 }
    }
}
