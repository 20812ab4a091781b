//! A sink that keeps what it is given.

use longhaul_network::{DirectionId, Fate, Message, NodeId, Packet, Reply, Sink};
use longhaul_units::Time;

#[derive(Debug, Default, PartialEq)]
pub struct RecordingSink {
    /// Host, body and due time in ps.
    pub delivered: Vec<(u32, u32, u64)>,
    pub ended: Vec<(u32, Fate)>,
    pub copied: u64,
    pub messages: Vec<(u32, Message)>,
}

impl Sink for RecordingSink {
    fn deliver(&mut self, host: NodeId, packet: Packet, due: Time, _via: Option<DirectionId>) {
        self.delivered.push((host.0, packet.body, due.ps()));
    }
    fn end(&mut self, packet: Packet, fate: Fate, _at: Time, _link: Option<DirectionId>) {
        self.ended.push((packet.body, fate));
    }
    fn copied(&mut self, _packet: &Packet) {
        self.copied += 1;
    }
    fn reply(&mut self, router: NodeId, _about: &Packet, message: Message) -> Option<Reply> {
        self.messages.push((router.0, message));
        Some(Reply { body: u32::MAX, bytes: 100 })
    }
}
