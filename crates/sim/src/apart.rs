use longhaul_units::{Span, Time};

/// So many events should pass between two looks at the rest of the world.
const EVENTS: u64 = 100_000;
const SHORTEST: Span = Span::from_us(100);
const LONGEST: Span = Span::from_s(10);
/// How long the calendar is used after looking ahead has not paid.
const RESPITE: Span = Span::from_s(4);

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
}

impl Apart {
    pub fn new(possible: bool, parts: u64) -> Self {
        Apart { scheduler: Scheduler::Automatic, possible, parts, stride: SHORTEST, not_before: Time::ZERO }
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
        // A look at a part costs about what the calendar costs for an event.
        if events < rounds * self.parts && rounds > 8 {
            self.not_before = now + RESPITE;
        }
    }
}
