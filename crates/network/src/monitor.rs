//! Counts what passes links in short bins of time, as GtrcNET's bandwidth monitor does in hardware.

use crate::network::Network;
use crate::packet::{DirectionId, Fate, Packet};
use longhaul_link::Framing;
use longhaul_plan::{self as plan, Plan, Way};
use longhaul_record::{BinRow, FlowBinRow};
use longhaul_units::{Span, Time};
use std::collections::{BTreeMap, VecDeque};

/// An event of a packet at a direction.
#[derive(Clone, Copy, Debug)]
pub(crate) enum PacketEvent {
    Offered,
    Delivered,
    Ended(Fate),
}

/// Bins that have closed, in order of time for each direction.
#[derive(Debug, Default)]
pub struct Bins {
    /// Of directions; those in which nothing happened and no packet waited have none.
    pub directions: Vec<BinRow>,
    /// Of their flows.
    pub flows: Vec<FlowBinRow>,
}

/// The meters of the monitored directions.
#[derive(Debug)]
pub(crate) struct Monitor {
    /// By direction.
    meters: Vec<Option<Meter>>,
    closed: Bins,
}

/// Counts what passes one direction.
#[derive(Debug)]
struct Meter {
    direction: DirectionId,
    framing: Framing,
    every: Span,
    /// So long after its end, a bin may still count packets that were due in it.
    grace: Span,
    flows: bool,
    /// Bins in which packets may still be counted; the last one is the current one.
    open: VecDeque<Bin>,
}

#[derive(Debug)]
struct Bin {
    ends: Time,
    row: BinRow,
    flows: BTreeMap<u32, FlowBinRow>,
}

impl Network {
    /// Counts the packets of links that `plan` monitors in bins from now on: see [`Self::take_bins`]. A shard counts those in
    /// directions that it owns.
    pub fn monitor(&mut self, plan: &Plan) {
        self.monitor = Monitor::new(plan, |direction| self.owns(direction)).map(Box::new);
        plan.measure.monitor.iter().flat_map(|monitor| &monitor.links).for_each(|&link| self.tap(link));
    }

    /// The bins that have ended by the last [`settle`](Self::settle), and with `all`, at the end of a run, open bins
    /// too.
    pub fn take_bins(&mut self, all: bool) -> Bins {
        let Network { directions, monitor: Some(monitor), .. } = self else { return Bins::default() };
        if all {
            for (place, direction) in directions.iter().enumerate() {
                if let Some((meter, closed)) = monitor.meter(place) {
                    meter.end(direction.link.waiting(), closed);
                }
            }
        }
        monitor.take()
    }

    /// Ends the bins of a direction that end by `now`, each with the queue of that instant.
    pub(crate) fn close_bins(&mut self, direction: DirectionId, now: Time) {
        let Some(monitor) = &mut self.monitor else { return };
        let place = direction.0 as usize;
        let Some((meter, closed)) = monitor.meter(place) else { return };
        while meter.ends() <= now {
            let line = &mut self.directions[place].link;
            line.settle(meter.ends());
            meter.open_next_bin(now, line.waiting(), closed);
        }
    }

    #[inline(never)]
    pub(crate) fn count_offer(&mut self, direction: DirectionId, at: Time, packet: &Packet) {
        self.close_bins(direction, at);
        let fits = packet.bytes <= self.directions[direction.0 as usize].mtu;
        let event = if fits { PacketEvent::Offered } else { PacketEvent::Ended(Fate::TooBig) };
        self.count(direction, at, packet, event);
    }

    pub(crate) fn count(&mut self, direction: DirectionId, at: Time, packet: &Packet, event: PacketEvent) {
        if let Some(monitor) = &mut self.monitor
            && let Some((meter, _)) = monitor.meter(direction.0 as usize)
        {
            meter.count(at, packet, event);
        }
    }
}

impl Monitor {
    /// The monitor that `plan` configures, if it configures one.
    fn new(plan: &Plan, owns: impl Fn(DirectionId) -> bool) -> Option<Self> {
        let config = plan.measure.monitor.as_ref()?;
        let mut meters: Vec<Option<Meter>> = (0..2 * plan.links.len()).map(|_| None).collect();
        for &link in &config.links {
            for (way, model) in
                [(Way::Forward, &plan.links[link].forward), (Way::Reverse, &plan.links[link].reverse)]
            {
                let direction = DirectionId::new(link, way);
                let grace = Span::from_ns(plan.coalesce_ns);
                meters[direction.0 as usize] =
                    owns(direction).then(|| Meter::new(direction, model, config, grace));
            }
        }
        Some(Monitor { meters, closed: Bins::default() })
    }

    /// The meter of a direction, and the bins that it closes.
    #[inline]
    fn meter(&mut self, direction: usize) -> Option<(&mut Meter, &mut Bins)> {
        let Monitor { meters, closed } = self;
        meters[direction].as_mut().map(|meter| (meter, closed))
    }

