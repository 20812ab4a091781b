use crate::Span;

/// Bits of a span that are told apart: 128 bins for each power of two.
const BITS: u32 = 7;
const BINS: usize = 1 << BITS;

/// So many bins are kept in a list; a table of groups takes over when more have been met.
const FEW: usize = 32;
/// One for each power of two, and one for those below 128 ps.
const GROUPS: usize = (u64::BITS - BITS + 1) as usize;
/// A group that was never met.
const UNMET: u8 = u8::MAX;

/// How often spans of each length occurred, to 1/128 of their length, in constant memory: as much as the
/// lengths that occurred need, at most 58 groups of 128 counters, a group for each power of two of
/// picoseconds.
///
/// Mean and maximum are exact. A span of zero costs one addition and no memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Histogram {
    /// Spans that were zero.
    zeros: u64,
    /// Those that were not.
    others: u64,
    sum_ps: u128,
    longest: Span,
    counts: Counts,
}

/// Spans by their bins. Which form it has follows from the counts alone.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Counts {
    /// Non-empty bins, in ascending order, and how often.
    Few(Vec<(u16, u32)>),
    /// More, or one that is too large for a list.
    Many(Box<Groups>),
}

/// Counters of whole groups.
#[derive(Clone, Debug)]
struct Groups {
    /// Which of the counters are a group's.
    places: [u8; GROUPS],
    counters: Vec<[u64; BINS]>,
}

impl Histogram {
    /// An empty one.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds `count` spans of one length.
    #[inline]
    pub fn add(&mut self, span: Span, count: u64) {
        if span == Span::ZERO {
            self.zeros += count;
        } else if count > 0 {
            self.add_positive(span, count);
        }
    }

    #[inline]
    fn add_positive(&mut self, span: Span, count: u64) {
        self.others += count;
        self.sum_ps += u128::from(span.ps()) * u128::from(count);
        self.longest = self.longest.max(span);
        self.counts.add(place(span), count);
    }

    /// Adds all spans of another one.
    pub fn merge(&mut self, other: &Histogram) {
        self.zeros += other.zeros;
        self.others += other.others;
        self.sum_ps += other.sum_ps;
        self.longest = self.longest.max(other.longest);
        other.counts.each().for_each(|(place, count)| self.counts.add(place, count));
    }

    /// Spans added.
    pub fn count(&self) -> u64 {
        self.zeros + self.others
    }

    /// Spans added that were not zero.
    pub fn positive(&self) -> u64 {
        self.others
    }

    /// The sum of all, in picoseconds, exactly.
    pub fn sum_ps(&self) -> u128 {
        self.sum_ps
    }

    /// The longest, exactly; zero if there is none.
    pub fn longest(&self) -> Span {
        self.longest
    }

    /// The span that a share `share` of all does not exceed: at least the exact one, and at most by
    /// 1/128 more. Zero if there is none.
    pub fn quantile(&self, share: f64) -> Span {
        // Whole numbers up to 2^53 are exact.
        let rank = (share.clamp(0.0, 1.0) * self.count() as f64).ceil().max(1.0) as u64;
        self.cumulative().find(|&(_, seen)| seen >= rank).map_or(Span::ZERO, |(span, _)| span)
    }

    /// Each span that occurred, rounded up to the end of its bin, with how many there were up to it, in
    /// ascending order.
    pub fn cumulative(&self) -> impl Iterator<Item = (Span, u64)> {
        let zeros = (self.zeros > 0).then_some((Span::ZERO, self.zeros));
        let others = self.counts.each().scan(self.zeros, |seen, ((group, bin), count)| {
            *seen += count;
            Some((last_of(group, bin).min(self.longest), *seen))
        });
        zeros.into_iter().chain(others)
    }

    /// Bytes on the heap.
    #[cfg(test)]
    fn heap(&self) -> usize {
        match &self.counts {
            Counts::Few(bins) => bins.capacity() * size_of::<(u16, u32)>(),
            Counts::Many(groups) => {
                size_of::<Groups>() + groups.counters.capacity() * size_of::<[u64; BINS]>()
            }
        }
    }
}

