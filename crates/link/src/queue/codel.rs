use super::{Fifo, Outcome, QueuedPacket};
use crate::{Fate, LinkPacket};
use longhaul_units::{InvalidValue, Span, Time, checked_when_read};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Controlled delay: Nichols and Jacobson, RFC 8289.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self", deny_unknown_fields)]
pub struct CodelParameters {
    /// Acceptable standing delay.
    #[serde(rename = "target_ns")]
    pub target: Span,
    /// A worst-case round-trip time; positive.
    #[serde(rename = "interval_ns")]
    pub interval: Span,
    /// Whether ECN-capable packets are marked instead of dropped.
    pub ecn: bool,
}

checked_when_read!(CodelParameters);

impl CodelParameters {
    /// The rule for the interval.
    ///
    /// # Errors
    /// If it is zero.
    pub fn check(&self) -> Result<(), InvalidValue> {
        if self.interval == Span::ZERO {
            return Err(InvalidValue::new("interval_ns", "must be positive"));
        }
        Ok(())
    }
}

/// The state of RFC 8289, section 5.3, by its names.
#[derive(Clone, Debug)]
pub(crate) struct Codel {
    parameters: CodelParameters,
    first_above_time: Option<Time>,
    drop_next: Time,
    count: u32,
    last_count: u32,
    dropping: bool,
    /// The largest packet so far: with no more than this waiting, nothing is dropped.
    max_packet: u64,
}

impl Codel {
    pub(crate) fn new(parameters: CodelParameters) -> Self {
        Codel {
            parameters,
            first_above_time: None,
            drop_next: Time::ZERO,
            count: 0,
            last_count: 0,
            dropping: false,
            max_packet: 0,
        }
    }

    /// The packet that goes at `now` (the RFC's deque).
    pub(crate) fn pop<P: LinkPacket>(
        &mut self,
        list: &mut Fifo<P>,
        now: Time,
        out: &mut Outcome<'_, P>,
    ) -> Option<QueuedPacket<P>> {
        let (mut packet, mut ok_to_drop) = self.next(list, now);
        if self.dropping {
            if !ok_to_drop {
                self.dropping = false;
            }
            while self.dropping && now >= self.drop_next {
                let mut victim = packet?;
                self.count = self.count.saturating_add(1);
                if self.parameters.ecn && out.mark(&mut victim.packet) {
                    self.drop_next = self.control_law(self.drop_next);
                    return Some(victim);
                }
                out.end(victim.packet, Fate::Dropped);
                (packet, ok_to_drop) = self.next(list, now);
                if ok_to_drop {
                    self.drop_next = self.control_law(self.drop_next);
                } else {
                    self.dropping = false;
                }
            }
        } else if ok_to_drop {
            let mut victim = packet?;
            let marked = self.parameters.ecn && out.mark(&mut victim.packet);
            if marked {
                packet = Some(victim);
            } else {
                out.end(victim.packet, Fate::Dropped);
                packet = self.next(list, now).0;
            }
            self.dropping = true;
            // Soon after the last time, begin with the rate of drops that held the queue then.
            let delta = self.count.saturating_sub(self.last_count);
            let sixteen = Span::from_ps(self.parameters.interval.ps().saturating_mul(16));
            self.count = if delta > 1 && now < self.drop_next + sixteen { delta } else { 1 };
            self.drop_next = self.control_law(now);
            self.last_count = self.count;
        }
        packet
    }

    /// The RFC's dodeque: the next packet, and whether it may be dropped.
    fn next<P: LinkPacket>(&mut self, list: &mut Fifo<P>, now: Time) -> (Option<QueuedPacket<P>>, bool) {
        let Some(packet) = list.pop() else {
            self.first_above_time = None;
            return (None, false);
        };
        self.max_packet = self.max_packet.max(u64::from(packet.packet.bytes()));
        if now.since(packet.since) < self.parameters.target || list.bytes <= self.max_packet {
            self.first_above_time = None;
            return (Some(packet), false);
        }
        match self.first_above_time {
            None => {
                self.first_above_time = Some(now + self.parameters.interval);
                (Some(packet), false)
            }
            Some(time) => (Some(packet), now >= time),
        }
    }

    fn control_law(&self, time: Time) -> Time {
        let ps = self.parameters.interval.ps() as f64 / libm::sqrt(f64::from(self.count.max(1)));
        time + Span::from_ps(ps as u64)
    }
}
