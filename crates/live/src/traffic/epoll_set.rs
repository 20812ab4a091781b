//! A set of sockets, each identified by a number, that epoll monitors.

use crate::readiness::readable;
use nix::poll::PollFd;
use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout};
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use std::io;
use std::os::fd::AsFd;

/// Most ready sockets that one call returns.
const BATCH: usize = 64;

/// Reports which of its sockets are ready.
pub struct EpollSet {
    epoll: Epoll,
    events: Vec<EpollEvent>,
}

/// The readiness that a socket waits for.
#[derive(Clone, Copy)]
pub enum Interest {
    Readable,
    Writable,
}

impl Interest {
    fn event(self, number: usize) -> EpollEvent {
        let flags = match self {
            Interest::Readable => EpollFlags::EPOLLIN,
            Interest::Writable => EpollFlags::EPOLLOUT,
        };
        EpollEvent::new(flags, number as u64)
    }
}

impl EpollSet {
    /// An empty set; raises the process's limit of open files to its maximum.
    pub fn new() -> io::Result<Self> {
        let (_, most) = getrlimit(Resource::RLIMIT_NOFILE)?;
        setrlimit(Resource::RLIMIT_NOFILE, most, most)?;
        let epoll = Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC)?;
        Ok(EpollSet { epoll, events: vec![EpollEvent::empty(); BATCH] })
    }

    /// Monitors `socket` until it is closed.
    pub fn add(&self, socket: &impl AsFd, number: usize, interest: Interest) -> io::Result<()> {
        Ok(self.epoll.add(socket, interest.event(number))?)
    }

    /// Changes the readiness that `socket`, which was added, waits for.
    pub fn change(&self, socket: &impl AsFd, number: usize, interest: Interest) -> io::Result<()> {
        Ok(self.epoll.modify(socket, &mut interest.event(number))?)
    }

    /// Sets `numbers` to those of sockets that are ready or have failed, without waiting.
    pub fn ready(&mut self, numbers: &mut Vec<usize>) -> io::Result<()> {
        numbers.clear();
        let found = match self.epoll.wait(&mut self.events, EpollTimeout::ZERO) {
            Err(nix::errno::Errno::EINTR) => 0,
            found => found?,
        };
        numbers.extend(self.events[..found].iter().map(|event| event.data() as usize));
        Ok(())
    }

    /// A descriptor that is readable while any socket is ready.
    pub fn pollfd(&self) -> PollFd<'_> {
        readable(self.epoll.0.as_fd())
    }
}
