use crate::congestion_control::Ack;
use crate::slow_start::{SlowStart, SlowStartSettings};

/// A window with its threshold, and slow start in between: what all algorithms have in common that end
/// their growth with a loss.
#[derive(Clone, Debug)]
pub(crate) struct Window {
    /// The congestion window, in segments.
    pub(crate) size: f64,
    /// The slow-start threshold, in segments; infinite before the first congestion.
    pub(crate) threshold: f64,
    slow_start: SlowStart,
    /// Size and threshold before the last reduction.
    before: Option<(f64, f64)>,
}

impl Window {
    pub(crate) fn new(initial: f64, slow_start: &SlowStartSettings) -> Self {
        Window {
            size: initial.max(1.0),
            threshold: f64::INFINITY,
            slow_start: SlowStart::new(slow_start),
            before: None,
        }
    }

    pub(crate) fn in_slow_start(&self) -> bool {
        self.size < self.threshold
    }

    /// Grows by slow start where that is the rule. Returns how many acknowledged segments are left
    /// for the algorithm's own growth: none during recovery or when the window was not used.
    pub(crate) fn grow(&mut self, ack: &Ack) -> f64 {
        if ack.recovering || !ack.window_limited {
            return 0.0;
        }
        self.slow_start(ack)
    }

    /// As [`grow`](Self::grow), for algorithms that grow in recovery too.
    pub(crate) fn slow_start(&mut self, ack: &Ack) -> f64 {
        let acked = f64::from(ack.acked);
        if !self.in_slow_start() {
            return acked;
        }
        if self.slow_start.ends(self.size, ack) {
            self.leave_slow_start();
            return acked;
        }
        let growth = self.slow_start.growth(self.size, ack);
        let room = self.threshold - self.size;
        if growth.segments < room {
            self.size += growth.segments;
            return 0.0;
        }
        self.size = self.threshold;
        self.slow_start.leave();
        acked - growth.counted * (room / growth.segments)
    }

    /// Slow start ends here, without a loss.
    pub(crate) fn leave_slow_start(&mut self) {
        self.threshold = self.size.max(2.0);
        self.slow_start.leave();
    }

    /// The algorithm itself yields: a window of `size` segments, and no slow start back.
    pub(crate) fn yield_to(&mut self, size: f64) {
        self.size = size.max(2.0);
        self.threshold = self.threshold.min(self.size);
    }

    /// Both become `size`, without a congestion.
    pub(crate) fn settle(&mut self, size: f64) {
        self.size = size.max(2.0);
        self.threshold = self.size;
    }

    /// Congestion: both become `target`, which is at least 2 (RFC 5681, equation 4).
    pub(crate) fn reduce(&mut self, target: f64) {
        self.before = Some((self.size, self.threshold));
        self.threshold = target.max(2.0);
        self.size = self.threshold;
        self.slow_start.leave();
    }

    /// A timeout: the threshold becomes `target`, and the window one segment.
    pub(crate) fn collapse(&mut self, target: f64) {
        self.before = Some((self.size, self.threshold));
        self.threshold = target.max(2.0);
        self.size = 1.0;
        self.slow_start.restart_after_timeout();
    }

    /// The last reduction was for nothing (RFC 4015).
    pub(crate) fn restore(&mut self) {
        if let Some((size, threshold)) = self.before.take() {
            self.size = self.size.max(size);
            self.threshold = threshold;
        }
    }

    /// The window as far as it was used: with its fraction, but no more than what was in flight.
    pub(crate) fn used(&self, in_flight: u32) -> f64 {
        self.size.min(f64::from(in_flight) + 1.0)
    }
}
