//! Opening of connections: from the first packet of a client to two connected ends.

use super::{EXHAUSTED, Gateway, Open, WATCHED, kind, watch};
use crate::close_reason::CloseReason;
use crate::connection::{Connection, Direction, Phase, Upstream};
use crate::log::ClosedConnection;
use crate::settings::{Framing, Listener};
use crate::sockets::{Read, Socket};
use crate::socks::{Client, ClientStep, Reply, Server, ServerStep, Target, reply};
use crate::stream::{Mark, Stream};
use crate::wan::{FlowId, Wan};
use longhaul_units::{Span, Time};
use std::cmp::Reverse;
use std::collections::VecDeque;
use std::io::{ErrorKind, IoSlice};
use std::net::{SocketAddr, TcpStream};

/// Longest SOCKS negotiation of a client, in bytes.
const LONGEST_HELLO: usize = 1_024;

impl Gateway {
    /// Accepts all clients that wait at a listener.
    pub(super) fn accept(&mut self, index: usize, now: Time) {
        while self.accepting {
            let Open::Tcp(listener) = &self.listeners[index] else { return };
            match listener.accept() {
                Ok((stream, address)) => self.open_connection(index, stream, address, now),
                Err(error) if error.kind() == ErrorKind::WouldBlock => return,
                Err(error) if matches!(error.raw_os_error(), Some(EMFILE | ENFILE | ENOBUFS | ENOMEM)) => {
                    // Clients stay in the backlog; a listener that stays ready would only keep this thread busy.
                    self.counts.exhausted += 1;
                    if !self.displace_client() {
                        self.accepting = false;
                        self.accept_again = now + EXHAUSTED;
                    }
                }
                Err(error) if error.kind() == ErrorKind::ConnectionAborted => {}
                // The listener stays ready while clients wait.
                Err(_) => return,
            }
        }
    }

    fn open_connection(&mut self, index: usize, stream: TcpStream, address: SocketAddr, now: Time) {
        self.counts.accepted += 1;
        let listener = &self.settings.listeners[index];
        let from = listener.from().or_else(|| self.settings.cluster_of(address.ip()));
        let room = self.open < self.most || self.displace_client();
        let listener = &self.settings.listeners[index];
        let Some(from) = from.filter(|_| room) else {
            self.counts.refused += 1;
            let reason = match from {
                None => CloseReason::ClientOfNoCluster,
                Some(_) => CloseReason::TooManyConnections,
            };
            self.log.connection(ClosedConnection {
                serial: self.counts.accepted,
                listener: index,
                from: String::new(),
                to: String::new(),
                client: address,
                target: None,
                opened: now,
                closed: now,
                bytes: [0, 0],
                reason,
            });
            return;
        };
        let Ok(client) = Socket::new(stream) else {
            self.counts.failed += 1;
            return;
        };
        let slot = self.free.pop().unwrap_or_else(|| {
            self.connections.push(None);
            self.generations.push(0);
            self.connections.len() as u32 - 1
        });
        let generation = self.generations[slot as usize];
        if watch(&self.epoll, &client.stream, WATCHED, kind::CLIENT, slot, generation).is_err() {
            self.free.push(slot);
            self.counts.failed += 1;
            return;
        }
        let mut connection =
            Box::new(Connection::new(self.counts.accepted, index, client, address, from, now));
        self.open += 1;
        self.counts.open_most = self.counts.open_most.max(self.open);
        match listener {
            Listener::Socks { .. } => {
                connection.phase = Phase::Handshake(Server::new(self.settings.password.clone()));
                connection.wants_reply = true;
            }
            Listener::Forward { target, to, .. } => {
                let (target, to) = (*target, *to);
                self.start_opening(&mut connection, slot, target, to, now);
            }
            Listener::Transparent { .. } => match connection.client.original_target() {
                Some(target) if target.port() != 0 && !self.addresses.contains(&target) => {
                    self.start_opening(&mut connection, slot, target, None, now);
                }
                _ => self.refuse(&mut connection, CloseReason::MadeToGateway, Reply::NotAllowed),
            },
            Listener::Datagrams { .. } => {}
        }
        self.deadlines.push(Reverse((now + self.settings.opening_timeout(), slot, generation)));
        self.connections[slot as usize] = Some(connection);
        self.enqueue(slot);
    }

