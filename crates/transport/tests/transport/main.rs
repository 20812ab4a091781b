//! The transport, segment by segment and as a whole.

mod algorithms;
mod growth;
mod handshake;
mod pipe;
mod receiver;
mod sack;
mod script;
mod theory;
mod timers;
mod whole;
