//! One guest: a kernel that runs only when it is told to, its two devices, and what is on the way to it.

use crate::error::{Error, Result};
use crate::protocol::{Message, Operation};
use crate::vhost::{Device, Kind, NetConfig, Queue, Received, Reply};
use std::collections::VecDeque;
use std::io::IoSlice;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;

/// A device of a guest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Port {
    /// The network card `eth0`: frames with the 12 bytes of `virtio_net_hdr_v1` in front.
    Network,
    /// The terminal `/dev/hvc0`: bytes.
    Console,
}

impl Port {
    /// Both.
    pub const ALL: [Port; 2] = [Port::Network, Port::Console];
}

/// What a guest has sent.
#[derive(Debug, PartialEq, Eq)]
pub struct Sent {
    /// When, in nanoseconds since the clock's zero.
    pub at_ns: u64,
    /// By which guest.
    pub guest: usize,
    /// Out of which device.
    pub port: Port,
    /// A frame, or bytes.
    pub bytes: Vec<u8>,
}

/// What has happened to packets at a guest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GuestCounters {
    /// Times that it was let run.
    pub runs: u64,
    /// Interrupts that announced packets.
    pub interrupts: u64,
    /// Frames that it took.
    pub delivered: u64,
    /// Frames for which its receive ring had no room.
    pub no_room: u64,
    /// Frames that came after they were due, because the guest had run on.
    pub late: u64,
    /// The latest of them, in nanoseconds.
    pub most_late_ns: u64,
}

/// What comes to a guest.
#[derive(Debug)]
struct Coming {
    due_ns: u64,
    port: Port,
    bytes: Vec<u8>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// It has not connected.
    Absent,
    /// It has asked for the time for the first time, by a message with this number.
    Arrived { sequence: u32 },
    /// It runs.
    Running,
    /// It waits for the time that it has asked for.
    Waiting,
    /// It waits, and sees an interrupt.
    Interrupted,
    /// It has ended.
    Gone,
}

/// A guest.
pub(crate) struct Guest {
    pub name: String,
    number: usize,
    stream: Option<UnixStream>,
    state: State,
    /// Its clock.
    now_ns: u64,
    /// When it wants to run next.
    wanted_ns: Option<u64>,
    /// In order of time.
    inbox: VecDeque<Coming>,
    pub devices: [Device; 2],
    sequence: u32,
    pub counters: GuestCounters,
}

impl Guest {
    pub fn new(number: usize, name: String, net: NetConfig) -> Self {
        let device = |kind, what| Device::new(kind, format!("{what} of host {name}"));
        Guest {
            devices: [device(Kind::Net(net), "network card"), device(Kind::Console, "console")],
            name,
            number,
            stream: None,
            state: State::Absent,
            now_ns: 0,
            wanted_ns: None,
            inbox: VecDeque::new(),
            sequence: 0,
            counters: GuestCounters::default(),
        }
    }

