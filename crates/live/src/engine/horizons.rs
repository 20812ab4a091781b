//! How far each of several engine threads may go: up to the time before which it knows all that the others send it.
//!
//! Simulated ends act at due times, however late the engine is, so that a simulated flow does live what it does in a simulation. For
//! this, no thread may handle an event before it has every packet that is due earlier. Each publishes for each direction that leaves
//! it when the next packet is due at the earliest: the time until which it has handled everything, plus the least delay of the link.
//! A thread whose machine does not run it holds up the others once it is behind by that delay; real packets are late then.

use longhaul_network::DirectionId;
use longhaul_units::{Span, Time};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The least delay that a link counts with: packets of a link with less may come after they were due, and are late then.
///
/// Two threads that wait for each other gain twice this time while each wakes up once, which takes some 70 µs.
pub const LEAST_THREAD_DELAY: Span = Span::from_us(200);
/// A thread publishes so often within the least delay of the links that leave it ...
const TURNS_PER_DELAY: u64 = 4;
/// ... and at least so often.
const LONGEST_TURN: Span = Span::from_ms(5);

/// One thread's view of all horizons.
pub struct Horizons {
    /// By direction: no packet is sent by it any more that is due before this time, in picoseconds.
    shared: Arc<[AtomicU64]>,
    /// Directions to other threads, each with the least delay of its packets.
    exits: Vec<(DirectionId, Span)>,
    /// Directions from other threads.
    entries: Vec<DirectionId>,
    turn: Span,
    /// Until when everything had been handled when it was last published.
    published: Option<Time>,
}

impl Horizons {
    /// For each of `count` threads. `links` are the threads of both ends of each link, and `least_delays` those of all directions.
    pub fn between(links: &[[u32; 2]], count: u32, least_delays: &[Span]) -> Vec<Self> {
        let shared: Arc<[AtomicU64]> = least_delays.iter().map(|_| AtomicU64::new(0)).collect();
        let ends = links.iter().flat_map(|&[near, far]| [(near, far), (far, near)]);
        let directions: Vec<_> = (0..).map(DirectionId).zip(ends).collect();
        let of = |own: u32| {
            let leaves = |&&(_, (near, far)): &&(DirectionId, (u32, u32))| near == own && far != own;
            let comes = |&&(_, (near, far)): &&(DirectionId, (u32, u32))| near != own && far == own;
            let least = |direction: DirectionId| least_delays[direction.0 as usize].max(LEAST_THREAD_DELAY);
            let exits: Vec<_> = directions
                .iter()
                .filter(leaves)
                .map(|&(direction, _)| (direction, least(direction)))
                .collect();
            let shortest = exits.iter().map(|&(_, least)| least).min();
            let turn = shortest.map_or(LONGEST_TURN, |least| Span::from_ps(least.ps() / TURNS_PER_DELAY));
            Horizons {
                shared: Arc::clone(&shared),
                exits,
                entries: directions.iter().filter(comes).map(|&(direction, _)| direction).collect(),
                turn: turn.min(LONGEST_TURN),
                published: None,
            }
        };
        (0..count).map(of).collect()
    }

    /// Everything until `done` has been handled, and what left until then has been sent.
    pub fn publish(&mut self, done: Time) {
        if self.published.is_some_and(|published| done <= published) {
            return;
        }
        self.published = Some(done);
        for &(direction, least_delay) in &self.exits {
            self.shared[direction.0 as usize].store((done + least_delay).ps(), Ordering::Release);
        }
    }

    /// All packets that are due before this time have been sent to this thread.
    pub fn limit(&self) -> Time {
        let horizons = self.entries.iter().map(|entry| &self.shared[entry.0 as usize]);
        horizons.map(|horizon| Time::from_ps(horizon.load(Ordering::Acquire))).min().unwrap_or(Time::NEVER)
    }

    /// The longest time between two times that are published.
    pub fn turn(&self) -> Span {
        self.turn
    }

    /// When the next time is to be published, if nothing happens before.
    pub fn next_turn(&self) -> Time {
        self.published.unwrap_or(Time::ZERO) + self.turn
    }
}

impl Drop for Horizons {
    /// A thread that has ended sends nothing.
    fn drop(&mut self) {
        for (direction, _) in &self.exits {
            self.shared[direction.0 as usize].store(Time::NEVER.ps(), Ordering::Release);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Time {
        Time::ZERO + Span::from_ms(ms)
    }

    /// Three nodes in a row, each on a thread of its own.
    fn three() -> Vec<Horizons> {
        let least = [8_000, 2_000, 4_000, 0].map(Span::from_us);
        Horizons::between(&[[0, 1], [1, 2]], 3, &least)
    }

    #[test]
    fn a_thread_may_go_as_far_as_the_slowest_of_its_neighbours_and_the_delay_of_their_link_let_it() {
        let mut threads = three();
        assert!(threads.iter().all(|each| each.limit() == Time::ZERO));
        threads[0].publish(ms(10));
        assert_eq!(threads[1].limit(), Time::ZERO, "the third has said nothing");
        threads[2].publish(ms(30));
        assert_eq!(threads[1].limit(), ms(18));
        threads[1].publish(ms(16));
        assert_eq!(threads[0].limit(), ms(18));
        assert_eq!(threads[2].limit(), ms(20));
    }

    #[test]
    fn a_thread_says_how_far_it_is_several_times_within_its_shortest_delay() {
        let mut threads = three();
        threads[1].publish(ms(16));
        assert_eq!(threads[1].next_turn(), ms(16) + Span::from_us(500));
        // A link that may lose its delay counts with a little, and packets may be late there.
        assert_eq!(threads[2].next_turn(), Time::ZERO + Span::from_us(50));
    }

    #[test]
    fn nobody_waits_for_a_thread_that_has_ended() {
        let mut threads = three();
        drop(threads.remove(2));
        drop(threads.remove(0));
        assert_eq!(threads[0].limit(), Time::NEVER);
    }
}
