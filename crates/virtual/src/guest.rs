//! One guest: a kernel that runs only when it receives RUN, its devices, and the packets on their way to it.

use crate::error::{Error, Result};
use crate::protocol::{Connection, Message, Operation, Read};
use crate::transmitter::Transmitter;
use crate::vhost::{Chain, Device, Kind, NetConfig, Queue, Received};
use std::collections::VecDeque;
use std::io::IoSlice;
use std::os::fd::BorrowedFd;

#[cfg(test)]
mod tests;

/// Network cards that a guest may have: a message about time names one of 24 queues, two of each device.
pub const MOST_CARDS: usize = 11;
/// The place of the console among the devices: after the first card, which is `eth0` as it is alone.
const CONSOLE_PLACE: usize = 1;
/// How much a device holds for a driver that has left no room in its receive queue.
const DEVICE_BUFFER_BYTES: usize = 64 << 20;

/// A network card of a guest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Card {
    /// What its driver reads.
    pub config: NetConfig,
    /// Its line rate in bit/s; `None`: it sends and returns buffers at once.
    pub line_bits_per_s: Option<u64>,
}

/// A device of a guest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Port {
    /// A network card, by the number of `eth0`, `eth1` and so on: frames with the 12 bytes of `virtio_net_hdr_v1` in front.
    Network(usize),
    /// The terminal `/dev/hvc0`: bytes.
    Console,
}

impl Port {
    /// Those of a guest with so many cards, in the order of their places.
    pub fn all(cards: usize) -> impl Iterator<Item = Port> {
        (0..=cards).map(Port::at)
    }

    /// The place among the guest's devices, which is the device's number in messages about time: that on the kernel's
    /// command line.
    pub fn place(self) -> usize {
        match self {
            Port::Network(0) => 0,
            Port::Console => CONSOLE_PLACE,
            Port::Network(card) => card + 1,
        }
    }

    /// The port at a place.
    pub fn at(place: usize) -> Self {
        match place {
            0 => Port::Network(0),
            CONSOLE_PLACE => Port::Console,
            _ => Port::Network(place - 1),
        }
    }

    /// Its kind of virtio device (VIRTIO 1.2, section 5).
    pub fn virtio_id(self) -> u32 {
        match self {
            Port::Network(_) => 1,
            Port::Console => 3,
        }
    }

    fn is_card(self) -> bool {
        matches!(self, Port::Network(_))
    }

    /// A queue in a set of queues.
    fn queue(self, queue: Queue) -> u32 {
        1 << (2 * self.place() + queue.index())
    }
}

/// What guests have sent, and buffers to be used again.
#[derive(Default)]
pub(crate) struct Outbox {
    pub sent: Vec<Sent>,
    pub spare: Vec<Vec<u8>>,
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
    /// Frames for which its card had no room.
    pub no_room: u64,
    /// Frames that came after they were due, because the guest had run on.
    pub late: u64,
    /// The latest of them, in nanoseconds.
    pub most_late_ns: u64,
}

/// What comes to a guest.
#[derive(Debug)]
struct Delivery {
    due_ns: u64,
    port: Port,
    bytes: Vec<u8>,
}

/// What has come to a device, and waits until its driver has room in the receive queue.
#[derive(Debug, Default)]
struct DeviceBuffer {
    packets: VecDeque<Vec<u8>>,
    bytes: usize,
    /// There was no room when the guest last stood still.
    is_blocked: bool,
}

impl DeviceBuffer {
    /// Takes a packet, or gives it back if there is too much already.
    fn push(&mut self, packet: Vec<u8>) -> Option<Vec<u8>> {
        if self.bytes + packet.len() > DEVICE_BUFFER_BYTES {
            return Some(packet);
        }
        self.bytes += packet.len();
        self.packets.push_back(packet);
        None
    }

