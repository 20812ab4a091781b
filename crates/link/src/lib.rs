//! One direction of a link, as a state machine without a clock.
//!
//! ```text
//! offer -> loss -> queue -> serialiser -> wire -> due
//! ```
//!
//! [`Link`] states the contract; [`LinkModel`] says how a link behaves and [`Change`] how it comes to
//! behave otherwise while packets are under way. `docs/models` has the equations.
//!
//! ```
//! use longhaul_link::{DelayModel, LinkModel, Link, LinkPacket, QueueLimit, RateModel};
//! use longhaul_random::Seed;
//! use longhaul_units::{Rate, Span, Time};
//!
//! #[derive(Clone, Copy, Debug, PartialEq)]
//! struct Packet(u32);
//!
//! impl LinkPacket for Packet {
//!     fn bytes(&self) -> u32 {
//!         1500
//!     }
//! }
//!
//! let model = LinkModel {
//!     queue: QueueLimit { packets: Some(1), bytes: None }.into(),
//!     rate: RateModel::constant(Rate::from_bits_per_s(1_000_000_000).unwrap()),
//!     delay: DelayModel::constant(Span::from_ms(5)),
//!     ..LinkModel::default()
//! };
//! let mut link = Link::new(model, &Seed::new(42), "par-nyc/forward", Span::ZERO);
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
mod line;
mod link;
mod loss;
mod model;
mod pacer;
mod pipe;
mod queue;
mod rate;
mod series;
mod streams;
mod transit;
mod wire;

pub use bundle::{Bundle, BundleModel, FlowKey, Policy, Resequence};
pub use delay::{DelayModel, DelaySeries, Rounding};
pub use fate::{Counters, Fate, LinkPacket, OfferResult};
pub use line::Line;
pub use link::Link;
pub use loss::{GapUnit, LossModel};
pub use model::{Change, LinkModel, LossPosition, ReorderModel, RouteCosts};
pub use pacer::{ClassCounters, ClassModel, Pacer, PacerModel, PacingChange, PacingModel};
pub use pipe::{Admission, Pipe, Run};
pub use queue::{
    CodelParameters, DrrParameters, FqCodelParameters, PieParameters, PriorityBands, QueueDiscipline,
    QueueLimit, QueueModel, RedParameters,
};
pub use rate::{Cells, Framing, Opportunities, RateModel, RateSeries};
pub use series::Series;
pub use transit::Transit;
