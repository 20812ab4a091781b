//! Messages between the shards of a simulation.

use longhaul_endpoints::PayloadBatch;
use longhaul_network::{DirectionId, Packet};
use longhaul_units::Time;
use std::hint::spin_loop;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Polls of the inbox before a shard sleeps until a message comes.
const SPINS: u32 = 2_000;
/// Interval at which a shard that sleeps checks whether any other is running.
const CHECK_INTERVAL: Duration = if cfg!(test) { Duration::from_millis(20) } else { Duration::from_secs(1) };
/// Checks in a row without a running shard after which a shard fails.
const MAX_IDLE_CHECKS: u32 = 10;

/// Packets that go from one shard to another by one direction.
#[derive(Debug)]
pub struct Batch {
    pub direction: DirectionId,
    /// With their due times, in the order in which they leave.
    pub packets: Vec<(Time, Packet)>,
    pub payloads: PayloadBatch,
}

impl Batch {
    /// An empty one.
    pub fn new(direction: DirectionId) -> Self {
        Batch { direction, packets: Vec::new(), payloads: PayloadBatch::default() }
    }
}

/// A message from one shard to another.
#[derive(Debug)]
pub struct Message {
    pub from: u32,
    pub batches: Vec<Batch>,
    /// No packet comes by these directions from now on that is due before.
    pub horizons: Vec<(DirectionId, Time)>,
    /// Batches to reuse.
    pub empty_batches: Vec<Batch>,
}

/// A shard's connections to the others.
pub struct Exchange {
    /// The lock is never contended: it makes simulations `Sync`.
    inbox: Mutex<Receiver<Message>>,
    /// By shard; its own, too, which it does not use.
    peers: Vec<Sender<Message>>,
    /// Shards that neither wait for a message nor have reached the end of the stride.
    running: Arc<AtomicUsize>,
}

impl Exchange {
    /// Of so many shards.
    pub fn between(count: u32) -> Vec<Exchange> {
        let (peers, inboxes): (Vec<_>, Vec<_>) = (0..count).map(|_| channel()).unzip();
        let running = Arc::new(AtomicUsize::new(0));
        let exchange = |inbox| Exchange {
            inbox: Mutex::new(inbox),
            peers: peers.clone(),
            running: Arc::clone(&running),
        };
        inboxes.into_iter().map(exchange).collect()
    }

    /// The numbers of all shards.
    pub fn peers(&self) -> impl Iterator<Item = u32> {
        0..self.peers.len() as u32
    }

    fn inbox(&mut self) -> &Receiver<Message> {
        self.inbox.get_mut().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn send(&self, peer: u32, message: Message) {
        // The other end is in the same simulation, and lives as long.
        let _ = self.peers[peer as usize].send(message);
    }

    /// The next message, if there is one.
    pub fn try_receive(&mut self) -> Option<Message> {
        self.inbox().try_recv().ok()
    }

    /// Counts all shards as running, before their threads start.
    pub fn begin(&self) {
        self.running.store(self.peers.len(), SeqCst);
    }

    /// A guard that counts this shard as no longer running when it is dropped.
    pub fn running(&self) -> Running {
        Running(Arc::clone(&self.running))
    }

    /// Waits for the next message.
    ///
    /// # Panics
    /// If no shard runs for 10 s: one has panicked, or each waits for another.
    pub fn receive(&mut self) -> Message {
        for _ in 0..SPINS {
            if let Some(message) = self.try_receive() {
                return message;
            }
            spin_loop();
        }
        self.running.fetch_sub(1, SeqCst);
        let mut alone = 0;
        loop {
            match self.inbox().recv_timeout(CHECK_INTERVAL) {
                Ok(message) => {
                    self.running.fetch_add(1, SeqCst);
                    return message;
                }
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                    alone = if self.running.load(SeqCst) == 0 { alone + 1 } else { 0 };
                    assert!(alone < MAX_IDLE_CHECKS, "a shard waits for others, and none is running");
                }
            }
        }
    }
}

/// A running shard.
pub struct Running(Arc<AtomicUsize>);

impl Drop for Running {
    fn drop(&mut self) {
        // A shard that fails while it waits was counted off before.
        let _ = self.0.fetch_update(SeqCst, SeqCst, |count| count.checked_sub(1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(from: u32) -> Message {
        Message { from, batches: Vec::new(), horizons: Vec::new(), empty_batches: Vec::new() }
    }

    #[test]
    fn messages_of_a_shard_come_in_the_order_in_which_it_sent_them() {
        let [first, mut second] = <[Exchange; 2]>::try_from(Exchange::between(2)).ok().unwrap();
        first.begin();
        std::thread::scope(|scope| {
            scope.spawn(move || {
                for number in 0..1_000 {
                    first.send(1, message(number));
                }
            });
            let got: Vec<_> = (0..1_000).map(|_| second.receive().from).collect();
            assert!(got.iter().copied().eq(0..1_000));
        });
        assert!(second.try_receive().is_none());
    }

    #[test]
    #[should_panic(expected = "a shard waits for others, and none is running")]
    fn a_shard_does_not_wait_for_ever_for_one_that_has_failed() {
        let [first, mut second] = <[Exchange; 2]>::try_from(Exchange::between(2)).ok().unwrap();
        first.begin();
        drop(first.running());
        second.receive();
    }
}