    fn pop(&mut self) -> Option<Vec<u8>> {
        let packet = self.packets.pop_front()?;
        self.bytes -= packet.len();
        Some(packet)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// It has not connected.
    Absent,
    /// It has asked for the time for the first time, by a message with this number.
    Connected { sequence: u32 },
    /// It runs.
    Running,
    /// It waits for the time that it has asked for.
    Waiting,
    /// Its connection has ended.
    Ended,
}

/// A guest.
pub(crate) struct Guest {
    pub name: String,
    pub number: usize,
    connection: Option<Connection>,
    state: State,
    /// Its clock, as far as it is known.
    now_ns: u64,
    /// When it last began to run, and the time before which it may run on by itself.
    began_ns: u64,
    free_until_ns: u64,
    /// When it wants to run next.
    requested_ns: Option<u64>,
    /// In order of time.
    inbox: VecDeque<Delivery>,
    /// By the places of their ports.
    pub devices: Vec<Device>,
    buffers: Vec<DeviceBuffer>,
    /// Those of cards with a line rate, by the places of their ports.
    transmitters: Vec<Option<Transmitter<Chain>>>,
    /// Queues with interrupts that have not been sent to it.
    interrupts: u32,
    pub counters: GuestCounters,
}

impl Guest {
    /// A guest with a card for each of `cards`, of which there is at least one.
    pub fn new(number: usize, name: String, cards: &[Card]) -> Self {
        let device = |port: Port| match port {
            Port::Network(card) => {
                Device::new(Kind::Net(cards[card].config), format!("network card eth{card} of host {name}"))
            }
            Port::Console => Device::new(Kind::Console, format!("console of host {name}")),
        };
        let transmitter = |port: Port| match port {
            Port::Network(card) => cards[card].line_bits_per_s.map(Transmitter::new),
            Port::Console => None,
        };
        Guest {
            devices: Port::all(cards.len()).map(device).collect(),
            buffers: Port::all(cards.len()).map(|_| DeviceBuffer::default()).collect(),
            transmitters: Port::all(cards.len()).map(transmitter).collect(),
            name,
            number,
            connection: None,
            state: State::Absent,
            now_ns: 0,
            began_ns: 0,
            free_until_ns: 0,
            requested_ns: None,
            inbox: VecDeque::new(),
            interrupts: 0,
            counters: GuestCounters::default(),
        }
    }

    /// What is to be polled for messages about time.
    pub fn fd(&self) -> Option<BorrowedFd<'_>> {
        self.connection.as_ref().map(Connection::fd)
    }

    /// Takes over its connection, on which it has sent its first message.
    pub fn connect(&mut self, connection: Connection, first: Message) {
        self.connection = Some(connection);
        self.state = State::Connected { sequence: first.sequence };
    }

    pub fn has_connected(&self) -> bool {
        self.state != State::Absent
    }

    pub fn has_ended(&self) -> bool {
        self.state == State::Ended
    }

    /// Whether it runs: it will send a message.
    pub fn is_busy(&self) -> bool {
        self.state == State::Running
    }

    /// Whether its devices are set up: what it says next, it most probably says about time.
    pub fn has_devices(&self) -> bool {
        self.devices.iter().all(Device::is_ready)
    }

    /// When it has something to do next, if it waits for that.
    pub fn next_ns(&self) -> Option<u64> {
        let delivery = self.inbox.front().map(|delivery| delivery.due_ns);
        let has_room = self.buffers.iter().any(|buffer| !buffer.is_blocked && !buffer.packets.is_empty());
        let now = (self.interrupts != 0 || has_room).then_some(self.now_ns);
        let next = [self.requested_ns, delivery, now, self.transmitted_ns()].into_iter().flatten().min();
        next.filter(|_| self.state == State::Waiting).map(|next_ns| next_ns.max(self.now_ns))
    }

    /// When a card completes its next frame.
    fn transmitted_ns(&self) -> Option<u64> {
        self.transmitters.iter().flatten().filter_map(Transmitter::done_ns).min()
    }

    /// Lets it boot, at time zero.
    pub fn boot(&mut self) -> Result<()> {
        if let (State::Connected { sequence }, Some(connection)) = (self.state, &mut self.connection) {
            let message = Message { operation: Operation::Ack, queues: 0, sequence, time: 0 };
            let sent = connection.send_start(message).map_err(|error| self.connection_error(&error))?;
            self.state = if sent { State::Running } else { State::Ended };
        }
        Ok(())
    }

    /// Takes what is to be given to it at `due_ns`; what was taken before and is due at the same time comes first.
    pub fn enqueue(&mut self, due_ns: u64, port: Port, bytes: Vec<u8>) {
        let place = self.inbox.partition_point(|delivery| delivery.due_ns <= due_ns);
        self.inbox.insert(place, Delivery { due_ns, port, bytes });
    }

    /// Lets it do its next thing, if it waits and that is before the horizon. Afterwards it is busy, or has
    /// nothing to do before the horizon.
    pub fn step(&mut self, horizon_ns: u64, out: &mut Outbox) -> Result<()> {
        while let Some(at_ns) = self.next_ns().filter(|&at_ns| at_ns < horizon_ns) {
            self.now_ns = at_ns;
            for place in 0..self.transmitters.len() {
                self.transmit(place, out)?;
            }
            self.hand_over(&mut out.spare)?;
            if self.interrupts != 0 || self.requested_ns.is_some_and(|requested_ns| requested_ns <= at_ns) {
                return self.run(horizon_ns);
            }
        }
        Ok(())
    }

