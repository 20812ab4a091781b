use crate::Span;

/// Bits of a span that are told apart: 128 bins for each power of two.
const BITS: u32 = 7;
const BINS: usize = 1 << BITS;

/// How often spans of each length were met, to 1/128 of their length, in constant memory: at most 58
/// groups of 128 counters, a group for each power of two of picoseconds that was met.
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
    /// Counters by the power of two, then by the bits below the first. Empty where nothing was met.
    groups: Vec<Vec<u64>>,
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

    fn add_positive(&mut self, span: Span, count: u64) {
        self.others += count;
        self.sum_ps += u128::from(span.ps()) * u128::from(count);
        self.longest = self.longest.max(span);
        let (group, bin) = place(span);
        self.group(group)[bin] += count;
    }

    fn group(&mut self, group: usize) -> &mut [u64] {
        if self.groups.len() <= group {
            self.groups.resize_with(group + 1, Vec::new);
        }
        let bins = &mut self.groups[group];
        if bins.is_empty() {
            bins.resize(BINS, 0);
        }
        bins
    }

    /// Adds all spans of another one.
    pub fn merge(&mut self, other: &Histogram) {
        self.zeros += other.zeros;
        self.others += other.others;
        self.sum_ps += other.sum_ps;
        self.longest = self.longest.max(other.longest);
        for (group, bins) in other.groups.iter().enumerate().filter(|(_, bins)| !bins.is_empty()) {
            for (mine, theirs) in self.group(group).iter_mut().zip(bins) {
                *mine += theirs;
            }
        }
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

    /// Each span that was met, rounded up to the end of its bin, with how many there were up to it, in
    /// ascending order.
    pub fn cumulative(&self) -> impl Iterator<Item = (Span, u64)> {
        let zeros = (self.zeros > 0).then_some((Span::ZERO, self.zeros));
        let bins = self.groups.iter().enumerate().flat_map(|(group, bins)| {
            bins.iter().enumerate().map(move |(bin, &count)| (last_of(group, bin), count))
        });
        let others = bins.filter(|&(_, count)| count > 0).scan(self.zeros, |seen, (span, count)| {
            *seen += count;
            Some((span.min(self.longest), *seen))
        });
        zeros.into_iter().chain(others)
    }
}

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
        spans.iter().for_each(|&ps| all.add(Span::from_ps(ps), 1));
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
        assert_eq!((all.count(), all.groups.capacity()), (1_000, 0));
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
