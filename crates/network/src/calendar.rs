use longhaul_units::Time;

/// Which direction acts next: an indexed binary heap with one entry for each busy direction.
///
/// Ties go to the smaller index, so that equal runs take equal turns.
#[derive(Debug)]
pub struct Calendar {
    /// Busy indices, as a heap.
    heap: Vec<u32>,
    /// Where each index stands in the heap; `ABSENT` when it is idle.
    places: Vec<u32>,
    times: Vec<Time>,
}

const ABSENT: u32 = u32::MAX;

impl Calendar {
    /// A calendar for indices below `count`, all idle.
    pub fn new(count: usize) -> Self {
        Calendar {
            heap: Vec::with_capacity(count),
            places: vec![ABSENT; count],
            times: vec![Time::NEVER; count],
        }
    }

    /// The earliest time and its index.
    pub fn first(&self) -> Option<(Time, u32)> {
        self.heap.first().map(|&index| (self.times[index as usize], index))
    }

    /// `index` acts at `time` next; [`Time::NEVER`] makes it idle.
    pub fn set(&mut self, index: u32, time: Time) {
        let slot = index as usize;
        let place = self.places[slot];
        let before = std::mem::replace(&mut self.times[slot], time);
        match (place, time) {
            (ABSENT, Time::NEVER) => {}
            (ABSENT, _) => {
                self.heap.push(index);
                self.places[slot] = (self.heap.len() - 1) as u32;
                self.rise(self.heap.len() - 1);
            }
            (_, Time::NEVER) => self.remove(place as usize),
            _ if time < before => self.rise(place as usize),
            _ => self.sink(place as usize),
        }
    }

    fn remove(&mut self, place: usize) {
        let last = self.heap.len() - 1;
        self.swap(place, last);
        if let Some(gone) = self.heap.pop() {
            self.places[gone as usize] = ABSENT;
        }
        if place < last {
            self.rise(place);
            self.sink(place);
        }
    }

    fn key(&self, place: usize) -> (Time, u32) {
        let index = self.heap[place];
        (self.times[index as usize], index)
    }

    fn rise(&mut self, mut place: usize) {
        while place > 0 {
            let parent = (place - 1) / 2;
            if self.key(parent) <= self.key(place) {
                return;
            }
            self.swap(parent, place);
            place = parent;
        }
    }

    fn sink(&mut self, mut place: usize) {
        loop {
            let children = [2 * place + 1, 2 * place + 2];
            let smallest = children
                .into_iter()
                .filter(|&child| child < self.heap.len())
                .min_by_key(|&child| self.key(child))
                .filter(|&child| self.key(child) < self.key(place));
            let Some(child) = smallest else { return };
            self.swap(place, child);
            place = child;
        }
    }

    fn swap(&mut self, a: usize, b: usize) {
        self.heap.swap(a, b);
        self.places[self.heap[a] as usize] = a as u32;
        self.places[self.heap[b] as usize] = b as u32;
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
