//! Hosts on several machines under one controller of the clock: [`RemoteHosts`] are the hosts as the controller sees them,
//! and [`serve_hosts`] runs those of one machine as it says.
//!
//! The network, with all decisions about packets, is where the controller is. A machine has the kernels of its hosts, and the
//! devices of these kernels, which share memory with them. For each step of the clock, the controller sends every machine
//! on which a host has something to do what comes to its hosts and how far they may run; the machine answers with what
//! they have sent and when they have something to do next. So a run is equal, bit by bit, to one on a single machine,
//! however slow the network between the machines is: its time is real time, and no part of the run's.

mod remote;
mod server;
mod stream;
mod wire;

pub use remote::RemoteHosts;
pub use server::{Connection, serve_hosts};
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Duration;
pub use stream::SecretKey;

/// A peer from which nothing has come for so long is lost.
const KEEPALIVE_TIMEOUT: Duration = Duration::from_secs(5);
/// Interval of keepalive messages, in both directions.
const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(1);

/// A machine that runs hosts.
#[derive(Clone, Debug)]
pub struct HostMachine {
    /// Its name in messages.
    pub name: String,
    /// The connection to [`serve_hosts`] there.
    pub stream: Arc<OwnedFd>,
    /// With which that is encrypted and authenticated; without one, what carries it does so.
    pub key: Option<SecretKey>,
    /// The numbers of its hosts.
    pub hosts: Vec<usize>,
}