    /// Gives what is due to its devices, and puts it into their receive queues as far as there is room.
    fn hand_over(&mut self, spare: &mut Vec<Vec<u8>>) -> Result<()> {
        let is_due = |delivery: &Delivery| delivery.due_ns <= self.now_ns;
        while self.inbox.front().is_some_and(is_due)
            && let Some(delivery) = self.inbox.pop_front()
        {
            if delivery.port.is_card() {
                let late_ns = self.now_ns - delivery.due_ns;
                self.counters.late += u64::from(late_ns > 0);
                self.counters.most_late_ns = self.counters.most_late_ns.max(late_ns);
            }
            if let Some(refused) = self.buffers[delivery.port.place()].push(delivery.bytes) {
                self.counters.no_room += 1;
                spare.push(refused);
            }
        }
        for place in 0..self.devices.len() {
            let port = Port::at(place);
            let (device, buffer) = (&mut self.devices[place], &mut self.buffers[place]);
            let mut has_delivered = false;
            while let Some(packet) = buffer.packets.front() {
                if !device.deliver(&[IoSlice::new(packet)])? {
                    buffer.is_blocked = true;
                    break;
                }
                has_delivered = true;
                self.counters.delivered += u64::from(port.is_card());
                spare.extend(buffer.pop());
            }
            if has_delivered {
                self.interrupt(port, Queue::Receive)?;
            }
        }
        Ok(())
    }

    /// Notes an interrupt, if the driver wants it.
    fn interrupt(&mut self, port: Port, queue: Queue) -> Result<()> {
        if self.devices[port.place()].wants_interrupt(queue)? {
            self.interrupts |= port.queue(queue);
            self.counters.interrupts += u64::from(queue == Queue::Receive);
        }
        Ok(())
    }

    fn run(&mut self, horizon_ns: u64) -> Result<()> {
        self.requested_ns = None;
        self.counters.runs += 1;
        // What a device holds comes when there is room, which is seen when the guest stands still.
        let holds = self.buffers.iter().any(|buffer| !buffer.packets.is_empty());
        let next_ns =
            if holds { Some(self.now_ns) } else { self.inbox.front().map(|delivery| delivery.due_ns) };
        // The guest may give an idle card a frame now, whose completion is not known yet.
        let has_idle = self.transmitters.iter().flatten().any(Transmitter::is_idle);
        let limits = [next_ns, self.transmitted_ns(), has_idle.then_some(self.now_ns)].into_iter().flatten();
        let free_until_ns = limits.fold(horizon_ns, u64::min);
        let free_ns = u32::try_from(free_until_ns.saturating_sub(self.now_ns)).unwrap_or(u32::MAX);
        self.began_ns = self.now_ns;
        self.free_until_ns = self.now_ns + u64::from(free_ns);
        self.state = State::Running;
        self.send(Operation::Run, free_ns, self.now_ns)
    }

    /// Sends a message, with the interrupts that there are.
    fn send(&mut self, operation: Operation, sequence: u32, time: u64) -> Result<()> {
        let Some(connection) = &mut self.connection else { return Ok(()) };
        let queues = std::mem::take(&mut self.interrupts);
        let sent = connection.send(Message { operation, queues, sequence, time });
        if !sent.map_err(|error| self.connection_error(&error))? {
            self.end();
        }
        Ok(())
    }

    /// Marks it as ended.
    fn end(&mut self) {
        self.state = State::Ended;
        self.connection = None;
        self.requested_ns = None;
        self.interrupts = 0;
        self.inbox.clear();
        self.buffers.fill_with(DeviceBuffer::default);
        self.transmitters.iter_mut().flatten().for_each(Transmitter::reset);
    }

    /// Takes its messages about time, after waiting for them if `waits`; returns whether there were any. What the guest has
    /// sent is added to `out`. `unix_ns` is the Unix time of the clock's zero.
    pub fn receive(&mut self, waits: bool, unix_ns: u64, out: &mut Outbox) -> Result<bool> {
        let Some(connection) = &mut self.connection else { return Ok(false) };
        match connection.read(waits).map_err(|error| self.connection_error(&error))? {
            Read::Some => {}
            Read::Nothing => return Ok(false),
            Read::Closed => {
                self.end();
                return Ok(true);
            }
        }
        while let Some(connection) = &mut self.connection
            && let Some(message) = connection.next().map_err(|error| self.connection_error(&error))?
        {
            self.handle(message, unix_ns, out)?;
        }
        Ok(true)
    }

