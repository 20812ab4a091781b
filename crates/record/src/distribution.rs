use hdrhistogram::Histogram;
use serde::Serialize;

/// Longest span that is told apart: 60 s; longer ones count as 60 s.
const LONGEST_NS: u64 = 60_000_000_000;

/// A distribution of spans in nanoseconds, to two significant digits, in constant memory.
#[derive(Clone)]
pub struct Distribution {
    histogram: Histogram<u32>,
    sum_ns: u128,
    longest_ns: u64,
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

impl Default for Distribution {
    fn default() -> Self {
        Self::new()
    }
}

impl Distribution {
    /// An empty one.
    #[expect(clippy::expect_used, reason = "the bounds are constants that the histogram accepts")]
    pub fn new() -> Self {
        let histogram = Histogram::new_with_bounds(1, LONGEST_NS, 2).expect("sound bounds");
        Distribution { histogram, sum_ns: 0, longest_ns: 0 }
    }

    /// Adds `count` values of `ns`.
    pub fn add(&mut self, ns: u64, count: u64) {
        self.histogram.saturating_record_n(ns, u32::try_from(count).unwrap_or(u32::MAX));
        self.sum_ns += u128::from(ns) * u128::from(count);
        self.longest_ns = self.longest_ns.max(ns);
    }

    /// Values added.
    pub fn count(&self) -> u64 {
        self.histogram.len()
    }

    /// Adds all values of another one.
    pub fn merge(&mut self, other: &Distribution) {
        // Equal bounds: merging cannot fail.
        let _ = self.histogram.add(&other.histogram);
        self.sum_ns += other.sum_ns;
        self.longest_ns = self.longest_ns.max(other.longest_ns);
    }

    /// What a result says of it.
    pub fn summary(&self) -> Summary {
        let count = self.count();
        let quantile =
            |q: f64| if count == 0 { 0 } else { self.histogram.value_at_quantile(q).min(self.longest_ns) };
        let mut seen = 0u64;
        let cdf = self
            .histogram
            .iter_recorded()
            .map(|bucket| {
                seen += u64::from(bucket.count_at_value());
                (bucket.value_iterated_to().min(self.longest_ns), seen as f64 / count as f64)
            })
            .collect();
        Summary {
            count,
            mean_ns: if count == 0 { 0.0 } else { self.sum_ns as f64 / count as f64 },
            p50_ns: quantile(0.5),
            p90_ns: quantile(0.9),
            p99_ns: quantile(0.99),
            p999_ns: quantile(0.999),
            max_ns: self.longest_ns,
            cdf,
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
