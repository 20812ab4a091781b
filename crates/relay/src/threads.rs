//! The relay with Longcut's algorithm: a thread for each direction of each connection, and a single spinner for all.
//!
//! A thread reads a message, computes when it is due, waits, writes it, and only then reads the next. This is exact for
//! requests and replies; a stream transfers one message per delay.

use crate::account;
use crate::changes::ChangeLog;
use crate::clock::{Clock, processor_ns};
use crate::close_reason::CloseReason;
use crate::control::{Control, Request};
use crate::log::{ClosedConnection, Log, LogSummary, Message};
use crate::settings::{Framing, Listener, Settings};
use crate::sockets::{Socket, raise_file_limit};
use crate::socks::{Client, ClientStep, Reply, Server, ServerStep, Target, reply};
use crate::spinner::Spinner;
use crate::wan::{FlowId, Outcome, Piece, RouteId, Wan};
use crate::{Error, Options, Wrapper};
use longhaul_plan::Event;
use longhaul_storage::replace;
use longhaul_units::{Histogram, InvalidValue, Span, Time};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::os::fd::AsFd;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Bytes of a read, which is a message where messages have no length.
const READ: usize = 64 << 10;
/// Retransmissions of one message before the link counts as down.
const TRIES: u32 = 64;
/// Most control connections at once.
const MAX_CLIENTS: u32 = 64;
/// Interval between two attempts on a link that is down.
const DOWN: Duration = Duration::from_millis(10);

struct Relay {
    settings: Settings,
    clock: Clock,
    begun: Instant,
    spinner: Spinner,
    wan: Mutex<Wan>,
    wrapper: Option<Mutex<Box<dyn Wrapper>>>,
    accounts: Mutex<Accounts>,
}

struct Accounts {
    log: Option<Log>,
    lateness: Histogram,
    bytes: u64,
    serial: u64,
    /// Ends of open connections, which are shut down when the relay ends.
    open: HashMap<u64, Vec<TcpStream>>,
    open_most: usize,
    refused: u64,
    failed: u64,
    completed: u64,
}

