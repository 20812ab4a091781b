use longhaul_random::{Seed, Stream};

/// The random streams of a link, each made when it is first drawn from: most links draw from none or one.
#[derive(Debug)]
pub(crate) struct Streams {
    seed: Seed,
    name: Box<str>,
    loss: Option<Box<Stream>>,
    queue: Option<Box<Stream>>,
    delay: Option<Box<Stream>>,
    reordering: Option<Box<Stream>>,
    duplicate: Option<Box<Stream>>,
    corrupt: Option<Box<Stream>>,
    flow_key: Option<u64>,
}

impl Streams {
    /// The streams `<name>/loss` and so on of `seed`.
    pub(crate) fn new(seed: Seed, name: &str) -> Self {
        Streams {
            seed,
            name: name.into(),
            loss: None,
            queue: None,
            delay: None,
            reordering: None,
            duplicate: None,
            corrupt: None,
            flow_key: None,
        }
    }

    pub(crate) fn loss(&mut self) -> &mut Stream {
        self.loss.get_or_insert_with(|| open(self.seed, &self.name, "loss"))
    }

    pub(crate) fn queue(&mut self) -> &mut Stream {
        self.queue.get_or_insert_with(|| open(self.seed, &self.name, "queue"))
    }

    pub(crate) fn delay(&mut self) -> &mut Stream {
        self.delay.get_or_insert_with(|| open(self.seed, &self.name, "delay"))
    }

    pub(crate) fn reordering(&mut self) -> &mut Stream {
        self.reordering.get_or_insert_with(|| open(self.seed, &self.name, "out-of-order"))
    }

    pub(crate) fn duplicate(&mut self) -> &mut Stream {
        self.duplicate.get_or_insert_with(|| open(self.seed, &self.name, "duplicate"))
    }

    pub(crate) fn corrupt(&mut self) -> &mut Stream {
        self.corrupt.get_or_insert_with(|| open(self.seed, &self.name, "corrupt"))
    }

    /// The key of hashes of flows.
    pub(crate) fn flow_key(&mut self) -> u64 {
        *self.flow_key.get_or_insert_with(|| open(self.seed, &self.name, "flow-hash").bits())
    }
}

#[cold]
fn open(seed: Seed, name: &str, purpose: &str) -> Box<Stream> {
    Box::new(seed.stream(&format!("{name}/{purpose}")))
}
