use longhaul_units::Time;

/// A fingerprint of everything that left the network, in order: equal runs have equal digests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Digest(u64);

impl Digest {
    pub fn new() -> Self {
        Digest(0xcbf2_9ce4_8422_2325)
    }

    /// Adds a packet that left at `at`; `what` says which and how.
    pub fn add(&mut self, at: Time, what: u64) {
        // One round of a multiply-xorshift mix per word: every bit of either moves the result.
        for word in [at.ps(), what] {
            let mixed = (self.0 ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            self.0 = mixed ^ (mixed >> 29);
        }
    }

    pub fn value(self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_time_and_content_all_matter() {
        let of = |departures: &[(u64, u64)]| {
            let mut digest = Digest::new();
            departures.iter().for_each(|&(at, what)| digest.add(Time::from_ps(at), what));
            digest.value()
        };
        let first = of(&[(1, 2), (3, 4)]);
        assert_ne!(first, of(&[(3, 4), (1, 2)]));
        assert_ne!(first, of(&[(1, 2), (3, 5)]));
        assert_ne!(first, of(&[(1, 2), (4, 4)]));
        assert_eq!(first, of(&[(1, 2), (3, 4)]));
    }
}
