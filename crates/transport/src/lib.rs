//! TCP without sockets: one end of a connection as a state machine. The caller supplies the time and received
//! segments, and polls for segments to transmit.
//!
//! Sequence numbers count segments, not bytes: a retransmission has the boundaries of the original. Each segment
//! has its payload length, and receive windows are in bytes. Everything else follows the RFCs;
//! `docs/models/tcp-transport.md` names them, and the differences from Linux.
//!
//! Start with [`Connection`].
#![forbid(unsafe_code)]

mod ack_sample;
mod buffer;
#[cfg(feature = "cc-trace")]
pub mod cc_trace;
mod connection;
mod delivery;
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

pub use connection::Connection;
pub use info::{CaState, Info, LimitedBy, State};
pub use segment::{Block, Flags, Segment};
pub use settings::{
    AckPolicy, Bound, Ecn, Idle, InitialWindow, IpVersion, Pacing, ReceiveBuffer, Recovery, Reduction,
    Reordering, RtoSettings, Settings, Undo,
};
