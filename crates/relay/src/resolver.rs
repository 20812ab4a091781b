//! Name resolution by the system, in a thread of its own, because it may take seconds.

use crate::Error;
use std::io::{Read, Write};
use std::net::{SocketAddr, ToSocketAddrs};
use std::os::unix::net::UnixStream;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};

/// Most names in the queue.
const WAITING: usize = 1_024;

type Question = (u32, u32, String, u16);
type Answer = (u32, u32, Option<SocketAddr>);

/// Questions and answers of the resolver's thread.
#[derive(Debug)]
pub struct Resolver {
    questions: SyncSender<Question>,
    answers: Receiver<Answer>,
    wake_up: UnixStream,
}

impl Resolver {
    /// Starts the thread, which ends with this.
    pub fn start() -> Result<Self, Error> {
        let failed = || Error::cannot::<std::io::Error>("start a thread");
        let (wake_up, wakes) = UnixStream::pair().map_err(failed())?;
        wake_up.set_nonblocking(true).map_err(failed())?;
        let (questions, asked) = sync_channel(WAITING);
        let (sender, answers) = channel();
        std::thread::Builder::new()
            .name("names".into())
            .spawn(move || answer(&asked, &sender, wakes))
            .map_err(failed())?;
        Ok(Resolver { questions, answers, wake_up })
    }

    /// The descriptor that is readable when there is an answer.
    pub fn answers(&self) -> &UnixStream {
        &self.wake_up
    }

    /// Queues the name of a connection's target; false if the queue is full.
    pub fn ask(&self, slot: u32, generation: u32, name: String, port: u16) -> bool {
        self.questions.try_send((slot, generation, name, port)).is_ok()
    }

    /// The next answer: the connection and its address.
    pub fn answer(&mut self) -> Option<Answer> {
        let mut wakes = [0; 64];
        while self.wake_up.read(&mut wakes).is_ok_and(|bytes| bytes > 0) {}
        self.answers.try_recv().ok()
    }
}

fn answer(asked: &Receiver<Question>, sender: &Sender<Answer>, mut wakes: UnixStream) {
    while let Ok((slot, generation, name, port)) = asked.recv() {
        let found = (name.as_str(), port).to_socket_addrs().ok().and_then(|mut all| all.next());
        if sender.send((slot, generation, found)).is_err() || wakes.write_all(&[1]).is_err() {
            return;
        }
    }
}
