use std::fmt;
use std::ops::{Add, AddAssign, Sub};

const PS_PER_NS: u64 = 1_000;
const PS_PER_US: u64 = 1_000_000;
const PS_PER_MS: u64 = 1_000_000_000;
const PS_PER_S: u64 = 1_000_000_000_000;

/// An instant, in picoseconds since the start of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(u64);

/// A length of time, in picoseconds. Never negative.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span(u64);

impl Time {
    /// The start of the run.
    pub const ZERO: Time = Time(0);
    /// An instant that no run reaches.
    pub const NEVER: Time = Time(u64::MAX);

    /// The instant `ns` nanoseconds after the start; saturates at [`Time::NEVER`].
    pub const fn from_ns(ns: u64) -> Self {
        Time(ns.saturating_mul(PS_PER_NS))
    }

    /// The instant `ps` picoseconds after the start.
    pub const fn from_ps(ps: u64) -> Self {
        Time(ps)
    }

    /// Whole nanoseconds since the start, rounded down.
    pub const fn ns(self) -> u64 {
        self.0 / PS_PER_NS
    }

    /// Picoseconds since the start.
    pub const fn ps(self) -> u64 {
        self.0
    }

    /// The time since `earlier`, or zero when `earlier` is the later one.
    pub const fn since(self, earlier: Time) -> Span {
        Span(self.0.saturating_sub(earlier.0))
    }
}

impl Span {
    /// No time at all.
    pub const ZERO: Span = Span(0);

    /// `ps` picoseconds.
    pub const fn from_ps(ps: u64) -> Self {
        Span(ps)
    }
    /// `ns` nanoseconds; saturates.
    pub const fn from_ns(ns: u64) -> Self {
        Span(ns.saturating_mul(PS_PER_NS))
    }
    /// `us` microseconds; saturates.
    pub const fn from_us(us: u64) -> Self {
        Span(us.saturating_mul(PS_PER_US))
    }
    /// `ms` milliseconds; saturates.
    pub const fn from_ms(ms: u64) -> Self {
        Span(ms.saturating_mul(PS_PER_MS))
    }
    /// `s` seconds; saturates.
    pub const fn from_s(s: u64) -> Self {
        Span(s.saturating_mul(PS_PER_S))
    }

    /// Picoseconds.
    pub const fn ps(self) -> u64 {
        self.0
    }
    /// Whole nanoseconds, rounded down.
    pub const fn ns(self) -> u64 {
        self.0 / PS_PER_NS
    }
    /// Seconds, for reports; not for arithmetic on the path of a packet.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / PS_PER_S as f64
    }

    /// The difference, or zero when `other` is longer.
    #[must_use]
    pub const fn saturating_sub(self, other: Span) -> Span {
        Span(self.0.saturating_sub(other.0))
    }
}

impl Add<Span> for Time {
    type Output = Time;
    fn add(self, span: Span) -> Time {
        Time(self.0.saturating_add(span.0))
    }
}

impl AddAssign<Span> for Time {
    fn add_assign(&mut self, span: Span) {
        *self = *self + span;
    }
}

impl Add for Span {
    type Output = Span;
    fn add(self, other: Span) -> Span {
        Span(self.0.saturating_add(other.0))
    }
}

impl Sub<Span> for Time {
    type Output = Time;
    /// Saturates at the start of the run.
    fn sub(self, span: Span) -> Time {
        Time(self.0.saturating_sub(span.0))
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Span(self.0).fmt(f)
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (unit, ps) in [("s", PS_PER_S), ("ms", PS_PER_MS), ("us", PS_PER_US), ("ns", PS_PER_NS)] {
            if self.0 >= ps {
                return write!(f, "{}{unit}", self.0 as f64 / ps as f64);
            }
        }
        write!(f, "{}ps", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_instant_that_would_overflow_saturates_at_never() {
        assert_eq!(Time::from_ns(u64::MAX), Time::NEVER);
        assert_eq!(Time::NEVER + Span::from_s(1), Time::NEVER);
    }

    #[test]
    fn a_span_shows_itself_in_the_largest_unit_that_fits() {
        assert_eq!(Span::from_us(1500).to_string(), "1.5ms");
        assert_eq!(Span::from_ps(800).to_string(), "800ps");
        assert_eq!(Span::ZERO.to_string(), "0ps");
    }
}
