#[cfg(test)]
mod footprint;

use crate::info::{Info, State};
use crate::receiver::{Receiver, Report};
use crate::segment::{Flags, Segment, sack_option};
use crate::sender::steering::Steering;
use crate::sender::{Outgoing, Sender};
use crate::settings::{Ecn, Recovery, Settings};
use longhaul_congestion as congestion;
use longhaul_random::Stream;
use longhaul_units::{Rate, Span, Time};
use std::sync::Arc;

/// One end of a TCP connection. It does nothing by itself: it has no clock, no network, no thread.
///
/// **What to call.** After [`connect`](Self::connect) and [`open`](Self::open), or
/// [`listen`](Self::listen): [`receive`](Self::receive) for each segment that arrives;
/// [`expire`](Self::expire) when [`timer`](Self::timer) has come; [`write`](Self::write),
/// [`read`](Self::read) and [`close`](Self::close) as the application likes. After each of these,
/// [`poll`](Self::poll) until it returns `None`, and then `timer` for the new deadline.
///
/// **What must hold.** `now` never goes back. Segments handed to `receive` come from the other end's
/// `poll`, in any order, lost or copied as the network does. `poll` is called until `None` before the
/// next `receive`, or acknowledgements that must go one by one are merged.
///
/// **What may be relied on.** Equal calls give equal answers; chance is drawn from the given stream only,
/// and only by algorithms that need it. What was written arrives once and in order. At most [`Info::window`]
/// segments are in flight, but for a forced retransmission, limited transmit and probes; none lies beyond
/// the window that the other end has offered. `expire` before its time does nothing. A deadline that has
/// passed does not come back: after `expire` and `poll`, `timer` is later than `now`.
///
/// ```
/// use longhaul_congestion::AlgorithmSettings;
/// use longhaul_random::Seed;
/// use longhaul_transport::{Connection, Settings};
/// use longhaul_units::Time;
/// use std::sync::Arc;
///
/// let (settings, seed) = (Arc::new(Settings::default()), Seed::new(1));
/// let algorithm = Arc::new(AlgorithmSettings::named("cubic").unwrap());
/// let mut near = Connection::connect(&settings, &algorithm, seed.stream("near"));
/// let mut far = Connection::listen(&settings, &algorithm, seed.stream("far"));
/// near.open(Time::ZERO);
/// near.write(Time::ZERO, 4000);
/// // A network without delay: whatever one end gives, the other has.
/// loop {
///     let (out, back) = (near.poll(Time::ZERO), far.poll(Time::ZERO));
///     if out.is_none() && back.is_none() {
///         break;
///     }
///     out.inspect(|segment| far.receive(Time::ZERO, segment, false));
///     back.inspect(|segment| near.receive(Time::ZERO, segment, false));
/// }
/// assert_eq!(far.received(), 4000);
/// ```
#[derive(Clone, Debug)]
pub struct Connection {
    state: State,
    active: bool,
    sender: Sender,
    receiver: Receiver,
    /// Until it is established.
    opening: Option<Box<Opening>>,
    mss: u16,
    /// What all segments say.
    options: Flags,
    segments_received: u64,
}

/// The state of a handshake.
#[derive(Clone, Debug)]
struct Opening {
    /// What is wanted.
    ecn: Ecn,
    scaled: bool,
    due: bool,
    at: Time,
    sent: Time,
    tries: u32,
}

impl Connection {
    fn new(
        settings: &Arc<Settings>,
        algorithm: &Arc<congestion::AlgorithmSettings>,
        chance: Stream,
        active: bool,
    ) -> Self {
        let initial = settings.initial_window.segments(settings.mss);
        let steering = Steering::new(algorithm, initial, chance);
        let opening = Opening {
            ecn: if algorithm.wants_marks() { Ecn::Exact } else { settings.ecn },
            scaled: settings.window_scaling,
            due: false,
            at: Time::NEVER,
            sent: Time::ZERO,
            tries: 0,
        };
        Connection {
            state: if active { State::Idle } else { State::Listening },
            active,
            sender: Sender::new(settings, steering),
            receiver: Receiver::new(settings),
            opening: Some(Box::new(opening)),
            mss: settings.mss,
            options: settings.options(),
            segments_received: 0,
        }
    }

