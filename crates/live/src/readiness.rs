//! Waiting until a descriptor is ready: ppoll(2).

use nix::poll::{PollFd, PollFlags, ppoll};
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;

/// Readiness to read, for calls that wait for several descriptors.
pub fn readable(fd: BorrowedFd<'_>) -> PollFd<'_> {
    PollFd::new(fd, PollFlags::POLLIN)
}

/// Whether a read would return at once, with data, the end or an error.
pub fn is_readable(fd: impl AsFd) -> bool {
    wait_readable(fd, 0)
}

/// Waits until a read would return at once, for at most `timeout_ns` or until a signal; returns whether it would.
pub fn wait_readable(fd: impl AsFd, timeout_ns: u64) -> bool {
    wait(PollFd::new(fd.as_fd(), PollFlags::POLLIN), timeout_ns)
}

/// The same for a write.
pub fn wait_writable(fd: impl AsFd, timeout_ns: u64) -> bool {
    wait(PollFd::new(fd.as_fd(), PollFlags::POLLOUT), timeout_ns)
}

fn wait(fd: PollFd<'_>, timeout_ns: u64) -> bool {
    ppoll(&mut [fd], Some(Duration::from_nanos(timeout_ns).into()), None).is_ok_and(|ready| ready > 0)
}
