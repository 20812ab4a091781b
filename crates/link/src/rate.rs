use crate::Series;
use crate::pipe::Pace;
use longhaul_units::{Rate, Serialiser, Span, Time};
use std::sync::Arc;

/// How fast the wire takes packets.
#[derive(Clone, Debug, PartialEq)]
pub enum RateModel {
    /// At once, so that nothing ever waits.
    Unlimited,
    /// Exactly this fast.
    Constant(Rate),
    /// Each packet at the line's rate, and the next begins when the byte clock of a slower rate says so
    /// (PSPacer; Takano et al., PFLDnet 2005).
    Paced {
        /// The slower rate.
        rate: Rate,
        /// The line's rate; at least the slower rate.
        line: Rate,
    },
    /// A packet goes when the bucket holds tokens for all of it.
    TokenBucket {
        /// How fast the bucket fills. It begins full.
        rate: Rate,
        /// How many bytes it holds. A packet that is larger never goes; it is dropped on arrival.
        burst_bytes: u64,
        /// How fast a packet leaves that has its tokens; `None`: at once.
        peak: Option<Rate>,
    },
    /// Bit/s in steps; a packet goes at the rate of the moment at which it begins, and none begins
    /// while the rate is zero. Some value must be positive.
    Series(Series),
    /// So many bytes at each of a list of moments.
    Opportunities(Opportunities),
}

impl RateModel {
    /// Constant at `bits_per_s`; unlimited for zero.
    pub fn constant(bits_per_s: u64) -> Self {
        Rate::from_bits_per_s(bits_per_s).map_or(RateModel::Unlimited, RateModel::Constant)
    }
}

/// Moments at which a number of bytes may go, for ever repeated (mahimahi's packet-delivery traces;
/// Netravali et al., USENIX ATC 2015). A packet may go in parts; what nobody uses is lost.
#[derive(Clone, Debug, PartialEq)]
pub struct Opportunities {
    times: Arc<[Time]>,
    period: Span,
    bytes: u64,
}

impl Opportunities {
    /// `None` if the times do not ascend, none is after zero, the period is shorter than the last one,
    /// or `bytes` is zero.
    pub fn new(times: &[Time], period: Span, bytes: u64) -> Option<Self> {
        let last = *times.last()?;
        let good = times.windows(2).all(|pair| pair[0] <= pair[1])
            && last > Time::ZERO
            && Time::ZERO + period >= last
            && bytes > 0;
        good.then(|| Opportunities { times: Arc::from(times), period, bytes })
    }

    fn time(&self, number: u64) -> Time {
        let count = self.times.len() as u64;
        let begun = Span::from_ps((number / count).saturating_mul(self.period.ps()));
        self.times[(number % count) as usize] + begun
    }

    fn first_from(&self, from: Time) -> u64 {
        let count = self.times.len() as u64;
        let round = from.since(Time::ZERO).ps() / self.period.ps();
        // The last moment of a round may be the first of the next.
        let mut number = round.saturating_sub(1) * count
            + self.times.partition_point(|&time| time < Time::ZERO + self.period) as u64;
        if round == 0 {
            number = 0;
        }
        let phase = Time::ZERO + Span::from_ps(from.since(Time::ZERO).ps() % self.period.ps());
        if self.time(number) < from {
            number = round * count + self.times.partition_point(|&time| time < phase) as u64;
        }
        number
    }
}

/// What each packet occupies the wire for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Framing {
    /// Bytes beyond the packet's own: 38 for Ethernet with preamble, header, FCS and gap.
    pub overhead_bytes: u32,
    /// Least bytes with them: 84 for Ethernet.
    pub least_bytes: u32,
    /// Payload of a cell and the whole of it: (48, 53) for ATM; `None`: no cells.
    pub cells: Option<(u32, u32)>,
}

impl Framing {
    /// The same without cells.
    pub(crate) fn without_cells(self) -> Self {
        Framing { cells: None, ..self }
    }

    /// Bytes on the wire of a packet of `bytes`.
    #[inline]
    pub fn framed(&self, bytes: u32) -> u32 {
        let whole = bytes.saturating_add(self.overhead_bytes).max(self.least_bytes);
        match self.cells {
            Some((payload, cell)) if payload > 0 => whole.div_ceil(payload).saturating_mul(cell),
            _ => whole,
        }
    }
}

