use longhaul_units::{Span, Time};

/// Events that should pass in one stride.
const EVENTS: u64 = 100_000;
const SHORTEST: Span = Span::from_us(100);
const LONGEST: Span = Span::from_s(10);
/// How long the calendar is used after lookahead was slower, at first; the time doubles with each failure in a row.
const INITIAL_BACKOFF: Span = Span::from_ms(50);
/// Visiting so many parts costs as much as the calendar costs more for an event.
const PARTS_AN_EVENT: u64 = 4;

/// The order in which events are computed. Results do not depend on it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scheduler {
    /// Lookahead where it is possible and faster, the calendar otherwise.
    #[default]
    Automatic,
    /// One event after the other.
    Calendar,
    /// Each host and link by its own clock, wherever that is possible.
    Lookahead,
}

/// Decides when each host and link advances by its own clock, and how far in one stride.
#[derive(Debug)]
pub struct LookaheadPolicy {
    pub scheduler: Scheduler,
    possible: bool,
    stride: Span,
    /// Not before this instant.
    not_before: Time,
    backoff: Span,
}

impl LookaheadPolicy {
    pub fn new(possible: bool) -> Self {
        LookaheadPolicy {
            scheduler: Scheduler::Automatic,
            possible,
            stride: SHORTEST,
            not_before: Time::ZERO,
            backoff: INITIAL_BACKOFF,
        }
    }

    /// Whether lookahead is possible.
    pub fn is_possible(&self) -> bool {
        self.possible
    }

    /// Sets whether lookahead is possible from now on.
    pub fn set_possible(&mut self, possible: bool) {
        self.possible = possible;
    }

    /// The instant up to which lookahead may run from `now`; `None`: the calendar runs.
    pub fn limit(&self, now: Time, most: Time) -> Option<Time> {
        let is_chosen = match self.scheduler {
            Scheduler::Automatic => now >= self.not_before,
            Scheduler::Calendar => false,
            Scheduler::Lookahead => true,
        };
        (self.possible && is_chosen).then(|| most.min(now + self.stride))
    }

    /// How far the calendar runs from `now`, at most to `before`, until lookahead is tried again; several shards go no
    /// further than a stride, as they cannot stop in between.
    pub fn calendar_until(&self, now: Time, before: Time, shards: usize) -> Time {
        let before = if shards > 1 { before.min(now + self.stride) } else { before };
        if self.possible && self.scheduler == Scheduler::Automatic {
            before.min(self.not_before)
        } else {
            before
        }
    }

    /// Adapts the stride to a span that had so many events.
    pub fn record_stride(&mut self, span: Span, events: u64) {
        if span >= self.stride {
            let longer = if events < EVENTS { 2 } else { 1 };
            let shorter = if events > 2 * EVENTS { 2 } else { 1 };
            let stride = Span::from_ps(span.ps() * longer / shorter);
            self.stride = stride.clamp(SHORTEST, LONGEST);
        }
    }

    /// Adapts to a span that ended at `now` and had so many events in so many rounds, which together visited so many hosts
    /// and links.
    pub fn record_rounds(&mut self, now: Time, span: Span, events: u64, rounds: u64, visits: u64) {
        self.record_stride(span, events);
        if rounds <= 8 {
            // Too few to tell.
            return;
        }
        if events * PARTS_AN_EVENT < visits {
            self.not_before = now + self.backoff;
            // The next attempt is short, so that it costs little if it fails, too.
            self.stride = SHORTEST;
            self.backoff = Span::from_ps(self.backoff.ps() * 2).min(LONGEST);
        } else {
            self.backoff = INITIAL_BACKOFF;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_lookahead_is_retried_after_twice_the_time() {
        let mut policy = LookaheadPolicy::new(true);
        let mut now = Time::ZERO;
        for backoff in [50, 100, 200] {
            assert!(policy.limit(now, Time::NEVER).is_some());
            policy.record_rounds(now, Span::from_ms(1), 2_000, 10, 10_000);
            now += Span::from_ms(backoff - 1);
            assert_eq!(policy.limit(now, Time::NEVER), None);
            now += Span::from_ms(1);
        }
        policy.record_rounds(now, Span::from_ms(1), 3_000, 10, 10_000);
        assert!(policy.limit(now, Time::NEVER).is_some(), "it was faster");
    }

    #[test]
    fn a_span_of_few_rounds_does_not_shorten_the_time_to_the_next_attempt() {
        let mut policy = LookaheadPolicy::new(true);
        let mut now = Time::ZERO;
        for backoff in [50, 100, 200] {
            policy.record_rounds(now, Span::from_us(100), 10, 1, 1_000);
            policy.record_rounds(now, Span::from_ms(1), 10, 10, 10_000);
            assert_eq!(policy.calendar_until(now, Time::NEVER, 1), now + Span::from_ms(backoff));
            now = policy.calendar_until(now, Time::NEVER, 1);
        }
    }

    #[test]
    fn attempts_of_lookahead_that_fail_take_a_small_share_of_the_time() {
        let mut policy = LookaheadPolicy::new(true);
        let (mut now, mut tried) = (Time::ZERO, Span::ZERO);
        let end = Time::ZERO + Span::from_s(1_000);
        while now < end {
            let Some(limit) = policy.limit(now, end) else {
                now += Span::from_ms(1);
                continue;
            };
            let span = limit.since(now);
            // A round for each 10 us, and hardly an event.
            policy.record_rounds(limit, span, 0, span.ns() / 10_000, span.ns() / 10);
            tried = tried + span;
            now = limit;
        }
        assert!(tried < Span::from_s(1), "tried for {} s", tried.as_secs_f64());
    }

    #[test]
    fn strides_settle_where_they_hold_enough_events() {
        let mut policy = LookaheadPolicy::new(true);
        let mut now = Time::ZERO;
        for _ in 0..40 {
            let limit = policy.limit(now, Time::NEVER).unwrap();
            let span = limit.since(now);
            // A million events a second.
            policy.record_rounds(limit, span, span.ns() / 1_000, 10, 100);
            now = limit;
        }
        let stride = policy.limit(now, Time::NEVER).unwrap().since(now).as_secs_f64();
        assert!((0.1..0.2).contains(&stride), "{stride} s");
    }
}
