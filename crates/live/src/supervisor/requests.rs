//! Control connections of a run: one JSON object per line, over the connection of the client that started it and
//! over a socket that only its owner may open.

use crate::error::{Error, Result};
use crate::exit_status::signal_name;
use crate::readiness::{readable, wait_writable};
use crate::run_record::Ending;
use crate::unix_socket::NamedListener;
use longhaul_plan::{Cause, Event, LinkChange, Plan};
use nix::poll::PollFd;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::path::Path;

/// Longest request; a longer one closes the connection.
const MAX_REQUEST_BYTES: usize = 1 << 20;
/// Most connections at once.
const MAX_CLIENTS: usize = 64;

/// How long a client that does not read may block the run, in nanoseconds.
const STALL_TIMEOUT_NS: u64 = 200_000_000;

/// A request to a run.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case", deny_unknown_fields)]
pub enum Request {
    /// End the run.
    Stop {
        /// The status of the ended run.
        #[serde(default)]
        status: StopStatus,
        /// The reason.
        #[serde(default)]
        why: Option<String>,
    },
    /// On one of several machines: all are ready, and the clock may start. Only the client requests it.
    Begin {},
    /// On one of several machines: a program of another one has ended, or could not start. Only the client requests it.
    ProgramEnded {
        /// Its name.
        name: String,
    },
    /// On one of several machines: all end at the same time of the run.
    Finish {
        /// Nanoseconds since the start.
        at_ns: u64,
        /// The status of the ended run; by default all programs that end by themselves have ended.
        #[serde(default)]
        status: Option<StopStatus>,
        /// The reason.
        #[serde(default)]
        why: Option<String>,
    },
    /// The run continues when the client closes its connection. Only the client may request it.
    Detach {},
    /// Where the hosts' namespaces are.
    Hosts {},
    /// State of the run.
    Status {},
    /// States of the programs, without a query of the engine.
    Programs {},
    /// Change links, all at the same instant, or none of them if one of the changes is wrong.
    Change {
        /// The changes.
        changes: Vec<LinkChange>,
        /// Who requests them.
        cause: Cause,
        /// When, in nanoseconds since the start, so that all machines do it then; by default now.
        #[serde(default)]
        at_ns: Option<u64>,
    },
    /// Capture a link's packets from now on, at both of its ends.
    Capture {
        /// The link's position in the plan.
        link: usize,
        /// Bytes to keep of each packet.
        snaplen: u32,
        /// Bytes of its files at which the capture ends.
        limit_bytes: u64,
    },
    /// End a capture that was requested.
    EndCapture {
        /// The link's position in the plan.
        link: usize,
    },
}

/// The status of a run that ended on request.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum StopStatus {
    /// Its user took it down.
    #[default]
    Stopped,
    /// Its user ended it early.
    Interrupted,
    /// Its client had to end it, for example because it reached its memory limit.
    Failed,
    /// Its client met a defect of its own.
    Crashed,
}

/// The supervisor's control connections. The first is that of the client that started the run.
pub struct ControlConnections {
    listener: Option<NamedListener>,
    clients: Vec<Option<Client>>,
    detached: bool,
    /// Whether the client has said that all machines are ready.
    begins: bool,
    /// The programs of other machines that have ended, as far as the client has said.
    pub ended_elsewhere: BTreeSet<String>,
    /// Problems that did not end the run.
    pub warnings: Vec<String>,
}

struct Client {
    stream: UnixStream,
    pending: Vec<u8>,
}

/// The reply to requests before the start.
pub const NOT_STARTED: &str = "the run has not started yet";

/// The reply to requests that a run on one machine has no use for.
pub const ONE_MACHINE: &str = "the run is not divided among machines";

/// The ending that a stop request asks for.
pub fn stopped(status: StopStatus, why: Option<String>) -> Ending {
    let (status, default) = match status {
        StopStatus::Stopped => ("stopped", "its user stopped it"),
        StopStatus::Interrupted => ("interrupted", "its user interrupted it"),
        StopStatus::Failed => ("failed", "its client ended it as failed"),
        StopStatus::Crashed => ("crashed", "its client ended it because of a defect"),
    };
    Ending { has_results: true, ..Ending::new(status, why.unwrap_or_else(|| default.into())) }
}

