//! An emulated WAN without privileges: gateways that delay traffic between sub-clusters of a cluster.
//!
//! A gateway accepts connections and datagrams, passes them on to where they want to go, and lets every
//! piece of data cross the links of an emulated WAN in between: the same link model as in live and
//! simulated runs, at the level of the application (Bongo et al., Longcut). [`Settings`] say what there is;
//! [`run`] works until it is told to stop.
#![forbid(unsafe_code)]

mod account;
mod changes;
mod clock;
mod close_reason;
mod connection;
mod control;
mod error;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
mod gateway;
mod log;
mod resolver;
mod settings;
mod sockets;
mod socks;
mod spinner;
mod stream;
mod threads;
mod wan;

pub use close_reason::CloseReason;
pub use error::Error;
pub use settings::{
    Algorithm, Cluster, Framing, LEAST_BUFFER, Listener, Log, Network, Path, Peer, RelayLink, Settings,
    Share, Step, VERSION,
};
pub use spinner::Spinner;
pub use wan::{Counts, Fate, FlowId, Outcome, Piece, RouteId, Wan};

use longhaul_storage::Storage;
use longhaul_units::Span;
use serde_json::Value;
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::path::PathBuf;

/// Options of a relay besides its settings.
pub struct Options {
    /// The run directory, whose `raw` gets the records.
    pub directory: PathBuf,
    /// The storage that writes them.
    pub storage: Box<dyn Storage>,
    /// The socket by which it is steered.
    pub socket: Option<PathBuf>,
    /// The token that requests must contain.
    pub token: Option<String>,
    /// The relay ends when a byte can be read here.
    pub stop: OwnedFd,
    /// The user's own emulation code.
    pub wrapper: Option<Box<dyn Wrapper>>,
}

/// Emulation code of the user's own, which sees every message.
pub trait Wrapper: Send {
    /// A message of a connection from one sub-cluster to another: may change its bytes, and says how much
    /// longer than the WAN does it is kept.
    fn operation(&mut self, connection: u64, from: usize, to: usize, data: &mut Vec<u8>) -> Span;
}

/// Relays until it is stopped; calls `ready` with the address of each listener. Returns the results.
///
/// # Errors
///
/// What is wrong with the settings, or what cannot be opened; then nothing is left behind.
pub fn run(settings: Settings, options: Options, ready: impl FnOnce(&[SocketAddr])) -> Result<Value, Error> {
    settings.check()?;
    let socket = options.socket.clone();
    let result = match settings.algorithm {
        Algorithm::OneThread => gateway::Gateway::new(settings, options).map(|gateway| {
            ready(gateway.addresses());
            gateway.run()
        }),
        Algorithm::Paper => threads::run(settings, options, ready),
    };
    if let (Err(_), Some(socket)) = (&result, socket) {
        let _ = std::fs::remove_file(socket);
    }
    result
}
