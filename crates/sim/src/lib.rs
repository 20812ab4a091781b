//! The clock that jumps: the network of a plan with simulated endpoints, from event to event.
//!
//! Everything is a function of the plan: no clock, no entropy, no thread. [`Simulation`] is the one
//! entrance; whoever calls it hands in the writers for what it records.
#![forbid(unsafe_code)]

mod apart;
mod digest;
mod outlet;
mod records;
mod simulation;

pub use apart::Scheduler;
pub use records::Records;
pub use simulation::Simulation;
