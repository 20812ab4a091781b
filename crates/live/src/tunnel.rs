//! Links to hosts on other machines, or in other shards of this process: packets cross as datagrams, with the times at which they are
//! due.
//!
//! A packet goes to the machine of the far end as soon as its first bit leaves, and waits there until it is due: what the
//! real network takes comes out of the link's delay. Clocks are related by two-way exchanges of time over the same path
//! ([`clock_relation`]).

mod clock_relation;
mod datagram;
mod packets;
mod transport;

use crate::clock::monotonic_ns;
use crate::error::{Error, Result};
use clock_relation::{ClockRelation, Offset};
use datagram::{HEADER, Kind, Numbers, Reader, Seal};
use longhaul_network::{DirectionId, Packet};
use longhaul_plan::{NodeKind, Plan, Program};
use longhaul_record::Distribution;
use longhaul_units::Time;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::BorrowedFd;
use transport::Transport;

pub use packets::{Arriving, Content};

/// Content of a datagram with several packets: with the headers of UDP and IP it fits into a frame of 1,500 bytes. A larger packet has one
/// of its own, which IP divides if it must.
const MOST_CONTENT: usize = 1_500 - 48 - HEADER - 16;
/// Datagrams that gather before they are sent.
const MOST_DATAGRAMS: usize = 64;
/// Datagrams that are read in one turn.
const MOST_READ: usize = 64;
/// Interval between two requests for the time of each machine: before the clock starts, and after.
const EARLY_INTERVAL_NS: u64 = 10_000_000;
const INTERVAL_NS: u64 = 100_000_000;
/// Exchanges with each machine before the clock may start.
const FIRST_EXCHANGES: u64 = 10;
/// A machine that sends no datagram for so long ends the run.
const SILENCE_NS: u64 = 3_000_000_000;
/// So does one whose RTT has risen by so much, for two seconds.
const SLOWER_NS: u64 = 100_000_000;

/// How a run is divided among machines.
#[derive(Debug)]
pub struct Settings {
    /// This machine.
    pub own: u32,
    /// The machine of each node of the plan.
    pub partition: Vec<u32>,
    /// All machines, each with its name and where it receives.
    pub machines: Vec<(String, SocketAddr)>,
    /// Where this one receives.
    pub socket: UdpSocket,
    /// Authenticates the run's datagrams.
    pub key: [u8; 32],
    /// Whether they are encrypted as well.
    pub encrypts: bool,
    /// Number of this engine among those of the run that share a machine, which each have a processor of their own there.
    pub engine_number: usize,
    /// Whether the run ends on request alone, and not when its duration has passed.
    pub stays_up: bool,
    /// Command line that starts a command in a host of another machine.
    pub launcher: Vec<String>,
    /// The programs of other machines that a program of this one starts after, by its name.
    pub awaited: BTreeMap<String, Vec<String>>,
}

impl Settings {
    /// Whether a node is on this machine.
    pub fn owns(&self, node: usize) -> bool {
        self.partition[node] == self.own
    }

    /// Leaves the programs of this machine in the list, and notes those of others that they start after.
    pub fn keep_own_programs(&mut self, programs: &mut Vec<Program>) {
        programs.retain(|program| self.owns(program.host));
        let own: BTreeSet<String> = programs.iter().map(|program| program.name.clone()).collect();
        for program in programs {
            let others: Vec<String> = program.after.extract_if(.., |name| !own.contains(name)).collect();
            if !others.is_empty() {
                self.awaited.insert(program.name.clone(), others);
            }
        }
    }

    /// Whether all programs of other machines have `ended` that `program` starts after.
    pub fn may_start(&self, program: &str, ended: &BTreeSet<String>) -> bool {
        self.awaited.get(program).is_none_or(|names| names.iter().all(|name| ended.contains(name)))
    }

    /// The names of the hosts of `plan` that are on other machines.
    pub fn other_hosts<'a>(&self, plan: &'a Plan) -> Vec<&'a str> {
        let nodes = plan.nodes.iter().enumerate();
        let others = nodes.filter(|&(place, node)| node.kind == NodeKind::Host && !self.owns(place));
        others.map(|(_, node)| node.name.as_str()).collect()
    }
}

