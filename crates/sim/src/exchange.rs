//! What shards tell each other.

use longhaul_endpoints::Carried;
use longhaul_network::{DirectionId, Packet};
use longhaul_units::Time;
use std::hint::spin_loop;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// How often a shard looks whether another one has told it something before it sleeps until then.
const SPINS: u32 = 2_000;
/// A shard that sleeps looks this often whether any other is at work.
const PATIENCE: Duration = if cfg!(test) { Duration::from_millis(20) } else { Duration::from_secs(1) };
/// And gives up when it has found none so many times in a row.
const GIVES_UP_AFTER: u32 = 10;

/// What goes from one shard to another by one direction.
#[derive(Debug)]
pub struct Batch {
    pub direction: DirectionId,
    /// With the times at which they are due, in order.
    pub packets: Vec<(Time, Packet)>,
    pub carried: Carried,
}

impl Batch {
    /// An empty one.
    pub fn new(direction: DirectionId) -> Self {
        Batch { direction, packets: Vec::new(), carried: Carried::default() }
    }
}

/// All that a shard tells another at a time.
#[derive(Debug)]
pub struct Message {
    pub from: u32,
    pub batches: Vec<Batch>,
    /// No packet comes by these directions from now on that is due before.
    pub horizons: Vec<(DirectionId, Time)>,
    /// Empty ones that the other shard can use again.
    pub emptied: Vec<Batch>,
}

/// How a shard hears of the others, and they of it.
pub struct Exchange {
    /// The lock is never contended: it makes simulations `Sync`.
    inbox: Mutex<Receiver<Message>>,
    /// By shard; its own, too, which it does not use.
    peers: Vec<Sender<Message>>,
    /// How many shards neither wait nor have come to the end of the span.
    at_work: Arc<AtomicUsize>,
}

impl Exchange {
    /// Of so many shards.
    pub fn between(count: u32) -> Vec<Exchange> {
        let (peers, inboxes): (Vec<_>, Vec<_>) = (0..count).map(|_| channel()).unzip();
        let at_work = Arc::new(AtomicUsize::new(0));
        let exchange = |inbox| Exchange {
            inbox: Mutex::new(inbox),
            peers: peers.clone(),
            at_work: Arc::clone(&at_work),
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

    /// All shards begin to work, each on its thread.
    pub fn begin(&self) {
        self.at_work.store(self.peers.len(), SeqCst);
    }

    /// What is returned says, when it is dropped, that this shard works no longer.
    pub fn work(&self) -> Work {
        Work(Arc::clone(&self.at_work))
    }

    /// Waits for the next message.
    ///
    /// # Panics
    /// If no other shard is at work for some time: one has panicked, or each waits for another.
    pub fn receive(&mut self) -> Message {
        for _ in 0..SPINS {
            if let Some(message) = self.try_receive() {
                return message;
            }
            spin_loop();
        }
        self.at_work.fetch_sub(1, SeqCst);
        let mut alone = 0;
        loop {
            match self.inbox().recv_timeout(PATIENCE) {
                Ok(message) => {
                    self.at_work.fetch_add(1, SeqCst);
                    return message;
                }
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                    alone = if self.at_work.load(SeqCst) == 0 { alone + 1 } else { 0 };
                    assert!(alone < GIVES_UP_AFTER, "a shard waits for others, and none is at work");
                }
            }
        }
    }
}

/// A shard at work.
pub struct Work(Arc<AtomicUsize>);

impl Drop for Work {
    fn drop(&mut self) {
        // One that gives up while it waits has been counted off.
        let _ = self.0.fetch_update(SeqCst, SeqCst, |count| count.checked_sub(1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(from: u32) -> Message {
        Message { from, batches: Vec::new(), horizons: Vec::new(), emptied: Vec::new() }
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
    #[should_panic(expected = "a shard waits for others, and none is at work")]
    fn a_shard_does_not_wait_for_ever_for_one_that_has_failed() {
        let [first, mut second] = <[Exchange; 2]>::try_from(Exchange::between(2)).ok().unwrap();
        first.begin();
        drop(first.work());
        second.receive();
    }
}
