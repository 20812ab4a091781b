use crate::LinkPacket;
use longhaul_units::{Span, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, VecDeque};

/// Putting packets back into the order in which they were offered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Resequence {
    /// How long a packet waits for those that were offered before it.
    #[serde(rename = "wait_ns")]
    pub wait: Span,
    /// How many bytes may wait; when there are more, the first in order go.
    pub limit_bytes: u64,
}

/// A resequencer at work: packets with numbers below `expected` have been released or given up.
#[derive(Debug)]
pub(crate) struct Resequencer<P> {
    settings: Resequence,
    expected: u64,
    held: BTreeMap<u64, (P, Time)>,
    bytes: u64,
    /// The time-outs of held packets, in order; some packets have left since.
    deadlines: VecDeque<(Time, u64)>,
    /// Sum of the times that released packets were held since it was last read, in picoseconds.
    pub(crate) held_ps: u128,
}

impl<P: LinkPacket> Resequencer<P> {
    pub(crate) fn new(settings: Resequence) -> Self {
        Resequencer {
            settings,
            expected: 0,
            held: BTreeMap::new(),
            bytes: 0,
            deadlines: VecDeque::new(),
            held_ps: 0,
        }
    }

    pub(crate) fn len(&self) -> u64 {
        self.held.len() as u64
    }

    /// The first time-out; [`Time::NEVER`] if no packet is held.
    pub(crate) fn deadline(&self) -> Time {
        let waits = |&&(_, number): &&(Time, u64)| number >= self.expected;
        self.deadlines.iter().find(waits).map_or(Time::NEVER, |first| first.0)
    }

    /// A packet comes at `at`; times do not go back.
    pub(crate) fn arrive(&mut self, number: u64, packet: P, at: Time, out: &mut VecDeque<(P, Time)>) {
        self.expire(at, out);
        if number < self.expected || self.held.contains_key(&number) {
            // Too late, or a copy.
            out.push_back((packet, at));
            return;
        }
        if number == self.expected {
            self.expected += 1;
            out.push_back((packet, at));
            self.release(at, out);
            return;
        }
        self.bytes += u64::from(packet.bytes());
        self.held.insert(number, (packet, at));
        self.deadlines.push_back((at + self.settings.wait, number));
        while self.bytes > self.settings.limit_bytes {
            let Some((&first, _)) = self.held.first_key_value() else { break };
            self.expected = first;
            self.release(at, out);
        }
    }

    /// Releases packets whose time-outs end by `now`, each at that time, and all packets before them.
    pub(crate) fn expire(&mut self, now: Time, out: &mut VecDeque<(P, Time)>) {
        while let Some(&(deadline, number)) = self.deadlines.front() {
            if number >= self.expected {
                if deadline > now {
                    return;
                }
                while let Some((&first, _)) = self.held.first_key_value() {
                    if first > number {
                        break;
                    }
                    self.expected = first;
                    self.release(deadline, out);
                }
            }
            self.deadlines.pop_front();
        }
    }

    /// Releases those that are next in order.
    fn release(&mut self, at: Time, out: &mut VecDeque<(P, Time)>) {
        while let Some(entry) = self.held.first_entry() {
            if *entry.key() != self.expected {
                return;
            }
            let (packet, since) = entry.remove();
            self.bytes -= u64::from(packet.bytes());
            self.held_ps += u128::from(at.since(since).ps());
            self.expected += 1;
            out.push_back((packet, at));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Copy, Debug, PartialEq)]
    struct Packet(u64);

    impl LinkPacket for Packet {
        fn bytes(&self) -> u32 {
            1000
        }
    }

    fn play(settings: Resequence, arrivals: &[(u64, u64)]) -> Vec<(u64, u64)> {
        let mut resequencer = Resequencer::new(settings);
        let mut out = VecDeque::new();
        for &(number, us) in arrivals {
            resequencer.arrive(number, Packet(number), Time::from_ns(us * 1000), &mut out);
        }
        resequencer.expire(Time::from_ns(1_000_000_000), &mut out);
        assert_eq!((resequencer.len(), resequencer.deadline()), (0, Time::NEVER));
        out.into_iter().map(|(packet, due)| (packet.0, due.ns() / 1000)).collect()
    }

    const SETTINGS: Resequence = Resequence { wait: Span::from_us(100), limit_bytes: 10_000 };

    #[test]
    fn those_that_are_early_wait_for_the_one_that_is_late() {
        let got = play(SETTINGS, &[(0, 1), (2, 2), (3, 3), (1, 9), (4, 10)]);
        assert_eq!(got, [(0, 1), (1, 9), (2, 9), (3, 9), (4, 10)]);
    }

    #[test]
    fn patience_ends_after_the_wait_and_the_late_one_goes_by_itself() {
        let got = play(SETTINGS, &[(0, 0), (2, 10), (3, 50), (1, 300), (4, 310)]);
        // 2 waited from 10 to 110, and 3, next in order, goes with it.
        assert_eq!(got, [(0, 0), (2, 110), (3, 110), (1, 300), (4, 310)]);
    }

    #[test]
    fn memory_is_bounded_by_letting_the_first_in_order_go() {
        let settings = Resequence { limit_bytes: 2_000, ..SETTINGS };
        let got = play(settings, &[(0, 0), (3, 10), (2, 20), (5, 30), (1, 40), (4, 50)]);
        // With 5 there are three: 2 goes, and 3 behind it. 1 is late then.
        assert_eq!(got, [(0, 0), (2, 30), (3, 30), (1, 40), (4, 50), (5, 50)]);
    }

    #[test]
    fn copies_pass_through() {
        assert_eq!(
            play(SETTINGS, &[(0, 0), (0, 1), (2, 2), (2, 3), (1, 4)]),
            [(0, 0), (0, 1), (2, 3), (1, 4), (2, 4)]
        );
    }
}
