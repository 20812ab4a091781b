//! Parsers as functions of bytes, for `longhaul-fuzz`.

use crate::control;
use crate::socks::{Client, ClientStep, Server, ServerStep};
use std::net::SocketAddr;

/// Parses a request line of a relay; a request with the right token is also one where no token is needed.
///
/// # Panics
/// If a request with a token is refused where no token is needed.
pub fn request(line: &[u8]) {
    let is_request = control::parse(line, None).is_ok();
    assert!(is_request || control::parse(line, Some("token")).is_err());
}

/// The steps of a SOCKS server that receives `pieces`, up to the one that ends the negotiation.
pub fn served(password: Option<String>, pieces: &[&[u8]]) -> Vec<ServerStep> {
    let (mut server, mut steps) = (Server::new(password), Vec::new());
    for piece in pieces {
        server.receive(piece);
        let next = || Some(server.step()).filter(|step| *step != ServerStep::Receive);
        if ends(&mut steps, next, |step| matches!(step, ServerStep::Connect(_) | ServerStep::Refuse(..))) {
            break;
        }
    }
    steps
}

/// The steps of a SOCKS client that asks for `target` and receives `pieces`, up to the one that ends the negotiation.
pub fn asked(target: SocketAddr, password: Option<String>, pieces: &[&[u8]]) -> Vec<ClientStep> {
    let ((mut client, _), mut steps) = (Client::new(target, password), Vec::new());
    for piece in pieces {
        client.receive(piece);
        let next = || match client.step() {
            ClientStep::Receive => None,
            // How much of the target's data is in the same piece as the answer depends on the cut.
            ClientStep::Connected(_) => Some(ClientStep::Connected(Vec::new())),
            step => Some(step),
        };
        if ends(&mut steps, next, |step| matches!(step, ClientStep::Connected(_) | ClientStep::Failed(_))) {
            break;
        }
    }
    steps
}

/// Appends steps until `next` has none or one is the last; whether it is.
fn ends<S>(steps: &mut Vec<S>, mut next: impl FnMut() -> Option<S>, is_last: impl Fn(&S) -> bool) -> bool {
    while let Some(step) = next() {
        let last = is_last(&step);
        steps.push(step);
        if last {
            return true;
        }
    }
    false
}
