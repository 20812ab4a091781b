use crate::normal::quantile;
use rand_chacha::ChaCha8Rng;
use rand_core::{Rng, SeedableRng};
use sha2::{Digest, Sha256};

/// The one number that a whole run's chances follow from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Seed(u64);

/// An endless, repeatable sequence of random numbers.
///
/// Each of its methods except [`below`](Stream::below) consumes exactly one 64-bit draw.
#[derive(Clone, Debug)]
pub struct Stream(ChaCha8Rng);

impl Seed {
    /// The seed of this number.
    pub const fn new(seed: u64) -> Self {
        Seed(seed)
    }

    /// The stream of this name: ChaCha8, keyed by SHA-256 over the seed and the name.
    ///
    /// Equal seeds and names give equal streams; any other two are independent.
    pub fn stream(&self, name: &str) -> Stream {
        let mut hash = Sha256::new();
        hash.update(b"longhaul stream 1\0");
        hash.update(self.0.to_le_bytes());
        hash.update(name.as_bytes());
        Stream(ChaCha8Rng::from_seed(hash.finalize().into()))
    }
}

impl Stream {
    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Uniform on [0, 1): a multiple of 2^-53.
    pub fn uniform(&mut self) -> f64 {
        (self.bits() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// Uniform on (0, 1): an odd multiple of 2^-53, so that both its logarithm and that of its
    /// complement are finite.
    pub fn open_uniform(&mut self) -> f64 {
        ((self.bits() >> 12) as f64 + 0.5) * (1.0 / (1u64 << 52) as f64)
    }

    /// Uniform on 0, 1, ..., n - 1, without bias (Lemire 2019). Draws again with a chance below
    /// n / 2^64.
    ///
    /// # Panics
    /// If `n` is zero.
    pub fn below(&mut self, n: u64) -> u64 {
        assert!(n > 0, "nothing is below zero");
        loop {
            let product = u128::from(self.bits()) * u128::from(n);
            let low = product as u64;
            // Rejecting the lowest 2^64 mod n values leaves each result equally many draws.
            if low >= n || low >= n.wrapping_neg() % n {
                return (product >> 64) as u64;
            }
        }
    }

    /// Standard normal: mean 0, standard deviation 1, by inversion of one draw.
    ///
    /// The largest magnitude that can occur is 8.21, at a draw of 2^-53.
    pub fn normal(&mut self) -> f64 {
        quantile(self.open_uniform())
    }

    /// Exponential with mean 1, by inversion of one draw.
    pub fn exponential(&mut self) -> f64 {
        -libm::log(self.open_uniform())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const DRAWS: usize = 200_000;

    /// Sample mean and variance of [`DRAWS`] draws.
    fn moments(mut draw: impl FnMut() -> f64) -> (f64, f64) {
        let n = DRAWS as f64;
        let (mut sum, mut squares) = (0.0, 0.0);
        for _ in 0..DRAWS {
            let x = draw();
            sum += x;
            squares += x * x;
        }
        (sum / n, squares / n - (sum / n) * (sum / n))
    }

    /// Asserts that a mean of [`DRAWS`] draws lies within 4.5 standard errors (p = 7e-6).
    fn assert_mean(observed: f64, expected: f64, variance_of_one: f64) {
        let error = (variance_of_one / DRAWS as f64).sqrt();
        assert!((observed - expected).abs() < 4.5 * error, "{observed} instead of {expected} +- {error}");
    }

    #[test]
    fn the_stream_is_pinned_down_for_all_time() {
        // Computed apart, from the definitions of SHA-256 and of ChaCha with 8 rounds.
        let mut stream = Seed::new(42).stream("par-nyc/forward/loss");
        assert_eq!([stream.bits(), stream.bits()], [0xdc9f_3ea9_8d21_352e, 0xe6bc_a656_3ba2_b937]);
    }

    #[test]
    fn seed_and_name_both_decide() {
        let first = |seed: u64, name: &str| Seed::new(seed).stream(name).bits();
        assert_eq!(first(1, "a/loss"), first(1, "a/loss"));
        assert_ne!(first(1, "a/loss"), first(2, "a/loss"));
        assert_ne!(first(1, "a/loss"), first(1, "a/delay"));
    }

    #[test]
    fn uniform_has_the_moments_of_the_unit_interval() {
        let mut stream = Seed::new(1).stream("uniform");
        let (mean, variance) = moments(|| stream.uniform());
        assert_mean(mean, 0.5, 1.0 / 12.0);
        // Var((x - 1/2)^2) = 1/80 - 1/144 = 1/180.
        assert_mean(variance, 1.0 / 12.0, 1.0 / 180.0);
    }

    #[test]
    fn normal_has_mean_zero_and_variance_one_and_no_skew() {
        let mut stream = Seed::new(1).stream("normal");
        let (mean, variance) = moments(|| stream.normal());
        assert_mean(mean, 0.0, 1.0);
        assert_mean(variance, 1.0, 2.0); // Var(x^2) = 3 - 1
        let (cubes, _) = moments(|| {
            let x = stream.normal();
            x * x * x
        });
        assert_mean(cubes, 0.0, 15.0); // E(x^6)
    }

    #[test]
    fn exponential_has_mean_and_variance_one() {
        let mut stream = Seed::new(1).stream("exponential");
        let (mean, variance) = moments(|| stream.exponential());
        assert_mean(mean, 1.0, 1.0);
        assert_mean(variance, 1.0, 8.0); // Var((x - 1)^2) = 9 - 1
    }

    #[test]
    fn below_hits_each_value_equally_often() {
        let mut stream = Seed::new(1).stream("below");
        let mut hits = [0u32; 7];
        for _ in 0..DRAWS {
            hits[stream.below(7) as usize] += 1;
        }
        for count in hits {
            assert_mean(f64::from(count) / DRAWS as f64, 1.0 / 7.0, 6.0 / 49.0);
        }
    }

    #[test]
    fn below_is_unbiased_where_a_remainder_would_not_be() {
        // Of 2^64 draws, a remainder by 3 * 2^62 would favour the lowest third two to one.
        let n = 3 << 62;
        let mut stream = Seed::new(1).stream("below");
        let low = (0..DRAWS).filter(|_| stream.below(n) < 1 << 62).count();
        assert_mean(low as f64 / DRAWS as f64, 1.0 / 3.0, 2.0 / 9.0);
    }

    #[test]
    fn streams_of_neighbouring_names_are_uncorrelated() {
        let (mut a, mut b) = (Seed::new(1).stream("a/1"), Seed::new(1).stream("a/2"));
        let (covariance, _) = moments(|| (a.uniform() - 0.5) * (b.uniform() - 0.5));
        assert_mean(covariance, 0.0, 1.0 / 144.0);
    }

    proptest! {
        #[test]
        fn drawing_from_one_stream_moves_no_other(seed: u64, name in "[a-z/]{0,20}", draws in 0usize..50) {
            let mut alone = Seed::new(seed).stream(&name);
            let mut other = Seed::new(seed).stream(&format!("{name}/other"));
            let mut beside = Seed::new(seed).stream(&name);
            for _ in 0..draws {
                other.normal();
                prop_assert_eq!(alone.bits(), beside.bits());
            }
        }

        #[test]
        fn a_clone_continues_as_its_original_does(seed: u64, draws in 0usize..50) {
            let mut original = Seed::new(seed).stream("x");
            for _ in 0..draws {
                original.bits();
            }
            let mut clone = original.clone();
            prop_assert_eq!(original.bits(), clone.bits());
        }

        #[test]
        fn results_stay_in_their_ranges(seed: u64, n in 1u64..) {
            let mut stream = Seed::new(seed).stream("x");
            prop_assert!((0.0..1.0).contains(&stream.uniform()));
            let open = stream.open_uniform();
            prop_assert!(open > 0.0 && open < 1.0);
            prop_assert!(stream.below(n) < n);
            prop_assert!(stream.normal().abs() < 8.3);
            prop_assert!((0.0..37.0).contains(&stream.exponential()));
        }
    }
}
