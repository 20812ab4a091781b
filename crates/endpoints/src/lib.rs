//! Simulated endpoints: what a plan's flows and jobs send and receive, on whoever's clock.
//!
//! [`Endpoints`] holds TCP connections, streams of datagrams, echo requests and the ranks of simulated
//! programs. Its host, which is the simulator or the live engine, tells it the time, gives it what
//! arrives, and lends it the network to send on. [`Schedule`] and [`Reception`] are for real ends, too.
#![forbid(unsafe_code)]

mod agent;
mod build;
mod cargo;
mod datagrams;
mod echoes;
mod endpoints;
mod facts;
mod measures;
mod names;
mod ranks;
mod reception;
mod schedule;
mod stream;
mod timers;

pub use agent::Wire;
pub use cargo::{Cargo, Carrier};
pub use endpoints::Endpoints;
pub use measures::Progress;
pub use reception::Reception;
pub use schedule::{Schedule, datagrams, transfers};
