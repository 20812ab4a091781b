use crate::block::Block;
use crate::delay::DelayProcess;
use crate::loss::LossProcess;
use crate::pipe::Pace;
use crate::queue::{Arrival, Outcome, Queue, QueuedPacket};
use crate::rate::Shaper;
use crate::streams::Streams;
use crate::wire::{Entry, Wire};
use crate::{
    Change, Counters, Fate, Framing, LinkModel, LinkPacket, LossPosition, OfferResult, QueueDiscipline,
    QueueLimit, ReorderModel,
};
use longhaul_random::{Seed, Stream};
use longhaul_units::{Histogram, Probability, Serialiser, Span, Time};
use std::collections::VecDeque;

/// One direction of a link: `offer -> loss -> queue -> serialiser -> wire -> due`.
///
/// The caller [offers](Link::offer) packets at the near end, sleeps until
/// [`next_event`](Link::next_event), then [takes](Link::take) from the far end until nothing more
/// is due, and asks for those that [ended](Link::drop_pending) inside. The times that it passes,
/// `now`, never go back; how often or how late it polls changes no due time and no fate.
///
/// A packet's last bit leaves the serialiser after all packets ahead of it, exactly (the fractions
/// of a picosecond are carried), and arrives one wire delay later. The queue holds what has not
/// begun to leave. A packet that waits is started at the exact instant at which the serialiser
/// becomes free, with the models of that instant. While no model lets packets overtake
/// ([`LinkModel::reorder`], [`LinkModel::reordering`]), they come out in the order in which they left the
/// queue, also when their delay shrinks.
#[derive(Debug)]
pub struct Link<P> {
    up: bool,
    loss: LossProcess,
    loss_position: LossPosition,
    limit: QueueLimit,
    queue: Queue<P>,
    discipline: QueueDiscipline,
    shaper: Shaper,
    framing: Framing,
    delay: DelayProcess,
    least_delay: Span,
    reordering: Option<ReorderProcess>,
    duplicate: Probability,
    corrupt: Probability,
    reorder: bool,
    coalesce: Span,
    /// Every waiting packet is delivered after those on the wire that keep their order.
    keeps_order: bool,

    streams: Streams,
    /// Has left the queue and waits for tokens, or for its moment.
    head: Option<QueuedPacket<P>>,
    wire: Wire<P>,
    ended: VecDeque<(P, Fate)>,
    pub(crate) counters: Counters,
    pub(crate) waits: Histogram,
    /// Packets that have come to the queue.
    admitted: u64,
    /// The latest `now`.
    clock: Time,
    /// Packets that began to leave since the last call of [`Link::departures`], and their due times, if they are recorded.
    departures: Option<Vec<(Time, P)>>,
}

#[derive(Debug)]
enum ReorderProcess {
    Block(Block, Span),
    Share(Probability, Span),
    Early { gap: u64, probability: Probability, passed: u64 },
}

impl ReorderProcess {
    /// `None` if the model reorders nothing.
    fn new(model: ReorderModel) -> Option<Self> {
        Some(match model {
            ReorderModel::None {} => return None,
            ReorderModel::Block { block, delay } => ReorderProcess::Block(Block::new(block), delay),
            ReorderModel::Share { probability, delay } => ReorderProcess::Share(probability, delay),
            ReorderModel::Early { gap, probability } => {
                ReorderProcess::Early { gap: gap.get(), probability, passed: 0 }
            }
        })
    }

    /// The delay of the next packet if it leaves the order.
    fn extra_delay(&mut self, stream: &mut Stream) -> Option<Span> {
        match self {
            ReorderProcess::Block(block, delay) => block.occurs(stream).then_some(*delay),
            ReorderProcess::Share(probability, delay) => probability.occurs(stream.bits()).then_some(*delay),
            ReorderProcess::Early { gap, probability, passed } => {
                // netem: the first gap - 1 packets are delayed; from then on each may go at once.
                let draw = stream.bits();
                if *passed + 1 >= *gap && probability.occurs(draw) {
                    *passed = 0;
                    return Some(Span::ZERO);
                }
                *passed += 1;
                None
            }
        }
    }

