//! Reading, offering, releasing, writing.

use super::{DATAGRAMS, Gateway, TURN_BYTES, direction};
use crate::close_reason::CloseReason;
use crate::connection::{Connection, Direction, Phase, Upstream, Way, whole_messages};
use crate::log::{ClosedConnection, Message};
use crate::settings::Framing;
use crate::sockets::{Read, Socket};
use crate::socks::{Reply, reply};
use crate::stream::Mark;
use crate::wan::{FlowId, Piece};
use longhaul_units::{Span, Time};
use std::cmp::Reverse;
use std::io::IoSlice;

/// The least buffer of each direction of a connection, however many there are.
const LEAST_SHARE: usize = 16 << 10;

impl Gateway {
    /// Reads from both ends of a connection, and offers the bytes to the WAN.
    pub(super) fn read_sources(&mut self, slot: u32, now: Time) {
        let Some(mut connection) = self.connections[slot as usize].take() else { return };
        connection.listed = false;
        if matches!(connection.phase, Phase::Handshake(_)) {
            self.read_socks_request(&mut connection, slot, now);
        }
        if matches!(connection.phase, Phase::Opening) {
            self.continue_opening(&mut connection, now);
        }
        if connection.end.is_none() {
            if matches!(connection.phase, Phase::Open) {
                self.read(&mut connection, Way::Forward, now);
            }
            if matches!(connection.upstream, Upstream::Open(_)) {
                self.read(&mut connection, Way::Back, now);
            }
            connection.notice_breaks(now);
        }
        self.connections[slot as usize] = Some(connection);
        self.enqueue(slot);
    }

    fn read(&mut self, connection: &mut Connection, way: Way, now: Time) {
        let share = self.share();
        let (serial, clusters) = (connection.serial, (connection.from, connection.to));
        let Some((source, mut sink, direction)) = ends(connection, way) else { return };
        let whole = self.settings.framing == Framing::LengthPrefixed;
        let longest = self.longest(direction);
        let most = direction.buffer.min(share);
        let mut taken = 0;
        while source.readable && !direction.ended && taken < TURN_BYTES {
            let held = direction.stream.held() + direction.partial.len();
            // A message that is not complete yet must be read whatever its length.
            let most = if whole && direction.stream.held() == 0 { longest } else { most };
            let room = most.saturating_sub(held).min(self.scratch.len());
            let short = self.held as u64 >= self.settings.memory_bytes;
            if room == 0 || (short && held > 0) {
                self.counts.no_memory += u64::from(short);
                source.mark_readable();
                return;
            }
            let mark = match source.read(&mut self.scratch[..room], self.clock, now) {
                Read::Nothing => return,
                Read::Bytes(bytes, arrived) => {
                    taken += bytes;
                    let plain = self.wan.is_plain(direction.route) && direction.stream.is_empty();
                    let untouched = !whole && self.wrapper.is_none();
                    let mut written = 0;
                    if plain
                        && untouched
                        && let Some(sink) = sink.as_deref_mut().filter(|sink| sink.writable)
                    {
                        // The write of the rest reports an error of this one.
                        written = sink.write(&[IoSlice::new(&self.scratch[..bytes])]).unwrap_or(0);
                        direction.bytes += written as u64;
                        self.counts.bytes += written as u64;
                    }
                    let data = &self.scratch[written..bytes];
                    if untouched {
                        self.held += data.len();
                        direction.stream.reserve(data.len(), &mut self.pool);
                        direction.stream.append(arrived, data, direction.piece);
                        continue;
                    }
                    match whole_messages(self.settings.framing, &mut direction.partial, data, longest) {
                        Ok(messages) => {
                            for mut message in messages {
                                let mut extra = Span::ZERO;
                                if let Some(wrapper) = &mut self.wrapper {
                                    let (from, to) = match way {
                                        Way::Forward => clusters,
                                        Way::Back => (clusters.1, clusters.0),
                                    };
                                    extra = wrapper.operation(serial, from, to, &mut message);
                                }
                                self.held += message.len();
                                direction.stream.append(arrived, &message, direction.piece);
                                direction.stream.delay_latest(extra);
                            }
                            continue;
                        }
                        Err(()) => Mark::Reset,
                    }
                }
                Read::End => Mark::End,
                Read::Broken => Mark::Reset,
            };
            let rest = std::mem::take(&mut direction.partial);
            self.held += rest.len();
            direction.stream.append(now, &rest, direction.piece);
            direction.stream.append_mark(now, mark);
            direction.ended = true;
        }
    }

