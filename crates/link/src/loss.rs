mod listed;
mod markov;
mod renewal;

pub use renewal::GapUnit;

use crate::block::Block;
use listed::{Runs, Times};
use longhaul_random::{Distribution, Stream};
use longhaul_units::{Probability, Span, Time};
use markov::{FourState, TwoState};
use renewal::Renewal;
use std::sync::Arc;

/// What is lost.
#[derive(Clone, Debug, PartialEq)]
pub enum LossModel {
    /// Nothing.
    None,
    /// Each packet by itself.
    Independent(Probability),
    /// Exactly one packet, chosen at random, in each block of this many. Zero: nothing.
    OnePerBlock(u64),
    /// The last packet of every so many. Zero: nothing.
    Periodic(u64),
    /// Two states with geometric sojourns; the bad one loses every packet (Gilbert 1960).
    GilbertElliott {
        /// The share that is lost in the long run; 0 <= mean < 1.
        mean: f64,
        /// Mean number of packets lost in a row; at least 1 and at least mean / (1 - mean).
        burst: f64,
    },
    /// Two states, each with a share of loss of its own (Elliott 1963).
    Markov {
        /// Chance, per packet, to go from good to bad.
        good_to_bad: Probability,
        /// Chance, per packet, to go from bad to good.
        bad_to_good: Probability,
        /// Share lost in the good state.
        loss_good: Probability,
        /// Share lost in the bad state.
        loss_bad: Probability,
    },
    /// Four states: good in a gap (1), good in a burst (2), lost in a burst (3), lost by itself (4);
    /// Salsano, Ludovici and Ordine 2009. From 4 the way leads to 1.
    FourState {
        /// From 1 to 3.
        p13: f64,
        /// From 3 to 1.
        p31: f64,
        /// From 3 to 2.
        p32: f64,
        /// From 2 to 3.
        p23: f64,
        /// From 1 to 4.
        p14: f64,
    },
    /// A packet's chance depends on the fate of the one before; the mean is kept exactly.
    Correlated {
        /// The share that is lost.
        mean: f64,
        /// Correlation of one packet's fate with the next one's; at least 0, below 1.
        correlation: f64,
    },
    /// Gaps between losses are drawn one by one.
    Renewal {
        /// From one loss to the next, in `unit`; times in nanoseconds.
        gap: Distribution,
        /// Packets lost in a row, rounded up to a whole number of at least one.
        burst: Distribution,
        /// What gaps are counted in.
        unit: GapUnit,
        /// How long the end of a gap in wall time waits for a packet; for any time if `None`.
        lasts: Option<Span>,
    },
    /// Runs of packets from a list: (so many pass, so many are lost).
    Runs {
        /// The list.
        runs: Arc<[(u64, u64)]>,
        /// Begins again at the end; else nothing more is lost.
        repeat: bool,
    },
    /// The first packet at or after each of a list of times, which ascends.
    Times {
        /// The list.
        times: Arc<[Time]>,
        /// It begins again after this long, which is longer than the last time.
        repeat: Option<Span>,
    },
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
            LossModel::None => LossProcess::None,
            LossModel::Independent(probability) => LossProcess::Independent(*probability),
            LossModel::OnePerBlock(size) => LossProcess::Block(Block::new(*size)),
            LossModel::Periodic(every) => LossProcess::Periodic { every: *every, passed: 0 },
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
    pub(crate) fn strikes(&mut self, stream: &mut Stream, now: Time, bytes: u32) -> bool {
        match self {
            LossProcess::None => false,
            LossProcess::Independent(probability) => probability.strikes(stream.bits()),
            LossProcess::Block(block) => block.strikes(stream),
            LossProcess::Periodic { every: 0, .. } => false,
            LossProcess::Periodic { every, passed } => {
                *passed = (*passed + 1) % *every;
                *passed == 0
            }
            LossProcess::TwoState(states) => states.strikes(stream),
            LossProcess::FourState(states) => states.strikes(stream),
            LossProcess::Renewal(renewal) => renewal.strikes(stream, now, bytes),
            LossProcess::Runs(runs) => runs.strikes(),
            LossProcess::Times(times) => times.strikes(now),
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
            let mut loss =
                LossProcess::new(&LossModel::Independent(Probability::new(p).unwrap()), Time::ZERO);
            let (mut losses, mut pairs, mut previous) = (0u32, 0u32, false);
            for _ in 0..N {
                let lost = loss.strikes(&mut stream, Time::ZERO, 1500);
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
                let lost = loss.strikes(&mut stream, Time::ZERO, 1500);
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
            .filter(|_| LossProcess::new(&model, Time::ZERO).strikes(&mut stream, Time::ZERO, 1500))
            .count();
        let error = (0.25 * 0.75 / f64::from(N)).sqrt();
        assert_close("first packet", first as f64 / f64::from(N), 0.25, error);
    }

    const PACKETS: u32 = if cfg!(miri) { 100 } else { 10_000 };

    #[test]
    fn models_that_lose_nothing_lose_nothing() {
        let mut stream = stream();
        for model in [
            LossModel::None,
            LossModel::Independent(Probability::ZERO),
            LossModel::OnePerBlock(0),
            LossModel::Periodic(0),
            LossModel::GilbertElliott { mean: 0.0, burst: 5.0 },
        ] {
            let mut loss = LossProcess::new(&model, Time::ZERO);
            assert!((0..PACKETS).all(|_| !loss.strikes(&mut stream, Time::ZERO, 1500)), "{model:?}");
        }
    }

    #[test]
    fn models_that_lose_everything_lose_everything() {
        let mut stream = stream();
        for model in
            [LossModel::Independent(Probability::ONE), LossModel::OnePerBlock(1), LossModel::Periodic(1)]
        {
            let mut loss = LossProcess::new(&model, Time::ZERO);
            assert!((0..PACKETS).all(|_| loss.strikes(&mut stream, Time::ZERO, 1500)), "{model:?}");
        }
    }

    #[test]
    fn periodic_loss_takes_the_last_of_every_so_many() {
        let mut loss = LossProcess::new(&LossModel::Periodic(4), Time::ZERO);
        let lost: Vec<bool> = (0..9).map(|_| loss.strikes(&mut stream(), Time::ZERO, 1500)).collect();
        assert_eq!(lost, [false, false, false, true, false, false, false, true, false]);
    }
}
