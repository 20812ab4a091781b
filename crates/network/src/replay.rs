use crate::journal::{Departure, Entry, JOURNAL_MAGIC};
use crate::packet::{DirectionId, Fate, Message, NodeId, Origin, Packet, Reply};
use crate::{Network, Sink};
use longhaul_plan::{Event, Plan};
use longhaul_units::Time;
use std::collections::VecDeque;
use std::io::{self, Read};

/// What came of feeding a journal's inputs to a fresh network.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Replay {
    /// Packets that went in.
    pub injected: u64,
    /// Changes of models.
    pub changes: u64,
    /// Packets that left at the same instant, in the same order, by the same end, with the same marks.
    pub equal: u64,
    /// Those of them that reached their host.
    pub delivered: u64,
    /// The first that did not; the comparison stops there.
    pub difference: Option<Difference>,
}

/// A departure that the replay and the journal do not agree on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// As recorded; `None`: the journal has none here.
    pub recorded: Option<Departure>,
    /// As replayed.
    pub replayed: Option<Departure>,
}

/// Feeds the inputs of `journal` to the network of `plan` and compares every departure.
///
/// Memory does not grow with the journal's length. Errors: `plan` does not check, or `journal` is
/// cut short or none.
pub fn replay(plan: &Plan, journal: &mut impl Read) -> Result<Replay, String> {
    let mut network = Network::new(plan)?;
    let mut entries = Entries::new(plan, journal)?;
    let mut again = Again::default();
    let mut result = Replay::default();
    let mut input = entries.next_input(&mut again)?;
    loop {
        // What the input brought about stands behind it, up to the next input.
        let next = match input {
            Entry::Finished(_) => None,
            _ => Some(entries.next_input(&mut again)?),
        };
        match input {
            Entry::Injected { packet, routable } => {
                result.injected += 1;
                if routable {
                    network.inject(packet.offered, packet, &mut again);
                } else {
                    network.inject_unroutable(packet.offered, packet, &mut again);
                }
            }
            Entry::Changed { at, direction, route, change } => {
                result.changes += 1;
                network.change(at, direction, route, &change, &mut again);
            }
            Entry::Finished(at) => network.advance(at, &mut again),
            Entry::Replied(_) | Entry::Came(_) | Entry::Left(_) => {}
        }
        again.compare(next.is_none(), &mut result);
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
    last: Time,
}

impl<'a, R: Read> Entries<'a, R> {
    fn new(plan: &'a Plan, journal: &'a mut R) -> Result<Self, String> {
        let mut magic = [0; JOURNAL_MAGIC.len()];
        journal.read_exact(&mut magic).map_err(|error| told(&error))?;
        if magic != JOURNAL_MAGIC {
            return Err("the journal is of another kind or version".into());
        }
        Ok(Entries { journal, plan, last: Time::ZERO })
    }

    /// The next entry that goes into the network; what lies before it is put aside.
    fn next_input(&mut self, again: &mut Again) -> Result<Entry, String> {
        loop {
            let entry = Entry::decode(self.journal).map_err(|error| told(&error))?;
            match entry.ok_or("the journal ends early")? {
                Entry::Replied(reply) => again.replies.push_back(reply),
                Entry::Came(origin) => again.origins.push_back(origin),
                Entry::Left(departure) => again.recorded.push_back(departure),
                input => {
                    self.check(&input)?;
                    return Ok(input);
                }
            }
        }
    }

    fn check(&mut self, input: &Entry) -> Result<(), String> {
        let foreign = |what: String| format!("the journal is of another plan: {what}");
        let at = match input {
            Entry::Injected { packet, .. } => {
                let known = |node: NodeId| (node.0 as usize) < self.plan.nodes.len();
                if !known(packet.source) || !known(packet.destination) {
                    return Err(foreign("it names a node that is not there".into()));
                }
                packet.offered
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
                self.plan.check_event(&event).map_err(foreign)?;
                *at
            }
            Entry::Finished(at) => *at,
            Entry::Replied(_) | Entry::Came(_) | Entry::Left(_) => self.last,
        };
        if at < self.last {
            return Err("the journal's times go back".into());
        }
        self.last = at;
        Ok(())
    }
}

fn told(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => "the journal ends early".into(),
        _ => format!("the journal cannot be read: {error}"),
    }
}

/// The replay's sink: what was recorded and what comes out now, each in order.
#[derive(Default)]
struct Again {
    recorded: VecDeque<Departure>,
    replayed: VecDeque<Departure>,
    replies: VecDeque<Option<Reply>>,
    origins: VecDeque<Origin>,
}

impl Again {
    fn compare(&mut self, at_end: bool, result: &mut Replay) {
        while result.difference.is_none() {
            let (recorded, replayed) = (self.recorded.front().copied(), self.replayed.front().copied());
            match (recorded, replayed) {
                (None, None) => return,
                (Some(a), Some(b)) if a == b => {
                    result.equal += 1;
                    result.delivered += u64::from(a.end.is_ok());
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

impl Sink for Again {
    fn deliver(&mut self, host: NodeId, packet: Packet, due: Time, _via: Option<DirectionId>) {
        self.replayed.push_back(Departure::new(&packet, Ok(host), due));
    }

    fn end(&mut self, packet: Packet, fate: Fate, at: Time, _link: Option<DirectionId>) {
        self.replayed.push_back(Departure::new(&packet, Err(fate), at));
    }

    fn copied(&mut self, _packet: &Packet) {}

    fn reply(&mut self, _router: NodeId, _about: &Packet, _message: Message) -> Option<Reply> {
        self.replies.pop_front().flatten()
    }

    fn origin(&mut self, _packet: &Packet) -> Origin {
        self.origins.pop_front().unwrap_or_default()
    }
}