/// Checks that all of `changes`, which `cause` requests at `at_ns`, are possible in a run with the plan's events and the
/// changes of pacing `repaced`; returns their events of hosts' pacing.
pub fn check_changes(
    plan: &Plan,
    at_ns: u64,
    repaced: &[Event],
    changes: &[LinkChange],
    cause: &Cause,
) -> Result<Vec<Event>> {
    if changes.is_empty() {
        return Err(Error::new("changes: the list is empty").with_remedy("send at least one change"));
    }
    if !cause.is_intervention() {
        return Err(Error::new("cause: a request is made by a user, not by the scenario"));
    }
    let planned = plan.events.iter().filter(|each| each.at_ns <= at_ns);
    let mut before: Vec<&Event> = planned.chain(repaced).collect();
    before.sort_by_key(|each| each.at_ns);
    let mut found: Vec<Event> = Vec::new();
    for change in changes {
        let event = change.clone().at(at_ns, Some(cause.clone()));
        plan.check_event(&event)?;
        plan.check_pacing(before.iter().copied().chain(&found), &event)?;
        if !event.change.pacing.is_empty() {
            found.push(event);
        }
    }
    Ok(found)
}

/// Reports to the client that the run failed or crashed.
pub fn report_failed(line: &mut UnixStream, ending: &Ending) {
    send(line, &failed(ending));
}

/// The same as an event.
pub fn failed(ending: &Ending) -> Value {
    json!({
        "event": "failed", "status": ending.status, "message": ending.reason, "remedy": ending.remedy,
    })
}

/// The connection that a request came from.
#[derive(Clone, Copy, Debug)]
pub struct ConnectionId(usize);

impl ControlConnections {
    /// Takes over the client's connection.
    pub fn new(line: Option<UnixStream>) -> Self {
        let line = line.filter(|stream| stream.set_nonblocking(true).is_ok());
        let line = line.map(|stream| Client { stream, pending: Vec::new() });
        ControlConnections {
            listener: None,
            clients: vec![line],
            detached: false,
            begins: false,
            ended_elsewhere: BTreeSet::new(),
            warnings: Vec::new(),
        }
    }

    /// Opens the socket at `path`.
    pub fn listen(&mut self, path: &Path) -> Result<()> {
        let listener = NamedListener::bind(path)
            .map_err(|error| Error::wrap(format!("open the run's socket {}", path.display()), error))?;
        self.listener = Some(listener);
        Ok(())
    }

    /// Reports a problem that does not end the run.
    pub fn warn(&mut self, message: String) {
        self.report(&json!({"event": "warning", "message": message}));
        self.warnings.push(message);
    }

    /// Sends an event to the client.
    pub fn report(&mut self, event: &Value) {
        if let Some(client) = &mut self.clients[0] {
            send(&mut client.stream, event);
        }
    }

    /// Replies to a request.
    pub fn reply(&mut self, from: ConnectionId, answer: &Value) {
        if let Some(client) = &mut self.clients[from.0] {
            send(&mut client.stream, answer);
        }
    }

    /// Whether the client has closed its connection.
    pub fn client_is_gone(&self) -> bool {
        self.clients[0].is_none()
    }

    /// Whether the client is gone without having detached, so that the run must end.
    pub fn is_abandoned(&self) -> bool {
        self.client_is_gone() && !self.detached
    }

    /// Lets the run outlive its client, if the request comes from the client.
    pub fn detach(&mut self, from: ConnectionId) -> Value {
        if from.0 != 0 {
            return json!({"ok": false, "message": "only the process that started the run can detach from it"});
        }
        self.detached = true;
        json!({"ok": true})
    }