/// When packets may begin to leave, and when their last bits have left.
#[derive(Debug)]
pub(crate) struct Gate {
    model: RateModel,
    /// The wire.
    wire: Serialiser,
    /// The byte clock of pacing.
    clock: Serialiser,
    /// Tokens in units of 10^-12 bit, as of `filled`.
    tokens: u128,
    filled: Time,
    /// The opportunity that was used last, and what is left of it.
    opportunity: Option<(u64, u64)>,
    /// The rate of the packet before, whose fraction is carried.
    before: Option<Rate>,
}

const PS_PER_S: u128 = 1_000_000_000_000;

impl Gate {
    pub(crate) fn new(model: RateModel) -> Self {
        let tokens = match model {
            RateModel::TokenBucket { burst_bytes, .. } => token_units(burst_bytes),
            _ => 0,
        };
        Gate {
            model,
            wire: Serialiser::default(),
            clock: Serialiser::default(),
            tokens,
            filled: Time::ZERO,
            opportunity: None,
            before: None,
        }
    }

    /// Another model for the packets to come; the one on the wire finishes as it began.
    pub(crate) fn change(&mut self, now: Time, model: RateModel) {
        if model == self.model {
            return;
        }
        // Nothing that waits begins by the new model before it holds.
        let free_at = self.free_at().max(now);
        *self = Gate { filled: now, ..Gate::new(model) };
        self.hold_until(free_at);
    }

    /// When the next packet may be chosen.
    pub(crate) fn free_at(&self) -> Time {
        match self.model {
            RateModel::Paced { .. } => self.clock.busy_until(),
            _ => self.wire.busy_until(),
        }
    }

    /// Nothing begins before `time`.
    pub(crate) fn hold_until(&mut self, time: Time) {
        self.wire.hold_until(time);
        self.clock.hold_until(time);
    }

    /// Whether a packet of so many bytes on the wire can ever go.
    pub(crate) fn admits(&self, bytes: u32) -> bool {
        match self.model {
            RateModel::TokenBucket { burst_bytes, .. } => u64::from(bytes) <= burst_bytes,
            _ => true,
        }
    }

    /// Whether the next packet always begins when the one before has left, which is on the wire then.
    pub(crate) fn is_steady(&self) -> bool {
        matches!(self.model, RateModel::Constant(_))
    }

    /// How long bytes take, if it is always the same.
    pub(crate) fn pace(&self) -> Option<Pace> {
        const PS_PER_S_AND_BYTE: u64 = 8_000_000_000_000;
        match self.model {
            RateModel::Unlimited => Some(Pace::PerByte(0)),
            RateModel::Constant(rate) if PS_PER_S_AND_BYTE.is_multiple_of(rate.bits_per_s()) => {
                Some(Pace::PerByte(PS_PER_S_AND_BYTE / rate.bits_per_s()))
            }
            RateModel::Constant(rate) => Some(Pace::Rate(rate)),
            _ => None,
        }
    }

    /// Goes on with a wire as another gate of the same rate left it.
    pub(crate) fn resume(&mut self, wire: Serialiser) {
        self.wire = wire;
    }

    /// When a packet that was chosen at `from`, not before [`free_at`](Self::free_at), begins.
    pub(crate) fn start(&self, from: Time, bytes: u32) -> Time {
        match &self.model {
            RateModel::Unlimited | RateModel::Constant(_) | RateModel::Paced { .. } => from,
            RateModel::TokenBucket { rate, burst_bytes, .. } => {
                let need = token_units(u64::from(bytes));
                let have = self.tokens_at(from, *rate, *burst_bytes);
                let lacking = need.saturating_sub(have).div_ceil(u128::from(rate.bits_per_s()));
                from + Span::from_ps(u64::try_from(lacking).unwrap_or(u64::MAX))
            }
            RateModel::Series(series) => {
                let mut at = from;
                for _ in 0..=series.len() {
                    if series.step(at) > 0 || at == Time::NEVER {
                        return at;
                    }
                    at = series.next_point(at);
                }
                Time::NEVER
            }
            RateModel::Opportunities(list) => match self.opportunity {
                Some((number, left)) if left > 0 && list.time(number) >= from => list.time(number),
                Some((number, _)) => list.time(list.first_from(from).max(number + 1)),
                None => list.time(list.first_from(from)),
            },
        }
    }

