//! Virtual time: real programs on User-Mode Linux kernels whose clock Longhaul owns.
//!
//! Each host is a kernel that runs as an ordinary process. Its clock moves only when [`Guests`] say so, and its network
//! cards and its console are virtio devices whose other end is here. Whoever drives them asks [`Guests::next_ns`] when a guest
//! wants to do something next, gives guests the packets that are due by then ([`Guests::deliver`]), lets all of them run up to
//! a horizon ([`Guests::run_until`]), and takes what they have sent on the way ([`Guests::take_sent`]). As long as
//! the horizon is no further away than the time that any packet takes (the *lookahead*), it does not matter in which order,
//! on how many processors or how fast the guests run: the results are equal, bit by bit.
#![deny(unsafe_code)]

mod digest;
mod error;
mod guest;
mod guests;
mod protocol;
mod transmitter;
pub mod vhost;

pub use digest::{Digest, Digests};
pub use error::{Error, Result};
pub use guest::{Card, GuestCounters, MOST_CARDS, Port, Sent};
pub use guests::{GuestSpec, Guests, Overlap, Progress, TIME_SOCKET, socket_name};
pub use vhost::NetConfig;
