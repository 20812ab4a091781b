use longhaul_units::{Probability, Rate, Span};

/// How one direction of a link behaves.
#[derive(Clone, Debug, PartialEq)]
pub struct Laws {
    /// Whether it carries anything. Packets offered while it is down end as
    /// [`Fate::Down`](crate::Fate::Down); packets that wait stay and go on when it is up again.
    pub up: bool,
    /// What is lost, before the queue.
    pub loss: Loss,
    /// How much may wait for the wire.
    pub queue: QueueLimit,
    /// How fast the wire takes packets; `None`: at once, so that nothing ever waits.
    pub rate: Option<Rate>,
    /// Bytes that each packet occupies the wire for beyond its own (38 for Ethernet).
    pub framing_bytes: u32,
    /// How long the wire takes after a packet's last bit has entered it; one way.
    pub delay: Delay,
    /// Whether a packet may overtake another because its jitter was smaller.
    pub reorder: bool,
    /// One packet in each block takes another, longer delay.
    pub out_of_order: Option<OutOfOrder>,
    /// The chance that a packet, once past the loss law, is followed by a copy of itself.
    pub duplicate: Probability,
}

/// What is lost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Loss {
    /// Nothing.
    None,
    /// Each packet by itself.
    Independent(Probability),
    /// Exactly one packet, chosen at random, in each block of this many. Zero: nothing.
    OnePerBlock(u64),
    /// Two states with geometric sojourns; the bad one loses every packet.
    GilbertElliott {
        /// The share that is lost in the long run; 0 <= mean < 1.
        mean: f64,
        /// Mean number of packets lost in a row; at least 1 and at least mean / (1 - mean).
        burst: f64,
    },
}

/// How long the wire takes, one way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delay {
    /// Always the same.
    Constant(Span),
    /// Uniform on mean ± half width.
    Uniform {
        /// Mean.
        mean: Span,
        /// Half of the width; at most the mean.
        half_width: Span,
    },
    /// Normal, cut at zero: a draw below zero counts as zero.
    Normal {
        /// Mean before the cut.
        mean: Span,
        /// Standard deviation before the cut.
        sd: Span,
    },
}

/// How much may wait; a packet that would exceed either limit overflows. What is being serialised
/// or on the wire does not count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueueLimit {
    /// Packets; `None`: no limit.
    pub packets: Option<u64>,
    /// Bytes, framing not counted; `None`: no limit.
    pub bytes: Option<u64>,
}

/// One packet, chosen at random, in each block takes another delay, so that those behind it may
/// overtake it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutOfOrder {
    /// Packets in a block. Zero: none is chosen.
    pub block: u64,
    /// The chosen packet's delay, which should exceed the link's.
    pub delay: Span,
}

/// What becomes different; what is `None` stays.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Change {
    /// Up or down.
    pub up: Option<bool>,
    /// A new loss law, which starts afresh.
    pub loss: Option<Loss>,
    /// A new limit; what waits already stays.
    pub queue: Option<QueueLimit>,
    /// A new rate (or `Some(None)`: none), from the next packet on.
    pub rate: Option<Option<Rate>>,
    /// A new delay, for packets whose first bit leaves from now on.
    pub delay: Option<Delay>,
    /// A new chance of duplicates.
    pub duplicate: Option<Probability>,
}