/// See [`crate::run`].
pub fn run(settings: Settings, options: Options, ready: impl FnOnce(&[SocketAddr])) -> Result<Value, Error> {
    raise_file_limit();
    let spent_ns = processor_ns();
    let mut listeners = Vec::new();
    for (index, listener) in settings.listeners.iter().enumerate() {
        let address = listener.address();
        if matches!(listener, Listener::Datagrams { .. }) {
            let rule = "algorithm: paper relays TCP alone, not datagrams";
            return Err(InvalidValue::new(format!("listeners[{index}]"), rule).into());
        }
        let failed = |source: std::io::Error| Error::Listen { index, address, source };
        let socket = TcpListener::bind(address).map_err(failed)?;
        socket.set_nonblocking(true).map_err(failed)?;
        listeners.push(socket);
    }
    let addresses: Vec<SocketAddr> = listeners.iter().filter_map(|each| each.local_addr().ok()).collect();
    let raw = options.directory.join("raw");
    std::fs::create_dir_all(&raw).map_err(Error::cannot(format!("make {}", raw.display())))?;
    let log = Log::open(&raw, &*options.storage, settings.log.messages, settings.log.limit_bytes)?;
    let mut changes = ChangeLog::create(&raw, &*options.storage)?;
    let mut control = Control::open(options.socket.as_deref(), options.token)?;
    let relay = Arc::new(Relay {
        clock: Clock::starting_now(),
        begun: Instant::now(),
        spinner: Spinner::new(),
        wan: Mutex::new(Wan::new(&settings)),
        wrapper: options.wrapper.map(Mutex::new),
        accounts: Mutex::new(Accounts {
            log: Some(log),
            lateness: Histogram::new(),
            bytes: 0,
            serial: 0,
            open: HashMap::new(),
            open_most: 0,
            refused: 0,
            failed: 0,
            completed: 0,
        }),
        settings,
    });
    ready(&addresses);
    let mut next_event = 0;
    let reason = loop {
        let now = relay.clock.now();
        while let Some(event) =
            relay.settings.events.get(next_event).filter(|it| Time::from_ns(it.at_ns) <= now)
        {
            relay.change(now, &Event { at_ns: now.ns(), ..event.clone() }, &mut changes);
            next_event += 1;
        }
        if relay.settings.duration_ns.is_some_and(|end| Time::from_ns(end) <= now) {
            break "duration";
        }
        if let Some(log) = &mut locked(&relay.accounts).log {
            log.hand_over_stale(now);
        }
        let fds = listeners.iter().map(AsFd::as_fd).chain([options.stop.as_fd()]);
        let fds =
            fds.chain(control.listener().map(AsFd::as_fd)).chain(control.connections().map(AsFd::as_fd));
        let mut watched: Vec<PollFd<'_>> = fds.map(|fd| PollFd::new(fd, PollFlags::POLLIN)).collect();
        let due = relay.settings.events.get(next_event).map(|event| event.at_ns);
        let due = due.into_iter().chain(relay.settings.duration_ns).min();
        let wait_ms = due.map_or(1_000, |at| Time::from_ns(at).since(now).ns() / 1_000_000 + 1).min(1_000);
        let _ = poll(&mut watched, PollTimeout::from(wait_ms as u16));
        let met = |index: usize| watched[index].any().unwrap_or(false);
        if met(listeners.len()) {
            break "interrupted";
        }
        for (index, listener) in listeners.iter().enumerate() {
            while let Ok((stream, address)) = listener.accept() {
                relay.open_connection(index, stream, address);
            }
        }
        drop(watched);
        control.accept();
        if let Some(reason) = handle_requests(&relay, &mut control, &mut changes, &options.directory) {
            break reason;
        }
    };
    drop(listeners);
    let account = relay.finish(reason, spent_ns);
    control.close(&account);
    let path = raw.join("relay.json");
    replace(&*options.storage, &path, account.to_string().as_bytes())
        .map_err(Error::cannot(format!("write {}", path.display())))?;
    Ok(account)
}

/// Handles requests over the control socket; returns why the relay is to end, if one requests that.
fn handle_requests(
    relay: &Relay,
    control: &mut Control,
    log: &mut ChangeLog,
    directory: &std::path::Path,
) -> Option<&'static str> {
    for place in 0..MAX_CLIENTS {
        for request in control.requests(place) {
            let answer = match request {
                Request::Stop { interrupted } => {
                    control.notify_at_end(place);
                    return Some(if interrupted { "interrupted" } else { "stopped" });
                }
                Request::Hosts {} => json!({"ok": true, "env": {"LONGHAUL_RUN": directory}, "hosts": {}}),
                Request::Status {} => {
                    json!({"ok": true, "name": relay.settings.name, "relay": relay.account()})
                }
                Request::Change { changes, cause } => match relay.settings.check_changes(&changes, &cause) {
                    Ok(()) => {
                        let now = relay.clock.now();
                        for each in changes {
                            relay.change(now, &each.at(now.ns(), Some(cause.clone())), log);
                        }
                        json!({"ok": true, "engine": {"at_ns": now.ns()}})
                    }
                    Err(invalid) => json!({"ok": false, "message": invalid.to_string()}),
                },
            };
            control.answer(place, &answer);
        }
    }
    None
}

/// A connection that is being opened.
struct Opening {
    serial: u64,
    listener: usize,
    client: TcpStream,
    address: SocketAddr,
    from: usize,
}

impl Relay {
    /// Changes a link at `at`, and records it.
    fn change(&self, at: Time, event: &Event, log: &mut ChangeLog) {
        locked(&self.wan).change(at, event.link, event.direction, event.route, &event.change);
        log.record(event);
    }

