use crate::scoreboard::Record;
use longhaul_congestion::Delivery;
use longhaul_units::{Span, Time};

/// Samples the delivery rate (draft-ietf-ccwg-bbr, section 4.1); names as there, without the C.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sampler {
    pub(crate) delivered: u64,
    delivered_time: Time,
    first_send_time: Time,
    /// Samples of segments sent before `delivered` reaches this are limited by the application.
    app_limited: u64,
    pub(crate) lost: u64,
}

/// A sample in the making: what was so when the newest of the delivered segments left.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RateSample {
    sent: Time,
    sequence: u64,
    first_send_time: Time,
    delivered_time: Time,
    delivered: u64,
    lost: u64,
    in_flight: u32,
    app_limited: bool,
}

impl Sampler {
    /// Section 4.1.2.2: a segment leaves. The record has to remember what the sample needs.
    #[inline]
    pub(crate) fn on_sent(&mut self, now: Time, in_flight: u32, record: &mut Record) {
        if in_flight == 0 {
            self.first_send_time = now;
            self.delivered_time = now;
        }
        record.sent = now;
        record.first_send_time = self.first_send_time;
        record.delivered_time = self.delivered_time;
        record.delivered = self.delivered as u32;
        record.lost = self.lost as u32;
        record.in_flight = in_flight;
        record.set(Record::APP_LIMITED, self.app_limited != 0);
    }

    /// Section 4.1.2.3: a segment is known to have arrived.
    #[inline]
    pub(crate) fn on_delivered(
        &mut self,
        now: Time,
        sequence: u64,
        record: &Record,
        newest: &mut Option<RateSample>,
    ) {
        self.delivered += 1;
        self.delivered_time = now;
        let newer = match newest {
            None => true,
            Some(newest) => (record.sent, sequence) > (newest.sent, newest.sequence),
        };
        if newer {
            *newest = Some(RateSample {
                sent: record.sent,
                sequence,
                first_send_time: record.first_send_time,
                delivered_time: record.delivered_time,
                // The record has the low half; both counters move by less than 2^32 in a round trip.
                delivered: self.delivered - u64::from((self.delivered as u32).wrapping_sub(record.delivered)),
                lost: self.lost - u64::from((self.lost as u32).wrapping_sub(record.lost)),
                in_flight: record.in_flight,
                app_limited: record.has(Record::APP_LIMITED),
            });
            self.first_send_time = record.sent;
        }
    }

    /// The sample of this acknowledgement; none if nothing was delivered, or in less than the smallest
    /// round trip, which retransmissions can feign.
    pub(crate) fn sample(&mut self, newest: &RateSample, min_rtt: Span, newly_lost: u32) -> Option<Delivery> {
        if self.delivered > self.app_limited {
            self.app_limited = 0;
        }
        let send = newest.sent.since(newest.first_send_time);
        let acknowledged = self.delivered_time.since(newest.delivered_time);
        let interval = send.max(acknowledged);
        if interval < min_rtt || interval == Span::ZERO {
            return None;
        }
        let whole = |count: u64| u32::try_from(count).unwrap_or(u32::MAX);
        Some(Delivery {
            delivered: whole(self.delivered - newest.delivered),
            interval,
            prior_delivered: newest.delivered,
            total_delivered: self.delivered,
            in_flight_at_send: newest.in_flight,
            newly_lost,
            lost: whole(self.lost - newest.lost),
            app_limited: newest.app_limited,
        })
    }

    /// Section 4.1.2.4: the sender has run out of data with room left in the window.
    pub(crate) fn set_app_limited(&mut self, in_flight: u32) {
        self.app_limited = (self.delivered + u64::from(in_flight)).max(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn take(
        sampler: &mut Sampler,
        newest: &mut Option<RateSample>,
        least: Span,
        lost: u32,
    ) -> Option<Delivery> {
        sampler.sample(&newest.take()?, least, lost)
    }

    #[test]
    fn ten_segments_in_a_round_trip_of_a_second_are_ten_per_second() {
        let (mut sampler, mut newest) = (Sampler::default(), None);
        let mut records = [Record::default(); 10];
        for (sent, record) in records.iter_mut().enumerate() {
            sampler.on_sent(Time::ZERO, sent as u32, record);
        }
        for (sequence, record) in records.iter().enumerate() {
            sampler.on_delivered(Time::from_ns(1_000_000_000), sequence as u64, record, &mut newest);
        }
        let sample = take(&mut sampler, &mut newest, Span::from_s(1), 0).unwrap();
        assert_eq!((sample.delivered, sample.interval), (10, Span::from_s(1)));
        assert_eq!((sample.prior_delivered, sample.total_delivered), (0, 10));
        assert_eq!(sample.in_flight_at_send, 9);
    }

    #[test]
    fn acknowledgements_that_come_compressed_do_not_raise_the_rate() {
        // Sent over 900 ms, all acknowledged at once: the longer send interval counts.
        let (mut sampler, mut newest) = (Sampler::default(), None);
        let mut records = [Record::default(); 10];
        for (sent, record) in records.iter_mut().enumerate() {
            sampler.on_sent(Time::from_ns(sent as u64 * 100_000_000), sent as u32, record);
        }
        let now = Time::from_ns(1_000_000_000);
        for (sequence, record) in records.iter().enumerate().take(9) {
            sampler.on_delivered(now, sequence as u64, record, &mut newest);
        }
        take(&mut sampler, &mut newest, Span::ZERO, 0).unwrap();
        // The last one's acknowledgement interval began at time 0 too.
        sampler.on_delivered(now, 9, &records[9], &mut newest);
        let sample = take(&mut sampler, &mut newest, Span::ZERO, 0).unwrap();
        assert_eq!((sample.delivered, sample.interval), (10, Span::from_s(1)));
    }

    #[test]
    fn segments_of_an_idle_application_say_so() {
        let (mut sampler, mut newest) = (Sampler::default(), None);
        let mut record = Record::default();
        sampler.set_app_limited(0);
        sampler.on_sent(Time::ZERO, 0, &mut record);
        sampler.on_delivered(Time::from_ns(1000), 0, &record, &mut newest);
        assert!(take(&mut sampler, &mut newest, Span::ZERO, 0).unwrap().app_limited);
        let mut record = Record::default();
        sampler.on_delivered(Time::from_ns(2000), 1, &record, &mut newest);
        take(&mut sampler, &mut newest, Span::ZERO, 0);
        sampler.on_sent(Time::from_ns(3000), 0, &mut record);
        sampler.on_delivered(Time::from_ns(4000), 2, &record, &mut newest);
        assert!(!take(&mut sampler, &mut newest, Span::ZERO, 0).unwrap().app_limited);
    }
}
