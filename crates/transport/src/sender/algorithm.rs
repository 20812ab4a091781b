#[cfg(feature = "cc-trace")]
use crate::cc_trace;
use longhaul_congestion::{
    Ack, Algorithm, AlgorithmSettings, Congestion, CongestionControl, Coupling, Pacing, Subflow,
};
use longhaul_random::Stream;
use longhaul_units::Time;
use std::sync::Arc;

/// A connection's congestion-control algorithm. The first write creates it: an end that only receives has none.
#[derive(Clone, Debug)]
pub(crate) struct ConnectionAlgorithm {
    settings: Arc<AlgorithmSettings>,
    control: Option<Algorithm>,
    /// For algorithms that use random numbers.
    rng: Option<Box<Stream>>,
    /// Initial window, in segments.
    initial: u32,
}

impl ConnectionAlgorithm {
    pub(crate) fn new(settings: &Arc<AlgorithmSettings>, initial: u32, rng: Stream) -> Self {
        let rng = settings.draws().then(|| Box::new(rng));
        ConnectionAlgorithm { settings: Arc::clone(settings), control: None, rng, initial }
    }

    #[cfg(test)]
    pub(crate) fn is_initialized(&self) -> bool {
        self.control.is_some()
    }

    #[cfg(test)]
    pub(crate) fn keeps_rng(&self) -> bool {
        self.rng.is_some()
    }

    /// Creates the algorithm unless it exists.
    pub(crate) fn init(&mut self) {
        if self.control.is_some() {
            return;
        }
        let mut control = Algorithm::new(&self.settings, f64::from(self.initial));
        if let Some(rng) = &mut self.rng {
            control.on_start(rng);
        }
        self.control = Some(control);
    }

    /// Restarts with an initial window of `initial` segments.
    pub(crate) fn restart(&mut self, initial: u32) {
        self.initial = initial;
        if self.control.take().is_some() {
            self.init();
        }
    }

    pub(crate) fn on_lost(&mut self, now: Time, segments: u32) {
        if let (Some(control), Some(rng)) = (&mut self.control, &mut self.rng) {
            for _ in 0..segments {
                #[cfg(feature = "cc-trace")]
                let event = cc_trace::Event::Lost(now, rng.clone().uniform());
                control.on_lost(now, rng);
                #[cfg(feature = "cc-trace")]
                cc_trace::record(event, control);
            }
        }
    }
}

/// Forwards to the algorithm; before it exists, the window is the initial window, and events have no effect.
impl ConnectionAlgorithm {
    pub(crate) fn window(&self) -> f64 {
        self.control.as_ref().map_or(f64::from(self.initial), CongestionControl::window)
    }

    pub(crate) fn threshold(&self) -> f64 {
        self.control.as_ref().map_or(f64::INFINITY, CongestionControl::threshold)
    }

    pub(crate) fn pacing(&self) -> Pacing {
        self.control.as_ref().map_or(Pacing::None, CongestionControl::pacing)
    }

    pub(crate) fn steers_recovery(&self) -> bool {
        self.control.as_ref().is_some_and(CongestionControl::steers_recovery)
    }

    pub(crate) fn on_ack(&mut self, ack: &Ack) {
        self.notify(|algorithm| algorithm.on_ack(ack));
        #[cfg(feature = "cc-trace")]
        self.trace(cc_trace::Event::Ack(*ack));
    }

    pub(crate) fn on_congestion(&mut self, congestion: &Congestion) {
        self.notify(|algorithm| algorithm.on_congestion(congestion));
        #[cfg(feature = "cc-trace")]
        self.trace(cc_trace::Event::Congestion(*congestion));
    }

    pub(crate) fn on_timeout(&mut self, now: Time, in_flight: u32) {
        self.notify(|algorithm| algorithm.on_timeout(now, in_flight));
        #[cfg(feature = "cc-trace")]
        self.trace(cc_trace::Event::Timeout(now, in_flight));
    }

    pub(crate) fn on_recovered(&mut self, now: Time) {
        self.notify(|algorithm| algorithm.on_recovered(now));
        #[cfg(feature = "cc-trace")]
        self.trace(cc_trace::Event::Recovered(now));
    }

    pub(crate) fn on_spurious(&mut self, now: Time) {
        self.notify(|algorithm| algorithm.on_spurious(now));
        #[cfg(feature = "cc-trace")]
        self.trace(cc_trace::Event::Spurious(now));
    }

    pub(crate) fn on_sent(&mut self, now: Time, in_flight: u32) {
        self.notify(|algorithm| algorithm.on_sent(now, in_flight));
    }

    /// What its siblings know of it.
    pub(crate) fn subflow(&self, srtt_s: f64) -> Subflow {
        let between_losses = self.control.as_ref().map_or(0.0, CongestionControl::between_losses);
        Subflow { window: self.window(), srtt_s, between_losses }
    }

    pub(crate) fn couple(&mut self, coupling: &Coupling<'_>) {
        self.notify(|algorithm| algorithm.couple(coupling));
    }

    fn notify(&mut self, what: impl FnOnce(&mut Algorithm)) {
        if let Some(control) = &mut self.control {
            what(control);
        }
    }

    #[cfg(feature = "cc-trace")]
    fn trace(&self, event: cc_trace::Event) {
        if let Some(control) = &self.control {
            cc_trace::record(event, control);
        }
    }
}
