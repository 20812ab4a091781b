use crate::{Stream, gamma, inverse_gaussian, normal};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::f64::consts::PI;
use std::sync::Arc;

mod check;

/// A distribution of amounts (nanoseconds, bytes or packets, as its user says), drawn by inversion: one
/// draw of a [`Stream`] gives one amount, and a larger draw never a smaller one. Only the inverse Gaussian
/// takes two.
///
/// Normal, generalised Pareto, extreme values and Wakeby can be negative: users cut them at zero.
///
/// Parameters must be as [`check`](Self::check) demands; what is read from a file is checked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self", tag = "dist", rename_all = "kebab-case", deny_unknown_fields)]
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
    /// P(X > x) = exp(-((x - location)/scale)^shape); Weibull, J. Appl. Mech. 18 (1951) 293.
    Weibull {
        /// Shape; positive. 1 is the exponential.
        shape: f64,
        /// Scale; positive.
        scale: f64,
        /// Least amount.
        #[serde(default, skip_serializing_if = "is_zero")]
        location: f64,
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
    /// P(X <= x) = 1/(1 + (x/scale)^-shape): the logarithm is logistic.
    LogLogistic {
        /// Shape; positive. The mean is finite above 1.
        shape: f64,
        /// Scale, the median; positive.
        scale: f64,
    },
    /// The time until Brownian motion with drift reaches a level (Tweedie, Ann. Math. Stat. 28, 1957, 362).
    InverseGaussian {
        /// Mean; positive.
        mean: f64,
        /// Shape, an amount as well; positive. The variance is mean^3 / shape.
        shape: f64,
    },
    /// P(X > x) = (1 + shape (x - location)/scale)^(-1/shape) (Pickands, Ann. Stat. 3, 1975, 119).
    GeneralisedPareto {
        /// Shape; above 0 the tail is heavy, 0 is the exponential. The mean is finite below 1.
        shape: f64,
        /// Scale; positive.
        scale: f64,
        /// Least amount.
        location: f64,
    },
    /// Extreme values: P(X <= x) = exp(-(1 + shape (x - location)/scale)^(-1/shape)) (Jenkinson, Q. J. R.
    /// Meteorol. Soc. 81, 1955, 158).
    Gev {
        /// Shape; above 0 the upper tail is heavy (Frechet), 0 is Gumbel's. The mean is finite below 1.
        shape: f64,
        /// Scale; positive.
        scale: f64,
        /// Not exceeded with probability 1/e.
        location: f64,
    },
    /// x(F) = xi + (alpha/beta) (1 - (1 - F)^beta) - (gamma/delta) (1 - (1 - F)^-delta) (Houghton, Water
    /// Resour. Res. 14, 1978, 1105).
    Wakeby {
        /// Weight of the first term; at least -`gamma`.
        alpha: f64,
        /// Exponent of the first term, from -15 to 1000; more than -`delta` where both terms have weight.
        beta: f64,
        /// Weight of the second term; not negative.
        gamma: f64,
        /// Exponent of the second term, from -1000 to 15. The mean is finite below 1.
        delta: f64,
        /// Least amount.
        xi: f64,
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
        match self {
            Distribution::InverseGaussian { mean, shape } => inverse_gaussian::draw(*mean, *shape, stream),
            _ => self.quantile(stream.open_uniform()),
        }
    }

    /// The amount that is not exceeded with probability `p`, for 0 < p < 1.
    pub fn quantile(&self, p: f64) -> f64 {
        match self {
            Distribution::Constant { value } => *value,
            Distribution::Uniform { low, high } => low + (high - low) * p,
            Distribution::Normal { mean, sd } => mean + sd * normal::quantile(p),
            Distribution::Exponential { mean } => -mean * libm::log1p(-p),
            Distribution::Weibull { shape, scale, location } => {
                location + scale * libm::pow(-libm::log1p(-p), 1.0 / shape)
            }
            Distribution::Lognormal { mu, sigma } => libm::exp(mu + sigma * normal::quantile(p)),
            Distribution::Gamma { shape, scale } => scale * gamma::quantile(*shape, p),
            Distribution::Pareto { shape, scale } => scale * libm::exp(-libm::log1p(-p) / shape),
            Distribution::LogLogistic { shape, scale } => {
                scale * libm::exp((libm::log(p) - libm::log1p(-p)) / shape)
            }
            Distribution::InverseGaussian { mean, shape } => inverse_gaussian::quantile(*mean, *shape, p),
            Distribution::GeneralisedPareto { shape, scale, location } => {
                location + scale * rise(*shape, -libm::log1p(-p))
            }
            Distribution::Gev { shape, scale, location } => {
                location + scale * rise(*shape, -libm::log(-libm::log(p)))
            }
            Distribution::Wakeby { alpha, beta, gamma, delta, xi } => {
                let depth = -libm::log1p(-p);
                xi + alpha * rise(-beta, depth) + gamma * rise(*delta, depth)
            }
            Distribution::Empirical { values } => *pick(values, p),
            Distribution::Table { mean, sd, samples } => mean + sd * f64::from(*pick(samples, p)) / 8192.0,
        }
    }

    /// The mean, before users cut at zero; infinite where the tail is too heavy.
    pub fn mean(&self) -> f64 {
        match self {
            Distribution::Constant { value } => *value,
            Distribution::Uniform { low, high } => (low + high) / 2.0,
            Distribution::Normal { mean, .. }
            | Distribution::Exponential { mean }
            | Distribution::InverseGaussian { mean, .. } => *mean,
            Distribution::Weibull { shape, scale, location } => {
                location + scale * libm::tgamma(1.0 + 1.0 / shape)
            }
            Distribution::Lognormal { mu, sigma } => libm::exp(mu + sigma * sigma / 2.0),
            Distribution::Gamma { shape, scale } => shape * scale,
            Distribution::Pareto { shape, scale } if *shape > 1.0 => scale * shape / (shape - 1.0),
            Distribution::LogLogistic { shape, scale } if *shape > 1.0 => {
                scale * (PI / shape) / libm::sin(PI / shape)
            }
            Distribution::GeneralisedPareto { shape, scale, location } if *shape < 1.0 => {
                location + scale / (1.0 - shape)
            }
            Distribution::Gev { shape, scale, location } if *shape < 1.0 => {
                location + scale * mean_of_extremes(*shape)
            }
            Distribution::Pareto { .. }
            | Distribution::LogLogistic { .. }
            | Distribution::GeneralisedPareto { .. }
            | Distribution::Gev { .. } => f64::INFINITY,
            // What has no weight has no tail either.
            Distribution::Wakeby { alpha, beta, gamma, delta, .. }
                if (*alpha != 0.0 && *beta <= -1.0) || (*gamma != 0.0 && *delta >= 1.0) =>
            {
                f64::INFINITY
            }
            Distribution::Wakeby { alpha, beta, gamma, delta, xi } => {
                let first = if *alpha == 0.0 { 0.0 } else { alpha / (1.0 + beta) };
                let second = if *gamma == 0.0 { 0.0 } else { gamma / (1.0 - delta) };
                xi + first + second
            }
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
            Distribution::Pareto { scale, .. } => *scale,
            Distribution::Weibull { location, .. } | Distribution::GeneralisedPareto { location, .. } => {
                *location
            }
            Distribution::Gev { shape, scale, location } if *shape > 0.0 => location + scale * (-1.0 / shape),
            Distribution::Normal { .. } | Distribution::Gev { .. } => f64::NEG_INFINITY,
            Distribution::Wakeby { xi, .. } => *xi,
            Distribution::Empirical { values } => values.first().copied().unwrap_or(0.0),
            Distribution::Table { mean, sd, samples } => {
                mean + sd * f64::from(samples.first().copied().unwrap_or(0)) / 8192.0
            }
            _ => 0.0,
        }
    }
}

