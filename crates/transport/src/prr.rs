use crate::settings::Bound;

/// Proportional rate reduction (RFC 9937, section 6.2), in segments.
#[derive(Clone, Copy, Debug, Default)]
#[expect(clippy::struct_field_names, reason = "the names of RFC 9937")]
pub(crate) struct Prr {
    prr_delivered: u32,
    prr_out: u32,
    /// `RecoverFS`: the flight size when recovery began.
    recover_fs: u32,
    /// Segments that may be sent until the next acknowledgement.
    sndcnt: u32,
}

/// The inputs of an update.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PrrInputs {
    /// Newly delivered segments (`DeliveredData`).
    pub(crate) delivered: u32,
    /// In flight after it.
    pub(crate) pipe: u32,
    /// The window after recovery.
    pub(crate) ssthresh: u32,
    /// The cumulative acknowledgement advanced, and no further loss shows.
    pub(crate) safe_ack: bool,
}

impl Prr {
    /// Recovery begins with `flight` segments in flight, those included that this acknowledgement newly
    /// delivered.
    pub(crate) fn begin(flight: u32) -> Self {
        Prr { recover_fs: flight.max(1), ..Prr::default() }
    }

    pub(crate) fn on_ack(&mut self, inputs: PrrInputs, bound: Bound) {
        let PrrInputs { delivered, pipe, ssthresh, safe_ack } = inputs;
        if delivered == 0 {
            return;
        }
        self.prr_delivered += delivered;
        let owed = self.prr_delivered.saturating_sub(self.prr_out);
        self.sndcnt = if pipe > ssthresh {
            let share =
                (u64::from(self.prr_delivered) * u64::from(ssthresh)).div_ceil(self.recover_fs.into());
            (share as u32).saturating_sub(self.prr_out)
        } else {
            let limit = match bound {
                Bound::Conservative => owed,
                Bound::SlowStart => owed.max(delivered) + 1,
                Bound::Safe => owed.max(delivered) + u32::from(safe_ack),
            };
            limit.min(ssthresh - pipe)
        };
        if self.prr_out == 0 && self.sndcnt == 0 {
            self.sndcnt = 1;
        }
    }

    /// Losses found by a timer, without an acknowledgement, let at least one segment go.
    pub(crate) fn on_timer(&mut self) {
        self.sndcnt = self.sndcnt.max(1);
    }

    pub(crate) fn may_send(&self) -> bool {
        self.sndcnt > 0
    }

    pub(crate) fn on_sent(&mut self) {
        self.prr_out += 1;
        self.sndcnt = self.sndcnt.saturating_sub(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Feeds one acknowledgement per delivered segment and sends what may be sent; returns how many left
    /// after each.
    fn run(flight: u32, lost: u32, ssthresh: u32, bound: Bound) -> Vec<u32> {
        let mut prr = Prr::begin(flight);
        let mut pipe = flight - lost;
        let mut sent = Vec::new();
        for _ in 0..flight - lost {
            pipe -= 1;
            prr.on_ack(PrrInputs { delivered: 1, pipe, ssthresh, safe_ack: false }, bound);
            let mut left = 0;
            while prr.may_send() {
                prr.on_sent();
                pipe += 1;
                left += 1;
            }
            sent.push(left);
        }
        sent
    }

    #[test]
    fn one_loss_of_twenty_sends_one_for_every_two_delivered() {
        // 20 in flight, 1 lost, target 10: ceil(k * 10 / 20) have left after the k-th, until the pipe is
        // at the target; then one per delivered. At the end 20 - 1 - 19 + 10 = 10 are in flight.
        let sent = run(20, 1, 10, Bound::Safe);
        let expected: Vec<u32> = (1u32..17).map(|k| k.div_ceil(2) - (k - 1).div_ceil(2)).collect();
        assert_eq!(sent[..16], expected);
        assert_eq!(sent.iter().sum::<u32>(), 10);
    }

    #[test]
    fn a_reduction_to_seven_tenths_sends_seven_for_every_ten_delivered() {
        let sent = run(100, 1, 70, Bound::Safe);
        for (index, window) in sent.windows(10).enumerate().take(80) {
            assert!((6..=8).contains(&window.iter().sum::<u32>()), "{index}");
        }
        // ceil(99 * 0.7).
        assert_eq!(sent.iter().sum::<u32>(), 70);
    }

    #[test]
    fn after_heavy_loss_the_conservative_bound_sends_one_per_delivered() {
        // 20 in flight, 16 lost, target 10: the pipe of 4 is below the target from the start.
        assert_eq!(run(20, 16, 10, Bound::Conservative), [1, 1, 1, 1]);
    }

    #[test]
    fn after_heavy_loss_the_slow_start_bound_sends_one_more_per_acknowledgement() {
        assert_eq!(run(20, 16, 10, Bound::SlowStart), [2, 2, 2, 2]);
    }

    #[test]
    fn a_safe_acknowledgement_earns_the_extra_segment_and_others_do_not() {
        let mut prr = Prr::begin(20);
        prr.on_ack(PrrInputs { delivered: 1, pipe: 3, ssthresh: 10, safe_ack: false }, Bound::Safe);
        assert_eq!(prr.sndcnt, 1);
        prr.on_sent();
        prr.on_ack(PrrInputs { delivered: 1, pipe: 3, ssthresh: 10, safe_ack: true }, Bound::Safe);
        assert_eq!(prr.sndcnt, 2);
    }

    #[test]
    fn the_first_retransmission_always_goes() {
        // ceil(1 * 1 / 100) is 1 anyway; a target of 0 segments shows the rule.
        let mut prr = Prr::begin(100);
        prr.on_ack(PrrInputs { delivered: 1, pipe: 98, ssthresh: 0, safe_ack: false }, Bound::Safe);
        assert!(prr.may_send());
    }
}
