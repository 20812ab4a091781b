use crate::digest::Digest;
use crate::records::Records;
use longhaul_network::{DirectionId, Fate, Message, NodeId, Packet, Reply, Sink};
use longhaul_plan::Way;
use longhaul_record::PacketRow;
use longhaul_transport::Segment;
use longhaul_units::Time;

/// What a simulated packet carries.
#[derive(Clone, Copy, Debug)]
pub enum Load {
    /// Of TCP.
    Segment(Segment),
    /// A datagram, by its number, and its payload.
    Datagram { number: u64, bytes: u32 },
    /// An echo request, by its number.
    Echo(u64),
    /// Its answer.
    EchoReply(u64),
}

/// A packet that reached its host.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    /// Whom it is for.
    pub agent: u32,
    pub load: Load,
    /// Whether the network marked it (CE).
    pub marked: bool,
}

#[derive(Clone, Copy, Debug)]
struct Slot {
    load: Load,
    agent: u32,
    /// Packets that carry it: more than one after a link has made copies.
    references: u32,
}

/// Which packets are recorded.
#[derive(Debug, Default)]
struct Rows {
    links: Vec<bool>,
    window_ns: u64,
}

/// The simulated end of the network: what packets carry, and those that have arrived.
pub struct Carrier {
    slots: Vec<Slot>,
    free: Vec<u32>,
    pub arrived: Vec<Arrival>,
    pub records: Records,
    pub digest: Digest,
    /// Packets that arrived with a wrong bit: their checksum is wrong, and hosts drop them.
    pub damaged: u64,
    rows: Rows,
}

impl Carrier {
    pub fn new(records: Records, links: Vec<bool>, window_ns: u64) -> Self {
        Carrier {
            slots: Vec::new(),
            free: Vec::new(),
            arrived: Vec::new(),
            records,
            digest: Digest::new(),
            damaged: 0,
            rows: Rows { links, window_ns },
        }
    }

    /// Takes `load` for `agent`; returns the packet's body.
    pub fn load(&mut self, agent: u32, load: Load) -> u32 {
        let slot = Slot { load, agent, references: 1 };
        match self.free.pop() {
            Some(body) => {
                self.slots[body as usize] = slot;
                body
            }
            None => {
                self.slots.push(slot);
                (self.slots.len() - 1) as u32
            }
        }
    }

    fn release(&mut self, body: u32) {
        let slot = &mut self.slots[body as usize];
        slot.references -= 1;
        if slot.references == 0 {
            self.free.push(body);
        }
    }
}

impl Sink for Carrier {
    fn deliver(&mut self, host: NodeId, packet: Packet, due: Time, _via: Option<DirectionId>) {
        let Slot { load, agent, .. } = self.slots[packet.body as usize];
        self.release(packet.body);
        self.digest.add(due, u64::from(agent) << 32 | u64::from(host.0) << 8 | u64::from(packet.class));
        if packet.damage != 0 {
            self.damaged += 1;
            return;
        }
        self.arrived.push(Arrival { agent, load, marked: packet.class & 3 == 3 });
    }

    fn end(&mut self, packet: Packet, fate: Fate, at: Time, _link: Option<DirectionId>) {
        let agent = self.slots[packet.body as usize].agent;
        self.release(packet.body);
        self.digest.add(at, u64::from(agent) << 32 | 0xff00 | fate as u64);
    }

    fn copied(&mut self, packet: &Packet) {
        self.slots[packet.body as usize].references += 1;
    }

    /// Routers answer echo requests; simulated hosts need no other message, because they know the MTU
    /// of their path and the model's routes do not change.
    fn reply(&mut self, _router: NodeId, about: &Packet, message: Message) -> Option<Reply> {
        let Slot { load: Load::Echo(number), agent, .. } = self.slots[about.body as usize] else {
            return None;
        };
        (message == Message::EchoReply)
            .then(|| Reply { body: self.load(agent, Load::EchoReply(number)), bytes: about.bytes })
    }

    fn passed(&mut self, direction: DirectionId, packet: &Packet, offered: Time, due: Result<Time, Fate>) {
        let link = direction.link();
        if self.rows.links[link] && offered.ns() % 1_000_000_000 < self.rows.window_ns {
            self.records.packet(PacketRow {
                link: link as u32,
                reverse: direction.way() == Way::Reverse,
                offered_ns: offered.ns(),
                due_ns: due.ok().map(Time::ns),
                bytes: packet.bytes,
                fate: due.err().map_or("delivered", Fate::name),
            });
        }
    }
}
