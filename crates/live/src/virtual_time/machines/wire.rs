//! The messages between the controller of the clock and the machines of hosts.
//!
//! A message is its length without these first four bytes (u32), its kind (u8) and its contents; numbers are little-endian.

use longhaul_virtual::{GuestCounters, Port, Sent};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// A longer message is invalid: the peer does not speak this protocol.
const MOST_BYTES: usize = 1 << 30;
const HEADER_BYTES: usize = 5;
/// No time.
const NEVER: u64 = u64::MAX;

/// The kind of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// In both directions: the connection is alive.
    Keepalive = 0,
    /// To a machine: let the hosts run; a [`RunMessage`].
    Run = 1,
    /// To a machine: keep this line with what a kernel says.
    Log = 2,
    /// To a machine: send the counters.
    Count = 3,
    /// To a machine: end the hosts, and send their files.
    Finish = 4,
    /// Of a machine: the kernels boot; [`Started`] in JSON.
    Started = 16,
    /// Of a machine: it cannot go on; [`Failed`] in JSON.
    Failed = 17,
    /// Of a machine: these hosts run, and have sent no message for a while.
    Silent = 18,
    /// Of a machine: a [`Reached`].
    Reached = 19,
    /// Of a machine: the counters of its hosts.
    Counters = 20,
    /// Of a machine: a piece of the archive of its hosts' files; an empty one is the end.
    Files = 21,
}

impl Kind {
    const ALL: [Kind; 11] = [
        Kind::Keepalive,
        Kind::Run,
        Kind::Log,
        Kind::Count,
        Kind::Finish,
        Kind::Started,
        Kind::Failed,
        Kind::Silent,
        Kind::Reached,
        Kind::Counters,
        Kind::Files,
    ];
}

/// What a machine says when its kernels boot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Started {
    /// What its hosts are to become, as it names the file.
    pub setup_file: PathBuf,
}

/// Why a machine cannot go on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failed {
    /// What is wrong.
    pub message: String,
    /// What helps, if that is known.
    pub remedy: Option<String>,
}

/// What a machine has done up to a horizon.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Reached {
    /// When a host has something to do next.
    pub next_ns: Option<u64>,
    /// Hosts whose kernels have ended, and how.
    pub ended: Vec<(usize, String)>,
    /// In order of time.
    pub sent: Vec<Sent>,
}

/// Bytes that are no message of this protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an invalid message")]
pub struct InvalidMessage;

/// Adds a message to `out`, with the contents that `write` adds.
pub fn message(out: &mut Vec<u8>, kind: Kind, write: impl FnOnce(&mut Vec<u8>)) {
    let begin = out.len();
    out.extend_from_slice(&[0, 0, 0, 0, kind as u8]);
    write(out);
    let length = (out.len() - begin - 4) as u32;
    out[begin..begin + 4].copy_from_slice(&length.to_le_bytes());
}

/// A message of this kind alone, with `content`.
pub fn message_of(kind: Kind, content: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    message(&mut out, kind, |out| out.extend_from_slice(content));
    out
}

/// A message of [`Kind::Run`]: how far hosts may run, and what comes to them until then.
pub struct RunMessage(Vec<u8>);

impl RunMessage {
    /// Nothing comes.
    pub fn new() -> Self {
        let mut empty = Vec::new();
        message(&mut empty, Kind::Run, |out| put_u64(out, 0));
        RunMessage(empty)
    }

    /// Adds what comes to a host.
    pub fn add(&mut self, host: usize, due_ns: u64, port: Port, bytes: &[u8]) {
        put_u64(&mut self.0, due_ns);
        put_packet(&mut self.0, host, port, bytes);
    }

    /// The message, with the horizon.
    pub fn finished(&mut self, horizon_ns: u64) -> &[u8] {
        let length = (self.0.len() - 4) as u32;
        self.0[..4].copy_from_slice(&length.to_le_bytes());
        self.0[HEADER_BYTES..HEADER_BYTES + 8].copy_from_slice(&horizon_ns.to_le_bytes());
        &self.0
    }

    /// Forgets what came.
    pub fn clear(&mut self) {
        self.0.truncate(HEADER_BYTES + 8);
    }
}

/// Adds the contents of [`Kind::Reached`].
pub fn put_reached(out: &mut Vec<u8>, next_ns: Option<u64>, ended: &[(usize, String)], sent: &[Sent]) {
    put_u64(out, next_ns.unwrap_or(NEVER));
    put_u32(out, ended.len());
    for (host, how) in ended {
        put_u32(out, *host);
        put_bytes(out, how.as_bytes());
    }
    for Sent { at_ns, guest, port, bytes } in sent {
        put_u64(out, *at_ns);
        put_packet(out, *guest, *port, bytes);
    }
}

