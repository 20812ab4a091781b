use crate::agent::{Way, Wire};
use crate::carrier::Load;
use longhaul_transport::{Connection, Flags, Info, Segment};
use longhaul_units::{Rate, Serialiser, Time};

/// ECT(0), the lower two bits of the traffic class (RFC 3168, section 5).
const ECT: u8 = 2;
/// What a connection is given that sends until it is stopped.
const ENDLESS: u64 = u64::MAX / 2;

/// One end of a simulated connection with its application.
pub struct StreamEnd {
    connection: Connection,
    way: Way,
    /// `None`: the end that listens and reads.
    application: Option<Application>,
    /// The connection's timer as it was last, so that asking costs nothing.
    timer: Time,
    /// The listening end has closed, too.
    closed: bool,
}

/// What the application at the opening end does.
pub struct Application {
    start: Time,
    stop: Time,
    /// Payload to hand over; endless if `None`.
    left: Option<u64>,
    /// Hands over `chunk` bytes at a time at this rate.
    paced: Option<(Rate, Serialiser)>,
    chunk: u32,
    next: Time,
    opened: bool,
    stopped: bool,
}

/// What an application is to do.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    pub start: Time,
    pub stop: Time,
    pub bytes: Option<u64>,
    pub rate: Option<Rate>,
    /// Payload of a full segment.
    pub mss: u16,
}

impl Application {
    pub fn new(plan: Plan) -> Self {
        Application {
            start: plan.start,
            stop: plan.stop,
            left: plan.bytes,
            paced: plan.rate.map(|rate| (rate, Serialiser::default())),
            chunk: u32::from(plan.mss),
            next: plan.start,
            opened: false,
            stopped: false,
        }
    }
}

impl StreamEnd {
    pub fn new(connection: Connection, way: Way, application: Option<Application>) -> Self {
        let timer = application.as_ref().map_or(Time::NEVER, |application| application.start);
        StreamEnd { connection, way, application, timer, closed: false }
    }

    pub fn receive(&mut self, segment: &Segment, marked: bool, wire: &mut Wire<'_>) {
        if self.is_stopped() {
            return;
        }
        self.connection.receive(wire.now, segment, marked);
        if self.application.is_none() && !self.closed && self.connection.has_ended() {
            self.closed = true;
            self.connection.close(wire.now);
        }
        self.pump(wire);
    }

    pub fn expire(&mut self, wire: &mut Wire<'_>) {
        if self.is_stopped() {
            return;
        }
        let now = wire.now;
        if let Some(application) = &mut self.application {
            application.act(now, &mut self.connection);
        }
        if self.connection.timer() <= now {
            self.connection.expire(now);
        }
        self.pump(wire);
    }

    pub fn timer(&self) -> Time {
        self.timer
    }

    pub fn is_done(&self) -> bool {
        self.application.is_none()
            || self.is_stopped()
            || self.connection.is_closed()
            || self.connection.has_failed()
    }

    pub fn info(&self) -> Info {
        self.connection.info()
    }

    fn is_stopped(&self) -> bool {
        self.application.as_ref().is_some_and(|application| application.stopped)
    }

    /// Puts everything on the wire that may go, and notes the next deadline.
    fn pump(&mut self, wire: &mut Wire<'_>) {
        while let Some(segment) = self.connection.poll(wire.now) {
            let class = if segment.flags.has(Flags::ECT) { ECT } else { 0 };
            wire.send(&self.way, Load::Segment(segment), segment.total_bytes(), class);
        }
        self.timer = self.connection.timer();
        if let Some(application) = &self.application {
            self.timer = if application.stopped { Time::NEVER } else { self.timer.min(application.timer()) };
        }
    }
}

impl Application {
    fn timer(&self) -> Time {
        self.next.min(self.stop)
    }

    fn act(&mut self, now: Time, connection: &mut Connection) {
        if now >= self.stop {
            self.stopped = true;
            return;
        }
        if now < self.next {
            return;
        }
        if !self.opened {
            self.opened = true;
            connection.open(now);
        }
        match &mut self.paced {
            None => {
                connection.write(now, self.left.unwrap_or(ENDLESS));
                self.left = self.left.map(|_| 0);
                self.next = Time::NEVER;
            }
            Some((rate, clock)) => {
                let chunk = self.left.map_or(u64::from(self.chunk), |left| left.min(u64::from(self.chunk)));
                connection.write(now, chunk);
                self.left = self.left.map(|left| left - chunk);
                self.next = clock.send(self.next, chunk as u32, *rate);
            }
        }
        if self.left == Some(0) {
            self.next = Time::NEVER;
            connection.close(now);
        }
    }
}
