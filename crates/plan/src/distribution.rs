use serde::{Deserialize, Serialize};

/// A distribution of amounts: nanoseconds, bytes or packets, as its user says.
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
    /// Weibull: P(X > x) = exp(-(x/scale)^shape).
    Weibull {
        /// Shape; positive.
        shape: f64,
        /// Scale; positive.
        scale: f64,
    },
    /// Lognormal: exp(mu + sigma Z).
    Lognormal {
        /// Mean of the logarithm.
        mu: f64,
        /// Standard deviation of the logarithm; not negative.
        sigma: f64,
    },
    /// Gamma: mean shape * scale.
    Gamma {
        /// Shape; positive.
        shape: f64,
        /// Scale; positive.
        scale: f64,
    },
    /// Pareto (type I): P(X > x) = (scale/x)^shape from `scale` on.
    Pareto {
        /// Shape; positive. The mean is finite above 1, the variance above 2.
        shape: f64,
        /// Least amount; positive.
        scale: f64,
    },
    /// Each of a list of amounts with the same chance, without interpolation.
    Empirical {
        /// The amounts, in ascending order; at least one.
        values: Vec<f64>,
    },
    /// A table as netem's `.dist` files have it: mean + sd * sample / 8192.
    Table {
        /// What a sample of 0 means.
        mean: f64,
        /// What a sample of 8192 adds.
        sd: f64,
        /// The samples, in ascending order; at least one.
        samples: Vec<i16>,
    },
}

impl Distribution {
    /// The first thing that is wrong, named by its field.
    pub fn check(&self) -> Result<(), String> {
        let positive = |name: &str, value: f64| {
            if value > 0.0 && value.is_finite() { Ok(()) } else { Err(format!("{name}: must be positive")) }
        };
        let not_negative = |name: &str, value: f64| {
            if value >= 0.0 && value.is_finite() {
                Ok(())
            } else {
                Err(format!("{name}: must not be negative"))
            }
        };
        let finite = |name: &str, value: f64| {
            if value.is_finite() { Ok(()) } else { Err(format!("{name}: must be finite")) }
        };
        match self {
            Distribution::Constant { value } => not_negative("value", *value),
            Distribution::Uniform { low, high } => {
                finite("low", *low)?;
                finite("high", *high)?;
                if low <= high { Ok(()) } else { Err("high: must be at least low".into()) }
            }
            Distribution::Normal { mean, sd } => {
                finite("mean", *mean)?;
                not_negative("sd", *sd)
            }
            Distribution::Exponential { mean } => positive("mean", *mean),
            Distribution::Lognormal { mu, sigma } => {
                finite("mu", *mu)?;
                not_negative("sigma", *sigma)
            }
            Distribution::Weibull { shape, scale }
            | Distribution::Gamma { shape, scale }
            | Distribution::Pareto { shape, scale } => {
                positive("shape", *shape)?;
                positive("scale", *scale)
            }
            Distribution::Empirical { values } => {
                if values.is_empty() {
                    return Err("values: must hold at least one".into());
                }
                values.iter().try_for_each(|&value| finite("values", value))?;
                sorted("values", values)
            }
            Distribution::Table { mean, sd, samples } => {
                finite("mean", *mean)?;
                not_negative("sd", *sd)?;
                if samples.is_empty() {
                    return Err("samples: must hold at least one".into());
                }
                sorted("samples", samples)
            }
        }
    }
}

/// Refuses a list that descends.
pub(crate) fn sorted<T: PartialOrd>(name: &str, list: &[T]) -> Result<(), String> {
    if list.windows(2).all(|pair| pair[0] <= pair[1]) {
        Ok(())
    } else {
        Err(format!("{name}: must be in ascending order"))
    }
}
