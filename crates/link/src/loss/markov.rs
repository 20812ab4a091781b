use longhaul_random::Stream;
use longhaul_units::Probability;

/// A chain of two states that steps once per packet, each with a share of loss.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TwoState {
    /// `None` before the first packet, which draws from the long-run distribution.
    bad: Option<bool>,
    start_bad: Probability,
    good_to_bad: Probability,
    bad_to_good: Probability,
    /// Shares lost in the good and in the bad state; `None`: the bad one loses all, the good one none.
    shares: Option<[Probability; 2]>,
}

impl TwoState {
    pub(crate) fn gilbert(mean: f64, burst: f64) -> Self {
        // A sojourn in the bad state lasts 1/r packets; p / (p + r) of all packets are in it.
        let r = 1.0 / burst;
        Self::simple(mean, mean * r / (1.0 - mean), r)
    }

    /// P(loss | loss) = mean + c (1 - mean) and P(loss | no loss) = mean (1 - c): the mean stays, and
    /// fates k packets apart correlate by c^k.
    pub(crate) fn correlated(mean: f64, correlation: f64) -> Self {
        Self::simple(mean, mean * (1.0 - correlation), (1.0 - mean) * (1.0 - correlation))
    }

    pub(crate) fn elliott(
        good_to_bad: Probability,
        bad_to_good: Probability,
        loss_good: Probability,
        loss_bad: Probability,
    ) -> Self {
        let (p, r) = (good_to_bad.as_f64(), bad_to_good.as_f64());
        TwoState {
            bad: None,
            start_bad: nearest(if p + r > 0.0 { p / (p + r) } else { 0.0 }),
            good_to_bad,
            bad_to_good,
            shares: Some([loss_good, loss_bad]),
        }
    }

    fn simple(start_bad: f64, good_to_bad: f64, bad_to_good: f64) -> Self {
        TwoState {
            bad: None,
            start_bad: nearest(start_bad),
            good_to_bad: nearest(good_to_bad),
            bad_to_good: nearest(bad_to_good),
            shares: None,
        }
    }

    pub(crate) fn drops(&mut self, stream: &mut Stream) -> bool {
        let draw = stream.bits();
        let bad = match self.bad {
            None => self.start_bad.occurs(draw),
            Some(false) => self.good_to_bad.occurs(draw),
            Some(true) => !self.bad_to_good.occurs(draw),
        };
        self.bad = Some(bad);
        match self.shares {
            None => bad,
            Some(shares) => shares[usize::from(bad)].occurs(stream.bits()),
        }
    }
}

/// A chain of four states that steps once per packet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FourState {
    state: Option<State>,
    /// The long-run share of states 1, 1 or 2, 1 to 3, from which the first packet draws.
    starts: [Probability; 3],
    p13: Probability,
    /// p13 + p14.
    p13_or_p14: Probability,
    p31: Probability,
    /// p31 + p32.
    p31_or_p32: Probability,
    p23: Probability,
}

#[derive(Clone, Copy, Debug)]
enum State {
    GoodGap,
    GoodBurst,
    LostBurst,
    LostAlone,
}

impl FourState {
    pub(crate) fn new(p13: f64, p31: f64, p32: f64, p23: f64, p14: f64) -> Self {
        let [one, two, three, _] = Self::long_run(p13, p31, p32, p23, p14);
        FourState {
            state: None,
            starts: [nearest(one), nearest(one + two), nearest(one + two + three)],
            p13: nearest(p13),
            p13_or_p14: nearest(p13 + p14),
            p31: nearest(p31),
            p31_or_p32: nearest(p31 + p32),
            p23: nearest(p23),
        }
    }

    /// Long-run shares of the states: what leaves each state in a step equals what enters it.
    pub(crate) fn long_run(p13: f64, p31: f64, p32: f64, p23: f64, p14: f64) -> [f64; 4] {
        // State 4: w4 = w1 p14. State 2: w2 p23 = w3 p32. State 1: w1 (p13 + p14) = w3 p31 + w4.
        let w1 = if p31 > 0.0 { 1.0 } else { f64::from(u8::from(p13 == 0.0)) };
        let w3 = if p31 > 0.0 { p13 / p31 } else { f64::from(u8::from(p13 > 0.0)) };
        let w2 = if p23 > 0.0 { w3 * p32 / p23 } else { 0.0 };
        let w4 = w1 * p14;
        let sum = w1 + w2 + w3 + w4;
        [w1 / sum, w2 / sum, w3 / sum, w4 / sum]
    }

    pub(crate) fn drops(&mut self, stream: &mut Stream) -> bool {
        let draw = stream.bits();
        let state = match self.state {
            None if self.starts[0].occurs(draw) => State::GoodGap,
            None if self.starts[1].occurs(draw) => State::GoodBurst,
            None if self.starts[2].occurs(draw) => State::LostBurst,
            None => State::LostAlone,
            Some(State::GoodGap) if self.p13.occurs(draw) => State::LostBurst,
            Some(State::GoodGap) if self.p13_or_p14.occurs(draw) => State::LostAlone,
            Some(State::GoodGap | State::LostAlone) => State::GoodGap,
            Some(State::LostBurst) if self.p31.occurs(draw) => State::GoodGap,
            Some(State::LostBurst) if self.p31_or_p32.occurs(draw) => State::GoodBurst,
            Some(State::GoodBurst) if !self.p23.occurs(draw) => State::GoodBurst,
            Some(State::LostBurst | State::GoodBurst) => State::LostBurst,
        };
        self.state = Some(state);
        matches!(state, State::LostBurst | State::LostAlone)
    }
}

