use crate::ack_sample::AckSample;
use crate::scoreboard::{RackLosses, Scoreboard};
use longhaul_units::{Span, Time};
use std::num::NonZeroU64;

/// RACK's state (RFC 8985, section 5.3); the scoreboard keeps the send times.
#[derive(Clone, Debug)]
pub(crate) struct Rack {
    /// The most recently sent segment that is delivered: `RACK.xmit_ts`, its number, and its RTT.
    pub(crate) xmit_ts: Time,
    pub(crate) segment: u64,
    pub(crate) rtt: Span,
    reo_wnd_mult: u32,
    /// Recoveries until the multiplier is 1 again.
    reo_wnd_persist: u8,
    /// The multiplier grows once per round trip: not again before this is acknowledged. It is not 0.
    dsack_round: Option<NonZeroU64>,
}

impl Default for Rack {
    fn default() -> Self {
        Rack {
            xmit_ts: Time::ZERO,
            segment: 0,
            rtt: Span::ZERO,
            reo_wnd_mult: 1,
            reo_wnd_persist: 0,
            dsack_round: None,
        }
    }
}

/// The inputs of the reordering window beside RACK's own state.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReorderingInputs {
    pub(crate) min_rtt: Span,
    pub(crate) srtt: Span,
    pub(crate) reordering_seen: bool,
    /// In recovery, or `DupThresh` segments are SACKed.
    pub(crate) in_recovery_or_dup_thresh: bool,
}

impl Rack {
    /// Section 6.2, step 2: the round trip of the newest segment that this acknowledgement delivered, and the
    /// segment if no later one has been delivered.
    pub(crate) fn update(&mut self, sample: &AckSample) {
        let Some((sent, sequence)) = sample.newest else { return };
        self.rtt = sample.now.since(sent);
        if (sent, sequence) >= (self.xmit_ts, self.segment) {
            self.xmit_ts = sent;
            self.segment = sequence;
        }
    }

    /// Section 6.2, step 4: each round trip with a D-SACK widens the window; returns whether this
    /// acknowledgement did.
    pub(crate) fn on_ack(&mut self, snd_una: u64, snd_nxt: u64, dsack: bool) -> bool {
        if self.dsack_round.is_some_and(|round| snd_una >= round.get()) {
            self.dsack_round = None;
        }
        if dsack && self.dsack_round.is_none() {
            self.dsack_round = NonZeroU64::new(snd_nxt);
            self.reo_wnd_mult += 1;
            self.reo_wnd_persist = 16;
            return true;
        }
        false
    }

    /// Section 6.2, step 4: sixteen recoveries, fast or from a timeout, without a D-SACK narrow it again.
    pub(crate) fn on_recovered(&mut self) {
        self.reo_wnd_persist = self.reo_wnd_persist.saturating_sub(1);
        if self.reo_wnd_persist == 0 {
            self.reo_wnd_mult = 1;
        }
    }

    /// How much later than the newest a segment may arrive (`RACK.reo_wnd`).
    pub(crate) fn reordering_window(&self, reordering_inputs: &ReorderingInputs) -> Span {
        if !reordering_inputs.reordering_seen && reordering_inputs.in_recovery_or_dup_thresh {
            return Span::ZERO;
        }
        let quarter = reordering_inputs.min_rtt.ps() / 4;
        Span::from_ps(quarter.saturating_mul(u64::from(self.reo_wnd_mult))).min(reordering_inputs.srtt)
    }

    /// Section 6.2, step 5: marks lost segments.
    pub(crate) fn detect(
        &self,
        scoreboard: &mut Scoreboard,
        now: Time,
        reordering_inputs: &ReorderingInputs,
    ) -> RackLosses {
        if scoreboard.is_empty() {
            return RackLosses::default();
        }
        let wait = self.rtt + self.reordering_window(reordering_inputs);
        scoreboard.mark_lost_by_time(now, wait, (self.xmit_ts, self.segment))
    }

    /// Section 6.3: on a timeout, all that is overdue is lost, whether or not something sent later has
    /// been delivered; and the first segment.
    pub(crate) fn detect_on_timeout(
        &self,
        scoreboard: &mut Scoreboard,
        now: Time,
        reordering_inputs: &ReorderingInputs,
    ) {
        let wait = self.rtt + self.reordering_window(reordering_inputs);
        scoreboard.mark_lost_by_time(now, wait, (Time::NEVER, u64::MAX));
        scoreboard.mark_head_lost();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OPEN: ReorderingInputs = ReorderingInputs {
        min_rtt: Span::from_ms(100),
        srtt: Span::from_ms(110),
        reordering_seen: true,
        in_recovery_or_dup_thresh: false,
    };

    #[test]
    fn the_window_is_a_quarter_of_the_smallest_round_trip() {
        assert_eq!(Rack::default().reordering_window(&OPEN), Span::from_ms(25));
    }

    #[test]
    fn without_reordering_three_sacked_segments_close_the_reordering_window() {
        let in_recovery_or_dup_thresh =
            ReorderingInputs { reordering_seen: false, in_recovery_or_dup_thresh: true, ..OPEN };
        assert_eq!(Rack::default().reordering_window(&in_recovery_or_dup_thresh), Span::ZERO);
        assert_eq!(
            Rack::default().reordering_window(&ReorderingInputs { in_recovery_or_dup_thresh: true, ..OPEN }),
            Span::from_ms(25)
        );
    }

    #[test]
    fn each_round_with_a_dsack_adds_a_quarter_up_to_the_smoothed_round_trip() {
        let mut rack = Rack::default();
        rack.on_ack(0, 10, true);
        rack.on_ack(5, 15, true);
        assert_eq!(rack.reordering_window(&OPEN), Span::from_ms(50), "one round counts once");
        rack.on_ack(10, 20, true);
        assert_eq!(rack.reordering_window(&OPEN), Span::from_ms(75));
        for round in 2..8 {
            rack.on_ack(10 * round, 10 * round + 10, true);
        }
        assert_eq!(rack.reordering_window(&OPEN), Span::from_ms(110));
    }

    #[test]
    fn sixteen_recoveries_forget_the_dsacks() {
        let mut rack = Rack::default();
        rack.on_ack(0, 10, true);
        for _ in 0..15 {
            rack.on_recovered();
        }
        assert_eq!(rack.reordering_window(&OPEN), Span::from_ms(50));
        rack.on_recovered();
        assert_eq!(rack.reordering_window(&OPEN), Span::from_ms(25));
    }
}
