//! `struct tcp_info` of a TCP socket (tcp(7)).

use std::io;
use std::os::fd::{AsFd, AsRawFd};

/// Reads as much of the structure as the kernel has and `info` has room for; returns its length in bytes.
pub fn read(socket: impl AsFd, info: &mut [u8]) -> io::Result<usize> {
    let mut length = info.len() as libc::socklen_t;
    let (level, option) = (libc::IPPROTO_TCP, libc::TCP_INFO);
    let fd = socket.as_fd().as_raw_fd();
    // SAFETY: `info` is valid for writes of `length` bytes, and `length` for reads and writes.
    match unsafe { libc::getsockopt(fd, level, option, info.as_mut_ptr().cast(), &raw mut length) } {
        0 => Ok(length as usize),
        _ => Err(io::Error::last_os_error()),
    }
}
