use crate::Distribution;
use crate::series::sorted;
use longhaul_units::Probability;
use serde::{Deserialize, Serialize};

/// What is lost.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "law", rename_all = "kebab-case", deny_unknown_fields)]
pub enum LossModel {
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
    /// The last packet of every so many.
    Periodic {
        /// Packets from one loss to the next; at least 1.
        every: u64,
    },
    /// Two states with geometric sojourns; the bad one loses everything (Gilbert 1960).
    GilbertElliott {
        /// The share that is lost in the long run.
        mean: f64,
        /// Mean number of packets lost in a row; at least 1.
        burst: f64,
    },
    /// Two states, each with a share of loss of its own (Elliott 1963).
    Markov {
        /// Chance, per packet, to go from good to bad; positive.
        good_to_bad: f64,
        /// Chance, per packet, to go from bad to good; positive.
        bad_to_good: f64,
        /// Share lost in the good state.
        loss_good: f64,
        /// Share lost in the bad state.
        loss_bad: f64,
    },
    /// Four states: good gap 1, good in a burst 2, lost in a burst 3, lost by itself 4
    /// (Salsano, Ludovici, Ordine 2009).
    FourState {
        /// Chance from 1 to 3.
        p13: f64,
        /// Chance from 3 to 1.
        p31: f64,
        /// Chance from 3 to 2.
        p32: f64,
        /// Chance from 2 to 3.
        p23: f64,
        /// Chance from 1 to 4; from 4 the way always leads to 1.
        p14: f64,
    },
    /// A packet's chance depends on the one before, and the mean is kept exactly.
    Correlated {
        /// The share that is lost.
        mean: f64,
        /// Correlation of one packet's fate with the next one's; at least 0, below 1.
        correlation: f64,
    },
    /// Gaps between losses are drawn one by one, and bursts too.
    Renewal {
        /// Length of a gap, in `unit` (wall and busy time in ns).
        gap: Distribution,
        /// Packets lost at the end of each gap, rounded up to whole ones.
        burst: Distribution,
        /// What gaps are counted in.
        unit: GapUnit,
        /// By the clock, the end of a gap is missed if no packet comes for this long (ns); else the next is lost.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        lasts_ns: Option<u64>,
    },
    /// Runs of packets from a list: so many pass, so many are lost.
    Runs {
        /// Pairs of (passing, lost).
        runs: Vec<(u64, u64)>,
        /// Begins again at the end; else nothing more is lost.
        repeat: bool,
    },
    /// The first packet at or after each of a list of times.
    Times {
        /// Times since the start of the run, ascending.
        times_ns: Vec<u64>,
        /// The list begins again after this long; longer than the last time.
        repeat_ns: Option<u64>,
    },
}

/// What a gap between losses is counted in.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum GapUnit {
    /// Packets offered.
    Packets,
    /// IP bytes offered.
    Bytes,
    /// Time that the packets offered take at a rate.
    Busy {
        /// That rate; positive.
        bits_per_s: u64,
    },
    /// Time that passes.
    Wall,
}

impl LossModel {
    /// The first thing that is wrong, named by its field.
    pub fn check(&self) -> Result<(), String> {
        let share = |name: &str, value: f64| match Probability::new(value) {
            Some(_) => Ok(()),
            None => Err(format!("{name}: must lie between 0 and 1")),
        };
        match self {
            LossModel::None {} => Ok(()),
            LossModel::Independent { probability } => share("probability", *probability),
            LossModel::OnePerBlock { block: 0 } => Err("block: must be at least 1".into()),
            LossModel::Periodic { every: 0 } => Err("every: must be at least 1".into()),
            LossModel::OnePerBlock { .. } | LossModel::Periodic { .. } => Ok(()),
            LossModel::GilbertElliott { mean, burst } => {
                if !(0.0..1.0).contains(mean) {
                    Err("mean: must lie between 0 and 1".into())
                } else if !(*burst >= 1.0 && *mean <= burst / (burst + 1.0)) {
                    Err("burst: must be at least 1 and at least mean / (1 - mean)".into())
                } else {
                    Ok(())
                }
            }
            LossModel::Markov { good_to_bad, bad_to_good, loss_good, loss_bad } => {
                share("good_to_bad", *good_to_bad)?;
                share("bad_to_good", *bad_to_good)?;
                share("loss_good", *loss_good)?;
                share("loss_bad", *loss_bad)?;
                if good_to_bad + bad_to_good > 0.0 {
                    Ok(())
                } else {
                    Err("good_to_bad: with bad_to_good must be more than 0".into())
                }
            }
            LossModel::FourState { p13, p31, p32, p23, p14 } => {
                for (name, value) in
                    [("p13", *p13), ("p31", *p31), ("p32", *p32), ("p23", *p23), ("p14", *p14)]
                {
                    share(name, value)?;
                }
                share("p14: with p13", p13 + p14)?;
                share("p32: with p31", p31 + p32)
            }
            LossModel::Correlated { mean, correlation } => {
                share("mean", *mean)?;
                if (0.0..1.0).contains(correlation) {
                    Ok(())
                } else {
                    Err("correlation: must be at least 0 and below 1".into())
                }
            }
            LossModel::Renewal { gap, burst, unit, lasts_ns } => {
                if lasts_ns.is_some() && *unit != GapUnit::Wall {
                    return Err("lasts_ns: is for gaps in wall time".into());
                }
                gap.check().map_err(|error| format!("gap.{error}"))?;
                burst.check().map_err(|error| format!("burst.{error}"))?;
                match unit {
                    GapUnit::Busy { bits_per_s: 0 } => Err("unit.busy.bits_per_s: must be positive".into()),
                    _ => Ok(()),
                }
            }
            LossModel::Runs { runs, repeat } => {
                if *repeat && runs.iter().all(|&(good, lost)| good + lost == 0) {
                    Err("runs: cannot repeat a list without packets".into())
                } else {
                    Ok(())
                }
            }
            LossModel::Times { times_ns, repeat_ns } => {
                sorted("times_ns", times_ns)?;
                match (repeat_ns, times_ns.last()) {
                    (Some(0), _) => Err("repeat_ns: must be positive".into()),
                    (Some(period), Some(last)) if period <= last => {
                        Err("repeat_ns: must be more than the last time".into())
                    }
                    _ => Ok(()),
                }
            }
        }
    }
}
