use std::ops::{Index, IndexMut, Range};

/// A queue whose members are found by a number that counts up, as sequence numbers do: a power of two of
/// slots, and no arithmetic but a mask. It grows by doubling, and gives back its memory when it is empty.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ring<T> {
    slots: Vec<T>,
    first: u64,
    next: u64,
}

/// Slots to begin with.
const MIN_SLOTS: usize = 4;

impl<T: Copy + Default> Ring<T> {
    /// The number of the oldest member; of the next one if there is none.
    pub(crate) fn first(&self) -> u64 {
        self.first
    }

    /// The number that the next member will have.
    pub(crate) fn next(&self) -> u64 {
        self.next
    }

    pub(crate) fn len(&self) -> u32 {
        (self.next - self.first) as u32
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.next == self.first
    }

    pub(crate) fn numbers(&self) -> Range<u64> {
        self.first..self.next
    }

    fn slot(&self, number: u64) -> usize {
        debug_assert!(self.numbers().contains(&number), "{number} is not in {:?}", self.numbers());
        number as usize & self.slots.len().wrapping_sub(1)
    }

    #[inline]
    pub(crate) fn push(&mut self, member: T) {
        if (self.next - self.first) as usize == self.slots.len() {
            self.grow();
        }
        self.next += 1;
        let slot = self.slot(self.next - 1);
        self.slots[slot] = member;
    }

    #[cold]
    fn grow(&mut self) {
        let size = (self.slots.len() * 2).max(MIN_SLOTS);
        let mut slots = vec![T::default(); size];
        for number in self.numbers() {
            slots[number as usize & (size - 1)] = self[number];
        }
        self.slots = slots;
    }

    /// Takes away all below `number`, which is at most [`next`](Self::next).
    #[inline]
    pub(crate) fn forget_below(&mut self, number: u64) {
        debug_assert!(number >= self.first && number <= self.next);
        self.first = number;
        if self.is_empty() {
            self.slots = Vec::new();
        }
    }

    /// How many members there is room for.
    #[cfg(test)]
    pub(crate) fn capacity(&self) -> usize {
        self.slots.capacity()
    }
}

impl<T: Copy + Default> Index<u64> for Ring<T> {
    type Output = T;
    #[inline]
    fn index(&self, number: u64) -> &T {
        &self.slots[self.slot(number)]
    }
}

impl<T: Copy + Default> IndexMut<u64> for Ring<T> {
    #[inline]
    fn index_mut(&mut self, number: u64) -> &mut T {
        let slot = self.slot(number);
        &mut self.slots[slot]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn an_empty_ring_takes_no_memory() {
        let mut ring = Ring::default();
        for (members, slots) in [(1, 4), (4, 4), (5, 8)] {
            let end = ring.next() + members;
            (0..members).for_each(|member| ring.push(member));
            assert_eq!(ring.capacity(), slots, "with {members}");
            ring.forget_below(end);
            assert_eq!(ring.capacity(), 0, "after {members}");
        }
    }

    proptest! {
        #[test]
        fn a_ring_holds_what_a_plain_list_holds(steps in proptest::collection::vec((any::<bool>(), 1u64..40), 1..40)) {
            let (mut ring, mut plain) = (Ring::default(), Vec::new());
            for (push, count) in steps {
                if push {
                    for _ in 0..count {
                        plain.push(plain.len() as u64 * 7);
                        ring.push((plain.len() as u64 - 1) * 7);
                    }
                } else {
                    ring.forget_below((ring.first() + count).min(ring.next()));
                }
                prop_assert_eq!(ring.next(), plain.len() as u64);
                prop_assert!(ring.numbers().all(|number| ring[number] == plain[number as usize]));
            }
        }
    }
}
