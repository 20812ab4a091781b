//! Transmissions that seem lost, until it is too late for the receiver to say that they were not.

use crate::outstanding::Stamp;
use serde::Serialize;
use std::collections::{BTreeMap, VecDeque};

/// How long after a retransmission a duplicate may still be reported: longer than any round trip.
const SETTLED_AFTER_NS: u64 = 10_000_000_000;
/// Suspects of a flow at most; beyond, the oldest are settled.
const MOST: usize = 1 << 16;

/// Where a packet was lost, as seen from the place of the capture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Place {
    /// On its way to the capture: it was never seen, only missed.
    Before,
    /// On its way from the capture to the receiver: it was seen.
    Beyond,
}

/// A transmission that did not arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Loss {
    /// When it passed the capture, or, lost before, when the packet behind it did; since 1970.
    pub at_ns: u64,
    /// Packets with data of its flow that were sent before it.
    pub packet: u64,
    /// Packets with data of all flows at this place that were sent before it.
    pub packet_of_all: u64,
    /// Of the data stream before it.
    pub position: u64,
    /// Of its retransmitted data.
    pub bytes: u32,
    /// 1 the first time that these data were sent.
    pub transmission: u16,
    /// When the data were retransmitted.
    pub repaired_at_ns: u64,
    /// Where it was lost.
    pub place: Place,
}

/// Why a transmission is suspected, and whether it is known already that it arrived.
struct Suspect {
    loss: Loss,
    /// It arrived; a report of the duplicate may still come.
    arrived: bool,
}

/// The suspects of one direction of a flow.
#[derive(Default)]
pub(crate) struct Suspects {
    /// By position and serial number: of one position, the later comes later.
    waiting: BTreeMap<(u64, u64), Suspect>,
    /// By the time of the retransmission.
    order: VecDeque<(u64, (u64, u64))>,
    serial: u64,
    settled: Vec<Loss>,
}

/// What is suspected.
pub(crate) struct Suspicion {
    pub(crate) start: u64,
    pub(crate) end: u64,
    pub(crate) position: u64,
    pub(crate) sent: Stamp,
    pub(crate) transmission: u16,
    pub(crate) repaired_at_ns: u64,
    pub(crate) place: Place,
    /// The retransmission was for nothing.
    pub(crate) arrived: bool,
}

impl Suspects {
    pub(crate) fn add(&mut self, each: &Suspicion) {
        let loss = Loss {
            at_ns: each.sent.at_ns,
            packet: each.sent.packet,
            packet_of_all: each.sent.packet_of_all,
            position: each.position,
            bytes: (each.end - each.start) as u32,
            transmission: each.transmission,
            repaired_at_ns: each.repaired_at_ns,
            place: each.place,
        };
        let key = (each.start, self.serial);
        self.serial += 1;
        self.waiting.insert(key, Suspect { loss, arrived: each.arrived });
        self.order.push_back((each.repaired_at_ns, key));
        if self.order.len() > MOST {
            self.settle_first();
        }
    }

    /// The receiver reports `start..end` as duplicates (RFC 2883): one transmission of each part was for
    /// nothing. Returns how many suspects that clears.
    ///
    /// It does not say which; with several, the latest retransmission was the needless one.
    pub(crate) fn duplicates(&mut self, start: u64, end: u64) -> u64 {
        let mut cleared = 0;
        let mut from = (start, 0);
        while let Some((&(position, _), _)) = self.waiting.range(from..(end, 0)).next() {
            let here = || (position, 0)..(position + 1, 0);
            let known = self.waiting.range(here()).find(|(_, each)| each.arrived).map(|(&key, _)| key);
            let latest = self.waiting.range(here()).next_back().map(|(&key, _)| key);
            if let Some(suspect) = known.or(latest).and_then(|key| self.waiting.remove(&key)) {
                cleared += u64::from(!suspect.arrived);
            }
            from = (position + 1, 0);
        }
        cleared
    }

    /// The only transmission of what begins at `start` that was suspected did arrive: true if it counted as
    /// lost until now.
    pub(crate) fn arrived(&mut self, start: u64) -> bool {
        let latest = self.waiting.range_mut((start, 0)..(start + 1, 0)).next_back();
        latest.is_some_and(|(_, suspect)| !std::mem::replace(&mut suspect.arrived, true))
    }

    /// Settles what no report can change any more.
    pub(crate) fn settle(&mut self, now_ns: u64) {
        while self.order.front().is_some_and(|(at_ns, _)| at_ns.saturating_add(SETTLED_AFTER_NS) < now_ns) {
            self.settle_first();
        }
    }

    fn settle_first(&mut self) {
        let Some((_, key)) = self.order.pop_front() else { return };
        if let Some(suspect) = self.waiting.remove(&key).filter(|suspect| !suspect.arrived) {
            self.settled.push(suspect.loss);
        }
    }

    /// All losses, in the order in which the packets were sent; one for each packet.
    pub(crate) fn finish(&mut self) -> Vec<Loss> {
        while !self.order.is_empty() {
            self.settle_first();
        }
        let mut losses = std::mem::take(&mut self.settled);
        losses.sort_by_key(|loss| (loss.packet, loss.position));
        losses.dedup_by(|later, first| {
            let same = later.packet == first.packet;
            first.bytes += if same { later.bytes } else { 0 };
            same
        });
        losses
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_at_the_end_of_all_time_wait_for_ever() {
        let mut suspects = Suspects::default();
        let sent = Stamp { at_ns: 0, packet: 0, packet_of_all: 0 };
        suspects.add(&Suspicion {
            start: 0,
            end: 1,
            position: 0,
            sent,
            transmission: 1,
            repaired_at_ns: u64::MAX,
            place: Place::Beyond,
            arrived: false,
        });
        suspects.settle(u64::MAX);
        assert!(suspects.settled.is_empty());
        assert_eq!(suspects.finish().len(), 1);
    }
}
