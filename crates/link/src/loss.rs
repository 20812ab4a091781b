mod listed;
mod markov;
mod renewal;

use crate::block::Block;
use listed::{Runs, Times};
use longhaul_random::{Distribution, Stream};
use longhaul_units::{InvalidValue, Probability, Rate, Span, Time, checked_when_read};
use markov::{FourState, TwoState};
use renewal::Renewal;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::num::NonZeroU64;
use std::sync::Arc;

/// A loss model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self", tag = "model", rename_all = "kebab-case", deny_unknown_fields)]
pub enum LossModel {
    /// No loss.
    None {},
    /// Each packet is lost independently.
    Independent {
        /// Share of packets lost.
        probability: Probability,
    },
    /// Exactly one packet, chosen at random, is lost in each block (NemC's `drop_rate`).
    OnePerBlock {
        /// Packets in a block.
        block: NonZeroU64,
    },
    /// The last packet of each block is lost.
    Periodic {
        /// Packets from one loss to the next.
        every: NonZeroU64,
    },
    /// Two states with geometric sojourns; the bad state loses every packet (Gilbert 1960).
    GilbertElliott {
        /// Long-run share of packets lost; 0 <= mean < 1.
        mean: f64,
        /// Mean number of consecutive losses; at least 1 and at least mean / (1 - mean).
        burst: f64,
    },
    /// Two states, each with its own loss probability (Elliott 1963). The two transitions are not both 0.
    Markov {
        /// Transition probability per packet, good to bad.
        good_to_bad: Probability,
        /// Transition probability per packet, bad to good.
        bad_to_good: Probability,
        /// Share lost in the good state.
        loss_good: Probability,
        /// Share lost in the bad state.
        loss_bad: Probability,
    },
    /// Four states: received in a gap (1), received in a burst (2), lost in a burst (3), isolated loss (4);
    /// Salsano, Ludovici and Ordine 2009. State 4 always returns to 1.
    FourState {
        /// Transition probability from 1 to 3.
        p13: f64,
        /// Transition probability from 3 to 1; with `p32` at most 1.
        p31: f64,
        /// Transition probability from 3 to 2.
        p32: f64,
        /// Transition probability from 2 to 3.
        p23: f64,
        /// Transition probability from 1 to 4; with `p13` at most 1.
        p14: f64,
    },
    /// The probability depends on the fate of the previous packet; the mean is kept exactly.
    Correlated {
        /// Share of packets lost.
        mean: f64,
        /// Correlation of consecutive fates; at least 0, below 1.
        correlation: f64,
    },
    /// The gaps between losses are independent draws, and so are the bursts.
    Renewal {
        /// From one loss to the next, in `unit`; times in nanoseconds.
        gap: Distribution,
        /// Packets lost in a row, rounded up to a whole number of at least one.
        burst: Distribution,
        /// Unit of the gaps.
        unit: GapUnit,
        /// In wall time: how long the end of a gap waits for a packet to drop; `None`: any time.
        #[serde(rename = "lasts_ns", default, skip_serializing_if = "Option::is_none")]
        lasts: Option<Span>,
    },
    /// Runs of packets from a list.
    Runs {
        /// Pairs of (packets delivered, packets lost).
        runs: Arc<[(u64, u64)]>,
        /// Whether the list repeats; otherwise nothing is lost after its end. A list that repeats has packets.
        repeat: bool,
    },
    /// The first packet at or after each of a list of times is lost.
    Times {
        /// Times since the start of the run, ascending.
        #[serde(rename = "times_ns")]
        times: Arc<[Time]>,
        /// The list repeats after this long, which is longer than the last time.
        #[serde(rename = "repeat_ns")]
        repeat: Option<Span>,
    },
}

/// The unit of gaps between losses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum GapUnit {
    /// Packets offered.
    Packets,
    /// IP bytes offered.
    Bytes,
    /// Nanoseconds that the offered packets take at a rate.
    Busy {
        /// That rate.
        #[serde(rename = "bits_per_s")]
        rate: Rate,
    },
    /// Nanoseconds of the run's clock.
    Wall,
}

checked_when_read!(LossModel);

