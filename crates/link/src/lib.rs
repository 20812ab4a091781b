//! One direction of a link, as a state machine without a clock.
//!
//! ```text
//! offer -> loss -> queue -> serialiser -> wire -> due
//! ```
//!
//! [`Link`] states the contract; [`Laws`] says how a link behaves and [`Change`] how it comes to
//! behave otherwise while packets are under way.
#![forbid(unsafe_code)]

mod block;
mod delay;
mod fate;
mod laws;
mod link;
mod loss;
mod wire;

pub use fate::{Counters, Fate, Load, Offered};
pub use laws::{Change, Delay, Laws, Loss, OutOfOrder, QueueLimit};
pub use link::Link;