    /// Offers what was read in this turn and arrived before the next change, in order of arrival, as far as
    /// there is room. A source that is read after another may have been there before it.
    pub(super) fn offer_arrived(&mut self) {
        let change = self.next_change();
        let mut arrivals = std::mem::take(&mut self.arrivals);
        self.sessions.sort_received();
        // The datagrams of all sessions are one source.
        let sources = self.list.iter().flat_map(|&slot| [slot * 2, slot * 2 + 1]).chain([DATAGRAMS]);
        arrivals.extend(sources.filter_map(|source| Some(Reverse((self.next_arrival(source)?, source)))));
        while let Some(Reverse((arrived, source))) = arrivals.pop()
            && arrived < change
        {
            if source == DATAGRAMS {
                self.sessions.offer_next(&mut self.wan);
            } else if let Some(way) = direction(&mut self.connections, source) {
                way.offer_next(&mut self.wan);
            }
            if let Some(next) = self.next_arrival(source) {
                arrivals.push(Reverse((next, source)));
            }
        }
        arrivals.clear();
        self.arrivals = arrivals;
    }

    /// When the next piece that a source can offer arrived: a direction of a connection, or all datagrams.
    fn next_arrival(&self, source: u32) -> Option<Time> {
        if source == DATAGRAMS {
            return self.sessions.next_arrival();
        }
        let connection = self.connections.get(source as usize / 2)?.as_ref()?;
        connection.ways.as_ref()?[source as usize % 2].next_arrival()
    }

    /// Offers the next piece of a blocked flow, for which its first link has room.
    pub(super) fn offer_blocked(&mut self, flow: FlowId, now: Time) {
        let Some(way) = self.way(flow) else { return };
        way.blocked = false;
        let lost = std::iter::from_fn(|| way.lost.pop_front())
            .find_map(|number| Some((number, way.stream.undelivered_bytes(number)?)));
        let Some((number, bytes)) = lost.or_else(|| way.stream.next()) else { return };
        if lost.is_some() {
            way.stream.mark_retransmitted(number);
            self.counts.retransmitted += 1;
        } else {
            way.stream.mark_offered();
        }
        let Some(way) = self.way(flow) else { return };
        let (route, more) = (way.route, !way.lost.is_empty() || way.stream.next().is_some());
        way.blocked = more;
        self.wan.offer(now, Piece::new(flow, number, bytes, route));
        if more {
            self.wan.wait(route, flow);
        }
    }

    /// Writes the pieces that the WAN has delivered.
    pub(super) fn write_sinks(&mut self, slot: u32, now: Time) {
        let Some(mut connection) = self.connections[slot as usize].take() else { return };
        connection.listed = false;
        write_reply(&mut connection);
        for way in [Way::Forward, Way::Back] {
            self.release(&mut connection, slot, way, now);
            self.write(&mut connection, way, now);
        }
        if connection.is_done() {
            connection.end.get_or_insert(CloseReason::Completed);
        }
        let over = connection.end.is_some();
        let to_offer = connection.ways.iter().flatten().any(|way| way.next_arrival().is_some());
        let goes_on = !over && (self.can_read_more(&mut connection, slot) || to_offer);
        self.connections[slot as usize] = Some(connection);
        if over {
            self.close(slot);
        } else if goes_on {
            self.enqueue(slot);
        }
    }

