//! All guests of a run, and their clock.

use crate::error::{Error, Result};
use crate::guest::{Card, Guest, GuestCounters, MOST_CARDS, Outbox, Port, Sent};
use crate::protocol::{Connection, Operation, Read};
use crate::vhost::Device;
use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout};
use std::fs::File;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::time::{Duration, Instant};

/// The name of the socket about time, in the guests' directory.
pub const TIME_SOCKET: &str = "time";

/// How long a kernel that has connected may take for its first message.
const FIRST_MESSAGE_TIMEOUT: Duration = Duration::from_secs(10);
/// How long to wait for a message of the only running guest before other descriptors are polled.
const POLL_INTERVAL: Duration = Duration::from_millis(5);

/// No place.
const NOWHERE: usize = usize::MAX;

/// How far [`Guests::run_until`] has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Progress {
    /// No guest has anything to do before the horizon.
    Reached,
    /// The guests that run have sent no message for the given time.
    Silent,
}

/// For how long, of real time, and how often several guests ran at the same time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Overlap {
    /// In all.
    pub length: Duration,
    /// How often.
    pub times: u64,
}

impl Overlap {
    fn add(&mut self, length: Duration) {
        self.length += length;
        self.times += 1;
    }
}

/// A guest that is to be there.
#[derive(Clone, Debug)]
pub struct GuestSpec {
    /// Its number in the run, which its kernel knows, too.
    pub number: usize,
    /// Its name in messages.
    pub name: String,
    /// Its network cards.
    pub cards: Vec<Card>,
}

/// Guests whose clock this is, called by their numbers in the run.
pub struct Guests {
    all: Vec<Guest>,
    /// By the number of a guest, its place among them; [`NOWHERE`] for one that is not here.
    places: Vec<usize>,
    epoll: Epoll,
    time: UnixListener,
    /// By guest and the places of its ports.
    listeners: Vec<Vec<UnixListener>>,
    /// Unix time of the clock's zero.
    unix_ns: u64,
    out: Outbox,
    overlap: Overlap,
}

/// What a descriptor is for.
#[derive(Clone, Copy, Debug)]
enum Source {
    Time,
    Listener(Port),
    Guest,
    Device(Port),
}

impl Source {
    /// Two bits for the kind, six for the place of a port, and the guest above.
    fn token(self, guest: usize) -> u64 {
        let (kind, place) = match self {
            Source::Time => (0, 0),
            Source::Guest => (1, 0),
            Source::Listener(port) => (2, port.place()),
            Source::Device(port) => (3, port.place()),
        };
        (guest as u64) << 8 | (place as u64) << 2 | kind
    }

    fn of(token: u64) -> (Self, usize) {
        let port = Port::at((token >> 2 & 0x3f) as usize);
        let source = match token & 3 {
            0 => Source::Time,
            1 => Source::Guest,
            2 => Source::Listener(port),
            _ => Source::Device(port),
        };
        (source, (token >> 8) as usize)
    }
}

/// The name of the socket of a device, in the guests' directory.
pub fn socket_name(guest: usize, port: Port) -> String {
    match port {
        Port::Network(card) => format!("net.{guest}.{card}"),
        Port::Console => format!("console.{guest}"),
    }
}

