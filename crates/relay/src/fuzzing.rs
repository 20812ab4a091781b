//! Parsers as functions of bytes, for `longhaul-fuzz`.

use crate::control;
use crate::socks::{Asked, Client, Server, Step};
use std::net::SocketAddr;

/// A line that is said to a relay.
pub fn request(line: &[u8]) {
    let _ = control::parse(line, None);
    assert!(control::parse(line, Some("never said")).is_err(), "a request without the token");
}

/// What a server does when it hears `pieces`, one after the other.
pub fn served(password: Option<String>, pieces: &[&[u8]]) -> Vec<Step> {
    let mut server = Server::new(password);
    let mut steps = Vec::new();
    for piece in pieces {
        server.hear(piece);
        loop {
            match server.step() {
                Step::More => break,
                step @ Step::Say(_) => steps.push(step),
                step @ (Step::Connect(_) | Step::Refuse(..)) => {
                    steps.push(step);
                    return steps;
                }
            }
        }
    }
    steps
}

/// What a client does that asks for `target` when it hears `pieces`, one after the other.
pub fn asked(target: SocketAddr, password: Option<String>, pieces: &[&[u8]]) -> Vec<Asked> {
    let (mut client, _) = Client::new(target, password);
    let mut steps = Vec::new();
    for piece in pieces {
        client.hear(piece);
        loop {
            match client.step() {
                Asked::More => break,
                step @ Asked::Say(_) => steps.push(step),
                // What came behind the answer is as long as the piece was.
                Asked::Connected(_) => {
                    steps.push(Asked::Connected(Vec::new()));
                    return steps;
                }
                step @ Asked::Failed(_) => {
                    steps.push(step);
                    return steps;
                }
            }
        }
    }
    steps
}
