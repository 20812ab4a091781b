//! One connection of a device: what the front end's messages set up.

use std::io::IoSlice;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;

use super::channel::{Channel, Read};
use super::error::{Fault, RingFault};
use super::features::{CONFIG_BYTES, Kind, PROTOCOL_FEATURES};
use super::memory::Memory;
use super::protocol::{CONFIG_HEADER_BYTES, Header, MOST_PAYLOAD, Queue, Request};
use super::ring::{self, Ring, Used};
use super::transfer::Scratch;

/// What [`Device::receive`](super::Device::receive) has found.
#[derive(Debug, PartialEq, Eq)]
#[must_use]
pub enum Received {
    /// A message that needs nothing of the caller, or only a part of a message.
    Handled,
    /// The guest closed its connection, which is how it removes a device and how it ends.
    Closed,
}

/// A chain of the transmit queue. It belongs to the device until [`Device::give_back`](super::Device::give_back).
#[derive(Debug, PartialEq, Eq)]
#[must_use = "the guest waits for its buffers"]
pub struct Chain {
    head: u16,
    setup: Setup,
}

/// Which connection, and which table of memory of it, a ring belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Setup {
    connection: u64,
    table: u64,
}

/// State of one connection.
pub struct Session {
    kind: Kind,
    frontend: Channel,
    requests: Option<OwnedFd>,
    features: u64,
    memory: Option<Memory>,
    setup: Setup,
    queues: [QueueState; 2],
}

#[derive(Default)]
struct QueueState {
    size: Option<u16>,
    base: u16,
    ring: Option<Ring>,
    enabled: bool,
}

type Result<T> = std::result::Result<T, Fault>;

impl Session {
    pub fn new(kind: Kind, stream: UnixStream, connection: u64) -> Self {
        Session {
            kind,
            frontend: Channel::new(OwnedFd::from(stream)),
            requests: None,
            features: 0,
            memory: None,
            setup: Setup { connection, table: 0 },
            queues: Default::default(),
        }
    }

