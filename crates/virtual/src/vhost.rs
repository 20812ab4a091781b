//! Virtio devices of User-Mode Linux guests: the back end of the vhost-user protocol.
//!
//! A guest's `virtio_uml` driver connects to one Unix stream socket per device (kernel parameter
//! `virtio_uml.device=PATH:ID`, where ID is [`Kind::virtio_id`]) and is the *front end*: it sends the descriptors of
//! its memory and the addresses of two virtqueues, and from then on bytes are copied once, out of the guest's memory or
//! into it. [`Device`] is one socket's back end. It is single-threaded and never blocks: its caller polls
//! [`Device::frontend`] and [`Device::requests`].
//!
//! In a guest whose clock is controlled (`time-travel=ext`), notifications are messages rather than eventfds, in both
//! directions, and each waits for its reply. A guest that has told of a packet therefore stands still until
//! [`Device::answer`], and a guest that was interrupted has seen the interrupt when [`Device::receive_reply`] says so.
//!
//! Everything that a guest sends is checked. A guest that breaks the protocol ends its connection with one [`Error`],
//! which names the device; it causes neither a panic nor an endless loop.
//!
//! Sources: "Vhost-user Protocol" of QEMU's documentation; Virtual I/O Device (VIRTIO) 1.2, sections 2.7 (split
//! virtqueues), 5.1 (network device) and 5.3 (console device).

mod channel;
mod device;
mod error;
mod features;
mod memory;
mod protocol;
mod ring;
mod session;
#[expect(unsafe_code, reason = "descriptors that a message carries are bare numbers until they are owned")]
mod sys;
#[cfg(test)]
mod tests;
mod transfer;

pub use device::Device;
pub use error::{Error, Fault, RingFault};
pub use features::{Kind, NET_HEADER_BYTES, NetConfig, bits};
pub use protocol::Queue;
pub use session::{Chain, Kick, Received, Reply};
