#[cfg(test)]
mod memory;

use crate::info::{Info, State};
use crate::receiver::{AckFields, Receiver};
use crate::segment::{Flags, Segment, sack_option};
use crate::sender::sending_half::SendingHalf;
use crate::sender::{Outgoing, Sender};
use crate::settings::{Ecn, Recovery, Settings};
use longhaul_congestion as congestion;
use longhaul_random::Stream;
use longhaul_units::{Rate, Span, Time};
use std::sync::Arc;

/// One end of a TCP connection, without clock, network or thread.
///
/// **What to call.** After [`connect`](Self::connect) and [`open`](Self::open), or
/// [`listen`](Self::listen): [`receive`](Self::receive) for each segment that arrives;
/// [`expire`](Self::expire) when [`timer`](Self::timer) expires; [`write`](Self::write),
/// [`read`](Self::read) and [`close`](Self::close) as the application likes. After each of these,
/// [`poll`](Self::poll) until it returns `None`, and then `timer` for the new deadline.
///
/// **What must hold.** `now` never goes back. Segments handed to `receive` come from the peer's
/// `poll`, in any order, lost or copied as the network does. `poll` is called until `None` before the
/// next `receive`, or acknowledgements that must go one by one are merged.
///
/// **What may be relied on.** Equal calls give equal results; only algorithms that use random numbers draw
/// from the given stream. Written data arrive once and in order. At most [`Info::window`]
/// segments are in flight, but for a forced retransmission, limited transmit and probes; none lies beyond
/// the window that the peer has offered. `expire` before its time does nothing. A deadline that has
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
    sender: SendingHalf,
    receiver: Receiver,
    /// Until it is established.
    handshake: Option<Box<Handshake>>,
    mss: u16,
    /// Options of all segments.
    options: Flags,
    segments_received: u64,
}

/// State of the handshake.
#[derive(Clone, Debug)]
struct Handshake {
    /// ECN to negotiate.
    ecn: Ecn,
    window_scaling: bool,
    syn_due: bool,
    timer: Time,
    sent: Time,
    attempts: u32,
}

impl Connection {
    fn new(
        settings: &Arc<Settings>,
        algorithm: &Arc<congestion::AlgorithmSettings>,
        rng: Stream,
        active: bool,
    ) -> Self {
        let handshake = Handshake {
            ecn: if algorithm.wants_marks() { Ecn::Exact } else { settings.ecn },
            window_scaling: settings.window_scaling,
            syn_due: false,
            timer: Time::NEVER,
            sent: Time::ZERO,
            attempts: 0,
        };
        Connection {
            state: if active { State::Idle } else { State::Listening },
            active,
            sender: SendingHalf::new(settings, algorithm, rng),
            receiver: Receiver::new(settings),
            handshake: Some(Box::new(handshake)),
            mss: settings.mss,
            options: settings.options(),
            segments_received: 0,
        }
    }

    /// The active end. `algorithm` controls its window; `rng` is its random stream.
    pub fn connect(
        settings: &Arc<Settings>,
        algorithm: &Arc<congestion::AlgorithmSettings>,
        rng: Stream,
    ) -> Self {
        Self::new(settings, algorithm, rng, true)
    }

    /// The passive end.
    pub fn listen(
        settings: &Arc<Settings>,
        algorithm: &Arc<congestion::AlgorithmSettings>,
        rng: Stream,
    ) -> Self {
        Self::new(settings, algorithm, rng, false)
    }

    /// Sends a SYN at the next [`poll`](Self::poll). For the active end, and once.
    pub fn open(&mut self, now: Time) {
        let _ = now;
        if self.active && self.state == State::Idle {
            self.state = State::SynSent;
            self.request_syn();
        }
    }

    /// The application writes `bytes` more; `u64::MAX / 2` and above never end. Nothing after
    /// [`close`](Self::close).
    pub fn write(&mut self, now: Time, bytes: u64) {
        let _ = now;
        self.begin_sending().write(bytes);
    }

    /// The application reads up to `bytes` from the receive buffer. Not needed with
    /// [`Settings::reads_at_once`].
    pub fn read(&mut self, now: Time, bytes: u64) {
        let _ = now;
        self.receiver.read(bytes);
    }

    /// The application closes: the FIN follows the written data.
    pub fn close(&mut self, now: Time) {
        let _ = now;
        self.begin_sending().close();
    }

