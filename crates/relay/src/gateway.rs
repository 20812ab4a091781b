//! The gateway: one thread, one epoll, one spinner for all.

mod datagrams;
mod opening;
mod passing;
mod steering;

use crate::account;
use crate::changes::ChangeLog;
use crate::clock::{Clock, Sleeper, processor_ns};
use crate::close_reason::CloseReason;
use crate::connection::{Connection, Direction};
use crate::control::Control;
use crate::log::Log;
use crate::resolver::Resolver;
use crate::settings::{Listener, Settings};
use crate::sockets::raise_file_limit;
use crate::stream::BufferPool;
use crate::wan::{FlowId, Outcome, Piece, RouteId, Wan};
use crate::{Error, Options, Wrapper};
use datagrams::Sessions;
use longhaul_storage::{Storage, replace};
use longhaul_units::{Histogram, Span, Time};
use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout};
use serde_json::{Value, json};
use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap, VecDeque};
use std::net::{SocketAddr, TcpListener, UdpSocket};
use std::os::fd::{AsFd, OwnedFd};

/// Kinds of watched descriptors, in the top bits of an event's data.
mod kind {
    pub const LISTENER: u64 = 0;
    pub const CLIENT: u64 = 1;
    pub const UPSTREAM: u64 = 2;
    pub const SESSION: u64 = 3;
    pub const CONTROL: u64 = 4;
    pub const STOP: u64 = 5;
    pub const RESOLVER: u64 = 6;
}

/// Events of both sockets of a connection.
const WATCHED: EpollFlags = EpollFlags::EPOLLIN
    .union(EpollFlags::EPOLLOUT)
    .union(EpollFlags::EPOLLPRI)
    .union(EpollFlags::EPOLLRDHUP)
    .union(EpollFlags::EPOLLET);
/// A flow's slot with this bit belongs to a session of datagrams.
const DATAGRAMS: u32 = 1 << 31;
/// Most bytes read from one socket in one turn.
const TURN_BYTES: usize = 512 << 10;
/// The least retransmission delay.
const LEAST_RETRANSMIT: Span = Span::from_ms(1);
/// How long no connection is accepted after descriptors ran out.
const EXHAUSTED: Span = Span::from_ms(50);

/// An open listener.
enum Open {
    Tcp(TcpListener),
    Udp(UdpSocket),
}

/// Counts for the result.
#[derive(Clone, Debug, Default)]
struct Counts {
    accepted: u64,
    refused: u64,
    failed: u64,
    completed: u64,
    broken: u64,
    open_most: usize,
    bytes: u64,
    retransmitted: u64,
    datagrams: u64,
    datagrams_ended: u64,
    exhausted: u64,
    no_memory: u64,
    stalled_bytes: u64,
}

/// A relay at work.
pub struct Gateway {
    settings: Settings,
    clock: Clock,
    epoll: Epoll,
    sleeper: Sleeper,
    wan: Wan,
    plain: RouteId,
    listeners: Vec<Open>,
    addresses: Vec<SocketAddr>,
    accepting: bool,
    accept_again: Time,
    connections: Vec<Option<Box<Connection>>>,
    generations: Vec<u32>,
    free: Vec<u32>,
    open: usize,
    most: usize,
    /// Connections that this turn handles.
    list: VecDeque<u32>,
    /// What this turn offers: when it arrived, and where it was read. Empty between turns.
    arrivals: BinaryHeap<Reverse<(Time, u32)>>,
    /// Connections by the time at which they must be open.
    deadlines: BinaryHeap<Reverse<(Time, u32, u32)>>,
    sessions: Sessions,
    /// Lost pieces, by the times of their retransmissions.
    again: Timed,
    /// Pieces that a wrapper delays further.
    later: Timed,
    resolver: Resolver,
    control: Control,
    /// Connections for control that have sent something in this turn.
    requesters: Vec<u32>,
    wrapper: Option<Box<dyn Wrapper>>,
    log: Log,
    changes: ChangeLog,
    /// How late pieces were written.
    lateness: Histogram,
    /// Bytes in all streams.
    held: usize,
    /// Connections that wait for memory.
    starving: BTreeSet<u32>,
    counts: Counts,
    next_event: usize,
    scratch: Vec<u8>,
    pool: BufferPool,
    /// A byte in it ends the relay.
    _stop: OwnedFd,
    stopped: Option<&'static str>,
    directory: std::path::PathBuf,
    storage: Box<dyn Storage>,
    spent_ns: u64,
}