impl Default for Counts {
    fn default() -> Self {
        Counts::Few(Vec::new())
    }
}

impl Counts {
    #[inline]
    fn add(&mut self, place: (usize, usize), count: u64) {
        match self {
            Counts::Many(groups) => groups.add(place, count),
            Counts::Few(_) => self.add_to_few(place, count),
        }
    }

    fn add_to_few(&mut self, (group, bin): (usize, usize), count: u64) {
        let Counts::Few(bins) = self else { return };
        let key = (group * BINS + bin) as u16;
        let at = bins.partition_point(|&(other, _)| other < key);
        let known = bins.get(at).filter(|(other, _)| *other == key).map(|&(_, met)| met);
        let count_now = u32::try_from(u64::from(known.unwrap_or(0)) + count);
        if let (Some(_), Ok(met)) = (known, count_now) {
            bins[at].1 = met;
        } else if let (None, Ok(met), ..FEW) = (known, count_now, bins.len()) {
            bins.insert(at, (key, met));
        } else {
            let mut groups = Groups { places: [UNMET; GROUPS], counters: Vec::new() };
            self.each().for_each(|(place, count)| groups.add(place, count));
            groups.add((group, bin), count);
            *self = Counts::Many(Box::new(groups));
        }
    }

    /// Non-empty groups and bins, in ascending order, and how often.
    fn each(&self) -> impl Iterator<Item = ((usize, usize), u64)> {
        let (few, many) = match self {
            Counts::Few(bins) => (bins.as_slice(), None),
            Counts::Many(groups) => ([].as_slice(), Some(groups)),
        };
        let few = few
            .iter()
            .map(|&(key, count)| ((usize::from(key) / BINS, usize::from(key) % BINS), count.into()));
        few.chain(many.into_iter().flat_map(|groups| groups.each()))
    }
}

impl Groups {
    #[inline]
    fn add(&mut self, (group, bin): (usize, usize), count: u64) {
        if self.places[group] == UNMET {
            self.places[group] = self.counters.len() as u8;
            self.counters.reserve_exact(1);
            self.counters.push([0; BINS]);
        }
        self.counters[usize::from(self.places[group])][bin] += count;
    }

    fn each(&self) -> impl Iterator<Item = ((usize, usize), u64)> {
        let met = self.places.iter().enumerate().filter(|&(_, &place)| place != UNMET);
        met.flat_map(|(group, &place)| {
            let bins = self.counters[usize::from(place)].iter().enumerate();
            bins.map(move |(bin, &count)| ((group, bin), count)).filter(|&(_, count)| count > 0)
        })
    }
}

/// In whatever order the groups first occurred.
impl PartialEq for Groups {
    fn eq(&self, other: &Self) -> bool {
        self.each().eq(other.each())
    }
}

impl Eq for Groups {}

/// Group and bin of a span. Group 0 holds those below 128 ps, each by itself; group `g` those whose first
/// bit is worth 2^(6 + g) ps.
#[inline]
fn place(span: Span) -> (usize, usize) {
    let ps = span.ps();
    let group = (u64::BITS - ps.leading_zeros()).saturating_sub(BITS);
    let bin = (ps >> group.saturating_sub(1)) as usize & (BINS - 1);
    (group as usize, bin)
}