    /// Closes the client that has been in SOCKS negotiation for longest, to free its slot; false if there is none.
    fn displace_client(&mut self) -> bool {
        let silent = self.deadlines.iter().map(|Reverse(each)| each).filter(|(_, slot, generation)| {
            let connection = self.connections.get(*slot as usize).and_then(Option::as_ref);
            self.generations.get(*slot as usize) == Some(generation)
                && connection.is_some_and(|it| matches!(it.phase, Phase::Handshake(_)))
        });
        let Some(&(_, slot, _)) = silent.min() else { return false };
        if let Some(connection) = &mut self.connections[slot as usize] {
            connection.end = Some(CloseReason::Displaced);
        }
        self.close(slot);
        true
    }

    /// Closes connections that have not opened in time.
    pub(super) fn close_overdue(&mut self, now: Time) {
        while let Some(&Reverse((at, slot, generation))) = self.deadlines.peek()
            && at <= now
        {
            self.deadlines.pop();
            let index = slot as usize;
            if self.generations.get(index) != Some(&generation) {
                continue;
            }
            if let Some(connection) = &mut self.connections[index] {
                let deadline =
                    connection.opened + self.settings.opening_timeout() + travel(connection, &self.wan);
                if deadline > now {
                    self.deadlines.push(Reverse((deadline, slot, generation)));
                    continue;
                }
                let late = match connection.phase {
                    Phase::Handshake(_) => Some(CloseReason::RequestTimeout),
                    Phase::Resolving => Some(CloseReason::NameTimeout),
                    Phase::Opening if !matches!(connection.upstream, Upstream::Open(_)) => {
                        Some(CloseReason::TargetTimeout)
                    }
                    Phase::Opening | Phase::Open => None,
                };
                if late.is_some() {
                    connection.end = late;
                    // A client would take a plain FIN for an answer.
                    match connection.phase {
                        Phase::Handshake(_) => {}
                        _ if connection.wants_reply => {
                            connection.pending_reply.extend(reply(Reply::HostUnreachable));
                        }
                        _ => connection.client.reset_on_close(),
                    }
                    self.close(slot);
                }
            }
        }
    }

    /// Reads the negotiation of a SOCKS client.
    pub(super) fn read_socks_request(&mut self, connection: &mut Connection, slot: u32, now: Time) {
        let mut heard = 0;
        while connection.client.readable {
            let size = LONGEST_HELLO - heard;
            match connection.client.read(&mut self.scratch[..size], self.clock, now) {
                Read::Bytes(bytes, _) => {
                    heard += bytes;
                    let Phase::Handshake(server) = &mut connection.phase else { return };
                    server.receive(&self.scratch[..bytes]);
                    if heard >= LONGEST_HELLO {
                        break;
                    }
                }
                Read::Nothing => break,
                Read::End | Read::Broken => {
                    connection.end = Some(CloseReason::ClientLeft);
                    return;
                }
            }
        }
        loop {
            let Phase::Handshake(server) = &mut connection.phase else { return };
            match server.step() {
                ServerStep::Receive if heard >= LONGEST_HELLO => {
                    connection.end = Some(CloseReason::RequestTooLong);
                }
                ServerStep::Receive => return,
                ServerStep::Send(bytes) => connection.pending_reply.extend(bytes),
                ServerStep::Refuse(bytes, why) => {
                    connection.pending_reply.extend(bytes);
                    connection.end = Some(why);
                }
                ServerStep::Connect(Target::Address(target)) => {
                    let rest = server.take_remaining();
                    self.start_opening(connection, slot, target, None, now);
                    self.append_early_data(connection, &rest, now);
                }
                ServerStep::Connect(Target::Name(name, port)) => {
                    let rest = server.take_remaining();
                    if let Some(&address) = self.settings.names.get(&name) {
                        self.start_opening(connection, slot, SocketAddr::new(address, port), None, now);
                    } else if self.resolver.ask(slot, self.generations[slot as usize], name, port) {
                        connection.phase = Phase::Resolving;
                    } else {
                        self.refuse(connection, CloseReason::TooManyLookups, Reply::Failed);
                    }
                    self.append_early_data(connection, &rest, now);
                }
            }
            if connection.end.is_some() {
                return;
            }
        }
    }

