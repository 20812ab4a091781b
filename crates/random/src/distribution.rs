use crate::{Stream, gamma, normal};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

mod check;

/// A distribution of amounts (nanoseconds, bytes or packets, as its user says), drawn by inversion: one
/// draw of a [`Stream`] gives one amount, and a larger draw never a smaller one.
///
/// Parameters must be as [`check`](Self::check) demands.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "dist", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Distribution {
    /// Always the same.
    Constant {
        /// That amount; not negative.
        value: f64,
    },
    /// Uniform from `low` to `high`.
    Uniform {
        /// Least amount.
        low: f64,
        /// Greatest amount; at least `low`.
        high: f64,
    },
    /// Normal; users cut it at zero.
    Normal {
        /// Mean.
        mean: f64,
        /// Standard deviation; not negative.
        sd: f64,
    },
    /// Exponential.
    Exponential {
        /// Mean; positive.
        mean: f64,
    },
    /// P(X > x) = exp(-(x/scale)^shape); Weibull, J. Appl. Mech. 18 (1951) 293.
    Weibull {
        /// Shape; positive. 1 is the exponential.
        shape: f64,
        /// Scale; positive.
        scale: f64,
    },
    /// exp(mu + sigma Z) for a standard normal Z.
    Lognormal {
        /// Mean of the logarithm.
        mu: f64,
        /// Standard deviation of the logarithm; not negative.
        sigma: f64,
    },
    /// Gamma with mean shape * scale.
    Gamma {
        /// Shape; positive.
        shape: f64,
        /// Scale; positive.
        scale: f64,
    },
    /// P(X > x) = (scale/x)^shape from `scale` on.
    Pareto {
        /// Shape; positive. The mean is finite above 1, the variance above 2.
        shape: f64,
        /// Least amount; positive.
        scale: f64,
    },
    /// Each amount of a list with the same chance, without interpolation.
    Empirical {
        /// The amounts, ascending; at least one.
        values: Arc<[f64]>,
    },
    /// mean + sd * sample / 8192 for samples of a list: netem's tables.
    Table {
        /// What a sample of 0 means.
        mean: f64,
        /// What a sample of 8192 adds.
        sd: f64,
        /// The samples, ascending; at least one.
        samples: Arc<[i16]>,
    },
}

impl Distribution {
    /// One amount.
    pub fn draw(&self, stream: &mut Stream) -> f64 {
        self.quantile(stream.open_uniform())
    }

    /// The amount that is not exceeded with probability `p`, for 0 < p < 1.
    pub fn quantile(&self, p: f64) -> f64 {
        match self {
            Distribution::Constant { value } => *value,
            Distribution::Uniform { low, high } => low + (high - low) * p,
            Distribution::Normal { mean, sd } => mean + sd * normal::quantile(p),
            Distribution::Exponential { mean } => -mean * libm::log1p(-p),
            Distribution::Weibull { shape, scale } => scale * libm::pow(-libm::log1p(-p), 1.0 / shape),
            Distribution::Lognormal { mu, sigma } => libm::exp(mu + sigma * normal::quantile(p)),
            Distribution::Gamma { shape, scale } => scale * gamma::quantile(*shape, p),
            Distribution::Pareto { shape, scale } => scale * libm::exp(-libm::log1p(-p) / shape),
            Distribution::Empirical { values } => *pick(values, p),
            Distribution::Table { mean, sd, samples } => mean + sd * f64::from(*pick(samples, p)) / 8192.0,
        }
    }

    /// The mean; infinite for a Pareto shape of 1 or less.
    pub fn mean(&self) -> f64 {
        match self {
            Distribution::Constant { value } => *value,
            Distribution::Uniform { low, high } => (low + high) / 2.0,
            Distribution::Normal { mean, .. } | Distribution::Exponential { mean } => *mean,
            Distribution::Weibull { shape, scale } => scale * libm::tgamma(1.0 + 1.0 / shape),
            Distribution::Lognormal { mu, sigma } => libm::exp(mu + sigma * sigma / 2.0),
            Distribution::Gamma { shape, scale } => shape * scale,
            Distribution::Pareto { shape, scale } if *shape > 1.0 => scale * shape / (shape - 1.0),
            Distribution::Pareto { .. } => f64::INFINITY,
            Distribution::Empirical { values } => values.iter().sum::<f64>() / values.len() as f64,
            Distribution::Table { mean, sd, samples } => {
                let sum: f64 = samples.iter().map(|&sample| f64::from(sample)).sum();
                mean + sd * sum / samples.len() as f64 / 8192.0
            }
        }
    }