    /// Takes the closed bins.
    fn take(&mut self) -> Bins {
        std::mem::take(&mut self.closed)
    }
}

impl Meter {
    fn new(direction: DirectionId, model: &plan::Direction, wanted: &plan::Monitor, grace: Span) -> Self {
        let route = model.bundle.as_ref().and_then(|bundle| bundle.routes.first());
        let framing = route.map_or(model.framing, |route| route.framing);
        let every = Span::from_ns(wanted.every_ns);
        let first = Bin::new(direction, Time::ZERO, every);
        Meter { direction, framing, every, grace, flows: wanted.flows, open: VecDeque::from([first]) }
    }

    /// When the current bin ends.
    #[inline]
    fn ends(&self) -> Time {
        self.open.back().map_or(Time::NEVER, |bin| bin.ends)
    }

    /// Ends the current bin, with so many packets and bytes waiting, and begins the next one at `now` or earlier.
    fn open_next_bin(&mut self, now: Time, (packets, bytes): (u64, u64), closed: &mut Bins) {
        let Meter { direction, every, grace, open, .. } = self;
        let Some(last) = open.back_mut() else { return };
        (last.row.queue_packets, last.row.queue_bytes) = (packets, bytes);
        let mut start = last.ends;
        if packets == 0 {
            // No packet is counted before that, because only packets within `grace` are reported late.
            let known = now.ps().saturating_sub(grace.ps());
            start = start.max(Time::from_ps(known - known % every.ps()));
        }
        open.push_back(Bin::new(*direction, start, *every));
        while open.len() > 1
            && open[0].ends + *grace <= now
            && let Some(bin) = open.pop_front()
        {
            bin.close(closed);
        }
    }

    /// Closes all bins, although the current one has not ended, with so many packets and bytes waiting. A current bin
    /// without events is left out.
    fn end(&mut self, (packets, bytes): (u64, u64), closed: &mut Bins) {
        if let Some(last) = self.open.back_mut()
            && !last.row.is_empty()
        {
            (last.row.queue_packets, last.row.queue_bytes) = (packets, bytes);
        }
        self.open.drain(..).for_each(|bin| bin.close(closed));
    }

    /// Counts an event of a packet at `at`.
    fn count(&mut self, at: Time, packet: &Packet, event: PacketEvent) {
        let Meter { direction, framing, flows, open, every, .. } = self;
        // The latest bin that begins by then: nearly always the current one.
        let place = open.iter().rposition(|bin| bin.ends <= at + *every).unwrap_or(0);
        let Some(Bin { row, flows: each, .. }) = open.get_mut(place) else { return };
        let (bytes, wire_bytes) = (u64::from(packet.bytes), u64::from(framing.framed(packet.bytes)));
        let mut none = FlowBinRow::default();
        let flow = match flows {
            true => each.entry(packet.flow).or_insert(FlowBinRow {
                start_ns: row.start_ns,
                link: direction.link() as u32,
                reverse: direction.way() == Way::Reverse,
                flow: packet.flow,
                ..FlowBinRow::default()
            }),
            false => &mut none,
        };
        match event {
            PacketEvent::Offered => {
                row.offered_packets += 1;
                row.offered_bytes += bytes;
                row.offered_wire_bytes += wire_bytes;
                flow.offered_packets += 1;
                flow.offered_bytes += bytes;
            }
            PacketEvent::Delivered => {
                row.delivered_packets += 1;
                row.delivered_bytes += bytes;
                row.delivered_wire_bytes += wire_bytes;
                flow.delivered_packets += 1;
                flow.delivered_bytes += bytes;
            }
            PacketEvent::Ended(fate) => {
                flow.ended_packets += 1;
                match fate {
                    Fate::Lost => row.lost_packets += 1,
                    Fate::Overflowed => row.overflowed_packets += 1,
                    Fate::Dropped => row.dropped_packets += 1,
                    Fate::Down => row.down_packets += 1,
                    Fate::TooBig => row.too_big_packets += 1,
                    Fate::NoRoute
                    | Fate::TtlExpired
                    | Fate::Answered
                    | Fate::PacerDropped
                    | Fate::Filtered
                    | Fate::Looped => {}
                }
            }
        }
    }
}

impl Bin {
    fn new(direction: DirectionId, start: Time, every: Span) -> Self {
        let (link, reverse) = (direction.link() as u32, direction.way() == Way::Reverse);
        let row = BinRow { start_ns: start.ns(), link, reverse, ..BinRow::default() };
        Bin { ends: start + every, row, flows: BTreeMap::new() }
    }

    fn close(self, closed: &mut Bins) {
        if !self.row.is_empty() {
            closed.directions.push(self.row);
            closed.flows.extend(self.flows.into_values());
        }
    }
}
