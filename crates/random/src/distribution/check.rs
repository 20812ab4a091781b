use super::Distribution;
use longhaul_units::{InvalidValue, checked_when_read};

checked_when_read!(Distribution);

impl Distribution {
    /// Checks that each parameter is in its range.
    ///
    /// # Errors
    /// The first parameter that is out of its range, by its name.
    pub fn check(&self) -> Result<(), InvalidValue> {
        match self {
            Distribution::Constant { value } => not_negative("value", *value),
            Distribution::Uniform { low, high } => {
                finite("low", *low)?;
                finite("high", *high)?;
                if low <= high { Ok(()) } else { Err(InvalidValue::new("high", "must be at least low")) }
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
            Distribution::Weibull { shape, scale, location } => {
                positive("shape", *shape)?;
                positive("scale", *scale)?;
                finite("location", *location)
            }
            Distribution::Gamma { shape, scale }
            | Distribution::Pareto { shape, scale }
            | Distribution::LogLogistic { shape, scale } => {
                positive("shape", *shape)?;
                positive("scale", *scale)
            }
            Distribution::InverseGaussian { mean, shape } => {
                positive("mean", *mean)?;
                positive("shape", *shape)
            }
            Distribution::GeneralisedPareto { shape, scale, location }
            | Distribution::Gev { shape, scale, location } => {
                finite("shape", *shape)?;
                positive("scale", *scale)?;
                finite("location", *location)
            }
            Distribution::Wakeby { alpha, beta, gamma, delta, xi } => {
                finite("alpha", *alpha)?;
                not_negative("gamma", *gamma)?;
                finite("xi", *xi)?;
                // Within these no power of 2^-53, the least chance of all, overflows.
                if !(-15.0..=1000.0).contains(beta) {
                    return Err(InvalidValue::new("beta", "must lie between -15 and 1000"));
                }
                if !(-1000.0..=15.0).contains(delta) {
                    return Err(InvalidValue::new("delta", "must lie between -1000 and 15"));
                }
                // Else quantiles would fall: at the lower end, or far up.
                if alpha + gamma < 0.0 {
                    return Err(InvalidValue::new("alpha", "must be at least minus gamma"));
                }
                if *alpha != 0.0 && *gamma != 0.0 && beta + delta <= 0.0 {
                    return Err(InvalidValue::new("beta", "must be more than minus delta"));
                }
                Ok(())
            }
            Distribution::Empirical { values } => {
                values.iter().try_for_each(|&value| finite("values", value))?;
                ascend("values", values)
            }
            Distribution::Table { mean, sd, samples } => {
                finite("mean", *mean)?;
                not_negative("sd", *sd)?;
                ascend("samples", samples)
            }
        }
    }
}

fn ascend<T: PartialOrd>(name: &str, list: &[T]) -> Result<(), InvalidValue> {
    if list.is_empty() {
        return Err(InvalidValue::new(name, "must hold at least one"));
    }
    if list.is_sorted() { Ok(()) } else { Err(InvalidValue::new(name, "must be in ascending order")) }
}

fn positive(name: &str, value: f64) -> Result<(), InvalidValue> {
    if value > 0.0 && value.is_finite() { Ok(()) } else { Err(InvalidValue::new(name, "must be positive")) }
}

fn not_negative(name: &str, value: f64) -> Result<(), InvalidValue> {
    if value >= 0.0 && value.is_finite() {
        Ok(())
    } else {
        Err(InvalidValue::new(name, "must not be negative"))
    }
}

fn finite(name: &str, value: f64) -> Result<(), InvalidValue> {
    if value.is_finite() { Ok(()) } else { Err(InvalidValue::new(name, "must be finite")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn what_is_wrong_with_a_parameter_is_said_with_its_name() {
        let wrong = |distribution: Distribution| distribution.check().unwrap_err().to_string();
        assert_eq!(wrong(Distribution::Constant { value: -1.0 }), "value: must not be negative");
        assert_eq!(wrong(Distribution::Uniform { low: 2.0, high: 1.0 }), "high: must be at least low");
        assert_eq!(wrong(Distribution::Exponential { mean: 0.0 }), "mean: must be positive");
        assert_eq!(wrong(Distribution::Normal { mean: f64::NAN, sd: 1.0 }), "mean: must be finite");
        let gev = Distribution::Gev { shape: f64::INFINITY, scale: 1.0, location: 0.0 };
        assert_eq!(wrong(gev), "shape: must be finite");
        assert_eq!(wrong(Distribution::InverseGaussian { mean: 1.0, shape: 0.0 }), "shape: must be positive");
        assert_eq!(wrong(Distribution::LogLogistic { shape: 1.0, scale: -1.0 }), "scale: must be positive");
        let late = Distribution::Weibull { shape: 1.0, scale: 1.0, location: f64::NAN };
        assert_eq!(wrong(late), "location: must be finite");
        let list = |values: &[f64]| Distribution::Empirical { values: Arc::from(values) };
        assert_eq!(wrong(list(&[])), "values: must hold at least one");
        assert_eq!(wrong(list(&[2.0, 1.0])), "values: must be in ascending order");
    }

    #[test]
    fn wakebys_parameters_must_let_quantiles_ascend() {
        let check =
            |alpha, beta, gamma, delta| Distribution::Wakeby { alpha, beta, gamma, delta, xi: 0.0 }.check();
        assert_eq!(check(-1.0, 2.0, 1.0, 0.5), Ok(()));
        assert_eq!(check(0.0, 0.0, 1.0, -0.5), Ok(()));
        assert_eq!(check(1.0, -0.5, 0.0, 0.0), Ok(()));
        let wrong = |alpha, beta, gamma, delta| check(alpha, beta, gamma, delta).unwrap_err().to_string();
        assert_eq!(wrong(1.0, 2.0, -0.5, 0.5), "gamma: must not be negative");
        assert_eq!(wrong(-1.0, 2.0, 0.5, 0.5), "alpha: must be at least minus gamma");
        assert_eq!(wrong(1.0, -0.5, 1.0, 0.5), "beta: must be more than minus delta");
        assert_eq!(wrong(1.0, -16.0, 1.0, 0.5), "beta: must lie between -15 and 1000");
        assert_eq!(wrong(1.0, 2.0, 1.0, 16.0), "delta: must lie between -1000 and 15");
    }

    #[test]
    fn at_their_bounds_wakebys_quantiles_stay_finite() {
        let distribution =
            Distribution::Wakeby { alpha: -1.0, beta: -14.9, gamma: 1.0, delta: 15.0, xi: 0.0 };
        assert_eq!(distribution.check(), Ok(()));
        assert!(distribution.quantile(1.0 - f64::EPSILON / 2.0).is_finite());
    }
}
