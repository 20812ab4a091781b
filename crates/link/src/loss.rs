use crate::Loss;
use crate::block::Block;
use longhaul_random::Stream;
use longhaul_units::Probability;

/// A loss law together with where it is.
#[derive(Clone, Copy, Debug)]
pub(crate) enum LossProcess {
    None,
    Independent(Probability),
    Block(Block),
    Gilbert(Gilbert),
}

impl LossProcess {
    /// The law at its start.
    pub(crate) fn new(law: Loss) -> Self {
        match law {
            Loss::None => LossProcess::None,
            Loss::Independent(probability) => LossProcess::Independent(probability),
            Loss::OnePerBlock(size) => LossProcess::Block(Block::new(size)),
            Loss::GilbertElliott { mean, burst } => LossProcess::Gilbert(Gilbert::new(mean, burst)),
        }
    }

    /// Whether the next packet is lost.
    pub(crate) fn strikes(&mut self, stream: &mut Stream) -> bool {
        match self {
            LossProcess::None => false,
            LossProcess::Independent(probability) => probability.strikes(stream.bits()),
            LossProcess::Block(block) => block.strikes(stream),
            LossProcess::Gilbert(gilbert) => gilbert.strikes(stream),
        }
    }
}

/// Gilbert's channel with a bad state that loses every packet and a good one that loses none
/// (E. N. Gilbert, "Capacity of a Burst-Noise Channel", Bell System Technical Journal 39 (1960)
/// 1253-1265, with h = 0). One draw per packet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Gilbert {
    /// `None` before the first packet.
    bad: Option<bool>,
    start_bad: Probability,
    good_to_bad: Probability,
    bad_to_good: Probability,
}

impl Gilbert {
    fn new(mean: f64, burst: f64) -> Self {
        // A sojourn in the bad state lasts 1/r packets; p / (p + r) of all packets are in it.
        let r = 1.0 / burst;
        let p = mean * r / (1.0 - mean);
        Gilbert {
            bad: None,
            start_bad: nearest_probability(mean),
            good_to_bad: nearest_probability(p),
            bad_to_good: nearest_probability(r),
        }
    }

    fn strikes(&mut self, stream: &mut Stream) -> bool {
        let draw = stream.bits();
        let bad = match self.bad {
            None => self.start_bad.strikes(draw),
            Some(false) => self.good_to_bad.strikes(draw),
            Some(true) => !self.bad_to_good.strikes(draw),
        };
        self.bad = Some(bad);
        bad
    }
}

fn nearest_probability(p: f64) -> Probability {
    Probability::new(p.clamp(0.0, 1.0)).unwrap_or(Probability::ZERO)
}

#[cfg(test)]
mod tests {
    use super::*;
    use longhaul_random::Seed;

    fn stream() -> Stream {
        Seed::new(7).stream("link/forward/loss")
    }

    /// Asserts that `observed` lies within 4.5 standard errors of `expected` (p = 7e-6).
    fn assert_close(what: &str, observed: f64, expected: f64, error: f64) {
        assert!(
            (observed - expected).abs() < 4.5 * error,
            "{what}: {observed} instead of {expected} +- {error}"
        );
    }

    #[test]
    fn independent_loss_keeps_its_mean_and_has_no_memory() {
        const N: u32 = 400_000;
        for p in [0.0002, 0.01, 0.3] {
            let mut stream = stream();
            let mut loss = LossProcess::new(Loss::Independent(Probability::new(p).unwrap()));
            let (mut losses, mut pairs, mut previous) = (0u32, 0u32, false);
            for _ in 0..N {
                let lost = loss.strikes(&mut stream);
                losses += u32::from(lost);
                pairs += u32::from(lost && previous);
                previous = lost;
            }
            let n = f64::from(N);
            assert_close("mean", f64::from(losses) / n, p, (p * (1.0 - p) / n).sqrt());
            // Two in a row with chance q = p^2; overlapping pairs at most double the variance.
            let q = p * p;
            assert_close("pairs", f64::from(pairs) / n, q, (2.0 * q / n).sqrt() + 1.0 / n);
        }
    }

    #[test]
    fn gilbert_elliott_keeps_its_mean_and_its_mean_burst() {
        const N: u32 = 1_000_000;
        for (mean, burst) in [(0.001, 3.0), (0.02, 1.5), (0.2, 20.0)] {
            let mut stream = stream();
            let mut loss = LossProcess::new(Loss::GilbertElliott { mean, burst });
            let (mut losses, mut bursts, mut previous) = (0u32, 0u32, false);
            for _ in 0..N {
                let lost = loss.strikes(&mut stream);
                losses += u32::from(lost);
                bursts += u32::from(lost && !previous);
                previous = lost;
            }
            // The states' correlation decays by c = 1 - p - r per packet, so that the mean's
            // variance is that of independent draws times (1 + c) / (1 - c).
            let r = 1.0 / burst;
            let c = 1.0 - r - mean * r / (1.0 - mean);
            let variance = mean * (1.0 - mean) * (1.0 + c) / (1.0 - c) / f64::from(N);
            assert_close("mean", f64::from(losses) / f64::from(N), mean, variance.sqrt());
            // Burst lengths are geometric: variance (1 - r) / r^2 each.
            let error = ((1.0 - r) / (r * r) / f64::from(bursts)).sqrt();
            assert_close("burst", f64::from(losses) / f64::from(bursts), burst, error);
        }
    }

    #[test]
    fn gilbert_elliott_starts_in_its_long_run_state() {
        const N: u32 = 20_000;
        let mut stream = stream();
        let law = Loss::GilbertElliott { mean: 0.25, burst: 50.0 };
        let first = (0..N).filter(|_| LossProcess::new(law).strikes(&mut stream)).count();
        let error = (0.25 * 0.75 / f64::from(N)).sqrt();
        assert_close("first packet", first as f64 / f64::from(N), 0.25, error);
    }

    #[test]
    fn a_burst_of_one_over_one_minus_the_mean_is_independent_loss() {
        // Then p = m and 1 - r = m: the next packet's chance is m in either state.
        let gilbert = Gilbert::new(0.2, 1.25);
        assert!((gilbert.good_to_bad.as_f64() - 0.2).abs() < 1e-15);
        assert!((1.0 - gilbert.bad_to_good.as_f64() - 0.2).abs() < 1e-15);
    }

    #[test]
    fn laws_that_lose_nothing_lose_nothing() {
        let mut stream = stream();
        for law in [
            Loss::None,
            Loss::Independent(Probability::ZERO),
            Loss::OnePerBlock(0),
            Loss::GilbertElliott { mean: 0.0, burst: 5.0 },
        ] {
            let mut loss = LossProcess::new(law);
            assert!((0..10_000).all(|_| !loss.strikes(&mut stream)), "{law:?}");
        }
    }

    #[test]
    fn laws_that_lose_everything_lose_everything() {
        let mut stream = stream();
        for law in [Loss::Independent(Probability::ONE), Loss::OnePerBlock(1)] {
            let mut loss = LossProcess::new(law);
            assert!((0..10_000).all(|_| loss.strikes(&mut stream)), "{law:?}");
        }
    }
}
