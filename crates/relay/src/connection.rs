//! A connection through the gateway: two sockets, two streams between them.

use crate::close_reason::CloseReason;
use crate::settings::Framing;
use crate::sockets::Socket;
use crate::socks;
use crate::stream::{Mark, Stream};
use crate::wan::{FlowId, Piece, RouteId, Wan};
use longhaul_units::Time;
use std::collections::VecDeque;
use std::net::SocketAddr;

/// The two directions of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// From the client to the target.
    Forward,
    /// From the target to the client.
    Back,
}

impl Way {
    /// The other one.
    pub fn other(self) -> Self {
        match self {
            Way::Forward => Way::Back,
            Way::Back => Way::Forward,
        }
    }
}

/// The state of a connection.
#[derive(Debug)]
pub enum Phase {
    /// The client negotiates SOCKS.
    Handshake(socks::Server),
    /// The name of the target is looked up.
    Resolving,
    /// The request to connect, or its answer, is in the WAN.
    Opening,
    /// Both ends are connected.
    Open,
}

/// How the gateway reaches the target.
#[derive(Debug)]
pub enum Upstream {
    /// Not yet.
    None,
    /// The kernel connects.
    Connecting(Socket),
    /// Another gateway connects, by SOCKS.
    Handshaking(Socket, socks::Client),
    /// There is a connection.
    Open(Socket),
}

impl Upstream {
    /// The socket, if there is one.
    pub fn socket(&mut self) -> Option<&mut Socket> {
        match self {
            Upstream::None => None,
            Upstream::Connecting(socket) | Upstream::Handshaking(socket, _) | Upstream::Open(socket) => {
                Some(socket)
            }
        }
    }
}

/// The state of one direction.
#[derive(Debug)]
pub struct Direction {
    /// Bytes that were read and not written yet.
    pub stream: Stream,
    /// The route of its pieces.
    pub route: RouteId,
    /// The owner of its pieces.
    pub flow: FlowId,
    /// Most bytes of a piece.
    pub piece: u32,
    /// Most bytes held.
    pub buffer: usize,
    /// Whether it waits for room on the first link.
    pub blocked: bool,
    /// Lost pieces that wait for room, before all others.
    pub lost: VecDeque<u64>,
    /// Whether the end of the source was read.
    pub ended: bool,
    /// Whether the end was written.
    pub done: bool,
    /// The last mark, which takes effect when all bytes before it are written.
    pub closing: Option<Mark>,
    /// Whether its reader is slower than the link.
    pub stalled: bool,
    /// Bytes passed on.
    pub bytes: u64,
    /// The beginning of an incomplete message, where messages have a length.
    pub partial: Vec<u8>,
}

impl Direction {
    /// When the next piece to be offered arrived; `None`: there is none, or no room for it.
    pub fn next_arrival(&self) -> Option<Time> {
        self.stream.next().filter(|_| !self.blocked).map(|_| self.stream.next_arrived())
    }

    /// Offers the next piece, or waits for room.
    pub fn offer_next(&mut self, wan: &mut Wan) {
        let Some((number, bytes)) = self.stream.next() else { return };
        let piece = Piece::new(self.flow, number, bytes, self.route);
        if wan.try_offer(self.stream.next_arrived(), piece) {
            self.stream.mark_offered();
        } else {
            self.blocked = true;
        }
    }
}

/// A connection.
#[derive(Debug)]
pub struct Connection {
    /// Counts from 1.
    pub serial: u64,
    /// The index of its listener.
    pub listener: usize,
    /// The client's socket.
    pub client: Socket,
    /// The client's address.
    pub client_address: SocketAddr,
    /// The state of the connection to the target.
    pub upstream: Upstream,
    /// The target.
    pub target: Option<SocketAddr>,
    /// The client's sub-cluster.
    pub from: usize,
    /// The target's.
    pub to: usize,
    /// The state of a connection.
    pub phase: Phase,
    /// Whether the client waits for a SOCKS reply.
    pub wants_reply: bool,
    /// Both directions, once the target is known.
    pub ways: Option<[Direction; 2]>,
    /// SOCKS replies that are to be written to the client.
    pub pending_reply: Vec<u8>,
    /// When it was accepted.
    pub opened: Time,
    /// Whether it is in the list of connections that the turn handles.
    pub listed: bool,
    /// The SOCKS reply if the target was not reached.
    pub refusal: Option<socks::Reply>,
    /// The same for the log.
    pub reason: Option<CloseReason>,
    /// Why it is to be closed.
    pub end: Option<CloseReason>,
    /// Whether it is already counted as refused or failed.
    pub counted: bool,
}

