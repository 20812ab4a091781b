use serde::Serialize;

/// Samples kept for percentiles and pictures.
const KEPT: usize = 4_096;

/// Round-trip times: exact extremes and mean, and every so many of them.
#[derive(Clone, Debug, Default, Serialize)]
pub struct RoundTrips {
    /// How many there were.
    pub count: u64,
    /// The shortest; 0 if there was none.
    pub min_ns: u64,
    /// The longest.
    pub max_ns: u64,
    /// Of all, for the mean.
    pub sum_ns: u64,
    #[serde(skip)]
    every: u64,
    /// Time since 1970 and round-trip time, in ns, of equally many to one another; 4,096 at most.
    pub kept: Vec<(u64, u64)>,
}

impl RoundTrips {
    pub(crate) fn add(&mut self, at_ns: u64, rtt_ns: u64) {
        self.min_ns = if self.count == 0 { rtt_ns } else { self.min_ns.min(rtt_ns) };
        self.max_ns = self.max_ns.max(rtt_ns);
        self.sum_ns = self.sum_ns.saturating_add(rtt_ns);
        self.every = self.every.max(1);
        if self.count.is_multiple_of(self.every) {
            if self.kept.len() == KEPT {
                let mut place = 0;
                self.kept.retain(|_| {
                    place += 1;
                    place % 2 == 1
                });
                self.every *= 2;
            }
            if self.count.is_multiple_of(self.every) {
                self.kept.push((at_ns, rtt_ns));
            }
        }
        self.count += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_lies_equally_far_apart() {
        const SAMPLES: u64 = if cfg!(miri) { 10_000 } else { 100_000 };
        let mut rtts = RoundTrips::default();
        for n in 0..SAMPLES {
            rtts.add(n, 7 + n);
        }
        assert_eq!((rtts.count, rtts.min_ns, rtts.max_ns), (SAMPLES, 7, SAMPLES + 6));
        let step = rtts.kept[1].0;
        assert!(rtts.kept.iter().enumerate().all(|(n, &(at, rtt))| at == n as u64 * step && rtt == at + 7));
        assert!((KEPT / 2..=KEPT).contains(&rtts.kept.len()), "{}", rtts.kept.len());
    }
}