    fn open_connection(self: &Arc<Self>, index: usize, client: TcpStream, address: SocketAddr) {
        let listener = &self.settings.listeners[index];
        let from = listener.from().or_else(|| self.settings.cluster_of(address.ip()));
        let mut accounts = locked(&self.accounts);
        accounts.serial += 1;
        let Some(from) = from.filter(|_| accounts.open.len() < self.settings.connections) else {
            accounts.refused += 1;
            return;
        };
        let serial = accounts.serial;
        let kept: Vec<TcpStream> = client.try_clone().into_iter().collect();
        accounts.open.insert(serial, kept);
        accounts.open_most = accounts.open_most.max(accounts.open.len());
        drop(accounts);
        let opening = Opening { serial, listener: index, client, address, from };
        let relay = Arc::clone(self);
        let spawned = std::thread::Builder::new().name("way".into()).spawn(move || relay.serve(opening));
        if spawned.is_err() {
            let mut accounts = locked(&self.accounts);
            accounts.failed += 1;
            accounts.open.remove(&serial);
        }
    }

    /// Serves a connection from its beginning to its end; this thread is that of the forward direction.
    fn serve(self: Arc<Self>, opening: Opening) {
        let Opening { serial, listener, address, from, .. } = opening;
        let opened = self.clock.now();
        let done = Arc::clone(&self).relay_connection(opening);
        let (target, to, bytes, reason) = match done {
            Ok((target, to, bytes)) => (Some(target), Some(to), bytes, CloseReason::Completed),
            Err(why) => (None, None, [0, 0], why),
        };
        let name =
            |index: usize| self.settings.clusters.get(index).map_or("", |cluster| cluster.name.as_str());
        let closed = ClosedConnection {
            serial,
            listener,
            from: name(from).to_owned(),
            to: to.map_or("", name).to_owned(),
            client: address,
            target,
            opened,
            closed: self.clock.now(),
            bytes,
            reason,
        };
        let mut accounts = locked(&self.accounts);
        accounts.open.remove(&serial);
        if reason == CloseReason::Completed {
            accounts.completed += 1;
        } else {
            accounts.failed += 1;
        }
        if let Some(log) = &mut accounts.log {
            log.connection(closed);
        }
    }

