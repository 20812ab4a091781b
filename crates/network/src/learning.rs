//! What a bridge learns: behind which of its ports each station is (IEEE 802.1Q, section 8.7).

use longhaul_units::{Span, Time};
use std::collections::BTreeMap;

/// A station that was not seen for this long is forgotten (IEEE 802.1Q, table 8-6).
const AGEING: Span = Span::from_s(300);
/// A station that moves `MOST_MOVES` times within `MOVES_WITHIN` is behind two ports at once (RFC 7432, section 15.1).
const MOST_MOVES: u32 = 5;
const MOVES_WITHIN: Span = Span::from_s(180);
/// Most stations that are known; others are unknown.
const MOST_STATIONS: usize = 1 << 16;

/// Behind which port each station was seen last. `K` is a station, with its bridge if there are several.
#[derive(Debug)]
pub struct LearningTable<K, P> {
    stations: BTreeMap<K, Station<P>>,
}

impl<K, P> Default for LearningTable<K, P> {
    fn default() -> Self {
        LearningTable { stations: BTreeMap::new() }
    }
}

/// What a frame says about where its sender is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sighting<P> {
    /// Behind one port.
    Possible,
    /// Behind two, so that its frames would circulate for ever.
    Looped {
        /// The other port, if the loop was not known before this frame.
        found_at: Option<P>,
    },
}

#[derive(Clone, Copy, Debug)]
struct Station<P> {
    port: P,
    seen: Time,
    /// How often it has moved since when.
    moves: u32,
    since: Time,
}

impl<K: Ord, P: Copy + PartialEq> LearningTable<K, P> {
    /// The port behind which a station is, if it was seen lately.
    pub fn port_of(&self, now: Time, station: &K) -> Option<P> {
        let known = self.stations.get(station).filter(|known| now.since(known.seen) <= AGEING);
        known.map(|known| known.port)
    }

    /// Notes that a station sent a frame which came in by `port`.
    pub fn learn(&mut self, now: Time, port: P, station: K) -> Sighting<P> {
        let is_full = self.stations.len() >= MOST_STATIONS;
        let Some(known) = self.stations.get_mut(&station) else {
            if is_full {
                self.stations.retain(|_, known| now.since(known.seen) <= AGEING);
            }
            if self.stations.len() < MOST_STATIONS {
                self.stations.insert(station, Station { port, seen: now, moves: 0, since: now });
            }
            return Sighting::Possible;
        };
        if now.since(known.since) > MOVES_WITHIN {
            (known.moves, known.since) = (0, now);
        }
        if known.moves >= MOST_MOVES {
            return Sighting::Looped { found_at: None };
        }
        known.seen = now;
        if known.port == port {
            return Sighting::Possible;
        }
        let before = std::mem::replace(&mut known.port, port);
        if known.moves == 0 {
            known.since = now;
        }
        known.moves += 1;
        if known.moves < MOST_MOVES {
            Sighting::Possible
        } else {
            Sighting::Looped { found_at: Some(before) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(s: u64) -> Time {
        Time::ZERO + Span::from_s(s)
    }

    #[test]
    fn a_station_is_behind_the_port_where_it_was_seen_last_for_five_minutes() {
        let mut table = LearningTable::default();
        assert_eq!(table.port_of(at(0), &'a'), None);
        assert_eq!(table.learn(at(0), 1, 'a'), Sighting::Possible);
        assert_eq!(table.port_of(at(300), &'a'), Some(1));
        assert_eq!(table.port_of(at(301), &'a'), None);
        assert_eq!(table.learn(at(301), 2, 'a'), Sighting::Possible);
        assert_eq!(table.port_of(at(301), &'a'), Some(2));
    }

    #[test]
    fn a_station_that_moves_five_times_in_three_minutes_is_in_a_loop_which_is_reported_once() {
        let mut table = LearningTable::default();
        for port in [1, 2, 1, 2, 1] {
            assert_eq!(table.learn(at(0), port, 'a'), Sighting::Possible);
        }
        assert_eq!(table.learn(at(0), 2, 'a'), Sighting::Looped { found_at: Some(1) });
        assert_eq!(table.learn(at(1), 1, 'a'), Sighting::Looped { found_at: None });
        assert_eq!(table.learn(at(1), 1, 'b'), Sighting::Possible, "others are not concerned");
        assert_eq!(table.learn(at(181), 1, 'a'), Sighting::Possible, "the loop was opened");
    }

    #[test]
    fn a_full_table_forgets_nobody_who_is_there() {
        let mut table = LearningTable::default();
        for station in 0..=MOST_STATIONS {
            table.learn(at(0), station % 2, station);
        }
        assert_eq!(table.port_of(at(0), &0), Some(0));
        assert_eq!(table.port_of(at(0), &MOST_STATIONS), None);
        table.learn(at(301), 7, MOST_STATIONS);
        assert_eq!(table.port_of(at(301), &MOST_STATIONS), Some(7), "there is room again");
    }
}
