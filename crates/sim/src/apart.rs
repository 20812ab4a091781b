use longhaul_units::{Span, Time};

/// So many events should pass between two looks at the rest of the world.
const EVENTS: u64 = 100_000;
const SHORTEST: Span = Span::from_us(100);
const LONGEST: Span = Span::from_s(10);
/// How long the calendar is used after looking ahead has not paid, at first; each time twice as long.
const RESPITE: Span = Span::from_ms(50);
/// Looking at so many parts costs what the calendar costs more for an event.
const PARTS_AN_EVENT: u64 = 4;

/// In which order what happens is worked out. Results do not depend on it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scheduler {
    /// Looks ahead where that can be and pays, and keeps to the calendar otherwise.
    #[default]
    Automatic,
    /// One event after the other.
    Calendar,
    /// Each host and link by its own clock, wherever that can be.
    Lookahead,
}

/// Decides when hosts and links go each by its own clock, and how far in one go.
#[derive(Debug)]
pub struct Apart {
    pub scheduler: Scheduler,
    possible: bool,
    /// Hosts and links that are looked at in each round.
    parts: u64,
    stride: Span,
    /// Not before this instant.
    not_before: Time,
    respite: Span,
}

impl Apart {
    pub fn new(possible: bool, parts: u64) -> Self {
        Apart {
            scheduler: Scheduler::Automatic,
            possible,
            parts,
            stride: SHORTEST,
            not_before: Time::ZERO,
            respite: RESPITE,
        }
    }

    /// Whether it may happen from now on.
    pub fn allow(&mut self, possible: bool) {
        self.possible = possible;
    }

    /// Up to which instant to go apart from `now`; `None`: not at all.
    pub fn limit(&self, now: Time, most: Time) -> Option<Time> {
        let wanted = match self.scheduler {
            Scheduler::Automatic => now >= self.not_before,
            Scheduler::Calendar => false,
            Scheduler::Lookahead => true,
        };
        (self.possible && wanted).then(|| most.min(now + self.stride))
    }

    /// So many events happened in so many rounds over a span that ended at `now`.
    pub fn learn(&mut self, now: Time, span: Span, events: u64, rounds: u64) {
        if span >= self.stride {
            let longer = if events < EVENTS { 2 } else { 1 };
            let shorter = if events > 2 * EVENTS { 2 } else { 1 };
            let stride = Span::from_ps(span.ps() * longer / shorter);
            self.stride = stride.clamp(SHORTEST, LONGEST);
        }
        if rounds > 8 && events * PARTS_AN_EVENT < rounds * self.parts {
            self.not_before = now + self.respite;
            self.respite = Span::from_ps(self.respite.ps() * 2).min(LONGEST);
        } else {
            self.respite = RESPITE;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_pay_is_tried_again_after_twice_as_long() {
        let mut apart = Apart::new(true, 1_000);
        let mut now = Time::ZERO;
        for respite in [50, 100, 200] {
            assert!(apart.limit(now, Time::NEVER).is_some());
            apart.learn(now, Span::from_ms(1), 2_000, 10);
            now += Span::from_ms(respite - 1);
            assert_eq!(apart.limit(now, Time::NEVER), None);
            now += Span::from_ms(1);
        }
        apart.learn(now, Span::from_ms(1), 3_000, 10);
        assert!(apart.limit(now, Time::NEVER).is_some(), "this paid");
    }

    #[test]
    fn strides_settle_where_they_hold_enough_events() {
        let mut apart = Apart::new(true, 10);
        let mut now = Time::ZERO;
        for _ in 0..40 {
            let limit = apart.limit(now, Time::NEVER).unwrap();
            let span = limit.since(now);
            // A million events a second.
            apart.learn(limit, span, span.ns() / 1_000, 10);
            now = limit;
        }
        let stride = apart.limit(now, Time::NEVER).unwrap().since(now).as_secs_f64();
        assert!((0.1..0.2).contains(&stride), "{stride} s");
    }
}
