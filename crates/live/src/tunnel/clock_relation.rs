//! How the clock of another machine relates to this machine's, from two-way exchanges of time.
//!
//! Each exchange (RFC 5905 section 8) gives the offset of the other clock to within half of its round-trip time, whatever
//! the two directions took. The shortest one of each second is kept. Both clocks are `CLOCK_MONOTONIC`, which nobody steps, and
//! whose rates differ by at most [`MOST_DRIFT`].

use std::collections::VecDeque;

/// Interval of which the shortest exchange is kept.
const WINDOW_NS: u64 = 1_000_000_000;
/// Windows that are kept.
const WINDOWS: usize = 64;
/// Most that the rates of two clocks may differ by: twice the 50 ppm of a cheap quartz, and what NTP adds to it.
pub const MOST_DRIFT: f64 = 200e-6;

/// Four times of an exchange, in nanoseconds: when the request left and arrived, and when the reply left and arrived. The first and
/// the last are of this machine's clock.
pub type Times = [u64; 4];

/// What one exchange tells.
#[derive(Clone, Copy, Debug, PartialEq)]
#[expect(clippy::struct_field_names, reason = "all have the same unit")]
struct Exchange {
    /// By this machine's clock, halfway.
    at_ns: u64,
    /// The other clock minus this one.
    offset_ns: i64,
    round_trip_ns: u64,
}

/// The other clock minus this one, as known at an instant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Offset {
    /// In nanoseconds.
    pub ns: i64,
    /// The true one is not farther from it, in nanoseconds.
    pub bound_ns: u64,
    /// How much faster the other clock is.
    pub drift: f64,
}

/// The relation of two clocks.
#[derive(Debug, Default)]
pub struct ClockRelation {
    /// The shortest exchange of each window, the oldest first; the last is of the window that goes on.
    kept: VecDeque<Exchange>,
    /// Exchanges so far.
    pub exchanges: u64,
    /// Round-trip time of the shortest exchange so far.
    pub least_round_trip_ns: Option<u64>,
    window_began_ns: u64,
    /// How much faster the other clock is, and how much that may be wrong.
    drift: (f64, f64),
}

impl ClockRelation {
    /// Takes an exchange into account; one whose times contradict each other tells nothing.
    pub fn add(&mut self, [sent, arrived, replied, received]: Times) {
        let away = replied.wrapping_sub(arrived);
        let Some(round_trip_ns) = received
            .checked_sub(sent)
            .and_then(|whole| whole.checked_sub(away))
            .filter(|_| replied >= arrived)
        else {
            return;
        };
        let (out, back) = (arrived.wrapping_sub(sent) as i64, replied.wrapping_sub(received) as i64);
        let offset_ns = i64::midpoint(out, back);
        let exchange = Exchange { at_ns: sent + (received - sent) / 2, offset_ns, round_trip_ns };
        self.exchanges += 1;
        self.least_round_trip_ns =
            Some(self.least_round_trip_ns.map_or(round_trip_ns, |least| least.min(round_trip_ns)));
        match self.kept.back_mut() {
            Some(last) if exchange.at_ns < self.window_began_ns + WINDOW_NS => {
                if round_trip_ns <= last.round_trip_ns {
                    *last = exchange;
                }
            }
            _ => {
                self.window_began_ns = exchange.at_ns;
                self.kept.push_back(exchange);
                if self.kept.len() > WINDOWS {
                    self.kept.pop_front();
                }
            }
        }
        self.drift = self.measured_drift();
    }

    /// The drift between the shortest exchange of the older half and that of the newer one, and its bound.
    fn measured_drift(&self) -> (f64, f64) {
        let half = self.kept.len() / 2;
        let least = |exchanges: &mut dyn Iterator<Item = &Exchange>| {
            exchanges.min_by_key(|exchange| exchange.round_trip_ns).copied()
        };
        let (Some(old), Some(new)) =
            (least(&mut self.kept.iter().take(half)), least(&mut self.kept.iter().skip(half)))
        else {
            return (0.0, MOST_DRIFT);
        };
        let span_ns = new.at_ns.saturating_sub(old.at_ns) as f64;
        if span_ns <= 0.0 {
            return (0.0, MOST_DRIFT);
        }
        let error = (old.round_trip_ns + new.round_trip_ns) as f64 / 2.0 / span_ns;
        if error >= MOST_DRIFT {
            return (0.0, MOST_DRIFT);
        }
        let drift = (new.offset_ns - old.offset_ns) as f64 / span_ns;
        (drift.clamp(-MOST_DRIFT, MOST_DRIFT), error)
    }