/// (exp(power * exponent) - 1)/power, which is the exponent at a power of 0.
fn rise(power: f64, exponent: f64) -> f64 {
    // Products with smaller powers would lose their digits.
    if power.abs() < 1e-100 { exponent } else { libm::expm1(power * exponent) / power }
}

/// The mean of extreme values of location 0 and scale 1: (Gamma(1 - shape) - 1)/shape, for shapes below 1.
fn mean_of_extremes(shape: f64) -> f64 {
    /// Euler's constant, the mean of Gumbel's distribution.
    const EULER: f64 = 0.577_215_664_901_532_9;
    if shape.abs() < 1e-5 {
        EULER + shape * (EULER * EULER + PI * PI / 6.0) / 2.0
    } else {
        (libm::tgamma(1.0 - shape) - 1.0) / shape
    }
}

/// Whether a plan may leave an amount out.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
fn is_zero(amount: &f64) -> bool {
    *amount == 0.0
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
                Distribution::Weibull { shape: 2.9, scale: 18.0, location: 0.0 },
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
            (Distribution::Weibull { shape: 1.0, scale: 2.0, location: 5.0 }, 7.0, 2.0),
            (
                // The second moment is scale^2 (2 pi / k) / sin(2 pi / k).
                Distribution::LogLogistic { shape: 8.0, scale: 3.0 },
                3.0 * (PI / 8.0) / libm::sin(PI / 8.0),
                3.0 * libm::sqrt(
                    (PI / 4.0) / libm::sin(PI / 4.0)
                        - (PI / 8.0 / libm::sin(PI / 8.0)) * (PI / 8.0 / libm::sin(PI / 8.0)),
                ),
            ),
            (Distribution::InverseGaussian { mean: 3.0, shape: 6.0 }, 3.0, libm::sqrt(27.0 / 6.0)),
            (
                // scale / (1 - k) above the location, and scale^2 / ((1 - k)^2 (1 - 2 k)).
                Distribution::GeneralisedPareto { shape: 0.2, scale: 4.0, location: -1.0 },
                4.0,
                5.0 / libm::sqrt(0.6),
            ),
            (Distribution::GeneralisedPareto { shape: 0.0, scale: 4.0, location: 1.0 }, 5.0, 4.0),
            (
                // Shape -1: location + scale - scale E, with E exponential.
                Distribution::Gev { shape: -1.0, scale: 2.0, location: 5.0 },
                5.0,
                2.0,
            ),
            (
                // Gumbel's.
                Distribution::Gev { shape: 0.0, scale: 2.0, location: 5.0 },
                5.0 + 2.0 * 0.577_215_664_901_532_9,
                2.0 * PI / libm::sqrt(6.0),
            ),
            (
                // With U uniform: 1 + 3 (1 - U) + (U^(-1/8) - 1) 16; variances and covariance of powers of U.
                Distribution::Wakeby { alpha: 3.0, beta: 1.0, gamma: 2.0, delta: 0.125, xi: 1.0 },
                1.0 + 1.5 + 2.0 / 0.875,
                libm::sqrt(9.0 / 12.0 + 256.0 * (4.0 / 3.0 - 64.0 / 49.0) - 96.0 * (8.0 / 15.0 - 4.0 / 7.0)),
            ),
            (Distribution::Empirical { values: Arc::from([1.0, 2.0, 6.0]) }, 3.0, libm::sqrt(14.0 / 3.0)),
            (Distribution::Table { mean: 10.0, sd: 2.0, samples: Arc::from([-8192i16, 8192]) }, 10.0, 2.0),
        ]
    }

    #[test]
    fn draws_have_the_mean_and_the_deviation_of_their_distribution() {
        const N: usize = 200_000;
        for (distribution, mean, sd) in examples() {
            assert_eq!(distribution.check(), Ok(()));
            assert!((distribution.mean() - mean).abs() <= 1e-12 * mean.abs(), "{distribution:?}");
            let mut stream = Seed::new(5).stream("distribution");
            let draws: Vec<f64> = (0..N).map(|_| distribution.draw(&mut stream)).collect();
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
            assert!((got - mean).abs() <= 4.5 * sd / n, "{distribution:?}: mean {got}, not {mean}");
            let error = libm::sqrt((fourth - square * square).max(0.0)) / n;
            assert!(
                (square - sd * sd).abs() <= 4.5 * error + 1e-12,
                "{distribution:?}: {square} not {}",
                sd * sd
            );
            assert!(draws.iter().all(|&x| x >= distribution.least()), "{distribution:?}");
        }
    }

    #[test]
    fn a_shape_near_zero_is_the_exponential_and_gumbels_distribution() {
        let pareto = |shape| Distribution::GeneralisedPareto { shape, scale: 2.0, location: 1.0 };
        let extremes = |shape| Distribution::Gev { shape, scale: 2.0, location: 1.0 };
        for p in [1e-9, 0.2, 0.9, 1.0 - 1e-9] {
            let exponential = 1.0 - 2.0 * libm::log1p(-p);
            let gumbel = 1.0 - 2.0 * libm::log(-libm::log(p));
            for shape in [0.0, 1e-300, 1e-14, -1e-14] {
                assert!((pareto(shape).quantile(p) / exponential - 1.0).abs() < 1e-12, "{shape}, {p}");
                assert!((extremes(shape).quantile(p) / gumbel - 1.0).abs() < 1e-12, "{shape}, {p}");
            }
        }
        // On either side of where the series of the mean ends.
        for shape in [0.999e-5, -0.999e-5] {
            let step = extremes(shape * 1.002).mean() - extremes(shape).mean();
            assert!((step / (2.0 * shape * 0.002) - 0.989).abs() < 0.01, "{shape}: {step}");
        }
    }

    #[test]
    fn tails_that_are_too_heavy_have_no_finite_mean() {
        let endless =
            |distribution: Distribution| distribution.check().is_ok() && distribution.mean() == f64::INFINITY;
        assert!(endless(Distribution::Pareto { shape: 1.0, scale: 1.0 }));
        assert!(endless(Distribution::LogLogistic { shape: 1.0, scale: 1.0 }));
        assert!(endless(Distribution::GeneralisedPareto { shape: 1.0, scale: 1.0, location: 0.0 }));
        assert!(endless(Distribution::Gev { shape: 1.0, scale: 1.0, location: 0.0 }));
        let wakeby = |alpha, beta, gamma, delta| Distribution::Wakeby { alpha, beta, gamma, delta, xi: 0.0 };
        assert!(endless(wakeby(1.0, 2.0, 1.0, 1.0)));
        assert!(endless(wakeby(1.0, -1.0, 0.0, 0.0)));
        // A term without weight does not count: these are a generalised Pareto, and uniform.
        assert!((wakeby(0.0, -9.0, 3.0, 0.25).mean() - 4.0).abs() < 1e-12);
        assert!((wakeby(4.0, 1.0, 0.0, 9.0).mean() - 2.0).abs() < 1e-12);
    }

    #[test]
    fn quantiles_ascend() {
        for (distribution, _, _) in examples() {
            let ladder: Vec<f64> = (1..1000).map(|k| distribution.quantile(f64::from(k) / 1000.0)).collect();
            assert!(ladder.windows(2).all(|pair| pair[0] <= pair[1]), "{distribution:?}");
        }
    }

    #[test]
    fn a_weibull_of_2_9_has_the_median_of_the_measured_losses() {
        // Hacker et al. 2008: shape 2.9; the median is scale * ln(2)^(1/2.9) = 0.8813 scale.
        let distribution = Distribution::Weibull { shape: 2.9, scale: 0.3, location: 0.0 };
        assert!((distribution.quantile(0.5) - 0.8813 * 0.3).abs() < 1e-5);
        assert!((distribution.mean() - 0.8917 * 0.3).abs() < 1e-5);
    }
}
