use crate::law::{Ack, Congestion, Law};
use longhaul_units::Time;

/// Reno's window (RFC 5681): one segment more per round trip, half of it on congestion.
///
/// What is called Reno, NewReno or SACK differs in how the transport recovers, not in the window.
#[derive(Clone, Debug)]
pub struct Reno {
    window: f64,
    threshold: f64,
    before: (f64, f64),
}

impl Reno {
    /// Begins with `initial` segments.
    pub fn new(initial: f64) -> Self {
        Reno { window: initial, threshold: f64::INFINITY, before: (initial, f64::INFINITY) }
    }

    fn reduce(&mut self, in_flight: u32) {
        self.before = (self.window, self.threshold);
        self.threshold = (f64::from(in_flight) / 2.0).max(2.0);
    }
}

impl Law for Reno {
    fn window(&self) -> f64 {
        self.window
    }

    fn threshold(&self) -> f64 {
        self.threshold
    }

    fn on_ack(&mut self, ack: &Ack) {
        if ack.recovering || !ack.window_limited {
            return;
        }
        let mut acked = f64::from(ack.acked);
        if self.window < self.threshold {
            // Appropriate byte counting with L = 2 (RFC 3465, section 2.3); the rest goes on below.
            let step = acked.min(2.0).min(self.threshold - self.window);
            self.window += step;
            acked -= step;
            if self.window < self.threshold {
                return;
            }
        }
        self.window += acked / self.window;
    }

    fn on_congestion(&mut self, congestion: &Congestion) {
        self.reduce(congestion.in_flight);
        self.window = self.threshold;
    }

    fn on_timeout(&mut self, _now: Time, in_flight: u32) {
        self.reduce(in_flight);
        self.window = 1.0;
    }

    fn on_spurious(&mut self, _now: Time) {
        (self.window, self.threshold) = self.before;
    }
}
