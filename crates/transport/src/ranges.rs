use std::collections::VecDeque;

/// Numbers from `start` up to but without `end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Range {
    pub(crate) start: u64,
    pub(crate) end: u64,
    /// Payload of all its segments; the sender's scoreboard leaves it zero.
    pub(crate) bytes: u64,
}

/// A set of sequence numbers, as sorted ranges that do not touch.
///
/// What usually happens, a range added at or near the end and one taken from the front, takes constant
/// time; adding elsewhere takes a binary search.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ranges(VecDeque<Range>);

impl Ranges {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// One after the greatest member.
    pub(crate) fn end(&self) -> Option<u64> {
        self.0.back().map(|last| last.end)
    }

    /// The range that `number` is in.
    pub(crate) fn around(&self, number: u64) -> Option<Range> {
        let index = self.0.partition_point(|range| range.end <= number);
        self.0.get(index).copied().filter(|range| range.start <= number)
    }

    /// Adds `start..end`, calls `added` with each part that was not there before, and returns the range
    /// that it is in now.
    pub(crate) fn insert(
        &mut self,
        start: u64,
        end: u64,
        bytes: u64,
        mut added: impl FnMut(u64, u64),
    ) -> Range {
        let range = Range { start, end, bytes };
        match self.0.back_mut() {
            Some(last) if start >= last.start => {
                if start > last.end {
                    added(start, end);
                    self.0.push_back(range);
                    return range;
                }
                if end > last.end {
                    added(last.end.max(start), end);
                    last.end = end;
                    last.bytes += bytes;
                }
                return *last;
            }
            None => {
                added(start, end);
                self.0.push_back(range);
                return range;
            }
            Some(_) => {}
        }
        let first = self.0.partition_point(|other| other.end < start);
        let mut merged = range;
        let mut covered = start;
        let mut after = first;
        while let Some(other) = self.0.get(after).copied()
            && other.start <= end
        {
            if covered < other.start {
                added(covered, other.start);
            }
            covered = covered.max(other.end);
            merged.start = merged.start.min(other.start);
            merged.end = merged.end.max(other.end);
            merged.bytes += other.bytes;
            after += 1;
        }
        if covered < end {
            added(covered, end);
        }
        if after == first {
            self.0.insert(first, merged);
        } else {
            self.0[first] = merged;
            self.0.drain(first + 1..after);
        }
        merged
    }

    /// Takes the first range away if it begins at or below `number`.
    pub(crate) fn take_first(&mut self, number: u64) -> Option<Range> {
        if self.0.front()?.start <= number { self.0.pop_front() } else { None }
    }

    /// Forgets all below `number`.
    pub(crate) fn forget_below(&mut self, number: u64) {
        while let Some(first) = self.0.front_mut()
            && first.start < number
        {
            if first.end <= number {
                self.0.pop_front();
            } else {
                first.start = number;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    #[test]
    fn a_hole_that_is_filled_joins_its_neighbours() {
        let mut ranges = Ranges::default();
        for start in [10, 14, 12] {
            ranges.insert(start, start + 1, 100, |_, _| ());
        }
        assert_eq!(ranges.0.len(), 3);
        let mut added = Vec::new();
        assert_eq!(
            ranges.insert(11, 14, 200, |start, end| added.push((start, end))),
            Range { start: 10, end: 15, bytes: 500 }
        );
        assert_eq!(added, [(11, 12), (13, 14)]);
        assert_eq!(ranges.0.len(), 1);
    }

    proptest! {
        #[test]
        fn ranges_hold_what_a_plain_set_holds(
            steps in proptest::collection::vec((0u64..60, 1u64..8, 0u8..8), 1..60)
        ) {
            let mut ranges = Ranges::default();
            let mut plain = BTreeSet::new();
            for (start, length, kind) in steps {
                if kind == 0 {
                    ranges.forget_below(start);
                    plain.retain(|&number| number >= start);
                    continue;
                }
                let mut added = Vec::new();
                let now = ranges.insert(start, start + length, 0, |a, b| added.extend(a..b));
                let expected: Vec<u64> = (start..start + length).filter(|n| plain.insert(*n)).collect();
                prop_assert_eq!(added, expected);
                prop_assert!(now.start <= start && now.end >= start + length);
                let flat: Vec<u64> = ranges.0.iter().flat_map(|range| range.start..range.end).collect();
                prop_assert_eq!(flat, plain.iter().copied().collect::<Vec<_>>());
                prop_assert!(ranges.0.iter().zip(ranges.0.iter().skip(1)).all(|(a, b)| a.end < b.start));
            }
        }
    }
}
