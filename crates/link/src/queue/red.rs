use super::Arrival;
use longhaul_units::{InvalidValue, Time, checked_when_read};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::num::NonZeroU32;

/// Random early detection: Floyd and Jacobson, IEEE/ACM Trans. Networking 1 (1993) 397, counted in
/// bytes; `gentle` after Floyd 2000.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self", deny_unknown_fields)]
pub struct RedParameters {
    /// Average of queued bytes below which nothing is dropped.
    #[serde(rename = "least_bytes")]
    pub least: u64,
    /// Average from which on every packet is dropped (with `gentle`: twice this); more than `least`.
    #[serde(rename = "most_bytes")]
    pub most: u64,
    /// Drop probability at the greatest average, for a packet of `packet` bytes; above 0, at most 1.
    pub probability: f64,
    /// Weight of a new value in the average; above 0, at most 1.
    pub weight: f64,
    /// Whether the probability rises to 1 between the greatest average and its double.
    pub gentle: bool,
    /// Whether ECN-capable packets are marked instead of dropped while the average is below the greatest.
    pub ecn: bool,
    /// Bytes of a typical packet, for the average over idle times and the probabilities.
    #[serde(rename = "packet_bytes")]
    pub packet: NonZeroU32,
}

checked_when_read!(RedParameters);

impl RedParameters {
    /// The rules for the fields.
    ///
    /// # Errors
    /// The first rule that is broken.
    pub fn check(&self) -> Result<(), InvalidValue> {
        if self.least >= self.most {
            return Err(InvalidValue::new("most_bytes", "must be more than the least"));
        }
        for (name, share) in [("probability", self.probability), ("weight", self.weight)] {
            if !(share > 0.0 && share <= 1.0) {
                return Err(InvalidValue::new(name, "must be above 0 and at most 1"));
            }
        }
        Ok(())
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Red {
    parameters: RedParameters,
    average: f64,
    /// Packets since the last one that was dropped or marked; `None` below the least average.
    count: Option<u32>,
    /// Whether the last one was chosen at random, not because the average was above its maximum.
    by_chance: bool,
    /// Idle time up to the last arrival is in the average already, also if that one was dropped.
    seen: Time,
}

impl Red {
    pub(crate) fn new(parameters: RedParameters) -> Self {
        Red { parameters, average: 0.0, count: None, by_chance: true, seen: Time::ZERO }
    }

    /// Whether the packet that has just been chosen may be marked instead.
    pub(crate) fn may_mark(&self) -> bool {
        self.parameters.ecn && self.by_chance
    }

    /// Takes an arrival into the average; returns whether it is dropped or marked. `waiting`: bytes ahead of it.
    pub(crate) fn drops_early(&mut self, waiting: u64, bytes: u32, at: &mut Arrival<'_>) -> bool {
        let parameters = self.parameters;
        if at.idle && at.typical.ps() > 0 {
            // As if so many small packets had found an empty queue.
            let idle = at.now.since(at.idle_since.max(self.seen));
            self.average *= libm::pow(1.0 - parameters.weight, idle.ps() as f64 / at.typical.ps() as f64);
        }
        self.seen = at.now;
        self.average += parameters.weight * (waiting as f64 - self.average);
        let draw = at.chance.uniform();
        let (least, most) = (parameters.least as f64, parameters.most as f64);
        self.by_chance = true;
        let base = if self.average < least {
            self.count = None;
            return false;
        } else if self.average < most {
            parameters.probability * (self.average - least) / (most - least)
        } else if parameters.gentle && self.average < 2.0 * most {
            parameters.probability + (1.0 - parameters.probability) * (self.average - most) / most
        } else {
            self.count = Some(0);
            self.by_chance = false;
            return true;
        };
        let base = base * f64::from(bytes) / f64::from(parameters.packet.get());
        let count = self.count.map_or(0, |count| count + 1);
        // Spreads the gaps evenly: uniform on 1 .. 1/base instead of geometric.
        let spread = 1.0 - f64::from(count) * base;
        let chosen = spread <= 0.0 || draw < base / spread;
        self.count = Some(if chosen { 0 } else { count });
        chosen
    }
}