/// The connections to the other machines.
pub struct Tunnel {
    own: u32,
    transport: Transport,
    /// Whether the others are shards of this process, with the same clock.
    is_local: bool,
    seal: Seal,
    /// By machine; its own is not used.
    peers: Vec<Peer>,
    /// The machine at the far end of each direction.
    ends: Vec<u32>,
    /// When the clock starts or started, on this machine's `CLOCK_MONOTONIC`.
    start_ns: Option<u64>,
    /// When times are next asked for.
    next_request_ns: u64,
    /// Content of datagrams that arrived before this machine's engine takes packets, each with its sender; `None` once it does.
    before_start: Option<Vec<(u32, Vec<u8>)>>,
    /// Datagrams that are not of this run, or that are malformed.
    refused: u64,
    /// Datagrams that the kernel did not take.
    failed: u64,
    repeated: u64,
}

struct Peer {
    name: String,
    relation: ClockRelation,
    numbers: Numbers,
    /// When its clock starts, by its own `CLOCK_MONOTONIC`; 0 as long as it does not know.
    start_ns: u64,
    heard_ns: u64,
    /// The datagram that is being filled, and those that are full.
    open: Vec<u8>,
    full: Vec<Vec<u8>>,
    sent_packets: u64,
    received_packets: u64,
    /// Packets that it has sent in all, once it has said so.
    sent_in_all: Option<u64>,
    /// How long before they were due packets came, and how long after.
    early: Distribution,
    late: Distribution,
}

impl Tunnel {
    /// To the other machines of a run of `plan`.
    pub fn new(plan: &Plan, settings: &Settings) -> Result<Self> {
        let addresses = settings.machines.iter().map(|(_, address)| *address);
        let transport = Transport::udp(&settings.socket, addresses)?;
        let seal = Seal::new(&settings.key, settings.encrypts, settings.own);
        let names = settings.machines.iter().map(|(name, _)| name.clone());
        Ok(Tunnel::over(transport, seal, plan, (settings.own, &settings.partition), names))
    }

    /// Between the shards of a run of `plan` in this process; each node is in the one that `partition` says.
    pub fn between(plan: &Plan, partition: &[u32], count: u32) -> Result<Vec<Self>> {
        let transports = Transport::queues(count as usize)?;
        let tunnel = |(own, transport)| {
            let names = (0..count).map(shard_name);
            let tunnel = Tunnel::over(transport, Seal::none(own), plan, (own, partition), names);
            Tunnel { is_local: true, next_request_ns: u64::MAX, ..tunnel }
        };
        Ok((0..count).zip(transports).map(tunnel).collect())
    }

    fn over(
        transport: Transport,
        seal: Seal,
        plan: &Plan,
        (own, partition): (u32, &[u32]),
        names: impl Iterator<Item = String>,
    ) -> Self {
        let ends = plan.links.iter().flat_map(|link| [link.endpoints[1], link.endpoints[0]]);
        let peer = |name| Peer {
            name,
            relation: ClockRelation::default(),
            numbers: Numbers::default(),
            start_ns: 0,
            heard_ns: 0,
            open: Vec::with_capacity(2_048),
            full: Vec::with_capacity(MOST_DATAGRAMS),
            sent_packets: 0,
            received_packets: 0,
            sent_in_all: None,
            early: Distribution::new(),
            late: Distribution::new(),
        };
        Tunnel {
            own,
            transport,
            is_local: false,
            seal,
            peers: names.map(peer).collect(),
            ends: ends.map(|node| partition[node]).collect(),
            start_ns: None,
            next_request_ns: 0,
            before_start: Some(Vec::new()),
            refused: 0,
            failed: 0,
            repeated: 0,
        }
    }

