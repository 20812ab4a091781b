//! The control socket of a relay: JSON objects, one a line, each with the token.

use crate::socks::equal;
use longhaul_plan::{Cause, LinkChange};
use nix::sys::socket::{getsockopt, sockopt::PeerCredentials};
use serde::Deserialize;
use serde_json::{Value, json};
use std::io::{ErrorKind, Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Longest request; a longer one closes the connection.
const LONGEST: usize = 1 << 20;
/// Most connections at once.
const MAX_CLIENTS: usize = 64;

/// A request to a relay.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "do", rename_all = "lowercase", deny_unknown_fields)]
pub enum Request {
    /// End the relay.
    Stop {
        /// Whether its user ends it early.
        #[serde(default)]
        interrupted: bool,
    },
    /// Where its results are; it has no hosts.
    Hosts {},
    /// The state and the results so far.
    Status {},
    /// Change links now, all at the same instant, or none of them if one of the changes is wrong.
    Change {
        /// The changes.
        changes: Vec<LinkChange>,
        /// Who requests them.
        cause: Cause,
    },
}

/// The control socket and its connections.
#[derive(Debug)]
pub struct Control {
    listener: Option<UnixListener>,
    path: Option<PathBuf>,
    token: Option<String>,
    clients: Vec<Option<Client>>,
    /// Clients that requested the end, and are notified of it.
    waiting: Vec<usize>,
}

#[derive(Debug)]
struct Client {
    stream: UnixStream,
    pending: Vec<u8>,
}

impl Control {
    /// Opens the socket, whose directory only its owner may enter.
    pub fn open(path: Option<&Path>, token: Option<String>) -> Result<Self, crate::Error> {
        let listener = match path {
            Some(path) => {
                let failed = || {
                    crate::Error::cannot::<std::io::Error>(format!(
                        "open the relay's socket {}",
                        path.display()
                    ))
                };
                let listener = UnixListener::bind(path).map_err(failed())?;
                listener.set_nonblocking(true).map_err(failed())?;
                Some(listener)
            }
            None => None,
        };
        let path = path.map(Path::to_path_buf);
        Ok(Control { listener, path, token, clients: Vec::new(), waiting: Vec::new() })
    }

    /// The descriptor that is readable when a client connects.
    pub fn listener(&self) -> Option<&UnixListener> {
        self.listener.as_ref()
    }

    /// Open connections.
    pub fn connections(&self) -> impl Iterator<Item = &UnixStream> {
        self.clients.iter().flatten().map(|client| &client.stream)
    }

    /// Accepts connections; returns their numbers and descriptors to watch.
    pub fn accept(&mut self) -> Vec<(u32, UnixStream)> {
        let mut new = Vec::new();
        while let Some(Ok((stream, _))) = self.listener.as_ref().map(UnixListener::accept) {
            let ours = nix::unistd::geteuid().as_raw();
            let known =
                getsockopt(&stream, PeerCredentials).is_ok_and(|it| it.uid() == ours || it.uid() == 0);
            let free = self.clients.iter().position(Option::is_none);
            let place = free.unwrap_or(self.clients.len());
            if !known || place >= MAX_CLIENTS || stream.set_nonblocking(true).is_err() {
                continue;
            }
            let Ok(watched) = stream.try_clone() else { continue };
            let client = Some(Client { stream, pending: Vec::new() });
            if place == self.clients.len() {
                self.clients.push(client);
            } else {
                self.clients[place] = client;
            }
            new.push((place as u32, watched));
        }
        new
    }

    /// The requests of a client; wrong requests are answered here.
    pub fn requests(&mut self, place: u32) -> Vec<Request> {
        let mut requests = Vec::new();
        let Some(Some(client)) = self.clients.get_mut(place as usize) else { return requests };
        let mut buffer = [0; 4_096];
        let open = loop {
            match client.stream.read(&mut buffer) {
                Ok(0) => break false,
                Ok(bytes) if client.pending.len() + bytes > LONGEST => break false,
                Ok(bytes) => client.pending.extend_from_slice(&buffer[..bytes]),
                Err(error) => break matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted),
            }
        };
        while let Some(end) = client.pending.iter().position(|&byte| byte == b'\n') {
            let line: Vec<u8> = client.pending.drain(..=end).collect();
            match parse(&line, self.token.as_deref()) {
                Ok(request) => requests.push(request),
                Err(refusal) => {
                    send(&mut client.stream, &json!({"ok": false, "message": refusal.to_string()}));
                }
            }
        }
        if !open {
            self.clients[place as usize] = None;
        }
        requests
    }

    /// Answers a client.
    pub fn answer(&mut self, place: u32, answer: &Value) {
        if let Some(Some(client)) = self.clients.get_mut(place as usize) {
            send(&mut client.stream, answer);
        }
    }

    /// Notifies a client when the relay has ended.
    pub fn notify_at_end(&mut self, place: u32) {
        self.waiting.push(place as usize);
    }

    /// Sends the results to clients that wait for the end, and removes the socket's name.
    pub fn close(&mut self, account: &Value) {
        if let Some(path) = &self.path {
            let _ = std::fs::remove_file(path);
        }
        for place in std::mem::take(&mut self.waiting) {
            if let Some(Some(client)) = self.clients.get_mut(place) {
                send(&mut client.stream, &json!({"event": "ended", "relay": account}));
            }
        }
    }
}

/// Why a request is refused; the text is the answer to the client.
#[derive(Debug, Error)]
pub enum Refusal {
    /// The line is not the JSON of a request.
    #[error("not a request: {0}")]
    Malformed(#[from] serde_json::Error),
    /// The token is missing or wrong.
    #[error("wrong token: only users who may read the relay's token file may control it")]
    Token,
}

/// Parses a request, which must have the token where there is one.
///
/// # Errors
/// If the line is malformed or the token is wrong.
pub fn parse(line: &[u8], token: Option<&str>) -> Result<Request, Refusal> {
    let mut value: Value = serde_json::from_slice(line)?;
    let given = value.as_object_mut().and_then(|object| object.remove("token"));
    if let Some(token) = token {
        let given = given.as_ref().and_then(Value::as_str).unwrap_or_default();
        if !equal(given.as_bytes(), token.as_bytes()) {
            return Err(Refusal::Token);
        }
    }
    Ok(serde_json::from_value(value)?)
}

fn send(stream: &mut UnixStream, message: &Value) {
    // A client that does not read misses its answers.
    let _ = stream.write_all(format!("{message}\n").as_bytes());
}