/// The longest span of a bin.
fn last_of(group: usize, bin: usize) -> Span {
    let Some(shift) = group.checked_sub(1) else { return Span::from_ps(bin as u64) };
    let first = ((BINS + bin) as u64) << shift;
    Span::from_ps(first + ((1 << shift) - 1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(spans: &[u64]) -> Histogram {
        let mut all = Histogram::new();
        for &ps in spans {
            all.add(Span::from_ps(ps), 1);
        }
        all
    }

    #[test]
    fn short_spans_are_told_apart_exactly() {
        let all = of(&[0, 1, 1, 127, 255]);
        let met: Vec<_> = all.cumulative().map(|(span, seen)| (span.ps(), seen)).collect();
        assert_eq!(met, [(0, 1), (1, 3), (127, 4), (255, 5)]);
        assert_eq!((all.count(), all.positive(), all.sum_ps()), (5, 4, 384));
    }

    #[test]
    fn an_empty_histogram_says_zero() {
        let none = Histogram::new();
        assert_eq!((none.quantile(0.5), none.longest(), none.count()), (Span::ZERO, Span::ZERO, 0));
        assert_eq!(none.cumulative().count(), 0);
    }

    #[test]
    fn spans_of_zero_take_no_memory() {
        let mut all = Histogram::new();
        all.add(Span::ZERO, 1_000);
        assert_eq!((all.count(), all.heap()), (1_000, 0));
    }

    #[test]
    fn memory_is_for_what_was_met() {
        let mut all = Histogram::new();
        for (bins, bytes) in [(4, 4 * 8), (32, 32 * 8), (33, 88 + 1024), (128, 88 + 1024)] {
            // From 2^30 ps on, bins are 2^23 ps wide, and 128 of them make a group.
            (0..bins).for_each(|bin| all.add(Span::from_ps((128 + bin) << 23), 1_000_000));
            assert_eq!(all.heap(), bytes, "{bins} bins");
        }
        all.add(Span::from_s(1), 1);
        assert_eq!(all.heap(), 88 + 2 * 1024, "another power of two");
    }

    #[test]
    fn counts_too_large_for_a_list_are_exact() {
        let mut all = Histogram::new();
        let most = u64::from(u32::MAX);
        for (count, sum) in [(most, most), (1, most + 1), (2 * most, 3 * most + 1)] {
            all.add(Span::from_ps(100), count);
            assert_eq!(all.cumulative().collect::<Vec<_>>(), [(Span::from_ps(100), sum)]);
        }
    }

    #[test]
    fn the_order_in_which_powers_of_two_are_met_does_not_matter() {
        let up: Vec<u64> = (0..60).map(|bit| 1 << bit).collect();
        let down: Vec<u64> = up.iter().rev().copied().collect();
        assert_eq!(of(&up), of(&down));
        assert_ne!(of(&up), of(&up[1..]));
    }

    #[test]
    fn the_longest_span_that_there_is_has_its_place() {
        assert_eq!(place(Span::from_ps(u64::MAX)), (57, 127));
        assert_eq!(of(&[u64::MAX]).quantile(1.0).ps(), u64::MAX);
    }

    proptest! {
        #[test]
        fn a_span_lies_in_its_bin_and_the_bin_is_narrow(ps in 1u64.., shift in 0u32..64) {
            let span = Span::from_ps((ps >> shift).max(1));
            let (group, bin) = place(span);
            let last = last_of(group, bin);
            prop_assert!(last >= span, "{last} {span}");
            prop_assert!(last.ps() - span.ps() <= span.ps() / 128, "{last} {span}");
        }

        #[test]
        fn quantiles_are_those_of_the_sorted_list_but_for_the_width_of_a_bin(
            mut spans in prop::collection::vec(0u64..1 << 44, 1..200), share in 0.0..1.0f64
        ) {
            let found = of(&spans).quantile(share).ps();
            spans.sort_unstable();
            let rank = ((share * spans.len() as f64).ceil() as usize).max(1);
            let exact = spans[rank - 1];
            prop_assert!(found >= exact && found - exact <= exact / 128, "{found} {exact}");
        }

        #[test]
        fn merging_is_adding_all_of_both(
            a in prop::collection::vec(any::<u64>(), 0..50), b in prop::collection::vec(0u64..1000, 0..50)
        ) {
            let mut merged = of(&a);
            merged.merge(&of(&b));
            let all = of(&[a, b].concat());
            prop_assert_eq!(merged.cumulative().collect::<Vec<_>>(), all.cumulative().collect::<Vec<_>>());
            prop_assert_eq!((merged.count(), merged.sum_ps(), merged.longest()),
                            (all.count(), all.sum_ps(), all.longest()));
        }
    }
}