/// Pieces in order of time.
type Timed = BinaryHeap<Reverse<(Time, FlowIdOrder, u64)>>;

/// A flow, so that it can be put in order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct FlowIdOrder(u32, u32);

/// The direction of a connection: at twice the connection's slot, plus one for the way back.
fn direction(connections: &mut [Option<Box<Connection>>], place: u32) -> Option<&mut Direction> {
    let ways = connections.get_mut(place as usize / 2)?.as_mut()?.ways.as_mut()?;
    ways.get_mut(place as usize % 2)
}

impl Gateway {
    /// Opens all listeners and files, or none.
    pub fn new(settings: Settings, options: Options) -> Result<Self, Error> {
        let files = raise_file_limit();
        // Those that are open have two descriptors, half-open ones one: they make room for others.
        let most = settings.connections.min(files.saturating_sub(64).max(1) as usize);
        let epoll =
            Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC).map_err(Error::cannot("make an epoll instance"))?;
        let mut listeners = Vec::new();
        let mut addresses = Vec::new();
        for (index, listener) in settings.listeners.iter().enumerate() {
            let address = listener.address();
            let failed = |source: std::io::Error| Error::Listen { index, address, source };
            let open = if let Listener::Datagrams { .. } = listener {
                let socket = UdpSocket::bind(address).map_err(failed)?;
                datagrams::prepare(&socket).map_err(failed)?;
                addresses.push(socket.local_addr().map_err(failed)?);
                watch(&epoll, &socket, EpollFlags::EPOLLIN, kind::LISTENER, index as u32, 0)?;
                Open::Udp(socket)
            } else {
                let socket = TcpListener::bind(address).map_err(failed)?;
                socket.set_nonblocking(true).map_err(failed)?;
                // The system's limit of those that wait to be accepted, not the library's.
                let _ = nix::sys::socket::listen(&socket, nix::sys::socket::Backlog::MAXCONN);
                addresses.push(socket.local_addr().map_err(failed)?);
                watch(&epoll, &socket, EpollFlags::EPOLLIN, kind::LISTENER, index as u32, 0)?;
                Open::Tcp(socket)
            };
            listeners.push(open);
        }
        let raw = options.directory.join("raw");
        std::fs::create_dir_all(&raw).map_err(Error::cannot(format!("make {}", raw.display())))?;
        let log = Log::open(&raw, &*options.storage, settings.log.messages, settings.log.limit_bytes)?;
        let changes = ChangeLog::create(&raw, &*options.storage)?;
        let control = Control::open(options.socket.as_deref(), options.token)?;
        let resolver = Resolver::start()?;
        if let Some(fd) = control.listener() {
            watch(&epoll, fd, EpollFlags::EPOLLIN, kind::CONTROL, u32::MAX, 0)?;
        }
        watch(&epoll, &options.stop, EpollFlags::EPOLLIN, kind::STOP, 0, 0)?;
        watch(&epoll, resolver.answers(), EpollFlags::EPOLLIN, kind::RESOLVER, 0, 0)?;
        let mut wan = Wan::new(&settings);
        let plain = wan.open_plain();
        Ok(Gateway {
            clock: Clock::starting_now(),
            epoll,
            sleeper: Sleeper::new(),
            plain,
            wan,
            listeners,
            addresses,
            accepting: true,
            accept_again: Time::NEVER,
            connections: Vec::new(),
            generations: Vec::new(),
            free: Vec::new(),
            open: 0,
            most,
            list: VecDeque::new(),
            arrivals: BinaryHeap::new(),
            deadlines: BinaryHeap::new(),
            sessions: Sessions::default(),
            again: BinaryHeap::new(),
            later: BinaryHeap::new(),
            resolver,
            control,
            requesters: Vec::new(),
            wrapper: options.wrapper,
            log,
            changes,
            lateness: Histogram::new(),
            held: 0,
            starving: BTreeSet::new(),
            counts: Counts::default(),
            next_event: 0,
            scratch: vec![0; 256 << 10],
            pool: BufferPool::default(),
            _stop: options.stop,
            stopped: None,
            directory: options.directory,
            storage: options.storage,
            spent_ns: processor_ns(),
            settings,
        })
    }

    /// Where each listener listens.
    pub fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    /// Relays until it is stopped; returns the results.
    pub fn run(mut self) -> Value {
        let mut events = vec![EpollEvent::empty(); 1_024];
        while self.stopped.is_none() {
            self.pause();
            // What arrived before this is reported now.
            let reported = self.clock.now();
            let met = self.epoll.wait(&mut events, EpollTimeout::ZERO).unwrap_or(0);
            // Bytes that the kernel stamps later than this belong to the next turn.
            let now = self.clock.now();
            for event in &events[..met] {
                self.handle_event(*event, now);
            }
            self.turn(reported, now);
        }
        self.finish()
    }

    fn turn(&mut self, reported: Time, now: Time) {
        self.timers(now);
        self.close_overdue(now);
        self.resume_starving();
        for _ in 0..self.list.len() {
            let Some(slot) = self.list.pop_front() else { break };
            self.read_sources(slot, now);
        }
        self.offer_arrived();
        self.apply_changes(reported);
        self.answer_requests(now);
        let until = now.min(self.next_change());
        self.retransmit_due(until);
        loop {
            self.wan.advance(until);
            self.handle_outcomes(until);
            let Some(flow) = self.wan.next_ready() else { break };
            self.offer_blocked(flow, until);
        }
        self.release_delayed(now);
        for _ in 0..self.list.len() {
            let Some(slot) = self.list.pop_front() else { break };
            self.write_sinks(slot, now);
        }
        self.close_idle_sessions(now);
        self.log.hand_over_stale(now);
    }

    /// Sleeps or spins until the next event.
    fn pause(&mut self) {
        if !self.list.is_empty() || self.sessions.wait_for_change() {
            return;
        }
        let mut next = self.wan.next_event();
        for heap in [&self.again, &self.later] {
            next = next.min(heap.peek().map_or(Time::NEVER, |Reverse((at, ..))| *at));
        }
        let now = self.clock.now();
        // A deadline without precision is reached by sleeping for the lead too.
        let loose = self.next_imprecise_deadline();
        if next == Time::NEVER && loose == Time::NEVER {
            self.sleeper.sleep(self.epoll.0.as_fd(), self.clock, Span::from_s(60));
        } else {
            let ahead = next.since(now).min(loose.since(now) + Span::from_ms(2));
            self.sleeper.sleep(self.epoll.0.as_fd(), self.clock, ahead);
        }
    }

    fn next_imprecise_deadline(&self) -> Time {
        let mut next = self.deadlines.peek().map_or(Time::NEVER, |Reverse((at, ..))| *at);
        next = next.min(self.next_change());
        if let Some(end) = self.settings.duration_ns {
            next = next.min(Time::from_ns(end));
        }
        next.min(self.accept_again).min(self.sessions.next_idle_check()).min(self.log.stale_at())
    }

    fn handle_event(&mut self, event: EpollEvent, now: Time) {
        let (kind, slot, generation) = parts(event.data());
        let flags = event.events();
        match kind {
            kind::LISTENER => match &self.listeners[slot as usize] {
                Open::Tcp(_) => self.accept(slot as usize, now),
                Open::Udp(_) => self.receive_from_clients(slot as usize, now),
            },
            kind::CLIENT | kind::UPSTREAM if self.generations.get(slot as usize) == Some(&generation) => {
                let Some(connection) = &mut self.connections[slot as usize] else { return };
                let socket = if kind == kind::CLIENT {
                    Some(&mut connection.client)
                } else {
                    connection.upstream.socket()
                };
                let Some(socket) = socket else { return };
                let over = EpollFlags::EPOLLRDHUP | EpollFlags::EPOLLHUP | EpollFlags::EPOLLERR;
                socket.hung_up |= flags.intersects(over);
                socket.urgent |= flags.contains(EpollFlags::EPOLLPRI);
                socket.broken |= flags.contains(EpollFlags::EPOLLERR);
                socket.readable |= flags.intersects(EpollFlags::EPOLLIN | over);
                socket.writable |= flags.intersects(EpollFlags::EPOLLOUT | over);
                self.enqueue(slot);
            }
            kind::SESSION => self.receive_from_target(slot, generation, now),
            kind::CONTROL => self.requesters.push(slot),
            kind::STOP => self.stopped = Some("interrupted"),
            kind::RESOLVER => self.handle_resolved_names(now),
            _ => {}
        }
    }

    fn enqueue(&mut self, slot: u32) {
        if let Some(connection) = &mut self.connections[slot as usize]
            && !connection.listed
        {
            connection.listed = true;
            self.list.push_back(slot);
        }
    }

    /// Handles the outcomes of pieces.
    fn handle_outcomes(&mut self, now: Time) {
        while let Some(outcome) = self.wan.outcome() {
            match outcome {
                Outcome::Delivered(piece, due) if piece.flow.slot & DATAGRAMS != 0 => {
                    self.datagram_delivered(piece, due);
                }
                Outcome::Ended(piece, ..) if piece.flow.slot & DATAGRAMS != 0 => self.datagram_ended(piece),
                Outcome::Copied(piece, copies) => self.datagram_copied(piece, copies),
                Outcome::Delivered(piece, due) => {
                    let slot = piece.flow.slot / 2;
                    let Some(way) = self.way(piece.flow) else { continue };
                    let extra = way.stream.extra(piece.number);
                    if extra > Span::ZERO {
                        self.keep(piece.flow, piece.number, due + extra);
                    } else {
                        way.stream.mark_delivered(piece.number, due);
                        self.enqueue(slot);
                    }
                }
                Outcome::Ended(piece, _, at) => {
                    // A byte stream is reliable: lost pieces are retransmitted, as TCP would.
                    if !self.way(piece.flow).is_some_and(|way| way.stream.mark_lost(piece.number)) {
                        continue;
                    }
                    let wait = match self.settings.retransmit_ns {
                        Some(ns) => Span::from_ns(ns),
                        None => self.wan.round_trip(piece.route),
                    };
                    let at = at + wait.max(LEAST_RETRANSMIT);
                    let flow = FlowIdOrder(piece.flow.slot, piece.flow.generation);
                    self.again.push(Reverse((at.max(now), flow, piece.number)));
                }
            }
        }
    }

    /// Retransmits lost pieces that are due.
    fn retransmit_due(&mut self, now: Time) {
        while let Some(&Reverse((at, FlowIdOrder(slot, generation), number))) = self.again.peek()
            && at <= now
        {
            self.again.pop();
            let flow = FlowId { slot, generation };
            let Some(way) = self.way(flow) else { continue };
            let Some(bytes) = way.stream.undelivered_bytes(number) else { continue };
            let (piece, blocked) = (Piece::new(flow, number, bytes, way.route), way.blocked);
            let offered = !blocked && self.wan.try_offer(at, piece);
            self.counts.retransmitted += u64::from(offered);
            let Some(way) = self.way(flow) else { continue };
            if offered {
                way.stream.mark_retransmitted(number);
            } else {
                way.blocked = true;
                way.lost.push_back(number);
            }
        }
    }

    /// Delays a piece until an instant.
    fn keep(&mut self, flow: FlowId, number: u64, until: Time) {
        self.later.push(Reverse((until, FlowIdOrder(flow.slot, flow.generation), number)));
    }

    /// Releases delayed pieces that are due.
    fn release_delayed(&mut self, now: Time) {
        while let Some(&Reverse((at, FlowIdOrder(slot, generation), number))) = self.later.peek()
            && at <= now
        {
            self.later.pop();
            if slot & DATAGRAMS != 0 {
                self.send_datagram(FlowId { slot, generation }, number, at);
            } else if let Some(way) = self.way(FlowId { slot, generation }) {
                way.stream.mark_delivered(number, at);
                self.enqueue(slot / 2);
            }
        }
    }

    /// The direction of a connection that a flow identifies, if it is still open.
    fn way(&mut self, flow: FlowId) -> Option<&mut Direction> {
        if self.generations.get(flow.slot as usize / 2) != Some(&flow.generation) {
            return None;
        }
        direction(&mut self.connections, flow.slot)
    }

    fn timers(&mut self, now: Time) {
        if self.settings.duration_ns.is_some_and(|end| Time::from_ns(end) <= now) {
            self.stopped = Some("duration");
        }
        if self.accept_again <= now {
            self.accept_again = Time::NEVER;
            self.accepting = true;
            for index in 0..self.listeners.len() {
                if matches!(self.listeners[index], Open::Tcp(_)) {
                    self.accept(index, now);
                }
            }
        }
    }

    /// The results so far.
    fn account(&self) -> Value {
        let links = account::links(&self.settings, &self.wan);
        let Counts { accepted, refused, failed, completed, broken, open_most, .. } = self.counts;
        json!({
            "duration_ns": self.clock.now().ns(),
            "links": links,
            "connections": {
                "accepted": accepted, "refused": refused, "failed": failed, "completed": completed,
                "broken": broken, "open": self.open, "open_most": open_most,
            },
            "bytes": self.counts.bytes,
            "held_bytes": self.held,
            "pieces": self.lateness.count(),
            "retransmitted_pieces": self.counts.retransmitted,
            "datagrams": self.counts.datagrams,
            "datagrams_ended": self.counts.datagrams_ended,
            "no_descriptors": self.counts.exhausted,
            "no_memory": self.counts.no_memory,
            "stalled_bytes": self.counts.stalled_bytes,
            "lateness_ns": account::lateness(&self.lateness),
            "cpu_ns": processor_ns() - self.spent_ns,
            "slept_ns": self.sleeper.slept.ns(),
        })
    }

    fn finish(mut self) -> Value {
        for slot in 0..self.connections.len() {
            if let Some(connection) = &mut self.connections[slot] {
                connection.end.get_or_insert(CloseReason::RelayEnded);
                self.close(slot as u32);
            }
        }
        let mut account = self.account();
        let written = self.log.close();
        account["reason"] = json!(self.stopped.unwrap_or("stopped"));
        account["log"] = json!({ "rows": written.rows, "dropped": written.dropped, "error": written.error });
        self.control.close(&account);
        let path = self.directory.join("raw").join("relay.json");
        if let Err(error) = replace(&*self.storage, &path, account.to_string().as_bytes()) {
            account["log"]["error"] = json!(format!("cannot write {}: {error}", path.display()));
        }
        account
    }
}

/// Watches a descriptor.
fn watch(
    epoll: &Epoll,
    fd: impl AsFd,
    flags: EpollFlags,
    kind: u64,
    slot: u32,
    generation: u32,
) -> Result<(), Error> {
    let data = kind << 60 | u64::from(generation & 0x0fff_ffff) << 32 | u64::from(slot);
    epoll.add(fd, EpollEvent::new(flags, data)).map_err(Error::cannot("watch a descriptor"))
}

fn parts(data: u64) -> (u64, u32, u32) {
    (data >> 60, data as u32, (data >> 32) as u32 & 0x0fff_ffff)
}
