use crate::congestion_control::{Ack, Delivery};

/// The largest value of the last `N` units of some time that counts up.
#[derive(Clone, Debug)]
pub(crate) struct RecentMax<const N: usize> {
    values: [f64; N],
    newest: u64,
}

impl<const N: usize> RecentMax<N> {
    pub(crate) fn new() -> Self {
        RecentMax { values: [0.0; N], newest: 0 }
    }

    /// Forgets what is too old at `time`, which never goes back.
    pub(crate) fn advance(&mut self, time: u64) {
        for passed in 1..=(time - self.newest).min(N as u64) {
            self.values[((self.newest + passed) % N as u64) as usize] = 0.0;
        }
        self.newest = time;
    }

    pub(crate) fn update(&mut self, time: u64, value: f64) {
        self.advance(time);
        let slot = &mut self.values[(time % N as u64) as usize];
        *slot = slot.max(value);
    }

    pub(crate) fn max(&self) -> f64 {
        self.values.iter().fold(0.0, |most, &value| most.max(value))
    }

    /// The largest of the current unit alone.
    pub(crate) fn current(&self) -> f64 {
        self.values[(self.newest % N as u64) as usize]
    }
}

/// A delivery-rate sample, in segments and segments per second.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sample {
    pub(crate) rate: f64,
    pub(crate) delivered: f64,
    pub(crate) prior_delivered: u64,
    pub(crate) total_delivered: u64,
    pub(crate) in_flight_at_send: f64,
    pub(crate) newly_lost: f64,
    pub(crate) lost: f64,
    pub(crate) app_limited: bool,
}

impl Sample {
    pub(crate) fn of(delivery: &Delivery) -> Self {
        let seconds = delivery.interval.as_secs_f64();
        let delivered = f64::from(delivery.delivered);
        Sample {
            rate: if seconds > 0.0 { delivered / seconds } else { 0.0 },
            delivered,
            prior_delivered: delivery.prior_delivered,
            total_delivered: delivery.total_delivered,
            in_flight_at_send: f64::from(delivery.in_flight_at_send),
            newly_lost: f64::from(delivery.newly_lost),
            lost: f64::from(delivery.lost),
            app_limited: delivery.app_limited,
        }
    }
}

/// What is in flight after `ack`.
pub(crate) fn left_in_flight(ack: &Ack) -> f64 {
    f64::from(ack.in_flight.saturating_sub(ack.delivered))
}

/// Packet-timed round trips (draft-ietf-ccwg-bbr, section 5.5.1).
#[derive(Clone, Debug, Default)]
pub(crate) struct Rounds {
    pub(crate) count: u64,
    /// Whether the last sample began one.
    pub(crate) started: bool,
    next_delivered: u64,
    delivered: u64,
}

impl Rounds {
    pub(crate) fn update(&mut self, sample: &Sample) {
        self.delivered = self.delivered.max(sample.total_delivered);
        self.started = sample.prior_delivered >= self.next_delivered;
        if self.started {
            self.begin();
            self.count += 1;
        }
    }

    /// The current one begins now.
    pub(crate) fn begin(&mut self) {
        self.next_delivered = self.delivered;
    }

    /// Segments delivered in all.
    pub(crate) fn delivered(&self) -> u64 {
        self.delivered
    }
}

/// Whether the bandwidth has stopped growing: three round trips with less than 25 % more
/// (draft-ietf-ccwg-bbr, section 5.3.1.2).
#[derive(Clone, Debug, Default)]
pub(crate) struct Plateau {
    bandwidth: f64,
    rounds: u32,
    /// Now.
    pub(crate) now: bool,
    /// Ever.
    pub(crate) reached: bool,
}

impl Plateau {
    /// Judges a round trip that was not held back by the application.
    pub(crate) fn judge(&mut self, bandwidth: f64) {
        if self.now {
            return;
        }
        if bandwidth >= self.bandwidth * 1.25 {
            self.restart(bandwidth);
            return;
        }
        self.rounds += 1;
        self.now = self.rounds >= 3;
        self.reached |= self.now;
    }

    /// Looks for another plateau from `bandwidth` on.
    pub(crate) fn restart(&mut self, bandwidth: f64) {
        *self = Plateau { bandwidth, reached: self.reached, ..Plateau::default() };
    }
}

/// Segments that left while the algorithm itself held the sender back: their samples say nothing of the path.
#[derive(Clone, Debug, Default)]
pub(crate) struct HeldBack {
    from: u64,
    until: u64,
}

impl HeldBack {
    /// The algorithm holds back now, with `in_flight` still to come.
    pub(crate) fn hold(&mut self, delivered: u64, in_flight: f64) {
        if delivered > self.until {
            self.from = delivered;
        }
        self.until = delivered + in_flight as u64 + 1;
    }

    pub(crate) fn concerns(&self, sample: &Sample) -> bool {
        (self.from..=self.until).contains(&sample.prior_delivered) && self.until > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_recent_maximum_forgets_what_is_as_many_units_old_as_it_holds() {
        let mut max = RecentMax::<3>::new();
        max.update(0, 9.0);
        max.update(1, 5.0);
        max.update(2, 7.0);
        assert_eq!(max.max(), 9.0);
        max.update(3, 1.0);
        assert_eq!((max.max(), max.current()), (7.0, 1.0));
        max.advance(4);
        assert_eq!(max.max(), 7.0);
        max.advance(5);
        assert_eq!(max.max(), 1.0);
        max.advance(1_000_000);
        assert_eq!(max.max(), 0.0);
    }

    #[test]
    fn a_plateau_is_three_rounds_without_a_quarter_more() {
        let mut plateau = Plateau::default();
        for bandwidth in [100.0, 125.0, 156.25, 195.0, 195.0] {
            plateau.judge(bandwidth);
            assert!(!plateau.now);
        }
        // 195 < 1.25 * 156.25: twice so far.
        plateau.judge(195.0);
        assert!(plateau.now && plateau.reached);
        plateau.restart(195.0);
        assert!(!plateau.now && plateau.reached);
    }
}
