//! The discrete-event simulator: the network of a plan with simulated endpoints.
//!
//! Everything is a function of the plan: no clock, no entropy. A run that is divided into shards has a thread for each,
//! and the same results. [`Simulation`] is the one entrance; whoever calls it hands in the writers for what it records.
#![forbid(unsafe_code)]

mod captures;
mod digest;
mod egress;
mod exchange;
mod load;
mod lookahead_policy;
mod records;
mod shard;
mod simulation;

pub use load::{LoadGraph, LoadedLink};
pub use lookahead_policy::Scheduler;
pub use records::Records;
pub use shard::WINDOWS_PER_LOOKAHEAD;
pub use simulation::Simulation;