    fn release(&mut self, connection: &mut Connection, slot: u32, way: Way, now: Time) {
        loop {
            let Some(ways) = &mut connection.ways else { return };
            let Some(released) = ways[way as usize].stream.release() else { return };
            match (released.mark, way) {
                (Mark::Data(_), _) => {}
                (Mark::Open, Way::Forward) => self.connect(connection, slot, now),
                (Mark::Open, Way::Back) => {
                    connection.phase = Phase::Open;
                    connection.client.readable = true;
                    // Bytes that the client has already sent count as arriving now, because they would have waited for this.
                    connection.client.mark_readable();
                    if connection.wants_reply {
                        connection.pending_reply.extend(reply(Reply::Succeeded));
                        write_reply(connection);
                    }
                }
                (Mark::End | Mark::Reset, _) => ways[way as usize].closing = Some(released.mark),
            }
        }
    }

    fn write(&mut self, connection: &mut Connection, way: Way, now: Time) {
        let (serial, mut from, mut to) = (connection.serial, connection.from, connection.to);
        if way == Way::Back {
            if !connection.pending_reply.is_empty() {
                return;
            }
            (from, to) = (to, from);
        }
        let Some((sink, direction)) = sink(connection, way) else { return };
        let mut broken = false;
        while sink.writable && direction.stream.ready() > 0 && !direction.done {
            let Ok(bytes) = sink.write(&direction.stream.writable()) else {
                broken = true;
                break;
            };
            let written = self.clock.now();
            direction.bytes += bytes as u64;
            self.counts.bytes += bytes as u64;
            self.held -= bytes;
            // The lateness of bytes that wait for a slow reader is not the relay's.
            let measured = !self.wan.is_plain(direction.route) && !direction.stalled;
            if direction.stalled {
                self.counts.stalled_bytes += bytes as u64;
            }
            let (lateness, log) = (&mut self.lateness, &mut self.log);
            direction.stream.mark_written(bytes, |piece| {
                if measured && let Mark::Data(bytes) = piece.mark {
                    lateness.add(written.since(piece.due), 1);
                    let (arrived, due) = (piece.arrived, piece.due);
                    log.message(Message { connection: serial, from, to, arrived, due, written, bytes });
                }
            });
        }
        direction.stream.rest(&mut self.pool);
        let written = direction.stream.ready() == 0;
        direction.stalled = !written;
        match direction.closing {
            Some(Mark::End) if written && !direction.done => {
                sink.end();
                direction.done = true;
            }
            Some(Mark::Reset) => reset_connection(connection, way),
            _ => {}
        }
        if broken {
            connection.fail(way, now);
        }
    }

    /// Closes a connection and frees its slot and its memory.
    pub(super) fn close(&mut self, slot: u32) {
        let Some(mut connection) = self.connections[slot as usize].take() else { return };
        write_reply(&mut connection);
        self.held -= connection.held_in_streams();
        let mut bytes = [0, 0];
        for (way, total) in connection.ways.iter().flatten().zip(&mut bytes) {
            self.wan.close(way.route);
            *total = way.bytes;
        }
        let reason = connection.end.unwrap_or(CloseReason::Completed);
        match reason {
            _ if connection.counted => {}
            CloseReason::Completed => self.counts.completed += 1,
            CloseReason::Reset | CloseReason::RelayEnded => self.counts.broken += 1,
            _ => self.counts.failed += 1,
        }
        let Connection { serial, listener, client_address, target, from, to, opened, .. } = &*connection;
        let name =
            |index: usize| self.settings.clusters.get(index).map_or("", |cluster| cluster.name.as_str());
        let (from, to) = (name(*from), if connection.ways.is_some() { name(*to) } else { "" });
        self.log.connection(ClosedConnection {
            serial: *serial,
            listener: *listener,
            from: from.to_owned(),
            to: to.to_owned(),
            client: *client_address,
            target: *target,
            opened: *opened,
            closed: self.clock.now(),
            bytes,
            reason,
        });
        let generation = &mut self.generations[slot as usize];
        *generation = (*generation + 1) & 0x0fff_ffff;
        self.free.push(slot);
        self.open -= 1;
    }