    /// The sender, created unless it exists.
    fn begin_sending(&mut self) -> &mut Sender {
        let established = matches!(self.state, State::Established | State::Closed);
        self.sender.begin(&self.receiver.settings, established)
    }

    /// A segment arrives; `marked` when the network marked it (CE).
    pub fn receive(&mut self, now: Time, segment: &Segment, marked: bool) {
        self.segments_received += 1;
        if segment.flags.has(Flags::SYN) {
            self.receive_syn(now, segment);
            return;
        }
        match self.state {
            // After the close the peer retransmits its FIN if the last acknowledgement is lost.
            State::Established | State::Closed => {}
            State::SynReceived => self.establish(now, segment),
            _ => return,
        }
        if self.uses_timestamps() {
            self.receiver.update_ts_recent(segment);
        }
        self.sender.acknowledge(now, segment);
        self.receiver.accept(now, segment, marked);
        if self.sender.sender().is_some_and(Sender::fin_acked) && self.receiver.has_fin() {
            self.state = State::Closed;
        }
    }

    fn receive_syn(&mut self, now: Time, segment: &Segment) {
        let is_syn_ack = segment.flags.has(Flags::ACK);
        match self.state {
            State::Listening | State::SynSent => {
                self.negotiate(segment);
                self.receiver.update_ts_recent(segment);
                self.sender.update_initial_window(segment);
                if is_syn_ack {
                    self.establish(now, segment);
                    self.receiver.request_ack();
                } else {
                    self.state = State::SynReceived;
                    self.request_syn();
                    if let Some(handshake) = &mut self.handshake {
                        handshake.attempts = 0;
                    }
                }
            }
            State::SynReceived if is_syn_ack => {
                self.establish(now, segment);
                self.receiver.request_ack();
            }
            State::SynReceived => self.request_syn(),
            State::Established | State::Closed => self.receiver.request_ack(),
            State::Idle | State::Failed => {}
        }
    }

    fn uses_timestamps(&self) -> bool {
        self.options.has(Flags::TIMESTAMPS)
    }

    /// Negotiates the options.
    fn negotiate(&mut self, syn: &Segment) {
        if !syn.flags.has(Flags::TIMESTAMPS) {
            self.options = self.options.without(Flags::TIMESTAMPS);
        }
        if self.uses_timestamps() {
            self.receiver.enable_timestamps();
        }
        if let Some(handshake) = &mut self.handshake {
            handshake.window_scaling &= syn.flags.has(Flags::WINDOW_SCALING);
            if handshake.window_scaling {
                self.receiver.enable_window_scaling();
            }
        }
        let (mut recovery, _) = self.sender.negotiated();
        if syn.flags.has(Flags::SACK_PERMITTED) {
            self.receiver.sack_permitted = recovery.uses_sack();
        } else if recovery.uses_sack() {
            recovery = Recovery::NewReno;
        }
        // RFC 3168, section 6.1.1: ECE and CWR request, ECE alone agrees.
        let ecn = match (self.requested_ecn(), syn.flags.has(Flags::ECE), syn.flags.has(Flags::AE)) {
            (Ecn::Off, ..) | (_, false, _) => Ecn::Off,
            (Ecn::Exact, true, true) => Ecn::Exact,
            _ => Ecn::Classic,
        };
        self.sender.negotiate(recovery, ecn);
        self.receiver.ecn = ecn;
    }

    fn requested_ecn(&self) -> Ecn {
        self.handshake.as_ref().map_or(Ecn::Off, |handshake| handshake.ecn)
    }

    fn request_syn(&mut self) {
        if let Some(handshake) = &mut self.handshake {
            handshake.syn_due = true;
        }
    }

    fn establish(&mut self, now: Time, segment: &Segment) {
        self.state = State::Established;
        let Some(handshake) = self.handshake.take() else { return };
        if handshake.attempts <= 1 || self.uses_timestamps() {
            let sent = if self.uses_timestamps() { segment.echo } else { handshake.sent };
            self.sender.rtt_mut().sample(now.since(sent));
            self.sender.rtt_mut().update_min_rtt(now.since(sent));
        } else {
            // RFC 6298, section 5.7.
            self.sender.rtt_mut().on_syn_loss();
        }
        if handshake.attempts > 1 {
            // RFC 6928, section 2: the SYN was lost.
            self.sender.restart(1);
        }
        if let Some(sender) = self.sender.sender_mut() {
            sender.refresh();
        }
    }

