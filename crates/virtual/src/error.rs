use crate::guest::MOST_CARDS;
use crate::vhost;

/// Why guests cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A device was used against its protocol.
    #[error(transparent)]
    Device(#[from] vhost::Error),
    /// A message that a guest never sends.
    #[error("host {guest}: its kernel sent an unexpected message about time: {operation}")]
    Protocol {
        /// The guest's name.
        guest: String,
        /// The message.
        operation: String,
    },
    /// A guest has no network card, or more than messages about time can name.
    #[error("host {guest}: {cards} network cards, and 1 to {MOST_CARDS} are possible")]
    Cards {
        /// The guest's name.
        guest: String,
        /// How many it was to have.
        cards: usize,
    },
    /// A connection failed.
    #[error("host {guest}: the connection to its kernel failed: {message}")]
    Connection {
        /// The guest's name.
        guest: String,
        /// The system's reason.
        message: String,
    },
    /// Something around the guests failed.
    #[error("cannot {what}: {message}")]
    System {
        /// What was to be done.
        what: String,
        /// The system's reason.
        message: String,
    },
}

impl Error {
    pub(crate) fn system(what: impl Into<String>, error: &dyn std::fmt::Display) -> Self {
        Error::System { what: what.into(), message: error.to_string() }
    }
}

/// With an [`Error`].
pub type Result<T> = std::result::Result<T, Error>;