    fn relay_connection(
        self: Arc<Self>,
        opening: Opening,
    ) -> Result<(SocketAddr, usize, [u64; 2]), CloseReason> {
        let Opening { serial, listener, mut client, from, .. } = opening;
        client
            .set_nonblocking(false)
            .and_then(|()| client.set_nodelay(true))
            .map_err(|_| CloseReason::ClientLeft)?;
        let _ = client.set_read_timeout(Some(Duration::from_nanos(self.settings.opening_ns)));
        let listener = &self.settings.listeners[listener];
        let wants_reply = matches!(listener, Listener::Socks { .. });
        let target = match listener {
            Listener::Forward { target, .. } => *target,
            Listener::Socks { .. } => self.read_socks_request(&mut client)?,
            Listener::Transparent { .. } | Listener::Datagrams { .. } => {
                let socket = client.try_clone().and_then(Socket::new).map_err(|_| CloseReason::ClientLeft)?;
                let target =
                    socket.original_target().filter(|target| Some(*target) != client.local_addr().ok());
                client.set_nonblocking(false).map_err(|_| CloseReason::ClientLeft)?;
                target.ok_or(CloseReason::MadeToGateway)?
            }
        };
        let tell = |client: &mut TcpStream, code: Reply| {
            if wants_reply {
                // A client that misses it notices the end.
                let _ = client.write_all(&reply(code));
            }
        };
        let to = listener.to().or_else(|| self.settings.cluster_of(target.ip()));
        let Some(to) = to else {
            tell(&mut client, Reply::NotAllowed);
            return Err(CloseReason::TargetOfNoCluster);
        };
        let routes = [self.route(from, to), self.route(to, from)];
        let [Some(there), Some(back)] = routes else {
            self.close_routes(&routes.into_iter().flatten().collect::<Vec<_>>());
            tell(&mut client, Reply::NotAllowed);
            return Err(CloseReason::NoPath);
        };
        // The request to connect and its answer are delayed by the WAN.
        self.wait(FlowId { slot: 0, generation: 0 }, there, 0, self.clock.now());
        let upstream = self.connect_target(target, to, there);
        self.wait(FlowId { slot: 1, generation: 0 }, back, 0, self.clock.now());
        let mut upstream = match upstream {
            Ok(upstream) => upstream,
            Err((code, why)) => {
                tell(&mut client, code);
                self.close_routes(&[there, back]);
                return Err(why);
            }
        };
        tell(&mut client, Reply::Succeeded);
        let _ = client.set_read_timeout(None);
        let copies =
            client.try_clone().and_then(|client| Ok((client, upstream.try_clone()?, upstream.try_clone()?)));
        let Ok((mut client_end, mut upstream_end, kept)) = copies else {
            self.close_routes(&[there, back]);
            return Err(CloseReason::NoDescriptors);
        };
        if let Some(open) = locked(&self.accounts).open.get_mut(&serial) {
            open.push(kept);
        }
        let relay = Arc::clone(&self);
        let other = std::thread::Builder::new().name("way".into()).spawn(move || {
            relay.copy(&mut upstream_end, &mut client_end, Way { serial, from: to, to: from, route: back })
        });
        let forward = self.copy(&mut client, &mut upstream, Way { serial, from, to, route: there });
        let backward = other.ok().and_then(|thread| thread.join().ok()).unwrap_or(0);
        self.close_routes(&[there, back]);
        Ok((target, to, [forward, backward]))
    }

    fn route(&self, from: usize, to: usize) -> Option<RouteId> {
        let mut wan = locked(&self.wan);
        let known = from == to || self.settings.paths.iter().any(|path| (path.from, path.to) == (from, to));
        known.then(
            || if self.settings.delays_into(to) { wan.open(from, to) } else { Some(wan.open_plain()) },
        )?
    }

    fn close_routes(&self, routes: &[RouteId]) {
        let mut wan = locked(&self.wan);
        for &route in routes {
            wan.close(route);
        }
    }

    /// Reads the request of a SOCKS client.
    fn read_socks_request(&self, client: &mut TcpStream) -> Result<SocketAddr, CloseReason> {
        let mut server = Server::new(self.settings.password.clone());
        let mut byte = [0];
        for _ in 0..1_024 {
            match server.step() {
                ServerStep::Receive => match client.read(&mut byte) {
                    Ok(1) => server.receive(&byte),
                    Err(error) if is_timeout(&error) => return Err(CloseReason::RequestTimeout),
                    _ => return Err(CloseReason::ClientLeft),
                },
                ServerStep::Send(bytes) => client.write_all(&bytes).map_err(|_| CloseReason::ClientLeft)?,
                ServerStep::Refuse(bytes, why) => {
                    let _ = client.write_all(&bytes);
                    return Err(why);
                }
                ServerStep::Connect(Target::Address(target)) => return Ok(target),
                ServerStep::Connect(Target::Name(name, port)) => {
                    let known = self.settings.names.get(&name).map(|&address| SocketAddr::new(address, port));
                    let asked =
                        || (name.as_str(), port).to_socket_addrs().ok().and_then(|mut all| all.next());
                    return known.or_else(asked).ok_or_else(|| {
                        let _ = client.write_all(&reply(Reply::HostUnreachable));
                        CloseReason::NameUnknown
                    });
                }
            }
        }
        Err(CloseReason::RequestTooLong)
    }

