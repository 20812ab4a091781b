//! A stream between the controller and a machine, which neither side waits for longer than it may.

use super::SILENT;
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use std::io;
use std::os::fd::BorrowedFd;
use std::time::{Duration, Instant};

/// Largest read at once.
const CHUNK_BYTES: usize = 1 << 16;

/// What a read has found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// More bytes.
    Some,
    /// None within the time.
    Nothing,
    /// The end.
    End,
}

/// Waits until `fd` has something to read, for at most `timeout`; returns whether it has.
pub fn wait_readable(fd: BorrowedFd<'_>, timeout: Duration) -> io::Result<bool> {
    wait(fd, PollFlags::POLLIN, timeout)
}

fn wait(fd: BorrowedFd<'_>, flags: PollFlags, timeout: Duration) -> io::Result<bool> {
    let timeout = PollTimeout::try_from(timeout).unwrap_or(PollTimeout::MAX);
    match poll(&mut [PollFd::new(fd, flags)], timeout) {
        Ok(ready) => Ok(ready > 0),
        Err(Errno::EINTR) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Adds what there is to read to `bytes`, after waiting for it for at most `timeout`. `fd` does not block.
pub fn read(fd: BorrowedFd<'_>, bytes: &mut Vec<u8>, timeout: Duration) -> io::Result<Found> {
    let before = bytes.len();
    let mut has_waited = timeout.is_zero();
    loop {
        bytes.resize(before + CHUNK_BYTES, 0);
        let found = nix::unistd::read(fd, &mut bytes[before..]);
        bytes.truncate(before + found.unwrap_or(0));
        match found {
            Ok(0) => return Ok(Found::End),
            Ok(_) => return Ok(Found::Some),
            Err(Errno::EAGAIN) if has_waited => return Ok(Found::Nothing),
            Err(Errno::EAGAIN) => {
                wait_readable(fd, timeout)?;
                has_waited = true;
            }
            Err(Errno::EINTR) => {}
            Err(Errno::ECONNRESET) => return Ok(Found::End),
            Err(error) => return Err(error.into()),
        }
    }
}

/// Writes all of `bytes`. `fd` does not block.
///
/// # Errors
/// If nobody reads, or what reads takes nothing for too long.
pub fn write(fd: BorrowedFd<'_>, mut bytes: &[u8]) -> io::Result<()> {
    let mut taken = Instant::now();
    while !bytes.is_empty() {
        match nix::unistd::write(fd, bytes) {
            Ok(count) => {
                bytes = &bytes[count..];
                taken = Instant::now();
            }
            Err(Errno::EAGAIN) => {
                let left = SILENT.saturating_sub(taken.elapsed());
                if left.is_zero() {
                    return Err(io::ErrorKind::TimedOut.into());
                }
                wait(fd, PollFlags::POLLOUT, left)?;
            }
            Err(Errno::EINTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}
