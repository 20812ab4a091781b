use longhaul_random::mix;

/// A fingerprint of frames, where and when: equal runs have equal digests.
///
/// It is the same in whatever order the frames are added. So it does not depend on what else made a run stop on its way:
/// a sample, a requested change, the end of another lookahead.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Digest(u64);

impl Digest {
    /// Adds a frame of a guest at a time.
    pub fn add(&mut self, at_ns: u64, guest: usize, frame: &[u8]) {
        let (words, rest) = frame.as_chunks::<8>();
        let mut last = [0; 8];
        last[..rest.len()].copy_from_slice(rest);
        let mut found = mix(at_ns);
        found = mix(found ^ (guest as u64) << 32 ^ frame.len() as u64);
        for &word in words.iter().chain([&last]) {
            found = (found ^ u64::from_le_bytes(word)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            found ^= found >> 29;
        }
        self.0 = self.0.wrapping_add(mix(found));
    }

    /// All that was added.
    pub fn value(self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Frame<'a> = (u64, usize, &'a [u8]);

    fn of(frames: &[Frame<'_>]) -> u64 {
        let mut digest = Digest::default();
        for &(at_ns, guest, frame) in frames {
            digest.add(at_ns, guest, frame);
        }
        digest.value()
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
