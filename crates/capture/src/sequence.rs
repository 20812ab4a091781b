//! Sequence numbers that do not wrap, and sets of them.

/// The farthest that a number may lie from where it is expected: half of what TCP's windows can span.
const FARTHEST: i64 = 1 << 30;

/// Where numbering begins, so that there is room below.
const ORIGIN: u64 = 1 << 32;

/// The position of a flow's first sequence number.
pub(crate) fn first(sequence: u32) -> u64 {
    ORIGIN | u64::from(sequence)
}

/// The position of `sequence` that is nearest to `expected`; `None` if it is too far away to be one.
pub(crate) fn position(expected: u64, sequence: u32) -> Option<u64> {
    let distance = i64::from(sequence.wrapping_sub(expected as u32) as i32);
    if distance.abs() > FARTHEST {
        return None;
    }
    expected.checked_add_signed(distance)
}

/// Positions that were acknowledged selectively, as sorted ranges that do not touch.
#[derive(Debug, Default)]
pub(crate) struct Ranges(Vec<(u64, u64)>);

/// Ranges at most; a receiver that keeps more holes than this is left alone with them.
const MOST: usize = 1 << 14;

impl Ranges {
    pub(crate) fn insert(&mut self, start: u64, end: u64) {
        let from = self.0.partition_point(|range| range.1 < start);
        let to = from + self.0[from..].partition_point(|range| range.0 <= end);
        if from == to {
            if self.0.len() < MOST {
                self.0.insert(from, (start, end));
            }
            return;
        }
        self.0[from] = (start.min(self.0[from].0), end.max(self.0[to - 1].1));
        self.0.drain(from + 1..to);
    }

    pub(crate) fn covers(&self, start: u64, end: u64) -> bool {
        let at = self.0.partition_point(|range| range.1 < end);
        self.0.get(at).is_some_and(|range| range.0 <= start)
    }

    /// Whether a member lies below `position`.
    pub(crate) fn reach_below(&self, position: u64) -> bool {
        self.0.first().is_some_and(|range| range.0 < position)
    }

    pub(crate) fn forget_below(&mut self, position: u64) {
        if self.reach_below(position) {
            self.0.retain(|range| range.1 > position);
        }
    }

    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    #[test]
    fn positions_go_on_where_sequence_numbers_wrap() {
        let before = first(u32::MAX - 9);
        assert_eq!(position(before, 10), Some(before + 20));
        assert_eq!(position(before + 20, u32::MAX - 9), Some(before));
        assert_eq!(position(before, 0x7000_0000), None);
    }

    /// Ranges begin below this.
    const STARTS: u64 = if cfg!(miri) { 12 } else { 60 };

    proptest! {
        #[test]
        fn ranges_are_a_set(inserted in prop::collection::vec((0..STARTS, 1..9_u64), 0..20), from in 0..STARTS) {
            let mut ranges = Ranges::default();
            let mut set = BTreeSet::new();
            for (start, length) in inserted {
                ranges.insert(start, start + length);
                set.extend(start..start + length);
            }
            for start in 0..STARTS + 10 {
                prop_assert_eq!(ranges.covers(start, start + 1), set.contains(&start));
                prop_assert_eq!(ranges.covers(start, start + 3), (start..start + 3).all(|n| set.contains(&n)));
            }
            prop_assert_eq!(ranges.reach_below(from), set.first().is_some_and(|&first| first < from));
            ranges.forget_below(from);
            for position in from..STARTS + 10 {
                prop_assert_eq!(ranges.covers(position, position + 1), set.contains(&position));
            }
        }
    }
}
