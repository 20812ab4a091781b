//! The network: nodes, addresses, routes, links, ICMP, as a state machine without a clock.
//!
//! Packets go in with a time and come out with the time at which they were due. Two hosts drive
//! it: the simulator jumps from event to event, the live engine lets time pass. Because every step
//! is taken at its due time, when and how often [`Network::advance`] is called changes nothing.
#![forbid(unsafe_code)]

mod arrivals;
mod calendar;
mod entrance;
mod forwarding;
pub mod icmp;
pub mod journal;
mod learning;
mod line;
mod lookahead;
mod monitor;
mod network;
mod packet;
mod replay;
pub mod results;
mod route_inputs;
mod routes;
mod shard;
mod sink;
mod switching;
mod topology;
mod totals;
mod trial;

pub use arrivals::KnownArrivals;
pub use calendar::Calendar;
pub use learning::{LearningTable, Sighting};
pub use line::line;
pub use lookahead::Progress;
pub use monitor::Bins;
pub use network::Network;
pub use packet::{DirectionId, Fate, Flags, Message, NodeId, Origin, Packet, Reply};
pub use replay::{Difference, Replay, ReplayError, replay, replay_shard};
pub use routes::Routes;
pub use shard::Cut;
pub use sink::Sink;
pub use switching::SwitchLoop;
pub use topology::{Edge, Topology, hash_seeds};
pub use totals::{LinkCounters, Totals};
pub use trial::{Offer, Passage, trial};
