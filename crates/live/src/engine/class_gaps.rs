//! Inter-packet gap errors per class of the hosts' pacing, measured where packets are written to their destinations.

use longhaul_network::{DirectionId, Packet};
use longhaul_record::Distribution;
use longhaul_units::{Span, Time};
use std::collections::BTreeMap;

/// Most flows that are distinguished.
const MOST: usize = 1 << 16;

/// A class: the direction before which its host paces, and its position there.
type Class = (u32, usize);

/// Inter-packet gap errors of each class: written gap minus due gap.
#[derive(Default)]
pub struct ClassGaps {
    flows: BTreeMap<u32, Class>,
    classes: BTreeMap<Class, Gaps>,
}

struct Gaps {
    /// Due time and lateness of the previous packet.
    last: (Time, Span),
    errors: Distribution,
}

impl ClassGaps {
    /// Notes which class the packets of a flow belong to.
    pub fn sorted(&mut self, direction: DirectionId, class: usize, packet: &Packet) {
        if self.flows.len() < MOST {
            self.flows.insert(packet.flow, (direction.0, class));
        }
    }

    /// Packets of a flow, due from `first_due` to `due` and `late` then, were written together; they count if
    /// the one before was due within `neighbours`.
    pub fn written(&mut self, flow: u32, (first_due, due): (Time, Time), late: Span, neighbours: Span) {
        let Some(&class) = self.flows.get(&flow) else { return };
        let gaps = self
            .classes
            .entry(class)
            .or_insert_with(|| Gaps { last: (Time::NEVER, Span::ZERO), errors: Distribution::new() });
        let (before, late_before) = std::mem::replace(&mut gaps.last, (due, late));
        if first_due >= before && first_due.since(before) <= neighbours {
            let late_first = late + due.since(first_due);
            let error = late_first.saturating_sub(late_before).max(late_before.saturating_sub(late_first));
            gaps.errors.add(error.ns(), 1);
        }
    }

    /// A packet leaves together with the one before, so that a gap is missing.
    pub fn missing(&mut self, flow: u32, gap: Span) {
        if let Some(class) = self.flows.get(&flow)
            && let Some(gaps) = self.classes.get_mut(class)
        {
            gaps.errors.add(gap.ns(), 1);
        }
    }

    /// The errors of a class; `None` if nothing was measured.
    pub fn errors(&self, direction: DirectionId, class: usize) -> Option<&Distribution> {
        self.classes.get(&(direction.0, class)).map(|gaps| &gaps.errors)
    }
}