    /// The ending that a signal, or the end of the worker or the client, causes.
    pub fn requested_ending(&self) -> Option<Ending> {
        if let Some(signal) = super::ending::stop_signal() {
            let name = signal_name(signal);
            return Some(Ending::new("stopped", format!("the run's worker or supervisor received {name}")));
        }
        if super::ending::worker_has_ended() {
            return Some(Ending::crashed("the worker was killed, or ended before the run did"));
        }
        self.is_abandoned().then(|| Ending {
            abandoned: true,
            ..Ending::crashed("the client was killed, or ended before the run did")
        })
    }

    /// Handles requests while the run is being built, and returns the ending that one of them or a signal requests.
    pub fn handle_requests_before_start(&mut self) -> Option<Ending> {
        for (from, request) in self.requests() {
            match request {
                Request::Stop { status, why } => {
                    self.reply(from, &json!({"ok": true}));
                    return Some(stopped(status, why));
                }
                Request::Detach {} => {
                    let answer = self.detach(from);
                    self.reply(from, &answer);
                }
                Request::Begin {} => self.begins = true,
                Request::ProgramEnded { name } => {
                    self.ended_elsewhere.insert(name);
                    self.reply(from, &json!({"ok": true}));
                }
                _ => self.reply(from, &json!({"ok": false, "message": NOT_STARTED})),
            }
        }
        self.requested_ending()
    }

    /// Whether the client has said that all machines are ready.
    pub fn may_begin(&self) -> bool {
        self.begins
    }

    /// Removes the socket's path.
    pub fn remove_socket(&self) {
        if let Some(listener) = &self.listener {
            listener.remove_name();
        }
    }

    /// Waits until a request or a signal arrives, the engine ends, or `timeout_ns` have passed.
    pub fn wait(&self, timeout_ns: u64, engine: &UnixStream) {
        let clients = self.clients.iter().flatten().map(|client| client.stream.as_fd());
        let listener = self.listener.iter().map(|named| named.listener.as_fd());
        let mut watched: Vec<PollFd<'_>> =
            clients.chain(listener).chain([engine.as_fd()]).map(readable).collect();
        super::ending::wait_with_signals(&mut watched, timeout_ns.min(60_000_000_000));
    }

    /// The requests received since the last call.
    pub fn requests(&mut self) -> Vec<(ConnectionId, Request)> {
        self.accept();
        let mut requests = Vec::new();
        for index in 0..self.clients.len() {
            let Some(client) = &mut self.clients[index] else { continue };
            let open = client.read();
            while let Some(end) = client.pending.iter().position(|&byte| byte == b'\n') {
                let line: Vec<u8> = client.pending.drain(..=end).collect();
                match serde_json::from_slice(&line) {
                    Ok(request) => requests.push((ConnectionId(index), request)),
                    Err(error) => send(
                        &mut client.stream,
                        &json!({"ok": false, "message": format!("not a request: {error}")}),
                    ),
                }
            }
            if !open || client.pending.len() > MAX_REQUEST_BYTES {
                self.clients[index] = None;
            }
        }
        requests
    }

    fn accept(&mut self) {
        while let Some(named) = &self.listener {
            let stream = match named.listener.accept() {
                Ok((stream, _)) => stream,
                Err(error) if error.kind() == ErrorKind::InvalidInput => {
                    // The listener was shut down, and would stay readable.
                    named.remove_name();
                    self.listener = None;
                    self.warn(
                        "set, status and exec no longer reach this run, because its control socket was closed; \
                         end it with: longhaul down --name RUN"
                            .into(),
                    );
                    return;
                }
                Err(_) => return,
            };
            if stream.set_nonblocking(true).is_err() {
                continue;
            }
            let client = Some(Client { stream, pending: Vec::new() });
            match self.clients.iter().skip(1).position(Option::is_none) {
                Some(free) => self.clients[free + 1] = client,
                None if self.clients.len() < MAX_CLIENTS => self.clients.push(client),
                None => {}
            }
        }
    }
}

