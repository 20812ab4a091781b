use longhaul_units::Time;

/// Packets on the way, first in, first out, and when they are due.
///
/// A ring would do; a list that is moved up now and then lets whole runs be gone through as a slice.
#[derive(Clone, Debug)]
pub struct Transit<P> {
    packets: Vec<(Time, P)>,
    /// So many of them have been taken out.
    gone: usize,
}

impl<P> Default for Transit<P> {
    fn default() -> Self {
        Transit { packets: Vec::new(), gone: 0 }
    }
}

impl<P: Copy> Transit<P> {
    /// When the first one is due.
    #[inline]
    pub fn first(&self) -> Option<Time> {
        self.packets.get(self.gone).map(|&(due, _)| due)
    }

    /// When the last one is due.
    #[inline]
    pub fn last(&self) -> Option<Time> {
        self.packets[self.gone..].last().map(|&(due, _)| due)
    }

    /// How many there are.
    #[inline]
    pub fn len(&self) -> usize {
        self.packets.len() - self.gone
    }

    /// Whether there is none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.packets.len() == self.gone
    }

    /// Adds `packet`, which is due no earlier than those before it.
    #[inline]
    pub fn push(&mut self, due: Time, packet: P) {
        if self.packets.len() == self.packets.capacity() {
            self.move_up();
        }
        self.packets.push((due, packet));
    }

    /// Adds a copy of `entry`, which is due no earlier than those before it, and which may then be changed.
    #[inline]
    pub fn append(&mut self, entry: &(Time, P)) -> Option<&mut (Time, P)> {
        if self.packets.len() == self.packets.capacity() {
            self.move_up();
        }
        // Straight from memory to memory: a packet that is taken apart on the way stalls the processor.
        self.packets.extend_from_slice(std::slice::from_ref(entry));
        self.packets.last_mut()
    }

    /// Adds `packets`, which are in order and due no earlier than those before them.
    #[inline]
    pub fn extend(&mut self, packets: &[(Time, P)]) {
        if self.packets.capacity() - self.packets.len() < packets.len() {
            self.move_up();
        }
        self.packets.extend_from_slice(packets);
    }

    /// Takes out the first one, if it is due at `now`.
    #[inline]
    pub fn take(&mut self, now: Time) -> Option<(Time, P)> {
        let next = *self.packets.get(self.gone)?;
        if next.0 > now {
            return None;
        }
        self.gone += 1;
        Some(next)
    }

    /// All of them, the first ones first; may be changed and then [`move_on`](Self::move_on).
    #[inline]
    pub fn waiting(&mut self) -> &mut [(Time, P)] {
        &mut self.packets[self.gone..]
    }

    /// The first `count` go over to another one. All of them go to an empty one without being copied.
    #[inline]
    pub fn move_on(&mut self, count: usize, onward: &mut Transit<P>) {
        if count == self.len() && onward.is_empty() {
            std::mem::swap(self, onward);
            self.packets.clear();
            self.gone = 0;
            return;
        }
        if onward.packets.capacity() - onward.packets.len() < count {
            onward.move_up();
        }
        onward.packets.extend_from_slice(&self.packets[self.gone..self.gone + count]);
        self.gone += count;
    }

    /// Takes out the first `count`.
    #[inline]
    pub fn forget(&mut self, count: usize) {
        self.gone += count;
    }

    /// All of them, to be taken out at once.
    pub fn all(&mut self) -> &mut Vec<(Time, P)> {
        self.packets.drain(..self.gone);
        self.gone = 0;
        &mut self.packets
    }

    /// Takes out all of them.
    pub fn drain(&mut self) -> impl Iterator<Item = (Time, P)> {
        let gone = std::mem::take(&mut self.gone);
        self.packets.drain(..).skip(gone)
    }

    #[inline(never)]
    fn move_up(&mut self) {
        // Less than half: it is cheaper to grow, and by half: most of the memory of a large network is here.
        if self.gone > self.packets.len() / 2 {
            self.packets.drain(..self.gone);
            self.gone = 0;
        } else {
            self.packets.reserve_exact((self.packets.len() / 2).max(4));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    #[test]
    fn nobody_leaves_before_his_time() {
        let mut transit = Transit::default();
        transit.push(Time::from_ns(5), 'a');
        assert_eq!(transit.first(), Some(Time::from_ns(5)));
        assert_eq!(transit.take(Time::from_ns(4)), None);
        assert_eq!(transit.take(Time::from_ns(5)), Some((Time::from_ns(5), 'a')));
        assert!(transit.is_empty() && transit.first().is_none());
    }

    proptest! {
        #[test]
        fn what_comes_in_goes_out_in_order(steps in prop::collection::vec(0usize..9, 1..if cfg!(miri) { 30 } else { 300 })) {
            let (mut transit, mut onward) = (Transit::default(), Transit::default());
            let (mut plain, mut moved) = (VecDeque::new(), VecDeque::new());
            for (number, step) in steps.into_iter().enumerate() {
                let due = Time::from_ns(number as u64);
                match step {
                    0..=4 => {
                        transit.push(due, number);
                        plain.push_back((due, number));
                    }
                    5..=6 => prop_assert_eq!(transit.take(Time::NEVER), plain.pop_front()),
                    _ => {
                        let count = plain.len() / (step - 6);
                        transit.move_on(count, &mut onward);
                        moved.extend(plain.drain(..count));
                    }
                }
                prop_assert_eq!(transit.len(), plain.len());
                prop_assert_eq!(&*transit.waiting(), &*plain.make_contiguous());
            }
            prop_assert_eq!(onward.drain().collect::<VecDeque<_>>(), moved);
        }
    }
}
