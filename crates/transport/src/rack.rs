use crate::scoreboard::{Overdue, Scoreboard};
use crate::tally::Tally;
use longhaul_units::{Span, Time};
use std::num::NonZeroU64;

/// RACK's state (RFC 8985, section 5.3); the scoreboard keeps the send times.
#[derive(Clone, Debug)]
pub(crate) struct Rack {
    /// The delivered segment that was sent last: when, which, and its round trip.
    pub(crate) sent: Time,
    pub(crate) sequence: u64,
    pub(crate) rtt: Span,
    multiplier: u32,
    /// Recoveries until the multiplier is 1 again.
    persist: u8,
    /// The multiplier grows once per round trip: not again before this is acknowledged. It is not 0.
    dsack_round: Option<NonZeroU64>,
}

impl Default for Rack {
    fn default() -> Self {
        Rack { sent: Time::ZERO, sequence: 0, rtt: Span::ZERO, multiplier: 1, persist: 0, dsack_round: None }
    }
}

/// What the reordering window depends on beside RACK's own state.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Situation {
    pub(crate) min_rtt: Span,
    pub(crate) srtt: Span,
    pub(crate) reordering_seen: bool,
    /// In recovery, or as many segments SACKed as would start one by counting.
    pub(crate) eager: bool,
}

impl Rack {
    /// Section 6.2, step 2: the round trip of the newest segment that this acknowledgement delivered, and the
    /// segment if no later one has been delivered.
    pub(crate) fn update(&mut self, tally: &Tally) {
        let Some((sent, sequence)) = tally.newest else { return };
        self.rtt = tally.now.since(sent);
        if (sent, sequence) >= (self.sent, self.sequence) {
            self.sent = sent;
            self.sequence = sequence;
        }
    }

    /// Section 6.2, step 4: each round trip with a D-SACK widens the window; returns whether this
    /// acknowledgement did.
    pub(crate) fn on_ack(&mut self, first_unacked: u64, next: u64, dsack: bool) -> bool {
        if self.dsack_round.is_some_and(|round| first_unacked >= round.get()) {
            self.dsack_round = None;
        }
        if dsack && self.dsack_round.is_none() {
            self.dsack_round = NonZeroU64::new(next);
            self.multiplier += 1;
            self.persist = 16;
            return true;
        }
        false
    }

    /// Section 6.2, step 4: sixteen recoveries, fast or from a timeout, without a D-SACK narrow it again.
    pub(crate) fn on_recovered(&mut self) {
        self.persist = self.persist.saturating_sub(1);
        if self.persist == 0 {
            self.multiplier = 1;
        }
    }

    /// How much later than the newest a segment may arrive (RACK.reo_wnd).
    pub(crate) fn reordering_window(&self, situation: &Situation) -> Span {
        if !situation.reordering_seen && situation.eager {
            return Span::ZERO;
        }
        let quarter = situation.min_rtt.ps() / 4;
        Span::from_ps(quarter.saturating_mul(u64::from(self.multiplier))).min(situation.srtt)
    }

    /// Section 6.2, step 5: marks what is lost.
    pub(crate) fn detect(&self, board: &mut Scoreboard, now: Time, situation: &Situation) -> Overdue {
        if board.is_empty() {
            return Overdue::default();
        }
        let wait = self.rtt + self.reordering_window(situation);
        board.mark_overdue(now, wait, (self.sent, self.sequence))
    }

    /// Section 6.3: on a timeout, all that is overdue is lost, whether or not something sent later has
    /// been delivered; and the first segment.
    pub(crate) fn detect_on_timeout(&self, board: &mut Scoreboard, now: Time, situation: &Situation) {
        let wait = self.rtt + self.reordering_window(situation);
        board.mark_overdue(now, wait, (Time::NEVER, u64::MAX));
        board.mark_first();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CALM: Situation = Situation {
        min_rtt: Span::from_ms(100),
        srtt: Span::from_ms(110),
        reordering_seen: true,
        eager: false,
    };

    #[test]
    fn the_window_is_a_quarter_of_the_smallest_round_trip() {
        assert_eq!(Rack::default().reordering_window(&CALM), Span::from_ms(25));
    }

    #[test]
    fn without_reordering_three_sacked_segments_end_the_patience() {
        let eager = Situation { reordering_seen: false, eager: true, ..CALM };
        assert_eq!(Rack::default().reordering_window(&eager), Span::ZERO);
        assert_eq!(Rack::default().reordering_window(&Situation { eager: true, ..CALM }), Span::from_ms(25));
    }

    #[test]
    fn each_round_with_a_dsack_adds_a_quarter_up_to_the_smoothed_round_trip() {
        let mut rack = Rack::default();
        rack.on_ack(0, 10, true);
        rack.on_ack(5, 15, true);
        assert_eq!(rack.reordering_window(&CALM), Span::from_ms(50), "one round counts once");
        rack.on_ack(10, 20, true);
        assert_eq!(rack.reordering_window(&CALM), Span::from_ms(75));
        for round in 2..8 {
            rack.on_ack(10 * round, 10 * round + 10, true);
        }
        assert_eq!(rack.reordering_window(&CALM), Span::from_ms(110));
    }

    #[test]
    fn sixteen_recoveries_forget_the_dsacks() {
        let mut rack = Rack::default();
        rack.on_ack(0, 10, true);
        for _ in 0..15 {
            rack.on_recovered();
        }
        assert_eq!(rack.reordering_window(&CALM), Span::from_ms(50));
        rack.on_recovered();
        assert_eq!(rack.reordering_window(&CALM), Span::from_ms(25));
    }
}
