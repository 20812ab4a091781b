use super::GapUnit;
use longhaul_random::{Distribution, Stream};
use longhaul_units::{Span, Time};

/// Losses are points on a line whose distances are drawn one by one; a packet that covers a point is
/// lost. On the line of wall time, a point drops the first packet that comes at or after it, unless
/// that comes later than the point lasts.
#[derive(Clone, Debug)]
pub(crate) struct Renewal {
    gap: Distribution,
    burst: Distribution,
    unit: GapUnit,
    /// How far behind, on the line, a point still drops.
    reach: f64,
    /// From the current position on the line to the next point; `None` before the first draw.
    ahead: Option<f64>,
    /// Packets that the current burst has yet to take.
    left: u64,
    /// Wall time of the current position on the line.
    last_time: Time,
}

/// A gap counts as at least this much, so that a distribution that draws zeros comes to an end.
const LEAST: f64 = 1e-9;

impl Renewal {
    pub(crate) fn new(
        gap: Distribution,
        burst: Distribution,
        unit: GapUnit,
        lasts: Option<Span>,
        now: Time,
    ) -> Self {
        let reach = lasts.map_or(f64::INFINITY, |lasts| lasts.ps() as f64 / 1e3);
        Renewal { gap, burst, unit, reach, ahead: None, left: 0, last_time: now }
    }

    pub(crate) fn drops(&mut self, stream: &mut Stream, now: Time, bytes: u32) -> bool {
        let length = match self.unit {
            GapUnit::Packets => 1.0,
            GapUnit::Bytes => f64::from(bytes),
            GapUnit::Busy { rate } => rate.time_for(u64::from(bytes)).ps() as f64 / 1e3,
            GapUnit::Wall => {
                let passed = now.since(self.last_time).ps() as f64 / 1e3;
                self.last_time = now;
                passed
            }
        };
        if self.left > 0 {
            // The rest of a burst takes no part in the gap, except for time, which passes.
            self.left -= 1;
            if self.unit == GapUnit::Wall {
                self.advance(length, stream);
            }
            return true;
        }
        let drops = self.advance(length, stream);
        if drops {
            // A cast saturates, and what is not a number becomes zero.
            self.left = (libm::ceil(self.burst.draw(stream)) as u64).max(1) - 1;
        }
        drops
    }