    /// Whether there is something to read and room for it; a connection without memory is queued for it.
    fn can_read_more(&mut self, connection: &mut Connection, slot: u32) -> bool {
        let mut more = false;
        let mut starves = false;
        let short = self.held as u64 >= self.settings.memory_bytes;
        let share = self.share();
        let whole = self.settings.framing == Framing::LengthPrefixed;
        let open = matches!(connection.phase, Phase::Open);
        for way in [Way::Forward, Way::Back] {
            if way == Way::Forward && !open {
                continue;
            }
            let Some((source, _, direction)) = ends(connection, way) else { continue };
            let held = direction.stream.held() + direction.partial.len();
            let alone = whole && direction.stream.held() == 0;
            let most = if alone { self.longest(direction) } else { direction.buffer.min(share) };
            if source.readable && !direction.ended && held < most {
                starves |= short && held > 0;
                more |= !(short && held > 0);
            }
        }
        if starves && !more {
            self.starving.insert(slot);
        }
        more
    }

    /// Resumes connections that wait for memory when there is some.
    pub(super) fn resume_starving(&mut self) {
        if !self.starving.is_empty() && (self.held as u64) < self.settings.memory_bytes / 8 * 7 {
            for slot in std::mem::take(&mut self.starving) {
                self.enqueue(slot);
            }
        }
    }

    /// Bytes of the longest message, where messages have a length.
    fn longest(&self, direction: &Direction) -> usize {
        direction.buffer.max(self.settings.memory_bytes as usize / 4)
    }

    /// The bytes that each direction of a connection may buffer, so that all together stay within the memory limit.
    fn share(&self) -> usize {
        (self.settings.memory_bytes as usize / (2 * self.open.max(1))).max(LEAST_SHARE)
    }
}

/// The source of a direction, its sink if that is open yet, and its state.
fn ends(connection: &mut Connection, way: Way) -> Option<(&mut Socket, Option<&mut Socket>, &mut Direction)> {
    let [forward, back] = connection.ways.as_mut()?;
    let upstream = match &mut connection.upstream {
        Upstream::Open(socket) => Some(socket),
        _ => None,
    };
    match way {
        Way::Forward => Some((&mut connection.client, upstream, forward)),
        Way::Back => Some((upstream?, Some(&mut connection.client), back)),
    }
}

fn write_reply(connection: &mut Connection) {
    if !connection.pending_reply.is_empty() && connection.client.writable {
        let said = connection
            .client
            .write(&[IoSlice::new(&connection.pending_reply)])
            .unwrap_or(connection.pending_reply.len());
        connection.pending_reply.drain(..said);
    }
}

/// Resets the end that `way` leads to, because the other end is gone.
fn reset_connection(connection: &mut Connection, way: Way) {
    match connection.refusal {
        Some(code) if way == Way::Back && connection.wants_reply => {
            connection.pending_reply.extend(reply(code));
            write_reply(connection);
        }
        _ => {
            if let Some((sink, _)) = sink(connection, way) {
                sink.reset_on_close();
            }
        }
    }
    let reason = connection.reason.unwrap_or(CloseReason::Reset);
    connection.end.get_or_insert(reason);
}

/// The sink of a direction, and its state.
fn sink(connection: &mut Connection, way: Way) -> Option<(&mut Socket, &mut Direction)> {
    let [forward, back] = connection.ways.as_mut()?;
    match (way, &mut connection.upstream) {
        (Way::Back, _) => Some((&mut connection.client, back)),
        (Way::Forward, Upstream::Open(socket)) => Some((socket, forward)),
        (Way::Forward, _) => None,
    }
}
