//! Both directions of a connection, and how far its ends are from the capture.

use crate::direction::Direction;
use crate::tcp::{Segment, Stamps};
use serde::Serialize;
use std::net::SocketAddr;

/// Share of the round trip within which a capture counts as taken at an end.
const AT_AN_END: u64 = 10;

/// Where the capture was taken, by the times that answers of either end took.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum View {
    /// Within a tenth of the round trip of who sends the data.
    Sender,
    /// Within a tenth of the round trip of who receives them.
    Receiver,
    /// Farther from both.
    Between,
    /// One of the ends never answered.
    Unknown,
}

/// Of the two ends, the first is who spoke first.
pub(crate) struct Connection {
    pub(crate) place: u32,
    pub(crate) ends: [SocketAddr; 2],
    pub(crate) directions: [Direction; 2],
    /// The shortest time from here to each end and back.
    turns: [Option<u64>; 2],
    /// The latest time stamp of each end, and when it passed, until the other echoes it.
    echoes: [Option<(u32, u64)>; 2],
    stamp: [Option<u32>; 2],
    /// Times of the SYN and of its answer; `None` again if either was repeated.
    shaking: [Option<u64>; 2],
    syn: [Option<u32>; 2],
    pub(crate) last_ns: u64,
}

impl Connection {
    pub(crate) fn new(place: u32, segment: &Segment) -> Self {
        let answer = segment.flags.syn() && segment.flags.ack();
        let ends = if answer {
            [segment.destination, segment.source]
        } else {
            [segment.source, segment.destination]
        };
        Connection {
            place,
            ends,
            directions: Default::default(),
            turns: [None; 2],
            echoes: [None; 2],
            stamp: [None; 2],
            shaking: [None; 2],
            syn: [None; 2],
            last_ns: 0,
        }
    }

    /// Whether `segment` begins another connection between the same ends.
    pub(crate) fn is_over(&self, segment: &Segment) -> bool {
        let from = usize::from(segment.source != self.ends[0]);
        let fresh = segment.flags.syn() && !segment.flags.ack();
        fresh && self.syn[from] != Some(segment.sequence)
    }

    pub(crate) fn outstanding(&self) -> usize {
        self.directions[0].outstanding() + self.directions[1].outstanding()
    }

    pub(crate) fn take(&mut self, segment: &Segment, at_ns: u64, all: &mut u64) {
        let from = usize::from(segment.source != self.ends[0]);
        let to = 1 - from;
        self.last_ns = self.last_ns.max(at_ns);
        if segment.flags.syn() {
            self.shake(segment, from, at_ns);
        } else if from == 0
            && segment.flags.ack()
            && let Some(answered) = self.shaking[1].take()
        {
            self.turned(0, at_ns.checked_sub(answered));
        }
        if let Some(stamps) = segment.options.stamps {
            self.echo(stamps, from, at_ns);
        }
        let round_trip_ns = self.turns[0].zip(self.turns[1]).map(|(one, other)| one.saturating_add(other));
        self.directions[from].data(segment, at_ns, all, round_trip_ns);
        if segment.flags.ack() && !segment.flags.syn() && !segment.flags.reset() {
            let rtt_ns = self.directions[to].acknowledge(segment, at_ns);
            self.turned(from, rtt_ns);
        }
    }

    fn shake(&mut self, segment: &Segment, from: usize, at_ns: u64) {
        if let Some(mss) = segment.options.mss.filter(|&mss| mss > 0) {
            for direction in &mut self.directions {
                direction.mss = Some(direction.mss.map_or(mss, |known| known.min(mss)));
            }
        }
        let repeated = self.syn[from].replace(segment.sequence).is_some();
        let answer = segment.flags.ack();
        if answer && let Some(asked) = self.shaking[0].take() {
            self.turned(from, at_ns.checked_sub(asked));
        }
        self.shaking[usize::from(answer)] = (!repeated).then_some(at_ns);
    }

    /// The first echo of a time stamp closes a loop from here to who echoes it and back.
    fn echo(&mut self, stamps: Stamps, from: usize, at_ns: u64) {
        let to = 1 - from;
        if let Some((value, passed)) = self.echoes[to] {
            let ahead = stamps.echo.wrapping_sub(value) as i32;
            if ahead == 0 {
                self.turned(from, at_ns.checked_sub(passed));
            }
            if ahead >= 0 {
                self.echoes[to] = None;
            }
        }
        // Only the first packet of a value shows when that value began to pass.
        let fresh = self.stamp[from].replace(stamps.value) != Some(stamps.value);
        if fresh && self.echoes[from].is_none() {
            self.echoes[from] = Some((stamps.value, at_ns));
        }
    }

    fn turned(&mut self, end: usize, rtt_ns: Option<u64>) {
        if let Some(rtt_ns) = rtt_ns {
            self.turns[end] = Some(self.turns[end].map_or(rtt_ns, |known| known.min(rtt_ns)));
        }
    }

    /// From here to the sender of a direction and back, and to its receiver and back.
    pub(crate) fn turns(&self, direction: usize) -> [Option<u64>; 2] {
        [self.turns[direction], self.turns[1 - direction]]
    }

    pub(crate) fn view(&self, direction: usize) -> View {
        let [Some(near), Some(far)] = self.turns(direction) else { return View::Unknown };
        match near.saturating_add(far) / AT_AN_END {
            edge if near <= edge => View::Sender,
            edge if far <= edge => View::Receiver,
            _ => View::Between,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tcp::segment;
    use std::net::Ipv4Addr;

    #[test]
    fn round_trips_of_damaged_times_are_long_and_nothing_else() {
        let header = [&[0; 12][..], &[5 << 4], &[0; 7]].concat();
        let address = Ipv4Addr::LOCALHOST.into();
        let data = segment(&header, 21, [address, address], 0).unwrap();
        let mut connection = Connection::new(0, &data);
        connection.turns = [Some(u64::MAX); 2];
        connection.take(&data, 0, &mut 0);
        assert_eq!(connection.directions[0].counts.packets, 1);
    }
}