    fn least(&self) -> Span {
        match self {
            ReorderProcess::Block(_, delay) | ReorderProcess::Share(_, delay) => *delay,
            ReorderProcess::Early { .. } => Span::ZERO,
        }
    }
}

impl<P: LinkPacket> Link<P> {
    /// An idle link that follows `models`.
    ///
    /// Its chances come from the streams `<name>/loss`, `<name>/queue`, `<name>/delay`,
    /// `<name>/out-of-order`, `<name>/duplicate`, `<name>/corrupt` and `<name>/flow-hash` of `seed`.
    /// Segments of one super-packet that become due within `coalesce` of the first are given out
    /// together, when the last of them is due; zero gives out each by itself. Where
    /// [`LinkModel::reorder`] holds, every packet goes by itself.
    pub fn new(model: LinkModel, seed: &Seed, name: &str, coalesce: Span) -> Self {
        let mut link = Link {
            up: model.up,
            loss: LossProcess::new(&model.loss, Time::ZERO),
            loss_position: model.loss_position,
            limit: model.queue.limit(),
            queue: Queue::new(&model.queue.discipline, Time::ZERO),
            discipline: model.queue.discipline,
            shaper: Shaper::new(model.rate),
            framing: model.framing,
            delay: DelayProcess::new(model.delay),
            least_delay: Span::ZERO,
            reordering: model.reordering.and_then(ReorderProcess::new),
            duplicate: model.duplicate,
            corrupt: model.corrupt,
            reorder: model.reorder,
            coalesce,
            keeps_order: false,
            streams: Streams::new(*seed, name),
            head: None,
            wire: Wire::new(model.reorder, coalesce),
            ended: VecDeque::new(),
            counters: Counters::default(),
            waits: Histogram::new(),
            admitted: 0,
            clock: Time::ZERO,
            departures: None,
        };
        link.update_shortcuts();
        link
    }

    /// Offers a packet to the near end, and after it its duplicate if the models make one.
    pub fn offer(&mut self, now: Time, packet: P) -> OfferResult {
        self.settle(now);
        self.counters.offered_packets += 1;
        self.counters.offered_bytes += u64::from(packet.bytes());
        if !self.up {
            self.counters.down_packets += 1;
            return OfferResult::Ended(Fate::Down);
        }
        // Drawn for lost packets too, so that another loss model duplicates the same packets.
        let twice =
            self.duplicate > Probability::ZERO && self.duplicate.occurs(self.streams.duplicate().bits());
        if self.loss_position == LossPosition::Ingress
            && self.loss.drops(self.streams.loss(), now, packet.bytes())
        {
            self.counters.lost_packets += 1;
            return OfferResult::Ended(Fate::Lost);
        }
        if let Err(fate) = self.admit(now, packet) {
            return OfferResult::Ended(fate);
        }
        if !twice {
            return OfferResult::Taken { copies: 0 };
        }
        self.counters.copied_packets += 1;
        match self.admit(now, packet) {
            Ok(()) => OfferResult::Taken { copies: 1 },
            Err(fate) => {
                self.ended.push_back((packet, fate));
                OfferResult::Taken { copies: 1 }
            }
        }
    }

    /// When something will happen by itself: a packet can be taken, or one starts that may come out
    /// early or end. [`Time::NEVER`] if nothing will.
    pub fn next_event(&self) -> Time {
        let wire = self.wire.next();
        if !self.ended.is_empty() {
            return self.clock;
        }
        if !self.up || (self.keeps_order && self.wire.keeps_order()) {
            return wire;
        }
        let start = match &self.head {
            Some(waiting) => self.start_of(waiting),
            None if self.queue.len() > 0 => self.shaper.free_at(),
            None => return wire,
        };
        wire.min(start + self.least_delay)
    }

    /// The next packet that has come out of the far end by `now`, and when it was due; to be
    /// called until it returns `None`. Due times never decrease from call to call.
    pub fn take(&mut self, now: Time) -> Option<(P, Time)> {
        self.settle(now);
        let (packet, due) = self.wire.take(now)?;
        self.counters.delivered_packets += 1;
        self.counters.delivered_bytes += u64::from(packet.bytes());
        Some((packet, due))
    }

