use longhaul_units::{Span, Time};
use std::cmp::Ordering;
use std::collections::{BinaryHeap, VecDeque};

/// A packet that enters the wire.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry<P> {
    pub(crate) packet: P,
    /// When its first bit left, which is when it entered.
    pub(crate) start: Time,
    /// When its last bit arrives, as far as its own delay goes.
    pub(crate) due: Time,
    /// It was chosen to come out of order.
    pub(crate) late: bool,
    /// It continues the super-packet of the entry before it.
    pub(crate) continues: bool,
}

/// What is under way, whether its last bit has left the serialiser or not.
#[derive(Debug)]
pub(crate) enum Wire<P> {
    /// Packets keep their order, except those that the reordering model delays.
    Ordered(OrderedWire<P>),
    /// Packets come out in order of their due times; of equal ones the first in is the first out.
    Reordering(ReorderingWire<P>),
}

impl<P: Copy> Wire<P> {
    pub(crate) fn new(reorder: bool, coalesce: Span) -> Self {
        if reorder {
            Wire::Reordering(ReorderingWire::new(Time::ZERO))
        } else {
            Wire::Ordered(OrderedWire::new(coalesce))
        }
    }

    /// Lets packets overtake from now on, or no longer. Packets on the wire arrive as they would have; packets that
    /// enter a wire that keeps the order again arrive after all of them.
    pub(crate) fn set_reorder(&mut self, now: Time, reorder: bool, coalesce: Span) {
        match self {
            Wire::Ordered(ordered) if reorder => {
                let mut reordering = ReorderingWire::new(now);
                while let Some((packet, due)) = ordered.take(Time::NEVER) {
                    reordering.insert(packet, due);
                }
                *self = Wire::Reordering(reordering);
            }
            Wire::Reordering(reordering) if !reorder => {
                let mut ordered = OrderedWire::new(coalesce);
                while let Some(first) = reordering.heap.pop() {
                    let (packet, due) = (first.packet, first.due);
                    ordered.push(Entry { packet, start: due, due, late: false, continues: false });
                }
                *self = Wire::Ordered(ordered);
            }
            _ => {}
        }
    }

    /// Joins packets that enter from now on if they are due within another span.
    pub(crate) fn set_coalesce(&mut self, coalesce: Span) {
        if let Wire::Ordered(ordered) = self {
            ordered.set_coalesce(coalesce);
        }
    }

    /// Packets under way.
    pub(crate) fn len(&self) -> usize {
        match self {
            Wire::Ordered(ordered) => ordered.main.len() + ordered.late.len(),
            Wire::Reordering(reordering) => reordering.heap.len(),
        }
    }

    /// Takes a packet, and says when it will be due.
    pub(crate) fn push(&mut self, entry: Entry<P>) -> Time {
        match self {
            Wire::Ordered(ordered) if entry.late => ordered.push_late(entry),
            Wire::Ordered(ordered) => ordered.push(entry),
            Wire::Reordering(reordering) => reordering.push(entry),
        }
    }

    /// When the next packet may be taken.
    pub(crate) fn next(&self) -> Time {
        match self {
            Wire::Ordered(ordered) => ordered.next(),
            Wire::Reordering(reordering) => reordering.next(),
        }
    }

    /// The next packet that may be taken by `now`, with its due time.
    pub(crate) fn take(&mut self, now: Time) -> Option<(P, Time)> {
        match self {
            Wire::Ordered(ordered) => ordered.take(now),
            Wire::Reordering(reordering) if reordering.next() <= now => {
                reordering.heap.pop().map(|first| (first.packet, first.due))
            }
            Wire::Reordering(_) => None,
        }
    }

    /// Calls `each` with every packet that is due before `before`, in the order in which they come out.
    pub(crate) fn upcoming(&self, before: Time, mut each: impl FnMut(&P, Time)) {
        match self {
            Wire::Ordered(ordered) => ordered.upcoming(before, each),
            Wire::Reordering(reordering) if reordering.next() < before => {
                let mut found: Vec<_> = reordering.heap.iter().filter(|packet| packet.due < before).collect();
                found.sort_unstable_by_key(|packet| (packet.due, packet.number));
                for packet in found {
                    each(&packet.packet, packet.due);
                }
            }
            Wire::Reordering(_) => {}
        }
    }

    /// Whether there are packets that none passes which enters from now on, unless it is late. Packets that are late by
    /// an earlier model of reordering hold none back.
    pub(crate) fn keeps_order(&self) -> bool {
        match self {
            Wire::Ordered(ordered) => !ordered.main.is_empty(),
            Wire::Reordering(_) => false,
        }
    }

    /// The packet that entered last, if it can still be joined by one that continues it.
    pub(crate) fn last(&self) -> Option<&P> {
        match self {
            Wire::Ordered(ordered) if ordered.coalesce > Span::ZERO => {
                ordered.main.back().map(|last| &last.0)
            }
            _ => None,
        }
    }
}

/// Two rings, each in order of due times.
#[derive(Debug)]
pub(crate) struct OrderedWire<P> {
    main: VecDeque<(P, Time)>,
    /// With each late packet, how many packets had entered `main` before it.
    late: VecDeque<(P, Time, u64)>,
    last_due: Time,
    entered: u64,
    coalesce: Span,
    /// `main` from its front, cut into runs that are taken together. Packets that entered while `coalesce`
    /// was zero are in none; they are behind all others.
    groups: VecDeque<Group>,
}

/// Segments of one super-packet that leave together.
#[derive(Clone, Copy, Debug)]
struct Group {
    first_due: Time,
    last_due: Time,
    packets: u64,
    /// Whether segments may still join.
    is_open: bool,
}

