//! A stream between the controller and a machine, which neither side waits for longer than it may.
//!
//! On a connection of its own (TCP), what is written goes in records: their length (u32, little-endian), and the bytes, encrypted and
//! authenticated by ChaCha20-Poly1305 (RFC 8439) with a key of the run's own. The number of a record and its direction are the nonce. Over
//! ssh and its like, nothing of that is needed.

use super::KEEPALIVE_TIMEOUT;
use chacha20poly1305::aead::{AeadInOut, KeyInit};
use chacha20poly1305::{ChaCha20Poly1305, Key, Nonce, Tag};
use nix::errno::Errno;
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

/// Largest read at once.
const CHUNK_BYTES: usize = 1 << 16;
const LENGTH_BYTES: usize = 4;
const TAG_BYTES: usize = 16;
/// A longer record is invalid.
const MOST_RECORD_BYTES: usize = 1 << 30;

/// A key of a run's own.
pub type SecretKey = [u8; 32];

/// Which end of a stream this is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// That of the controller.
    Controller,
    /// That of a machine.
    Machine,
}

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

/// One end of a stream.
pub struct Stream {
    input: OwnedFd,
    output: OwnedFd,
    seal: Option<Seal>,
}

impl Stream {
    /// Reads `input` and writes `output`, which may be one socket; with a `key`, in records.
    ///
    /// # Errors
    /// If these cannot be used without blocking.
    pub fn new(
        input: BorrowedFd<'_>,
        output: BorrowedFd<'_>,
        key: Option<&SecretKey>,
        side: Side,
    ) -> io::Result<Self> {
        for fd in [input, output] {
            let flags = OFlag::from_bits_retain(fcntl(fd, FcntlArg::F_GETFL)?);
            fcntl(fd, FcntlArg::F_SETFL(flags | OFlag::O_NONBLOCK))?;
        }
        let seal = key.map(|key| Seal::new(key, side));
        Ok(Stream { input: input.try_clone_to_owned()?, output: output.try_clone_to_owned()?, seal })
    }

    /// What is to be polled for more.
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.input.as_fd()
    }

    /// Adds what has come to `bytes`, after waiting for it for at most `timeout`. Less than a whole record adds nothing, and
    /// counts as something.
    ///
    /// # Errors
    /// If reading fails, or a record is not of this run.
    pub fn read(&mut self, bytes: &mut Vec<u8>, timeout: Duration) -> io::Result<Found> {
        let fd = self.input.as_fd();
        let Some(seal) = &mut self.seal else { return read(fd, bytes, timeout) };
        let found = read(fd, &mut seal.received, timeout)?;
        seal.open(bytes)?;
        Ok(found)
    }

    /// Writes all of `bytes`.
    ///
    /// # Errors
    /// If nobody reads, or what reads takes nothing for too long.
    pub fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        let fd = self.output.as_fd();
        match &mut self.seal {
            None => write(fd, bytes),
            Some(seal) => write(fd, seal.sealed(bytes)?),
        }
    }
}

/// Makes records of bytes, and bytes of records.
struct Seal {
    cipher: ChaCha20Poly1305,
    side: Side,
    written: u64,
    opened: u64,
    received: Vec<u8>,
    record: Vec<u8>,
}

impl Seal {
    fn new(key: &SecretKey, side: Side) -> Self {
        let cipher = ChaCha20Poly1305::new(&Key::from(*key));
        Seal { cipher, side, written: 0, opened: 0, received: Vec::new(), record: Vec::new() }
    }

    /// The next record of this side.
    fn sealed(&mut self, bytes: &[u8]) -> io::Result<&[u8]> {
        let length = ((bytes.len() + TAG_BYTES) as u32).to_le_bytes();
        self.record.clear();
        self.record.extend_from_slice(&length);
        self.record.extend_from_slice(bytes);
        let nonce = nonce(self.side, self.written);
        self.written += 1;
        let content = &mut self.record[LENGTH_BYTES..];
        let tag = self.cipher.encrypt_inout_detached(&nonce, &length, content.into());
        self.record.extend_from_slice(&tag.map_err(|_| io::ErrorKind::InvalidInput)?);
        Ok(&self.record)
    }

    /// Adds the bytes of all whole records that have come.
    fn open(&mut self, bytes: &mut Vec<u8>) -> io::Result<()> {
        let foreign = || io::Error::new(io::ErrorKind::InvalidData, "a record that is not of this run");
        let other = if self.side == Side::Controller { Side::Machine } else { Side::Controller };
        let mut taken = 0;
        while let Some(&length) = self.received[taken..].first_chunk::<LENGTH_BYTES>() {
            let size = u32::from_le_bytes(length) as usize;
            if !(TAG_BYTES..=MOST_RECORD_BYTES).contains(&size) {
                return Err(foreign());
            }
            let begin = taken + LENGTH_BYTES;
            let Some(record) = self.received.get_mut(begin..begin + size) else { break };
            let (content, tag) = record.split_at_mut(size - TAG_BYTES);
            let tag = Tag::try_from(&*tag).map_err(|_| foreign())?;
            let opened =
                self.cipher.decrypt_inout_detached(&nonce(other, self.opened), &length, content.into(), &tag);
            opened.map_err(|_| foreign())?;
            self.opened += 1;
            let begin = taken + LENGTH_BYTES;
            bytes.extend_from_slice(&self.received[begin..begin + size - TAG_BYTES]);
            taken = begin + size;
        }
        self.received.drain(..taken);
        Ok(())
    }
}

