//! UDP sessions: datagrams from a client to the target, and from the target back to that client.

use super::{DATAGRAMS, Gateway, Open, kind, watch};
use crate::clock::{Clock, unix_ns};
use crate::log::Message;
use crate::settings::Listener;
use crate::wan::{FlowId, Piece, RouteId, Wan};
use longhaul_units::{Span, Time};
use nix::cmsg_space;
use nix::sys::epoll::EpollFlags;
use nix::sys::socket::{ControlMessageOwned, MsgFlags, SockaddrStorage, recvmsg, setsockopt, sockopt};
use nix::sys::time::TimeSpec;
use std::collections::{HashMap, VecDeque};
use std::io::{self, IoSliceMut};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::os::fd::AsRawFd;

/// A session without datagrams for this long has ended.
const IDLE: Span = Span::from_s(120);
/// Interval between two checks for such sessions.
const IDLE_CHECK_INTERVAL: Span = Span::from_s(10);
/// Datagrams taken from one socket in one turn.
const TURN_DATAGRAMS: usize = 256;
const LARGEST: usize = 65_536;

/// All sessions.
#[derive(Debug, Default)]
pub struct Sessions {
    all: Vec<Option<Session>>,
    generations: Vec<u32>,
    free: Vec<u32>,
    by_client: HashMap<(usize, SocketAddr), u32>,
    /// Datagrams that are to be offered, and when they arrived.
    received: VecDeque<(Time, Piece)>,
    looked: Time,
}

/// A client and a target that exchange datagrams.
#[derive(Debug)]
struct Session {
    serial: u64,
    listener: usize,
    client: SocketAddr,
    upstream: UdpSocket,
    clusters: (usize, usize),
    ways: [Way; 2],
    latest: Time,
}

#[derive(Debug)]
struct Way {
    route: RouteId,
    next: u64,
    /// Datagrams in the WAN, by their numbers.
    flying: HashMap<u64, Datagram>,
}

#[derive(Debug)]
struct Datagram {
    arrived: Time,
    data: Vec<u8>,
    /// Copies in the WAN.
    copies: u32,
    /// Delay that a wrapper adds to that of the WAN.
    extra: Span,
}

impl Sessions {
    /// Whether datagrams wait for a change, to be offered after it.
    pub fn wait_for_change(&self) -> bool {
        !self.received.is_empty()
    }

    /// Puts what was received from all sockets in order of arrival.
    pub fn sort_received(&mut self) {
        self.received.make_contiguous().sort_by_key(|(arrived, _)| *arrived);
    }

    /// When the next datagram to be offered arrived.
    pub fn next_arrival(&self) -> Option<Time> {
        self.received.front().map(|(arrived, _)| *arrived)
    }

    /// Offers the next datagram.
    pub fn offer_next(&mut self, wan: &mut Wan) {
        if let Some((arrived, piece)) = self.received.pop_front() {
            wan.offer(arrived, piece);
        }
    }

    /// When idle sessions are closed next.
    pub fn next_idle_check(&self) -> Time {
        if self.by_client.is_empty() { Time::NEVER } else { self.looked + IDLE_CHECK_INTERVAL }
    }
}

/// Prepares a socket that receives datagrams.
pub fn prepare(socket: &UdpSocket) -> io::Result<()> {
    socket.set_nonblocking(true)?;
    let _ = setsockopt(socket, sockopt::ReceiveTimestampns, &true);
    // As large as the system allows: bursts must not be lost before they are counted.
    let _ = setsockopt(socket, sockopt::RcvBuf, &(8 << 20));
    Ok(())
}

impl Gateway {
    /// Receives datagrams of clients at a listener.
    pub(super) fn receive_from_clients(&mut self, index: usize, now: Time) {
        for _ in 0..TURN_DATAGRAMS {
            let Open::Udp(socket) = &self.listeners[index] else { return };
            let Some((bytes, client, arrived)) = receive(socket, &mut self.scratch, self.clock, now) else {
                return;
            };
            let Some(client) = client else { continue };
            let known = self.sessions.by_client.get(&(index, client)).copied();
            match known.or_else(|| self.begin_session(index, client, now)) {
                Some(slot) => self.offer_datagram(slot, 0, bytes, arrived, now),
                None => self.counts.datagrams_ended += 1,
            }
        }
    }

