//! Waiting as Longcut waits: many threads, of which one at a time spins.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// Lets threads wait for instants. While one of them spins, all others block. The spinning thread wakes threads that
/// are due; when it is due itself, the thread that is due next takes over.
#[derive(Debug, Default)]
pub struct Spinner {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Whether a thread spins, or has been chosen to.
    spinning: bool,
    /// Blocked threads by their due times; the number distinguishes equal times.
    blocked: BTreeMap<(Instant, u64), Arc<Waiter>>,
    next: u64,
}

#[derive(Debug, Default)]
struct Waiter {
    signal: Condvar,
    /// Whether it was woken to spin, not because it is due.
    chosen: AtomicBool,
}

impl Spinner {
    /// A spinner without threads.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns at `done`.
    pub fn wait_until(&self, done: Instant) {
        let mut state = self.lock();
        if state.spinning {
            let key = (done, state.next);
            state.next += 1;
            let waiter = Arc::new(Waiter::default());
            state.blocked.insert(key, Arc::clone(&waiter));
            // The thread that wakes this one has removed it.
            while state.blocked.contains_key(&key) {
                state = waiter.signal.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
            if !waiter.chosen.load(Relaxed) {
                return;
            }
        }
        state.spinning = true;
        let mut next = Self::wake(&mut state);
        drop(state);
        loop {
            let now = Instant::now();
            if now >= done {
                let mut state = self.lock();
                Self::wake(&mut state);
                Self::hand_over(&mut state);
                return;
            }
            // The paper looks at every blocked thread in every turn; the earliest one is enough.
            if next.is_none_or(|next| now >= next) || self.next_has_changed(next) {
                next = Self::wake(&mut self.lock());
            }
            std::thread::yield_now();
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a thread that is due earlier than `next` has blocked since.
    fn next_has_changed(&self, next: Option<Instant>) -> bool {
        let Ok(state) = self.state.try_lock() else { return false };
        state.blocked.first_key_value().map(|(key, _)| key.0) != next
    }

    /// Wakes threads that are due; returns when the next one is.
    fn wake(state: &mut State) -> Option<Instant> {
        let now = Instant::now();
        while let Some(first) = state.blocked.first_entry() {
            if first.key().0 > now {
                return Some(first.key().0);
            }
            first.remove().signal.notify_one();
        }
        None
    }

    /// Lets the blocked thread that is due next spin, if there is one.
    fn hand_over(state: &mut State) {
        match state.blocked.pop_first() {
            Some((_, waiter)) => {
                waiter.chosen.store(true, Relaxed);
                waiter.signal.notify_one();
            }
            None => state.spinning = false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn nobody_returns_early_and_everybody_returns() {
        let spinner = Spinner::new();
        let begun = Instant::now();
        std::thread::scope(|scope| {
            for number in 0..40u64 {
                let spinner = &spinner;
                scope.spawn(move || {
                    for turn in 0..5u64 {
                        let done = begun + Duration::from_millis(10 * turn + (number * 7) % 10);
                        spinner.wait_until(done);
                        assert!(Instant::now() >= done);
                    }
                });
            }
        });
        let state = spinner.lock();
        assert!(!state.spinning && state.blocked.is_empty());
    }

    #[test]
    fn an_instant_that_has_passed_is_not_waited_for() {
        let spinner = Spinner::new();
        let begun = Instant::now();
        spinner.wait_until(begun);
        assert!(begun.elapsed() < Duration::from_millis(100));
    }
}
