use crate::settings::RtoSettings;
use longhaul_units::Span;

/// Round-trip time and retransmission timeout (RFC 6298), in integer picoseconds.
#[derive(Clone, Debug)]
pub(crate) struct RttEstimator {
    srtt: u64,
    rttvar: u64,
    /// `u64::MAX`: no sample yet.
    min_rtt: u64,
    /// Of [`take_latest`](Self::take_latest); `u64::MAX`: none.
    latest: u64,
    back_offs: u8,
    /// The SYN was lost: the RTO is longer before the first sample.
    syn_lost: bool,
}

/// The RTO before the first sample after the SYN was lost (section 5.7).
const RTO_AFTER_SYN_LOSS: Span = Span::from_s(3);

impl Default for RttEstimator {
    fn default() -> Self {
        RttEstimator {
            srtt: 0,
            rttvar: 0,
            min_rtt: u64::MAX,
            latest: u64::MAX,
            back_offs: 0,
            syn_lost: false,
        }
    }
}

impl RttEstimator {
    /// A sample for the timer (section 2.2 and 2.3). A valid sample ends the back-off (section 5.7 and
    /// Karn's algorithm, section 3).
    pub(crate) fn sample(&mut self, rtt: Span) {
        let rtt = rtt.ps();
        if self.srtt == 0 {
            self.srtt = rtt.max(1);
            self.rttvar = rtt / 2;
        } else {
            // The variation first, from the old smoothed value: alpha = 1/8, beta = 1/4.
            self.rttvar = self.rttvar - self.rttvar / 4 + self.srtt.abs_diff(rtt) / 4;
            self.srtt = self.srtt - self.srtt / 8 + rtt / 8;
        }
        self.back_offs = 0;
    }

    /// Takes a sample for the minimum RTT, and keeps it for [`take_latest`](Self::take_latest).
    pub(crate) fn update_min_rtt(&mut self, rtt: Span) {
        self.latest = rtt.ps();
        self.min_rtt = self.min_rtt.min(rtt.ps());
    }

    pub(crate) fn take_latest(&mut self) -> Option<Span> {
        let latest = std::mem::replace(&mut self.latest, u64::MAX);
        (latest != u64::MAX).then(|| Span::from_ps(latest))
    }

    pub(crate) fn srtt(&self) -> Span {
        Span::from_ps(self.srtt)
    }

    pub(crate) fn rttvar(&self) -> Span {
        Span::from_ps(self.rttvar)
    }

    /// Zero before the first sample.
    pub(crate) fn min_rtt(&self) -> Span {
        if self.min_rtt == u64::MAX { Span::ZERO } else { Span::from_ps(self.min_rtt) }
    }

    pub(crate) fn has_sample(&self) -> bool {
        self.srtt > 0
    }

    /// Doubles the timeout (section 5.5).
    pub(crate) fn back_off(&mut self) {
        self.back_offs = (self.back_offs + 1).min(32);
    }

    /// The SYN was lost.
    pub(crate) fn on_syn_loss(&mut self) {
        self.syn_lost = true;
        self.back_offs = 0;
    }

    /// Ends the back-off after a spurious timeout.
    pub(crate) fn reset_back_off(&mut self) {
        self.back_offs = 0;
    }

    /// SRTT + max(G, 4 RTTVAR), within its limits, without back-off.
    pub(crate) fn rto(&self, settings: &RtoSettings) -> Span {
        if self.srtt == 0 {
            return if self.syn_lost { settings.initial.max(RTO_AFTER_SYN_LOSS) } else { settings.initial };
        }
        let spread =
            Span::from_ps(self.rttvar.saturating_mul(4)).max(settings.granularity).max(settings.min_rttvar);
        (self.srtt() + spread).max(settings.min_rto).min(settings.max_rto)
    }

    /// The RTO in force: doubled per back-off, at most `max_rto` (section 5.5).
    pub(crate) fn rto_with_back_off(&self, settings: &RtoSettings) -> Span {
        let rto = self.rto(settings);
        if self.back_offs == 0 {
            return rto;
        }
        Span::from_ps(rto.ps().saturating_mul(1 << self.back_offs)).min(settings.max_rto)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Settings;

    fn rfc() -> RtoSettings {
        RtoSettings {
            min_rto: Span::from_s(1),
            min_rttvar: Span::ZERO,
            max_rto: Span::from_s(60),
            ..Settings::default().timeouts
        }
    }

    #[test]
    fn the_first_sample_gives_three_times_itself() {
        // SRTT = R, RTTVAR = R/2, so RTO = R + 4 R/2.
        let mut estimator = RttEstimator::default();
        assert_eq!(estimator.rto(&rfc()), Span::from_s(1));
        estimator.sample(Span::from_ms(800));
        assert_eq!(estimator.rto(&rfc()), Span::from_ms(2400));
    }

    #[test]
    fn later_samples_weigh_an_eighth_and_a_quarter() {
        let mut estimator = RttEstimator::default();
        estimator.sample(Span::from_ms(800));
        estimator.sample(Span::from_ms(1600));
        // RTTVAR = 3/4 * 400 + 1/4 * 800 = 500; SRTT = 7/8 * 800 + 1/8 * 1600 = 900.
        assert_eq!(estimator.srtt(), Span::from_ms(900));
        assert_eq!(estimator.rttvar(), Span::from_ms(500));
        assert_eq!(estimator.rto(&rfc()), Span::from_ms(2900));
    }

    #[test]
    fn the_rto_is_at_least_min_rto() {
        let mut estimator = RttEstimator::default();
        estimator.sample(Span::from_ms(10));
        assert_eq!(estimator.rto(&rfc()), Span::from_s(1));
        assert_eq!(estimator.rto(&Settings::default().timeouts), Span::from_ms(210));
    }

    #[test]
    fn back_off_doubles_up_to_max_rto_and_ends_with_a_sample() {
        let mut estimator = RttEstimator::default();
        estimator.sample(Span::from_ms(800));
        let mut seen = Vec::new();
        for _ in 0..6 {
            seen.push(estimator.rto_with_back_off(&rfc()).ns() / 1_000_000);
            estimator.back_off();
        }
        assert_eq!(seen, [2400, 4800, 9600, 19_200, 38_400, 60_000]);
        estimator.sample(Span::from_ms(800));
        // RTTVAR = 3/4 * 400.
        assert_eq!(estimator.rto_with_back_off(&rfc()), Span::from_ms(800 + 4 * 300));
    }
}