    /// What is to be polled for messages about time.
    pub fn stream(&self) -> Option<BorrowedFd<'_>> {
        self.stream.as_ref().map(AsFd::as_fd)
    }

    /// Takes over its connection, on which it has sent its first message.
    pub fn arrive(&mut self, stream: UnixStream, first: Message) {
        self.stream = Some(stream);
        self.state = State::Arrived { sequence: first.sequence };
    }

    pub fn has_arrived(&self) -> bool {
        self.state != State::Absent
    }

    pub fn is_gone(&self) -> bool {
        self.state == State::Gone
    }

    /// Whether something is heard of it before it can be told to go on.
    pub fn is_busy(&self) -> bool {
        matches!(self.state, State::Running | State::Interrupted)
    }

    /// When it has something to do next, if it waits for that.
    pub fn next_ns(&self) -> Option<u64> {
        let coming = self.inbox.front().map(|coming| coming.due_ns);
        let next = [self.wanted_ns, coming].into_iter().flatten().min();
        next.filter(|_| self.state == State::Waiting).map(|next_ns| next_ns.max(self.now_ns))
    }

    /// Lets it boot, at time zero.
    pub fn boot(&mut self) -> Result<()> {
        if let (State::Arrived { sequence }, Some(stream)) = (self.state, &self.stream) {
            let message = Message { operation: Operation::Ack, sequence, time: 0 };
            let sent = message.send_start(stream).map_err(|error| self.broken(&error))?;
            self.state = if sent { State::Running } else { State::Gone };
        }
        Ok(())
    }

    /// Takes what is to be given to it at `due_ns`; what was taken before and is due at the same time comes first.
    pub fn accept(&mut self, due_ns: u64, port: Port, bytes: Vec<u8>) {
        let place = self.inbox.partition_point(|coming| coming.due_ns <= due_ns);
        self.inbox.insert(place, Coming { due_ns, port, bytes });
    }

    /// Lets it do its next thing, if it waits and that is before the horizon. Afterwards it is busy, or has
    /// nothing to do before the horizon.
    pub fn step(&mut self, horizon_ns: u64, spare: &mut Vec<Vec<u8>>) -> Result<()> {
        while let Some(at_ns) = self.next_ns().filter(|&at_ns| at_ns < horizon_ns) {
            self.now_ns = at_ns;
            let comes_first = self.inbox.front().is_some_and(|coming| {
                self.wanted_ns.is_none_or(|wanted_ns| coming.due_ns <= wanted_ns.max(at_ns))
            });
            if !comes_first || self.inbox.front().is_some_and(|coming| coming.due_ns > at_ns) {
                return self.run(horizon_ns);
            }
            if self.hand_over(spare)? {
                self.state = State::Interrupted;
                return Ok(());
            }
        }
        Ok(())
    }

    /// Puts what is due into its device, as far as there is room; returns whether it must see an interrupt.
    fn hand_over(&mut self, spare: &mut Vec<Vec<u8>>) -> Result<bool> {
        let Some(port) = self.inbox.front().map(|coming| coming.port) else { return Ok(false) };
        let device = &mut self.devices[port as usize];
        let mut any = false;
        let is_due = |coming: &&Coming| coming.port == port && coming.due_ns <= self.now_ns;
        while self.inbox.front().as_ref().is_some_and(is_due)
            && let Some(coming) = self.inbox.pop_front()
        {
            if device.deliver(&[IoSlice::new(&coming.bytes)])? {
                any = true;
                if port == Port::Network {
                    self.counters.delivered += 1;
                    let late_ns = self.now_ns - coming.due_ns;
                    self.counters.late += u64::from(late_ns > 0);
                    self.counters.most_late_ns = self.counters.most_late_ns.max(late_ns);
                }
            } else if any {
                // There is room again when the guest has seen the interrupt.
                self.inbox.push_front(coming);
                break;
            } else {
                self.counters.no_room += 1;
            }
            spare.push(coming.bytes);
        }
        let interrupted = any && device.interrupt(Queue::Receive)?;
        self.counters.interrupts += u64::from(interrupted);
        Ok(interrupted)
    }

    fn run(&mut self, horizon_ns: u64) -> Result<()> {
        self.wanted_ns = None;
        self.counters.runs += 1;
        let alone_until_ns = self.inbox.front().map_or(horizon_ns, |coming| coming.due_ns.min(horizon_ns));
        self.state = State::Running;
        self.tell(Operation::FreeUntil, alone_until_ns)?;
        self.tell(Operation::Run, self.now_ns)
    }

    fn tell(&mut self, operation: Operation, time: u64) -> Result<()> {
        self.sequence = self.sequence.wrapping_add(1);
        self.send(Message { operation, sequence: self.sequence, time })
    }

    fn send(&mut self, message: Message) -> Result<()> {
        let Some(stream) = &mut self.stream else { return Ok(()) };
        let sent = message.send(stream);
        if !sent.map_err(|error| self.broken(&error))? {
            self.end();
        }
        Ok(())
    }

    /// It has ended: nothing more is heard of it.
    fn end(&mut self) {
        self.state = State::Gone;
        self.stream = None;
        self.wanted_ns = None;
        self.inbox.clear();
    }

    /// Takes a message about time. `unix_ns` is the Unix time of the clock's zero.
    pub fn hear(&mut self, unix_ns: u64) -> Result<()> {
        let Some(stream) = &mut self.stream else { return Ok(()) };
        let Some(message) = Message::receive(stream).map_err(|error| self.broken(&error))? else {
            self.end();
            return Ok(());
        };
        let mut answer = 0;
        match message.operation {
            Operation::Ack => return Ok(()),
            Operation::Request => self.wanted_ns = Some(message.time),
            Operation::Wait => self.state = State::Waiting,
            Operation::Get => answer = self.now_ns,
            Operation::Update => self.now_ns = self.now_ns.max(message.time),
            Operation::GetTimeOfDay => answer = unix_ns + self.now_ns,
            Operation::Broadcast => {}
            Operation::Start | Operation::Run | Operation::FreeUntil => {
                let operation = format!("{:?}", message.operation);
                return Err(Error::Protocol { guest: self.name.clone(), operation });
            }
        }
        self.send(Message { operation: Operation::Ack, sequence: message.sequence, time: answer })
    }

    /// Takes a message of a device; what the guest has sent by it is added to `sent`.
    pub fn hear_device(&mut self, port: Port, sent: &mut Vec<Sent>, spare: &mut Vec<Vec<u8>>) -> Result<()> {
        let device = &mut self.devices[port as usize];
        if let Received::Kicked(kick) = device.receive()? {
            if kick.queue() == Queue::Transmit {
                let mut bytes = spare.pop().unwrap_or_default();
                while let Some(chain) = device.take_sent(&mut bytes)? {
                    device.give_back(chain)?;
                    let (at_ns, guest) = (self.now_ns, self.number);
                    sent.push(Sent { at_ns, guest, port, bytes });
                    bytes = spare.pop().unwrap_or_default();
                }
                spare.push(bytes);
            }
            device.answer(kick)?;
        }
        Ok(())
    }

    /// Takes the guest's answer to an interrupt.
    pub fn hear_reply(&mut self, port: Port) -> Result<()> {
        let reply = self.devices[port as usize].receive_reply()?;
        if reply != Reply::Incomplete && self.state == State::Interrupted {
            self.state = State::Waiting;
        }
        Ok(())
    }

    fn broken(&self, error: &std::io::Error) -> Error {
        Error::Connection { guest: self.name.clone(), message: error.to_string() }
    }
}