    /// Sends a packet that begins at `start`; returns when its last bit has left.
    pub(crate) fn send(&mut self, start: Time, bytes: u32) -> Time {
        match &self.model {
            RateModel::Unlimited => start,
            RateModel::Constant(rate) => self.wire.send(start, bytes, *rate),
            RateModel::Paced { rate, line } => {
                self.clock.send(start, bytes, *rate);
                self.wire.send(start, bytes, *line)
            }
            RateModel::TokenBucket { rate, burst_bytes, peak } => {
                let have = self.tokens_at(start, *rate, *burst_bytes);
                self.tokens = have.saturating_sub(token_units(u64::from(bytes)));
                self.filled = start;
                match peak {
                    Some(peak) => self.wire.send(start, bytes, *peak),
                    None => {
                        self.wire.hold_until(start);
                        start
                    }
                }
            }
            RateModel::Series(series) => {
                let rate = Rate::from_bits_per_s(series.step(start));
                if rate != self.before {
                    self.wire.change_rate();
                    self.before = rate;
                }
                match rate {
                    Some(rate) => self.wire.send(start, bytes, rate),
                    None => start,
                }
            }
            RateModel::Opportunities(list) => {
                let (mut number, mut left) = match self.opportunity {
                    Some((number, left)) if left > 0 && list.time(number) == start => (number, left),
                    Some((number, _)) => (list.first_from(start).max(number + 1), list.bytes),
                    None => (list.first_from(start), list.bytes),
                };
                let mut rest = u64::from(bytes);
                while rest > left {
                    rest -= left;
                    number += 1;
                    left = list.bytes;
                }
                self.opportunity = Some((number, left - rest));
                let end = list.time(number);
                self.wire.hold_until(end);
                end
            }
        }
    }

    /// How long a packet of so many bytes takes, for averages over idle times; a millisecond where the
    /// model does not say.
    pub(crate) fn typical_time(&self, bytes: u32) -> Span {
        match &self.model {
            RateModel::Constant(rate)
            | RateModel::Paced { rate, .. }
            | RateModel::TokenBucket { rate, .. } => rate.time_for(u64::from(bytes)),
            _ => Span::from_ms(1),
        }
    }

    fn tokens_at(&self, at: Time, rate: Rate, burst_bytes: u64) -> u128 {
        let elapsed = u128::from(at.since(self.filled).ps());
        let filled = self.tokens.saturating_add(elapsed.saturating_mul(u128::from(rate.bits_per_s())));
        filled.min(token_units(burst_bytes))
    }
}

