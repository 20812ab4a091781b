use crate::packet::{DirectionId, Fate, Message, NodeId, Origin, Packet, Reply};
use longhaul_units::Time;

/// What the network tells its host.
pub trait Sink {
    /// `packet` leaves the network at `host`, where it was due at `due`, by link `via` (`None`: it
    /// never left its host). Called in order of `due` for each host and last link.
    fn deliver(&mut self, host: NodeId, packet: Packet, due: Time, via: Option<DirectionId>);
    /// `packet` ends otherwise, at `at`; `link` says where, if on a link.
    fn end(&mut self, packet: Packet, fate: Fate, at: Time, link: Option<DirectionId>);
    /// A second packet with the same body exists from now on.
    fn copied(&mut self, packet: &Packet);
    /// `router` answers about a packet. Returns the answer's bytes, or `None` if none can be made.
    fn reply(&mut self, router: NodeId, about: &Packet, message: Message) -> Option<Reply>;
    /// What pacing asks about a `packet`, once for each flow; the same answer for all of it.
    fn origin(&mut self, packet: &Packet) -> Origin {
        let _ = packet;
        Origin::default()
    }
    /// The pacing of a host, before `direction`, takes `packet` for one of this class.
    fn sorted(&mut self, direction: DirectionId, class: usize, packet: &Packet) {
        let _ = (direction, class, packet);
    }
    /// `packet` comes to a tapped link at `at`, in order of time.
    fn offered(&mut self, direction: DirectionId, packet: &Packet, at: Time) {
        let _ = (direction, packet, at);
    }
    /// `packet` was offered to a tapped link at `offered` and leaves it at the far end when it is due, or ended there, at the
    /// instant beside its fate.
    fn passed(
        &mut self,
        direction: DirectionId,
        packet: &Packet,
        offered: Time,
        due: Result<Time, (Fate, Time)>,
    ) {
        let _ = (direction, packet, offered, due);
    }
    /// A direction that leads to another [shard](crate::Cut) has taken `packets`, with the times at which they are due
    /// there. From now on, the other shard has them, and the list is to be empty.
    fn crosses(&mut self, direction: DirectionId, packets: &mut Vec<(Time, Packet)>) {
        let _ = direction;
        packets.clear();
    }
}