    /// Receives datagrams of the target of a session.
    pub(super) fn receive_from_target(&mut self, slot: u32, generation: u32, now: Time) {
        if self.sessions.generations.get(slot as usize) != Some(&generation) {
            return;
        }
        for _ in 0..TURN_DATAGRAMS {
            let Some(Some(session)) = self.sessions.all.get(slot as usize) else { return };
            let Some((bytes, _, arrived)) = receive(&session.upstream, &mut self.scratch, self.clock, now)
            else {
                return;
            };
            self.offer_datagram(slot, 1, bytes, arrived, now);
        }
    }

    fn begin_session(&mut self, index: usize, client: SocketAddr, now: Time) -> Option<u32> {
        let Listener::Datagrams { target, from, to, .. } = self.settings.listeners[index].clone() else {
            return None;
        };
        let from = from.or_else(|| self.settings.cluster_of(client.ip()));
        let to = to.or_else(|| self.settings.cluster_of(target.ip()));
        let (from, to) = from.zip(to).filter(|_| self.open < self.most).or_else(|| {
            self.counts.refused += 1;
            None
        })?;
        let any: IpAddr =
            if target.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() };
        let upstream = UdpSocket::bind((any, 0)).ok()?;
        upstream.connect(target).ok()?;
        prepare(&upstream).ok()?;
        let mut way = |from: usize, to: usize| {
            let route = if self.settings.delays_into(to) { self.wan.open(from, to)? } else { self.plain };
            Some(Way { route, next: 0, flying: HashMap::new() })
        };
        let ways = [way(from, to)?, way(to, from)?];
        let sessions = &mut self.sessions;
        let slot = sessions.free.pop().unwrap_or_else(|| {
            sessions.all.push(None);
            sessions.generations.push(0);
            sessions.all.len() as u32 - 1
        });
        let generation = sessions.generations[slot as usize];
        watch(&self.epoll, &upstream, EpollFlags::EPOLLIN, kind::SESSION, slot, generation).ok()?;
        self.counts.accepted += 1;
        self.open += 1;
        self.counts.open_most = self.counts.open_most.max(self.open);
        let serial = self.counts.accepted;
        let clusters = (from, to);
        if sessions.by_client.is_empty() {
            sessions.looked = now;
        }
        sessions.by_client.insert((index, client), slot);
        let session = Session { serial, listener: index, client, upstream, clusters, ways, latest: now };
        sessions.all[slot as usize] = Some(session);
        Some(slot)
    }

    fn offer_datagram(&mut self, slot: u32, way: usize, bytes: usize, arrived: Time, now: Time) {
        let generation = self.sessions.generations[slot as usize];
        let Some(session) = &mut self.sessions.all[slot as usize] else { return };
        session.latest = now;
        self.counts.datagrams += 1;
        let serial = session.serial;
        let (from, to) = if way == 0 { session.clusters } else { (session.clusters.1, session.clusters.0) };
        let mut data = self.scratch[..bytes].to_vec();
        let mut extra = Span::ZERO;
        if let Some(wrapper) = &mut self.wrapper {
            extra = wrapper.operation(serial, from, to, &mut data);
        }
        if self.held + data.len() > self.settings.memory_bytes as usize {
            self.counts.no_memory += 1;
            self.counts.datagrams_ended += 1;
            return;
        }
        self.held += data.len();
        let direction = &mut session.ways[way];
        let flow = FlowId { slot: DATAGRAMS | (slot * 2 + way as u32), generation };
        let number = direction.next;
        direction.next += 1;
        let piece = Piece::new(flow, number, data.len() as u32, direction.route);
        direction.flying.insert(number, Datagram { arrived, data, copies: 1, extra });
        self.sessions.received.push_back((arrived, piece));
    }

    /// Counts duplicates of a datagram.
    pub(super) fn datagram_copied(&mut self, piece: Piece, copies: u32) {
        if let Some(flying) = self.flying(piece.flow, piece.number) {
            flying.copies += copies;
        }
    }

    fn flying(&mut self, flow: FlowId, number: u64) -> Option<&mut Datagram> {
        let (slot, way) = place(flow);
        if self.sessions.generations.get(slot) != Some(&flow.generation) {
            return None;
        }
        self.sessions.all.get_mut(slot)?.as_mut()?.ways[way].flying.get_mut(&number)
    }

    /// Sends a datagram that the WAN delivered, or delays it further.
    pub(super) fn datagram_delivered(&mut self, piece: Piece, due: Time) {
        match self.flying(piece.flow, piece.number).map(|datagram| datagram.extra) {
            Some(extra) if extra > Span::ZERO => self.keep(piece.flow, piece.number, due + extra),
            _ => self.send_datagram(piece.flow, piece.number, due),
        }
    }

    /// Sends a datagram that is due.
    pub(super) fn send_datagram(&mut self, flow: FlowId, number: u64, due: Time) {
        let (slot, way) = place(flow);
        if self.sessions.generations.get(slot) != Some(&flow.generation) {
            return;
        }
        let Some(Some(session)) = self.sessions.all.get(slot) else { return };
        let Some(Datagram { arrived, data, .. }) = session.ways[way].flying.get(&number) else { return };
        let sent = match way {
            0 => session.upstream.send(data),
            _ => match &self.listeners[session.listener] {
                Open::Udp(socket) => socket.send_to(data, session.client),
                Open::Tcp(_) => return,
            },
        };
        let written = self.clock.now();
        let (from, to) = if way == 0 { session.clusters } else { (session.clusters.1, session.clusters.0) };
        if sent.is_ok() {
            self.lateness.add(written.since(due), 1);
            self.counts.bytes += data.len() as u64;
            let (connection, bytes, arrived) = (session.serial, data.len() as u32, *arrived);
            self.log.message(Message { connection, from, to, arrived, due, written, bytes });
        } else {
            self.counts.datagrams_ended += 1;
        }
        self.end_copy(flow, number);
    }

    /// Counts a datagram that was lost in the WAN.
    pub(super) fn datagram_ended(&mut self, piece: Piece) {
        self.counts.datagrams_ended += 1;
        self.end_copy(piece.flow, piece.number);
    }

    fn end_copy(&mut self, flow: FlowId, number: u64) {
        let Some(datagram) = self.flying(flow, number) else { return };
        datagram.copies -= 1;
        if datagram.copies == 0 {
            let bytes = datagram.data.len();
            let (slot, way) = place(flow);
            if let Some(session) = &mut self.sessions.all[slot] {
                session.ways[way].flying.remove(&number);
            }
            self.held -= bytes;
        }
    }

    /// Closes sessions that have been idle for long.
    pub(super) fn close_idle_sessions(&mut self, now: Time) {
        if self.sessions.next_idle_check() > now {
            return;
        }
        self.sessions.looked = now;
        for slot in 0..self.sessions.all.len() {
            let idle = |session: &mut Session| now.since(session.latest) > IDLE;
            let Some(session) = self.sessions.all[slot].take_if(idle) else { continue };
            for way in &session.ways {
                self.held -= way.flying.values().map(|flying| flying.data.len()).sum::<usize>();
                self.wan.close(way.route);
            }
            self.sessions.by_client.remove(&(session.listener, session.client));
            let generation = &mut self.sessions.generations[slot];
            *generation = (*generation + 1) & 0x0fff_ffff;
            self.sessions.free.push(slot as u32);
            self.open -= 1;
            self.counts.completed += 1;
        }
    }
}

