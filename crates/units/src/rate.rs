use crate::{Span, Time};

const PS_PER_S: u64 = 1_000_000_000_000;

/// A bit rate, in bit/s; at least 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rate(u64);

impl Rate {
    /// The fastest.
    pub const MAX: Rate = Rate(u64::MAX);

    /// `bits` per second, or `None` for zero: a link that carries nothing is a link that is down.
    pub const fn from_bits_per_s(bits: u64) -> Option<Self> {
        if bits == 0 { None } else { Some(Rate(bits)) }
    }

    /// Bits per second.
    pub const fn bits_per_s(self) -> u64 {
        self.0
    }

    /// How long `bytes` last at this rate, rounded down to the picosecond.
    pub fn time_for(self, bytes: u64) -> Span {
        let ps = u128::from(bytes) * 8 * u128::from(PS_PER_S) / u128::from(self.0);
        Span::from_ps(u64::try_from(ps).unwrap_or(u64::MAX))
    }

    /// How many whole bytes pass in `span`.
    pub fn bytes_in(self, span: Span) -> u64 {
        let bytes = u128::from(span.ps()) * u128::from(self.0) / (8 * u128::from(PS_PER_S));
        u64::try_from(bytes).unwrap_or(u64::MAX)
    }
}

/// Puts packets onto a wire one after another, exactly.
///
/// While the wire stays busy the fraction of a picosecond that each division leaves is carried to
/// the next packet, so that a burst of `n` packets ends exactly when one packet of their total
/// size would end (rounded down once). An idle wire starts afresh.
#[derive(Clone, Copy, Debug, Default)]
pub struct Serialiser {
    busy_until: Time,
    /// Numerator of the carried fraction of a picosecond; the denominator is the rate in bit/s.
    remainder: u64,
}

impl Serialiser {
    /// When the last bit of the last packet leaves. A packet offered before then has to wait.
    pub const fn busy_until(&self) -> Time {
        self.busy_until
    }

    /// Sends `bytes` at `rate`, not before `earliest`, and returns when the last bit has left.
    pub fn send(&mut self, earliest: Time, bytes: u32, rate: Rate) -> Time {
        if earliest > self.busy_until {
            self.busy_until = earliest;
            self.remainder = 0;
        }
        // Less than 2^32 bytes * 8 * 10^12 fits u128 only, but real packets fit u64: 64 KiB is 5.2e17.
        let product = match u64::from(bytes).checked_mul(8 * PS_PER_S) {
            Some(product) if product <= u64::MAX - self.remainder => u128::from(product + self.remainder),
            _ => u128::from(bytes) * 8 * u128::from(PS_PER_S) + u128::from(self.remainder),
        };
        let (quotient, remainder) = if let Ok(small) = u64::try_from(product) {
            (small / rate.0, small % rate.0)
        } else {
            let quotient = product / u128::from(rate.0);
            let remainder = product % u128::from(rate.0);
            (u64::try_from(quotient).unwrap_or(u64::MAX), remainder as u64)
        };
        self.remainder = remainder;
        self.busy_until += Span::from_ps(quotient);
        self.busy_until
    }

    /// Sends something that takes a whole number of picoseconds, not before `earliest`, and returns when
    /// its last bit has left. For a rate at which every byte does: then nothing is ever carried.
    #[inline]
    pub fn send_for(&mut self, earliest: Time, takes: Span) -> Time {
        self.busy_until = earliest.max(self.busy_until) + takes;
        self.busy_until
    }

    /// Keeps the wire idle until `time` (a link that was down), forgetting the carried fraction.
    pub fn hold_until(&mut self, time: Time) {
        if time > self.busy_until {
            self.busy_until = time;
            self.remainder = 0;
        }
    }

    /// Forgets the carried fraction, which belongs to the rate that is about to change.
    pub fn change_rate(&mut self) {
        self.remainder = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_of_zero_cannot_be_said() {
        assert_eq!(Rate::from_bits_per_s(0), None);
    }

    #[test]
    fn one_byte_at_ten_gigabit_lasts_800_picoseconds() {
        let rate = Rate::from_bits_per_s(10_000_000_000).unwrap();
        assert_eq!(rate.time_for(1), Span::from_ps(800));
        assert_eq!(rate.bytes_in(Span::from_s(1)), 1_250_000_000);
    }

    #[test]
    fn n_packets_last_exactly_as_long_as_their_sum() {
        // 1500 bytes at 7 bit/s never divide evenly: 12,000 bit / 7.
        let rate = Rate::from_bits_per_s(7_000_000_003).unwrap();
        let mut wire = Serialiser::default();
        let mut end = Time::ZERO;
        for _ in 0..1_000_000 {
            end = wire.send(Time::ZERO, 1500, rate);
        }
        assert_eq!(end, Time::ZERO + rate.time_for(1_500_000_000));
    }

    #[test]
    fn an_idle_wire_starts_a_packet_at_once() {
        let rate = Rate::from_bits_per_s(1_000_000_000).unwrap();
        let mut wire = Serialiser::default();
        wire.send(Time::ZERO, 125, rate);
        assert_eq!(wire.send(Time::from_ns(5_000), 125, rate), Time::from_ns(6_000));
    }

    #[test]
    fn a_jumbo_super_packet_at_one_bit_per_second_does_not_overflow() {
        let rate = Rate::from_bits_per_s(1).unwrap();
        let mut wire = Serialiser::default();
        assert_eq!(wire.send(Time::ZERO, 65_536, rate), Time::from_ns(65_536 * 8 * 1_000_000_000));
    }
}
