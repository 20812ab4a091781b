use longhaul_units::Probability;
use serde::{Deserialize, Serialize};

/// The laws of one direction of a link.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Direction {
    /// Whether it carries anything.
    pub up: bool,
    /// What is lost before the queue.
    pub loss: Loss,
    /// How much may wait.
    pub queue: Queue,
    /// How fast the wire takes packets.
    pub rate: Rate,
    /// Bytes that each packet occupies the wire for, beyond its IP bytes (38 for Ethernet with
    /// preamble, header, FCS and gap; 0 to count IP bytes alone).
    pub framing_bytes: u32,
    /// How long the wire takes; one way.
    pub delay: Delay,
    /// Whether a packet may overtake another because its jitter was smaller.
    pub reorder: bool,
    /// NemC's out-of-order packets.
    pub out_of_order: Option<Reorder>,
    /// The share of packets that arrive twice.
    pub duplicate: f64,
}

/// What is lost.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "law", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Loss {
    /// Nothing.
    None {},
    /// Each packet by itself.
    Independent {
        /// The share that is lost.
        probability: f64,
    },
    /// One packet, chosen at random, in every block of this many (NemC's drop_rate).
    OnePerBlock {
        /// Packets in a block; at least 1.
        block: u64,
    },
    /// Two states with geometric sojourns; the bad one loses everything (Gilbert 1960).
    GilbertElliott {
        /// The share that is lost in the long run.
        mean: f64,
        /// Mean number of packets lost in a row; at least 1.
        burst: f64,
    },
}

/// How much may wait for the wire. The first limit that is reached drops the arriving packet.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Queue {
    /// Packets waiting, the one on the wire not counted.
    pub limit_packets: Option<u64>,
    /// IP bytes waiting.
    pub limit_bytes: Option<u64>,
}

/// How fast the wire takes packets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "law", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Rate {
    /// At once: nothing ever waits.
    Unlimited {},
    /// Exactly this fast.
    Constant {
        /// Bit/s; at least 1.
        bits_per_s: u64,
    },
}

/// How long the wire takes, one way.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "law", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Delay {
    /// Always the same.
    Constant {
        /// One-way delay.
        delay_ns: u64,
    },
    /// Uniform on mean ± half width.
    Uniform {
        /// Mean.
        mean_ns: u64,
        /// Half of the width; at most the mean.
        half_width_ns: u64,
    },
    /// Normal, cut at zero.
    Normal {
        /// Mean.
        mean_ns: u64,
        /// Standard deviation.
        sd_ns: u64,
    },
}

/// One packet, chosen at random, in every block gets another delay (NemC's ooo_rate, ooo_delay).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reorder {
    /// Packets in a block; at least 1.
    pub block: u64,
    /// Its one-way delay, which must exceed the link's.
    pub delay_ns: u64,
}

/// What becomes different in a direction; what is `None` stays.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Change {
    /// Up or down.
    pub up: Option<bool>,
    /// A new loss law, which starts afresh.
    pub loss: Option<Loss>,
    /// A new limit; what waits already stays.
    pub queue: Option<Queue>,
    /// A new rate, from the next packet on.
    pub rate: Option<Rate>,
    /// A new delay, for packets that enter the wire from now on.
    pub delay: Option<Delay>,
    /// A new share of duplicates.
    pub duplicate: Option<f64>,
}

impl Direction {
    /// The delay's mean, which routing takes as the cost of the link.
    pub fn mean_delay_ns(&self) -> u64 {
        match self.delay {
            Delay::Constant { delay_ns } => delay_ns,
            Delay::Uniform { mean_ns, .. } | Delay::Normal { mean_ns, .. } => mean_ns,
        }
    }

    /// The first thing that is wrong, named from `loss`, `rate` ... on.
    pub fn check(&self) -> Result<(), String> {
        Change {
            up: None,
            loss: Some(self.loss.clone()),
            queue: None,
            rate: Some(self.rate.clone()),
            delay: Some(self.delay.clone()),
            duplicate: Some(self.duplicate),
        }
        .check()?;
        match &self.out_of_order {
            Some(Reorder { block: 0, .. }) => Err("out_of_order.block: must be at least 1".into()),
            Some(Reorder { delay_ns, .. }) if *delay_ns <= self.mean_delay_ns() => {
                Err("out_of_order.delay_ns: must exceed the link's delay".into())
            }
            _ => Ok(()),
        }
    }
}

impl Change {
    /// The first thing that is wrong, named from `loss`, `rate` ... on.
    pub fn check(&self) -> Result<(), String> {
        match self.loss {
            Some(Loss::Independent { probability }) if Probability::new(probability).is_none() => {
                return Err("loss.probability: must lie between 0 and 1".into());
            }
            Some(Loss::OnePerBlock { block: 0 }) => return Err("loss.block: must be at least 1".into()),
            Some(Loss::GilbertElliott { mean, .. }) if !(0.0..1.0).contains(&mean) => {
                return Err("loss.mean: must lie between 0 and 1".into());
            }
            Some(Loss::GilbertElliott { mean, burst })
                if !(burst >= 1.0 && mean <= burst / (burst + 1.0)) =>
            {
                return Err("loss.burst: must be at least 1 and at least mean / (1 - mean)".into());
            }
            _ => {}
        }
        if matches!(self.rate, Some(Rate::Constant { bits_per_s: 0 })) {
            return Err("rate.bits_per_s: must be positive; a link that carries nothing is down".into());
        }
        match self.delay {
            Some(Delay::Uniform { mean_ns, half_width_ns }) if half_width_ns > mean_ns => {
                return Err("delay.half_width_ns: must not exceed the mean".into());
            }
            _ => {}
        }
        if self.duplicate.is_some_and(|share| Probability::new(share).is_none()) {
            return Err("duplicate: must lie between 0 and 1".into());
        }
        Ok(())
    }
}