    pub fn frontend(&self) -> BorrowedFd<'_> {
        self.frontend.fd()
    }

    pub fn is_ready(&self) -> bool {
        self.requests.is_some() && self.queues.iter().all(|queue| queue.enabled)
    }

    pub fn features(&self) -> u64 {
        self.features
    }

    pub fn receive(&mut self) -> Result<Received> {
        let message = match self.frontend.read()? {
            Read::Message(message) => message,
            Read::Incomplete => return Ok(Received::Handled),
            Read::Closed => return Ok(Received::Closed),
        };
        let header = message.header;
        match Request::parse(message)? {
            Request::GetFeatures => self.reply(header, &self.kind.offered().to_ne_bytes())?,
            Request::GetProtocolFeatures => self.reply(header, &PROTOCOL_FEATURES.to_ne_bytes())?,
            Request::GetConfig { offset, bytes } => self.reply_config(header, offset, bytes)?,
            set => {
                self.set(set)?;
                self.acknowledge(header)?;
            }
        }
        Ok(Received::Handled)
    }

    pub fn take_sent(
        &mut self,
        scratch: &mut Scratch,
        until: Option<u16>,
        buffer: &mut Vec<u8>,
    ) -> Result<Option<Chain>> {
        let (setup, queue) = (self.setup, Queue::Transmit);
        let Some((memory, ring)) = self.enabled(queue) else { return Ok(None) };
        let head =
            scratch.gather(memory, ring, until, buffer).map_err(|fault| Fault::Queue { queue, fault })?;
        Ok(head.map(|head| Chain { head, setup }))
    }

    #[expect(clippy::needless_pass_by_value, reason = "a chain is given back once")]
    pub fn give_back(&mut self, chain: Chain) -> Result<()> {
        let Chain { head, setup } = chain;
        let (current, queue) = (self.setup, Queue::Transmit);
        let Some((memory, ring)) = self.enabled(queue).filter(|_| setup == current) else { return Ok(()) };
        ring.give_back(memory, &[Used { head, written: 0 }]).map_err(|fault| Fault::Queue { queue, fault })
    }

    pub fn deliver(&mut self, scratch: &mut Scratch, parts: &[IoSlice<'_>]) -> Result<bool> {
        let (has_header, queue) = (self.kind.header_bytes() > 0, Queue::Receive);
        let Some((memory, ring)) = self.enabled(queue) else { return Ok(false) };
        scratch.scatter(memory, ring, parts, has_header).map_err(|fault| Fault::Queue { queue, fault })
    }

    pub fn wants_interrupt(&mut self, queue: Queue) -> Result<bool> {
        let Some((memory, ring)) = self.enabled(queue) else { return Ok(false) };
        ring.wants_interrupt(memory).map_err(|fault| Fault::Queue { queue, fault })
    }

    /// Carries out a request that changes the device.
    fn set(&mut self, request: Request) -> Result<()> {
        match request {
            Request::SetFeatures(accepted) => {
                check_features(accepted, self.kind.offered(), self.kind.required())?;
                self.features = accepted;
            }
            Request::SetProtocolFeatures(accepted) => {
                check_features(accepted, PROTOCOL_FEATURES, PROTOCOL_FEATURES)?;
            }
            Request::SetMemory(regions) => {
                // Rings are in memory; those of an earlier table are gone with it.
                self.queues = Default::default();
                self.memory = Some(Memory::map(regions)?);
                self.setup.table += 1;
            }
            Request::SetRequestChannel(socket) => {
                self.requests = Some(socket);
            }
            Request::SetRingSize(queue, size) => {
                let size = ring::checked_size(size).map_err(|fault| Fault::Queue { queue, fault })?;
                self.queues[queue.index()] = QueueState { size: Some(size), ..QueueState::default() };
            }
            Request::SetRingBase(queue, base) => self.queues[queue.index()].base = base as u16,
            Request::SetRingAddresses(queue, addresses) => {
                let state = &mut self.queues[queue.index()];
                let ring = match (&self.memory, state.size) {
                    (Some(memory), Some(size)) => Ring::new(queue, memory, size, addresses, state.base),
                    _ => Err(RingFault::NotSetUp),
                };
                state.ring = Some(ring.map_err(|fault| Fault::Queue { queue, fault })?);
            }
            Request::EnableRing(queue, enabled) => self.enable(queue, enabled)?,
            Request::SetOwner
            | Request::GetFeatures
            | Request::GetProtocolFeatures
            | Request::GetConfig { .. } => {}
        }
        Ok(())
    }

    fn enable(&mut self, queue: Queue, enabled: bool) -> Result<()> {
        let state = &mut self.queues[queue.index()];
        state.enabled = enabled && state.ring.is_some();
        if !enabled {
            return Ok(());
        }
        // Kicks of a receive queue say that there is room again. A network drops what has no room; a console waits.
        let silent = queue == Queue::Receive && self.kind != Kind::Console;
        let Some((memory, ring)) = self.enabled(queue) else {
            return Err(Fault::Queue { queue, fault: RingFault::NotSetUp });
        };
        if silent {
            ring.suppress_kicks(memory).map_err(|fault| Fault::Queue { queue, fault })?;
        }
        Ok(())
    }

    /// The memory and the ring of a queue that is enabled.
    fn enabled(&mut self, queue: Queue) -> Option<(&Memory, &mut Ring)> {
        let state = &mut self.queues[queue.index()];
        let ring = state.ring.as_mut().filter(|_| state.enabled)?;
        Some((self.memory.as_ref()?, ring))
    }

    /// Tells the front end that a request was carried out, if it waits for that.
    fn acknowledge(&self, request: Header) -> Result<()> {
        if request.needs_reply() { self.reply(request, &0_u64.to_ne_bytes()) } else { Ok(()) }
    }

    fn reply(&self, request: Header, payload: &[u8]) -> Result<()> {
        self.frontend.send(request.reply(payload.len()), payload)
    }

    fn reply_config(&self, request: Header, offset: u32, bytes: u32) -> Result<()> {
        let space = self.kind.config();
        let end = offset.checked_add(bytes).filter(|&end| end as usize <= CONFIG_BYTES);
        let part = end.map(|end| &space[offset as usize..end as usize]);
        let part = part.filter(|part| request.bytes as usize == CONFIG_HEADER_BYTES + part.len());
        let part = part.ok_or(Fault::Config { offset, bytes })?;
        let mut payload = [0; MOST_PAYLOAD];
        let payload = &mut payload[..CONFIG_HEADER_BYTES + part.len()];
        payload[..4].copy_from_slice(&offset.to_ne_bytes());
        payload[4..8].copy_from_slice(&bytes.to_ne_bytes());
        payload[CONFIG_HEADER_BYTES..].copy_from_slice(part);
        self.reply(request, payload)
    }
}

fn check_features(accepted: u64, offered: u64, required: u64) -> Result<()> {
    if accepted & !offered != 0 || required & !accepted != 0 {
        return Err(Fault::Features { accepted, offered, required });
    }
    Ok(())
}
