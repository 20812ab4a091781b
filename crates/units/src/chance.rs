/// A probability, as an exact multiple of 2^-64 (and exactly 1).
///
/// `strikes(draw)` is true for exactly the stated share of the 2^64 equally likely draws.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Probability(u128);

const ONE: u128 = 1 << 64;

impl Probability {
    /// Never.
    pub const ZERO: Probability = Probability(0);
    /// Always.
    pub const ONE: Probability = Probability(ONE);

    /// The probability nearest to `p`, or `None` unless 0 <= p <= 1.
    pub fn new(p: f64) -> Option<Self> {
        if !(0.0..=1.0).contains(&p) {
            return None;
        }
        Some(Probability((p * ONE as f64) as u128))
    }

    /// The same as a floating-point number.
    pub fn as_f64(self) -> f64 {
        self.0 as f64 / ONE as f64
    }

    /// Whether an event of this probability happens, for one uniform 64-bit draw.
    pub const fn strikes(self, draw: u64) -> bool {
        (draw as u128) < self.0
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
            assert!(!Probability::ZERO.strikes(draw));
            assert!(Probability::new(1.0).unwrap().strikes(draw));
        }
    }

    #[test]
    fn a_half_strikes_for_exactly_the_lower_half_of_the_draws() {
        let half = Probability::new(0.5).unwrap();
        assert!(half.strikes((1 << 63) - 1));
        assert!(!half.strikes(1 << 63));
    }
}
