//! Why a connection was closed, as in `connections.csv`.

use crate::socks::Reply;
use std::io::{self, ErrorKind};

macro_rules! reasons {
    ($($name:ident = $text:literal,)*) => {
        /// Why a connection was closed.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum CloseReason {
            $(#[doc = $text] $name,)*
        }

        impl CloseReason {
            /// Every one.
            pub const ALL: &[Self] = &[$(Self::$name),*];

            /// The reason in words.
            pub fn text(self) -> &'static str {
                match self {
                    $(Self::$name => $text,)*
                }
            }
        }
    };
}

reasons! {
    Completed = "completed",
    Reset = "reset by one end",
    RelayEnded = "the relay ended",
    ClientOfNoCluster = "the client belongs to no cluster",
    TooManyConnections = "too many connections",
    Displaced = "closed to make room: the client had sent no request",
    MadeToGateway = "the connection was made to the gateway itself",
    NotSocks = "the client does not speak SOCKS",
    Socks4 = "the client speaks SOCKS 4, not 5",
    NoMethod = "the client offers no authentication method that is allowed here",
    WrongPassword = "wrong user name or password",
    UnknownAddressType = "the request has an unknown address type",
    InvalidName = "the request has no valid host name",
    UnsupportedCommand = "the request is not CONNECT",
    RequestTooLong = "the request is too long",
    EarlyData = "the client sent data before the answer to its request",
    ClientLeft = "the client left before its request was complete",
    RequestTimeout = "the client sent no complete request in time",
    TooManyLookups = "too many host names are being looked up",
    NameUnknown = "the target's host name is unknown",
    NameTimeout = "the target's host name was not found in time",
    TargetOfNoCluster = "the target belongs to no cluster",
    NoPath = "there is no path between the two clusters",
    TargetRefused = "the target refused the connection",
    TargetUnreachable = "the target cannot be reached",
    TargetFailed = "the target failed",
    TargetTimeout = "the target did not answer in time",
    PeerRefused = "the other gateway refused the connection",
    PeerFailed = "the other gateway failed",
    NoDescriptors = "no file descriptors are left",
}

impl CloseReason {
    /// Why no connection was opened to a target, or to the gateway of its cluster (`to_peer`).
    pub(crate) fn of_connect_error(error: &io::Error, to_peer: bool) -> Self {
        match error.kind() {
            ErrorKind::WouldBlock | ErrorKind::TimedOut => CloseReason::TargetTimeout,
            _ if to_peer => CloseReason::PeerFailed,
            _ => CloseReason::of_reply(Reply::of_error(error)),
        }
    }

    /// Why the target of a SOCKS request was not reached, from the peer's reply.
    pub(crate) fn of_reply(reply: Reply) -> Self {
        match reply {
            Reply::Refused => CloseReason::TargetRefused,
            Reply::HostUnreachable => CloseReason::TargetUnreachable,
            Reply::NotAllowed => CloseReason::PeerRefused,
            Reply::Succeeded | Reply::Failed | Reply::Unsupported => CloseReason::TargetFailed,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn each_reason_has_a_text_of_its_own() {
        let texts: BTreeSet<&str> = CloseReason::ALL.iter().map(|reason| reason.text()).collect();
        assert_eq!(texts.len(), CloseReason::ALL.len());
    }
}
