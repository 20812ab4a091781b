//! What can end a device.

use std::io;

use thiserror::Error;

use super::protocol::Queue;

/// Why a device ended: its guest broke the protocol, or a system call failed. The device is disconnected.
#[derive(Debug, Error)]
#[error("device {device}: {fault}; {}", .fault.remedy())]
pub struct Error {
    /// The name that the device was created with.
    pub device: String,
    /// What is wrong.
    pub fault: Fault,
}

/// What is wrong with a device.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Fault {
    /// Its socket fails.
    #[error("its socket fails: {0}")]
    Socket(#[from] io::Error),
    /// The guest sends requests without reading their replies.
    #[error("the guest does not read what is sent to it")]
    Unread,
    /// A message has another version, or is a reply where a request belongs (or the reverse).
    #[error("message {request} has flags {flags:#x}")]
    Flags {
        /// Its type.
        request: u32,
        /// Its flags.
        flags: u32,
    },
    /// A message has more or less payload than its type.
    #[error("message {request} has a payload of {bytes} bytes")]
    Length {
        /// Its type.
        request: u32,
        /// Its length.
        bytes: usize,
    },
    /// A message has more or fewer descriptors than its type.
    #[error("message {request} carries {received} descriptors instead of {expected}")]
    Descriptors {
        /// Its type.
        request: u32,
        /// Its descriptors.
        received: usize,
        /// Those of its type.
        expected: usize,
    },
    /// A message is of a type that this back end does not offer.
    #[error("message {0} is not supported")]
    Unsupported(u32),
    /// A message is about a queue that the device does not have.
    #[error("there is no queue {0}, only 0 and 1")]
    NoQueue(u32),
    /// The driver accepted features that were not offered, or lacks one that is needed.
    #[error("the driver accepts features {accepted:#x} of {offered:#x}, and {required:#x} are needed")]
    Features {
        /// What it accepted.
        accepted: u64,
        /// What was offered to it.
        offered: u64,
        /// What this back end cannot do without.
        required: u64,
    },
    /// The guest asks for a part of the configuration space that does not exist.
    #[error("the driver reads {bytes} bytes of configuration at {offset}")]
    Config {
        /// First byte.
        offset: u32,
        /// How many.
        bytes: u32,
    },
    /// A region of memory cannot be used.
    #[error("memory region {index} ({bytes} bytes at {address:#x}) {reason}")]
    Region {
        /// Its position in the table.
        index: usize,
        /// Its guest physical address.
        address: u64,
        /// Its length.
        bytes: u64,
        /// Why.
        reason: String,
    },
    /// A table of memory has no region, or too many.
    #[error("the table of memory has {0} regions; 1 to 8 are possible")]
    Regions(u32),
    /// Something is wrong with a queue.
    #[error("{queue} queue: {fault}")]
    Queue {
        /// Which.
        queue: Queue,
        /// What.
        fault: RingFault,
    },
    /// A caller's packet is shorter than the header of a network device.
    #[error("a packet of {0} bytes has no virtio header")]
    ShortPacket(usize),
}

impl Fault {
    fn remedy(&self) -> &'static str {
        match self {
            Fault::Socket(_) => "end its guest and start the run again",
            Fault::ShortPacket(_) => "begin every packet with a header of 12 bytes",
            _ => "end its guest, and boot it with the kernel that Longhaul builds",
        }
    }
}

/// What is wrong with a virtqueue.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum RingFault {
    /// Its size is not a power of two up to 32768.
    #[error("size {0} is not a power of two between 1 and 32768")]
    Size(u32),
    /// A part of it is not aligned as it must be.
    #[error("its {part} at {address:#x} is not aligned to {alignment} bytes")]
    Alignment {
        /// Which part.
        part: &'static str,
        /// Its address.
        address: u64,
        /// What the address must be a multiple of.
        alignment: u64,
    },
    /// It refers to memory that the guest has not shared.
    #[error("{bytes} bytes at {address:#x} are outside the shared memory")]
    OutsideMemory {
        /// First byte.
        address: u64,
        /// How many.
        bytes: u64,
    },
    /// It is used before its addresses are known, or before there is memory.
    #[error("it is used before it is set up")]
    NotSetUp,
    /// The driver tells of more chains than it has made available.
    #[error("the guest tells of {chains} chains, and {waiting} are available")]
    NotAvailable {
        /// How many it tells of.
        chains: u16,
        /// How many there are.
        waiting: u16,
    },
    /// The driver has made more chains available than there are descriptors.
    #[error("{chains} chains are available in a queue of {size}")]
    TooManyChains {
        /// How many.
        chains: u16,
        /// Descriptors.
        size: u16,
    },
    /// A chain refers to a descriptor that does not exist.
    #[error("descriptor {index} of {size} does not exist")]
    NoDescriptor {
        /// Its index.
        index: u16,
        /// Descriptors.
        size: u16,
    },
    /// A chain is a loop.
    #[error("the chain at descriptor {head} is a loop")]
    Loop {
        /// Where it begins.
        head: u16,
    },
    /// A chain has buffers of the wrong direction, or uses features that were not offered.
    #[error("descriptor {index} has flags {flags:#x}")]
    DescriptorFlags {
        /// Its index.
        index: u16,
        /// Its flags.
        flags: u16,
    },
    /// A chain holds nothing.
    #[error("the chain at descriptor {head} has no bytes")]
    EmptyChain {
        /// Where it begins.
        head: u16,
    },
    /// A packet of the guest is longer than any that its driver may send.
    #[error("the chain at descriptor {head} has more than {most} bytes")]
    TooLong {
        /// Where it begins.
        head: u16,
        /// The limit.
        most: u64,
    },
}
