//! Addresses of names, asked of the system by a thread of its own, since that may take seconds.

use std::io::{Read, Write};
use std::net::{SocketAddr, ToSocketAddrs};
use std::os::unix::net::UnixStream;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};

/// Names that may wait.
const WAITING: usize = 1_024;

type Question = (u32, u32, String, u16);
type Answer = (u32, u32, Option<SocketAddr>);

/// Asks and answers.
#[derive(Debug)]
pub struct Resolver {
    questions: SyncSender<Question>,
    answers: Receiver<Answer>,
    bell: UnixStream,
}

impl Resolver {
    /// Starts the thread, which ends with this.
    pub fn start() -> Result<Self, String> {
        let failed = |error: std::io::Error| format!("cannot start a thread: {error}");
        let (bell, rings) = UnixStream::pair().map_err(failed)?;
        bell.set_nonblocking(true).map_err(failed)?;
        let (questions, asked) = sync_channel(WAITING);
        let (sender, answers) = channel();
        std::thread::Builder::new()
            .name("names".into())
            .spawn(move || answer(&asked, &sender, rings))
            .map_err(failed)?;
        Ok(Resolver { questions, answers, bell })
    }

    /// What is to be watched for answers.
    pub fn answers(&self) -> &UnixStream {
        &self.bell
    }

    /// Asks for the address of a name, for the connection in a place; whether there is room for that.
    pub fn ask(&self, slot: u32, generation: u32, name: String, port: u16) -> bool {
        self.questions.try_send((slot, generation, name, port)).is_ok()
    }

    /// An answer: for whom, and what.
    pub fn answer(&mut self) -> Option<Answer> {
        let mut rings = [0; 64];
        while self.bell.read(&mut rings).is_ok_and(|bytes| bytes > 0) {}
        self.answers.try_recv().ok()
    }
}

fn answer(asked: &Receiver<Question>, sender: &Sender<Answer>, mut rings: UnixStream) {
    while let Ok((slot, generation, name, port)) = asked.recv() {
        let found = (name.as_str(), port).to_socket_addrs().ok().and_then(|mut all| all.next());
        if sender.send((slot, generation, found)).is_err() || rings.write_all(&[1]).is_err() {
            return;
        }
    }
}
