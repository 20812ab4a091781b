use crate::digest::Digest;
use crate::records::Records;
use longhaul_endpoints::{PayloadPool, PayloadSink};
use longhaul_network::{DirectionId, Fate, Message, NodeId, Origin, Packet, Reply, Sink, results};
use longhaul_plan::{Plan, Sender};
use longhaul_units::Time;
use std::collections::BTreeMap;

const NS_PER_S: u64 = 1_000_000_000;

/// Where packets leave the simulated network.
pub struct Egress {
    pub payloads: PayloadPool,
    pub records: Records,
    pub digest: Digest,
    /// Links whose packets are recorded.
    recorded: Vec<bool>,
    window_ns: u64,
    /// Of them, those where also what packets carry is recorded.
    opened: Vec<bool>,
    /// Whose packets are, by what they carry as their flow, if a host's pacing asks.
    pub senders: BTreeMap<u32, Sender>,
}

impl Egress {
    pub fn new(plan: &Plan, records: Records) -> Self {
        let listed = |link| plan.measure.packet_links.contains(&link);
        let is_whole = plan.measure.packet_window_ns >= NS_PER_S;
        Egress {
            payloads: PayloadPool::default(),
            records,
            digest: Digest::default(),
            recorded: (0..plan.links.len()).map(listed).collect(),
            window_ns: plan.measure.packet_window_ns,
            opened: (0..plan.links.len())
                .map(|link| is_whole && plan.measure.captures.contains(&link))
                .collect(),
            senders: BTreeMap::new(),
        }
    }
}

impl PayloadSink for Egress {
    #[inline]
    fn payloads(&mut self) -> &mut PayloadPool {
        &mut self.payloads
    }
}

impl Sink for Egress {
    #[inline]
    fn deliver(&mut self, host: NodeId, packet: Packet, due: Time, _via: Option<DirectionId>) {
        let agent = u64::from(self.payloads.agent(&packet));
        self.digest.add(due, agent << 32 | u64::from(host.0) << 8 | u64::from(packet.class));
        self.payloads.deliver(&packet);
    }

    fn end(&mut self, packet: Packet, fate: Fate, at: Time, _link: Option<DirectionId>) {
        self.digest.add(at, u64::from(self.payloads.agent(&packet)) << 32 | 0xff00 | fate as u64);
        self.payloads.end(&packet, fate);
    }

    fn copied(&mut self, packet: &Packet) {
        self.payloads.copied(packet);
    }

    fn reply(&mut self, _router: NodeId, about: &Packet, message: Message) -> Option<Reply> {
        self.payloads.reply(about, message)
    }

    fn origin(&mut self, packet: &Packet) -> Origin {
        Origin { sender: self.senders.get(&packet.flow).copied(), ..Origin::default() }
    }

    fn passed(&mut self, direction: DirectionId, packet: &Packet, offered: Time, due: Result<Time, Fate>) {
        let link = direction.link();
        if self.recorded[link] && offered.ns() % NS_PER_S < self.window_ns {
            let row = results::passage(direction, packet, offered, due);
            let segment = if self.opened[link] { self.payloads.segment(packet, row) } else { None };
            self.records.packet(due.unwrap_or(offered), row, segment);
        }
    }
}
