//! The protocol by which a User-Mode Linux kernel asks whoever owns its clock for time
//! (`include/uapi/linux/um_timetravel.h`): messages of 16 bytes over a stream socket, each answered by an ACK.

use nix::fcntl::{OFlag, open};
use nix::sys::socket::{ControlMessage, MsgFlags, sendmsg};
use nix::sys::stat::Mode;
use std::io::{self, IoSlice, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;

/// Bytes of a message.
const SIZE: usize = 16;

/// What a message is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operation {
    /// The answer to a message.
    Ack,
    /// The kernel is there; its time is the number that it was given.
    Start,
    /// The kernel wants to run at this time.
    Request,
    /// The kernel has nothing to do until then.
    Wait,
    /// What time is it? The answer's time.
    Get,
    /// The kernel's clock is at this time.
    Update,
    /// The kernel may run: it is this time.
    Run,
    /// The kernel may run on by itself until this time.
    FreeUntil,
    /// What Unix time is it at time zero? The answer's time.
    GetTimeOfDay,
    /// A message for the logs of all.
    Broadcast,
}

impl Operation {
    const ALL: [Operation; 10] = [
        Operation::Ack,
        Operation::Start,
        Operation::Request,
        Operation::Wait,
        Operation::Get,
        Operation::Update,
        Operation::Run,
        Operation::FreeUntil,
        Operation::GetTimeOfDay,
        Operation::Broadcast,
    ];
}

/// A message in either direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Message {
    pub operation: Operation,
    /// An answer has that of the message.
    pub sequence: u32,
    /// Nanoseconds, or what the operation says.
    pub time: u64,
}

impl Message {
    /// Receives one message; `None` if the other end is gone.
    pub fn receive(stream: &mut UnixStream) -> io::Result<Option<Self>> {
        let mut bytes = [0u8; SIZE];
        match stream.read_exact(&mut bytes) {
            Ok(()) => Message::of(bytes).map(Some),
            Err(error) if is_gone(&error) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Sends it; false if the other end is gone.
    pub fn send(self, stream: &mut UnixStream) -> io::Result<bool> {
        match stream.write_all(&self.bytes()) {
            Ok(()) => Ok(true),
            Err(error) if is_gone(&error) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Answers [`Operation::Start`], as [`send`](Self::send). Kernels expect two descriptors with it, of memory to share and
    /// of a log; with `/dev/null` for both they go on by messages.
    pub fn send_start(self, stream: &UnixStream) -> io::Result<bool> {
        let null = [OFlag::O_RDONLY, OFlag::O_RDWR]
            .map(|mode| open("/dev/null", mode | OFlag::O_CLOEXEC, Mode::empty()));
        let [memory, log] = null;
        let (memory, log) = (memory?, log?);
        let descriptors = [memory.as_raw_fd(), log.as_raw_fd()];
        let bytes = self.bytes();
        let sent = sendmsg::<()>(
            stream.as_raw_fd(),
            &[IoSlice::new(&bytes)],
            &[ControlMessage::ScmRights(&descriptors)],
            MsgFlags::MSG_NOSIGNAL,
            None,
        );
        match sent.map_err(io::Error::from) {
            Ok(sent) if sent == SIZE => Ok(true),
            Ok(_) => Err(io::ErrorKind::WriteZero.into()),
            Err(error) if is_gone(&error) => Ok(false),
            Err(error) => Err(error),
        }
    }

    fn of(bytes: [u8; SIZE]) -> io::Result<Self> {
        let word = |at: usize| u32::from_ne_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        let number = word(0);
        let operation = Operation::ALL.get(number as usize).copied().ok_or_else(|| {
            io::Error::new(io::ErrorKind::InvalidData, format!("time message with operation {number}"))
        })?;
        let mut time = [0u8; 8];
        time.copy_from_slice(&bytes[8..]);
        Ok(Message { operation, sequence: word(4), time: u64::from_ne_bytes(time) })
    }

    fn bytes(self) -> [u8; SIZE] {
        let mut bytes = [0u8; SIZE];
        bytes[..4].copy_from_slice(&(self.operation as u32).to_ne_bytes());
        bytes[4..8].copy_from_slice(&self.sequence.to_ne_bytes());
        bytes[8..].copy_from_slice(&self.time.to_ne_bytes());
        bytes
    }
}

fn is_gone(error: &io::Error) -> bool {
    use io::ErrorKind::{BrokenPipe, ConnectionReset, UnexpectedEof};
    matches!(error.kind(), UnexpectedEof | ConnectionReset | BrokenPipe)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_received_as_it_was_sent() {
        let (mut near, mut far) = UnixStream::pair().unwrap();
        for operation in Operation::ALL {
            let message = Message { operation, sequence: 7, time: u64::MAX - 3 };
            assert!(message.send(&mut near).unwrap());
            assert_eq!(Message::receive(&mut far).unwrap(), Some(message));
        }
        drop(near);
        assert_eq!(Message::receive(&mut far).unwrap(), None);
    }

    #[test]
    fn an_unknown_operation_is_an_error() {
        let (mut near, mut far) = UnixStream::pair().unwrap();
        let mut bytes = Message { operation: Operation::Ack, sequence: 0, time: 0 }.bytes();
        bytes[0] = 10;
        near.write_all(&bytes).unwrap();
        let error = Message::receive(&mut far).unwrap_err();
        assert!(error.to_string().contains("operation 10"), "{error}");
    }

    #[test]
    fn a_gone_end_is_no_error() {
        let (mut near, far) = UnixStream::pair().unwrap();
        drop(far);
        let message = Message { operation: Operation::Run, sequence: 1, time: 2 };
        assert!(!message.send(&mut near).unwrap());
        assert!(!message.send_start(&near).unwrap());
    }
}
