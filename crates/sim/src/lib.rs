//! The discrete-event simulator: the network of a plan with simulated endpoints.
//!
//! Everything is a function of the plan: no clock, no entropy, no thread. [`Simulation`] is the one
//! entrance; whoever calls it hands in the writers for what it records.
#![forbid(unsafe_code)]

mod digest;
mod egress;
mod lookahead_policy;
mod records;
mod simulation;

pub use lookahead_policy::Scheduler;
pub use records::Records;
pub use simulation::Simulation;
