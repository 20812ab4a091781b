//! Control connections of a run: one JSON object per line, over the connection of the client that started it and
//! over a socket that only its owner may open.

use super::requests::{NOT_STARTED, Request, stopped};
use crate::error::{Error, Result};
use crate::exit_status::signal_name;
use crate::readiness::{readable, wait_writable};
use crate::run_record::Ending;
use crate::unix_socket::NamedListener;
use nix::poll::{PollFd, PollFlags};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::path::Path;

/// Longest request; a longer one closes the connection.
const MAX_REQUEST_BYTES: usize = 1 << 20;
/// Most connections at once.
const MAX_CLIENTS: usize = 64;

/// How long a client that does not read may block the run, in nanoseconds.
const STALL_TIMEOUT_NS: u64 = 200_000_000;

/// The supervisor's control connections. The first is that of the client that started the run.
pub struct ControlConnections {
    listener: Option<NamedListener>,
    clients: Vec<Option<Client>>,
    /// How many connections there have been.
    connections: u64,
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
    /// Which connection it is, of all that there have been.
    number: u64,
    pending: Vec<u8>,
    /// What it has not taken yet of objects that it must not miss.
    unsent: Vec<u8>,
}

/// The connection that a request came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConnectionId {
    place: usize,
    number: u64,
}

impl ControlConnections {
    /// Takes over the client's connection.
    pub fn new(line: Option<UnixStream>) -> Self {
        let line = line.filter(|stream| stream.set_nonblocking(true).is_ok());
        let line = line.map(|stream| Client::new(stream, 0));
        ControlConnections {
            listener: None,
            clients: vec![line],
            connections: 1,
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
            client.send(event);
        }
    }

    /// Replies to a request.
    pub fn reply(&mut self, from: ConnectionId, answer: &Value) {
        if let Some(client) = self.client(from) {
            client.send(answer);
        }
    }

    /// Sends an object that the client does not miss, however slowly it reads.
    pub fn send_in_full(&mut self, to: ConnectionId, object: &Value) {
        if let Some(client) = self.client(to) {
            client.unsent.extend_from_slice(format!("{object}\n").as_bytes());
            client.flush();
        }
    }

    /// Whether a client has not taken all that it must not miss.
    pub fn is_behind(&mut self) -> bool {
        for client in self.clients.iter_mut().flatten() {
            client.flush();
        }
        self.clients.iter().flatten().any(|client| !client.unsent.is_empty())
    }

    /// Whether the client has not closed this connection.
    pub fn is_open(&self, connection: ConnectionId) -> bool {
        self.clients[connection.place].as_ref().is_some_and(|client| client.number == connection.number)
    }

    fn client(&mut self, connection: ConnectionId) -> Option<&mut Client> {
        self.clients[connection.place].as_mut().filter(|client| client.number == connection.number)
    }

    /// Whether the client has closed its connection.
    pub fn client_is_gone(&self) -> bool {
        self.clients[0].is_none()
    }

    /// Whether the client has let the run outlive it, and does not wait for its end.
    pub fn is_detached(&self) -> bool {
        self.detached
    }

    /// Whether the client is gone without having detached, so that the run must end.
    pub fn is_abandoned(&self) -> bool {
        self.client_is_gone() && !self.detached
    }

