use longhaul_units::{InvalidValue, Span, Time};
use std::sync::Arc;

/// Values at points of time: the first at time zero, times ascending, and beginning again after a
/// period if there is one; else the last value is held.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    points: Arc<[(Time, u64)]>,
    period: Option<Span>,
}

impl Series {
    /// A series of (time, value).
    ///
    /// # Errors
    /// If the points do not begin at zero and ascend, or last longer than the period.
    pub fn new(points: &[(Time, u64)], period: Option<Span>) -> Result<Self, InvalidValue> {
        match points.first() {
            None => return Err(InvalidValue::new("points", "must contain at least one")),
            Some(first) if first.0 != Time::ZERO => {
                return Err(InvalidValue::new("points", "must begin at time 0"));
            }
            Some(_) => {}
        }
        if points.windows(2).any(|pair| pair[0].0 >= pair[1].0) {
            return Err(InvalidValue::new("points", "must have ascending times"));
        }
        let end = points.last().map_or(Span::ZERO, |last| last.0.since(Time::ZERO));
        if period.is_some_and(|period| period <= end) {
            return Err(InvalidValue::new("repeat_ns", "must exceed the last time"));
        }
        Ok(Series { points: Arc::from(points), period })
    }

    /// The points.
    pub fn points(&self) -> &[(Time, u64)] {
        &self.points
    }

    /// After how long the points begin again.
    pub const fn period(&self) -> Option<Span> {
        self.period
    }

    /// The value of the latest point.
    pub fn step(&self, at: Time) -> u64 {
        self.points[self.index(self.phase(at).1)].1
    }

    /// The value on the straight line from the latest point to the next one. After the last point it
    /// leads to the first one at the end of the period, or stays.
    pub fn linear(&self, at: Time) -> u64 {
        let (_, phase) = self.phase(at);
        let index = self.index(phase);
        let (from, low) = self.points[index];
        let (to, high) = match (self.points.get(index + 1), self.period) {
            (Some(&next), _) => next,
            (None, Some(period)) => (Time::ZERO + period, self.points[0].1),
            (None, None) => return low,
        };
        let share = phase.since(from).ps() as f64 / to.since(from).ps() as f64;
        (low as f64 + share * (high as f64 - low as f64) + 0.5) as u64
    }

    /// The first point after `at`.
    pub fn next_point(&self, at: Time) -> Time {
        let (begun, phase) = self.phase(at);
        match (self.points.get(self.index(phase) + 1), self.period) {
            (Some(&(next, _)), _) => begun + next.since(Time::ZERO),
            (None, Some(period)) => begun + period,
            (None, None) => Time::NEVER,
        }
    }

    /// The least of the values.
    pub fn least(&self) -> u64 {
        self.points.iter().map(|point| point.1).min().unwrap_or(0)
    }

    /// How many points there are.
    pub fn len(&self) -> usize {
        self.points.len()
    }

    /// Never: a series has a point.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// When the current period began, and the time within it.
    fn phase(&self, at: Time) -> (Time, Time) {
        match self.period {
            Some(period) if period > Span::ZERO => {
                let within = at.since(Time::ZERO).ps() % period.ps();
                let begun = Time::ZERO + Span::from_ps(at.since(Time::ZERO).ps() - within);
                (begun, Time::ZERO + Span::from_ps(within))
            }
            _ => (Time::ZERO, at),
        }
    }

    /// The latest point at or before `phase`.
    fn index(&self, phase: Time) -> usize {
        self.points.partition_point(|point| point.0 <= phase) - 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(n: u64) -> Time {
        Time::from_ns(n * 1_000_000)
    }

    #[test]
    fn steps_hold_and_lines_lead() {
        let series = Series::new(&[(ms(0), 10), (ms(10), 30)], None).unwrap();
        assert_eq!((series.step(ms(9)), series.step(ms(10)), series.step(ms(99))), (10, 30, 30));
        assert_eq!((series.linear(ms(0)), series.linear(ms(5)), series.linear(ms(99))), (10, 20, 30));
        assert_eq!((series.next_point(ms(0)), series.next_point(ms(10))), (ms(10), Time::NEVER));
    }

    #[test]
    fn a_period_begins_again() {
        let series = Series::new(&[(ms(0), 10), (ms(10), 30)], Some(Span::from_ms(20))).unwrap();
        assert_eq!((series.step(ms(25)), series.step(ms(35))), (10, 30));
        assert_eq!(series.linear(ms(35)), 20);
        assert_eq!((series.next_point(ms(35)), series.next_point(ms(21))), (ms(40), ms(30)));
    }

    #[test]
    fn points_that_are_not_a_series_are_refused() {
        assert!(Series::new(&[], None).is_err());
        assert!(Series::new(&[(ms(1), 1)], None).is_err());
        assert!(Series::new(&[(ms(0), 1), (ms(0), 2)], None).is_err());
        assert!(Series::new(&[(ms(0), 1), (ms(5), 2)], Some(Span::from_ms(5))).is_err());
    }
}
