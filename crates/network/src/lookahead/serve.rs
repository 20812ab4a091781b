//! How a direction of a link handles the packets that have come to it.

use super::channel::Channel;
use super::{Lane, Lookahead, NONE, exit};
use crate::Sink;
use crate::network::Direction;
use crate::packet::{DirectionId, Fate, Packet};
use crate::shard::Boundary;
use crate::totals::Totals;
use longhaul_link::{Admission, Line};
use longhaul_units::Time;

/// The inputs of a direction that several feed, while it is served.
#[derive(Debug, Default)]
pub(super) struct Merge {
    /// Those with packets to handle, by their positions, and where they belong.
    inputs: Vec<(u32, Channel)>,
    /// When the first packet of each comes. The earliest is last.
    heads: Vec<Head>,
}

/// When the first packet of an input comes. At equal instants, the first input's go first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Head {
    at: Time,
    /// Its position in [`Merge::inputs`].
    position: u32,
}

impl Lookahead {
    /// Lets a direction handle what comes before `until`.
    pub(super) fn serve(
        &mut self,
        index: usize,
        until: Time,
        direction: &mut Direction,
        totals: &mut Totals,
        sink: &mut impl Sink,
    ) {
        let channels = &self.channels;
        let comes = |&&input: &&u32| channels[input as usize].first().is_some_and(|at| at < until);
        let mut ready = self.lanes[index].inputs.iter().filter(comes);
        match (ready.next(), ready.next()) {
            (None, _) => {}
            (Some(&only), None) => self.serve_run(index, only, until, direction, totals, sink),
            _ => self.serve_merged(index, until, direction, totals, sink),
        }
        let is_exit = direction.boundary == Boundary::Exit;
        let Line::Pipe(pipe) = &mut direction.link else { return };
        pipe.settle(Time::from_ps(until.ps().saturating_sub(1)));
        self.lanes[index].clock = until;
        if is_exit {
            self.leave(index, sink);
        }
        self.horizons[index] = pipe.earliest_due(until);
    }

    /// Gives what an exit has taken to the other shard.
    fn leave(&mut self, index: usize, sink: &mut impl Sink) {
        let direction = DirectionId(index as u32);
        let channel = &mut self.channels[self.lanes[index].to_host as usize];
        if let Some(exit) = exit(&mut self.exits, index) {
            exit.not_due.extend(channel.waiting().iter().map(|(due, packet)| (*due, packet.bytes)));
        }
        sink.crosses(direction, channel.all());
    }

    /// Handles the packets of the only input that has some, in place.
    #[inline(never)]
    fn serve_run(
        &mut self,
        index: usize,
        input: u32,
        until: Time,
        direction: &mut Direction,
        totals: &mut Totals,
        sink: &mut impl Sink,
    ) {
        let Direction { link: Line::Pipe(pipe), tapped, .. } = direction else { return };
        let lane = &self.lanes[index];
        let hops = lane.hops_to_sole();
        let mut arriving = std::mem::replace(&mut self.channels[input as usize], Channel::new(NONE));
        while arriving.first().is_some_and(|at| at < until) {
            let run = pipe.admit_run(arriving.waiting(), until, |packet, at| {
                packet.offered = at;
                packet.hops += hops;
            });
            totals.hops += run.admitted as u64;
            if *tapped {
                for (due, packet) in &arriving.waiting()[..run.admitted] {
                    sink.passed(DirectionId(index as u32), packet, packet.offered, Ok(*due));
                }
            }
            if lane.sole == NONE {
                for entry in &arriving.waiting()[..run.admitted] {
                    lane.pass_on(&mut self.channels, entry);
                }
                arriving.forget(run.admitted, run.bytes);
            } else {
                arriving.move_on(run.admitted, run.bytes, &mut self.channels[lane.sole as usize]);
            }
            if let Some(fate) = run.refused
                && let Some((at, packet)) = arriving.take(until)
            {
                refuse(index, packet, fate.into(), at, *tapped, totals, sink);
            }
        }
        self.channels[input as usize] = arriving;
    }

    /// Handles the packets of several inputs in the order in which they come.
    #[inline(never)]
    fn serve_merged(
        &mut self,
        index: usize,
        until: Time,
        direction: &mut Direction,
        totals: &mut Totals,
        sink: &mut impl Sink,
    ) {
        let Direction { link: Line::Pipe(pipe), tapped, .. } = direction else { return };
        let Lookahead { lanes, channels, merge: Merge { inputs, heads }, .. } = self;
        let lane = &lanes[index];
        for &input in &lane.inputs {
            let channel = &mut channels[input as usize];
            if let Some(at) = channel.first().filter(|&at| at < until) {
                heads.push(Head { at, position: inputs.len() as u32 });
                inputs.push((input, std::mem::replace(channel, Channel::new(NONE))));
            }
        }
        let mut arrivals =
            Arrivals { index, lane, channels, admission: pipe.admission(), tapped: *tapped, totals, sink };
        if let [(_, first), (_, second)] = &mut inputs[..] {
            heads.clear();
            merge_two(first, second, until, |entry| arrivals.handle(entry));
        } else {
            merge_many(inputs, heads, until, |entry| arrivals.handle(entry));
        }
        arrivals.totals.hops += arrivals.admission.finish().0 as u64;
        for (input, channel) in inputs.drain(..) {
            channels[input as usize] = channel;
        }
    }
}

