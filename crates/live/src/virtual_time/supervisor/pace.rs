//! The pace of a network that stays up: its clock is never ahead of the real one.

/// How far the clock may be behind before it is given up to catch up, in nanoseconds.
const MAX_LAG_NS: u64 = 20_000_000;

/// Relates the virtual clock to the real one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pace {
    virtual_ns: u64,
    real_ns: u64,
}

impl Pace {
    /// Virtual time `virtual_ns` is at real time `real_ns`.
    pub fn new(virtual_ns: u64, real_ns: u64) -> Self {
        Pace { virtual_ns, real_ns }
    }

    /// Up to when virtual time may go at `real_ns`, if it has come to `now_ns`. After work that took longer than in a
    /// real network it goes on from there, at the pace of the real clock.
    pub fn limit_ns(&mut self, now_ns: u64, real_ns: u64) -> u64 {
        let limit_ns = self.virtual_ns + (real_ns - self.real_ns);
        if limit_ns > now_ns + MAX_LAG_NS {
            *self = Pace::new(now_ns, real_ns - MAX_LAG_NS);
        }
        self.virtual_ns + (real_ns - self.real_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_follows_the_real_clock() {
        let mut pace = Pace::new(5_000_000_000, 1_000);
        assert_eq!(pace.limit_ns(5_000_000_000, 1_000), 5_000_000_000);
        assert_eq!(pace.limit_ns(5_000_000_000, 10_001_000), 5_010_000_000);
        assert_eq!(pace.limit_ns(5_010_000_000, 30_001_000), 5_030_000_000);
    }

    #[test]
    fn it_does_not_make_up_for_slow_work() {
        let mut pace = Pace::new(0, 0);
        // A second of real time for a millisecond of virtual time: from then on, side by side.
        let limit_ns = pace.limit_ns(1_000_000, 1_000_000_000);
        assert_eq!(limit_ns, 1_000_000 + MAX_LAG_NS);
        assert_eq!(pace.limit_ns(limit_ns, 1_005_000_000), limit_ns + 5_000_000);
    }
}
