use super::Distribution;

impl Distribution {
    /// The first thing that is wrong, named by its field.
    pub fn check(&self) -> Result<(), String> {
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

fn ascend<T: PartialOrd>(name: &str, list: &[T]) -> Result<(), String> {
    if list.is_empty() {
        return Err(format!("{name}: must hold at least one"));
    }
    if list.is_sorted() { Ok(()) } else { Err(format!("{name}: must be in ascending order")) }
}

fn positive(name: &str, value: f64) -> Result<(), String> {
    if value > 0.0 && value.is_finite() { Ok(()) } else { Err(format!("{name}: must be positive")) }
}

fn not_negative(name: &str, value: f64) -> Result<(), String> {
    if value >= 0.0 && value.is_finite() { Ok(()) } else { Err(format!("{name}: must not be negative")) }
}

fn finite(name: &str, value: f64) -> Result<(), String> {
    if value.is_finite() { Ok(()) } else { Err(format!("{name}: must be finite")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn what_is_wrong_with_a_parameter_is_said_with_its_name() {
        let wrong = |law: Distribution| law.check().unwrap_err();
        assert_eq!(wrong(Distribution::Constant { value: -1.0 }), "value: must not be negative");
        assert_eq!(wrong(Distribution::Uniform { low: 2.0, high: 1.0 }), "high: must be at least low");
        assert_eq!(wrong(Distribution::Exponential { mean: 0.0 }), "mean: must be positive");
        assert_eq!(wrong(Distribution::Normal { mean: f64::NAN, sd: 1.0 }), "mean: must be finite");
        let list = |values: &[f64]| Distribution::Empirical { values: Arc::from(values) };
        assert_eq!(wrong(list(&[])), "values: must hold at least one");
        assert_eq!(wrong(list(&[2.0, 1.0])), "values: must be in ascending order");
    }
}