/// No two records of a run have one in common.
fn nonce(side: Side, number: u64) -> Nonce {
    let mut nonce = [0; 12];
    nonce[0] = u8::from(side == Side::Machine);
    nonce[4..].copy_from_slice(&number.to_le_bytes());
    nonce.into()
}

fn wait(fd: BorrowedFd<'_>, flags: PollFlags, timeout: Duration) -> io::Result<()> {
    let timeout = PollTimeout::try_from(timeout).unwrap_or(PollTimeout::MAX);
    match poll(&mut [PollFd::new(fd, flags)], timeout) {
        Ok(_) | Err(Errno::EINTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

fn read(fd: BorrowedFd<'_>, bytes: &mut Vec<u8>, timeout: Duration) -> io::Result<Found> {
    let before = bytes.len();
    let mut has_waited = timeout.is_zero();
    loop {
        bytes.resize(before + CHUNK_BYTES, 0);
        let found = nix::unistd::read(fd, &mut bytes[before..]);
        bytes.truncate(before + found.unwrap_or(0));
        match found {
            Ok(0) | Err(Errno::ECONNRESET) => return Ok(Found::End),
            Ok(_) => return Ok(Found::Some),
            Err(Errno::EAGAIN) if has_waited => return Ok(Found::Nothing),
            Err(Errno::EAGAIN) => {
                wait(fd, PollFlags::POLLIN, timeout)?;
                has_waited = true;
            }
            Err(Errno::EINTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

fn write(fd: BorrowedFd<'_>, mut bytes: &[u8]) -> io::Result<()> {
    let mut taken = Instant::now();
    while !bytes.is_empty() {
        match nix::unistd::write(fd, bytes) {
            Ok(count) => {
                bytes = &bytes[count..];
                taken = Instant::now();
            }
            Err(Errno::EAGAIN) => {
                let left = KEEPALIVE_TIMEOUT.saturating_sub(taken.elapsed());
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::net::UnixStream;

    fn pair(keys: [Option<SecretKey>; 2]) -> (Stream, Stream) {
        let (here, there) = UnixStream::pair().unwrap();
        let stream = |socket: &UnixStream, key: &Option<SecretKey>, side| {
            Stream::new(socket.as_fd(), socket.as_fd(), key.as_ref(), side).unwrap()
        };
        (stream(&here, &keys[0], Side::Controller), stream(&there, &keys[1], Side::Machine))
    }

    fn read_all(stream: &mut Stream, count: usize) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        while bytes.len() < count {
            match stream.read(&mut bytes, Duration::from_secs(5))? {
                Found::Some => {}
                found => panic!("{found:?} after {} bytes", bytes.len()),
            }
        }
        Ok(bytes)
    }

    #[test]
    fn what_is_written_comes_in_both_directions_with_and_without_a_key() {
        for key in [None, Some([7; 32])] {
            let (mut controller, mut machine) = pair([key, key]);
            let long: Vec<u8> = (0..300_000_u32).map(|value| value as u8).collect();
            let writes = long.clone();
            let writer = std::thread::spawn(move || {
                controller.write(b"one").unwrap();
                controller.write(&writes).unwrap();
                controller
            });
            assert_eq!(read_all(&mut machine, 3 + long.len()).unwrap(), [b"one".as_slice(), &long].concat());
            let mut controller = writer.join().unwrap();
            machine.write(b"two").unwrap();
            assert_eq!(read_all(&mut controller, 3).unwrap(), b"two");
            assert_eq!(controller.read(&mut Vec::new(), Duration::ZERO).unwrap(), Found::Nothing);
            drop(machine);
            assert_eq!(controller.read(&mut Vec::new(), Duration::ZERO).unwrap(), Found::End);
        }
    }

    #[test]
    fn records_of_another_key_or_none_or_repeated_are_refused() {
        for other in [None, Some([8; 32])] {
            let (mut controller, mut machine) = pair([other, Some([7; 32])]);
            controller.write(&[255; 64]).unwrap();
            let error = read_all(&mut machine, 1).unwrap_err();
            assert_eq!(error.to_string(), "a record that is not of this run");
        }
        // A record that comes twice has the number of another.
        let key = [7; 32];
        let (mut writer, mut reader) = (Seal::new(&key, Side::Controller), Seal::new(&key, Side::Machine));
        let record = writer.sealed(b"once").unwrap().to_vec();
        let mut bytes = Vec::new();
        reader.received.extend_from_slice(&record);
        reader.open(&mut bytes).unwrap();
        assert_eq!(bytes, b"once");
        reader.received.extend_from_slice(&record);
        assert!(reader.open(&mut bytes).is_err());
        // So has one of the same direction.
        let mut mirror = Seal::new(&key, Side::Controller);
        mirror.received.extend_from_slice(&record);
        assert!(mirror.open(&mut bytes).is_err());
    }
}
