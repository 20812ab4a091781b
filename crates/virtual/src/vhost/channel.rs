//! One direction's requests and replies on a Unix stream socket.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use nix::errno::Errno;
use nix::sys::socket::{MsgFlags, send};

use super::error::Fault;
use super::protocol::{HEADER_BYTES, Header, MOST_DESCRIPTORS, MOST_PAYLOAD, Message};
use super::sys;

/// A socket and the part of a message that has come so far.
pub struct Channel {
    socket: OwnedFd,
    buffer: [u8; HEADER_BYTES + MOST_PAYLOAD],
    filled: usize,
    descriptors: Vec<OwnedFd>,
    control: Vec<u8>,
}

/// What a channel has.
#[expect(clippy::large_enum_variant, reason = "a message lives shortly and on the stack, one at a time")]
pub enum Read {
    /// A whole message.
    Message(Message),
    /// A part of a message, or nothing.
    Incomplete,
    /// The end of the stream.
    Closed,
}

impl Channel {
    pub fn new(socket: OwnedFd) -> Self {
        Channel {
            socket,
            buffer: [0; HEADER_BYTES + MOST_PAYLOAD],
            filled: 0,
            descriptors: Vec::new(),
            control: sys::control_space(),
        }
    }

    pub fn fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    /// Reads at most one message, without waiting.
    ///
    /// It never reads past the end of a message, so that descriptors belong to the message that they came with.
    pub fn read(&mut self) -> Result<Read, Fault> {
        loop {
            let header = self.header();
            let wanted = match header {
                None => HEADER_BYTES,
                Some(header) if header.bytes as usize > MOST_PAYLOAD => {
                    return Err(Fault::Length { request: header.request, bytes: header.bytes as usize });
                }
                Some(header) => HEADER_BYTES + header.bytes as usize,
            };
            if let Some(header) = header
                && self.filled == wanted
            {
                self.filled = 0;
                let mut payload = [0; MOST_PAYLOAD];
                payload.copy_from_slice(&self.buffer[HEADER_BYTES..]);
                return Ok(Read::Message(Message {
                    header,
                    payload,
                    descriptors: self.descriptors.split_off(0),
                }));
            }
            let missing = &mut self.buffer[self.filled..wanted];
            match sys::receive(&self.socket, missing, &mut self.control, &mut self.descriptors) {
                Ok(0) | Err(Errno::ECONNRESET) => return Ok(Read::Closed),
                Ok(_) if self.descriptors.len() > MOST_DESCRIPTORS => return Err(self.too_many_descriptors()),
                Ok(bytes) => self.filled += bytes,
                Err(Errno::EAGAIN) => return Ok(Read::Incomplete),
                Err(Errno::EINTR) => {}
                Err(error) => return Err(io::Error::from(error).into()),
            }
        }
    }

    /// Sends a message without waiting. One to a closed socket vanishes; [`Self::read`] tells of the end.
    pub fn send(&self, header: Header, payload: &[u8]) -> Result<(), Fault> {
        let mut bytes = [0; HEADER_BYTES + MOST_PAYLOAD];
        let bytes = &mut bytes[..HEADER_BYTES + payload.len()];
        bytes[..HEADER_BYTES].copy_from_slice(&header.encode());
        bytes[HEADER_BYTES..].copy_from_slice(payload);
        let flags = MsgFlags::MSG_DONTWAIT | MsgFlags::MSG_NOSIGNAL;
        loop {
            match send(self.socket.as_raw_fd(), bytes, flags) {
                Ok(sent) if sent == bytes.len() => return Ok(()),
                // A part of a message fits only if the socket is full of messages that nobody has read.
                Ok(_) | Err(Errno::EAGAIN) => return Err(Fault::Unread),
                Err(Errno::EPIPE | Errno::ECONNRESET) => return Ok(()),
                Err(Errno::EINTR) => {}
                Err(error) => return Err(io::Error::from(error).into()),
            }
        }
    }

    fn too_many_descriptors(&self) -> Fault {
        let request = self.header().map_or(0, |header| header.request);
        Fault::Descriptors { request, received: self.descriptors.len(), expected: MOST_DESCRIPTORS }
    }

    fn header(&self) -> Option<Header> {
        let bytes = self.buffer[..self.filled].first_chunk::<HEADER_BYTES>()?;
        Some(Header::decode(bytes))
    }
}