    /// Walks on by `length`; whether that passed a point, and came no further than the point reaches.
    fn advance(&mut self, length: f64, stream: &mut Stream) -> bool {
        let mut ahead = match self.ahead {
            Some(ahead) => ahead,
            None => self.gap.draw(stream).max(LEAST),
        };
        ahead -= length;
        let mut drops = false;
        while ahead <= 0.0 {
            drops |= -ahead <= self.reach;
            ahead += self.gap.draw(stream).max(LEAST).max(-ahead * 1e-6);
        }
        self.ahead = Some(ahead);
        drops
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use longhaul_random::Seed;
    use longhaul_units::Rate;

    fn stream() -> Stream {
        Seed::new(2).stream("renewal")
    }

    fn one() -> Distribution {
        Distribution::Constant { value: 1.0 }
    }

    /// Positions of losses among packets of 1500 bytes that come every `every_us`.
    fn losses(mut model: Renewal, packets: u64, every_us: u64) -> Vec<u64> {
        let mut stream = stream();
        (0..packets).filter(|n| model.drops(&mut stream, Time::from_ns(n * every_us * 1000), 1500)).collect()
    }

    #[test]
    fn constant_gaps_lose_every_so_many_packets_or_bytes() {
        let model =
            Renewal::new(Distribution::Constant { value: 5.0 }, one(), GapUnit::Packets, None, Time::ZERO);
        assert_eq!(losses(model, 20, 1), [4, 9, 14, 19]);
        let model =
            Renewal::new(Distribution::Constant { value: 6000.0 }, one(), GapUnit::Bytes, None, Time::ZERO);
        assert_eq!(losses(model, 12, 1), [3, 7, 11]);
        // 1500 bytes take 12 us at 1 Gbit/s: a point every 60 us is one in five.
        let busy = GapUnit::Busy { rate: Rate::from_bits_per_s(1_000_000_000).unwrap() };
        let model = Renewal::new(Distribution::Constant { value: 60_000.0 }, one(), busy, None, Time::ZERO);
        assert_eq!(losses(model, 10, 1), [4, 9]);
    }

    #[test]
    fn wall_time_loses_a_fixed_number_a_second_whatever_is_offered() {
        let model =
            |gap| Renewal::new(Distribution::Constant { value: gap }, one(), GapUnit::Wall, None, Time::ZERO);
        // A point every 10 ms: the packet at 10 ms, at 20 ms ..., at either rate of packets.
        assert_eq!(losses(model(1e7), 41, 1000), [10, 20, 30, 40]);
        assert_eq!(losses(model(1e7), 401, 100), [100, 200, 300, 400]);
        // Points that no packet came between drop one packet together.
        assert_eq!(losses(model(1e6), 4, 5000), [1, 2, 3]);
    }

    #[test]
    fn a_point_that_does_not_last_spares_packets_that_come_late() {
        // Points at 10 ms, 20 ms, ...; packets at 7 ms, 14 ms, 21 ms, 28 ms, 35 ms, 42 ms.
        let gap = Distribution::Constant { value: 1e7 };
        let lasting = |ms: u64| {
            let lasts = Some(Span::from_ns(ms * 1_000_000));
            losses(Renewal::new(gap.clone(), one(), GapUnit::Wall, lasts, Time::ZERO), 7, 7000)
        };
        assert!(lasting(0).is_empty());
        assert_eq!(lasting(1), [3]);
        assert_eq!(lasting(2), [3, 6]);
        assert_eq!(lasting(4), [2, 3, 6]);
        assert_eq!(lasting(5), [2, 3, 5, 6]);
    }

    #[test]
    fn bursts_take_whole_packets_beside_the_gap() {
        let burst = Distribution::Constant { value: 2.5 };
        let model =
            Renewal::new(Distribution::Constant { value: 4.0 }, burst, GapUnit::Packets, None, Time::ZERO);
        // Three lost from the fourth on; then four more packets to the next point.
        assert_eq!(losses(model, 16, 1), [3, 4, 5, 9, 10, 11, 15]);
    }

    #[test]
    #[cfg_attr(miri, ignore = "statistics of 1,000,000 packets")]
    fn the_share_lost_is_one_over_the_mean_gap_at_three_shapes() {
        const N: u64 = 1_000_000;
        for (gap, sd_over_mean) in [
            (Distribution::Weibull { shape: 2.9, scale: 100.0, location: 0.0 }, 0.3747),
            (Distribution::Exponential { mean: 300.0 }, 1.0),
            (Distribution::Lognormal { mu: 4.0, sigma: 1.0 }, libm::sqrt(libm::exp(1.0) - 1.0)),
        ] {
            let mean = gap.mean();
            let got = losses(Renewal::new(gap, one(), GapUnit::Packets, None, Time::ZERO), N, 1).len() as f64;
            // Renewal theory: N / mean of them, with variance N sd^2 / mean^3.
            let expected = N as f64 / mean;
            let error = libm::sqrt(expected) * sd_over_mean;
            assert!((got - expected).abs() < 4.5 * error + 1.0, "{got} {expected}");
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "statistics of 21,600,000 packets")]
    fn the_measured_losses_of_teragrid_come_1346_times_in_six_hours() {
        // Weibull of shape 2.9 and scale 18 s has a mean of 16.05 s: 21,600 s / 16.05 s.
        let gap = Distribution::Weibull { shape: 2.9, scale: 18e9, location: 0.0 };
        let model = Renewal::new(gap, one(), GapUnit::Wall, None, Time::ZERO);
        let got = losses(model, 21_600_000, 1000).len() as f64;
        let error = libm::sqrt(1346.0) * 0.3747;
        assert!((got - 1346.0).abs() < 4.5 * error, "{got}");
    }
}
