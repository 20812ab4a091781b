//! What a receiver notes of numbered datagrams: the same live as simulated.

use longhaul_record::Distribution;
use longhaul_units::Span;

/// How many numbers back a copy is told from a packet that was overtaken.
const WINDOW: usize = 4096;

/// Counts what arrives, in the order of arrival.
#[derive(Clone)]
pub struct DatagramStats {
    /// Datagrams that arrived, copies included.
    pub received: u64,
    /// Their payload.
    pub received_bytes: u64,
    /// Datagrams that arrived after one with a higher number (RFC 4737, section 3), no copies among them.
    pub reordered: u64,
    /// Datagrams that had arrived before.
    pub copies: u64,
    /// From leaving to arriving.
    pub delay: Distribution,
    /// The number after the highest that has arrived.
    next: u64,
    /// Which of the last numbers have arrived, by number modulo their count.
    seen: Vec<u64>,
}

impl Default for DatagramStats {
    fn default() -> Self {
        DatagramStats {
            received: 0,
            received_bytes: 0,
            reordered: 0,
            copies: 0,
            delay: Distribution::new(),
            next: 0,
            seen: vec![0; WINDOW / 64],
        }
    }
}

impl DatagramStats {
    /// Datagram `number` with `bytes` of payload arrives, `delay` after it left if that is known.
    #[inline]
    pub fn receive(&mut self, number: u64, bytes: u32, delay: Option<Span>) {
        self.received += 1;
        self.received_bytes += u64::from(bytes);
        if let Some(delay) = delay {
            self.delay.add(delay.ns(), 1);
        }
        if number >= self.next {
            // Those between have not arrived.
            if number - self.next >= WINDOW as u64 {
                self.seen.fill(0);
            } else {
                (self.next..number).for_each(|missing| self.record(missing, false));
            }
            self.next = number + 1;
        } else if self.is_duplicate(number) {
            self.copies += 1;
            return;
        } else {
            self.reordered += 1;
        }
        self.record(number, true);
    }

    /// The number after the highest that has arrived.
    pub fn expected(&self) -> u64 {
        self.next
    }

    /// Different datagrams that arrived.
    pub fn distinct(&self) -> u64 {
        self.received - self.copies
    }

    fn is_duplicate(&self, number: u64) -> bool {
        let place = number as usize % WINDOW;
        self.next - number <= WINDOW as u64 && self.seen[place / 64] >> (place % 64) & 1 == 1
    }

    fn record(&mut self, number: u64, arrived: bool) {
        if self.next.saturating_sub(number) > WINDOW as u64 {
            return;
        }
        let place = number as usize % WINDOW;
        let bit = 1 << (place % 64);
        if arrived {
            self.seen[place / 64] |= bit;
        } else {
            self.seen[place / 64] &= !bit;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(numbers: &[u64]) -> DatagramStats {
        let mut stats = DatagramStats::default();
        for &number in numbers {
            stats.receive(number, 100, Some(Span::from_us(5)));
        }
        stats
    }

    #[test]
    fn who_arrives_after_a_higher_number_was_reordered() {
        // RFC 4737, section 3.3: 2 and 3 arrive when 5 is expected.
        let stats = after(&[0, 1, 4, 2, 3, 5]);
        assert_eq!((stats.reordered, stats.copies, stats.distinct()), (2, 0, 6));
        assert_eq!(stats.received_bytes, 600);
    }

    #[test]
    fn a_copy_is_neither_new_nor_reordered() {
        let stats = after(&[0, 1, 1, 3, 0, 2, 2]);
        assert_eq!((stats.received, stats.copies, stats.reordered), (7, 3, 1));
        assert_eq!(stats.distinct(), 4);
    }

    #[test]
    fn a_gap_longer_than_the_memory_forgets() {
        let stats = after(&[0, 10_000, 9_999, 9_999, 0]);
        // The last is too old to be told from one that was overtaken.
        assert_eq!((stats.reordered, stats.copies), (2, 1));
    }
}
