//! The protocol by which a User-Mode Linux kernel asks whoever owns its clock for time: messages of 16 bytes over a stream
//! socket (`include/uapi/linux/um_timetravel.h`), as the recipe of guest kernels changes them (`controller.c` there).
//!
//! A kernel that runs sends what it has sent over its devices ([`Operation::Kick`]) and then that it waits, in one write; it
//! runs again when it receives one message ([`Operation::Run`]). Only other messages are acknowledged.

use nix::fcntl::{OFlag, open};
use nix::sys::socket::{ControlMessage, MsgFlags, recv, sendmsg};
use nix::sys::stat::Mode;
use std::io::{self, IoSlice, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::time::Duration;

/// Bytes of a message.
const SIZE: usize = 16;
/// Messages that a kernel sends in one write at most.
const MOST_AT_ONCE: usize = 16;
/// Where the set of queues begins in the first word of a message.
const QUEUES_SHIFT: u32 = 8;

/// What a message is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operation {
    /// The answer to a message, with the queues that have interrupts.
    Ack,
    /// The kernel is there; its time is the number that it was given.
    Start,
    /// Not sent by kernels of the recipe.
    Request,
    /// The kernel has run on by itself for as many nanoseconds as the message's number says, and has nothing to do until
    /// then. It is not acknowledged.
    Wait,
    /// What time is it? The answer's time.
    Get,
    /// The kernel's clock is at this time.
    Update,
    /// The kernel may run: it is this time, and it may run on by itself until as many nanoseconds later as the message's
    /// number says. Its queues have interrupts. It is not acknowledged.
    Run,
    /// Not sent to kernels of the recipe.
    FreeUntil,
    /// What Unix time is it at time zero? The answer's time.
    GetTimeOfDay,
    /// A message for the logs of all.
    Broadcast,
    /// The kernel has made chains of a queue available at this time, up to the index that the message's number is. It is not
    /// acknowledged.
    Kick,
}

impl Operation {
    const ALL: [Operation; 11] = [
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
        Operation::Kick,
    ];
}

/// A message in either direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Message {
    pub operation: Operation,
    /// A set of queues, in 24 bits: 2 times the number of a device, plus the number of its queue.
    pub queues: u32,
    /// An answer has that of the message.
    pub sequence: u32,
    /// Nanoseconds, or what the operation says.
    pub time: u64,
}

impl Message {
    fn of(bytes: &[u8; SIZE]) -> io::Result<Self> {
        let word = |at: usize| u32::from_ne_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        let first = word(0);
        let number = first & ((1 << QUEUES_SHIFT) - 1);
        let operation = Operation::ALL.get(number as usize).copied().ok_or_else(|| {
            io::Error::new(io::ErrorKind::InvalidData, format!("time message with operation {number}"))
        })?;
        let mut time = [0u8; 8];
        time.copy_from_slice(&bytes[8..]);
        let time = u64::from_ne_bytes(time);
        Ok(Message { operation, queues: first >> QUEUES_SHIFT, sequence: word(4), time })
    }

    fn bytes(self) -> [u8; SIZE] {
        let mut bytes = [0u8; SIZE];
        let first = self.operation as u32 | self.queues << QUEUES_SHIFT;
        bytes[..4].copy_from_slice(&first.to_ne_bytes());
        bytes[4..8].copy_from_slice(&self.sequence.to_ne_bytes());
        bytes[8..].copy_from_slice(&self.time.to_ne_bytes());
        bytes
    }
}

/// What a read has found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Read {
    /// Bytes; there may be whole messages.
    Some,
    /// Nothing, for as long as it waited.
    Nothing,
    /// The connection is closed.
    Closed,
}

/// A connection with a kernel, and what was read of it.
pub(crate) struct Connection {
    stream: UnixStream,
    buffer: [u8; SIZE * MOST_AT_ONCE],
    /// What of the buffer has been read, and what of that was taken.
    filled: usize,
    taken: usize,
}

impl Connection {
    /// Waits for at most `patience` where it waits.
    pub fn new(stream: UnixStream, patience: Duration) -> io::Result<Self> {
        let connection = Connection { stream, buffer: [0; SIZE * MOST_AT_ONCE], filled: 0, taken: 0 };
        connection.wait_for(patience)?;
        Ok(connection)
    }

    /// From now on, waits for at most `patience`.
    pub fn wait_for(&self, patience: Duration) -> io::Result<()> {
        self.stream.set_read_timeout(Some(patience))
    }