impl Guests {
    /// Opens the sockets of these guests, with one to [`MOST_CARDS`] cards each, in `directory`. `unix_ns` is the
    /// Unix time of the clock's zero.
    ///
    /// # Errors
    /// If a guest has no card or too many, or a socket cannot be opened.
    pub fn listen(directory: &Path, guests: Vec<GuestSpec>, unix_ns: u64) -> Result<Self> {
        let is_wrong = |guest: &&GuestSpec| !(1..=MOST_CARDS).contains(&guest.cards.len());
        if let Some(guest) = guests.iter().find(is_wrong) {
            return Err(Error::Cards { guest: guest.name.clone(), cards: guest.cards.len() });
        }
        let epoll = Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC)
            .map_err(|error| Error::system("create an epoll instance", &error))?;
        let failed = |error: std::io::Error| {
            Error::system(format!("open the guests' sockets in {}", directory.display()), &error)
        };
        // The path of a socket may have 107 bytes, that of the directory more.
        let folder = File::open(directory).map_err(failed)?;
        let open = |name: &str, source: Source, guest: usize| -> Result<UnixListener> {
            let path = format!("/proc/self/fd/{}/{name}", folder.as_raw_fd());
            let listener = UnixListener::bind(path).map_err(failed)?;
            watch(&epoll, std::os::fd::AsFd::as_fd(&listener), source, guest)?;
            Ok(listener)
        };
        let time = open(TIME_SOCKET, Source::Time, 0)?;
        let mut listeners = Vec::with_capacity(guests.len());
        let mut places = Vec::new();
        for (place, &GuestSpec { number, ref cards, .. }) in guests.iter().enumerate() {
            let open = |port| open(&socket_name(number, port), Source::Listener(port), place);
            listeners.push(Port::all(cards.len()).map(open).collect::<Result<_>>()?);
            places.resize(places.len().max(number + 1), NOWHERE);
            places[number] = place;
        }
        let all: Vec<Guest> =
            guests.into_iter().map(|guest| Guest::new(guest.number, guest.name, &guest.cards)).collect();
        Ok(Guests {
            all,
            places,
            epoll,
            time,
            listeners,
            unix_ns,
            out: Outbox::default(),
            overlap: Overlap::default(),
        })
    }

    /// Waits until all guests have connected, for at most `timeout`; returns whether they have.
    ///
    /// # Errors
    /// If a connection fails.
    pub fn wait_for_connections(&mut self, timeout: Duration) -> Result<bool> {
        let until = Instant::now() + timeout;
        while !self.all.iter().all(Guest::has_connected) {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() || !self.turn(left)? {
                return Ok(self.all.iter().all(Guest::has_connected));
            }
        }
        Ok(true)
    }

    /// Lets all guests boot.
    ///
    /// # Errors
    /// If a connection fails.
    pub fn boot(&mut self) -> Result<()> {
        self.all.iter_mut().try_for_each(Guest::boot)
    }

    /// When a guest has something to do next; `None` if all wait for ever. All must have
    /// [reached](Progress::Reached) their horizon.
    pub fn next_ns(&self) -> Option<u64> {
        self.all.iter().filter_map(Guest::next_ns).min()
    }

    /// Gives `bytes` to a guest at `due_ns`, or, if it has run further, then.
    pub fn deliver(&mut self, guest: usize, due_ns: u64, port: Port, bytes: &[u8]) {
        let mut room = self.out.spare.pop().unwrap_or_default();
        room.clear();
        room.extend_from_slice(bytes);
        let place = self.places[guest];
        self.all[place].enqueue(due_ns, port, room);
    }

    /// Lets every guest run until it has nothing to do before `horizon_ns`; guests run side by side. Without a message for
    /// `silence`, returns; it may be called again to go on.
    ///
    /// # Errors
    /// If a guest breaks a protocol, or a connection fails.
    pub fn run_until(&mut self, horizon_ns: u64, silence: Duration) -> Result<Progress> {
        let mut overlapping: Option<Instant> = None;
        loop {
            let mut busy = 0;
            let mut last = 0;
            for (number, guest) in self.all.iter_mut().enumerate() {
                guest.step(horizon_ns, &mut self.out)?;
                if guest.is_busy() {
                    (busy, last) = (busy + 1, number);
                }
            }
            if busy > 1 {
                overlapping.get_or_insert_with(Instant::now);
            } else if let Some(since) = overlapping.take() {
                self.overlap.add(since.elapsed());
            }
            if busy == 0 {
                return Ok(Progress::Reached);
            }
            let has_received = busy == 1 && self.receive_from_only(last, horizon_ns)?;
            if !has_received && !self.turn(silence)? {
                if let Some(since) = overlapping {
                    self.overlap.add(since.elapsed());
                }
                return Ok(Progress::Silent);
            }
        }
    }

    /// Lets the only guest that is busy run on until it has nothing to do before the horizon, or says nothing for a
    /// while; returns whether it has sent a message. Other guests and devices are not polled meanwhile.
    fn receive_from_only(&mut self, number: usize, horizon_ns: u64) -> Result<bool> {
        let guest = &mut self.all[number];
        let mut has_received = false;
        while guest.is_busy() && guest.has_devices() && guest.receive(true, self.unix_ns, &mut self.out)? {
            has_received = true;
            guest.step(horizon_ns, &mut self.out)?;
        }
        Ok(has_received)
    }

    /// What guests have sent since the last call, in order of time; at one instant in order of the guests.
    pub fn take_sent(&mut self) -> Vec<Sent> {
        let mut sent = std::mem::take(&mut self.out.sent);
        sent.sort_by_key(|sent| (sent.at_ns, sent.guest));
        sent
    }

    /// Takes back what [`take_sent`](Self::take_sent) has given, to use its memory again.
    pub fn recycle(&mut self, mut sent: Vec<Sent>) {
        self.out.spare.extend(sent.drain(..).map(|sent| sent.bytes));
        if self.out.sent.is_empty() {
            self.out.sent = sent;
        }
    }

    /// By how much guests have run at the same time so far.
    pub fn overlap(&self) -> Overlap {
        self.overlap
    }

    /// The numbers of guests that run.
    pub fn busy(&self) -> impl Iterator<Item = usize> {
        self.all.iter().filter(|guest| guest.is_busy()).map(|guest| guest.number)
    }

    /// The numbers of guests that have ended.
    pub fn ended(&self) -> impl Iterator<Item = usize> {
        self.all.iter().filter(|guest| guest.has_ended()).map(|guest| guest.number)
    }

    /// A device of a guest.
    pub fn device(&self, guest: usize, port: Port) -> &Device {
        &self.all[self.places[guest]].devices[port.place()]
    }

    /// What has happened to packets at a guest.
    pub fn counters(&self, guest: usize) -> GuestCounters {
        self.all[self.places[guest]].counters
    }

    /// Takes messages that have come, after waiting for them for at most `timeout`; returns whether there were any.
    fn turn(&mut self, timeout: Duration) -> Result<bool> {
        let mut events = [EpollEvent::empty(); 64];
        let timeout =
            EpollTimeout::try_from(timeout.max(Duration::from_millis(1))).unwrap_or(EpollTimeout::MAX);
        let ready = self
            .epoll
            .wait(&mut events, timeout)
            .or_else(|error| if error == nix::errno::Errno::EINTR { Ok(0) } else { Err(error) })
            .map_err(|error| Error::system("wait for guests", &error))?;
        for event in &events[..ready] {
            let (source, guest) = Source::of(event.data());
            self.take(source, guest)?;
        }
        Ok(ready > 0)
    }

    fn take(&mut self, source: Source, number: usize) -> Result<()> {
        match source {
            Source::Time => self.accept_guest(),
            Source::Guest => self.all[number].receive(false, self.unix_ns, &mut self.out).map(|_| ()),
            Source::Listener(port) => {
                let (stream, _) = self.listeners[number][port.place()]
                    .accept()
                    .map_err(|error| Error::system("accept a guest's device", &error))?;
                let device = &mut self.all[number].devices[port.place()];
                device.connect(stream);
                device.frontend().map_or(Ok(()), |fd| watch(&self.epoll, fd, Source::Device(port), number))
            }
            Source::Device(port) => self.all[number].receive_from_device(port),
        }
    }

    /// Accepts the connection of a guest; its first message has its number.
    fn accept_guest(&mut self) -> Result<()> {
        let accept = |error: &dyn std::fmt::Display| Error::system("accept a guest", error);
        let (stream, _) = self.time.accept().map_err(|error| accept(&error))?;
        let mut connection =
            Connection::new(stream, FIRST_MESSAGE_TIMEOUT).map_err(|error| accept(&error))?;
        let mut first = None;
        while first.is_none() && connection.read(true).map_err(|error| accept(&error))? == Read::Some {
            first = connection.next().map_err(|error| accept(&error))?;
        }
        let Some(first) = first else { return Ok(()) };
        connection.wait_for(POLL_INTERVAL).map_err(|error| accept(&error))?;
        let place = self.places.get(first.time as usize).copied().unwrap_or(NOWHERE);
        match self.all.get_mut(place) {
            Some(guest) if first.operation == Operation::Start && !guest.has_connected() => {
                guest.connect(connection, first);
                guest.fd().map_or(Ok(()), |fd| watch(&self.epoll, fd, Source::Guest, place))
            }
            // Nobody else is asked to connect.
            _ => Ok(()),
        }
    }
}

