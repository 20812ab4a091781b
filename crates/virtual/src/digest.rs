use longhaul_random::mix;
use std::iter::Sum;

/// Intervals that a run has at most: twice as long ones take the place of more.
const MOST_INTERVALS: usize = 1_024;
/// What the intervals of a short run last.
const SHORTEST_INTERVAL_NS: u64 = 1_000_000;

/// A fingerprint of frames, where and when: equal runs have equal digests.
///
/// It is the same in whatever order the frames are added. So it does not depend on what else made a run stop on its way:
/// a sample, a requested change, the end of another lookahead.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Digest(u64);

impl Digest {
    /// Of one frame of a guest at a time.
    pub fn of(at_ns: u64, guest: usize, frame: &[u8]) -> Self {
        let (words, rest) = frame.as_chunks::<8>();
        let mut last = [0; 8];
        last[..rest.len()].copy_from_slice(rest);
        let mut found = mix(at_ns);
        found = mix(found ^ (guest as u64) << 32 ^ frame.len() as u64);
        for &word in words.iter().chain([&last]) {
            found = (found ^ u64::from_le_bytes(word)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            found ^= found >> 29;
        }
        Digest(mix(found))
    }

    /// Adds all that another one has.
    pub fn add(&mut self, other: Digest) {
        self.0 = self.0.wrapping_add(other.0);
    }

    /// All that was added.
    pub fn value(self) -> u64 {
        self.0
    }
}

impl Sum for Digest {
    fn sum<I: Iterator<Item = Digest>>(all: I) -> Digest {
        all.fold(Digest::default(), |mut sum, each| {
            sum.add(each);
            sum
        })
    }
}

/// Digests of a run's frames: of all, of those of each guest, and of those in each interval of time. Where two runs
/// differ first, they tell.
#[derive(Clone, Debug)]
pub struct Digests {
    guests: Vec<Digest>,
    interval_ns: u64,
    intervals: Vec<Digest>,
}

impl Digests {
    /// Without a frame, of so many guests.
    pub fn new(guests: usize) -> Self {
        Digests {
            guests: vec![Digest::default(); guests],
            interval_ns: SHORTEST_INTERVAL_NS,
            intervals: Vec::new(),
        }
    }

    /// Adds a frame of a guest, by its digest, at a time of the run.
    pub fn add(&mut self, run_ns: u64, guest: usize, frame: Digest) {
        self.guests[guest].add(frame);
        while run_ns / self.interval_ns >= MOST_INTERVALS as u64 {
            self.double_intervals();
        }
        let place = (run_ns / self.interval_ns) as usize;
        if place >= self.intervals.len() {
            self.intervals.resize(place + 1, Digest::default());
        }
        self.intervals[place].add(frame);
    }

    fn double_intervals(&mut self) {
        self.intervals = self.intervals.chunks(2).map(|pair| pair.iter().copied().sum()).collect();
        self.interval_ns *= 2;
    }

    /// Of all frames.
    pub fn whole(&self) -> Digest {
        self.guests.iter().copied().sum()
    }

    /// By guest, of the frames that it has sent and was given.
    pub fn of_guests(&self) -> &[Digest] {
        &self.guests
    }

    /// By interval from the start of the run.
    pub fn of_intervals(&self) -> &[Digest] {
        &self.intervals
    }

    /// What each interval lasts.
    pub fn interval_ns(&self) -> u64 {
        self.interval_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Frame<'a> = (u64, usize, &'a [u8]);

    fn of(frames: &[Frame<'_>]) -> u64 {
        let mut digest = Digest::default();
        for &(at_ns, guest, frame) in frames {
            digest.add(Digest::of(at_ns, guest, frame));
        }
        digest.value()
    }

    #[test]
    fn intervals_and_guests_tell_where_frames_differ() {
        let frames: [Frame<'_>; 3] =
            [(500_000, 0, b"first"), (700_300_000, 1, b"second"), (2_000_000_000, 0, b"third")];
        let digests = |frames: &[Frame<'_>]| {
            let mut all = Digests::new(2);
            for &(at_ns, guest, frame) in frames {
                all.add(at_ns, guest, Digest::of(at_ns, guest, frame));
            }
            all
        };
        let all = digests(&frames);
        assert_eq!(all.whole().value(), of(&frames));
        assert_eq!(all.interval_ns(), 2_000_000, "1,024 intervals of a millisecond are not enough");
        assert_eq!(all.of_intervals().len(), 1_001);
        assert_eq!(all.of_intervals()[350].value(), of(&frames[1..2]));
        assert_eq!(all.of_guests()[1].value(), of(&frames[1..2]));

        let other = digests(&[frames[0], (700_300_000, 1, b"another"), frames[2]]);
        let differ: Vec<_> =
            (0..1_001).filter(|&i| all.of_intervals()[i] != other.of_intervals()[i]).collect();
        assert_eq!(differ, [350]);
        assert_eq!(all.of_guests()[0], other.of_guests()[0]);
    }

    #[test]
    fn time_place_content_and_number_matter() {
        let (first, second): (Frame<'_>, Frame<'_>) = ((1, 2, b"packet"), (3, 4, b"another one"));
        let both = of(&[first, second]);
        assert_eq!(both, of(&[second, first]));
        assert_ne!(both, of(&[first]));
        assert_ne!(both, of(&[first, second, second]));
        assert_ne!(of(&[(1, 2, b"packet")]), of(&[(2, 2, b"packet")]));
        assert_ne!(of(&[(1, 2, b"packet")]), of(&[(1, 3, b"packet")]));
        assert_ne!(of(&[(1, 2, b"packet")]), of(&[(1, 2, b"packed")]));
        assert_ne!(of(&[(1, 2, b"packet\0")]), of(&[(1, 2, b"packet")]), "zeros at the end count");
    }
}
