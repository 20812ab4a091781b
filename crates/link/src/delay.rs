use crate::Series;
use longhaul_random::{Distribution, MAX_NORMAL_DEVIATE, Stream, normal_share};
use longhaul_units::{InvalidValue, Span, Time, checked_when_read};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::num::NonZeroU32;
use std::sync::Arc;

/// A model of the one-way delay of the wire.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self", tag = "model", rename_all = "kebab-case", deny_unknown_fields)]
pub enum DelayModel {
    /// The same delay for every packet.
    Constant {
        /// That delay.
        #[serde(rename = "delay_ns")]
        delay: Span,
    },
    /// Uniform on mean ± half width.
    Uniform {
        /// Mean.
        #[serde(rename = "mean_ns")]
        mean: Span,
        /// Half of the width; at most the mean.
        #[serde(rename = "half_width_ns")]
        half_width: Span,
    },
    /// Normal, cut at zero: a draw below zero counts as zero.
    Normal {
        /// Mean before the cut.
        #[serde(rename = "mean_ns")]
        mean: Span,
        /// Standard deviation before the cut.
        #[serde(rename = "sd_ns")]
        sd: Span,
    },
    /// A constant and a random part in nanoseconds; their sum is cut at zero.
    Random {
        /// Mean of the sum, which routing takes as the cost of the link.
        #[serde(rename = "mean_ns")]
        mean: Span,
        /// The constant part.
        #[serde(rename = "base_ns")]
        base: Span,
        /// The random part, in nanoseconds.
        jitter: Distribution,
        /// Correlation of the normal ranks of neighbours (Gaussian copula, first order): at least 0, below 1.
        /// The distribution of each delay is kept.
        correlation: f64,
    },
    /// The value of a time series at the instant at which a packet enters the wire.
    Series(DelaySeries),
    /// Released at a tick of a clock: what emulators without better timers do.
    Ticks {
        /// The configured delay.
        #[serde(rename = "delay_ns")]
        delay: Span,
        /// Ticks per second.
        hz: NonZeroU32,
        /// How the delay becomes a number of ticks.
        rounding: Rounding,
    },
}

/// Delays at points of time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "DelayPoints", into = "DelayPoints")]
pub struct DelaySeries {
    /// Mean over the list, which routing takes as the cost of the link.
    pub mean: Span,
    /// Picoseconds at points of time.
    pub series: Series,
    /// Whether delays between two points lie on a straight line; otherwise they are steps.
    pub linear: bool,
}

/// [`DelaySeries`] as it is written.
#[derive(Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct DelayPoints {
    mean_ns: Span,
    points: Arc<[(Time, Span)]>,
    linear: bool,
    repeat_ns: Option<Span>,
}

impl TryFrom<DelayPoints> for DelaySeries {
    type Error = InvalidValue;

    fn try_from(written: DelayPoints) -> Result<Self, InvalidValue> {
        let points: Vec<(Time, u64)> = written.points.iter().map(|&(at, delay)| (at, delay.ps())).collect();
        let series = Series::new(&points, written.repeat_ns)?;
        Ok(DelaySeries { mean: written.mean_ns, series, linear: written.linear })
    }
}

impl From<DelaySeries> for DelayPoints {
    fn from(delay: DelaySeries) -> Self {
        DelayPoints {
            mean_ns: delay.mean,
            points: delay.series.points().iter().map(|&(at, ps)| (at, Span::from_ps(ps))).collect(),
            linear: delay.linear,
            repeat_ns: delay.series.period(),
        }
    }
}

/// How a delay becomes a number of ticks, counted from the first tick after the packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Rounding {
    /// The nearest number (NIST Net with its clock of 8192 Hz).
    Nearest,
    /// The next higher number (netem with jiffies).
    Up,
}

checked_when_read!(DelayModel);

impl DelayModel {
    /// A constant delay.
    pub const fn constant(delay: Span) -> Self {
        DelayModel::Constant { delay }
    }

    /// The mean, as the model states it; the cut at zero is not counted.
    pub fn mean(&self) -> Span {
        match self {
            DelayModel::Constant { delay } | DelayModel::Ticks { delay, .. } => *delay,
            DelayModel::Uniform { mean, .. }
            | DelayModel::Normal { mean, .. }
            | DelayModel::Random { mean, .. } => *mean,
            DelayModel::Series(delays) => delays.mean,
        }
    }