impl LossModel {
    /// The rules between the fields.
    ///
    /// # Errors
    /// The first rule that is broken.
    pub fn check(&self) -> Result<(), InvalidValue> {
        let share = |name: &str, value: f64| match Probability::new(value) {
            Some(_) => Ok(()),
            None => Err(InvalidValue::new(name, "must lie between 0 and 1")),
        };
        let correlated = |value: f64| {
            if (0.0..1.0).contains(&value) {
                Ok(())
            } else {
                Err(InvalidValue::new("correlation", "must be at least 0 and below 1"))
            }
        };
        match self {
            LossModel::None {}
            | LossModel::Independent { .. }
            | LossModel::OnePerBlock { .. }
            | LossModel::Periodic { .. } => Ok(()),
            LossModel::GilbertElliott { mean, burst } => {
                if !(0.0..1.0).contains(mean) {
                    Err(InvalidValue::new("mean", "must be at least 0 and below 1"))
                } else if !(*burst >= 1.0 && *mean <= burst / (burst + 1.0)) {
                    Err(InvalidValue::new("burst", "must be at least 1 and at least mean / (1 - mean)"))
                } else {
                    Ok(())
                }
            }
            LossModel::Markov { good_to_bad, bad_to_good, .. } => {
                if *good_to_bad == Probability::ZERO && *bad_to_good == Probability::ZERO {
                    return Err(InvalidValue::new("good_to_bad", "and bad_to_good must not both be 0"));
                }
                Ok(())
            }
            LossModel::FourState { p13, p31, p32, p23, p14 } => {
                for (name, value) in
                    [("p13", *p13), ("p31", *p31), ("p32", *p32), ("p23", *p23), ("p14", *p14)]
                {
                    share(name, value)?;
                }
                share("p13 + p14", p13 + p14)?;
                share("p31 + p32", p31 + p32)
            }
            LossModel::Correlated { mean, correlation } => {
                share("mean", *mean)?;
                correlated(*correlation)
            }
            LossModel::Renewal { unit, lasts, .. } => {
                if lasts.is_some() && *unit != GapUnit::Wall {
                    return Err(InvalidValue::new("lasts_ns", "applies to gaps in wall time only"));
                }
                Ok(())
            }
            LossModel::Runs { runs, repeat } => {
                if *repeat && runs.iter().all(|&(delivered, lost)| delivered == 0 && lost == 0) {
                    return Err(InvalidValue::new("runs", "must contain packets if the list repeats"));
                }
                Ok(())
            }
            LossModel::Times { times, repeat } => {
                if !times.is_sorted() {
                    return Err(InvalidValue::new("times_ns", "must be in ascending order"));
                }
                let end = times.last().map_or(Span::ZERO, |last| last.since(Time::ZERO));
                if repeat.is_some_and(|period| period <= end) {
                    return Err(InvalidValue::new("repeat_ns", "must exceed the last time and 0"));
                }
                Ok(())
            }
        }
    }
}

/// A loss model at work.
#[derive(Clone, Debug)]
pub(crate) enum LossProcess {
    None,
    Independent(Probability),
    Block(Block),
    Periodic { every: u64, passed: u64 },
    TwoState(TwoState),
    FourState(FourState),
    Renewal(Renewal),
    Runs(Runs),
    Times(Times),
}

impl LossProcess {
    /// Starts afresh at `now`.
    pub(crate) fn new(model: &LossModel, now: Time) -> Self {
        match model {
            LossModel::None {} => LossProcess::None,
            LossModel::Independent { probability } => LossProcess::Independent(*probability),
            LossModel::OnePerBlock { block } => LossProcess::Block(Block::new(*block)),
            LossModel::Periodic { every } => LossProcess::Periodic { every: every.get(), passed: 0 },
            LossModel::GilbertElliott { mean, burst } => {
                LossProcess::TwoState(TwoState::gilbert(*mean, *burst))
            }
            LossModel::Markov { good_to_bad, bad_to_good, loss_good, loss_bad } => {
                LossProcess::TwoState(TwoState::elliott(*good_to_bad, *bad_to_good, *loss_good, *loss_bad))
            }
            LossModel::FourState { p13, p31, p32, p23, p14 } => {
                LossProcess::FourState(FourState::new(*p13, *p31, *p32, *p23, *p14))
            }
            LossModel::Correlated { mean, correlation } => {
                LossProcess::TwoState(TwoState::correlated(*mean, *correlation))
            }
            LossModel::Renewal { gap, burst, unit, lasts } => {
                LossProcess::Renewal(Renewal::new(gap.clone(), burst.clone(), *unit, *lasts, now))
            }
            LossModel::Runs { runs, repeat } => LossProcess::Runs(Runs::new(runs.clone(), *repeat)),
            LossModel::Times { times, repeat } => LossProcess::Times(Times::new(times.clone(), *repeat, now)),
        }
    }

