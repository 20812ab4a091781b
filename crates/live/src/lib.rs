//! Live runs: real hosts, real programs and real packets on the modelled network, in real time.
//!
//! A run is three kinds of processes. The *supervisor* is process 1 of the run's PID namespace:
//! it builds the hosts, starts and ends everything. The *engine* moves packets and does nothing
//! else, so that no fork or file ever comes between a packet and its due time. The *programs* are
//! the user's, each in the namespaces of its host.
#![deny(unsafe_code)]

mod agent;
mod bpf_loader;
mod cgroup;
mod client;
mod clock;
mod command_line;
mod counters;
mod credentials;
mod device;
mod engine;
mod enter;
mod error;
mod exit_status;
mod foreign;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
mod host;
mod host_files;
mod host_mounts;
mod host_root;
mod isolation;
mod memory;
mod mounts;
mod mpi;
mod netlink;
mod observer;
mod oom;
mod packet_pool;
mod pid_namespace;
mod process;
mod program;
mod programs;
mod readiness;
mod realtime;
mod recorder;
mod run_record;
mod segment;
mod shape;
mod sockets;
mod stderr_capture;
mod supervisor;
#[expect(unsafe_code, reason = "system calls that no crate offers as safe functions")]
mod sys;
mod traffic;
mod tun;
mod tunnel;
mod unix_socket;
mod virtual_time;

pub use bpf_loader::{BPF_ALGORITHMS, check_bpf_algorithm, try_loading};
pub use cgroup::{Controller, PREFIX as CGROUP_PREFIX, check_limits, own_group};
pub use engine::{LEAST_THREAD_DELAY, engine_status};
pub use enter::{Entry, run_in_host};
pub use error::{Error, Result};
pub use foreign::ForeignPlace;
pub use isolation::{SYSTEM as SYSTEM_DIRECTORIES, strict_capabilities};
pub use longhaul_endpoints::joined_jobs;
pub use longhaul_virtual::MOST_CARDS;
pub use oom::OomKills;
pub use process::run;
pub use supervisor::Options;
pub use tunnel::Settings as Machines;
pub use virtual_time::{Connection, HostMachine, Kernel, SecretKey, run_as_init, serve_hosts};