fn place(flow: FlowId) -> (usize, usize) {
    let place = (flow.slot & !DATAGRAMS) as usize;
    (place / 2, place % 2)
}

/// The next datagram: its length, its sender, and its arrival time; `None` if there is none.
fn receive(
    socket: &UdpSocket,
    buffer: &mut [u8],
    clock: Clock,
    now: Time,
) -> Option<(usize, Option<SocketAddr>, Time)> {
    let mut space = cmsg_space!(TimeSpec);
    let most = buffer.len().min(LARGEST);
    let mut parts = [IoSliceMut::new(&mut buffer[..most])];
    let message =
        recvmsg::<SockaddrStorage>(socket.as_raw_fd(), &mut parts, Some(&mut space), MsgFlags::empty())
            .ok()?;
    let stamp = message.cmsgs().ok().and_then(|mut all| {
        all.find_map(|each| match each {
            ControlMessageOwned::ScmTimestampns(time) => {
                Some(time.tv_sec() as u64 * 1_000_000_000 + time.tv_nsec() as u64)
            }
            _ => None,
        })
    });
    let from = message.address.and_then(|address| {
        let ipv4 = address.as_sockaddr_in().map(|it| SocketAddr::from((it.ip(), it.port())));
        ipv4.or_else(|| address.as_sockaddr_in6().map(|it| SocketAddr::from((it.ip(), it.port()))))
    });
    let arrived = stamp.map_or(now, |stamp_ns| {
        let age = Span::from_ns(unix_ns().saturating_sub(stamp_ns)).min(Span::from_ms(200));
        Time::from_ps(clock.now().ps().saturating_sub(age.ps()))
    });
    Some((message.bytes, from, arrived))
}