    /// The mean at `at`: of a series its value then.
    pub fn mean_at(&self, at: Time) -> Span {
        match self {
            DelayModel::Series(DelaySeries { series, linear: true, .. }) => Span::from_ps(series.linear(at)),
            DelayModel::Series(DelaySeries { series, .. }) => Span::from_ps(series.step(at)),
            _ => self.mean(),
        }
    }

    /// The rules between the fields.
    ///
    /// # Errors
    /// The first rule that is broken.
    pub fn check(&self) -> Result<(), InvalidValue> {
        match self {
            DelayModel::Uniform { mean, half_width } if half_width > mean => {
                Err(InvalidValue::new("half_width_ns", "must not exceed the mean"))
            }
            DelayModel::Random { correlation, .. } if !(0.0..1.0).contains(correlation) => {
                Err(InvalidValue::new("correlation", "must be at least 0 and below 1"))
            }
            _ => Ok(()),
        }
    }
}

/// A delay model at work.
#[derive(Clone, Debug)]
pub(crate) struct DelayProcess {
    model: DelayModel,
    /// The normal rank of the packet before.
    rank: Option<f64>,
}

impl DelayProcess {
    pub(crate) fn new(model: DelayModel) -> Self {
        DelayProcess { model, rank: None }
    }

    /// The delay of a packet whose last bit enters the wire at `at`.
    pub(crate) fn draw(&mut self, stream: &mut Stream, at: Time) -> Span {
        match &self.model {
            DelayModel::Constant { delay } => *delay,
            DelayModel::Uniform { mean, half_width } => {
                // Both ends included, so that the mean is exact.
                let width = half_width.ps().saturating_mul(2);
                let offset = stream.below(width.saturating_add(1));
                Span::from_ps(mean.ps().saturating_sub(half_width.ps()).saturating_add(offset))
            }
            DelayModel::Normal { mean, sd } => {
                // The cast saturates: what is negative becomes zero.
                Span::from_ps((mean.ps() as f64 + sd.ps() as f64 * stream.normal() + 0.5) as u64)
            }
            DelayModel::Random { base, jitter, correlation, .. } => {
                let ns = if *correlation > 0.0 {
                    let fresh = stream.normal();
                    let rank = match self.rank {
                        Some(before) => {
                            correlation * before + libm::sqrt(1.0 - correlation * correlation) * fresh
                        }
                        None => fresh,
                    };
                    self.rank = Some(rank);
                    jitter.quantile(normal_share(rank))
                } else {
                    jitter.draw(stream)
                };
                Span::from_ps((base.ps() as f64 + ns * 1e3 + 0.5) as u64)
            }
            DelayModel::Series(DelaySeries { series, linear: true, .. }) => Span::from_ps(series.linear(at)),
            DelayModel::Series(DelaySeries { series, .. }) => Span::from_ps(series.step(at)),
            DelayModel::Ticks { delay, hz, rounding } => ticks(at, *delay, *hz, *rounding).since_start(at),
        }
    }

    /// The delay, if it is always the same.
    pub(crate) fn constant(&self) -> Option<Span> {
        match self.model {
            DelayModel::Constant { delay } => Some(delay),
            _ => None,
        }
    }

    /// No packet's delay is less.
    pub(crate) fn least(&self) -> Span {
        match &self.model {
            DelayModel::Constant { delay } => *delay,
            DelayModel::Uniform { mean, half_width } => mean.saturating_sub(*half_width),
            DelayModel::Series(delays) => Span::from_ps(delays.series.least()),
            DelayModel::Random { base, jitter, .. } if jitter.least() >= 0.0 => *base,
            DelayModel::Normal { mean, sd } => {
                let farthest = (sd.ps() as f64 * MAX_NORMAL_DEVIATE) as u64;
                mean.saturating_sub(Span::from_ps(farthest.saturating_add(1)))
            }
            DelayModel::Random { .. } | DelayModel::Ticks { .. } => Span::ZERO,
        }
    }
}

/// The number of a tick of a clock.
struct Tick {
    number: u128,
    hz: NonZeroU32,
}

impl Tick {
    /// From `at` to this tick, which is later; rounded up to the picosecond.
    fn since_start(&self, at: Time) -> Span {
        let ps = (self.number * PS_PER_S).div_ceil(u128::from(self.hz.get()));
        let ps = u64::try_from(ps).unwrap_or(u64::MAX);
        (Time::ZERO + Span::from_ps(ps)).since(at)
    }
}