    /// The next packet (or copy) that was taken in but ended inside the link, and how; to be called
    /// until it returns `None`, after [`offer`](Self::offer), [`take`](Self::take) and
    /// [`change`](Self::change).
    pub fn drop_pending(&mut self) -> Option<(P, Fate)> {
        self.ended.pop_front()
    }

    /// Behaves otherwise from `now` on. What starts at `now` or before still follows the old models,
    /// the packet being serialised finishes at the old rate, and nothing is flushed, unless the link leaves the
    /// network.
    pub fn change(&mut self, now: Time, change: &Change) {
        self.settle(now);
        if let Some(loss) = &change.loss {
            self.loss = LossProcess::new(loss, now);
        }
        if let Some(queue) = &change.queue {
            self.limit = queue.limit();
            self.discipline = queue.discipline.clone();
            let old = std::mem::replace(&mut self.queue, Queue::new(&queue.discipline, now));
            for waiting in old.into_waiting() {
                self.queue.resume(waiting, self.streams.flow_key());
            }
        }
        if let Some(rate) = &change.rate {
            self.shaper.change(now, rate.clone());
        }
        if let Some(delay) = &change.delay {
            self.delay = DelayProcess::new(delay.clone());
        }
        if let Some(place) = change.loss_position {
            self.loss_position = place;
        }
        if let Some(framing) = change.framing
            && framing != self.framing
        {
            self.framing = framing;
            if self.head.is_some() {
                // Fewer bytes on the wire may need no more tokens than there are: it begins now, not earlier.
                self.shaper.hold_until(now);
            }
        }
        if let Some(model) = change.reordering {
            self.reordering = ReorderProcess::new(model);
        }
        if let Some(coalesce) = change.coalesce {
            self.coalesce = coalesce;
            self.wire.set_coalesce(coalesce);
        }
        if let Some(reorder) = change.reorder {
            self.reorder = reorder;
            self.wire.set_reorder(now, reorder, self.coalesce);
        }
        if let Some(duplicate) = change.duplicate {
            self.duplicate = duplicate;
        }
        if let Some(corrupt) = change.corrupt {
            self.corrupt = corrupt;
        }
        if let Some(up) = change.up {
            if up && !self.up {
                self.shaper.hold_until(now);
            }
            self.up = up;
        }
        if change.present == Some(false) {
            self.flush(now);
        }
        self.update_shortcuts();
        self.settle(now);
    }

    /// Ends all packets that wait or are under way: the link has left the network.
    fn flush(&mut self, now: Time) {
        let queue = std::mem::replace(&mut self.queue, Queue::new(&self.discipline, now));
        let mut wire = std::mem::replace(&mut self.wire, Wire::new(self.reorder, self.coalesce));
        // What was due until now has arrived, also if nobody has taken it yet.
        while let Some((packet, due)) = wire.take(now) {
            self.put_on_wire(packet, due);
        }
        let under_way = std::iter::from_fn(|| wire.take(Time::NEVER)).map(|(packet, _)| packet);
        let waiting = self.head.take().into_iter().chain(queue.into_waiting()).map(|each| each.packet);
        let before = self.ended.len();
        self.ended.extend(under_way.chain(waiting).map(|packet| (packet, Fate::Down)));
        self.counters.down_packets += (self.ended.len() - before) as u64;
    }

    /// What has happened so far.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// How long packets waited before their first bit left, those that did not wait with zero.
    pub fn waits(&self) -> &Histogram {
        &self.waits
    }

    /// Packets that wait for the serialiser, and their bytes, as of the latest `now`.
    pub fn waiting(&self) -> (u64, u64) {
        let head = self.head.as_ref().map_or(0, |waiting| u64::from(waiting.packet.bytes()));
        (self.queue.len() + u64::from(self.head.is_some()), self.queue.bytes() + head)
    }

    /// When the first of those that wait begins to leave, as of the latest `now`, so that there is room in
    /// the queue; [`Time::NEVER`] if no packet waits, or the link is down.
    pub fn next_start(&self) -> Time {
        match &self.head {
            _ if !self.up => Time::NEVER,
            Some(waiting) => self.start_of(waiting),
            None if self.queue.len() > 0 => self.shaper.free_at(),
            None => Time::NEVER,
        }
    }

