use crate::Delay;
use longhaul_random::Stream;
use longhaul_units::Span;

impl Delay {
    /// The delay of one packet, to the picosecond. Draws once, except that a constant draws
    /// nothing.
    pub(crate) fn draw(&self, stream: &mut Stream) -> Span {
        match *self {
            Delay::Constant(delay) => delay,
            Delay::Uniform { mean, half_width } => {
                // Both ends included, so that the mean is exact.
                let width = half_width.ps().saturating_mul(2);
                let offset = stream.below(width.saturating_add(1));
                Span::from_ps(mean.ps().saturating_sub(half_width.ps()).saturating_add(offset))
            }
            Delay::Normal { mean, sd } => {
                let ps = mean.ps() as f64 + sd.ps() as f64 * stream.normal();
                // The cast saturates: what is negative becomes zero.
                Span::from_ps((ps + 0.5) as u64)
            }
        }
    }

    /// No draw is shorter than this.
    pub(crate) fn least(&self) -> Span {
        match *self {
            Delay::Constant(delay) => delay,
            Delay::Uniform { mean, half_width } => mean.saturating_sub(half_width),
            Delay::Normal { .. } => Span::ZERO,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use longhaul_random::Seed;

    const N: usize = 200_000;

    /// Mean and variance of [`N`] draws, in picoseconds.
    fn moments(delay: Delay) -> (f64, f64) {
        let mut stream = Seed::new(3).stream("link/forward/delay");
        let draws: Vec<f64> = (0..N).map(|_| delay.draw(&mut stream).ps() as f64).collect();
        let mean = draws.iter().sum::<f64>() / N as f64;
        let variance = draws.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / N as f64;
        (mean, variance)
    }

    /// Asserts that a mean of [`N`] draws, each of variance `variance`, is within 4.5 standard errors.
    fn assert_mean(observed: f64, expected: f64, variance: f64) {
        let error = (variance / N as f64).sqrt();
        assert!((observed - expected).abs() < 4.5 * error, "{observed} instead of {expected} +- {error}");
    }

    #[test]
    fn uniform_delay_keeps_its_mean_and_its_width() {
        let (mean, half_width) = (Span::from_us(100), Span::from_us(30));
        let (m, v) = moments(Delay::Uniform { mean, half_width });
        let width = 60e6;
        let variance = width * width / 12.0;
        assert_mean(m, 100e6, variance);
        // Var((x - mean)^2) = width^4 (1/80 - 1/144) = variance^2 * 4/5.
        assert_mean(v, variance, variance * variance * 0.8);
    }

    #[test]
    fn uniform_delay_reaches_both_ends_and_nothing_beyond() {
        let delay = Delay::Uniform { mean: Span::from_ps(2), half_width: Span::from_ps(2) };
        let mut stream = Seed::new(3).stream("x");
        let mut seen = [0; 5];
        for _ in 0..1000 {
            seen[delay.draw(&mut stream).ps() as usize] += 1;
        }
        assert!(seen.iter().all(|&hits| hits > 0), "{seen:?}");
        assert_eq!(delay.least(), Span::ZERO);
    }

    #[test]
    fn normal_delay_keeps_its_mean_and_standard_deviation_far_from_zero() {
        let (m, v) = moments(Delay::Normal { mean: Span::from_ms(5), sd: Span::from_us(40) });
        let variance = 40e6 * 40e6;
        assert_mean(m, 5e9, variance);
        assert_mean(v, variance, 2.0 * variance * variance);
    }

    #[test]
    fn the_cut_at_zero_raises_the_mean_by_the_stated_amount() {
        // mean = sd: E = mean * Phi(1) + sd * phi(1) = (0.841345 + 0.241971) mean;
        // E of the square = (mean^2 + sd^2) Phi(1) + mean sd phi(1) = 1.924660 mean^2.
        let (m, _) = moments(Delay::Normal { mean: Span::from_us(10), sd: Span::from_us(10) });
        let expected = 1.083_315_5;
        assert_mean(m, expected * 10e6, (1.924_660 - expected * expected) * 1e14);
    }

    #[test]
    fn a_constant_draws_nothing() {
        let mut stream = Seed::new(3).stream("x");
        let mut untouched = stream.clone();
        assert_eq!(Delay::Constant(Span::from_ms(1)).draw(&mut stream), Span::from_ms(1));
        assert_eq!(stream.bits(), untouched.bits());
    }
}
