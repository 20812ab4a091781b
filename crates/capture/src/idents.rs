//! Identifications of IPv4 packets (RFC 791, section 3.1), which most senders count upwards.

use std::cmp::Ordering;

/// The farthest step from one packet to the next that is counting: as many as an adapter cuts from one.
const STEP: u16 = 64;
/// Steps from which a habit can be seen.
const ENOUGH: u32 = 16;

/// Whether a sender counts its packets.
#[derive(Debug, Default)]
pub(crate) struct Idents {
    last: u16,
    steps: u32,
    /// Steps forward that are short.
    counted: u32,
}

impl Idents {
    /// Takes the identification of a packet with the data behind those of the one before.
    pub(crate) fn follow(&mut self, ident: u16) {
        self.steps = self.steps.saturating_add(1);
        self.counted =
            self.counted.saturating_add(u32::from((1..=STEP).contains(&ident.wrapping_sub(self.last))));
        self.last = ident;
    }

    /// Which of two packets was sent first; `None` if their numbers do not say it.
    pub(crate) fn order(&self, one: u16, other: u16) -> Option<Ordering> {
        let habit = self.steps >= ENOUGH && self.counted >= self.steps / 10 * 9;
        (habit && one != other).then(|| (one.wrapping_sub(other) as i16).cmp(&0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn senders_that_count_are_believed_and_others_not() {
        let (mut counting, mut zero, mut random) = <[Idents; 3]>::default().into();
        for n in 0..40_u16 {
            counting.follow(n.wrapping_mul(45).wrapping_sub(500));
            zero.follow(0);
            random.follow(n.wrapping_mul(40_503));
        }
        assert_eq!(counting.order(65_530, 3), Some(Ordering::Less));
        assert_eq!(counting.order(3, 65_530), Some(Ordering::Greater));
        assert_eq!(counting.order(3, 3), None);
        assert_eq!((zero.order(0, 0), zero.order(1, 2), random.order(1, 2)), (None, None, None));
    }
}