impl Client {
    /// Reads all that has arrived; false if the peer has closed the connection.
    fn read(&mut self) -> bool {
        let mut buffer = [0u8; 4_096];
        loop {
            match self.stream.read(&mut buffer) {
                Ok(0) => return false,
                Ok(read) => self.pending.extend_from_slice(&buffer[..read]),
                Err(error) if error.kind() == ErrorKind::WouldBlock => return true,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => return false,
            }
            if self.pending.len() > MAX_REQUEST_BYTES {
                return false;
            }
        }
    }
}

/// Sends an object, whole or not at all; a client that does not read misses it.
///
/// A reply may be larger than the socket's buffer. If a client stops reading within one for
/// [`STALL_TIMEOUT_NS`], the connection is closed, so that it never parses the next object as the rest of this one.
pub fn send(stream: &mut UnixStream, object: &Value) {
    let text = format!("{object}\n");
    let mut rest = text.as_bytes();
    while !rest.is_empty() {
        match stream.write(rest) {
            Ok(written) => rest = &rest[written..],
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) if error.kind() == ErrorKind::WouldBlock && rest.len() < text.len() => {
                if !wait_writable(&*stream, STALL_TIMEOUT_NS) {
                    let _ = stream.shutdown(std::net::Shutdown::Both);
                    return;
                }
            }
            Err(_) => return,
        }
    }
}

/// Sends an object as a line.
pub fn send_line(stream: &mut UnixStream, object: &impl Serialize) -> io::Result<()> {
    let mut line = serde_json::to_vec(object)?;
    line.push(b'\n');
    stream.write_all(&line)
}

/// Waits for a line and reads the object on it.
pub fn receive_line<T: DeserializeOwned>(stream: &mut UnixStream) -> io::Result<T> {
    let mut line = Vec::new();
    let mut byte = [0u8; 1];
    loop {
        match stream.read(&mut byte)? {
            0 => return Err(ErrorKind::UnexpectedEof.into()),
            _ if byte[0] == b'\n' => return serde_json::from_slice(&line).map_err(io::Error::from),
            _ => line.push(byte[0]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{BufRead, BufReader};

    /// A reply larger than the socket's buffer.
    fn long_reply() -> Value {
        json!({"ok": true, "hosts": vec!["host"; 500_000]})
    }

    fn line() -> (UnixStream, UnixStream) {
        let (ours, theirs) = UnixStream::pair().unwrap();
        ours.set_nonblocking(true).unwrap();
        (ours, theirs)
    }

    #[test]
    fn only_the_client_detaches() {
        let (ours, _theirs) = line();
        let mut control = ControlConnections::new(Some(ours));
        let refused = control.detach(ConnectionId(1));
        assert_eq!((&refused["ok"], control.detached), (&json!(false), false));
        assert_eq!(refused["message"], "only the process that started the run can detach from it");
        assert_eq!((control.detach(ConnectionId(0)), control.detached), (json!({"ok": true}), true));
    }

    #[test]
    fn a_reply_larger_than_the_socket_buffer_arrives_whole() {
        let (mut ours, theirs) = line();
        let reader = std::thread::spawn(move || {
            let lines: Vec<String> = BufReader::new(theirs).lines().map(|line| line.unwrap()).collect();
            lines.iter().map(|line| serde_json::from_str(line).unwrap()).collect::<Vec<Value>>()
        });
        send(&mut ours, &long_reply());
        send(&mut ours, &json!({"ok": true}));
        drop(ours);
        assert_eq!(reader.join().unwrap(), [long_reply(), json!({"ok": true})]);
    }

    #[test]
    fn a_client_that_stops_reading_receives_no_second_reply_after_a_partial_one() {
        let (mut ours, theirs) = line();
        send(&mut ours, &long_reply());
        send(&mut ours, &json!({"ok": true}));
        let lines: Vec<String> = BufReader::new(theirs).lines().map(|line| line.unwrap()).collect();
        assert!(lines.len() == 1 && !lines[0].ends_with('}'), "the beginning, and then the end");
    }
}