    /// Connects to the target, directly or by its gateway.
    fn connect_target(
        &self,
        target: SocketAddr,
        to: usize,
        route: RouteId,
    ) -> Result<TcpStream, (Reply, CloseReason)> {
        let peer = self.settings.peers.iter().find(|peer| peer.cluster == to);
        let address = peer.map_or(target, |peer| peer.address);
        let timeout = Duration::from_nanos(self.settings.opening_ns);
        let mut stream = TcpStream::connect_timeout(&address, timeout).map_err(|error| {
            (Reply::of_error(&error), CloseReason::of_connect_error(&error, peer.is_some()))
        })?;
        let _ = stream.set_nodelay(true);
        if peer.is_some() {
            // The other gateway delays its answer.
            let travel = Duration::from_nanos(locked(&self.wan).opening_travel(route).ns());
            let gone = |error: std::io::Error| {
                if is_timeout(&error) {
                    (Reply::HostUnreachable, CloseReason::TargetTimeout)
                } else {
                    (Reply::Failed, CloseReason::PeerFailed)
                }
            };
            stream.set_read_timeout(Some(timeout + travel)).map_err(gone)?;
            let (mut client, greeting) = Client::new(target, self.settings.password.clone());
            stream.write_all(&greeting).map_err(gone)?;
            let mut byte = [0];
            loop {
                match client.step() {
                    ClientStep::Receive => {
                        stream.read_exact(&mut byte).map_err(gone)?;
                        client.receive(&byte);
                    }
                    ClientStep::Send(bytes) => stream.write_all(&bytes).map_err(gone)?,
                    ClientStep::Connected(_) => break stream.set_read_timeout(None).map_err(gone)?,
                    ClientStep::Failed(code) => return Err((code, CloseReason::of_reply(code))),
                }
            }
        }
        Ok(stream)
    }

    /// Copies one direction of a connection message by message; returns its bytes.
    fn copy(&self, source: &mut TcpStream, sink: &mut TcpStream, way: Way) -> u64 {
        let Way { serial, from, to, route } = way;
        let flow = FlowId { slot: u32::from(from > to), generation: serial as u32 };
        let mut buffer = vec![0; READ];
        let mut total = 0;
        loop {
            let mut message = match self.message(source, &mut buffer) {
                Ok(Some(message)) => message,
                Ok(None) => {
                    self.wait(flow, route, 0, self.clock.now());
                    let _ = sink.shutdown(Shutdown::Write);
                    return total;
                }
                Err(()) => {
                    let _ = (sink.shutdown(Shutdown::Both), source.shutdown(Shutdown::Both));
                    return total;
                }
            };
            let arrived = self.clock.now();
            let extra = match &self.wrapper {
                Some(wrapper) => locked(wrapper).operation(serial, from, to, &mut message),
                None => Span::ZERO,
            };
            let due = self.wait(flow, route, message.len() as u32, arrived) + extra;
            self.spinner.wait_until(self.begun + Duration::from_nanos(due.ns()));
            if sink.write_all(&message).is_err() {
                let _ = source.shutdown(Shutdown::Both);
                return total;
            }
            total += message.len() as u64;
            let written = self.clock.now();
            let mut accounts = locked(&self.accounts);
            accounts.bytes += message.len() as u64;
            accounts.lateness.add(written.since(due), 1);
            if let Some(log) = &mut accounts.log {
                let bytes = message.len() as u32;
                log.message(Message { connection: serial, from, to, arrived, due, written, bytes });
            }
        }
    }

    /// The next message; `None` at the end.
    fn message(&self, source: &mut TcpStream, buffer: &mut [u8]) -> Result<Option<Vec<u8>>, ()> {
        if self.settings.framing == Framing::Stream {
            let bytes = source.read(buffer).map_err(drop)?;
            return Ok((bytes > 0).then(|| buffer[..bytes].to_vec()));
        }
        let mut length = [0; 4];
        match source.read(&mut length[..1]) {
            Ok(0) => return Ok(None),
            Ok(_) => source.read_exact(&mut length[1..]).map_err(drop)?,
            Err(_) => return Err(()),
        }
        let bytes = u32::from_be_bytes(length) as usize;
        if bytes as u64 > self.settings.memory_bytes / 4 {
            return Err(());
        }
        let mut message = vec![0; 4 + bytes];
        message[..4].copy_from_slice(&length);
        source.read_exact(&mut message[4..]).map_err(drop)?;
        Ok(Some(message))
    }

