//! What shards tell each other.

use longhaul_endpoints::Carried;
use longhaul_network::{DirectionId, Packet};
use longhaul_units::Time;
use std::hint::spin_loop;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// How often a shard looks whether another one has told it something before it sleeps until then.
const SPINS: u32 = 2_000;
/// A shard that sleeps looks this often whether another one has failed.
const PATIENCE: Duration = Duration::from_secs(1);

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
    failure: Arc<AtomicBool>,
}

impl Exchange {
    /// Of so many shards.
    pub fn between(count: u32) -> Vec<Exchange> {
        let (peers, inboxes): (Vec<_>, Vec<_>) = (0..count).map(|_| channel()).unzip();
        let failure = Arc::new(AtomicBool::new(false));
        let exchange = |inbox| Exchange {
            inbox: Mutex::new(inbox),
            peers: peers.clone(),
            failure: Arc::clone(&failure),
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

    /// Waits for the next message.
    ///
    /// # Panics
    /// If another shard has panicked.
    pub fn receive(&mut self) -> Message {
        for _ in 0..SPINS {
            if let Some(message) = self.try_receive() {
                return message;
            }
            spin_loop();
        }
        loop {
            match self.inbox().recv_timeout(PATIENCE) {
                Ok(message) => return message,
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                    assert!(!self.failure.load(Ordering::Relaxed), "another shard has failed");
                }
            }
        }
    }

    /// Lets the others know if the thread of this shard panics while what is returned lives.
    pub fn guard(&self) -> Guard {
        Guard(Arc::clone(&self.failure))
    }
}

/// Tells the other shards when it is dropped in a panic.
pub struct Guard(Arc<AtomicBool>);

impl Drop for Guard {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.store(true, Ordering::Relaxed);
        }
    }
}
