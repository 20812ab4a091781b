use longhaul_units::Time;

/// Which of many acts next: a tournament in which the earliest time wins, with one entry for each.
///
/// Ties go to the smaller index, so that equal runs take equal turns.
#[derive(Debug)]
pub struct Calendar {
    times: Vec<Time>,
    /// The winner below each inner node; the root is at 1, the leaves stand for the indices.
    winners: Vec<u32>,
    leaves: usize,
}

impl Calendar {
    /// A calendar for indices below `count`, all idle.
    pub fn new(count: usize) -> Self {
        let leaves = count.next_power_of_two().max(2);
        let mut winners = vec![0; 2 * leaves];
        for (place, index) in winners[leaves..].iter_mut().zip(0u32..) {
            *place = index;
        }
        for node in (1..leaves).rev() {
            winners[node] = winners[2 * node];
        }
        Calendar { times: vec![Time::NEVER; leaves], winners, leaves }
    }

    /// The earliest time and its index.
    #[inline]
    pub fn first(&self) -> Option<(Time, u32)> {
        let index = self.winners[1];
        let time = self.times[index as usize];
        (time != Time::NEVER).then_some((time, index))
    }

    /// When `index` acts next.
    #[inline]
    pub fn time(&self, index: u32) -> Time {
        self.times[index as usize]
    }

    /// `index` acts at `time` next; [`Time::NEVER`] makes it idle.
    #[inline]
    pub fn set(&mut self, index: u32, time: Time) {
        let slot = &mut self.times[index as usize];
        if *slot == time {
            return;
        }
        *slot = time;
        let mut node = (self.leaves + index as usize) / 2;
        while node > 0 {
            let (left, right) = (self.winners[2 * node], self.winners[2 * node + 1]);
            // All indices on the left are smaller.
            let winner = if self.times[left as usize] <= self.times[right as usize] { left } else { right };
            if self.winners[node] == winner && winner != index {
                return;
            }
            self.winners[node] = winner;
            node /= 2;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_first_is_always_the_least(changes in prop::collection::vec((0u32..20, 0u64..50), 1..300)) {
            let mut calendar = Calendar::new(20);
            let mut plain = [Time::NEVER; 20];
            for (index, ns) in changes {
                let time = if ns == 0 { Time::NEVER } else { Time::from_ns(ns) };
                calendar.set(index, time);
                plain[index as usize] = time;
                let least = (0..20u32).map(|index| (plain[index as usize], index)).min().unwrap();
                let expected = (least.0 != Time::NEVER).then_some(least);
                prop_assert_eq!(calendar.first(), expected);
            }
        }
    }
}