impl<P: Copy> OrderedWire<P> {
    fn new(coalesce: Span) -> Self {
        OrderedWire {
            main: VecDeque::new(),
            late: VecDeque::new(),
            last_due: Time::ZERO,
            entered: 0,
            coalesce,
            groups: VecDeque::new(),
        }
    }

    fn push(&mut self, entry: Entry<P>) -> Time {
        let due = entry.due.max(self.last_due);
        self.last_due = due;
        self.entered += 1;
        self.main.push_back((entry.packet, due));
        if self.coalesce == Span::ZERO {
            return due;
        }
        match self.groups.back_mut() {
            // A packet that enters after a group has become due cannot join it, whenever the link is polled.
            Some(group)
                if group.is_open
                    && entry.continues
                    && entry.start <= group.last_due
                    && due <= group.first_due + self.coalesce =>
            {
                group.packets += 1;
                group.last_due = due;
            }
            _ => self.groups.push_back(Group { first_due: due, last_due: due, packets: 1, is_open: true }),
        }
        due
    }

    /// The late packets of one model have one delay, and come in order; those of another may be due earlier.
    fn push_late(&mut self, entry: Entry<P>) -> Time {
        let place = self.late.partition_point(|&(_, due, _)| due <= entry.due);
        self.late.insert(place, (entry.packet, entry.due, self.entered));
        entry.due
    }

    fn set_coalesce(&mut self, coalesce: Span) {
        // Packets without a group get one each, so that those that enter from now on are behind a group again.
        let grouped: u64 = self.groups.iter().map(|group| group.packets).sum();
        if coalesce > Span::ZERO {
            let alone = self.main.iter().skip(grouped as usize);
            let alone =
                alone.map(|&(_, due)| Group { first_due: due, last_due: due, packets: 1, is_open: false });
            self.groups.extend(alone);
        }
        if let Some(last) = self.groups.back_mut() {
            last.is_open = false;
        }
        self.coalesce = coalesce;
    }

    fn main_next(&self) -> Time {
        match self.groups.front() {
            Some(group) => group.last_due,
            None => self.main.front().map_or(Time::NEVER, |head| head.1),
        }
    }

    fn late_next(&self) -> Time {
        self.late.front().map_or(Time::NEVER, |head| head.1)
    }

    fn next(&self) -> Time {
        self.main_next().min(self.late_next())
    }

    fn take(&mut self, now: Time) -> Option<(P, Time)> {
        if self.next() > now {
            return None;
        }
        // If only a late packet is due, the part of a group that is due before it goes ahead.
        if self.late_is_first() {
            return self.late.pop_front().map(|(packet, due, _)| (packet, due));
        }
        if let Some(group) = self.groups.front_mut() {
            group.packets -= 1;
            if group.packets == 0 {
                self.groups.pop_front();
            }
        }
        self.main.pop_front()
    }

    /// Whether the first of `late` comes out before the first of `main`.
    fn late_is_first(&self) -> bool {
        let Some(&(_, late_due, entered_before)) = self.late.front() else { return false };
        let Some(&(_, main_due)) = self.main.front() else { return true };
        let left = self.entered - self.main.len() as u64;
        late_due < main_due || (late_due == main_due && entered_before <= left)
    }

    fn upcoming(&self, before: Time, mut each: impl FnMut(&P, Time)) {
        let (mut main, mut late) = (self.main.iter().peekable(), self.late.iter().peekable());
        let mut left = self.entered - self.main.len() as u64;
        loop {
            let next_late = late.peek().filter(|next| next.1 < before);
            match main.peek().filter(|next| next.1 < before) {
                Some(&&(ref packet, due)) => {
                    if let Some(&&(ref other, earlier, entered_before)) = next_late
                        && (earlier < due || (earlier == due && entered_before <= left))
                    {
                        each(other, earlier);
                        late.next();
                    } else {
                        each(packet, due);
                        left += 1;
                        main.next();
                    }
                }
                None => match next_late {
                    Some(&&(ref other, due, _)) => {
                        each(other, due);
                        late.next();
                    }
                    None => return,
                },
            }
        }
    }
}

/// A heap in order of due times.
#[derive(Debug)]
pub(crate) struct ReorderingWire<P> {
    heap: BinaryHeap<PendingPacket<P>>,
    entered: u64,
    /// Since when packets may overtake. Packets that were due before, and waited for segments to join, leave then.
    since: Time,
}

#[derive(Debug)]
struct PendingPacket<P> {
    due: Time,
    number: u64,
    packet: P,
}

impl<P> ReorderingWire<P> {
    fn new(since: Time) -> Self {
        ReorderingWire { heap: BinaryHeap::with_capacity(64), entered: 0, since }
    }

    fn next(&self) -> Time {
        self.heap.peek().map_or(Time::NEVER, |first| first.due.max(self.since))
    }

    fn push(&mut self, entry: Entry<P>) -> Time {
        self.insert(entry.packet, entry.due);
        entry.due
    }

    fn insert(&mut self, packet: P, due: Time) {
        self.heap.push(PendingPacket { due, number: self.entered, packet });
        self.entered += 1;
    }
}

impl<P> Ord for PendingPacket<P> {
    /// The greatest is the first to come out.
    fn cmp(&self, other: &Self) -> Ordering {
        (other.due, other.number).cmp(&(self.due, self.number))
    }
}

impl<P> PartialOrd for PendingPacket<P> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<P> PartialEq for PendingPacket<P> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl<P> Eq for PendingPacket<P> {}
