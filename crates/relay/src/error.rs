use longhaul_units::InvalidValue;
use std::io;
use std::net::SocketAddr;
use thiserror::Error;

/// Why a relay cannot start.
#[derive(Debug, Error)]
pub enum Error {
    /// A setting is invalid.
    #[error(transparent)]
    Settings(#[from] InvalidValue),
    /// A listener cannot be opened.
    #[error("listeners[{index}]: cannot listen at {address}: {source}")]
    Listen {
        /// Its position in the settings.
        index: usize,
        /// Its address.
        address: SocketAddr,
        /// The system's reason.
        source: io::Error,
    },
    /// The system refuses something else.
    #[error("cannot {action}: {source}")]
    System {
        /// What the relay tried, as in "write raw/changes.jsonl".
        action: String,
        /// The system's reason.
        source: io::Error,
    },
}

impl Error {
    /// The error of an `action` that the system refuses, to be used with `map_err`.
    pub(crate) fn cannot<E: Into<io::Error>>(action: impl Into<String>) -> impl FnOnce(E) -> Self {
        let action = action.into();
        move |source| Error::System { action, source: source.into() }
    }
}
