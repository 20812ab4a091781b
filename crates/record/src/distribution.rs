use longhaul_units::{Histogram, Span};
use serde::Serialize;

/// A distribution of spans in nanoseconds, to 1/128 of each.
#[derive(Clone, Debug, Default)]
pub struct Distribution {
    spans: Histogram,
}

/// A distribution as it stands in a result.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Summary {
    /// Values.
    pub count: u64,
    /// Their mean; 0 when there are none, as are the others.
    pub mean_ns: f64,
    /// Median.
    pub p50_ns: u64,
    /// 90th percentile.
    pub p90_ns: u64,
    /// 99th percentile.
    pub p99_ns: u64,
    /// 99.9th percentile.
    pub p999_ns: u64,
    /// The largest value, exactly.
    pub max_ns: u64,
    /// Points (nanoseconds, share of values not above) of the distribution function.
    pub cdf: Vec<(u64, f64)>,
}

impl From<Histogram> for Distribution {
    fn from(spans: Histogram) -> Self {
        Distribution { spans }
    }
}

impl Distribution {
    /// An empty one.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds `count` values of `ns`.
    pub fn add(&mut self, ns: u64, count: u64) {
        self.spans.add(Span::from_ns(ns), count);
    }

    /// Values added.
    pub fn count(&self) -> u64 {
        self.spans.count()
    }

    /// Adds all values of another one.
    pub fn merge(&mut self, other: &Distribution) {
        self.spans.merge(&other.spans);
    }

    /// What a result says of it.
    pub fn summary(&self) -> Summary {
        let count = self.count();
        let of = count.max(1) as f64;
        let quantile = |share| self.spans.quantile(share).ns();
        Summary {
            count,
            mean_ns: self.spans.sum_ps() as f64 / 1e3 / of,
            p50_ns: quantile(0.5),
            p90_ns: quantile(0.9),
            p99_ns: quantile(0.99),
            p999_ns: quantile(0.999),
            max_ns: self.spans.longest().ns(),
            cdf: self.spans.cumulative().map(|(span, seen)| (span.ns(), seen as f64 / of)).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_right_to_two_digits() {
        let mut spans = Distribution::new();
        for ns in 1..=10_000 {
            spans.add(ns, 1);
        }
        let summary = spans.summary();
        assert!((summary.p50_ns as f64 / 5_000.0 - 1.0).abs() < 0.01, "{summary:?}");
        assert!((summary.p99_ns as f64 / 9_900.0 - 1.0).abs() < 0.01, "{summary:?}");
        assert_eq!((summary.max_ns, summary.mean_ns), (10_000, 5_000.5));
        assert_eq!(summary.cdf.last().map(|point| point.1), Some(1.0));
    }

    #[test]
    fn an_empty_distribution_says_zero() {
        assert_eq!(Distribution::new().summary().max_ns, 0);
    }
}
