use crate::fluid::{span, time};
use longhaul_congestion::{
    Ack, Algorithm, AlgorithmSettings, Cause, Congestion, CongestionControl, Delivery, Pacing,
};
use longhaul_random::{Seed, Stream};
use std::collections::VecDeque;

/// A bottleneck between two endless lines.
#[derive(Clone, Copy, Debug)]
pub struct Line {
    pub base_s: f64,
    /// Segments per second.
    pub capacity: f64,
    /// Segments that wait at most.
    pub buffer: f64,
    /// A segment that finds more waiting is marked.
    pub mark_above: f64,
    /// Chance of each segment to be lost.
    pub loss: f64,
}

impl Line {
    pub fn new(base_s: f64) -> Self {
        Line { base_s, capacity: 1_000.0, buffer: 1e9, mark_above: f64::INFINITY, loss: 0.0 }
    }
}

#[derive(Clone, Copy, Debug)]
struct Segment {
    number: u64,
    sent_s: f64,
    /// When its acknowledgement arrives; `None`: it was lost.
    acked_s: Option<f64>,
    marked: bool,
    first_sent_s: f64,
    delivered: u64,
    delivered_s: f64,
    lost: u64,
    in_flight: u32,
}

/// Segments one by one through a bottleneck, paced and acknowledged one by one. A loss shows when the next
/// segment is acknowledged; its data are not retransmitted, since nobody reads them.
pub struct Pipe {
    pub control: Algorithm,
    pub line: Line,
    pub now_s: f64,
    pub delivered: u64,
    pub lost: u64,
    pub queue_peak: f64,
    in_flight: VecDeque<Segment>,
    next: u64,
    paced_s: f64,
    busy_s: f64,
    delivered_s: f64,
    first_sent_s: f64,
    min_rtt_s: f64,
    srtt_s: f64,
    /// The recovery under way: losses of segments before the first number belong to it, and it ends with the
    /// acknowledgement of the second.
    recover: Option<(u64, u64)>,
    chance: Stream,
}

impl Pipe {
    pub fn new(settings: &AlgorithmSettings, line: Line) -> Self {
        let mut chance = Seed::new(3).stream("pipe");
        let mut control = Algorithm::new(settings, 10.0);
        control.on_start(&mut chance);
        Pipe {
            control,
            line,
            now_s: 1.0,
            delivered: 0,
            lost: 0,
            queue_peak: 0.0,
            in_flight: VecDeque::new(),
            next: 0,
            paced_s: 1.0,
            busy_s: 1.0,
            delivered_s: 1.0,
            first_sent_s: 1.0,
            min_rtt_s: f64::INFINITY,
            srtt_s: 0.0,
            recover: None,
            chance,
        }
    }

    /// Segments waiting.
    pub fn queue(&self) -> f64 {
        (self.busy_s - self.now_s).max(0.0) * self.line.capacity
    }

    fn may_send(&self) -> bool {
        self.in_flight.len() as f64 + 1.0 <= self.control.window()
    }

    fn send(&mut self) {
        self.now_s = self.now_s.max(self.paced_s);
        self.control.on_sent(time(self.now_s), self.in_flight.len() as u32);
        if let Pacing::SegmentsPerSecond(rate) = self.control.pacing() {
            assert!(rate > 0.0);
            self.paced_s = self.now_s + 1.0 / rate;
        }
        if self.in_flight.is_empty() {
            (self.first_sent_s, self.delivered_s) = (self.now_s, self.now_s);
        }
        let queue = self.queue();
        self.queue_peak = self.queue_peak.max(queue);
        let lost = queue > self.line.buffer || self.chance.uniform() < self.line.loss;
        if !lost {
            self.busy_s = self.busy_s.max(self.now_s) + 1.0 / self.line.capacity;
        }
        self.in_flight.push_back(Segment {
            number: self.next,
            sent_s: self.now_s,
            acked_s: (!lost).then_some(self.busy_s + self.line.base_s),
            marked: queue > self.line.mark_above,
            first_sent_s: self.first_sent_s,
            delivered: self.delivered,
            delivered_s: self.delivered_s,
            lost: self.lost,
            in_flight: self.in_flight.len() as u32 + 1,
        });
        self.next += 1;
    }

