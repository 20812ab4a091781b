//! Runs on the virtual clock: every host is a Linux kernel of its own, whose clock the network owns.
//!
//! Hosts wait for the network, never the other way round: no packet is late, whatever else the machine does, and equal runs
//! are equal bit by bit. The network, its records and the plan are those of a live run.

mod agent;
mod controller;
mod frames;
mod hosts;
mod kernels;
mod machines;
pub mod messages;
mod processors;
mod supervisor;

pub use agent::run_as_init;
pub use kernels::Kernel;
pub use machines::{Connection, HostMachine, SecretKey, serve_hosts};
pub use supervisor::supervise;
