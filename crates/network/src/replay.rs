use crate::journal::{Departure, Entry, JOURNAL_MAGIC};
use crate::packet::{DirectionId, Fate, Flags, Message, NodeId, Origin, Packet, Reply};
use crate::{Network, Sink};
use longhaul_plan::{Event, Plan};
use longhaul_units::{InvalidValue, Time};
use std::collections::{BTreeMap, VecDeque};
use std::io::{self, Read};
use thiserror::Error;

/// The result of replaying a journal's inputs in a new network.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Replay {
    /// Packets that were injected.
    pub injected: u64,
    /// Packets that came from other shards.
    pub imported: u64,
    /// Changes of models.
    pub changes: u64,
    /// Packets that left at the same instant, in the same order, at the same host, with the same marks.
    pub equal: u64,
    /// Of them, packets that reached their host.
    pub delivered: u64,
    /// Of them, packets that went to another shard.
    pub crossed: u64,
    /// The first packet that did not; the comparison stops there.
    pub difference: Option<Difference>,
}

/// A departure that differs between the journal and the replay.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// As recorded; `None`: the journal has none here.
    pub recorded: Option<Departure>,
    /// As replayed.
    pub replayed: Option<Departure>,
}

/// Why a journal cannot be replayed.
#[derive(Debug, Error)]
pub enum ReplayError {
    /// The plan is invalid.
    #[error("{0}")]
    Plan(#[source] InvalidValue),
    /// The journal cannot be read.
    #[error("the journal cannot be read: {0}")]
    Read(#[source] io::Error),
    /// The journal begins with other bytes.
    #[error("the journal is of another kind or version")]
    Format,
    /// The journal is cut short.
    #[error("the journal ends early")]
    EndsEarly,
    /// An input does not fit the plan.
    #[error("the journal is of another plan: {0}")]
    OtherPlan(#[source] InvalidValue),
    /// An input is earlier than the one before it.
    #[error("the times of the journal go back")]
    TimesGoBack,
}

impl From<io::Error> for ReplayError {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::UnexpectedEof => ReplayError::EndsEarly,
            _ => ReplayError::Read(error),
        }
    }
}

/// Feeds the inputs of `journal` to the network of `plan` and compares every departure.
///
/// Memory does not grow with the journal's length.
///
/// # Errors
/// If the plan is invalid, or the journal cannot be read, is cut short or is of another plan.
pub fn replay(plan: &Plan, journal: &mut impl Read) -> Result<Replay, ReplayError> {
    run(Network::new(plan).map_err(ReplayError::Plan)?, plan, journal)
}

/// The same with the journal of shard `own` of a live run, of which `partition` has the shard of each node.
///
/// Packets that go to other shards are compared as those that reach a host, for each direction in their order.
///
/// # Errors
/// The same, and if the network of `plan` cannot be divided so.
pub fn replay_shard(
    plan: &Plan,
    (partition, own): (&[u32], u32),
    journal: &mut impl Read,
) -> Result<Replay, ReplayError> {
    if partition.len() != plan.nodes.len() {
        return Err(ReplayError::OtherPlan(InvalidValue::new("partition", "each node has one shard")));
    }
    let network = Network::new(plan).map_err(ReplayError::Plan)?;
    network.complete_routes();
    run(network.live_shard(plan, partition, own).map_err(ReplayError::Plan)?, plan, journal)
}

fn run(mut network: Network, plan: &Plan, journal: &mut impl Read) -> Result<Replay, ReplayError> {
    let mut entries = Entries::new(plan, &network, journal)?;
    let mut sink = ReplaySink::default();
    let mut result = Replay::default();
    let mut input = entries.next_input(&mut sink)?;
    loop {
        // The effects of the input follow it, up to the next input.
        let next = match input {
            Entry::Finished(_) => None,
            _ => Some(entries.next_input(&mut sink)?),
        };
        let at = match input {
            Entry::Injected { packet, routable } => {
                result.injected += 1;
                if routable {
                    network.inject(packet.offered, packet, &mut sink);
                } else {
                    network.inject_unroutable(packet.offered, packet, &mut sink);
                }
                packet.offered
            }
            Entry::Forwarded { packet, node, routable } => {
                result.injected += 1;
                network.inject_at(packet.offered, node, packet, routable, &mut sink);
                packet.offered
            }
            Entry::Imported { at, direction, due, packet } => {
                result.imported += 1;
                network.advance(at, &mut sink);
                network.import(direction, &mut [(due, packet)]);
                at
            }
            Entry::Changed { at, direction, route, change } => {
                result.changes += 1;
                network.change(at, direction, route, &change, &mut sink);
                at
            }
            Entry::Finished(at) => {
                network.advance(at, &mut sink);
                at
            }
            Entry::Replied(_) | Entry::Origin(_) | Entry::Departed(_) => Time::ZERO,
        };
        network.announce_departures_by(at, &mut sink);
        sink.compare(next.is_none(), &mut result);
        match next {
            Some(next) if result.difference.is_none() => input = next,
            _ => return Ok(result),
        }
    }
}

/// The entries of a journal, checked against the plan.
struct Entries<'a, R> {
    journal: &'a mut R,
    plan: &'a Plan,
    /// The directions by which packets come from other shards.
    from_shards: Vec<DirectionId>,
    last: Time,
}

