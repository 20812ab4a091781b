use crate::Series;
use crate::pipe::Pace;
use longhaul_units::{InvalidValue, Rate, Serialiser, Span, Time, checked_when_read};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::num::{NonZeroU32, NonZeroU64};
use std::sync::Arc;

/// A model of the rate at which the wire takes packets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self", tag = "model", rename_all = "kebab-case", deny_unknown_fields)]
pub enum RateModel {
    /// Packets take no time.
    Unlimited {},
    /// A constant rate.
    Constant {
        /// That rate.
        #[serde(rename = "bits_per_s")]
        rate: Rate,
    },
    /// Each packet at the line's rate; the next begins when the byte clock of a slower rate allows it
    /// (PSPacer; Takano et al., PFLDnet 2005).
    Paced {
        /// The slower rate.
        #[serde(rename = "bits_per_s")]
        rate: Rate,
        /// The line's rate; at least the slower rate.
        #[serde(rename = "line_bits_per_s")]
        line: Rate,
    },
    /// A token bucket, full at the start: a packet leaves when there are tokens for all of it.
    TokenBucket {
        /// Rate at which the bucket fills.
        #[serde(rename = "bits_per_s")]
        rate: Rate,
        /// Capacity of the bucket. Larger packets are dropped on arrival.
        burst_bytes: NonZeroU64,
        /// Rate at which a packet with tokens leaves, at least `rate`; `None`: at once.
        #[serde(rename = "peak_bits_per_s")]
        peak: Option<Rate>,
    },
    /// A time series; a packet leaves at the rate of the instant at which it begins, and none begins while
    /// the rate is zero.
    Series(RateSeries),
    /// A fixed number of bytes at each of a list of instants.
    Opportunities(Opportunities),
}

checked_when_read!(RateModel);

impl RateModel {
    /// A constant rate.
    pub const fn constant(rate: Rate) -> Self {
        RateModel::Constant { rate }
    }

    /// The mean rate in bit/s, of a series the mean of its points; `None`: unlimited.
    pub fn mean_bits_per_s(&self) -> Option<u64> {
        match self {
            RateModel::Unlimited {} => None,
            RateModel::Constant { rate }
            | RateModel::Paced { rate, .. }
            | RateModel::TokenBucket { rate, .. } => Some(rate.bits_per_s()),
            RateModel::Series(RateSeries(series)) => {
                let sum: u128 = series.points().iter().map(|point| u128::from(point.1)).sum();
                Some((sum / series.points().len() as u128) as u64)
            }
            RateModel::Opportunities(list) => {
                let bits = list.times.len() as u128 * u128::from(list.bytes) * 8 * PS_PER_S;
                Some((bits / u128::from(list.period.ps())) as u64)
            }
        }
    }

    /// The rules between the fields.
    ///
    /// # Errors
    /// The first rule that is broken.
    pub fn check(&self) -> Result<(), InvalidValue> {
        match self {
            RateModel::Paced { rate, line } if line < rate => {
                Err(InvalidValue::new("line_bits_per_s", "must be at least the paced rate"))
            }
            RateModel::TokenBucket { rate, peak: Some(peak), .. } if peak < rate => {
                Err(InvalidValue::new("peak_bits_per_s", "must be at least the rate"))
            }
            _ => Ok(()),
        }
    }
}

/// Rates in bit/s, in steps; at least one of them is positive.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "RatePoints", into = "RatePoints")]
pub struct RateSeries(Series);

/// [`RateSeries`] as it is written.
#[derive(Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct RatePoints {
    points: Arc<[(Time, u64)]>,
    repeat_ns: Option<Span>,
}

impl TryFrom<Series> for RateSeries {
    type Error = InvalidValue;

    fn try_from(series: Series) -> Result<Self, InvalidValue> {
        if series.points().iter().all(|point| point.1 == 0) {
            let rule = "must have a rate above 0; a link that carries nothing is down";
            return Err(InvalidValue::new("points", rule));
        }
        Ok(RateSeries(series))
    }
}

impl TryFrom<RatePoints> for RateSeries {
    type Error = InvalidValue;

    fn try_from(written: RatePoints) -> Result<Self, InvalidValue> {
        Series::new(&written.points, written.repeat_ns)?.try_into()
    }
}

impl From<RateSeries> for RatePoints {
    fn from(RateSeries(series): RateSeries) -> Self {
        RatePoints { points: Arc::from(series.points()), repeat_ns: series.period() }
    }
}

