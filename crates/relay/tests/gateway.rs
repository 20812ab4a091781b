//! Gateways on loopback addresses, with real sockets.

#[path = "gateway/changes.rs"]
mod changes;
#[path = "gateway/common.rs"]
mod common;
#[path = "gateway/ends.rs"]
mod ends;
#[path = "gateway/faults.rs"]
mod faults;
#[path = "gateway/messages.rs"]
mod messages;
#[path = "gateway/streams.rs"]
mod streams;
