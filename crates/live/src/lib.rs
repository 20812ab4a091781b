//! The clock that passes: real hosts, real programs, real packets, on the network of the model.
//!
//! A run is three kinds of processes. The *supervisor* is process 1 of the run's PID namespace:
//! it builds the hosts, starts and ends everything. The *engine* moves packets and does nothing
//! else, so that no fork or file ever comes between a packet and its due time. The *programs* are
//! the user's, each in the namespaces of its host.
#![expect(
    unsafe_code,
    reason = "namespaces, devices and processes are system calls; each block says why it is sound"
)]

mod agent;
mod bodies;
mod cgroup;
mod client;
mod clock;
mod counters;
mod engine;
mod enter;
mod error;
mod exit_status;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
mod host;
mod isolation;
mod laws;
mod mpi;
mod netlink;
mod observer;
mod oom;
mod process;
mod program;
mod realtime;
mod recorder;
mod run_record;
mod shape;
mod sockets;
mod stderr_capture;
mod supervisor;
mod traffic;
mod tun;
mod unix_socket;

pub use cgroup::{PREFIX as CGROUP_PREFIX, own_group};
pub use enter::{Entry, run_in_host};
pub use error::{Error, Result};
pub use laws::{LAWS, check_law, try_law};
pub use oom::OomKills;
pub use process::run;
pub use supervisor::Options;