/// Instants at which a number of bytes may leave, repeated forever (mahimahi's packet-delivery traces;
/// Netravali et al., USENIX ATC 2015). A packet may leave in parts; unused bytes are lost.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "OpportunityTimes", into = "OpportunityTimes")]
pub struct Opportunities {
    times: Arc<[Time]>,
    period: Span,
    bytes: u64,
}

/// [`Opportunities`] as they are written.
#[derive(Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct OpportunityTimes {
    times_ns: Arc<[Time]>,
    repeat_ns: Span,
    bytes: u64,
}

impl TryFrom<OpportunityTimes> for Opportunities {
    type Error = InvalidValue;

    fn try_from(written: OpportunityTimes) -> Result<Self, InvalidValue> {
        Opportunities::new(&written.times_ns, written.repeat_ns, written.bytes)
    }
}

impl From<Opportunities> for OpportunityTimes {
    fn from(list: Opportunities) -> Self {
        OpportunityTimes { times_ns: list.times, repeat_ns: list.period, bytes: list.bytes }
    }
}

impl Opportunities {
    /// `bytes` at each of `times`, which ascend, again after each `period`.
    ///
    /// # Errors
    /// If the times do not ascend, none is after zero, the period is shorter than the last one, or `bytes` is
    /// zero.
    pub fn new(times: &[Time], period: Span, bytes: u64) -> Result<Self, InvalidValue> {
        if !times.is_sorted() {
            return Err(InvalidValue::new("times_ns", "must be in ascending order"));
        }
        match times.last() {
            None | Some(&Time::ZERO) => Err(InvalidValue::new("times_ns", "must have a time after 0")),
            Some(&last) if Time::ZERO + period < last => {
                Err(InvalidValue::new("repeat_ns", "must be at least the last time"))
            }
            _ if bytes == 0 => Err(InvalidValue::new("bytes", "must be positive")),
            _ => Ok(Opportunities { times: Arc::from(times), period, bytes }),
        }
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Framing {
    /// Bytes added to each packet: 38 for Ethernet with preamble, header, FCS and gap; 42 with a VLAN
    /// tag; 0 to count IP bytes alone.
    pub overhead_bytes: u32,
    /// Least bytes with that overhead: 84 for Ethernet.
    pub least_bytes: u32,
    /// The cells that a packet is cut into; `None`: it is sent whole.
    pub cells: Option<Cells>,
}

/// Cells as ATM has them: 48 bytes of payload in 53.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self", deny_unknown_fields)]
pub struct Cells {
    /// Bytes of payload in a cell.
    pub payload_bytes: NonZeroU32,
    /// Bytes of a cell; at least its payload.
    pub cell_bytes: u32,
}

checked_when_read!(Cells);

impl Cells {
    /// The rule between the fields.
    ///
    /// # Errors
    /// If a cell is smaller than its payload.
    pub fn check(&self) -> Result<(), InvalidValue> {
        if self.cell_bytes < self.payload_bytes.get() {
            return Err(InvalidValue::new("cell_bytes", "must be at least the payload"));
        }
        Ok(())
    }
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
            Some(cells) => whole.div_ceil(cells.payload_bytes.get()).saturating_mul(cells.cell_bytes),
            None => whole,
        }
    }
}

/// When packets may begin to leave, and when their last bits have left.
#[derive(Debug)]
pub(crate) struct Shaper {
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

impl Shaper {
    pub(crate) fn new(model: RateModel) -> Self {
        let tokens = match model {
            RateModel::TokenBucket { burst_bytes, .. } => token_units(burst_bytes.get()),
            _ => 0,
        };
        Shaper {
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
        *self = Shaper { filled: now, ..Shaper::new(model) };
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
            RateModel::TokenBucket { burst_bytes, .. } => u64::from(bytes) <= burst_bytes.get(),
            _ => true,
        }
    }

    /// Whether the next packet always begins when the one before has left, which is on the wire then.
    pub(crate) fn is_steady(&self) -> bool {
        matches!(self.model, RateModel::Constant { .. })
    }

    /// How long bytes take, if it is always the same.
    pub(crate) fn pace(&self) -> Option<Pace> {
        const PS_PER_S_AND_BYTE: u64 = 8_000_000_000_000;
        match self.model {
            RateModel::Unlimited {} => Some(Pace::PerByte(0)),
            RateModel::Constant { rate } if PS_PER_S_AND_BYTE.is_multiple_of(rate.bits_per_s()) => {
                Some(Pace::PerByte(PS_PER_S_AND_BYTE / rate.bits_per_s()))
            }
            RateModel::Constant { rate } => Some(Pace::Rate(rate)),
            _ => None,
        }
    }