    /// The end that opens. `algorithm` controls its window; its chances come from `chance`.
    pub fn connect(
        settings: &Arc<Settings>,
        algorithm: &Arc<congestion::AlgorithmSettings>,
        chance: Stream,
    ) -> Self {
        Self::new(settings, algorithm, chance, true)
    }

    /// The end that waits.
    pub fn listen(
        settings: &Arc<Settings>,
        algorithm: &Arc<congestion::AlgorithmSettings>,
        chance: Stream,
    ) -> Self {
        Self::new(settings, algorithm, chance, false)
    }

    /// A SYN goes out at the next [`poll`](Self::poll). Only for the end that opens, and once.
    pub fn open(&mut self, now: Time) {
        let _ = now;
        if self.active && self.state == State::Idle {
            self.state = State::SynSent;
            self.ask_for_syn();
        }
    }

    /// The application hands over `bytes` more; `u64::MAX / 2` and above never end. Nothing after
    /// [`close`](Self::close).
    pub fn write(&mut self, now: Time, bytes: u64) {
        let _ = now;
        self.sender.write(bytes);
    }

    /// The application takes up to `bytes` out of the receive buffer. Not needed with
    /// [`Settings::reads_at_once`].
    pub fn read(&mut self, now: Time, bytes: u64) {
        let _ = now;
        self.receiver.read(bytes);
    }

    /// The application writes no more: the end follows what was written.
    pub fn close(&mut self, now: Time) {
        let _ = now;
        self.sender.close();
    }

    /// A segment arrives; `marked` when the network marked it (CE).
    pub fn receive(&mut self, now: Time, segment: &Segment, marked: bool) {
        self.segments_received += 1;
        if segment.flags.has(Flags::SYN) {
            self.receive_syn(now, segment);
            return;
        }
        match self.state {
            State::Established => {}
            State::SynReceived => self.establish(now, segment),
            // A last acknowledgement that was lost is asked for again.
            State::Closed => {}
            _ => return,
        }
        if self.stamps() {
            self.receiver.note_time(segment);
        }
        self.sender.acknowledge(now, segment);
        self.receiver.accept(now, segment, marked);
        if self.sender.is_finished() && self.receiver.is_finished() {
            self.state = State::Closed;
        }
    }

    fn receive_syn(&mut self, now: Time, segment: &Segment) {
        let answers = segment.flags.has(Flags::ACK);
        match self.state {
            State::Listening | State::SynSent => {
                self.agree(segment);
                self.receiver.note_time(segment);
                self.sender.note_first_window(segment);
                if answers {
                    self.establish(now, segment);
                    self.receiver.ask();
                } else {
                    self.state = State::SynReceived;
                    self.ask_for_syn();
                    if let Some(opening) = &mut self.opening {
                        opening.tries = 0;
                    }
                }
            }
            State::SynReceived if answers => {
                self.establish(now, segment);
                self.receiver.ask();
            }
            State::SynReceived => self.ask_for_syn(),
            State::Established | State::Closed => self.receiver.ask(),
            State::Idle | State::Failed => {}
        }
    }

    fn stamps(&self) -> bool {
        self.options.has(Flags::TIMESTAMPS)
    }

    /// Takes the options that both ends have.
    fn agree(&mut self, syn: &Segment) {
        if !syn.flags.has(Flags::TIMESTAMPS) {
            self.options = self.options.without(Flags::TIMESTAMPS);
        }
        if self.stamps() {
            self.receiver.stamp();
        }
        if let Some(opening) = &mut self.opening {
            opening.scaled &= syn.flags.has(Flags::SCALED);
            if opening.scaled {
                self.receiver.scale();
            }
        }
        let recovery = &mut self.sender.recovery;
        if syn.flags.has(Flags::SACK_PERMITTED) {
            self.receiver.selective = recovery.selective();
        } else if recovery.selective() {
            *recovery = Recovery::NewReno;
        }
        // RFC 3168, section 6.1.1: ECE and CWR ask, ECE alone grants.
        let ecn = match (self.wanted_ecn(), syn.flags.has(Flags::ECE), syn.flags.has(Flags::AE)) {
            (Ecn::Off, ..) | (_, false, _) => Ecn::Off,
            (Ecn::Exact, true, true) => Ecn::Exact,
            _ => Ecn::Classic,
        };
        self.sender.ecn = ecn;
        self.receiver.ecn = ecn;
    }

