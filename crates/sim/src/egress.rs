use crate::captures::{Captured, CapturedPassage};
use crate::digest::Digest;
use crate::exchange::Batch;
use crate::records::Passed;
use longhaul_endpoints::{PayloadPool, PayloadSink};
use longhaul_network::{DirectionId, Fate, Message, NodeId, Origin, Packet, Reply, Sink, results};
use longhaul_plan::{Plan, Sender, Way};
use longhaul_record::PacketRow;
use longhaul_units::Time;
use std::collections::BTreeMap;

const NS_PER_S: u64 = 1_000_000_000;

/// Where packets leave the simulated network, or one shard of it.
pub struct Egress {
    pub payloads: PayloadPool,
    /// Packets that have passed a link, or will have.
    pub passed: Vec<Passed>,
    pub digest: Digest,
    /// Links whose packets are recorded.
    recorded: Vec<bool>,
    window_ns: u64,
    /// Of them, those where also what packets carry is recorded.
    opened: Vec<bool>,
    /// Links whose packets are captured.
    captured: Vec<bool>,
    /// What captures are made of; `None`: no link is captured.
    pub captures: Option<Captured>,
    /// Whose packets are, by what they carry as their flow, if a host's pacing asks.
    pub senders: BTreeMap<u32, Sender>,
    /// What goes to other shards, by the direction.
    pub batches: Vec<Batch>,
}

impl Egress {
    /// Packets are recorded if the run `records` anything.
    pub fn new(plan: &Plan, records: bool) -> Self {
        let listed = |link| records && plan.measure.packet_links.contains(&link);
        let is_whole = plan.measure.packet_window_ns >= NS_PER_S;
        Egress {
            payloads: PayloadPool::default(),
            passed: Vec::new(),
            digest: Digest::default(),
            recorded: (0..plan.links.len()).map(listed).collect(),
            window_ns: plan.measure.packet_window_ns,
            opened: (0..plan.links.len())
                .map(|link| is_whole && plan.measure.captures.contains(&link))
                .collect(),
            captured: (0..plan.links.len())
                .map(|link| records && plan.measure.captures.contains(&link))
                .collect(),
            captures: (records && !plan.measure.captures.is_empty()).then(Captured::default),
            senders: BTreeMap::new(),
            batches: Vec::new(),
        }
    }
}

impl Egress {
    /// Forgets packets that pass at `now` or later: they will be reported again, but for those that go to another shard.
    pub fn forget_passed(&mut self, now: Time) {
        let Egress { passed, batches, .. } = self;
        passed.retain(|(at, row, _)| *at < now || crosses(batches, row));
    }

    #[inline]
    fn capture(&mut self, direction: DirectionId, packet: &Packet, at: Time, departure: bool) {
        if let Some(captures) = &mut self.captures
            && self.captured[direction.link()]
        {
            let packet = self.payloads.captured(packet);
            captures.passages.push(CapturedPassage { at, direction, departure, packet });
        }
    }

    /// Whether a packet goes to another shard.
    pub fn crosses(&self, row: &PacketRow) -> bool {
        crosses(&self.batches, row)
    }
}

fn crosses(batches: &[Batch], row: &PacketRow) -> bool {
    let way = if row.reverse { Way::Reverse } else { Way::Forward };
    let direction = DirectionId::new(row.link as usize, way);
    batches.binary_search_by_key(&direction, |batch| batch.direction).is_ok()
}

impl PayloadSink for Egress {
    #[inline]
    fn payloads(&mut self) -> &mut PayloadPool {
        &mut self.payloads
    }

    #[inline]
    fn sent(&mut self, packet: &Packet) {
        if let Some(captures) = &mut self.captures {
            captures.sent.extend(self.payloads.sent_segment(packet));
        }
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

    fn crosses(&mut self, direction: DirectionId, packets: &mut Vec<(Time, Packet)>) {
        let Ok(place) = self.batches.binary_search_by_key(&direction, |batch| batch.direction) else {
            return;
        };
        let batch = &mut self.batches[place];
        self.payloads.export(packets, &mut batch.payloads);
        if batch.packets.is_empty() {
            // Not copied.
            std::mem::swap(packets, &mut batch.packets);
        } else {
            batch.packets.append(packets);
        }
    }

    fn reply(&mut self, _router: NodeId, about: &Packet, message: Message) -> Option<Reply> {
        self.payloads.reply(about, message)
    }

    fn origin(&mut self, packet: &Packet) -> Origin {
        Origin { sender: self.senders.get(&packet.flow).copied(), ..Origin::default() }
    }

    fn offered(&mut self, direction: DirectionId, packet: &Packet, at: Time) {
        self.capture(direction, packet, at, false);
    }

    fn passed(
        &mut self,
        direction: DirectionId,
        packet: &Packet,
        offered: Time,
        due: Result<Time, (Fate, Time)>,
    ) {
        let link = direction.link();
        if self.recorded[link] && offered.ns() % NS_PER_S < self.window_ns {
            let row = results::passage(direction, packet, offered, due.map_err(|(fate, _)| fate));
            let segment = if self.opened[link] { self.payloads.segment(packet, row) } else { None };
            let at = due.unwrap_or_else(|(_, ended)| ended);
            self.passed.push((at, row, segment));
        }
        if let Ok(due) = due {
            self.capture(direction, packet, due, true);
        }
    }
}
