//! Messages of the vhost-user protocol. Integers are in the byte order of the machine, which both ends share.

use std::fmt;
use std::os::fd::OwnedFd;

use super::error::Fault;

/// Bytes in front of every payload.
pub const HEADER_BYTES: usize = 12;
/// Longest payload: a table of eight regions, or the whole configuration space after its 12 bytes of header.
pub const MOST_PAYLOAD: usize = CONFIG_HEADER_BYTES + super::features::CONFIG_BYTES;
/// Bytes of offset, size and flags in front of configuration space.
pub const CONFIG_HEADER_BYTES: usize = 12;
/// Most regions of a table of memory (`VHOST_MEMORY_BASELINE_NREGIONS`).
const MOST_REGIONS: u32 = 8;
/// Most descriptors of a message: those of the regions.
pub const MOST_DESCRIPTORS: usize = MOST_REGIONS as usize;
const REGION_BYTES: usize = 32;

/// Version of the protocol, in the lowest bits of a message's flags.
const VERSION: u32 = 1;
const REPLY: u32 = 1 << 2;
const NEED_REPLY: u32 = 1 << 3;

/// A virtqueue, seen from the guest, as VIRTIO names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Queue {
    /// Queue 0: to the guest.
    Receive,
    /// Queue 1: from the guest.
    Transmit,
}

impl Queue {
    /// Its number in the protocol, and its place in an array of both.
    pub fn index(self) -> usize {
        match self {
            Queue::Receive => 0,
            Queue::Transmit => 1,
        }
    }

    fn numbered(index: u32) -> Result<Self, Fault> {
        match index {
            0 => Ok(Queue::Receive),
            1 => Ok(Queue::Transmit),
            _ => Err(Fault::NoQueue(index)),
        }
    }
}

impl fmt::Display for Queue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Queue::Receive => "receive",
            Queue::Transmit => "transmit",
        })
    }
}

/// What every message begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Type of the message.
    pub request: u32,
    flags: u32,
    /// Length of the payload.
    pub bytes: u32,
}

impl Header {
    pub fn decode(bytes: &[u8; HEADER_BYTES]) -> Self {
        Header { request: u32_at(bytes, 0), flags: u32_at(bytes, 4), bytes: u32_at(bytes, 8) }
    }

    pub fn encode(self) -> [u8; HEADER_BYTES] {
        let mut bytes = [0; HEADER_BYTES];
        bytes[..4].copy_from_slice(&self.request.to_ne_bytes());
        bytes[4..8].copy_from_slice(&self.flags.to_ne_bytes());
        bytes[8..].copy_from_slice(&self.bytes.to_ne_bytes());
        bytes
    }

    /// The header of the reply to this request.
    pub fn reply(self, bytes: usize) -> Header {
        Header { request: self.request, flags: VERSION | REPLY, bytes: bytes as u32 }
    }

    /// Whether the sender of this request waits for a reply.
    pub fn needs_reply(self) -> bool {
        self.flags & NEED_REPLY != 0
    }
}

/// A message as it came.
pub struct Message {
    pub header: Header,
    pub payload: [u8; MOST_PAYLOAD],
    pub descriptors: Vec<OwnedFd>,
}

impl Message {
    fn payload(&self) -> &[u8] {
        &self.payload[..self.header.bytes as usize]
    }

    fn exactly<const BYTES: usize>(&self) -> Result<&[u8; BYTES], Fault> {
        self.payload().try_into().map_err(|_| self.wrong_length())
    }

    fn wrong_length(&self) -> Fault {
        Fault::Length { request: self.header.request, bytes: self.header.bytes as usize }
    }
}

/// A region of the guest's memory, as the guest describes it.
pub struct Region {
    /// Guest physical address.
    pub guest: u64,
    /// Length in bytes.
    pub bytes: u64,
    /// Address in the front end's own address space, in which addresses of rings are given.
    pub user: u64,
    /// Where it begins in the file.
    pub offset: u64,
    /// The file.
    pub file: OwnedFd,
}

/// Addresses of a ring, in the front end's address space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RingAddresses {
    pub descriptors: u64,
    pub used: u64,
    pub available: u64,
}