    /// The next deadline; [`Time::NEVER`] without one.
    pub fn timer(&self) -> Time {
        let mut timer = self.receiver.timer();
        if let Some(sender) = self.sender.sender() {
            timer = timer.min(sender.timer());
        }
        self.handshake.as_ref().map_or(timer, |handshake| timer.min(handshake.timer))
    }

    /// Handles the timers that have expired by `now`.
    pub fn expire(&mut self, now: Time) {
        self.receiver.expire(now);
        if let Some(handshake) = self.handshake.as_mut().filter(|handshake| handshake.timer <= now) {
            handshake.timer = Time::NEVER;
            if handshake.attempts > self.receiver.settings.timeouts.syn_attempts {
                self.state = State::Failed;
            } else {
                self.sender.rtt_mut().back_off();
                handshake.syn_due = true;
            }
        }
        if let Some(sender) = self.sender.sender_mut() {
            sender.expire(now);
            if sender.failed {
                self.state = State::Failed;
            }
        }
    }

    /// The next segment to transmit, if one may be sent now.
    #[inline(always)]
    pub fn poll(&mut self, now: Time) -> Option<Segment> {
        if !matches!(self.state, State::Established | State::Closed) {
            return self.syn(now);
        }
        if self.sender.sender().is_none_or(Sender::has_nothing_to_send) && !self.receiver.ack_pending() {
            return None;
        }
        let (outgoing, blocks) = self.next(now)?;
        Some(self.segment(now, outgoing, blocks))
    }

    /// The next data segment or pure acknowledgement, and the number of its SACK blocks.
    fn next(&mut self, now: Time) -> Option<(Outgoing, u32)> {
        let blocks = self.receiver.block_count();
        if !self.receiver.must_ack_now() {
            let sender = self.sender.sender_mut();
            if let Some(outgoing) = sender.and_then(|sender| sender.next_segment(now, blocks)) {
                // A retransmission may leave no room for them.
                let room = u32::from(self.mss.saturating_sub(outgoing.bytes));
                let fits = (0..=blocks).rev().find(|&count| sack_option(count) <= room);
                return Some((outgoing, fits.unwrap_or(0)));
            }
            if !self.receiver.ack_is_due() {
                return None;
            }
        }
        Some((Outgoing { sequence: self.sender.snd_nxt(), bytes: 0, flags: Flags::NONE }, blocks))
    }

    /// A data segment or pure acknowledgement with the acknowledgement fields.
    #[inline(always)]
    fn segment(&mut self, now: Time, outgoing: Outgoing, blocks: u32) -> Segment {
        let Outgoing { sequence, bytes, flags } = outgoing;
        let sacks = if blocks > 0 { self.receiver.sack_blocks(blocks) } else { Default::default() };
        let AckFields { acknowledged, echo, window, flags: reported } = self.receiver.take_ack();
        let flags = self.options | flags | reported;
        Segment { sequence, acknowledged, sent: now, echo, sacks, window, bytes, flags }
    }

    /// A SYN or SYN-ACK, if one is due. Its window is never scaled (RFC 7323, section 2.2).
    #[cold]
    fn syn(&mut self, now: Time) -> Option<Segment> {
        if !matches!(self.state, State::SynSent | State::SynReceived) {
            return None;
        }
        let handshake = self.handshake.as_mut().filter(|handshake| handshake.syn_due)?;
        handshake.syn_due = false;
        handshake.attempts += 1;
        handshake.sent = now;
        handshake.timer = now + self.sender.rtt().rto_with_back_off(&self.receiver.settings.timeouts);
        let scaled = handshake.window_scaling;
        let is_syn_ack = self.state == State::SynReceived;
        let AckFields { acknowledged, echo, window, flags: reported } = self.receiver.take_ack();
        let mut flags = self.options | Flags::SYN;
        if is_syn_ack {
            flags |= reported;
        }
        if scaled {
            flags |= Flags::WINDOW_SCALING;
        }
        let (recovery, ecn) = self.sender.negotiated();
        if recovery.uses_sack() {
            flags |= Flags::SACK_PERMITTED;
        }
        match if is_syn_ack { ecn } else { self.requested_ecn() } {
            Ecn::Off => {}
            Ecn::Classic => flags |= Flags::ECE,
            Ecn::Exact => flags |= Flags::ECE | Flags::AE,
        }
        if !is_syn_ack && flags.has(Flags::ECE) {
            flags |= Flags::CWR;
        }
        let (sacks, window) = (Default::default(), window.min(65_535));
        Some(Segment { sequence: 0, acknowledged, sent: now, echo, sacks, window, bytes: 0, flags })
    }

