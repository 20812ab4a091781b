//! One direction of a link, as a state machine without a clock.
//!
//! ```text
//! offer -> loss -> queue -> serialiser -> wire -> due
//! ```
//!
//! [`Link`] states the contract; [`Laws`] says how a link behaves and [`Change`] how it comes to
//! behave otherwise while packets are under way. `docs/models` has the equations.
//!
//! ```
//! use longhaul_link::{Delay, Laws, Link, Load, QueueLimit, RateLaw};
//! use longhaul_random::Seed;
//! use longhaul_units::{Span, Time};
//!
//! #[derive(Clone, Copy, Debug, PartialEq)]
//! struct Packet(u32);
//!
//! impl Load for Packet {
//!     fn bytes(&self) -> u32 {
//!         1500
//!     }
//! }
//!
//! let laws = Laws {
//!     queue: QueueLimit { packets: Some(1), bytes: None },
//!     rate: RateLaw::constant(1_000_000_000),
//!     delay: Delay::Constant(Span::from_ms(5)),
//!     ..Laws::default()
//! };
//! let mut link = Link::new(laws, &Seed::new(42), "par-nyc/forward", Span::ZERO);
//! for n in 0..3 {
//!     link.offer(Time::ZERO, Packet(n)); // one is sent, one waits, one overflows
//! }
//! assert_eq!(link.counters().overflowed_packets, 1);
//!
//! let first = Time::from_ns(5_012_000); // 12 us to send and 5 ms to travel
//! assert_eq!(link.next_event(), first);
//! assert_eq!(link.take(first), Some((Packet(0), first)));
//! assert_eq!(link.take(first), None);
//! assert_eq!(link.next_event(), Time::from_ns(5_024_000));
//! ```
#![forbid(unsafe_code)]

mod block;
mod bundle;
mod delay;
mod fate;
mod laws;
mod line;
mod link;
mod loss;
mod pacer;
mod pipe;
mod queue;
mod rate;
mod series;
mod transit;
mod wire;

pub use bundle::{Bundle, BundleLaws, FlowKey, Policy, Resequence};
pub use delay::{Delay, Rounding};
pub use fate::{Counters, Fate, Load, Offered};
pub use laws::{Change, Laws, LossPosition, OutOfOrder};
pub use line::Line;
pub use link::Link;
pub use loss::{GapUnit, Loss};
pub use pacer::{ClassCounters, ClassLaw, ClassLaws, Pacer, PacerLaws};
pub use pipe::{Pipe, Run};
pub use queue::{CodelLaw, Discipline, PieLaw, QueueLimit, RedLaw};
pub use rate::{Framing, Opportunities, RateLaw};
pub use series::Series;
pub use transit::Transit;