    /// Packets in the serialiser or on the wire, as of the latest `now`.
    pub fn in_flight(&self) -> u64 {
        self.wire.len() as u64
    }

    /// Calls `each` with every packet that has begun to leave by `now` and is due before `before`, in the order in
    /// which they will come out; nothing that happens later changes that.
    pub fn upcoming(&mut self, now: Time, before: Time, each: impl FnMut(&P, Time)) {
        self.settle(now);
        self.wire.upcoming(before, each);
    }

    /// Whether the due time of each packet is known when its first bit leaves, and packets are dropped only when they are
    /// offered, as long as the link is not changed.
    pub fn knows_due_at_departure(&self) -> bool {
        self.shaper.pace().is_some() && self.queue.is_plain() && self.loss_position == LossPosition::Ingress
    }

    /// Records, from now on, the packets that begin to leave, for [`departures`](Self::departures).
    pub fn record_departures(&mut self) {
        self.departures = Some(Vec::new());
    }

    /// Packets that began to leave by `now` since the last call, in that order, and their due times. The caller empties
    /// the list.
    pub fn departures(&mut self, now: Time) -> Option<&mut Vec<(Time, P)>> {
        self.settle(now);
        self.departures.as_mut()
    }

    /// No packet that begins to leave is due earlier than after this time, as long as the link is not changed.
    pub fn least_delay(&self) -> Span {
        self.least_delay
    }

    /// Settles, where no packet can end by it.
    pub(crate) fn catch_up(&mut self, now: Time) {
        if self.knows_due_at_departure() {
            self.settle(now);
        }
    }

    /// Starts every packet whose turn has come by `now`, each at its own instant.
    pub(crate) fn settle(&mut self, now: Time) {
        debug_assert!(now >= self.clock, "time went back from {} to {now}", self.clock);
        self.clock = now;
        if !self.up {
            return;
        }
        loop {
            let waiting = if let Some(waiting) = self.head.take() {
                waiting
            } else {
                let at = self.shaper.free_at();
                if at > now || self.queue.len() == 0 {
                    return;
                }
                let mut out = Outcome { ended: &mut self.ended, counters: &mut self.counters };
                match self.queue.pop(at, &mut out) {
                    Some(waiting) => waiting,
                    None => continue,
                }
            };
            // Let in under another model, too large for the bucket of this one.
            if !self.shaper.admits(self.framing.framed(waiting.packet.bytes())) {
                let mut out = Outcome { ended: &mut self.ended, counters: &mut self.counters };
                out.end(waiting.packet, Fate::Dropped);
                continue;
            }
            let start = self.start_of(&waiting);
            if start > now {
                self.head = Some(waiting);
                return;
            }
            self.start(start, waiting.packet, waiting.since);
        }
    }

    /// When a packet that has left the queue begins.
    fn start_of(&self, waiting: &QueuedPacket<P>) -> Time {
        let from = self.shaper.free_at().max(waiting.since);
        self.shaper.start(from, self.framing.framed(waiting.packet.bytes()))
    }

    /// Puts a packet into the serialiser if it is free, into the queue if there is room.
    fn admit(&mut self, now: Time, packet: P) -> Result<(), Fate> {
        let idle = self.head.is_none() && self.queue.len() == 0 && self.shaper.free_at() <= now;
        if idle && self.queue.may_be_passed() {
            let framed = self.framing.framed(packet.bytes());
            if !self.shaper.admits(framed) {
                self.counters.dropped_packets += 1;
                return Err(Fate::Dropped);
            }
            if self.shaper.start(now, framed) == now {
                self.start(now, packet, now);
                return Ok(());
            }
        } else if !self.shaper.admits(self.framing.framed(packet.bytes())) {
            self.counters.dropped_packets += 1;
            return Err(Fate::Dropped);
        }
        self.admitted += 1;
        let at = Arrival {
            now,
            number: self.admitted,
            limit: self.limit,
            // The one that waits for tokens counts, since it waits.
            idle: idle && self.head.is_none(),
            idle_since: self.shaper.free_at(),
            typical: self.shaper.typical_time(self.framing.framed(1500)),
            key: self.streams.flow_key(),
            chance: self.streams.queue(),
        };
        let mut out = Outcome { ended: &mut self.ended, counters: &mut self.counters };
        match self.queue.push(packet, at, &mut out) {
            Ok(()) => {
                if idle {
                    self.settle(now);
                }
                Ok(())
            }
            Err(fate) => {
                match fate {
                    Fate::Overflowed => self.counters.overflowed_packets += 1,
                    _ => self.counters.dropped_packets += 1,
                }
                Err(fate)
            }
        }
    }

