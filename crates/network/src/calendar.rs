use longhaul_units::Time;

/// Which of many acts next: a tournament in which the earliest of four times wins, round by round.
///
/// Ties go to the smaller index, so that equal runs take equal turns.
#[derive(Debug)]
pub struct Calendar {
    /// A heap of the earliest times below each node, by brothers: those at a place are the children of the
    /// node with that number. Node 0 is the root; the indices come after the inner nodes.
    times: Vec<[Time; 4]>,
    /// Nodes that are not indices.
    inner: usize,
    earliest: Time,
}

impl Calendar {
    /// A calendar for indices below `count`, all idle.
    pub fn new(count: usize) -> Self {
        let mut inner = 1;
        while 3 * inner + 1 < count {
            inner = 4 * inner + 1;
        }
        let groups = (inner - 1) / 4 + count.div_ceil(4).max(1);
        Calendar { times: vec![[Time::NEVER; 4]; groups], inner, earliest: Time::NEVER }
    }

    /// The earliest time; [`Time::NEVER`]: all are idle.
    #[inline]
    pub fn earliest(&self) -> Time {
        self.earliest
    }

    /// The earliest time and its index.
    #[inline]
    pub fn first(&self) -> Option<(Time, u32)> {
        if self.earliest == Time::NEVER {
            return None;
        }
        let mut node = 0;
        while node < self.inner {
            // The processor guesses which it is and goes on meanwhile.
            let child =
                self.times[node].iter().position(|&time| time == self.earliest).map_or(4, |at| at + 1);
            node = 4 * node + child;
        }
        Some((self.earliest, (node - self.inner) as u32))
    }

    /// When `index` acts next.
    #[inline]
    pub fn time(&self, index: u32) -> Time {
        let place = self.inner + index as usize - 1;
        self.times[place / 4][place % 4]
    }

    /// `index` acts at `time` next; [`Time::NEVER`] makes it idle.
    #[inline]
    pub fn set(&mut self, index: u32, time: Time) {
        let mut node = self.inner + index as usize;
        let mut earliest = time;
        while node > 0 {
            let (parent, child) = ((node - 1) / 4, (node - 1) % 4);
            let brothers = &mut self.times[parent];
            if brothers[child] == earliest {
                return;
            }
            brothers[child] = earliest;
            let [first, second, third, fourth] = *brothers;
            earliest = first.min(second).min(third.min(fourth));
            node = parent;
        }
        self.earliest = earliest;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_first_is_always_the_least(
            count in 1u32..70,
            changes in prop::collection::vec((0u32..70, 0u64..50), 1..if cfg!(miri) { 10 } else { 300 }),
        ) {
            let mut calendar = Calendar::new(count as usize);
            let mut plain = vec![Time::NEVER; count as usize];
            for (index, ns) in changes {
                let (index, time) = (index % count, if ns == 0 { Time::NEVER } else { Time::from_ns(ns) });
                calendar.set(index, time);
                plain[index as usize] = time;
                prop_assert_eq!(calendar.time(index), time);
                let least = (0..count).map(|index| (plain[index as usize], index)).min().unwrap();
                let expected = (least.0 != Time::NEVER).then_some(least);
                prop_assert_eq!(calendar.first(), expected);
                prop_assert_eq!(calendar.earliest(), least.0);
            }
        }
    }
}
