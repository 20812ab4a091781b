//! Receiving descriptors, which no crate offers as a safe function.

use std::io::IoSliceMut;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd, RawFd};

use nix::cmsg_space;
use nix::sys::socket::{ControlMessageOwned, MsgFlags, recvmsg};

/// Descriptors that one call can receive at most, on Linux. With space for all of them, none is left without an owner.
const SCM_MAX_FD: usize = 253;

/// Space for the descriptors of one message.
pub fn control_space() -> Vec<u8> {
    cmsg_space!([RawFd; SCM_MAX_FD])
}

/// Receives at most `buffer.len()` bytes without waiting, and appends the descriptors that are attached to them.
///
/// `control` is [`control_space`]. Returns how many bytes came; 0 at the end of the stream.
pub fn receive(
    socket: impl AsFd,
    buffer: &mut [u8],
    control: &mut [u8],
    descriptors: &mut Vec<OwnedFd>,
) -> nix::Result<usize> {
    let flags = MsgFlags::MSG_DONTWAIT | MsgFlags::MSG_CMSG_CLOEXEC;
    let mut parts = [IoSliceMut::new(buffer)];
    let message = recvmsg::<()>(socket.as_fd().as_raw_fd(), &mut parts, Some(control), flags)?;
    for each in message.cmsgs()? {
        if let ControlMessageOwned::ScmRights(numbers) = each {
            for number in numbers {
                // SAFETY: recvmsg(2) has just opened this descriptor for this process, and nothing else owns it.
                descriptors.push(unsafe { OwnedFd::from_raw_fd(number) });
            }
        }
    }
    Ok(message.bytes)
}