fn nearest(p: f64) -> Probability {
    Probability::new(p.clamp(0.0, 1.0)).unwrap_or(Probability::ZERO)
}

#[cfg(test)]
mod tests {
    use super::*;
    use longhaul_random::Seed;

    const N: usize = 400_000;

    fn fates(mut drops: impl FnMut(&mut Stream) -> bool) -> Vec<f64> {
        let mut stream = Seed::new(11).stream("markov");
        (0..N).map(|_| f64::from(u8::from(drops(&mut stream)))).collect()
    }

    fn mean(fates: &[f64]) -> f64 {
        fates.iter().sum::<f64>() / fates.len() as f64
    }

    fn correlation(fates: &[f64], lag: usize) -> f64 {
        let m = mean(fates);
        let covariance: f64 = fates.iter().zip(&fates[lag..]).map(|(a, b)| (a - m) * (b - m)).sum();
        let variance: f64 = fates.iter().map(|a| (a - m) * (a - m)).sum();
        covariance / variance
    }

    #[test]
    #[cfg_attr(miri, ignore = "statistics of 400,000 draws")]
    fn correlated_loss_keeps_its_mean_and_its_correlation() {
        for (p, c) in [(0.001, 0.25), (0.05, 0.5), (0.3, 0.9)] {
            let mut model = TwoState::correlated(p, c);
            let fates = fates(|stream| model.drops(stream));
            let error = libm::sqrt(p * (1.0 - p) * (1.0 + c) / (1.0 - c) / N as f64);
            assert!((mean(&fates) - p).abs() < 4.5 * error, "{p} {c}: {}", mean(&fates));
            // Pairs of losses carry the estimate: N p of them, each a loss with p + c (1 - p).
            let q = p + c * (1.0 - p);
            let pair_error = libm::sqrt(q * (1.0 - q) * (1.0 + c) / (1.0 - c) / (N as f64 * p)) / (1.0 - p);
            assert!((correlation(&fates, 1) - c).abs() < 4.5 * pair_error + 4.5 * error, "{p} {c}");
            assert!((correlation(&fates, 2) - c * c).abs() < 6.0 * pair_error + 4.5 * error, "{p} {c}");
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "statistics of 400,000 draws")]
    fn two_lossy_states_lose_their_weighted_mean() {
        for (p, r, g, b) in [(0.01, 0.1, 0.0, 1.0), (0.02, 0.2, 0.01, 0.5), (0.3, 0.3, 0.2, 0.9)] {
            let at = |x: f64| Probability::new(x).unwrap();
            let mut model = TwoState::elliott(at(p), at(r), at(g), at(b));
            let fates = fates(|stream| model.drops(stream));
            let expected = (p * b + r * g) / (p + r);
            // Variance of the mean: independent draws given the states, and the states' own.
            let (w, c) = (p / (p + r), 1.0 - p - r);
            let states = (b - g) * (b - g) * w * (1.0 - w) * (1.0 + c) / (1.0 - c);
            let error = libm::sqrt((expected * (1.0 - expected) + states) / N as f64);
            assert!((mean(&fates) - expected).abs() < 4.5 * error, "{p}: {} {expected}", mean(&fates));
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "statistics of 400,000 draws")]
    fn four_states_lose_their_long_run_share_in_bursts_and_alone() {
        for (p13, p31, p32, p23, p14) in
            [(0.01, 0.3, 0.2, 0.5, 0.001), (0.02, 0.5, 0.0, 1.0, 0.01), (0.1, 0.2, 0.3, 0.4, 0.0)]
        {
            let mut model = FourState::new(p13, p31, p32, p23, p14);
            let fates = fates(|stream| model.drops(stream));
            let [_, _, lost_burst, lost_alone] = FourState::long_run(p13, p31, p32, p23, p14);
            let expected = lost_burst + lost_alone;
            // Batches of 1000 packets, far longer than any sojourn, are nearly independent.
            let batches: Vec<f64> = fates.chunks(1000).map(mean).collect();
            let spread = batches.iter().map(|m| (m - expected) * (m - expected)).sum::<f64>();
            let error = libm::sqrt(spread) / batches.len() as f64;
            assert!((mean(&fates) - expected).abs() < 4.5 * error, "{} {expected}", mean(&fates));
            // The second number: the chance that a loss follows a loss.
            let pairs = fates.windows(2).filter(|pair| pair[0] > 0.0 && pair[1] > 0.0).count() as f64;
            let losses = fates.iter().sum::<f64>();
            let again = lost_burst * (1.0 - p31 - p32) / expected;
            let pair_error = libm::sqrt(again * (1.0 - again) / losses);
            assert!((pairs / losses - again).abs() < 4.5 * pair_error, "{} {again}", pairs / losses);
        }
    }

    #[test]
    fn a_burst_of_one_over_one_minus_the_mean_is_independent_loss() {
        // Then p = m and 1 - r = m: the next packet's chance is m in either state.
        let gilbert = TwoState::gilbert(0.2, 1.25);
        assert!((gilbert.good_to_bad.as_f64() - 0.2).abs() < 1e-15);
        assert!((1.0 - gilbert.bad_to_good.as_f64() - 0.2).abs() < 1e-15);
    }
}