    /// The offset at `now_ns` of this machine's clock; `None` before the first exchange.
    pub fn offset(&self, now_ns: u64) -> Option<Offset> {
        let (drift, drift_error) = self.drift;
        self.kept
            .iter()
            .map(|exchange| {
                let since_ns = now_ns as f64 - exchange.at_ns as f64;
                let bound_ns =
                    exchange.round_trip_ns.div_ceil(2) + (since_ns.abs() * drift_error).ceil() as u64;
                Offset { ns: exchange.offset_ns + (since_ns * drift).round() as i64, bound_ns, drift }
            })
            .min_by_key(|offset| offset.bound_ns)
    }

    /// How much longer than the shortest exchange so far those of the last two complete windows took.
    pub fn slower_ns(&self) -> Option<u64> {
        let complete = self.kept.iter().rev().skip(1).take(2);
        let (count, recent) =
            (complete.clone().count(), complete.map(|exchange| exchange.round_trip_ns).min());
        recent.filter(|_| count == 2)?.checked_sub(self.least_round_trip_ns?)
    }

    /// The shortest exchange of the last two windows took so long.
    pub fn recent_round_trip_ns(&self) -> Option<u64> {
        self.kept.iter().rev().take(2).map(|exchange| exchange.round_trip_ns).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A deterministic number below `most`.
    fn random(state: &mut u64, most: u64) -> u64 {
        *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (*state >> 33) % most
    }

    /// Ten exchanges a second for so many seconds with a clock that is `start_ns` ahead and faster by `drift`, over a path of 50 µs and
    /// up to `jitter_ns` more in one direction. Returns the relation and the time of the last exchange.
    fn related(seconds: u64, start_ns: i64, drift: f64, jitter_ns: u64) -> (ClockRelation, u64) {
        let mut relation = ClockRelation::default();
        let other = |own_ns: u64| (own_ns as i64 + start_ns + (own_ns as f64 * drift) as i64) as u64;
        let (mut state, mut now_ns) = (7, 5_000_000_000);
        for _ in 0..10 * seconds {
            let there = now_ns + 50_000 + random(&mut state, jitter_ns + 1);
            let back = there + 1_000;
            let received = back + 50_000;
            relation.add([now_ns, other(there), other(back), received]);
            now_ns += 100_000_000;
        }
        (relation, now_ns)
    }

    #[test]
    fn the_true_offset_is_within_the_bound_whatever_the_path_does() {
        for (seconds, drift, jitter_ns) in
            [(1, 0.0, 0), (10, 40e-6, 200_000), (60, -90e-6, 1_000_000), (120, 150e-6, 300_000)]
        {
            let (relation, now_ns) = related(seconds, 1_000_000_000_000, drift, jitter_ns);
            let truth = 1_000_000_000_000 + (now_ns as f64 * drift) as i64;
            let offset = relation.offset(now_ns).unwrap();
            assert!(
                offset.ns.abs_diff(truth) <= offset.bound_ns,
                "{offset:?} of {truth}, drift {drift}, jitter {jitter_ns} ns"
            );
        }
    }

    #[test]
    fn the_bound_is_half_of_the_shortest_round_trip_time_and_drift_is_followed() {
        let (relation, now_ns) = related(60, -3_000_000_000, 80e-6, 100_000);
        let offset = relation.offset(now_ns).unwrap();
        assert!((offset.drift - 80e-6).abs() < 5e-6, "{offset:?}");
        assert!(offset.bound_ns < 70_000, "{offset:?}");
        assert!(relation.least_round_trip_ns.unwrap() < 110_000);
    }

    #[test]
    fn a_machine_that_gets_slow_is_recognised_once_all_of_two_seconds_are_slow() {
        let mut relation = ClockRelation::default();
        let mut add = |at_ms: u64, round_trip_ms: u64| {
            let sent = at_ms * 1_000_000;
            relation.add([sent, sent, sent, sent + round_trip_ms * 1_000_000]);
            relation.slower_ns().map(|slower_ns| slower_ns / 1_000_000)
        };
        assert_eq!(add(0, 1), None);
        // One slow second, and a fast reply in the next.
        assert_eq!((add(1_000, 200), add(2_000, 250), add(2_500, 3)), (None, Some(0), Some(0)));
        let found: Vec<_> = (3..7).map(|second| add(second * 1_000, 201)).collect();
        assert_eq!(found, [Some(0), Some(2), Some(2), Some(200)]);
    }

    #[test]
    fn an_exchange_whose_times_contradict_each_other_tells_nothing() {
        let mut relation = ClockRelation::default();
        relation.add([1_000, 50, 40, 2_000]);
        relation.add([2_000, 40, 50, 1_000]);
        relation.add([1_000, 0, 5_000, 2_000]);
        assert!(relation.offset(2_000).is_none());
        assert_eq!(relation.exchanges, 0);
    }
}