    /// What is to be polled.
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.stream.as_fd()
    }

    /// Reads what there is, in one call; with `waits`, waits for it. All messages before must have been taken.
    pub fn read(&mut self, waits: bool) -> io::Result<Read> {
        self.buffer.copy_within(self.taken..self.filled, 0);
        self.filled -= self.taken;
        self.taken = 0;
        let flags = if waits { MsgFlags::empty() } else { MsgFlags::MSG_DONTWAIT };
        match recv(self.stream.as_raw_fd(), &mut self.buffer[self.filled..], flags).map_err(io::Error::from) {
            Ok(0) => Ok(Read::Closed),
            Ok(bytes) => {
                self.filled += bytes;
                Ok(Read::Some)
            }
            Err(error) if has_ended(&error) => Ok(Read::Closed),
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => {
                Ok(Read::Nothing)
            }
            Err(error) => Err(error),
        }
    }

    /// Takes the next whole message that was read.
    pub fn next(&mut self) -> io::Result<Option<Message>> {
        let Some(bytes) = self.buffer[self.taken..self.filled].first_chunk::<SIZE>() else { return Ok(None) };
        self.taken += SIZE;
        Message::of(bytes).map(Some)
    }

    /// Sends a message; false if the connection is closed.
    pub fn send(&mut self, message: Message) -> io::Result<bool> {
        match self.stream.write_all(&message.bytes()) {
            Ok(()) => Ok(true),
            Err(error) if has_ended(&error) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Answers [`Operation::Start`], as [`send`](Self::send). Kernels expect two descriptors with it, of memory to share and
    /// of a log; with `/dev/null` for both they go on by messages.
    pub fn send_start(&mut self, message: Message) -> io::Result<bool> {
        let null = [OFlag::O_RDONLY, OFlag::O_RDWR]
            .map(|mode| open("/dev/null", mode | OFlag::O_CLOEXEC, Mode::empty()));
        let [memory, log] = null;
        let (memory, log) = (memory?, log?);
        let descriptors = [memory.as_raw_fd(), log.as_raw_fd()];
        let bytes = message.bytes();
        let sent = sendmsg::<()>(
            self.stream.as_raw_fd(),
            &[IoSlice::new(&bytes)],
            &[ControlMessage::ScmRights(&descriptors)],
            MsgFlags::MSG_NOSIGNAL,
            None,
        );
        match sent.map_err(io::Error::from) {
            Ok(sent) if sent == SIZE => Ok(true),
            Ok(_) => Err(io::ErrorKind::WriteZero.into()),
            Err(error) if has_ended(&error) => Ok(false),
            Err(error) => Err(error),
        }
    }
}

fn has_ended(error: &io::Error) -> bool {
    use io::ErrorKind::{BrokenPipe, ConnectionReset, UnexpectedEof};
    matches!(error.kind(), UnexpectedEof | ConnectionReset | BrokenPipe)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair() -> (Connection, Connection) {
        let (near, far) = UnixStream::pair().unwrap();
        let of = |stream| Connection::new(stream, Duration::from_millis(1)).unwrap();
        (of(near), of(far))
    }

    const RUN: Message = Message { operation: Operation::Run, queues: 1, sequence: 1, time: 2 };

    #[test]
    fn messages_are_received_as_they_were_sent() {
        let (mut near, mut far) = pair();
        let all = Operation::ALL.map(|operation| Message {
            operation,
            queues: 0xff_fffe,
            sequence: u32::MAX,
            time: u64::MAX - 3,
        });
        for message in all {
            assert!(near.send(message).unwrap());
        }
        assert_eq!(far.read(true).unwrap(), Read::Some);
        for message in all {
            assert_eq!(far.next().unwrap(), Some(message));
        }
        assert_eq!(far.next().unwrap(), None);
        assert_eq!(far.read(false).unwrap(), Read::Nothing);
        assert_eq!(far.read(true).unwrap(), Read::Nothing);
        drop(near);
        assert_eq!(far.read(true).unwrap(), Read::Closed);
    }

    #[test]
    fn a_message_may_come_in_two_parts() {
        let (mut near, mut far) = pair();
        let bytes = RUN.bytes();
        near.send(RUN).unwrap();
        near.stream.write_all(&bytes[..5]).unwrap();
        assert_eq!(far.read(true).unwrap(), Read::Some);
        assert_eq!(far.next().unwrap(), Some(RUN));
        assert_eq!(far.next().unwrap(), None);
        near.stream.write_all(&bytes[5..]).unwrap();
        assert_eq!(far.read(true).unwrap(), Read::Some);
        assert_eq!(far.next().unwrap(), Some(RUN));
    }

    #[test]
    fn more_messages_than_the_buffer_holds_are_read_one_after_another() {
        let (mut near, mut far) = pair();
        for number in 0..40 {
            near.send(Message { sequence: number, ..RUN }).unwrap();
        }
        let mut found = 0;
        while far.read(false).unwrap() == Read::Some {
            while let Some(message) = far.next().unwrap() {
                assert_eq!(message.sequence, found);
                found += 1;
            }
        }
        assert_eq!(found, 40);
    }

    #[test]
    fn an_unknown_operation_is_an_error() {
        let (mut near, mut far) = pair();
        near.stream.write_all(&[11; SIZE]).unwrap();
        far.read(true).unwrap();
        let error = far.next().unwrap_err();
        assert!(error.to_string().contains("operation 11"), "{error}");
    }

    #[test]
    fn a_closed_connection_is_not_an_error() {
        let (mut near, far) = pair();
        drop(far);
        assert!(!near.send(RUN).unwrap());
        assert!(!near.send_start(RUN).unwrap());
    }
}
