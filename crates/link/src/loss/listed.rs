use longhaul_units::{Span, Time};
use std::sync::Arc;

/// Runs of packets that pass and are lost, from a list.
#[derive(Clone, Debug)]
pub(crate) struct Runs {
    list: Arc<[(u64, u64)]>,
    repeat: bool,
    at: usize,
    passed: u64,
    lost: u64,
}

impl Runs {
    pub(crate) fn new(runs: Arc<[(u64, u64)]>, repeat: bool) -> Self {
        let repeat = repeat && runs.iter().any(|&(good, lost)| good + lost > 0);
        Runs { list: runs, repeat, at: 0, passed: 0, lost: 0 }
    }

    pub(crate) fn drops(&mut self) -> bool {
        loop {
            let Some(&(good, lost)) = self.list.get(self.at) else {
                if !self.repeat {
                    return false;
                }
                self.at = 0;
                continue;
            };
            if self.passed < good {
                self.passed += 1;
                return false;
            }
            if self.lost < lost {
                self.lost += 1;
                return true;
            }
            (self.at, self.passed, self.lost) = (self.at + 1, 0, 0);
        }
    }
}

/// Drops the first packet at or after each time of a list.
#[derive(Clone, Debug)]
pub(crate) struct Times {
    list: Arc<[Time]>,
    repeat: Option<Span>,
    /// The next time of the list, counted through all its repetitions.
    next: u64,
}

impl Times {
    pub(crate) fn new(times: Arc<[Time]>, repeat: Option<Span>, now: Time) -> Self {
        let mut new = Times { list: times, repeat, next: 0 };
        // Times before the model began drop nothing.
        new.next = new.first_from(now);
        new
    }

    pub(crate) fn drops(&mut self, now: Time) -> bool {
        if self.list.is_empty() || self.time(self.next) > now {
            return false;
        }
        self.next = self.first_from(now + Span::from_ps(1));
        true
    }

    fn time(&self, number: u64) -> Time {
        let count = self.list.len() as u64;
        match self.repeat {
            Some(period) => {
                let begun = Span::from_ps((number / count).saturating_mul(period.ps()));
                self.list[(number % count) as usize] + begun
            }
            None => self.list.get(number as usize).copied().unwrap_or(Time::NEVER),
        }
    }

    fn first_from(&self, from: Time) -> u64 {
        let count = self.list.len() as u64;
        match self.repeat {
            Some(period) if period > Span::ZERO => {
                let round = from.since(Time::ZERO).ps() / period.ps();
                let phase = Time::ZERO + Span::from_ps(from.since(Time::ZERO).ps() % period.ps());
                round * count + self.list.partition_point(|&time| time < phase) as u64
            }
            _ => self.list.partition_point(|&time| time < from) as u64,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_pass_and_lose_as_the_list_says() {
        let list = || Arc::from([(2, 1), (0, 2), (1, 0)]);
        let fates = |mut runs: Runs, n: usize| (0..n).map(|_| u8::from(runs.drops())).collect::<Vec<_>>();
        assert_eq!(fates(Runs::new(list(), false), 9), [0, 0, 1, 1, 1, 0, 0, 0, 0]);
        assert_eq!(fates(Runs::new(list(), true), 9), [0, 0, 1, 1, 1, 0, 0, 0, 1]);
        assert_eq!(fates(Runs::new(Arc::from([(0, 0)]), true), 3), [0, 0, 0]);
    }

    #[test]
    fn times_drop_the_first_packet_at_or_after_them() {
        let ms = |n: u64| Time::from_ns(n * 1_000_000);
        let fates = |mut times: Times, at: &[u64]| -> Vec<u64> {
            at.iter().copied().filter(|&n| times.drops(ms(n))).collect()
        };
        let list: Arc<[Time]> = Arc::from([ms(3), ms(5), ms(6)]);
        let once = Times::new(list.clone(), None, Time::ZERO);
        assert_eq!(fates(once, &[0, 3, 4, 8, 9, 20]), [3, 8]);
        let again = Times::new(list, Some(Span::from_ms(10)), Time::ZERO);
        assert_eq!(fates(again, &[0, 3, 4, 8, 9, 12, 13, 14, 15, 16, 17]), [3, 8, 13, 15, 16]);
    }
}