    /// Readable when a datagram waits.
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.transport.fd()
    }

    fn others(&self) -> impl Iterator<Item = usize> + use<> {
        let own = self.own as usize;
        (0..self.peers.len()).filter(move |&peer| peer != own)
    }

    /// When the clock starts on this machine, known once the first machine's start and the relation to its clock are. The first
    /// machine decides, by `start_ns`.
    pub fn start(&mut self, start_ns: Option<u64>) -> Option<u64> {
        if self.start_ns.is_none() {
            let first = &self.peers[0];
            let found = if self.own == 0 {
                start_ns
            } else {
                first
                    .relation
                    .offset(monotonic_ns())
                    .filter(|_| first.start_ns > 0)
                    .map(|offset| u64::try_from(first.start_ns as i64 - offset.ns).unwrap_or_default())
            };
            self.start_ns = found;
            self.next_request_ns = if found.is_some() { 0 } else { self.next_request_ns };
        }
        self.start_ns
    }

    /// Whether the clocks of all machines are known well enough to start.
    pub fn is_related(&self) -> bool {
        self.others().all(|peer| self.peers[peer].relation.exchanges >= FIRST_EXCHANGES)
    }

    /// Asks for the time of the others if it is time to.
    ///
    /// # Errors
    /// If a machine has sent no datagram for [`SILENCE_NS`], or its RTT has risen by [`SLOWER_NS`].
    pub fn turn(&mut self, now_ns: u64) -> Result<()> {
        if self.is_local || now_ns < self.next_request_ns {
            return Ok(());
        }
        let has_begun = self.start_ns.is_some_and(|start_ns| now_ns > start_ns);
        self.next_request_ns = now_ns + if has_begun { INTERVAL_NS } else { EARLY_INTERVAL_NS };
        for peer in self.others() {
            let start_ns = self.start_ns.unwrap_or_default();
            let heard_ns = self.peers[peer].heard_ns.max(start_ns);
            if has_begun && now_ns.saturating_sub(heard_ns) > SILENCE_NS {
                let name = &self.peers[peer].name;
                return Err(Error::new(format!(
                    "no datagram from machine {name} for {} s",
                    SILENCE_NS / 1_000_000_000
                ))
                .with_remedy("check the machine and the network to it"));
            }
            if let Some(slower_ns) = self.peers[peer].relation.slower_ns()
                && slower_ns > SLOWER_NS
            {
                let name = &self.peers[peer].name;
                return Err(Error::new(format!(
                    "the RTT to machine {name} has risen by {} ms",
                    slower_ns / 1_000_000
                ))
                .with_remedy("check the machine and the network to it"));
            }
            self.send_times(peer, Kind::TimeRequest, &[start_ns, monotonic_ns()]);
        }
        Ok(())
    }

    /// When [`turn`](Self::turn) next has something to do, on `CLOCK_MONOTONIC`; `None` for never.
    pub fn next_turn_ns(&self) -> Option<u64> {
        (!self.is_local).then_some(self.next_request_ns)
    }

    fn send_times(&mut self, peer: usize, kind: Kind, times: &[u64]) {
        let mut datagram = Vec::with_capacity(HEADER + 64);
        self.seal.begin(kind, &mut datagram);
        for time in times {
            datagram.extend_from_slice(&time.to_le_bytes());
        }
        self.seal.finish(&mut datagram);
        // A lost request is repeated soon.
        self.failed += self.transport.send(peer, &mut vec![datagram]);
    }

    /// Sends a packet to the machine at the far end of a direction, in a datagram with others.
    pub fn send_packet(&mut self, direction: DirectionId, due: Time, packet: &Packet, content: &Content<'_>) {
        let peer = self.ends[direction.0 as usize] as usize;
        let length = content.record_bytes();
        let open = self.peers[peer].open.len();
        if open > 0 && open + length > HEADER + MOST_CONTENT {
            self.close(peer);
        }
        let Peer { open, sent_packets, .. } = &mut self.peers[peer];
        if open.is_empty() {
            self.seal.begin(Kind::Packets, open);
        }
        packets::append(open, direction, due, packet, content);
        *sent_packets += 1;
        if self.peers[peer].full.len() >= MOST_DATAGRAMS {
            self.send_full(peer);
        }
    }

    fn close(&mut self, peer: usize) {
        let Peer { open, full, .. } = &mut self.peers[peer];
        if open.is_empty() {
            return;
        }
        self.seal.finish(open);
        full.push(std::mem::replace(open, Vec::with_capacity(2_048)));
    }

    /// Sends what has gathered.
    pub fn flush(&mut self) {
        for peer in self.others() {
            self.close(peer);
            self.send_full(peer);
        }
    }

    fn send_full(&mut self, peer: usize) {
        self.failed += self.transport.send(peer, &mut self.peers[peer].full);
    }

    /// Takes what has come; `take` is given each packet, with the machine that sent it.
    pub fn receive(&mut self, mut take: impl FnMut(Arriving<'_>, u32)) {
        for (sender, content) in self.before_start.take().into_iter().flatten() {
            self.take_packets(sender, &content, &mut take);
        }
        // Shards of this process wait for each other, and not for packets that have come already.
        while self.read(&mut take) == MOST_READ && self.is_local {}
    }

    /// Takes the times that have come. Packets wait for [`receive`](Self::receive): the hosts of a machine may send as soon as it is
    /// up.
    pub fn receive_times(&mut self) {
        self.read(&mut |_, _| ());
    }

    /// Returns how many datagrams were there.
    fn read(&mut self, take: &mut impl FnMut(Arriving<'_>, u32)) -> usize {
        let datagrams = self.transport.receive();
        let count = datagrams.len();
        for mut datagram in datagrams {
            self.handle(&mut datagram, take);
        }
        count
    }

    fn handle(&mut self, datagram: &mut [u8], take: &mut impl FnMut(Arriving<'_>, u32)) {
        let now_ns = monotonic_ns();
        let known = |sender: u32| sender != self.own && (sender as usize) < self.peers.len();
        let Some(opened) = self.seal.open(datagram).filter(|opened| known(opened.sender)) else {
            self.refused += 1;
            return;
        };
        let (sender, place) = (opened.sender, opened.sender as usize);
        if !self.peers[place].numbers.is_new(opened.number) {
            self.repeated += 1;
            return;
        }
        self.peers[place].heard_ns = now_ns;
        let mut reader = Reader(opened.content);
        let understood = match opened.kind {
            Kind::Packets => match &mut self.before_start {
                Some(waiting) => {
                    waiting.push((sender, opened.content.to_vec()));
                    Some(())
                }
                None => self.take_packets(sender, opened.content, take),
            },
            Kind::TimeRequest => reader.u64().zip(reader.u64()).map(|(start_ns, sent_ns)| {
                self.peers[place].start_ns = start_ns;
                let own_start_ns = self.start_ns.unwrap_or_default();
                self.send_times(place, Kind::TimeReply, &[own_start_ns, sent_ns, now_ns, monotonic_ns()]);
            }),
            Kind::TimeReply => {
                let mut times = [0; 4];
                times.iter_mut().try_for_each(|time| reader.u64().map(|found| *time = found)).map(|()| {
                    let [start_ns, sent_ns, arrived_ns, replied_ns] = times;
                    self.peers[place].start_ns = start_ns;
                    self.peers[place].relation.add([sent_ns, arrived_ns, replied_ns, now_ns]);
                })
            }
            Kind::End => reader.u64().map(|count| self.peers[place].sent_in_all = Some(count)),
        };
        self.refused += u64::from(understood.is_none());
    }

    /// `None` if the packets are malformed.
    fn take_packets(
        &mut self,
        sender: u32,
        content: &[u8],
        take: &mut impl FnMut(Arriving<'_>, u32),
    ) -> Option<()> {
        let mut reader = Reader(content);
        while let Some(arriving) = packets::next(&mut reader) {
            self.peers[sender as usize].received_packets += 1;
            if self.ends.get(arriving.direction.0 as usize) == Some(&self.own) {
                take(arriving, sender);
            } else {
                self.refused += 1;
            }
        }
        reader.0.is_empty().then_some(())
    }

    /// The time of this machine's run at which something is due that is due at `due` of another's, with the offset of the clocks.
    pub fn own_time(&self, sender: u32, due: Time) -> Option<Time> {
        if self.is_local {
            return Some(due);
        }
        let peer = &self.peers[sender as usize];
        let own_start_ns = self.start_ns.filter(|_| peer.start_ns > 0)?;
        let offset = peer.relation.offset(monotonic_ns())?;
        let later_ns = peer.start_ns as i64 - offset.ns - own_start_ns as i64;
        Some(Time::from_ps(due.ps().saturating_add_signed(later_ns.saturating_mul(1_000))))
    }

    /// Counts a packet that came at `now` and is due at `due`.
    pub fn count_arrival(&mut self, sender: u32, now: Time, due: Time) {
        let peer = &mut self.peers[sender as usize];
        if due < now {
            peer.late.add(now.since(due).ns(), 1);
        } else {
            peer.early.add(due.since(now).ns(), 1);
        }
    }

    /// Reports to each of the others how many packets it was sent.
    pub fn announce_end(&mut self) {
        self.flush();
        for peer in self.others() {
            let sent = self.peers[peer].sent_packets;
            self.send_times(peer, Kind::End, &[sent]);
        }
    }

    /// Whether all others have reported how many packets they sent, and all of these have arrived.
    pub fn is_complete(&self) -> bool {
        self.others().all(|peer| {
            let peer = &self.peers[peer];
            peer.sent_in_all.is_some_and(|sent| peer.received_packets >= sent)
        })
    }

    /// What happened between this machine and the others, as results have it.
    pub fn results(&self, now_ns: u64) -> Value {
        let peers: Vec<Value> = self
            .others()
            .map(|place| {
                let peer = &self.peers[place];
                let offset = peer.relation.offset(now_ns);
                json!({
                    "machine": peer.name,
                    "sent_packets": peer.sent_packets,
                    "received_packets": peer.received_packets,
                    "lost_packets": peer.sent_in_all.map(|sent| sent.saturating_sub(peer.received_packets)),
                    "early": peer.early.summary(),
                    "late": peer.late.summary(),
                    "round_trip_ns": peer.relation.least_round_trip_ns,
                    "recent_round_trip_ns": peer.relation.recent_round_trip_ns(),
                    "exchanges": peer.relation.exchanges,
                    "clock": offset.map(|offset| self.clock(peer, offset)),
                })
            })
            .collect();
        json!({
            "machine": self.peers[self.own as usize].name,
            "start_ns": self.start_ns,
            "refused_datagrams": self.refused,
            "repeated_datagrams": self.repeated,
            "failed_datagrams": self.failed,
            "peers": peers,
        })
    }

    /// The run's clock on another machine minus that on this one.
    fn clock(&self, peer: &Peer, offset: Offset) -> Value {
        let starts_ns = self.start_ns.unwrap_or_default() as i64 - peer.start_ns as i64;
        json!({
            "offset_ns": offset.ns + starts_ns,
            "bound_ns": offset.bound_ns,
            "drift": offset.drift,
        })
    }
}

/// The name of a shard in results.
pub fn shard_name(number: u32) -> String {
    format!("shard-{number}")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The second of two machines, each with a node.
    fn settings() -> Settings {
        Settings {
            own: 1,
            partition: vec![0, 1],
            machines: Vec::new(),
            socket: UdpSocket::bind("127.0.0.1:0").unwrap(),
            key: [0; 32],
            encrypts: false,
            engine_number: 0,
            stays_up: false,
            launcher: Vec::new(),
            awaited: BTreeMap::new(),
        }
    }

    fn program(name: &str, host: usize, after: &[&str]) -> Program {
        let program = json!({
            "name": name, "host": host, "argv": ["true"], "cwd": null, "env": {}, "start_ns": 0, "stop_ns": null,
            "service": false, "after": after,
        });
        serde_json::from_value(program).unwrap()
    }

    #[test]
    fn a_program_starts_after_those_of_this_machine_and_of_others_have_ended() {
        let mut programs = vec![
            program("there", 0, &[]),
            program("also_there", 0, &["here"]),
            program("here", 1, &[]),
            program("both", 1, &["there", "here", "also_there"]),
        ];
        let mut machine = settings();
        machine.keep_own_programs(&mut programs);
        let left: Vec<_> = programs.iter().map(|each| (each.name.as_str(), each.after.clone())).collect();
        assert_eq!(left, [("here", vec![]), ("both", vec!["here".to_string()])]);
        let mut ended = BTreeSet::new();
        assert!(machine.may_start("here", &ended));
        assert!(!machine.may_start("both", &ended));
        ended.insert("there".into());
        assert!(!machine.may_start("both", &ended));
        ended.insert("also_there".into());
        assert!(machine.may_start("both", &ended));
    }
}
