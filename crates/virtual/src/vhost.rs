//! Virtio devices of User-Mode Linux guests: the back end of the vhost-user protocol.
//!
//! A guest's `virtio_uml` driver connects to one Unix stream socket per device (kernel parameter
//! `virtio_uml.device=PATH:ID`, where ID is [`Kind::virtio_id`]) and is the *front end*: it sends the descriptors of
//! its memory and the addresses of two virtqueues, and from then on bytes are copied once, out of the guest's memory or
//! into it. [`Device`] is one socket's back end. It is single-threaded and never blocks: its caller polls
//! [`Device::frontend`].
//!
//! Notifications, in both directions, are not messages of these sockets: they travel with the messages by which a guest
//! asks for time (see `protocol.rs`), so that a guest that sends or gets a packet needs no further one. A kick or a reply to an
//! interrupt on these sockets is against the protocol.
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
pub use session::{Chain, Received};