const PS_PER_S: u128 = 1_000_000_000_000;

/// The tick at which a packet that came at `at` is released.
fn ticks(at: Time, delay: Span, hz: NonZeroU32, rounding: Rounding) -> Tick {
    let hz_wide = u128::from(hz.get());
    let scaled = u128::from(delay.ps()) * hz_wide;
    let count = match rounding {
        Rounding::Nearest => (scaled + PS_PER_S / 2) / PS_PER_S,
        Rounding::Up => scaled.div_ceil(PS_PER_S),
    };
    let before = u128::from(at.since(Time::ZERO).ps()) * hz_wide / PS_PER_S;
    Tick { number: before + 1 + count, hz }
}

#[cfg(test)]
mod tests {
    use super::*;
    use longhaul_random::Seed;

    const N: usize = if cfg!(miri) { 500 } else { 200_000 };

    /// Mean and variance of [`N`] draws, in picoseconds.
    fn moments(delay: DelayModel) -> (f64, f64) {
        let mut stream = Seed::new(3).stream("link/forward/delay");
        let mut model = DelayProcess::new(delay);
        let draws: Vec<f64> = (0..N).map(|_| model.draw(&mut stream, Time::ZERO).ps() as f64).collect();
        let mean = draws.iter().sum::<f64>() / N as f64;
        let variance = draws.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / N as f64;
        (mean, variance)
    }

    /// Asserts that a mean of [`N`] draws, each of variance `variance`, is within 4.5 standard errors.
    fn assert_mean(observed: f64, expected: f64, variance: f64) {
        let error = (variance / N as f64).sqrt();
        assert!((observed - expected).abs() < 4.5 * error, "{observed} instead of {expected} +- {error}");
    }

    #[test]
    fn uniform_delay_keeps_its_mean_and_its_width() {
        let (mean, half_width) = (Span::from_us(100), Span::from_us(30));
        let (m, v) = moments(DelayModel::Uniform { mean, half_width });
        let width = 60e6;
        let variance = width * width / 12.0;
        assert_mean(m, 100e6, variance);
        // Var((x - mean)^2) = width^4 (1/80 - 1/144) = variance^2 * 4/5.
        assert_mean(v, variance, variance * variance * 0.8);
    }

    #[test]
    fn uniform_delay_reaches_both_ends_and_nothing_beyond() {
        let delay = DelayModel::Uniform { mean: Span::from_ps(2), half_width: Span::from_ps(2) };
        let mut model = DelayProcess::new(delay);
        let mut stream = Seed::new(3).stream("x");
        let mut seen = [0; 5];
        for _ in 0..1000 {
            seen[model.draw(&mut stream, Time::ZERO).ps() as usize] += 1;
        }
        assert!(seen.iter().all(|&hits| hits > 0), "{seen:?}");
        assert_eq!(model.least(), Span::ZERO);
    }

    #[test]
    fn normal_delay_keeps_its_mean_and_standard_deviation_far_from_zero() {
        let (m, v) = moments(DelayModel::Normal { mean: Span::from_ms(5), sd: Span::from_us(40) });
        let variance = 40e6 * 40e6;
        assert_mean(m, 5e9, variance);
        assert_mean(v, variance, 2.0 * variance * variance);
    }

    #[test]
    fn the_cut_at_zero_raises_the_mean_by_the_stated_amount() {
        // mean = sd: E = mean * Phi(1) + sd * phi(1) = (0.841345 + 0.241971) mean;
        // E of the square = (mean^2 + sd^2) Phi(1) + mean sd phi(1) = 1.924660 mean^2.
        let (m, _) = moments(DelayModel::Normal { mean: Span::from_us(10), sd: Span::from_us(10) });
        let expected = 1.083_315_5;
        assert_mean(m, expected * 10e6, (1.924_660 - expected * expected) * 1e14);
    }

    #[test]
    fn a_constant_draws_nothing() {
        let mut stream = Seed::new(3).stream("x");
        let mut untouched = stream.clone();
        let mut model = DelayProcess::new(DelayModel::constant(Span::from_ms(1)));
        assert_eq!(model.draw(&mut stream, Time::ZERO), Span::from_ms(1));
        assert_eq!(stream.bits(), untouched.bits());
    }

