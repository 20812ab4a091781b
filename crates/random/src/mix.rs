/// A bijection whose outputs look random: the finaliser of `SplitMix64` (Steele, Lea, Flood, "Fast splittable pseudorandom
/// number generators", OOPSLA 2014).
#[inline]
pub fn mix(word: u64) -> u64 {
    let mixed = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sequence_of_splitmix64_is_as_published() {
        // The first outputs for seed 1234567 of the reference implementation in C (Vigna, prng.di.unimi.it/splitmix64.c).
        let golden = 0x9e37_79b9_7f4a_7c15u64;
        let outputs: Vec<u64> =
            (1..=3u64).map(|step| mix(1_234_567u64.wrapping_add(golden.wrapping_mul(step)))).collect();
        assert_eq!(
            outputs,
            [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]
        );
    }
}
