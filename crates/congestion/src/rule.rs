use crate::congestion_control::{Ack, Congestion, CongestionControl};
use crate::formula::{Formula, Variables};
use crate::slow_start::SlowStartSettings;
use crate::window::Window;
use longhaul_units::{Span, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A rule's formulas; without any, they are those of Reno.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RuleSettings {
    /// Growth below the threshold.
    pub slow_start: SlowStartSettings,
    /// Segments that each acknowledged one adds to the window in congestion avoidance, from -1 to 1.
    pub per_ack: Formula,
    /// The window and its threshold after a loss or a mark, in segments.
    pub after_loss: Formula,
    /// The threshold after a timeout, in segments; the window is 1.
    pub after_timeout: Formula,
}

impl Default for RuleSettings {
    fn default() -> Self {
        RuleSettings {
            slow_start: SlowStartSettings::default(),
            per_ack: Formula::new("1 / cwnd"),
            after_loss: Formula::new("in_flight / 2"),
            after_timeout: Formula::new("in_flight / 2"),
        }
    }
}

/// An algorithm that a scenario writes as formulas. Slow start, recovery and timeouts are those of RFC 5681.
#[derive(Clone, Debug)]
pub struct Rule {
    settings: RuleSettings,
    window: Window,
    /// The last values of the connection, in seconds.
    rtt_s: f64,
    min_rtt_s: f64,
    last_loss: Option<LossEvent>,
    /// The loss event before the last.
    before: Option<LossEvent>,
}

/// A reduction of the window, or the end of slow start if there was none before.
#[derive(Clone, Copy, Debug)]
struct LossEvent {
    at: Time,
    /// The congestion window before it, in segments.
    window: f64,
}

impl Rule {
    /// Begins with `initial` segments.
    pub fn new(settings: &RuleSettings, initial: f64) -> Self {
        Rule {
            settings: settings.clone(),
            window: Window::new(initial, &settings.slow_start),
            rtt_s: 0.0,
            min_rtt_s: 0.0,
            last_loss: None,
            before: None,
        }
    }

    fn measure(&mut self, rtt: Span, min_rtt: Span) {
        (self.rtt_s, self.min_rtt_s) = (rtt.as_secs_f64(), min_rtt.as_secs_f64());
    }

    fn variables(&self, now: Time, cwnd: f64, in_flight: u32) -> Variables {
        let last = self.last_loss.unwrap_or(LossEvent { at: now, window: cwnd });
        Variables {
            cwnd,
            in_flight: f64::from(in_flight),
            rtt: self.rtt_s,
            min_rtt: self.min_rtt_s,
            since_loss: now.since(last.at).as_secs_f64(),
            cwnd_at_loss: last.window,
        }
    }

    /// The window after a loss event by `formula`: at most the window, or all in flight if that is more. What is
    /// not a number counts as 0, and [`Window`] leaves at least 2.
    fn target(&mut self, now: Time, in_flight: u32, formula: fn(&RuleSettings) -> &Formula) -> f64 {
        let used = self.window.used(in_flight);
        let target = formula(&self.settings).evaluate(&self.variables(now, used, in_flight));
        self.before = self.last_loss.replace(LossEvent { at: now, window: used });
        target.max(0.0).min(self.window.size.max(f64::from(in_flight)))
    }
}

impl CongestionControl for Rule {
    fn window(&self) -> f64 {
        self.window.size
    }

    fn threshold(&self) -> f64 {
        self.window.threshold
    }

    fn on_ack(&mut self, ack: &Ack) {
        self.measure(ack.srtt, ack.min_rtt);
        let rest = self.window.grow(ack);
        if rest <= 0.0 {
            return;
        }
        let size = self.window.size;
        self.last_loss.get_or_insert(LossEvent { at: ack.now, window: size });
        let growth = self.settings.per_ack.evaluate(&self.variables(ack.now, size, ack.in_flight));
        // NaN: no growth.
        let growth = if growth.is_nan() { 0.0 } else { growth.clamp(-1.0, 1.0) };
        if growth < 0.0 {
            self.window.yield_to(size + rest * growth);
        } else {
            self.window.size = size + rest * growth;
        }
    }

    fn on_congestion(&mut self, congestion: &Congestion) {
        self.measure(congestion.srtt, congestion.min_rtt);
        let target = self.target(congestion.now, congestion.in_flight, |settings| &settings.after_loss);
        self.window.reduce(target);
    }

    fn on_timeout(&mut self, now: Time, in_flight: u32) {
        let target = self.target(now, in_flight, |settings| &settings.after_timeout);
        self.window.collapse(target);
    }

    fn on_spurious(&mut self, _now: Time) {
        self.window.restore();
        if let Some(before) = self.before.take() {
            self.last_loss = Some(before);
        }
    }
}
