use std::fmt;

/// A value that breaks a rule: where it is, the rule, and what to do.
///
/// Each level that passes it on prepends its own part of the path with [`within`](Self::within).
///
/// ```
/// use longhaul_units::InvalidValue;
///
/// let inner = InvalidValue::new("mean", "must be positive");
/// assert_eq!(inner.within("gap").within("links[3].forward.loss").to_string(),
///     "links[3].forward.loss.gap.mean: must be positive");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidValue {
    path: String,
    rule: String,
    remedy: Option<String>,
}

impl InvalidValue {
    /// `field` breaks `rule`, which completes a sentence: "must be positive".
    pub fn new(field: impl Into<String>, rule: impl Into<String>) -> Self {
        InvalidValue { path: field.into(), rule: rule.into(), remedy: None }
    }

    /// The same, with advice.
    #[must_use]
    pub fn with_remedy(mut self, remedy: impl Into<String>) -> Self {
        self.remedy = Some(remedy.into());
        self
    }

    /// The same value, seen from the object that has it as `field`.
    #[must_use]
    pub fn within(mut self, field: &str) -> Self {
        let separator = if self.path.is_empty() || self.path.starts_with('[') { "" } else { "." };
        self.path = format!("{field}{separator}{}", self.path);
        self
    }

    /// Where it is, as in `links[3].forward.loss.probability`; empty for the whole.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The rule that it breaks.
    pub fn rule(&self) -> &str {
        &self.rule
    }

    /// What to do, if there is advice.
    pub fn remedy(&self) -> Option<&str> {
        self.remedy.as_deref()
    }
}

impl fmt::Display for InvalidValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.path.is_empty() {
            write!(f, "{}: ", self.path)?;
        }
        f.write_str(&self.rule)?;
        match &self.remedy {
            Some(remedy) => write!(f, "; {remedy}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for InvalidValue {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_grows_from_the_inside() {
        let invalid = InvalidValue::new("[2]", "must be positive").within("weights").within("policy");
        assert_eq!(invalid.path(), "policy.weights[2]");
        assert_eq!(InvalidValue::new("", "is empty").within("links").path(), "links");
    }

    #[test]
    fn the_remedy_follows_the_rule() {
        let invalid = InvalidValue::new("rate", "must be positive").with_remedy("use down: true");
        assert_eq!(invalid.to_string(), "rate: must be positive; use down: true");
    }
}