    /// Lets the run outlive its client, if the request comes from the client.
    pub fn detach(&mut self, from: ConnectionId) -> Value {
        if from.place != 0 {
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
        self.wait_also(&[engine.as_fd()], timeout_ns);
    }

    /// Waits until a request or a signal arrives, a client takes what it has not yet, or `timeout_ns` have passed.
    pub fn wait_for_requests(&self, timeout_ns: u64) {
        self.wait_also(&[], timeout_ns);
    }

    fn wait_also(&self, others: &[BorrowedFd<'_>], timeout_ns: u64) {
        let clients = self.clients.iter().flatten().map(Client::watched);
        let listener = self.listener.iter().map(|named| named.listener.as_fd());
        let others = listener.chain(others.iter().copied()).map(readable);
        let mut watched: Vec<PollFd<'_>> = clients.chain(others).collect();
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
                    Ok(request) => {
                        let from = ConnectionId { place: index, number: client.number };
                        requests.push((from, request));
                    }
                    Err(error) => {
                        client.send(&json!({"ok": false, "message": format!("not a request: {error}")}));
                    }
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
            let client = Some(Client::new(stream, self.connections));
            self.connections += 1;
            match self.clients.iter().skip(1).position(Option::is_none) {
                Some(free) => self.clients[free + 1] = client,
                None if self.clients.len() < MAX_CLIENTS => self.clients.push(client),
                None => {}
            }
        }
    }
}

impl Client {
    fn new(stream: UnixStream, number: u64) -> Self {
        Client { stream, number, pending: Vec::new(), unsent: Vec::new() }
    }

    /// What is ready when there is something to do for it.
    fn watched(&self) -> PollFd<'_> {
        let room = if self.unsent.is_empty() { PollFlags::empty() } else { PollFlags::POLLOUT };
        PollFd::new(self.stream.as_fd(), PollFlags::POLLIN | room)
    }

    /// Sends an object as [`send`] does, after what it has not taken yet.
    fn send(&mut self, object: &Value) {
        if self.unsent.is_empty() {
            send(&mut self.stream, object);
        } else {
            self.unsent.extend_from_slice(format!("{object}\n").as_bytes());
        }
    }

    /// Sends what the client takes now of what it has not taken yet.
    fn flush(&mut self) {
        while !self.unsent.is_empty() {
            match self.stream.write(&self.unsent) {
                Ok(written) => drop(self.unsent.drain(..written)),
                Err(error) if error.kind() == ErrorKind::WouldBlock => return,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                // It is gone, as the next read will tell.
                Err(_) => self.unsent.clear(),
            }
        }
    }

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
        let refused = control.detach(ConnectionId { place: 1, number: 1 });
        assert_eq!((&refused["ok"], control.detached), (&json!(false), false));
        assert_eq!(refused["message"], "only the process that started the run can detach from it");
        assert_eq!(
            (control.detach(ConnectionId { place: 0, number: 0 }), control.detached),
            (json!({"ok": true}), true)
        );
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
    fn what_must_not_be_missed_waits_for_a_client_that_does_not_read() {
        let (ours, theirs) = line();
        let mut control = ControlConnections::new(Some(ours));
        let client = ConnectionId { place: 0, number: 0 };
        for number in 0..3 {
            control.send_in_full(client, &json!({"number": number, "hosts": long_reply()}));
        }
        control.reply(client, &json!({"ok": true}));
        assert!(control.is_behind());
        let reader = std::thread::spawn(move || {
            let lines =
                BufReader::new(theirs).lines().map(|line| serde_json::from_str(&line.unwrap()).unwrap());
            lines.take(4).map(|each: Value| each["number"].clone()).collect::<Vec<_>>()
        });
        while control.is_behind() {
            control.wait_for_requests(1_000_000_000);
        }
        assert_eq!(reader.join().unwrap(), [json!(0), json!(1), json!(2), Value::Null]);
    }

    #[test]
    fn another_connection_in_the_place_of_a_closed_one_is_not_taken_for_it() {
        let (ours, theirs) = line();
        let mut control = ControlConnections::new(None);
        control.clients.push(Some(Client::new(ours, 1)));
        let first = ConnectionId { place: 1, number: 1 };
        assert!(control.is_open(first));
        drop(theirs);
        control.requests();
        assert!(!control.is_open(first));
        let (ours, theirs) = line();
        control.clients[1] = Some(Client::new(ours, 2));
        control.send_in_full(first, &json!({"ok": true}));
        assert!(!control.is_open(first) && !crate::readiness::is_readable(&theirs));
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
