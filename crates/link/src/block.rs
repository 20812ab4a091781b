use longhaul_random::Stream;
use std::num::NonZeroU64;

/// Chooses exactly one packet, uniformly, in each block of `size` consecutive packets (NemC's
/// `drop_rate` and `ooo_rate`: Jin et al., OSU-CISRC-2/06-TR26, 3.3 and 3.4).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Block {
    size: u64,
    position: u64,
    chosen: u64,
}

impl Block {
    /// Starts a block with the next packet.
    pub(crate) fn new(size: NonZeroU64) -> Self {
        Block { size: size.get(), position: 0, chosen: 0 }
    }

    /// Whether this packet is the chosen one of its block. Draws once per block, at its start.
    pub(crate) fn occurs(&mut self, stream: &mut Stream) -> bool {
        if self.position == 0 {
            self.chosen = stream.below(self.size);
        }
        let occurs = self.position == self.chosen;
        self.position = if self.position + 1 == self.size { 0 } else { self.position + 1 };
        occurs
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use longhaul_random::Seed;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_block_has_exactly_one_chosen_packet(seed: u64, size in 1u64..40, blocks in 1usize..40) {
            let mut stream = Seed::new(seed).stream("block");
            let mut block = Block::new(NonZeroU64::new(size).unwrap());
            for _ in 0..blocks {
                let chosen = (0..size).filter(|_| block.occurs(&mut stream)).count();
                prop_assert_eq!(chosen, 1);
            }
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "statistics of 320,000 draws")]
    fn each_place_in_the_block_is_chosen_equally_often() {
        const BLOCKS: u32 = 40_000;
        let mut stream = Seed::new(1).stream("block");
        let mut block = Block::new(NonZeroU64::new(8).unwrap());
        let mut hits = [0u32; 8];
        for _ in 0..BLOCKS {
            for hit in &mut hits {
                *hit += u32::from(block.occurs(&mut stream));
            }
        }
        // Binomial(40,000, 1/8): mean 5,000, standard deviation 66; 4.5 of them.
        let sd = (f64::from(BLOCKS) * 7.0 / 64.0).sqrt();
        for hit in hits {
            assert!((f64::from(hit) - f64::from(BLOCKS) / 8.0).abs() < 4.5 * sd, "{hits:?}");
        }
    }
}
