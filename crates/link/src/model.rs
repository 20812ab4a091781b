use crate::{DelayModel, Framing, LossModel, QueueDiscipline, QueueLimit, RateModel};
use longhaul_units::{Probability, Span};

/// How one direction of a link behaves. By default it is up, and does nothing to packets.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkModel {
    /// Whether it carries anything. Packets offered while it is down end as
    /// [`Fate::Down`](crate::Fate::Down); packets that wait stay and go on when it is up again.
    pub up: bool,
    /// What is lost.
    pub loss: LossModel,
    /// Where it is lost.
    pub loss_position: LossPosition,
    /// How much may wait for the wire.
    pub queue: QueueLimit,
    /// In which order, and what is dropped before the limit is reached.
    pub discipline: QueueDiscipline,
    /// How fast the wire takes packets.
    pub rate: RateModel,
    /// What each packet occupies the wire for.
    pub framing: Framing,
    /// How long the wire takes after a packet's last bit has entered it; one way.
    pub delay: DelayModel,
    /// Whether a packet may overtake another because its delay was smaller.
    pub reorder: bool,
    /// The reordering model.
    pub reordering: Option<ReorderModel>,
    /// The chance that a packet, once past the loss model, is followed by a copy of itself.
    pub duplicate: Probability,
    /// The chance that one bit of a packet arrives wrong.
    pub corrupt: Probability,
}

impl Default for LinkModel {
    fn default() -> Self {
        LinkModel {
            up: true,
            loss: LossModel::None,
            loss_position: LossPosition::Ingress,
            queue: QueueLimit::default(),
            discipline: QueueDiscipline::Fifo,
            rate: RateModel::Unlimited,
            framing: Framing::default(),
            delay: DelayModel::Constant(Span::ZERO),
            reorder: false,
            reordering: None,
            duplicate: Probability::ZERO,
            corrupt: Probability::ZERO,
        }
    }
}

/// Where packets are lost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LossPosition {
    /// Before the queue: a lost packet takes no room and no time.
    #[default]
    Ingress,
    /// After the serialiser: a lost packet has taken both.
    Egress,
}

/// A reordering model, for a wire that keeps packets in order otherwise.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ReorderModel {
    /// One packet, chosen at random, in each block takes another delay, so that those behind it may
    /// overtake it.
    Block {
        /// Packets in a block. Zero: none is chosen.
        block: u64,
        /// The chosen packet's delay, which should exceed the link's.
        delay: Span,
    },
    /// Each packet by itself takes another delay.
    Share {
        /// The chance that it does.
        probability: Probability,
        /// Its delay, which should exceed the link's.
        delay: Span,
    },
    /// When so many packets have gone in order, the next may go without delay (netem's gap).
    Early {
        /// Packets from one that may to the next; at least 1.
        gap: u64,
        /// The chance that it does; else the one after it may.
        probability: Probability,
    },
}

/// What becomes different; what is `None` stays.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Change {
    /// Up or down.
    pub up: Option<bool>,
    /// A new loss model, which starts afresh.
    pub loss: Option<LossModel>,
    /// A new limit; what waits already stays.
    pub queue: Option<QueueLimit>,
    /// A new discipline; what waits already goes over into it, in its order.
    pub discipline: Option<QueueDiscipline>,
    /// A new rate, from the next packet on.
    pub rate: Option<RateModel>,
    /// A new delay, for packets whose first bit leaves from now on.
    pub delay: Option<DelayModel>,
    /// Whether packets may overtake, from now on.
    pub reorder: Option<bool>,
    /// A new chance of duplicates.
    pub duplicate: Option<Probability>,
    /// A new chance of wrong bits.
    pub corrupt: Option<Probability>,
    /// A new loss position. Packets that wait in the queue have passed its ingress: a change applies to them only
    /// at the egress.
    pub loss_position: Option<LossPosition>,
    /// New framing, for packets whose first bit leaves from now on.
    pub framing: Option<Framing>,
    /// A new reordering model, or none, for packets whose first bit leaves from now on.
    pub reordering: Option<Option<ReorderModel>>,
    /// A new span within which segments of a super-packet leave together, for packets whose first bit leaves
    /// from now on.
    pub coalesce: Option<Span>,
}
