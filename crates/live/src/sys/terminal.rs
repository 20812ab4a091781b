//! Requests of ioctl(2) to terminals.

use nix::pty::Winsize;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

/// Sets the size of the terminal whose master is `fd`; its programs get SIGWINCH.
pub fn resize(fd: BorrowedFd<'_>, size: Winsize) -> io::Result<()> {
    // SAFETY: TIOCSWINSZ reads a `struct winsize`.
    let result = unsafe { libc::ioctl(fd.as_raw_fd(), libc::TIOCSWINSZ, &size) };
    if result == -1 { Err(io::Error::last_os_error()) } else { Ok(()) }
}
