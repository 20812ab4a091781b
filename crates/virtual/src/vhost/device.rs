//! One device of a guest, and what its caller calls.

use std::io::IoSlice;
use std::os::fd::BorrowedFd;
use std::os::unix::net::UnixStream;

use super::error::{Error, Fault};
use super::features::Kind;
use super::protocol::Queue;
use super::session::{Chain, Received, Session};
use super::transfer::Scratch;

/// The back end of one virtio device, with two queues.
///
/// # Contract
/// The caller polls [`Self::frontend`] and calls [`Self::receive`] when it is readable. Notifications of both directions
/// are the caller's: told that the guest has made chains available, it takes them with [`Self::take_sent`] until there is
/// no more, while the guest stands still, and gives them back with [`Self::give_back`] then or later.
///
/// Towards the guest, the caller calls [`Self::deliver`] for each packet that is due, and then interrupts the guest if
/// [`Self::wants_interrupt`].
///
/// # Errors
/// An [`Error`] disconnects the device, and the guest notices that its device is gone. A device that is not connected
/// has nothing to take and no room, which is not an error.
pub struct Device {
    name: String,
    kind: Kind,
    connections: u64,
    session: Option<Session>,
    scratch: Scratch,
}

type Result<T> = std::result::Result<T, Error>;

impl Device {
    /// A device without a connection. `name` is how errors call it, such as `eth0 of host a`.
    pub fn new(kind: Kind, name: String) -> Self {
        Device { name, kind, connections: 0, session: None, scratch: Scratch::default() }
    }

    /// What the device is.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// How errors call it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Continues with an accepted connection, which replaces one that there was.
    pub fn connect(&mut self, stream: UnixStream) {
        self.connections += 1;
        self.session = Some(Session::new(self.kind, stream, self.connections));
    }

    /// The socket on which the guest's messages come. It is closed when [`Received::Closed`] or an error is returned.
    pub fn frontend(&self) -> Option<BorrowedFd<'_>> {
        self.session.as_ref().map(Session::frontend)
    }

    /// Whether the guest's driver has set up and enabled both queues.
    pub fn is_ready(&self) -> bool {
        self.session.as_ref().is_some_and(Session::is_ready)
    }

    /// The features that the guest's driver has accepted, see [`bits`](super::bits); 0 before that.
    pub fn features(&self) -> u64 {
        self.session.as_ref().map_or(0, Session::features)
    }

    /// Reads at most one message of the guest, without waiting.
    ///
    /// # Errors
    /// If the message breaks the protocol, or the socket fails.
    pub fn receive(&mut self) -> Result<Received> {
        let received = self.connected(Received::Closed, |session, _| session.receive())?;
        if received == Received::Closed {
            self.session = None;
        }
        Ok(received)
    }

    /// Takes the next chain that the guest has put into its transmit queue; `buffer` is replaced by its bytes. Chains from
    /// index `until` of the available ring on are left, if it is given.
    ///
    /// Those of a network device are a header of [`NET_HEADER_BYTES`](super::NET_HEADER_BYTES) and a packet, possibly a
    /// super-packet.
    ///
    /// # Errors
    /// If the queue or the chain is malformed, or `until` is beyond what is available.
    pub fn take_sent(&mut self, until: Option<u16>, buffer: &mut Vec<u8>) -> Result<Option<Chain>> {
        let chain = self.connected(None, |session, scratch| session.take_sent(scratch, until, buffer))?;
        if chain.is_none() {
            buffer.clear();
        }
        Ok(chain)
    }

    /// Gives a chain back to the guest, which may use its buffers again. One of queues that are gone is ignored.
    ///
    /// The guest notices when it next looks, or by an interrupt of [`Queue::Transmit`].
    ///
    /// # Errors
    /// If the queue is malformed.
    pub fn give_back(&mut self, chain: Chain) -> Result<()> {
        self.connected((), |session, _| session.give_back(chain))
    }

    /// Copies a packet, given in parts, into the guest's receive queue; false if it has too few buffers.
    ///
    /// A packet of a network device begins with a header, whose last field (`num_buffers`) is overwritten.
    /// The guest notices when it next looks, or by an interrupt of [`Queue::Receive`].
    ///
    /// # Errors
    /// If the queue or a chain is malformed; also, without disconnecting, if the packet is shorter than its header.
    pub fn deliver(&mut self, parts: &[IoSlice<'_>]) -> Result<bool> {
        let bytes = parts.iter().map(|part| part.len()).sum();
        if bytes < self.kind.header_bytes() {
            return Err(self.error(Fault::ShortPacket(bytes)));
        }
        self.connected(false, |session, scratch| session.deliver(scratch, parts))
    }

    /// Whether the guest's driver wants interrupts of `queue` now.
    ///
    /// A driver that is working on a queue anyway does not want them: it will find what was delivered.
    ///
    /// # Errors
    /// If the queue is malformed.
    pub fn wants_interrupt(&mut self, queue: Queue) -> Result<bool> {
        self.connected(false, |session, _| session.wants_interrupt(queue))
    }

    /// The result of `action` with the session, or `absent` without one.
    fn connected<T>(
        &mut self,
        absent: T,
        action: impl FnOnce(&mut Session, &mut Scratch) -> std::result::Result<T, Fault>,
    ) -> Result<T> {
        let Some(session) = &mut self.session else { return Ok(absent) };
        action(session, &mut self.scratch).map_err(|fault| {
            self.session = None;
            self.error(fault)
        })
    }

    fn error(&self, fault: Fault) -> Error {
        Error { device: self.name.clone(), fault }
    }
}
