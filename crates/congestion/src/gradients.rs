/// The smallest and the largest RTT of a round trip, or what they differ by, in microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Extremes {
    pub(crate) min_us: i64,
    pub(crate) max_us: i64,
}

impl Extremes {
    pub(crate) fn of(us: i64) -> Self {
        Extremes { min_us: us, max_us: us }
    }

    /// With another RTT.
    pub(crate) fn with(self, us: i64) -> Self {
        Extremes { min_us: self.min_us.min(us), max_us: self.max_us.max(us) }
    }

    fn plus(self, other: Self) -> Self {
        Extremes { min_us: self.min_us + other.min_us, max_us: self.max_us + other.max_us }
    }

    pub(crate) fn minus(self, other: Self) -> Self {
        Extremes { min_us: self.min_us - other.min_us, max_us: self.max_us - other.max_us }
    }
}

/// Sums of the last gradients of RTTs.
#[derive(Clone, Debug)]
pub(crate) struct Gradients {
    /// The last gradients, as a ring.
    ring: Vec<Extremes>,
    next: usize,
    is_full: bool,
    sums: Extremes,
}

impl Gradients {
    /// Sums of `rounds` gradients.
    pub(crate) fn new(rounds: u32) -> Self {
        let ring = vec![Extremes::default(); rounds.clamp(1, 256) as usize];
        Gradients { ring, next: 0, is_full: false, sums: Extremes::default() }
    }

    /// Adds the gradient of a round trip. Returns the sum of those of the smallest RTT if it is positive, otherwise that
    /// of the largest; while there are too few, as much as they would be if the others were alike.
    pub(crate) fn add(&mut self, gradient: Extremes) -> i64 {
        let rounds = self.ring.len();
        let oldest = std::mem::replace(&mut self.ring[self.next], gradient);
        self.sums = self.sums.plus(gradient).minus(oldest);
        self.next = (self.next + 1) % rounds;
        self.is_full |= self.next == 0;
        let sum = if self.sums.min_us > 0 { self.sums.min_us } else { self.sums.max_us };
        if self.is_full { sum } else { sum * rounds as i64 / self.next as i64 }
    }

    pub(crate) fn sums(&self) -> Extremes {
        self.sums
    }
}

#[cfg(test)]
mod tests {
    use super::{Extremes, Gradients};

    fn gradient(min_us: i64, max_us: i64) -> Extremes {
        Extremes { min_us, max_us }
    }

    #[test]
    fn missing_gradients_are_extrapolated_and_old_ones_leave() {
        let mut gradients = Gradients::new(4);
        let sums: Vec<_> = [3, 4, 5, 6, 7, 0].map(|us| gradients.add(gradient(us, us))).into();
        assert_eq!(sums, [12, 14, 16, 18, 22, 18]);
    }

    #[test]
    fn the_largest_rtt_counts_where_the_smallest_does_not_rise() {
        let mut gradients = Gradients::new(2);
        assert_eq!(gradients.add(gradient(-5, 7)), 14);
        assert_eq!(gradients.add(gradient(9, -8)), 4);
        assert_eq!(gradients.add(gradient(-9, -8)), -16);
        assert_eq!(gradients.sums(), gradient(0, -16));
    }
}