/// A request of the front end, of those that a `virtio_uml` with in-band notifications sends.
pub enum Request {
    GetFeatures,
    SetFeatures(u64),
    SetOwner,
    SetMemory(Vec<Region>),
    SetRingSize(Queue, u32),
    SetRingAddresses(Queue, RingAddresses),
    SetRingBase(Queue, u32),
    GetProtocolFeatures,
    SetProtocolFeatures(u64),
    EnableRing(Queue, bool),
    SetRequestChannel(OwnedFd),
    GetConfig { offset: u32, bytes: u32 },
}

impl Request {
    /// Reads and checks a message: its flags, its length, and the number of its descriptors.
    pub fn parse(mut message: Message) -> Result<Request, Fault> {
        let header = message.header;
        if header.flags & !NEED_REPLY != VERSION {
            return Err(Fault::Flags { request: header.request, flags: header.flags });
        }
        let descriptors = message.descriptors.split_off(0);
        let (received, mut expected) = (descriptors.len(), 0);
        let mut descriptors = descriptors.into_iter();
        let request = match header.request {
            1 => message.exactly::<0>().map(|_| Request::GetFeatures)?,
            2 => Request::SetFeatures(u64_at(message.exactly::<8>()?, 0)),
            3 => message.exactly::<0>().map(|_| Request::SetOwner)?,
            5 => {
                let regions = regions(&message, &mut descriptors)?;
                expected = regions.len();
                Request::SetMemory(regions)
            }
            8 => Request::SetRingSize(queue(&message)?, u32_at(message.exactly::<8>()?, 4)),
            9 => {
                let payload = message.exactly::<40>()?;
                let addresses = RingAddresses {
                    descriptors: u64_at(payload, 8),
                    used: u64_at(payload, 16),
                    available: u64_at(payload, 24),
                };
                Request::SetRingAddresses(queue(&message)?, addresses)
            }
            10 => Request::SetRingBase(queue(&message)?, u32_at(message.exactly::<8>()?, 4)),
            15 => message.exactly::<0>().map(|_| Request::GetProtocolFeatures)?,
            16 => Request::SetProtocolFeatures(u64_at(message.exactly::<8>()?, 0)),
            18 => Request::EnableRing(queue(&message)?, u32_at(message.exactly::<8>()?, 4) != 0),
            21 => {
                message.exactly::<0>()?;
                expected = 1;
                let missing = Fault::Descriptors { request: header.request, received, expected };
                Request::SetRequestChannel(descriptors.next().ok_or(missing)?)
            }
            24 => {
                let payload = message.payload();
                if payload.len() < CONFIG_HEADER_BYTES {
                    return Err(message.wrong_length());
                }
                Request::GetConfig { offset: u32_at(payload, 0), bytes: u32_at(payload, 4) }
            }
            other => return Err(Fault::Unsupported(other)),
        };
        if received != expected {
            return Err(Fault::Descriptors { request: header.request, received, expected });
        }
        Ok(request)
    }
}

fn queue(message: &Message) -> Result<Queue, Fault> {
    let first = message.payload().first_chunk::<4>().ok_or_else(|| message.wrong_length())?;
    Queue::numbered(u32_at(first, 0))
}

/// The regions of a table. The front end may send room for more regions than there are.
fn regions(
    message: &Message,
    files: &mut impl ExactSizeIterator<Item = OwnedFd>,
) -> Result<Vec<Region>, Fault> {
    let payload = message.payload();
    if payload.len() < 8 {
        return Err(message.wrong_length());
    }
    let count = u32_at(payload, 0);
    if !(1..=MOST_REGIONS).contains(&count) {
        return Err(Fault::Regions(count));
    }
    let expected = count as usize;
    if payload.len() < 8 + expected * REGION_BYTES {
        return Err(message.wrong_length());
    }
    if files.len() != expected {
        return Err(Fault::Descriptors { request: message.header.request, received: files.len(), expected });
    }
    let regions = payload[8..].chunks_exact(REGION_BYTES).zip(files).map(|(region, file)| Region {
        guest: u64_at(region, 0),
        bytes: u64_at(region, 8),
        user: u64_at(region, 16),
        offset: u64_at(region, 24),
        file,
    });
    Ok(regions.collect())
}

/// The integer at `at`, which must be inside of `bytes`.
fn u32_at(bytes: &[u8], at: usize) -> u32 {
    let mut integer = [0; 4];
    integer.copy_from_slice(&bytes[at..at + 4]);
    u32::from_ne_bytes(integer)
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    let mut integer = [0; 8];
    integer.copy_from_slice(&bytes[at..at + 8]);
    u64::from_ne_bytes(integer)
}
