//! TCP without sockets: one end of a connection as a state machine that is told the time, given
//! segments, and asked for segments.
//!
//! Sequence numbers count segments, not bytes: a simulator never cuts a segment anew, so that a
//! segment is the same one when it is sent again. Each knows its payload, and receive windows count
//! bytes. Everything else follows the RFCs; the page `docs/models/tcp-transport.md` says which, and
//! what differs from Linux.
//!
//! [`Connection`] is the one entrance.
#![forbid(unsafe_code)]

mod buffer;
mod connection;
mod delivery;
#[cfg(feature = "diary")]
pub mod diary;
mod info;
mod prr;
mod rack;
mod ranges;
mod receiver;
mod ring;
mod rtt;
mod scoreboard;
mod segment;
mod sender;
mod settings;
mod tally;

pub use connection::Connection;
pub use info::{Info, LimitedBy, Phase, State};
pub use segment::{Block, Flags, Segment};
pub use settings::{
    Acknowledging, Bound, Ecn, Idle, InitialWindow, Internet, Pacing, ReceiveBuffer, Recovery, Reduction,
    Reordering, Settings, Timeouts, Undo,
};
