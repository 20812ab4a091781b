#[cfg(feature = "cc-trace")]
use crate::cc_trace;
use longhaul_congestion::{
    Ack, Algorithm, AlgorithmSettings, Congestion, CongestionControl, Coupling, Pacing, Subflow,
};
use longhaul_random::Stream;
use longhaul_units::Time;
use std::sync::Arc;

/// A connection's congestion-control algorithm.
#[derive(Clone, Debug)]
pub(crate) struct ConnectionAlgorithm {
    settings: Arc<AlgorithmSettings>,
    control: Algorithm,
    /// For algorithms that use random numbers.
    rng: Option<Box<Stream>>,
}

impl ConnectionAlgorithm {
    /// Begins with an initial window of `initial` segments.
    pub(crate) fn new(settings: Arc<AlgorithmSettings>, initial: u32, rng: Option<Box<Stream>>) -> Self {
        let control = Algorithm::new(&settings, f64::from(initial));
        let mut algorithm = ConnectionAlgorithm { settings, control, rng };
        algorithm.start();
        algorithm
    }

    #[cfg(test)]
    pub(crate) fn keeps_rng(&self) -> bool {
        self.rng.is_some()
    }

    fn start(&mut self) {
        if let Some(rng) = &mut self.rng {
            self.control.on_start(rng);
        }
    }

    /// Restarts with an initial window of `initial` segments.
    pub(crate) fn restart(&mut self, initial: u32) {
        self.control = Algorithm::new(&self.settings, f64::from(initial));
        self.start();
    }

    pub(crate) fn on_lost(&mut self, now: Time, segments: u32) {
        if let Some(rng) = &mut self.rng {
            for _ in 0..segments {
                #[cfg(feature = "cc-trace")]
                let event = cc_trace::Event::Lost(now, rng.clone().uniform());
                self.control.on_lost(now, rng);
                #[cfg(feature = "cc-trace")]
                cc_trace::record(event, &self.control);
            }
        }
    }
}

/// Forwards to the algorithm.
impl ConnectionAlgorithm {
    pub(crate) fn window(&self) -> f64 {
        self.control.window()
    }

    pub(crate) fn threshold(&self) -> f64 {
        self.control.threshold()
    }

    pub(crate) fn pacing(&self) -> Pacing {
        self.control.pacing()
    }

    pub(crate) fn steers_recovery(&self) -> bool {
        self.control.steers_recovery()
    }

    pub(crate) fn on_ack(&mut self, ack: &Ack) {
        self.control.on_ack(ack);
        #[cfg(feature = "cc-trace")]
        self.trace(cc_trace::Event::Ack(*ack));
    }

    pub(crate) fn on_congestion(&mut self, congestion: &Congestion) {
        self.control.on_congestion(congestion);
        #[cfg(feature = "cc-trace")]
        self.trace(cc_trace::Event::Congestion(*congestion));
    }

    pub(crate) fn on_timeout(&mut self, now: Time, in_flight: u32) {
        self.control.on_timeout(now, in_flight);
        #[cfg(feature = "cc-trace")]
        self.trace(cc_trace::Event::Timeout(now, in_flight));
    }

    pub(crate) fn on_recovered(&mut self, now: Time) {
        self.control.on_recovered(now);
        #[cfg(feature = "cc-trace")]
        self.trace(cc_trace::Event::Recovered(now));
    }

    pub(crate) fn on_spurious(&mut self, now: Time) {
        self.control.on_spurious(now);
        #[cfg(feature = "cc-trace")]
        self.trace(cc_trace::Event::Spurious(now));
    }

    pub(crate) fn on_sent(&mut self, now: Time, in_flight: u32) {
        self.control.on_sent(now, in_flight);
    }

    /// What its siblings know of it.
    pub(crate) fn subflow(&self, srtt_s: f64) -> Subflow {
        Subflow { window: self.window(), srtt_s, between_losses: self.control.between_losses() }
    }

    pub(crate) fn couple(&mut self, coupling: &Coupling<'_>) {
        self.control.couple(coupling);
    }

    #[cfg(feature = "cc-trace")]
    fn trace(&self, event: cc_trace::Event) {
        cc_trace::record(event, &self.control);
    }
}
