use crate::congestion_control::{Ack, Congestion, CongestionControl};
use crate::coupling::{Coupling, LossIntervals, Subflow};
use crate::slow_start::SlowStartSettings;
use crate::window::Window;
use longhaul_units::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// OLIA's parameters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct OliaSettings {
    /// Growth below the threshold.
    pub slow_start: SlowStartSettings,
}

/// The opportunistic linked increases of Multipath TCP: R. Khalili, N. Gast, M. Popovic, U. Upadhyay,
/// J.-Y. Le Boudec, "MPTCP is not Pareto-Optimal", `CoNEXT` 2012 (draft-khalili-mptcp-congestion-control-05). As LIA, but
/// it moves windows from the paths with the largest to the best ones. A connection of one path is Reno.
#[derive(Clone, Debug)]
pub struct Olia {
    window: Window,
    losses: LossIntervals,
    /// `(w / rtt^2) / (sum of w / rtt)^2`, in segments for each segment acknowledged; infinite without a coupling.
    increase: f64,
    /// `alpha`: what this path gains or loses to others.
    shift: f64,
}

impl Olia {
    /// Begins with `initial` segments.
    pub fn new(settings: &OliaSettings, initial: f64) -> Self {
        Olia {
            window: Window::new(initial, &settings.slow_start),
            losses: LossIntervals::default(),
            increase: f64::INFINITY,
            shift: 0.0,
        }
    }
}

impl CongestionControl for Olia {
    fn window(&self) -> f64 {
        self.window.size
    }

    fn threshold(&self) -> f64 {
        self.window.threshold
    }

    fn couple(&mut self, coupling: &Coupling<'_>) {
        let Some(own) = coupling.subflows.get(coupling.own) else { return };
        let rate = coupling.rate();
        self.increase = own.window / (own.srtt_s * own.srtt_s) / (rate * rate);
        self.shift = shift(coupling);
    }

    fn between_losses(&self) -> f64 {
        self.losses.longest()
    }

    fn on_ack(&mut self, ack: &Ack) {
        self.losses.add(ack.acked);
        let rest = self.window.grow(ack);
        let size = self.window.size;
        let increase = self.increase.min(1.0 / size) + self.shift / size;
        self.window.size = (size + rest * increase).max(1.0);
    }

    fn on_congestion(&mut self, congestion: &Congestion) {
        self.losses.lose();
        self.window.reduce(f64::from(congestion.in_flight) / 2.0);
    }

    fn on_timeout(&mut self, _now: Time, in_flight: u32) {
        self.losses.lose();
        self.window.collapse(f64::from(in_flight) / 2.0);
    }

    fn on_spurious(&mut self, _now: Time) {
        self.window.restore();
    }
}

/// The draft's `alpha` of a path: positive on the best paths that have not the largest window, negative on those
/// that have it, as long as there are such best paths.
fn shift(coupling: &Coupling<'_>) -> f64 {
    let Coupling { subflows, own } = *coupling;
    let quality = |each: &Subflow| each.between_losses * each.between_losses / each.srtt_s;
    let best = subflows.iter().map(quality).fold(0.0, f64::max);
    let largest = subflows.iter().map(|each| each.window).fold(0.0, f64::max);
    let has_largest = |each: &Subflow| each.window >= largest;
    let is_collected = |each: &Subflow| quality(each) >= best && !has_largest(each);
    let collected = subflows.iter().filter(|each| is_collected(each)).count() as f64;
    let with_largest = subflows.iter().filter(|each| has_largest(each)).count() as f64;
    let paths = subflows.len() as f64;
    match &subflows[own] {
        _ if collected == 0.0 => 0.0,
        each if is_collected(each) => 1.0 / (paths * collected),
        each if has_largest(each) => -1.0 / (paths * with_largest),
        _ => 0.0,
    }
}