    fn wanted_ecn(&self) -> Ecn {
        self.opening.as_ref().map_or(Ecn::Off, |opening| opening.ecn)
    }

    fn ask_for_syn(&mut self) {
        if let Some(opening) = &mut self.opening {
            opening.due = true;
        }
    }

    fn establish(&mut self, now: Time, segment: &Segment) {
        self.state = State::Established;
        let Some(opening) = self.opening.take() else { return };
        if opening.tries <= 1 || self.stamps() {
            let sent = if self.stamps() { segment.echo } else { opening.sent };
            self.sender.rtt.sample(now.since(sent));
            self.sender.rtt.note_least(now.since(sent));
        } else {
            // RFC 6298, section 5.7.
            self.sender.rtt.be_cautious();
        }
        if opening.tries > 1 {
            // RFC 6928, section 2: the SYN was lost.
            self.sender.algorithm.restart(1);
        }
        self.sender.refresh();
    }

    /// The next deadline; [`Time::NEVER`] without one.
    pub fn timer(&self) -> Time {
        let timer = self.sender.timer().min(self.receiver.timer());
        self.opening.as_ref().map_or(timer, |opening| timer.min(opening.at))
    }

    /// Does what is due at `now`.
    pub fn expire(&mut self, now: Time) {
        self.receiver.expire(now);
        if let Some(opening) = self.opening.as_mut().filter(|opening| opening.at <= now) {
            opening.at = Time::NEVER;
            if opening.tries > self.sender.settings.timeouts.syn_attempts {
                self.state = State::Failed;
            } else {
                self.sender.rtt.back_off();
                opening.due = true;
            }
        }
        self.sender.expire(now);
        if self.sender.failed {
            self.state = State::Failed;
        }
    }

    /// The next segment for the wire, if one may go now.
    #[inline(always)]
    pub fn poll(&mut self, now: Time) -> Option<Segment> {
        if !matches!(self.state, State::Established | State::Closed) {
            return self.syn(now);
        }
        if self.sender.is_quiet() && !self.receiver.has_news() {
            return None;
        }
        let (outgoing, blocks) = self.next(now)?;
        Some(self.segment(now, outgoing, blocks))
    }

    /// What the sender sends next, or the number of an acknowledgement that goes by itself; and how many SACK
    /// blocks go with it.
    fn next(&mut self, now: Time) -> Option<(Outgoing, u32)> {
        let blocks = self.receiver.blocks();
        if !self.receiver.is_urgent() {
            if let Some(outgoing) = self.sender.next(now, blocks) {
                // A segment that is sent again may leave no room for them.
                let room = u32::from(self.mss.saturating_sub(outgoing.bytes));
                let fits = (0..=blocks).rev().find(|&count| sack_option(count) <= room);
                return Some((outgoing, fits.unwrap_or(0)));
            }
            if !self.receiver.is_due() {
                return None;
            }
        }
        Some((Outgoing { sequence: self.sender.board.next(), bytes: 0, flags: Flags::NONE }, blocks))
    }

    /// What the sender sends, with what the receiver reports.
    #[inline(always)]
    fn segment(&mut self, now: Time, outgoing: Outgoing, blocks: u32) -> Segment {
        let Outgoing { sequence, bytes, flags } = outgoing;
        let sacks = if blocks > 0 { self.receiver.sacks(blocks) } else { Default::default() };
        let Report { acknowledged, echo, window, flags: reported } = self.receiver.report();
        let flags = self.options | flags | reported;
        Segment { sequence, acknowledged, sent: now, echo, sacks, window, bytes, flags }
    }

