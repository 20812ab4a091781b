use crate::Distribution;
use crate::series::check_points;
use longhaul_units::Probability;
use serde::{Deserialize, Serialize};

/// How long the wire takes, one way.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "law", rename_all = "kebab-case", deny_unknown_fields)]
pub enum DelayModel {
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
    /// A base and a random rest; their sum is cut at zero.
    Random {
        /// Mean of the sum, which routing takes as the cost of the link.
        mean_ns: u64,
        /// The part that is always there.
        base_ns: u64,
        /// The rest, in ns.
        jitter: Distribution,
        /// Correlation of neighbours' ranks (Gaussian copula, first order); at least 0, below 1. The
        /// distribution itself is kept.
        correlation: f64,
    },
    /// From a list of points of time.
    Series {
        /// Mean over the list, which routing takes as the cost of the link.
        mean_ns: u64,
        /// (time, delay), times ascending, the first at 0.
        points: Vec<(u64, u64)>,
        /// A straight line between points; else steps.
        linear: bool,
        /// The list begins again after this long; else its last value is held.
        repeat_ns: Option<u64>,
    },
    /// An emulator that releases packets at the ticks of a clock, to compare with.
    Ticks {
        /// The delay that it is asked for.
        delay_ns: u64,
        /// Ticks per second.
        hz: u32,
        /// How it rounds.
        rounding: Rounding,
    },
}

/// How an emulator with a tick rounds a delay.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rounding {
    /// To the nearest number of ticks, counted from the next one (NIST Net).
    Nearest,
    /// Up to a whole number of ticks, counted from the next one (netem on kernels without
    /// high-resolution timers).
    Up,
}

/// A reordering model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "law", rename_all = "kebab-case", deny_unknown_fields)]
pub enum ReorderModel {
    /// No packet is reordered.
    None {},
    /// One packet, chosen at random, in every block gets another delay (NemC's ooo_rate, ooo_delay).
    Block {
        /// Packets in a block; at least 1.
        block: u64,
        /// Its one-way delay, which must exceed the link's.
        delay_ns: u64,
    },
    /// Each packet by itself gets another delay.
    Share {
        /// The share that does.
        probability: f64,
        /// Its one-way delay, which must exceed the link's.
        delay_ns: u64,
    },
    /// Of every so many packets one may go without delay (netem's gap and reorder).
    Early {
        /// Packets from one that may to the next; at least 1.
        gap: u64,
        /// The chance that it does; else the next packet may.
        probability: f64,
    },
}

impl DelayModel {
    /// The delay's mean, which routing takes as the cost of the link.
    pub fn mean_ns(&self) -> u64 {
        match self {
            DelayModel::Constant { delay_ns } | DelayModel::Ticks { delay_ns, .. } => *delay_ns,
            DelayModel::Uniform { mean_ns, .. }
            | DelayModel::Normal { mean_ns, .. }
            | DelayModel::Random { mean_ns, .. }
            | DelayModel::Series { mean_ns, .. } => *mean_ns,
        }
    }

    /// The first thing that is wrong, named by its field.
    pub fn check(&self) -> Result<(), String> {
        match self {
            DelayModel::Uniform { mean_ns, half_width_ns } if half_width_ns > mean_ns => {
                Err("half_width_ns: must not exceed the mean".into())
            }
            DelayModel::Random { jitter, correlation, .. } => {
                jitter.check().map_err(|error| format!("jitter.{error}"))?;
                if (0.0..1.0).contains(correlation) {
                    Ok(())
                } else {
                    Err("correlation: must be at least 0 and below 1".into())
                }
            }
            DelayModel::Series { points, repeat_ns, .. } => check_points(points, *repeat_ns),
            DelayModel::Ticks { hz: 0, .. } => Err("hz: must be positive".into()),
            _ => Ok(()),
        }
    }
}

impl ReorderModel {
    /// The first thing that is wrong on a link whose mean delay is `mean_ns`, named by its field.
    pub fn check(&self, mean_ns: u64) -> Result<(), String> {
        match self {
            ReorderModel::Block { block: 0, .. } => Err("block: must be at least 1".into()),
            ReorderModel::Early { gap: 0, .. } => Err("gap: must be at least 1".into()),
            ReorderModel::Block { delay_ns, .. } | ReorderModel::Share { delay_ns, .. }
                if *delay_ns <= mean_ns =>
            {
                Err("delay_ns: must exceed the link's delay".into())
            }
            ReorderModel::Share { probability, .. } | ReorderModel::Early { probability, .. }
                if Probability::new(*probability).is_none() =>
            {
                Err("probability: must lie between 0 and 1".into())
            }
            _ => Ok(()),
        }
    }
}