    /// When bytes that arrived at an instant are due; waits for links that are down.
    fn wait(&self, flow: FlowId, route: RouteId, bytes: u32, arrived: Time) -> Time {
        let mut at = arrived;
        loop {
            if let Some(due) = self.due(flow, route, bytes, at) {
                if bytes == 0 {
                    self.spinner.wait_until(self.begun + Duration::from_nanos(due.ns()));
                }
                return due;
            }
            std::thread::sleep(DOWN);
            at = self.clock.now();
        }
    }

    fn due(&self, flow: FlowId, route: RouteId, bytes: u32, mut at: Time) -> Option<Time> {
        let mut wan = locked(&self.wan);
        for number in 0..u64::from(TRIES) {
            wan.offer(at, Piece::new(flow, number, bytes, route));
            let mut found = None;
            loop {
                while let Some(outcome) = wan.outcome() {
                    match outcome {
                        Outcome::Delivered(_, due) => found = found.or(Some(Ok(due))),
                        Outcome::Ended(_, _, ended) => found = found.or(Some(Err(ended))),
                        Outcome::Copied(..) => {}
                    }
                }
                let next = wan.next_event();
                if next == Time::NEVER {
                    break;
                }
                wan.advance(next);
            }
            match found {
                Some(Ok(due)) => return Some(due),
                Some(Err(ended)) => {
                    let wait =
                        self.settings.retransmit_ns.map_or_else(|| wan.round_trip(route), Span::from_ns);
                    at = ended + wait.max(Span::from_ms(1));
                }
                None => return None,
            }
        }
        None
    }

    fn account(&self) -> Value {
        let links = account::links(&self.settings, &locked(&self.wan));
        let accounts = locked(&self.accounts);
        json!({
            "duration_ns": self.clock.now().ns(),
            "links": links,
            "connections": {
                "accepted": accounts.serial, "refused": accounts.refused, "failed": accounts.failed,
                "completed": accounts.completed, "open": accounts.open.len(), "open_most": accounts.open_most,
            },
            "bytes": accounts.bytes,
            "pieces": accounts.lateness.count(),
            "lateness_ns": account::lateness(&accounts.lateness),
        })
    }

    /// Closes every connection and returns the results.
    fn finish(&self, reason: &str, spent_ns: u64) -> Value {
        let open: Vec<TcpStream> = {
            let accounts = locked(&self.accounts);
            accounts.open.values().flatten().filter_map(|stream| stream.try_clone().ok()).collect()
        };
        for stream in open {
            let _ = stream.shutdown(Shutdown::Both);
        }
        // Threads that still wait for a due time have no connection to write to.
        for _ in 0..100 {
            if locked(&self.accounts).open.is_empty() {
                break;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        let mut account = self.account();
        let log = locked(&self.accounts).log.take();
        let LogSummary { rows, dropped, error } = log.map(Log::close).unwrap_or_default();
        account["reason"] = json!(reason);
        account["log"] = json!({"rows": rows, "dropped": dropped, "error": error});
        account["cpu_ns"] = json!(processor_ns() - spent_ns);
        account
    }
}

#[derive(Clone, Copy)]
struct Way {
    serial: u64,
    from: usize,
    to: usize,
    route: RouteId,
}

/// Whether a read or an attempt to connect has lasted as long as it may.
fn is_timeout(error: &std::io::Error) -> bool {
    matches!(error.kind(), std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut)
}

fn locked<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