    /// No draw is less.
    pub fn least(&self) -> f64 {
        match self {
            Distribution::Constant { value } => *value,
            Distribution::Uniform { low, .. } => *low,
            Distribution::Normal { .. } => f64::NEG_INFINITY,
            Distribution::Pareto { scale, .. } => *scale,
            Distribution::Empirical { values } => values.first().copied().unwrap_or(0.0),
            Distribution::Table { mean, sd, samples } => {
                mean + sd * f64::from(samples.first().copied().unwrap_or(0)) / 8192.0
            }
            _ => 0.0,
        }
    }
}

/// The entry of a list at rank `p`.
fn pick<T>(list: &[T], p: f64) -> &T {
    let index = (p * list.len() as f64) as usize;
    &list[index.min(list.len() - 1)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Seed;

    /// Each with mean and standard deviation by arithmetic.
    fn examples() -> Vec<(Distribution, f64, f64)> {
        let weibull_mean = 18.0 * libm::tgamma(1.0 + 1.0 / 2.9);
        let weibull_square = 18.0 * 18.0 * libm::tgamma(1.0 + 2.0 / 2.9);
        vec![
            (Distribution::Constant { value: 3.0 }, 3.0, 0.0),
            (Distribution::Uniform { low: 2.0, high: 8.0 }, 5.0, 6.0 / libm::sqrt(12.0)),
            (Distribution::Normal { mean: -1.0, sd: 2.0 }, -1.0, 2.0),
            (Distribution::Exponential { mean: 7.0 }, 7.0, 7.0),
            (
                Distribution::Weibull { shape: 2.9, scale: 18.0 },
                weibull_mean,
                libm::sqrt(weibull_square - weibull_mean * weibull_mean),
            ),
            (
                Distribution::Lognormal { mu: 0.0, sigma: 0.5 },
                libm::exp(0.125),
                libm::sqrt((libm::exp(0.25) - 1.0) * libm::exp(0.25)),
            ),
            (Distribution::Gamma { shape: 0.5, scale: 4.0 }, 2.0, libm::sqrt(8.0)),
            (Distribution::Gamma { shape: 9.0, scale: 0.5 }, 4.5, 1.5),
            (Distribution::Pareto { shape: 5.0, scale: 2.0 }, 2.5, libm::sqrt(4.0 * 5.0 / (16.0 * 3.0))),
            (Distribution::Empirical { values: Arc::from([1.0, 2.0, 6.0]) }, 3.0, libm::sqrt(14.0 / 3.0)),
            (Distribution::Table { mean: 10.0, sd: 2.0, samples: Arc::from([-8192i16, 8192]) }, 10.0, 2.0),
        ]
    }

    #[test]
    fn draws_have_the_mean_and_the_deviation_of_their_distribution() {
        const N: usize = 200_000;
        for (law, mean, sd) in examples() {
            assert_eq!(law.check(), Ok(()));
            assert!((law.mean() - mean).abs() <= 1e-12 * mean.abs(), "{law:?}");
            let mut stream = Seed::new(5).stream("distribution");
            let draws: Vec<f64> = (0..N).map(|_| law.draw(&mut stream)).collect();
            let got = draws.iter().sum::<f64>() / N as f64;
            let square = draws.iter().map(|x| (x - got) * (x - got)).sum::<f64>() / N as f64;
            let fourth = draws
                .iter()
                .map(|x| {
                    let d = (x - got) * (x - got);
                    d * d
                })
                .sum::<f64>()
                / N as f64;
            let n = libm::sqrt(N as f64);
            assert!((got - mean).abs() <= 4.5 * sd / n, "{law:?}: mean {got}, not {mean}");
            let error = libm::sqrt((fourth - square * square).max(0.0)) / n;
            assert!((square - sd * sd).abs() <= 4.5 * error + 1e-12, "{law:?}: {square} not {}", sd * sd);
            assert!(draws.iter().all(|&x| x >= law.least()), "{law:?}");
        }
    }

    #[test]
    fn quantiles_ascend() {
        for (law, _, _) in examples() {
            let ladder: Vec<f64> = (1..1000).map(|k| law.quantile(f64::from(k) / 1000.0)).collect();
            assert!(ladder.windows(2).all(|pair| pair[0] <= pair[1]), "{law:?}");
        }
    }

    #[test]
    fn a_weibull_of_2_9_has_the_median_of_the_measured_losses() {
        // Hacker et al. 2008: shape 2.9; the median is scale * ln(2)^(1/2.9) = 0.8813 scale.
        let law = Distribution::Weibull { shape: 2.9, scale: 0.3 };
        assert!((law.quantile(0.5) - 0.8813 * 0.3).abs() < 1e-5);
        assert!((law.mean() - 0.8917 * 0.3).abs() < 1e-5);
    }
}
