use super::NONE;
use crate::packet::NodeId;

/// Where a direction's packets go at its far end: a channel for each destination.
///
/// A table with open addressing, at most half full: an answer takes one look, mostly.
#[derive(Debug, Default)]
pub(super) struct Onward {
    /// Destinations and channels; a power of two of them.
    slots: Vec<(u32, u32)>,
    destinations: usize,
}

impl Onward {
    /// Packets for `destination` go through `channel`.
    pub fn insert(&mut self, destination: NodeId, channel: u32) {
        if self.channel(destination) != NONE {
            return;
        }
        if 2 * (self.destinations + 1) > self.slots.len() {
            let size = (2 * self.slots.len()).max(4);
            let old = std::mem::replace(&mut self.slots, vec![(NONE, NONE); size]);
            old.into_iter().filter(|slot| slot.0 != NONE).for_each(|slot| self.place(slot));
        }
        self.place((destination.0, channel));
        self.destinations += 1;
    }

    /// The channel of `destination`, or `NONE`.
    #[inline]
    pub fn channel(&self, destination: NodeId) -> u32 {
        let mut slot = hash(destination.0);
        while let Some(&(key, channel)) = self.slots.get(slot & self.slots.len().wrapping_sub(1)) {
            if key == destination.0 {
                return channel;
            }
            if key == NONE {
                break;
            }
            slot += 1;
        }
        NONE
    }

    fn place(&mut self, entry: (u32, u32)) {
        let mut slot = hash(entry.0);
        let mask = self.slots.len() - 1;
        while self.slots[slot & mask].0 != NONE {
            slot += 1;
        }
        self.slots[slot & mask] = entry;
    }
}

/// Multiplicative hashing (Knuth, The Art of Computer Programming 3, section 6.4): the upper half mixes best.
#[inline]
fn hash(key: u32) -> usize {
    ((u64::from(key).wrapping_mul(0x9e37_79b9_7f4a_7c15)) >> 32) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        #[test]
        fn each_destination_has_the_channel_of_its_first_insertion(
            entries in prop::collection::vec((0u32..50, 0u32..9), 0..if cfg!(miri) { 20 } else { 100 }),
        ) {
            let (mut onward, mut plain) = (Onward::default(), BTreeMap::new());
            for (destination, channel) in entries {
                onward.insert(NodeId(destination), channel);
                plain.entry(destination).or_insert(channel);
            }
            for destination in 0..60 {
                let expected = plain.get(&destination).copied().unwrap_or(NONE);
                prop_assert_eq!(onward.channel(NodeId(destination)), expected);
            }
        }
    }
}