    /// Puts bytes that a client sent before the reply at the front of its stream.
    fn append_early_data(&mut self, connection: &mut Connection, bytes: &[u8], now: Time) {
        if bytes.is_empty() {
            return;
        }
        match &mut connection.ways {
            Some([forward, _]) => {
                self.held += bytes.len();
                forward.stream.append(now, bytes, forward.piece);
            }
            None => connection.end = Some(CloseReason::EarlyData),
        }
    }

    /// Continues connections whose target names were resolved.
    pub(super) fn handle_resolved_names(&mut self, now: Time) {
        while let Some((slot, generation, address)) = self.resolver.answer() {
            if self.generations.get(slot as usize) != Some(&generation) {
                continue;
            }
            let Some(mut connection) = self.connections[slot as usize].take() else { continue };
            match address {
                Some(target) => self.start_opening(&mut connection, slot, target, None, now),
                None => self.refuse(&mut connection, CloseReason::NameUnknown, Reply::HostUnreachable),
            }
            self.connections[slot as usize] = Some(connection);
            self.enqueue(slot);
        }
    }

    /// Starts to open a connection whose target is known: the request to connect enters the WAN.
    fn start_opening(
        &mut self,
        connection: &mut Connection,
        slot: u32,
        target: SocketAddr,
        to: Option<usize>,
        now: Time,
    ) {
        connection.target = Some(target);
        let Some(to) = to.or_else(|| self.settings.cluster_of(target.ip())) else {
            return self.refuse(connection, CloseReason::TargetOfNoCluster, Reply::NotAllowed);
        };
        connection.to = to;
        let mut route = |from: usize, to: usize| {
            if from != to && !self.settings.paths.iter().any(|path| (path.from, path.to) == (from, to)) {
                None
            } else if self.settings.delays_into(to) {
                self.wan.open(from, to)
            } else {
                Some(self.plain)
            }
        };
        let routes = [route(connection.from, to), route(to, connection.from)];
        let [Some(there), Some(back)] = routes else {
            routes.into_iter().flatten().for_each(|route| self.wan.close(route));
            return self.refuse(connection, CloseReason::NoPath, Reply::NotAllowed);
        };
        let generation = self.generations[slot as usize];
        let way = |route, number: u32| Direction {
            stream: Stream::default(),
            route,
            flow: FlowId { slot: slot * 2 + number, generation },
            piece: match self.settings.framing {
                Framing::Stream => self.wan.piece_bytes(route),
                Framing::LengthPrefixed => u32::MAX,
            },
            buffer: self.settings.buffer_bytes.unwrap_or_else(|| self.wan.fill_bytes(route)) as usize,
            blocked: false,
            lost: VecDeque::new(),
            ended: false,
            done: false,
            closing: None,
            stalled: false,
            bytes: 0,
            partial: Vec::new(),
        };
        let mut ways = [way(there, 0), way(back, 1)];
        ways[0].stream.append_mark(now, Mark::Open);
        if !self.wan.is_plain(there) {
            connection.client.stamp();
            if self.wan.rate(there).is_some() {
                connection.client.limit_receiving(ways[0].buffer);
            }
        }
        connection.ways = Some(ways);
        connection.phase = Phase::Opening;
    }

    /// Connects to the target: the request to connect has left the WAN.
    pub(super) fn connect(&mut self, connection: &mut Connection, slot: u32, now: Time) {
        let peer = self.settings.peers.iter().find(|peer| peer.cluster == connection.to);
        let is_peer = peer.is_some();
        let Some(address) = peer.map(|peer| peer.address).or(connection.target) else { return };
        let mut connecting = Socket::connecting(address);
        if let Err(error) = &connecting
            && matches!(error.raw_os_error(), Some(EMFILE | ENFILE))
            && self.displace_client()
        {
            connecting = Socket::connecting(address);
        }
        match connecting {
            Ok(socket) => {
                let generation = self.generations[slot as usize];
                if watch(&self.epoll, &socket.stream, WATCHED, kind::UPSTREAM, slot, generation).is_err() {
                    self.answer(connection, Reply::Failed, CloseReason::TargetFailed, now);
                } else {
                    connection.upstream = Upstream::Connecting(socket);
                }
            }
            Err(error) => {
                if matches!(error.raw_os_error(), Some(EMFILE | ENFILE)) {
                    self.counts.exhausted += 1;
                }
                let reason = CloseReason::of_connect_error(&error, is_peer);
                self.answer(connection, Reply::of_error(&error), reason, now);
            }
        }
    }

