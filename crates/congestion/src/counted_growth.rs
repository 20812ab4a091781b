/// Growth in whole segments, which counts acknowledged segments as Linux does.
#[derive(Clone, Debug, Default)]
pub(crate) struct CountedGrowth {
    acked: f64,
}

impl CountedGrowth {
    /// Counts `acked` segments; returns the segments to add, one for each `every` acknowledged.
    pub(crate) fn add(&mut self, acked: f64, every: f64) -> f64 {
        // What was counted toward a larger number is worth one segment at most.
        let due = self.is_full(every);
        let counted = if due { acked } else { self.acked + acked };
        let whole = libm::floor(counted / every);
        self.acked = counted - whole * every;
        whole + f64::from(u8::from(due))
    }

    /// Whether `every` segments have been counted.
    pub(crate) fn is_full(&self, every: f64) -> bool {
        self.acked >= every
    }

    /// Counts `acked` segments, and returns whether `every` were complete before: then these do not count.
    pub(crate) fn completes(&mut self, acked: f64, every: f64) -> bool {
        let full = self.is_full(every);
        self.acked = if full { 0.0 } else { self.acked + acked };
        full
    }

    /// Begins anew, after a congestion.
    pub(crate) fn reset(&mut self) {
        self.acked = 0.0;
    }
}

#[cfg(test)]
mod tests {
    use super::CountedGrowth;

    #[test]
    fn a_segment_is_added_for_each_window_acknowledged() {
        let mut growth = CountedGrowth::default();
        let added: Vec<_> = (0..10).map(|_| growth.add(2.0, 5.0)).collect();
        assert_eq!(added, [0.0, 0.0, 1.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0, 1.0]);
        assert_eq!(growth.add(12.0, 4.0), 3.0);
    }

    #[test]
    fn a_count_toward_a_larger_window_is_worth_one_segment() {
        let mut growth = CountedGrowth::default();
        assert_eq!(growth.add(9.0, 10.0), 0.0);
        assert_eq!((growth.add(1.0, 3.0), growth.add(2.0, 3.0)), (1.0, 1.0));
    }

    #[test]
    fn the_acknowledgement_after_a_complete_count_does_not_count() {
        let mut growth = CountedGrowth::default();
        let full: Vec<_> = (0..8).map(|_| growth.completes(2.0, 4.0)).collect();
        assert_eq!(full, [false, false, true, false, false, true, false, false]);
    }
}