/// Packets that come to a direction one after the other.
struct Arrivals<'a, S> {
    index: usize,
    lane: &'a Lane,
    channels: &'a mut [Channel],
    admission: Admission<'a, Packet>,
    tapped: bool,
    totals: &'a mut Totals,
    sink: &'a mut S,
}

impl<S: Sink> Arrivals<'_, S> {
    /// Lets a packet in and puts a copy of it where it goes then.
    #[inline(always)]
    fn handle(&mut self, entry: &(Time, Packet)) {
        let (at, Packet { bytes, destination, .. }) = *entry;
        match self.admission.admit(at, bytes) {
            Ok(due) => {
                let onward = self.lane.channel_to(destination);
                let Some(channel) = self.channels.get_mut(onward as usize) else { return };
                let Some(moved) = channel.append(entry) else { return };
                moved.0 = due;
                moved.1.offered = at;
                moved.1.hops += u8::from(onward != self.lane.to_host);
                if self.tapped {
                    self.sink.passed(DirectionId(self.index as u32), &moved.1, at, Ok(due));
                }
            }
            Err(fate) => refuse(self.index, entry.1, fate.into(), at, self.tapped, self.totals, self.sink),
        }
    }
}

/// Hands the packets of two inputs that come before `until` to `handle`, in order. At equal instants, the first input's go
/// first.
#[inline(always)]
fn merge_two(
    first: &mut Channel,
    second: &mut Channel,
    until: Time,
    mut handle: impl FnMut(&(Time, Packet)),
) {
    let (mut counts, mut bytes) = ([0; 2], [0; 2]);
    let waiting = [first.waiting(), second.waiting()];
    let head = |input: usize, count: usize| waiting[input].get(count).map_or(Time::NEVER, |entry| entry.0);
    let mut heads = [head(0, 0), head(1, 0)];
    loop {
        // Packets of two flows take turns, so that no guess of the processor would hold: a number instead of a branch.
        let input = usize::from(heads[1] < heads[0]);
        if heads[input] >= until {
            break;
        }
        let Some(entry) = waiting[input].get(counts[input]) else { break };
        handle(entry);
        counts[input] += 1;
        bytes[input] += u64::from(entry.1.bytes);
        heads[input] = head(input, counts[input]);
    }
    first.forget(counts[0], bytes[0]);
    second.forget(counts[1], bytes[1]);
}

/// The same of any number of inputs; `heads` has their first packets, and is empty in the end.
#[inline(always)]
fn merge_many(
    inputs: &mut [(u32, Channel)],
    heads: &mut Vec<Head>,
    until: Time,
    mut handle: impl FnMut(&(Time, Packet)),
) {
    heads.sort_unstable_by(|a, b| b.cmp(a));
    let end = Head { at: until, position: 0 };
    while let [others @ .., Head { position, .. }] = &heads[..] {
        let position = *position;
        let next = others.last().copied().unwrap_or(end);
        // Its packets go as long as they precede the next input's.
        let last = Time::from_ps(next.at.ps() - u64::from(position > next.position || next.at == until));
        let arriving = &mut inputs[position as usize].1;
        let (mut count, mut bytes) = (0, 0);
        let waiting = arriving.waiting();
        while let Some(entry) = waiting.get(count)
            && entry.0 <= last
        {
            handle(entry);
            count += 1;
            bytes += u64::from(entry.1.bytes);
        }
        let first = waiting.get(count).map(|&(at, _)| at);
        arriving.forget(count, bytes);
        if let Some(at) = first.filter(|&at| at < until) {
            replace_last(heads, Head { at, position });
        } else {
            heads.pop();
        }
    }
}

/// Puts `head` in the place of the last one and then where it belongs among the others, mostly a step away.
#[inline]
fn replace_last(heads: &mut [Head], head: Head) {
    let mut place = heads.len() - 1;
    while place > 0 && heads[place - 1] < head {
        heads[place] = heads[place - 1];
        place -= 1;
    }
    heads[place] = head;
}

/// `packet`, offered to a direction at `at`, ends there.
#[cold]
fn refuse(
    index: usize,
    packet: Packet,
    fate: Fate,
    at: Time,
    tapped: bool,
    totals: &mut Totals,
    sink: &mut impl Sink,
) {
    totals.hops += 1;
    totals.count(fate);
    let direction = DirectionId(index as u32);
    if tapped {
        sink.passed(direction, &packet, at, Err((fate, at)));
    }
    sink.end(Packet { offered: at, ..packet }, fate, at, Some(direction));
}