    /// Checks whether the target has answered.
    pub(super) fn continue_opening(&mut self, connection: &mut Connection, now: Time) {
        loop {
            match std::mem::replace(&mut connection.upstream, Upstream::None) {
                Upstream::Connecting(socket) if !socket.writable => {
                    connection.upstream = Upstream::Connecting(socket);
                    return;
                }
                Upstream::Connecting(mut socket) => {
                    let is_peer = self.settings.peers.iter().any(|peer| peer.cluster == connection.to);
                    if let Err(error) = socket.connected() {
                        let reason = CloseReason::of_connect_error(&error, is_peer);
                        return self.answer(connection, Reply::of_error(&error), reason, now);
                    }
                    match connection.target {
                        Some(target) if is_peer => {
                            let (client, greeting) = Client::new(target, self.settings.password.clone());
                            // The few bytes fit into the empty buffer of a new connection.
                            let _ = socket.write(&[IoSlice::new(&greeting)]);
                            connection.upstream = Upstream::Handshaking(socket, client);
                        }
                        _ => return self.target_connected(connection, socket, now),
                    }
                }
                Upstream::Handshaking(mut socket, mut client) => {
                    let heard = socket.read(&mut self.scratch[..LONGEST_HELLO], self.clock, now);
                    match heard {
                        Read::Bytes(bytes, _) => client.receive(&self.scratch[..bytes]),
                        Read::Nothing => {
                            connection.upstream = Upstream::Handshaking(socket, client);
                            return;
                        }
                        Read::End | Read::Broken => {
                            return self.answer(connection, Reply::Failed, CloseReason::PeerFailed, now);
                        }
                    }
                    loop {
                        match client.step() {
                            ClientStep::Receive => break,
                            ClientStep::Send(bytes) => {
                                let _ = socket.write(&[IoSlice::new(&bytes)]);
                            }
                            ClientStep::Failed(why) => {
                                return self.answer(connection, why, CloseReason::of_reply(why), now);
                            }
                            ClientStep::Connected(rest) => {
                                self.target_connected(connection, socket, now);
                                if let Some([_, back]) = &mut connection.ways
                                    && !rest.is_empty()
                                {
                                    self.held += rest.len();
                                    back.stream.append(now, &rest, back.piece);
                                }
                                return;
                            }
                        }
                    }
                    connection.upstream = Upstream::Handshaking(socket, client);
                }
                other => {
                    connection.upstream = other;
                    return;
                }
            }
        }
    }

    /// The target has accepted: the answer enters the WAN.
    fn target_connected(&mut self, connection: &mut Connection, mut socket: Socket, now: Time) {
        socket.readable = true;
        if let Some([_, back]) = &mut connection.ways {
            if !self.wan.is_plain(back.route) {
                socket.stamp();
                if self.wan.rate(back.route).is_some() {
                    socket.limit_receiving(back.buffer);
                }
            }
            back.stream.append_mark(now, Mark::Open);
        }
        connection.upstream = Upstream::Open(socket);
    }

    /// The target has not accepted: this answer enters the WAN, too.
    fn answer(&mut self, connection: &mut Connection, why: Reply, reason: CloseReason, now: Time) {
        self.counts.failed += 1;
        connection.counted = true;
        connection.refusal = Some(why);
        connection.reason = Some(reason);
        if let Some([_, back]) = &mut connection.ways {
            back.stream.append_mark(now, Mark::Reset);
        }
    }

    /// Refuses a connection.
    fn refuse(&mut self, connection: &mut Connection, why: CloseReason, code: Reply) {
        self.counts.refused += 1;
        connection.counted = true;
        if connection.wants_reply {
            connection.pending_reply.extend(reply(code));
        } else {
            connection.client.reset_on_close();
        }
        connection.end = Some(why);
    }
}

/// How long the request to connect and its answer may take in the WAN, losses included.
fn travel(connection: &Connection, wan: &Wan) -> Span {
    connection.ways.as_ref().map_or(Span::ZERO, |[there, _]| wan.opening_travel(there.route))
}

const EMFILE: i32 = nix::libc::EMFILE;
const ENFILE: i32 = nix::libc::ENFILE;
const ENOBUFS: i32 = nix::libc::ENOBUFS;
const ENOMEM: i32 = nix::libc::ENOMEM;