    /// Lets the first bit of a packet that has waited `since` leave at `start`.
    fn start(&mut self, start: Time, mut packet: P, since: Time) {
        let framed = self.framing.framed(packet.bytes());
        let end = self.shaper.send(start, framed);
        self.counters.wire_bytes += u64::from(framed);
        self.waits.add(start.since(since), 1);
        if self.loss_position == LossPosition::Egress
            && self.loss.drops(self.streams.loss(), end, packet.bytes())
        {
            self.counters.lost_packets += 1;
            self.ended.push_back((packet, Fate::Lost));
            return;
        }
        // Drawn for packets out of order too, so that choosing moves no other packet's delay.
        let mut delay = self.delay.draw(self.streams.delay(), end);
        let mut late = false;
        if let Some(reorder) = &mut self.reordering
            && let Some(other) = reorder.extra_delay(self.streams.reordering())
        {
            (delay, late) = (other, true);
        }
        if self.corrupt > Probability::ZERO {
            let draw = self.streams.corrupt().bits();
            if self.corrupt.occurs(draw) {
                self.counters.corrupted_packets += 1;
                packet.corrupt(draw.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(32));
            }
        }
        self.counters.wire_delay_ps += u128::from(delay.ps());
        let continues = self.wire.last().is_some_and(|last| packet.continues(last));
        let due = self.wire.push(Entry { packet, start, due: end + delay, late, continues });
        if let Some(departures) = &mut self.departures {
            departures.push((due, packet));
        }
    }

    /// How long bytes take, and the delay, if every due time follows from the arrivals before it, without
    /// chance: then nothing is gained by waiting for a packet's turn.
    pub(crate) fn as_pipe(&self) -> Option<(Pace, Span)> {
        let plain = self.up
            && self.queue.is_plain()
            && self.loss_position == LossPosition::Ingress
            && self.coalesce == Span::ZERO
            && !self.reorder
            && self.reordering.is_none()
            && self.duplicate == Probability::ZERO
            && self.corrupt == Probability::ZERO;
        if plain { self.shaper.pace().zip(self.delay.constant()) } else { None }
    }

    /// Whether the loss model takes a packet.
    pub(crate) fn drops(&mut self, now: Time, bytes: u32) -> bool {
        self.loss.drops(self.streams.loss(), now, bytes)
    }

    pub(crate) fn limit(&self) -> QueueLimit {
        self.limit
    }

    pub(crate) fn framing(&self) -> Framing {
        self.framing
    }

    /// Whether no packet will ever be lost by the loss model.
    pub(crate) fn is_lossless(&self) -> bool {
        matches!(self.loss, LossProcess::None)
    }

    /// A packet that is on its way already.
    pub fn put_on_wire(&mut self, packet: P, due: Time) {
        self.wire.push(Entry { packet, start: due, due, late: false, continues: false });
    }

    /// Goes on at `now` with this wire and packets that wait since.
    pub(crate) fn resume(&mut self, now: Time, wire: Serialiser, waiting: impl Iterator<Item = (P, Time)>) {
        self.clock = now;
        self.shaper.resume(wire);
        for (packet, since) in waiting {
            self.admitted += 1;
            let number = self.admitted;
            self.queue.resume(QueuedPacket { packet, since, number }, self.streams.flow_key());
        }
    }

    /// Updates what is derived from the models.
    fn update_shortcuts(&mut self) {
        let least = self.delay.least();
        self.least_delay = self.reordering.as_ref().map_or(least, |reorder| least.min(reorder.least()));
        self.keeps_order = self.shaper.is_steady()
            && self.queue.is_plain()
            && !self.reorder
            && self.reordering.is_none()
            && self.loss_position == LossPosition::Ingress;
    }
}