/// Adds numbers of hosts, the contents of [`Kind::Silent`].
pub fn put_hosts(out: &mut Vec<u8>, hosts: &[usize]) {
    for &host in hosts {
        put_u32(out, host);
    }
}

/// Adds the contents of [`Kind::Log`].
pub fn put_line(out: &mut Vec<u8>, host: usize, line: &[u8]) {
    put_u32(out, host);
    put_bytes(out, line);
}

/// Adds the contents of [`Kind::Counters`].
pub fn put_counters(out: &mut Vec<u8>, counters: &[(usize, GuestCounters)]) {
    for (host, each) in counters {
        put_u32(out, *host);
        let GuestCounters { runs, interrupts, delivered, no_room, late, most_late_ns } = *each;
        for count in [runs, interrupts, delivered, no_room, late, most_late_ns] {
            put_u64(out, count);
        }
    }
}

fn put_u64(out: &mut Vec<u8>, value: u64) {
    out.extend_from_slice(&value.to_le_bytes());
}

fn put_u32(out: &mut Vec<u8>, value: usize) {
    out.extend_from_slice(&(value as u32).to_le_bytes());
}

fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    put_u32(out, bytes.len());
    out.extend_from_slice(bytes);
}

fn put_packet(out: &mut Vec<u8>, host: usize, port: Port, bytes: &[u8]) {
    put_u32(out, host);
    out.push(port.place() as u8);
    put_bytes(out, bytes);
}

/// The contents of a message, as they are read.
pub struct Contents<'a>(&'a [u8]);

impl<'a> Contents<'a> {
    /// Whether nothing is left.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn bytes(&mut self, count: usize) -> Result<&'a [u8], InvalidMessage> {
        let (bytes, rest) = self.0.split_at_checked(count).ok_or(InvalidMessage)?;
        self.0 = rest;
        Ok(bytes)
    }

    /// The next number.
    pub fn u64(&mut self) -> Result<u64, InvalidMessage> {
        let bytes = self.bytes(8)?.try_into().map_err(|_| InvalidMessage)?;
        Ok(u64::from_le_bytes(bytes))
    }

    fn u32(&mut self) -> Result<usize, InvalidMessage> {
        let bytes = self.bytes(4)?.try_into().map_err(|_| InvalidMessage)?;
        Ok(u32::from_le_bytes(bytes) as usize)
    }

    fn block(&mut self) -> Result<&'a [u8], InvalidMessage> {
        let count = self.u32()?;
        self.bytes(count)
    }

    /// Time, host, device and bytes of what comes to a host, or of what it has sent.
    pub fn packet(&mut self) -> Result<(u64, usize, Port, &'a [u8]), InvalidMessage> {
        let (at_ns, host) = (self.u64()?, self.u32()?);
        let port = Port::at(usize::from(self.bytes(1)?[0]));
        Ok((at_ns, host, port, self.block()?))
    }

    /// The number of a host, and a line.
    pub fn line(&mut self) -> Result<(usize, &'a [u8]), InvalidMessage> {
        Ok((self.u32()?, self.block()?))
    }

    /// What [`put_hosts`] has added.
    pub fn hosts(&mut self) -> Result<Vec<usize>, InvalidMessage> {
        let mut hosts = Vec::new();
        while !self.is_empty() {
            hosts.push(self.u32()?);
        }
        Ok(hosts)
    }

    /// What [`put_counters`] has added.
    pub fn counters(&mut self) -> Result<Vec<(usize, GuestCounters)>, InvalidMessage> {
        let mut all = Vec::new();
        while !self.is_empty() {
            let host = self.u32()?;
            let counters = GuestCounters {
                runs: self.u64()?,
                interrupts: self.u64()?,
                delivered: self.u64()?,
                no_room: self.u64()?,
                late: self.u64()?,
                most_late_ns: self.u64()?,
            };
            all.push((host, counters));
        }
        Ok(all)
    }

    /// What [`put_reached`] has added; buffers come from `spare`.
    pub fn reached(&mut self, spare: &mut Vec<Vec<u8>>) -> Result<Reached, InvalidMessage> {
        let next_ns = Some(self.u64()?).filter(|&next_ns| next_ns != NEVER);
        let mut found = Reached { next_ns, ..Reached::default() };
        for _ in 0..self.u32()? {
            let (host, how) = self.line()?;
            found.ended.push((host, String::from_utf8_lossy(how).into_owned()));
        }
        while !self.is_empty() {
            let (at_ns, guest, port, content) = self.packet()?;
            let mut bytes = spare.pop().unwrap_or_default();
            bytes.clear();
            bytes.extend_from_slice(content);
            found.sent.push(Sent { at_ns, guest, port, bytes });
        }
        Ok(found)
    }

    /// All that is left.
    pub fn rest(&mut self) -> &'a [u8] {
        std::mem::take(&mut self.0)
    }
}