    /// A SYN, or the answer to one, if one is due. Its window is never scaled (RFC 7323, section 2.2).
    #[cold]
    fn syn(&mut self, now: Time) -> Option<Segment> {
        if !matches!(self.state, State::SynSent | State::SynReceived) {
            return None;
        }
        let opening = self.opening.as_mut().filter(|opening| opening.due)?;
        opening.due = false;
        opening.tries += 1;
        opening.sent = now;
        opening.at = now + self.sender.rtt.backed_off(&self.sender.settings.timeouts);
        let scaled = opening.scaled;
        let answers = self.state == State::SynReceived;
        let Report { acknowledged, echo, window, flags: reported } = self.receiver.report();
        let mut flags = self.options | Flags::SYN;
        if answers {
            flags |= reported;
        }
        if scaled {
            flags |= Flags::SCALED;
        }
        if self.sender.recovery.selective() {
            flags |= Flags::SACK_PERMITTED;
        }
        match if answers { self.sender.ecn } else { self.wanted_ecn() } {
            Ecn::Off => {}
            Ecn::Classic => flags |= Flags::ECE,
            Ecn::Exact => flags |= Flags::ECE | Flags::AE,
        }
        if !answers && flags.has(Flags::ECE) {
            flags |= Flags::CWR;
        }
        let (sacks, window) = (Default::default(), window.min(65_535));
        Some(Segment { sequence: 0, acknowledged, sent: now, echo, sacks, window, bytes: 0, flags })
    }

    /// The round trip of the newest segment that the latest acknowledgement was the first to cover and
    /// that was sent once; `None` if there was none since this was last asked.
    pub fn take_round_trip(&mut self) -> Option<Span> {
        self.sender.rtt.take_latest()
    }

    /// Payload that has arrived in order, in bytes.
    pub fn received(&self) -> u64 {
        self.receiver.buffer.arrived
    }

    /// Payload that the other end has acknowledged, in bytes.
    pub fn acknowledged(&self) -> u64 {
        self.sender.acknowledged
    }

    /// Both ends have agreed, and neither has failed or finished.
    pub fn is_established(&self) -> bool {
        self.state == State::Established
    }

    /// Both ends have closed, all has arrived, and this end knows. It still answers retransmissions.
    pub fn is_closed(&self) -> bool {
        self.state == State::Closed
    }

    /// The other end has closed, and all that it sent has arrived.
    pub fn has_ended(&self) -> bool {
        self.receiver.is_finished()
    }

    /// It gave up.
    pub fn has_failed(&self) -> bool {
        self.state == State::Failed
    }

    /// The state of it all, like TCP_INFO.
    pub fn info(&self) -> Info {
        let sender = &self.sender;
        let counters = &sender.counters;
        let timeouts = &sender.settings.timeouts;
        let payload = |segments_per_s: f64| {
            let bits = segments_per_s * f64::from(sender.settings.mss) * 8.0;
            Rate::from_bits_per_s(bits.clamp(0.0, 1e15) as u64)
        };
        let (delivered, interval) = sender.delivery;
        let per_s = f64::from(delivered) / interval.as_secs_f64();
        Info {
            state: self.state,
            phase: sender.phase,
            limited_by: sender.limited_by,
            window: sender.window(),
            threshold: sender.algorithm.threshold(),
            srtt: sender.rtt.smoothed(),
            rttvar: sender.rtt.variation(),
            rto: sender.rtt.backed_off(timeouts),
            min_rtt: sender.rtt.least(),
            in_flight: sender.board.in_flight(),
            outstanding: sender.board.outstanding(),
            lost: sender.board.lost(),
            sacked: sender.board.sacked(),
            receiver_window_bytes: sender.right_edge.saturating_sub(sender.acknowledged),
            segments_sent: counters.segments_sent,
            bytes_sent: counters.bytes_sent,
            retransmits: counters.retransmits,
            segments_received: self.segments_received,
            bytes_received: self.receiver.buffer.arrived,
            duplicates_received: self.receiver.duplicates,
            bytes_acknowledged: sender.acknowledged,
            delivered: sender.sampler.delivered,
            losses: counters.losses,
            dsacks: counters.dsacks.into(),
            reordering: counters.reordering,
            undone: counters.undone.into(),
            marks: counters.marks,
            timeouts: counters.timeouts.into(),
            recoveries: counters.recoveries.into(),
            tail_probes: counters.tail_probes.into(),
            window_probes: counters.window_probes.into(),
            pacing_rate: sender.segments_per_second().and_then(payload),
            delivery_rate: if delivered > 0 { payload(per_s) } else { None },
        }
    }
}