fn watch(epoll: &Epoll, fd: BorrowedFd<'_>, source: Source, guest: usize) -> Result<()> {
    epoll
        .add(fd, EpollEvent::new(EpollFlags::EPOLLIN, source.token(guest)))
        .map_err(|error| Error::system("watch a guest", &error))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vhost::NetConfig;

    fn spec(cards: Vec<Card>) -> GuestSpec {
        GuestSpec { number: 0, name: "a".to_owned(), cards }
    }

    #[test]
    fn a_long_directory_is_no_obstacle() {
        let place = std::env::temp_dir().join(format!("longhaul-{}-{}", std::process::id(), "x".repeat(120)));
        std::fs::create_dir(&place).unwrap();
        let net = Card { config: NetConfig { mac: [2, 0, 0, 0, 0, 1], mtu: 1_500 }, line_bits_per_s: None };
        let opened = Guests::listen(&place, vec![spec(vec![net; 2])], 0).map(drop);
        let mut names: Vec<_> =
            std::fs::read_dir(&place).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        std::fs::remove_dir_all(&place).unwrap();
        opened.unwrap();
        assert_eq!(names, ["console.0", "net.0.0", "net.0.1", "time"]);
    }

    #[test]
    fn a_guest_has_1_to_11_cards() {
        let net = Card { config: NetConfig { mac: [2, 0, 0, 0, 0, 1], mtu: 1_500 }, line_bits_per_s: None };
        for cards in [0, MOST_CARDS + 1] {
            let error = Guests::listen(Path::new("/"), vec![spec(vec![net; cards])], 0).err().unwrap();
            assert_eq!(error.to_string(), format!("host a: {cards} network cards, and 1 to 11 are possible"));
        }
    }

    #[test]
    fn a_token_has_its_source_and_its_guest() {
        let ports = || Port::all(MOST_CARDS);
        let all = [Source::Time, Source::Guest].into_iter();
        for source in all.chain(ports().map(Source::Listener)).chain(ports().map(Source::Device)) {
            let (found, guest) = Source::of(source.token(70_000));
            assert_eq!(format!("{found:?}"), format!("{source:?}"));
            assert_eq!(guest, 70_000);
        }
    }
}