    #[test]
    fn correlated_delay_keeps_its_distribution_and_its_correlation() {
        // Ranks of an exponential correlate by r; the exponential itself somewhat less. The marginal
        // stays: mean 1 ms, and 1/e of all above it.
        for r in [0.3, 0.6, 0.9] {
            let jitter = Distribution::Exponential { mean: 1e6 };
            let mut model = DelayProcess::new(DelayModel::Random {
                mean: Span::from_ms(1),
                base: Span::ZERO,
                jitter,
                correlation: r,
            });
            let mut stream = Seed::new(3).stream("x");
            let draws: Vec<f64> =
                (0..N).map(|_| model.draw(&mut stream, Time::ZERO).ps() as f64 / 1e9).collect();
            let mean = draws.iter().sum::<f64>() / N as f64;
            let above = draws.iter().filter(|&&x| x > 1.0).count() as f64 / N as f64;
            // Sums of a first-order process have (1 + r) / (1 - r) times the variance, at most.
            let factor = libm::sqrt((1.0 + r) / (1.0 - r) / N as f64);
            assert!((mean - 1.0).abs() < 4.5 * factor, "{r}: {mean}");
            let tail = libm::exp(-1.0);
            assert!((above - tail).abs() < 4.5 * factor * libm::sqrt(tail * (1.0 - tail)), "{r}: {above}");
            // Normal ranks, recovered from the draws, correlate by exactly r.
            let ranks: Vec<f64> = draws
                .iter()
                .map(|&x| {
                    Distribution::Normal { mean: 0.0, sd: 1.0 }
                        .quantile((-libm::expm1(-x)).clamp(1e-12, 1.0 - 1e-12))
                })
                .collect();
            let got = ranks.windows(2).map(|pair| pair[0] * pair[1]).sum::<f64>() / N as f64;
            assert!((got - r).abs() < 4.5 * factor * 1.5, "{r}: {got}");
        }
    }

    #[test]
    fn nist_nets_clock_makes_one_delay_of_100_and_150_us_and_another_of_200_to_300() {
        // 8192 Hz is a tick each 122.07 us: 100 and 150 us are one tick, 200 to 300 us two, and the
        // rest of the current tick comes on top. Mean over all phases: 183 and 305 us.
        let mean_us = |us: u64| -> f64 {
            let model = DelayModel::Ticks {
                delay: Span::from_us(us),
                hz: NonZeroU32::new(8192).unwrap(),
                rounding: Rounding::Nearest,
            };
            let mut model = DelayProcess::new(model);
            let mut stream = Seed::new(1).stream("x");
            // Under Miri each 100th phase.
            let step = if cfg!(miri) { 100 } else { 1 };
            let n = 12_207 / step;
            let sum: u64 = (0..n).map(|k| model.draw(&mut stream, Time::from_ns(10 * step * k)).ns()).sum();
            sum as f64 / n as f64 / 1e3
        };
        let tick = 1e6 / 8192.0;
        for (us, ticks) in
            [(100, 1.5), (150, 1.5), (200, 2.5), (250, 2.5), (300, 2.5), (350, 3.5), (400, 3.5)]
        {
            // The mean over sampled phases is exact to half of the distance between them.
            let error_us = if cfg!(miri) { 0.55 } else { 0.05 };
            assert!((mean_us(us) - ticks * tick).abs() < error_us, "{us}: {}", mean_us(us));
        }
    }

    #[test]
    fn jiffies_make_every_short_delay_one_to_two_jiffies() {
        for hz in [100, 250, 1000] {
            let jiffy = Span::from_ps(1_000_000_000_000 / u64::from(hz));
            for us in [1, 100, 900] {
                let model = DelayModel::Ticks {
                    delay: Span::from_us(us),
                    hz: NonZeroU32::new(hz).unwrap(),
                    rounding: Rounding::Up,
                };
                let mut model = DelayProcess::new(model);
                let mut stream = Seed::new(1).stream("x");
                for k in 0..if cfg!(miri) { 20 } else { 1000 } {
                    let got = model.draw(&mut stream, Time::from_ns(k * 17_003));
                    assert!(got > jiffy && got <= jiffy + jiffy, "{hz} Hz, {us} us: {got}");
                }
            }
        }
    }
}
