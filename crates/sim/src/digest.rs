use longhaul_random::mix;
use longhaul_units::Time;

/// A fingerprint of everything that left the network, and when, in whatever order it is reported: equal
/// runs have equal digests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Digest(u64);

impl Digest {
    /// Adds a packet that left at `at`; `what` says which and how.
    #[inline]
    pub fn add(&mut self, at: Time, what: u64) {
        // Two rounds of the finaliser of splitmix64: sums of its values do not collide by design.
        self.0 = self.0.wrapping_add(mix(mix(at.ps()) ^ what));
    }

    pub fn value(self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(departures: &[(u64, u64)]) -> u64 {
        let mut digest = Digest::default();
        for &(at, what) in departures {
            digest.add(Time::from_ps(at), what);
        }
        digest.value()
    }

    #[test]
    fn time_and_content_matter_and_how_often() {
        let first = of(&[(1, 2), (3, 4)]);
        assert_eq!(first, of(&[(1, 2), (3, 4)]));
        assert_ne!(first, of(&[(1, 2), (3, 5)]));
        assert_ne!(first, of(&[(1, 2), (4, 4)]));
        assert_ne!(first, of(&[(1, 4), (3, 2)]));
        assert_ne!(first, of(&[(1, 2), (3, 4), (3, 4)]));
    }

    #[test]
    fn the_order_of_telling_does_not_matter() {
        assert_eq!(of(&[(1, 2), (3, 4)]), of(&[(3, 4), (1, 2)]));
    }
}