/// Bytes that have come, and the messages in them.
#[derive(Default)]
pub struct Incoming {
    /// What has been read, to which more is added.
    pub bytes: Vec<u8>,
    taken: usize,
}

impl Incoming {
    /// The next message, if all of it has come.
    pub fn next(&mut self) -> Result<Option<(Kind, Contents<'_>)>, InvalidMessage> {
        let Some(header) = self.bytes.get(self.taken..self.taken + HEADER_BYTES) else {
            self.forget_taken();
            return Ok(None);
        };
        let length = u32::from_le_bytes([header[0], header[1], header[2], header[3]]) as usize;
        let kind = Kind::ALL.into_iter().find(|&kind| kind as u8 == header[4]).ok_or(InvalidMessage)?;
        if !(1..=MOST_BYTES).contains(&length) {
            return Err(InvalidMessage);
        }
        let (begin, end) = (self.taken + HEADER_BYTES, self.taken + 4 + length);
        if self.bytes.len() < end {
            self.forget_taken();
            return Ok(None);
        }
        self.taken = end;
        Ok(Some((kind, Contents(&self.bytes[begin..end]))))
    }

    fn forget_taken(&mut self) {
        self.bytes.drain(..self.taken);
        self.taken = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sent(at_ns: u64, guest: usize, place: usize, bytes: Vec<u8>) -> Sent {
        Sent { at_ns, guest, port: Port::at(place), bytes }
    }

    proptest! {
        #[test]
        fn what_is_sent_comes_whole_however_it_is_cut(
            packets in proptest::collection::vec((any::<u64>(), 0..70_000_usize, 0..12_usize, any::<Vec<u8>>()), 0..8),
            next in proptest::option::of(0..u64::MAX),
            cut in 1..40_usize,
        ) {
            let all: Vec<Sent> = packets.into_iter().map(|(at, guest, place, bytes)| sent(at, guest, place, bytes)).collect();
            let ended = vec![(3, "signal: 9".to_owned())];
            let mut bytes = message_of(Kind::Keepalive, &[]);
            message(&mut bytes, Kind::Reached, |out| put_reached(out, next, &ended, &all));
            let mut incoming = Incoming::default();
            let mut found = Vec::new();
            for piece in bytes.chunks(cut) {
                incoming.bytes.extend_from_slice(piece);
                while let Some((kind, mut contents)) = incoming.next().unwrap() {
                    found.push((kind, (kind == Kind::Reached).then(|| contents.reached(&mut vec![vec![7]]).unwrap())));
                }
            }
            prop_assert!(incoming.bytes.is_empty());
            prop_assert_eq!(found.len(), 2);
            prop_assert_eq!(&found[0], &(Kind::Keepalive, None));
            prop_assert_eq!(&found[1], &(Kind::Reached, Some(Reached { next_ns: next, ended, sent: all })));
        }

        #[test]
        fn what_is_no_message_is_refused_or_waited_for(bytes in any::<Vec<u8>>()) {
            let mut incoming = Incoming { bytes, taken: 0 };
            while let Ok(Some((_, mut contents))) = incoming.next() {
                let _ = contents.reached(&mut Vec::new());
                let _ = Contents(contents.rest()).counters();
            }
        }
    }

    #[test]
    fn counters_and_hosts_come_as_they_were() {
        let counters =
            GuestCounters { runs: 1, interrupts: 2, delivered: 3, no_room: 4, late: 5, most_late_ns: 6 };
        let mut bytes = Vec::new();
        put_counters(&mut bytes, &[(9, counters)]);
        assert_eq!(Contents(&bytes).counters().unwrap(), [(9, counters)]);
        bytes.clear();
        put_hosts(&mut bytes, &[4, 70_000]);
        assert_eq!(Contents(&bytes).hosts().unwrap(), [4, 70_000]);
        assert_eq!(Contents(&bytes[1..]).hosts(), Err(InvalidMessage));
    }
}