    /// Whether the next packet, of `bytes`, which comes at `now`, is lost.
    pub(crate) fn drops(&mut self, stream: &mut Stream, now: Time, bytes: u32) -> bool {
        match self {
            LossProcess::None => false,
            LossProcess::Independent(probability) => probability.occurs(stream.bits()),
            LossProcess::Block(block) => block.occurs(stream),
            LossProcess::Periodic { every, passed } => {
                *passed = (*passed + 1) % *every;
                *passed == 0
            }
            LossProcess::TwoState(states) => states.drops(stream),
            LossProcess::FourState(states) => states.drops(stream),
            LossProcess::Renewal(renewal) => renewal.drops(stream, now, bytes),
            LossProcess::Runs(runs) => runs.drops(),
            LossProcess::Times(times) => times.drops(now),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use longhaul_random::Seed;

    fn stream() -> Stream {
        Seed::new(7).stream("link/forward/loss")
    }

    /// Asserts that `observed` lies within 4.5 standard errors of `expected` (p = 7e-6).
    fn assert_close(what: &str, observed: f64, expected: f64, error: f64) {
        assert!(
            (observed - expected).abs() < 4.5 * error,
            "{what}: {observed} instead of {expected} +- {error}"
        );
    }

    #[test]
    #[cfg_attr(miri, ignore = "statistics of 400,000 draws")]
    fn independent_loss_keeps_its_mean_and_has_no_memory() {
        const N: u32 = 400_000;
        for p in [0.0002, 0.01, 0.3] {
            let mut stream = stream();
            let mut loss = LossProcess::new(
                &LossModel::Independent { probability: Probability::new(p).unwrap() },
                Time::ZERO,
            );
            let (mut losses, mut pairs, mut previous) = (0u32, 0u32, false);
            for _ in 0..N {
                let lost = loss.drops(&mut stream, Time::ZERO, 1500);
                losses += u32::from(lost);
                pairs += u32::from(lost && previous);
                previous = lost;
            }
            let n = f64::from(N);
            assert_close("mean", f64::from(losses) / n, p, (p * (1.0 - p) / n).sqrt());
            // Two in a row with chance q = p^2; overlapping pairs at most double the variance.
            let q = p * p;
            assert_close("pairs", f64::from(pairs) / n, q, (2.0 * q / n).sqrt() + 1.0 / n);
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "statistics of 1,000,000 draws")]
    fn gilbert_elliott_keeps_its_mean_and_its_mean_burst() {
        const N: u32 = 1_000_000;
        for (mean, burst) in [(0.001, 3.0), (0.02, 1.5), (0.2, 20.0)] {
            let mut stream = stream();
            let mut loss = LossProcess::new(&LossModel::GilbertElliott { mean, burst }, Time::ZERO);
            let (mut losses, mut bursts, mut previous) = (0u32, 0u32, false);
            for _ in 0..N {
                let lost = loss.drops(&mut stream, Time::ZERO, 1500);
                losses += u32::from(lost);
                bursts += u32::from(lost && !previous);
                previous = lost;
            }
            // The states' correlation decays by c = 1 - p - r per packet, so that the mean's
            // variance is that of independent draws times (1 + c) / (1 - c).
            let r = 1.0 / burst;
            let c = 1.0 - r - mean * r / (1.0 - mean);
            let variance = mean * (1.0 - mean) * (1.0 + c) / (1.0 - c) / f64::from(N);
            assert_close("mean", f64::from(losses) / f64::from(N), mean, variance.sqrt());
            // Burst lengths are geometric: variance (1 - r) / r^2 each.
            let error = ((1.0 - r) / (r * r) / f64::from(bursts)).sqrt();
            assert_close("burst", f64::from(losses) / f64::from(bursts), burst, error);
        }
    }

    #[test]
    fn gilbert_elliott_starts_in_its_long_run_state() {
        const N: u32 = if cfg!(miri) { 500 } else { 20_000 };
        let mut stream = stream();
        let model = LossModel::GilbertElliott { mean: 0.25, burst: 50.0 };
        let first = (0..N)
            .filter(|_| LossProcess::new(&model, Time::ZERO).drops(&mut stream, Time::ZERO, 1500))
            .count();
        let error = (0.25 * 0.75 / f64::from(N)).sqrt();
        assert_close("first packet", first as f64 / f64::from(N), 0.25, error);
    }

    const PACKETS: u32 = if cfg!(miri) { 100 } else { 10_000 };

    #[test]
    fn models_that_lose_nothing_lose_nothing() {
        let mut stream = stream();
        for model in [
            LossModel::None {},
            LossModel::Independent { probability: Probability::ZERO },
            LossModel::GilbertElliott { mean: 0.0, burst: 5.0 },
        ] {
            let mut loss = LossProcess::new(&model, Time::ZERO);
            assert!((0..PACKETS).all(|_| !loss.drops(&mut stream, Time::ZERO, 1500)), "{model:?}");
        }
    }

    #[test]
    fn models_that_lose_everything_lose_everything() {
        let one = NonZeroU64::MIN;
        let mut stream = stream();
        for model in [
            LossModel::Independent { probability: Probability::ONE },
            LossModel::OnePerBlock { block: one },
            LossModel::Periodic { every: one },
        ] {
            let mut loss = LossProcess::new(&model, Time::ZERO);
            assert!((0..PACKETS).all(|_| loss.drops(&mut stream, Time::ZERO, 1500)), "{model:?}");
        }
    }

    #[test]
    fn periodic_loss_takes_the_last_of_every_so_many() {
        let mut loss =
            LossProcess::new(&LossModel::Periodic { every: NonZeroU64::new(4).unwrap() }, Time::ZERO);
        let lost: Vec<bool> = (0..9).map(|_| loss.drops(&mut stream(), Time::ZERO, 1500)).collect();
        assert_eq!(lost, [false, false, false, true, false, false, false, true, false]);
    }
}