fn token_units(bytes: u64) -> u128 {
    u128::from(bytes) * 8 * PS_PER_S
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mbit(n: u64) -> Rate {
        Rate::from_bits_per_s(n * 1_000_000).unwrap()
    }

    fn us(n: u64) -> Time {
        Time::from_ns(n * 1000)
    }

    /// Ends of packets of `bytes` that all wait from the start.
    fn ends(model: RateModel, bytes: u32, count: usize) -> Vec<Time> {
        let mut gate = Gate::new(model);
        (0..count)
            .map(|_| {
                let start = gate.start(gate.free_at(), bytes);
                gate.send(start, bytes)
            })
            .collect()
    }

    #[test]
    fn pacing_spaces_packets_by_the_slower_rate_to_the_nanosecond_carry() {
        // 1500 bytes: 12 us at 1 Gbit/s, and one every 40 us at 300 Mbit/s.
        let got = ends(RateModel::Paced { rate: mbit(300), line: mbit(1000) }, 1500, 1001);
        assert_eq!(got[0], us(12));
        assert_eq!(got[1000], us(12 + 40_000));
        // 700 Mbit/s does not divide 12,000 bits; after 1000 packets not a picosecond is missing.
        let got = ends(RateModel::Paced { rate: mbit(700), line: mbit(1000) }, 1500, 1001);
        assert_eq!(got[1000].ps() - got[0].ps(), 12_000_000 * 1_000_000 / 700);
    }

    #[test]
    fn a_bucket_lets_its_burst_go_at_the_peak_and_the_rest_at_its_rate() {
        // 10 packets fit the bucket: back to back at 1 Gbit/s; then one per 120 us at 100 Mbit/s.
        let model = RateModel::TokenBucket { rate: mbit(100), burst_bytes: 15_000, peak: Some(mbit(1000)) };
        let got = ends(model, 1500, 40);
        assert_eq!(got[9], us(120));
        // While 10 packets went in 120 us, tokens for one more came: 11 at the peak.
        assert_eq!(got[10], us(132));
        assert_eq!(got[30].since(got[20]), Span::from_us(1200));
    }

    #[test]
    #[cfg_attr(miri, ignore = "20,000 packets")]
    fn the_bucket_of_15_400_000_bytes_is_no_limit_for_the_first_123_ms() {
        // eWAN's configuration gives tbf a burst of 15,400,000 bytes where 15,400 was meant: at 1 Gbit/s
        // of line it sends 10,266 packets back to back before 500 Mbit/s begins to hold.
        let big = RateModel::TokenBucket { rate: mbit(500), burst_bytes: 15_400_000, peak: Some(mbit(1000)) };
        let got = ends(big, 1500, 20_000);
        assert_eq!(got[10_000], us(12 * 10_001));
        let small = RateModel::TokenBucket { rate: mbit(500), burst_bytes: 15_400, peak: Some(mbit(1000)) };
        assert_eq!(ends(small, 1500, 101)[100].since(ends(small_again(), 1500, 51)[50]), Span::from_us(1200));
        fn small_again() -> RateModel {
            RateModel::TokenBucket { rate: mbit(500), burst_bytes: 15_400, peak: Some(mbit(1000)) }
        }
    }

    #[test]
    fn a_packet_larger_than_the_bucket_is_not_admitted() {
        let gate = Gate::new(RateModel::TokenBucket { rate: mbit(1), burst_bytes: 1499, peak: None });
        assert!(gate.admits(1499) && !gate.admits(1500));
    }

    #[test]
    fn a_rate_of_zero_waits_for_the_next_point() {
        let points = [(Time::ZERO, 8_000_000), (us(1000), 0), (us(5000), 16_000_000)];
        let got = ends(RateModel::Series(Series::new(&points, None).unwrap()), 500, 4);
        // 500 us each at 8 Mbit/s; the third begins when the outage does, and waits for its end.
        assert_eq!(got, [us(500), us(1000), us(5250), us(5500)]);
    }

    #[test]
    fn opportunities_carry_parts_of_packets_and_small_ones_together() {
        let list = Opportunities::new(&[us(1000), us(3000), us(3000)], Span::from_us(3000), 1500).unwrap();
        // One packet of 1500 each: at 1, 3, 3 ms, and again 3 ms later.
        let got = ends(RateModel::Opportunities(list.clone()), 1500, 6);
        assert_eq!(got, [us(1000), us(3000), us(3000), us(4000), us(6000), us(6000)]);
        // Three of 500 share one; one of 2000 ends in the next.
        let got = ends(RateModel::Opportunities(list.clone()), 500, 4);
        assert_eq!(got, [us(1000), us(1000), us(1000), us(3000)]);
        let got = ends(RateModel::Opportunities(list), 2000, 2);
        assert_eq!(got, [us(3000), us(3000)]);
    }

    #[test]
    fn an_opportunity_that_nobody_used_is_gone() {
        let list = Opportunities::new(&[us(1000), us(2000)], Span::from_us(2000), 1500).unwrap();
        let mut gate = Gate::new(RateModel::Opportunities(list));
        let start = gate.start(us(1001), 100);
        assert_eq!(start, us(2000));
        gate.send(start, 100);
        assert_eq!(gate.start(us(2500), 100), us(3000));
        // At the very moment, it may still be used.
        assert_eq!(gate.start(us(4000), 100), us(4000));
    }

    #[test]
    fn cells_are_whole() {
        let ethernet = Framing { overhead_bytes: 38, least_bytes: 84, cells: None };
        assert_eq!((ethernet.framed(40), ethernet.framed(46), ethernet.framed(1500)), (84, 84, 1538));
        // AAL5: 8 bytes of trailer, then cells of 48 in 53. 40 + 8 fill exactly one.
        let atm = Framing { overhead_bytes: 8, least_bytes: 0, cells: Some((48, 53)) };
        assert_eq!((atm.framed(40), atm.framed(41), atm.framed(1500)), (53, 106, 32 * 53));
    }
}