    fn handle(&mut self, message: Message, unix_ns: u64, out: &mut Outbox) -> Result<()> {
        // A guest that waits sends nothing.
        if self.state != State::Running {
            return Err(self.unexpected(message));
        }
        let answer = match message.operation {
            Operation::Wait => {
                self.advance_clock(self.began_ns + u64::from(message.sequence), message)?;
                self.requested_ns = Some(message.time);
                self.state = State::Waiting;
                self.buffers.iter_mut().for_each(|buffer| buffer.is_blocked = false);
                return Ok(());
            }
            Operation::Kick => {
                self.advance_clock(message.time, message)?;
                return self.take_sent(message, out);
            }
            Operation::Update => {
                self.advance_clock(message.time, message)?;
                0
            }
            Operation::Get => self.now_ns,
            Operation::GetTimeOfDay => unix_ns + self.now_ns,
            Operation::Broadcast => 0,
            Operation::Ack
            | Operation::Start
            | Operation::Request
            | Operation::Run
            | Operation::FreeUntil => return Err(self.unexpected(message)),
        };
        self.send(Operation::Ack, message.sequence, answer)
    }

    /// Moves its clock to the time of a message, which may not be one that it cannot have reached.
    fn advance_clock(&mut self, now_ns: u64, message: Message) -> Result<()> {
        if !(self.now_ns..=self.free_until_ns).contains(&now_ns) {
            return Err(self.unexpected(message));
        }
        self.now_ns = now_ns;
        Ok(())
    }

    /// Takes what a kick says was sent, and gives the buffers back.
    fn take_sent(&mut self, kick: Message, out: &mut Outbox) -> Result<()> {
        let cards = self.devices.len() - 1;
        let of = |queue| Port::all(cards).find(|port| port.queue(queue) == kick.queues);
        let Some(port) = of(Queue::Transmit) else {
            // One of a receive queue says that there is room again.
            return of(Queue::Receive).map(|_| ()).ok_or_else(|| self.unexpected(kick));
        };
        let until = Some(kick.sequence as u16);
        if let Some(card) = &mut self.transmitters[port.place()] {
            card.available = until;
            return self.transmit(port.place(), out);
        }
        let device = &mut self.devices[port.place()];
        let mut bytes = out.spare.pop().unwrap_or_default();
        let mut has_taken = false;
        while let Some(chain) = device.take_sent(until, &mut bytes)? {
            device.give_back(chain)?;
            has_taken = true;
            out.sent.push(Sent { at_ns: self.now_ns, guest: self.number, port, bytes });
            bytes = out.spare.pop().unwrap_or_default();
        }
        out.spare.push(bytes);
        if has_taken { self.interrupt(port, Queue::Transmit) } else { Ok(()) }
    }

    /// Returns the buffer that a card with a line rate has sent by now, and starts its next frame.
    fn transmit(&mut self, place: usize, out: &mut Outbox) -> Result<()> {
        let Some(card) = &mut self.transmitters[place] else { return Ok(()) };
        let (device, port) = (&mut self.devices[place], Port::at(place));
        let finished = card.finish(self.now_ns);
        let has_finished = finished.is_some();
        finished.map_or(Ok(()), |chain| device.give_back(chain))?;
        if card.is_idle() && card.available.is_some() {
            let mut bytes = out.spare.pop().unwrap_or_default();
            match device.take_sent(card.available, &mut bytes)? {
                Some(chain) => {
                    card.start(self.now_ns, chain, &bytes);
                    out.sent.push(Sent { at_ns: self.now_ns, guest: self.number, port, bytes });
                }
                None => out.spare.push(bytes),
            }
        }
        if has_finished { self.interrupt(port, Queue::Transmit) } else { Ok(()) }
    }

    /// Takes a message of a device.
    pub fn receive_from_device(&mut self, port: Port) -> Result<()> {
        let (Received::Handled | Received::Closed) = self.devices[port.place()].receive()?;
        Ok(())
    }

    fn unexpected(&self, message: Message) -> Error {
        let operation = format!("{:?} at {} ns", message.operation, message.time);
        Error::Protocol { guest: self.name.clone(), operation }
    }

    fn connection_error(&self, error: &std::io::Error) -> Error {
        Error::Connection { guest: self.name.clone(), message: error.to_string() }
    }
}