    fn congest(&mut self, cause: Cause, in_flight: u32) {
        if self.recover.is_some() {
            return;
        }
        self.recover = Some((self.next, self.next));
        self.control.on_congestion(&Congestion {
            now: time(self.now_s),
            cause,
            in_flight,
            min_rtt: span(self.min_rtt_s),
            srtt: span(self.srtt_s),
            next_sequence: self.next,
        });
    }

    fn acknowledge(&mut self) {
        let outstanding = self.in_flight.len() as u32;
        let mut newly_lost = 0;
        while let Some(front) = self.in_flight.front()
            && front.acked_s.is_none()
        {
            // A loss of this recovery is repaired one round trip from now, which ends it.
            if self.recover.is_some_and(|(first, _)| front.number < first) {
                self.recover = self.recover.map(|(first, _)| (first, self.next));
            }
            self.in_flight.pop_front();
            newly_lost += 1;
        }
        let segment = self.in_flight.pop_front().unwrap();
        self.now_s = segment.acked_s.unwrap();
        let rtt_s = self.now_s - segment.sent_s;
        self.min_rtt_s = self.min_rtt_s.min(rtt_s);
        self.srtt_s += (rtt_s - self.srtt_s) / if self.srtt_s == 0.0 { 1.0 } else { 8.0 };
        for _ in 0..newly_lost {
            self.lost += 1;
            self.control.on_lost(time(self.now_s), &mut self.chance);
        }
        if newly_lost > 0 {
            self.congest(Cause::Loss, outstanding);
        } else if segment.marked {
            self.congest(Cause::Mark, outstanding);
        }
        self.delivered += 1;
        self.delivered_s = self.now_s;
        self.first_sent_s = segment.sent_s;
        // draft-ietf-ccwg-bbr, section 4.1.2.
        let interval_s = (segment.sent_s - segment.first_sent_s).max(self.now_s - segment.delivered_s);
        let recovering = self.recover.is_some() && !segment.marked;
        self.control.on_ack(&Ack {
            now: time(self.now_s),
            acked: 1,
            delivered: 1,
            marked: u32::from(segment.marked),
            in_flight: outstanding - newly_lost,
            rtt: Some(span(rtt_s)),
            srtt: span(self.srtt_s),
            min_rtt: span(self.min_rtt_s),
            window_limited: true,
            recovering: recovering && self.lost > 0,
            first_unacked: segment.number + 1,
            next_sequence: self.next,
            delivery: Some(Delivery {
                delivered: (self.delivered - segment.delivered) as u32,
                interval: span(interval_s),
                prior_delivered: segment.delivered,
                total_delivered: self.delivered,
                in_flight_at_send: segment.in_flight,
                newly_lost,
                lost: (self.lost - segment.lost) as u32,
                app_limited: false,
            }),
        });
        if self.recover.is_some_and(|(_, until)| segment.number >= until) {
            self.recover = None;
            self.control.on_recovered(time(self.now_s));
        }
    }

    fn time_out(&mut self) {
        self.now_s += 1.0;
        let outstanding = self.in_flight.len() as u32;
        self.lost += u64::from(outstanding);
        self.in_flight.clear();
        self.recover = Some((self.next, self.next));
        self.control.on_timeout(time(self.now_s), outstanding);
    }

    pub fn step(&mut self) {
        let next_ack_s = self.in_flight.iter().find_map(|segment| segment.acked_s);
        let send_s = if self.may_send() { self.now_s.max(self.paced_s) } else { f64::INFINITY };
        match next_ack_s {
            Some(ack_s) if ack_s <= send_s => self.acknowledge(),
            None if send_s.is_infinite() => self.time_out(),
            _ => self.send(),
        }
    }

    pub fn run_for(&mut self, seconds: f64) {
        let end = self.now_s + seconds;
        while self.now_s < end {
            self.step();
        }
    }

    /// Delivered segments per second over the next `seconds`.
    pub fn throughput(&mut self, seconds: f64) -> f64 {
        let (delivered, began_s) = (self.delivered, self.now_s);
        self.run_for(seconds);
        (self.delivered - delivered) as f64 / (self.now_s - began_s)
    }
}