    /// Goes on with a wire as another shaper of the same rate left it.
    pub(crate) fn resume(&mut self, wire: Serialiser) {
        self.wire = wire;
    }

    /// When a packet that was chosen at `from`, not before [`free_at`](Self::free_at), begins.
    pub(crate) fn start(&self, from: Time, bytes: u32) -> Time {
        match &self.model {
            RateModel::Unlimited {} | RateModel::Constant { .. } | RateModel::Paced { .. } => from,
            RateModel::TokenBucket { rate, burst_bytes, .. } => {
                let need = token_units(u64::from(bytes));
                let have = self.tokens_at(from, *rate, burst_bytes.get());
                let lacking = need.saturating_sub(have).div_ceil(u128::from(rate.bits_per_s()));
                from + Span::from_ps(u64::try_from(lacking).unwrap_or(u64::MAX))
            }
            RateModel::Series(RateSeries(series)) => {
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
            RateModel::Unlimited {} => start,
            RateModel::Constant { rate } => self.wire.send(start, bytes, *rate),
            RateModel::Paced { rate, line } => {
                self.clock.send(start, bytes, *rate);
                self.wire.send(start, bytes, *line)
            }
            RateModel::TokenBucket { rate, burst_bytes, peak } => {
                let have = self.tokens_at(start, *rate, burst_bytes.get());
                self.tokens = have.saturating_sub(token_units(u64::from(bytes)));
                self.filled = start;
                if let Some(peak) = peak {
                    self.wire.send(start, bytes, *peak)
                } else {
                    self.wire.hold_until(start);
                    start
                }
            }
            RateModel::Series(RateSeries(series)) => {
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
            RateModel::Constant { rate }
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
        let mut shaper = Shaper::new(model);
        (0..count)
            .map(|_| {
                let start = shaper.start(shaper.free_at(), bytes);
                shaper.send(start, bytes)
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
        let model = RateModel::TokenBucket {
            rate: mbit(100),
            burst_bytes: NonZeroU64::new(15_000).unwrap(),
            peak: Some(mbit(1000)),
        };
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
        let big = RateModel::TokenBucket {
            rate: mbit(500),
            burst_bytes: NonZeroU64::new(15_400_000).unwrap(),
            peak: Some(mbit(1000)),
        };
        let got = ends(big, 1500, 20_000);
        assert_eq!(got[10_000], us(12 * 10_001));
        let small = || RateModel::TokenBucket {
            rate: mbit(500),
            burst_bytes: NonZeroU64::new(15_400).unwrap(),
            peak: Some(mbit(1000)),
        };
        assert_eq!(ends(small(), 1500, 101)[100].since(ends(small(), 1500, 51)[50]), Span::from_us(1200));
    }

    #[test]
    fn a_packet_larger_than_the_bucket_is_not_admitted() {
        let shaper = Shaper::new(RateModel::TokenBucket {
            rate: mbit(1),
            burst_bytes: NonZeroU64::new(1499).unwrap(),
            peak: None,
        });
        assert!(shaper.admits(1499) && !shaper.admits(1500));
    }

    #[test]
    fn a_rate_of_zero_waits_for_the_next_point() {
        let points = [(Time::ZERO, 8_000_000), (us(1000), 0), (us(5000), 16_000_000)];
        let got = ends(
            RateModel::Series(Series::new(&points, None).and_then(RateSeries::try_from).unwrap()),
            500,
            4,
        );
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
        let mut shaper = Shaper::new(RateModel::Opportunities(list));
        let start = shaper.start(us(1001), 100);
        assert_eq!(start, us(2000));
        shaper.send(start, 100);
        assert_eq!(shaper.start(us(2500), 100), us(3000));
        // At the very moment, it may still be used.
        assert_eq!(shaper.start(us(4000), 100), us(4000));
    }

    #[test]
    fn cells_are_whole() {
        let ethernet = Framing { overhead_bytes: 38, least_bytes: 84, cells: None };
        assert_eq!((ethernet.framed(40), ethernet.framed(46), ethernet.framed(1500)), (84, 84, 1538));
        // AAL5: 8 bytes of trailer, then cells of 48 in 53. 40 + 8 fill exactly one.
        let atm = Framing {
            overhead_bytes: 8,
            least_bytes: 0,
            cells: Some(Cells { payload_bytes: NonZeroU32::new(48).unwrap(), cell_bytes: 53 }),
        };
        assert_eq!((atm.framed(40), atm.framed(41), atm.framed(1500)), (53, 106, 32 * 53));
    }
}