    /// The RTT sample of the latest acknowledgement, of the newest segment that was never retransmitted; `None` if
    /// there is none since the last call.
    pub fn take_round_trip(&mut self) -> Option<Span> {
        self.sender.rtt_mut().take_latest()
    }

    /// Its settings, as far as the handshake has not changed them.
    pub fn settings(&self) -> &Settings {
        &self.receiver.settings
    }

    /// Payload received in order, in bytes.
    pub fn received(&self) -> u64 {
        self.receiver.buffer.received
    }

    /// Payload that the peer has acknowledged, in bytes.
    pub fn acknowledged(&self) -> u64 {
        self.sender.sender().map_or(0, |sender| sender.acknowledged)
    }

    /// The state is ESTABLISHED.
    pub fn is_established(&self) -> bool {
        self.state == State::Established
    }

    /// Whether it is established, has sent all that was written, and its timer has not expired since it last heard
    /// of data that arrived: more data would leave as soon as the window lets them.
    pub fn wants_data(&self) -> bool {
        self.is_established()
            && self.sender.sender().is_none_or(Sender::has_sent_all)
            && !self.has_timed_out()
    }

    /// Whether its retransmission timer has expired since it last heard of data that arrived.
    pub fn has_timed_out(&self) -> bool {
        self.sender.sender().is_some_and(Sender::has_timed_out)
    }

    /// The smoothed round-trip time; zero before the first sample.
    pub fn srtt(&self) -> Span {
        self.sender.rtt().srtt()
    }

    /// What siblings of a multipath connection need to know of it; `None` before it has a round-trip time.
    pub fn subflow(&self) -> Option<congestion::Subflow> {
        let srtt_s = self.srtt().as_secs_f64();
        (srtt_s > 0.0).then(|| self.sender.subflow(srtt_s))
    }

    /// Tells the algorithm of the siblings.
    pub fn couple(&mut self, coupling: &congestion::Coupling<'_>) {
        self.sender.couple(coupling);
    }

    /// Both FINs are acknowledged. The end still answers retransmissions.
    pub fn is_closed(&self) -> bool {
        self.state == State::Closed
    }

    /// The peer's FIN and all its data are received.
    pub fn has_ended(&self) -> bool {
        self.receiver.has_fin()
    }

    /// The connection gave up after too many retransmissions.
    pub fn has_failed(&self) -> bool {
        self.state == State::Failed
    }

    /// Counters and estimates, as in `TCP_INFO`.
    pub fn info(&self) -> Info {
        match &self.sender {
            SendingHalf::Used(sender) => self.info_with(sender),
            SendingHalf::Unused(_) => self.info_with(self.clone().begin_sending()),
        }
    }

    fn info_with(&self, sender: &Sender) -> Info {
        let counters = sender.loss.as_ref().map(|loss| loss.counters).unwrap_or_default();
        let timeouts = &sender.settings.timeouts;
        let payload = |segments_per_s: f64| {
            let bits = segments_per_s * f64::from(sender.settings.mss) * 8.0;
            Rate::from_bits_per_s(bits.clamp(0.0, 1e15) as u64)
        };
        let (delivered, interval) = sender.delivery;
        let per_s = f64::from(delivered) / interval.as_secs_f64();
        Info {
            state: self.state,
            ca_state: sender.ca_state,
            limited_by: sender.limited_by,
            window: sender.window(),
            threshold: sender.algorithm.threshold(),
            srtt: sender.rtt.srtt(),
            rttvar: sender.rtt.rttvar(),
            rto: sender.rtt.rto_with_back_off(timeouts),
            min_rtt: sender.rtt.min_rtt(),
            in_flight: sender.scoreboard.in_flight(),
            outstanding: sender.scoreboard.flight_size(),
            lost: sender.scoreboard.lost_out(),
            sacked: sender.scoreboard.sacked_out(),
            receiver_window_bytes: sender.right_edge.saturating_sub(sender.acknowledged),
            segments_sent: sender.scoreboard.snd_nxt() + counters.retransmits,
            bytes_sent: sender.sent + counters.retransmitted_bytes,
            retransmits: counters.retransmits,
            segments_received: self.segments_received,
            bytes_received: self.receiver.buffer.received,
            duplicates_received: self.receiver.duplicates,
            bytes_acknowledged: sender.acknowledged,
            delivered: sender.sampler.delivered,
            losses: sender.sampler.lost,
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
