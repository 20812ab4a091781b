use longhaul_random::Stream;
use longhaul_units::{InvalidValue, Span, Time, checked_when_read};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Proportional integral controller enhanced: RFC 8033, with delays taken from time stamps
/// (section 4.2) and without the optional derandomisation.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self", deny_unknown_fields)]
pub struct PieParameters {
    /// Target queueing delay.
    #[serde(rename = "target_ns")]
    pub target: Span,
    /// Time between updates of the drop probability; positive.
    #[serde(rename = "update_ns")]
    pub update: Span,
    /// Weight of the distance from the target, per second; not negative.
    pub alpha: f64,
    /// Weight of the trend, per second; not negative.
    pub beta: f64,
    /// Burst allowance after quiet times.
    #[serde(rename = "burst_ns")]
    pub burst: Span,
    /// Whether ECN-capable packets are marked instead of dropped while the probability is at most 0.1.
    pub ecn: bool,
}

checked_when_read!(PieParameters);

impl PieParameters {
    /// The rules for the fields.
    ///
    /// # Errors
    /// The first rule that is broken.
    pub fn check(&self) -> Result<(), InvalidValue> {
        if self.update == Span::ZERO {
            return Err(InvalidValue::new("update_ns", "must be positive"));
        }
        for (name, weight) in [("alpha", self.alpha), ("beta", self.beta)] {
            if weight < 0.0 || weight.is_nan() {
                return Err(InvalidValue::new(name, "must not be negative"));
            }
        }
        Ok(())
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Pie {
    parameters: PieParameters,
    chance: f64,
    delay: Span,
    delay_before: Span,
    burst_left: Span,
    next_update: Time,
}

/// Below this many packets' worth of bytes nothing is dropped (RFC 8033, section 4.1).
const FEW_PACKETS: u64 = 2;
const MARK_UP_TO: f64 = 0.1;

impl Pie {
    pub(crate) fn new(parameters: PieParameters, now: Time) -> Self {
        Pie {
            parameters,
            chance: 0.0,
            delay: Span::ZERO,
            delay_before: Span::ZERO,
            burst_left: parameters.burst,
            next_update: now + parameters.update,
        }
    }

    pub(crate) fn may_mark(&self) -> bool {
        self.parameters.ecn && self.chance <= MARK_UP_TO
    }

    /// Whether an arriving packet of `bytes` is dropped or marked, with `waiting` bytes ahead of it.
    pub(crate) fn drops_early(&mut self, waiting: u64, bytes: u32, chance: &mut Stream) -> bool {
        let draw = chance.uniform();
        if self.burst_left > Span::ZERO {
            return false;
        }
        let half = self.parameters.target.ps() / 2;
        let calm = self.delay_before.ps() < half && self.chance < 0.2;
        if calm || waiting <= FEW_PACKETS * u64::from(bytes) {
            return false;
        }
        draw < self.chance
    }

    /// A packet has left after waiting for `waited`; `empty`: no packet waits any more.
    pub(crate) fn left(&mut self, waited: Span, empty: bool) {
        self.delay = if empty { Span::ZERO } else { waited };
    }

    /// Does every update that is due by `now` (RFC 8033, section 4.2).
    pub(crate) fn update_until(&mut self, now: Time) {
        while self.next_update <= now {
            let quiet = self.chance == 0.0 && self.delay == Span::ZERO && self.delay_before == Span::ZERO;
            if quiet {
                // Nothing would change until something waits: all updates up to now at once.
                self.burst_left = self.parameters.burst;
                let step = self.parameters.update.ps().max(1);
                let missed = now.since(self.next_update).ps() / step;
                self.next_update += Span::from_ps((missed + 1) * step);
                return;
            }
            self.update();
            self.next_update += self.parameters.update;
        }
    }

    fn update(&mut self) {
        let target = self.parameters.target.as_secs_f64();
        let (delay, before) = (self.delay.as_secs_f64(), self.delay_before.as_secs_f64());
        let mut change = self.parameters.alpha * (delay - target) + self.parameters.beta * (delay - before);
        change /= match self.chance {
            chance if chance < 0.000_001 => 2048.0,
            chance if chance < 0.000_01 => 512.0,
            chance if chance < 0.000_1 => 128.0,
            chance if chance < 0.001 => 32.0,
            chance if chance < 0.01 => 8.0,
            chance if chance < 0.1 => 2.0,
            _ => 1.0,
        };
        if self.chance >= 0.1 && change > 0.02 {
            change = 0.02;
        }
        self.chance += change;
        if delay == 0.0 && before == 0.0 {
            self.chance *= 0.98;
        }
        self.chance = self.chance.clamp(0.0, 1.0);
        // So small a chance would never end a packet, and never quite end itself.
        if self.chance < 1e-12 {
            self.chance = 0.0;
        }
        self.burst_left = self.burst_left.saturating_sub(self.parameters.update);
        let half = target / 2.0;
        if self.chance == 0.0 && delay < half && before < half {
            self.burst_left = self.parameters.burst;
        }
        self.delay_before = self.delay;
    }
}
