use crate::settings::Timeouts;
use longhaul_units::Span;

/// Round-trip time and retransmission timeout (RFC 6298), in integer picoseconds.
#[derive(Clone, Debug)]
pub(crate) struct Estimator {
    smoothed: u64,
    variation: u64,
    /// The greatest possible: none yet.
    least: u64,
    /// Not yet taken; the greatest possible: there is none.
    latest: u64,
    back_offs: u8,
    /// The SYN was lost: wait longer before the first sample.
    cautious: bool,
}

/// The timeout before the first sample after a SYN was lost (section 5.7).
const CAUTIOUS: Span = Span::from_s(3);

impl Default for Estimator {
    fn default() -> Self {
        Estimator {
            smoothed: 0,
            variation: 0,
            least: u64::MAX,
            latest: u64::MAX,
            back_offs: 0,
            cautious: false,
        }
    }
}

impl Estimator {
    /// A sample for the timer (section 2.2 and 2.3). A valid sample ends the back-off (section 5.7 and
    /// Karn's algorithm, section 3).
    pub(crate) fn sample(&mut self, rtt: Span) {
        let rtt = rtt.ps();
        if self.smoothed == 0 {
            self.smoothed = rtt.max(1);
            self.variation = rtt / 2;
        } else {
            // The variation first, from the old smoothed value: alpha = 1/8, beta = 1/4.
            self.variation = self.variation - self.variation / 4 + self.smoothed.abs_diff(rtt) / 4;
            self.smoothed = self.smoothed - self.smoothed / 8 + rtt / 8;
        }
        self.back_offs = 0;
    }

    /// A sample for the minimum, and for whoever counts samples.
    pub(crate) fn note_least(&mut self, rtt: Span) {
        self.latest = rtt.ps();
        self.least = self.least.min(rtt.ps());
    }

    pub(crate) fn take_latest(&mut self) -> Option<Span> {
        let latest = std::mem::replace(&mut self.latest, u64::MAX);
        (latest != u64::MAX).then(|| Span::from_ps(latest))
    }

    pub(crate) fn smoothed(&self) -> Span {
        Span::from_ps(self.smoothed)
    }

    pub(crate) fn variation(&self) -> Span {
        Span::from_ps(self.variation)
    }

    /// Zero before the first sample.
    pub(crate) fn least(&self) -> Span {
        if self.least == u64::MAX { Span::ZERO } else { Span::from_ps(self.least) }
    }

    pub(crate) fn is_known(&self) -> bool {
        self.smoothed > 0
    }

    /// Doubles the timeout (section 5.5).
    pub(crate) fn back_off(&mut self) {
        self.back_offs = (self.back_offs + 1).min(32);
    }

    /// The SYN was lost.
    pub(crate) fn be_cautious(&mut self) {
        self.cautious = true;
        self.back_offs = 0;
    }

    /// A timeout that was spurious had no reason to back off.
    pub(crate) fn forget_back_off(&mut self) {
        self.back_offs = 0;
    }

    /// SRTT + max(G, 4 RTTVAR), within its limits, without back-off.
    pub(crate) fn timeout(&self, settings: &Timeouts) -> Span {
        if self.smoothed == 0 {
            return if self.cautious { settings.initial.max(CAUTIOUS) } else { settings.initial };
        }
        let spread = Span::from_ps(self.variation.saturating_mul(4))
            .max(settings.granularity)
            .max(settings.least_variation);
        (self.smoothed() + spread).max(settings.least).min(settings.most)
    }

    /// The timeout that is in force: doubled per back-off, at most `most` (section 5.5).
    pub(crate) fn backed_off(&self, settings: &Timeouts) -> Span {
        let timeout = self.timeout(settings);
        if self.back_offs == 0 {
            return timeout;
        }
        Span::from_ps(timeout.ps().saturating_mul(1 << self.back_offs)).min(settings.most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Settings;

    fn rfc() -> Timeouts {
        Timeouts {
            least: Span::from_s(1),
            least_variation: Span::ZERO,
            most: Span::from_s(60),
            ..Settings::default().timeouts
        }
    }

    #[test]
    fn the_first_sample_gives_three_times_itself() {
        // SRTT = R, RTTVAR = R/2, so RTO = R + 4 R/2.
        let mut estimator = Estimator::default();
        assert_eq!(estimator.timeout(&rfc()), Span::from_s(1));
        estimator.sample(Span::from_ms(800));
        assert_eq!(estimator.timeout(&rfc()), Span::from_ms(2400));
    }

    #[test]
    fn later_samples_weigh_an_eighth_and_a_quarter() {
        let mut estimator = Estimator::default();
        estimator.sample(Span::from_ms(800));
        estimator.sample(Span::from_ms(1600));
        // RTTVAR = 3/4 * 400 + 1/4 * 800 = 500; SRTT = 7/8 * 800 + 1/8 * 1600 = 900.
        assert_eq!(estimator.smoothed(), Span::from_ms(900));
        assert_eq!(estimator.variation(), Span::from_ms(500));
        assert_eq!(estimator.timeout(&rfc()), Span::from_ms(2900));
    }

    #[test]
    fn a_short_round_trip_still_waits_the_least_timeout() {
        let mut estimator = Estimator::default();
        estimator.sample(Span::from_ms(10));
        assert_eq!(estimator.timeout(&rfc()), Span::from_s(1));
        assert_eq!(estimator.timeout(&Settings::default().timeouts), Span::from_ms(210));
    }

    #[test]
    fn back_off_doubles_up_to_the_most_and_ends_with_a_sample() {
        let mut estimator = Estimator::default();
        estimator.sample(Span::from_ms(800));
        let mut seen = Vec::new();
        for _ in 0..6 {
            seen.push(estimator.backed_off(&rfc()).ns() / 1_000_000);
            estimator.back_off();
        }
        assert_eq!(seen, [2400, 4800, 9600, 19_200, 38_400, 60_000]);
        estimator.sample(Span::from_ms(800));
        // RTTVAR = 3/4 * 400.
        assert_eq!(estimator.backed_off(&rfc()), Span::from_ms(800 + 4 * 300));
    }
}
