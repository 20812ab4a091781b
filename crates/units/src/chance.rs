/// A probability, applied as an exact multiple of 2^-64 (and exactly 1).
///
/// `occurs(draw)` is true for exactly the stated share of the 2^64 equally likely draws.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Probability {
    value: f64,
    /// Draws below it occur.
    threshold: u128,
}

const ONE: u128 = 1 << 64;

impl Probability {
    /// Never.
    pub const ZERO: Probability = Probability { value: 0.0, threshold: 0 };
    /// Always.
    pub const ONE: Probability = Probability { value: 1.0, threshold: ONE };

    /// The probability nearest to `p`, or `None` unless 0 <= p <= 1.
    pub fn new(p: f64) -> Option<Self> {
        if !(0.0..=1.0).contains(&p) {
            return None;
        }
        Some(Probability { value: p, threshold: (p * ONE as f64) as u128 })
    }

    /// The number that it was made from.
    pub const fn as_f64(self) -> f64 {
        self.value
    }

    /// Whether an event of this probability happens, for one uniform 64-bit draw.
    pub const fn occurs(self, draw: u64) -> bool {
        (draw as u128) < self.threshold
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_probability_cannot_be_made() {
        for p in [-0.1, 1.1, f64::NAN, f64::INFINITY] {
            assert_eq!(Probability::new(p), None);
        }
    }

    #[test]
    fn zero_never_strikes_and_one_always_does() {
        for draw in [0, 1, u64::MAX / 2, u64::MAX] {
            assert!(!Probability::ZERO.occurs(draw));
            assert!(Probability::new(1.0).unwrap().occurs(draw));
        }
    }

    #[test]
    fn a_half_strikes_for_exactly_the_lower_half_of_the_draws() {
        let half = Probability::new(0.5).unwrap();
        assert!(half.occurs((1 << 63) - 1));
        assert!(!half.occurs(1 << 63));
    }
}