impl<'a, R: Read> Entries<'a, R> {
    fn new(plan: &'a Plan, network: &Network, journal: &'a mut R) -> Result<Self, ReplayError> {
        let mut magic = [0; JOURNAL_MAGIC.len()];
        journal.read_exact(&mut magic)?;
        if magic != JOURNAL_MAGIC {
            return Err(ReplayError::Format);
        }
        let from_shards = network.entries().to_vec();
        Ok(Entries { journal, plan, from_shards, last: Time::ZERO })
    }

    /// The next input of the network; entries before it are stored in `sink`.
    fn next_input(&mut self, sink: &mut ReplaySink) -> Result<Entry, ReplayError> {
        loop {
            let entry = Entry::decode(self.journal)?;
            match entry.ok_or(ReplayError::EndsEarly)? {
                Entry::Replied(reply) => sink.replies.push_back(reply),
                Entry::Origin(origin) => sink.origins.push_back(origin),
                Entry::Departed(departure) => sink.queues(departure.exit).recorded.push_back(departure),
                input => {
                    self.check(&input)?;
                    return Ok(input);
                }
            }
        }
    }

    fn check(&mut self, input: &Entry) -> Result<(), ReplayError> {
        let at = match input {
            Entry::Injected { packet, .. } | Entry::Forwarded { packet, .. } => {
                let known = |node: NodeId| (node.0 as usize) < self.plan.nodes.len();
                let by_known = !matches!(input, Entry::Forwarded { node, .. } if !known(*node));
                let is_frame = packet.flags.has(Flags::FRAME);
                if !(is_frame || known(packet.source) && known(packet.destination)) || !by_known {
                    let unknown = InvalidValue::new("packet", "names a node that does not exist");
                    return Err(ReplayError::OtherPlan(unknown));
                }
                packet.offered
            }
            Entry::Imported { at, direction, due, packet } => {
                let known = |node: NodeId| (node.0 as usize) < self.plan.nodes.len();
                let is_known = known(packet.source) && known(packet.destination) && due >= at;
                if !is_known || !self.from_shards.contains(direction) {
                    let unknown = InvalidValue::new("packet", "comes from a shard that does not exist");
                    return Err(ReplayError::OtherPlan(unknown));
                }
                *at
            }
            Entry::Changed { at, direction, route, change } => {
                let event = Event {
                    at_ns: at.ns(),
                    link: direction.link(),
                    direction: Some(direction.way()),
                    route: *route,
                    change: (**change).clone(),
                    cause: None,
                };
                self.plan.check_event(&event).map_err(ReplayError::OtherPlan)?;
                *at
            }
            Entry::Finished(at) => *at,
            Entry::Replied(_) | Entry::Origin(_) | Entry::Departed(_) => self.last,
        };
        if at < self.last {
            return Err(ReplayError::TimesGoBack);
        }
        self.last = at;
        Ok(())
    }
}

/// The replay's sink: what was recorded and what comes out now, each in order.
#[derive(Default)]
struct ReplaySink {
    /// By the direction to another shard; first all other packets.
    departures: BTreeMap<Option<DirectionId>, Departures>,
    replies: VecDeque<Option<Reply>>,
    origins: VecDeque<Origin>,
}

/// Packets that left the network in an order that does not depend on when it was advanced.
#[derive(Default)]
struct Departures {
    recorded: VecDeque<Departure>,
    replayed: VecDeque<Departure>,
}

impl ReplaySink {
    fn queues(&mut self, exit: Option<DirectionId>) -> &mut Departures {
        self.departures.entry(exit).or_default()
    }

    fn compare(&mut self, at_end: bool, result: &mut Replay) {
        self.departures.values_mut().for_each(|departures| departures.compare(at_end, result));
    }
}

impl Departures {
    fn compare(&mut self, at_end: bool, result: &mut Replay) {
        while result.difference.is_none() {
            let (recorded, replayed) = (self.recorded.front().copied(), self.replayed.front().copied());
            match (recorded, replayed) {
                (None, None) => return,
                (Some(a), Some(b)) if a == b => {
                    result.equal += 1;
                    result.crossed += u64::from(a.exit.is_some());
                    result.delivered += u64::from(a.end.is_ok() && a.exit.is_none());
                    self.recorded.pop_front();
                    self.replayed.pop_front();
                }
                (Some(_), Some(_)) => result.difference = Some(Difference { recorded, replayed }),
                _ if at_end => result.difference = Some(Difference { recorded, replayed }),
                _ => return,
            }
        }
    }
}

impl Sink for ReplaySink {
    fn deliver(&mut self, host: NodeId, packet: Packet, due: Time, _via: Option<DirectionId>) {
        self.queues(None).replayed.push_back(Departure::new(&packet, Ok(host), due));
    }

    fn end(&mut self, packet: Packet, fate: Fate, at: Time, _link: Option<DirectionId>) {
        self.queues(None).replayed.push_back(Departure::new(&packet, Err(fate), at));
    }

    fn crosses(&mut self, direction: DirectionId, packets: &mut Vec<(Time, Packet)>) {
        for (due, packet) in packets.drain(..) {
            let departure = Departure::crossing(&packet, direction, due);
            self.queues(Some(direction)).replayed.push_back(departure);
        }
    }

    fn copied(&mut self, _packet: &Packet) {}

    fn reply(&mut self, _router: NodeId, _about: &Packet, _message: Message) -> Option<Reply> {
        self.replies.pop_front().flatten()
    }

    fn origin(&mut self, _packet: &Packet) -> Origin {
        self.origins.pop_front().unwrap_or_default()
    }
}