impl Connection {
    /// A connection that was just accepted.
    pub fn new(
        serial: u64,
        listener: usize,
        client: Socket,
        address: SocketAddr,
        from: usize,
        now: Time,
    ) -> Self {
        Connection {
            serial,
            listener,
            client,
            client_address: address,
            upstream: Upstream::None,
            target: None,
            from,
            to: from,
            phase: Phase::Opening,
            wants_reply: false,
            ways: None,
            pending_reply: Vec::new(),
            opened: now,
            listed: false,
            refusal: None,
            reason: None,
            end: None,
            counted: false,
        }
    }

    /// Bytes that it holds.
    pub fn held_in_streams(&self) -> usize {
        self.ways.iter().flatten().map(|way| way.stream.held()).sum()
    }

    /// Where one way ends, nobody listens any longer: who speaks that way hears of it.
    pub fn fail(&mut self, way: Way, now: Time) {
        let Some(ways) = &mut self.ways else { return };
        ways[way as usize].done = true;
        let other = &mut ways[way.other() as usize];
        if !other.ended {
            other.ended = true;
            other.stream.append_mark(now, Mark::Reset);
        }
    }

    /// Who has said that nothing more comes is not read any longer; if it breaks off later, nobody listens
    /// at that end, which must be noticed though the other one may never speak.
    pub fn notice_breaks(&mut self, now: Time) {
        let Some([forward, back]) = &self.ways else { return };
        let client = self.client.broken && forward.ended && !back.done;
        let target = back.ended && !forward.done && matches!(&self.upstream, Upstream::Open(it) if it.broken);
        if client {
            self.fail(Way::Back, now);
        }
        if target {
            self.fail(Way::Forward, now);
        }
    }

    /// Whether everything was passed on, both ways.
    pub fn is_done(&self) -> bool {
        self.ways.as_ref().is_some_and(|ways| ways.iter().all(|way| way.done))
    }
}

/// Takes whole messages out of what was read, if messages are told apart; what is not whole stays in
/// `partial`. An error if a message is longer than `most`.
pub fn whole_messages(
    framing: Framing,
    partial: &mut Vec<u8>,
    bytes: &[u8],
    most: usize,
) -> Result<Vec<Vec<u8>>, ()> {
    if framing == Framing::Stream {
        return Ok(vec![bytes.to_vec()]);
    }
    partial.extend_from_slice(bytes);
    let mut messages = Vec::new();
    let mut at = 0;
    while let Some(&[a, b, c, d]) = partial.get(at..at + 4) {
        let length = 4 + u32::from_be_bytes([a, b, c, d]) as usize;
        if length > most {
            return Err(());
        }
        let Some(message) = partial.get(at..at + length) else { break };
        messages.push(message.to_vec());
        at += length;
    }
    partial.drain(..at);
    Ok(messages)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_told_apart_by_their_lengths() {
        let mut partial = Vec::new();
        let all: Vec<u8> = [&[0, 0, 0, 2, 7, 8][..], &[0, 0, 0, 0], &[0, 0, 1, 0], &[9; 256]].concat();
        let mut messages = Vec::new();
        for chunk in all.chunks(5) {
            messages.extend(whole_messages(Framing::LengthPrefixed, &mut partial, chunk, 1000).unwrap());
        }
        assert_eq!(messages.iter().map(Vec::len).collect::<Vec<_>>(), [6, 4, 260]);
        assert_eq!(messages.concat(), all);
        assert!(whole_messages(Framing::LengthPrefixed, &mut partial, &[0, 1, 0, 0], 1000).is_err());
    }
}
