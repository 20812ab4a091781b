//! The clock that jumps: the network of a plan with simulated endpoints, from event to event.
//!
//! Everything is a function of the plan: no clock, no entropy, no thread. [`Simulation`] is the one
//! entrance; whoever calls it hands in the writers for what it records.
#![forbid(unsafe_code)]

mod agent;
mod build;
mod carrier;
mod datagrams;
mod digest;
mod echoes;
mod measures;
mod ranks;
mod records;
mod simulation;
mod stream;

pub use records::Records;
pub use simulation::Simulation;
