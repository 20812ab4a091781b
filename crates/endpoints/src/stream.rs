use crate::agent::{AgentContext, Way};
use crate::payload::PayloadSink;
use longhaul_congestion::AlgorithmSettings;
use longhaul_network::NodeId;
use longhaul_random::Seed;
use longhaul_transport::{Connection, Info, Segment, Settings};
use longhaul_units::{Histogram, Rate, Serialiser, Time};
use std::sync::Arc;

/// What a connection is given that sends until it is stopped.
const ENDLESS: u64 = u64::MAX / 2;

/// What all connections of a flow have in common.
#[derive(Debug)]
pub struct StreamConfig {
    pub name: Arc<str>,
    pub settings: Arc<Settings>,
    pub algorithm: Arc<AlgorithmSettings>,
    pub seed: Seed,
    /// Whether the opening end keeps the distribution of its round trips.
    pub measured: bool,
}

/// One end of a simulated connection with its application.
pub struct TcpEndpoint {
    connection: State,
    pub way: Way,
    /// `None`: the end that listens and reads.
    application: Option<Box<Application>>,
    /// The connection's timer as it was last, so that asking costs nothing.
    timer: Time,
    /// When the listening end had everything, and closed, too; [`Time::NEVER`] before.
    ended: Time,
    /// Of every acknowledgement that gave one; `None` before the first.
    round_trips: Option<Box<Histogram>>,
    config: Arc<StreamConfig>,
    /// Which of the flow's connections.
    number: u32,
}

/// A connection takes memory only while it is needed.
enum State {
    Unopened,
    Open(Box<Connection>),
    Reaped(Box<Info>),
}

/// What the application at the opening end does.
pub struct Application {
    plan: Plan,
    /// Payload to hand over; endless if `None`.
    left: Option<u64>,
    /// Of the plan's rate.
    clock: Serialiser,
    next: Time,
    opened: bool,
    /// When it handed over the first payload; [`Time::NEVER`] before.
    begun: Time,
    stopped: bool,
}

/// What an application is to do.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    pub start: Time,
    pub stop: Time,
    pub bytes: Option<u64>,
    pub pace: Pace,
}

/// How fast an application hands over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// All at once.
    AtOnce,
    /// A segment at a time.
    At(Rate),
    /// Nothing, and it does not open, until it is [paced](StreamEnd::pace).
    Held,
}

impl Application {
    pub fn new(plan: Plan) -> Self {
        Application {
            plan,
            left: plan.bytes,
            clock: Serialiser::default(),
            next: if plan.pace == Pace::Held { Time::NEVER } else { plan.start },
            opened: false,
            begun: Time::NEVER,
            stopped: false,
        }
    }
}

impl TcpEndpoint {
    pub fn new(config: Arc<StreamConfig>, number: u32, way: Way, application: Option<Application>) -> Self {
        let application = application.map(Box::new);
        let timer = application.as_ref().map_or(Time::NEVER, |application| application.timer());
        TcpEndpoint {
            connection: State::Unopened,
            way,
            application,
            timer,
            ended: Time::NEVER,
            round_trips: None,
            config,
            number,
        }
    }

    pub fn receive(
        &mut self,
        segment: &Segment,
        marked: bool,
        context: &mut AgentContext<'_, impl PayloadSink>,
    ) {
        if self.is_stopped() {
            return;
        }
        if matches!(self.connection, State::Unopened) && self.application.is_none() {
            self.create_connection("destination");
        }
        let State::Open(connection) = &mut self.connection else { return };
        connection.receive(context.now, segment, marked);
        if self.config.measured
            && self.application.is_some()
            && let Some(rtt) = connection.take_round_trip()
        {
            self.round_trips.get_or_insert_default().add(rtt, 1);
        }
        if self.application.is_none() && self.ended == Time::NEVER && connection.has_ended() {
            self.ended = context.now;
            connection.close(context.now);
        }
        self.transmit(context);
    }

    pub fn expire(&mut self, context: &mut AgentContext<'_, impl PayloadSink>) {
        if self.is_stopped() {
            return;
        }
        if let (Some(application), State::Unopened) = (&mut self.application, &self.connection) {
            if context.now >= application.plan.stop {
                // The run ends before the flow begins.
                application.stopped = true;
                self.timer = Time::NEVER;
                return;
            }
            self.create_connection("source");
        }
        let State::Open(connection) = &mut self.connection else { return };
        if let Some(application) = &mut self.application {
            application.act(context.now, connection, u32::from(self.config.settings.mss));
        }
        if connection.timer() <= context.now {
            connection.expire(context.now);
        }
        self.transmit(context);
    }

    pub fn timer(&self) -> Time {
        self.timer
    }

    /// What it has in common with others of its flow.
    pub fn config(&self) -> &StreamConfig {
        &self.config
    }

    /// The host that it lives on.
    pub fn home(&self) -> NodeId {
        self.way.from
    }

    /// Whether it has sent what it should, or never will.
    pub fn is_done(&self) -> bool {
        self.application.is_none() || self.is_stopped() || self.is_over()
    }

    /// Whether both ends have closed, and this one knows.
    pub fn is_closed(&self) -> bool {
        matches!(&self.connection, State::Open(connection) if connection.is_closed())
    }

    /// Gives the connection's memory back.
    pub fn reap(&mut self) {
        if let State::Open(connection) = &self.connection {
            self.connection = State::Reaped(Box::new(connection.info()));
            self.timer = Time::NEVER;
        }
    }

    /// What it knows of its connection; `None` before there is one.
    pub fn info(&self) -> Option<Info> {
        match &self.connection {
            State::Unopened => None,
            State::Open(connection) => Some(connection.info()),
            State::Reaped(info) => Some(**info),
        }
    }

    /// The round trips that its acknowledgements gave.
    pub fn round_trips(&self) -> Histogram {
        self.round_trips.as_deref().cloned().unwrap_or_default()
    }

    /// Whether it has a connection now.
    pub fn is_open(&self) -> bool {
        matches!(self.connection, State::Open(_))
    }

    /// What the application was to do, at the end that has one.
    pub fn plan(&self) -> Option<Plan> {
        self.application.as_ref().map(|application| application.plan)
    }

    /// Its application hands over at `rate` from `at` on, or nothing if there is none; either way, it opens
    /// the connection if it has not yet. A rate that changes brings the next segment forward to `at`.
    pub fn pace(&mut self, at: Time, rate: Option<Rate>) {
        let over = self.is_over();
        let Some(application) = &mut self.application else { return };
        if application.stopped || application.left == Some(0) || over {
            return;
        }
        application.plan.pace = rate.map_or(Pace::Held, Pace::At);
        application.next = if rate.is_none() && application.opened { Time::NEVER } else { at };
        application.clock = Serialiser::default();
        self.timer = match &self.connection {
            State::Open(connection) => connection.timer().min(application.timer()),
            _ => application.timer(),
        };
    }

    fn is_over(&self) -> bool {
        match &self.connection {
            State::Unopened => false,
            State::Open(connection) => connection.is_closed() || connection.has_failed(),
            State::Reaped(_) => true,
        }
    }

    /// When the application handed over the first payload.
    pub fn begun(&self) -> Option<Time> {
        self.application.as_ref().map(|application| application.begun).filter(|&at| at != Time::NEVER)
    }

    /// When the listening end had everything.
    pub fn ended(&self) -> Option<Time> {
        (self.ended != Time::NEVER).then_some(self.ended)
    }

    /// Whether it gave up.
    pub fn has_failed(&self) -> bool {
        matches!(&self.connection, State::Open(connection) if connection.has_failed())
    }

    #[cold]
    fn create_connection(&mut self, end: &str) {
        let StreamConfig { name, settings, algorithm, seed, .. } = &*self.config;
        let rng = seed.stream(&format!("{name}/{}/{end}", self.number));
        let made = if self.application.is_some() {
            Connection::connect(settings, algorithm, rng)
        } else {
            Connection::listen(settings, algorithm, rng)
        };
        self.connection = State::Open(Box::new(made));
    }

    fn is_stopped(&self) -> bool {
        self.application.as_ref().is_some_and(|application| application.stopped)
    }

    /// Puts everything on the wire that may go, and notes the next deadline.
    fn transmit(&mut self, context: &mut AgentContext<'_, impl PayloadSink>) {
        let State::Open(connection) = &mut self.connection else { return };
        while let Some(segment) = connection.poll(context.now) {
            context.send_segment(&self.way, &segment);
        }
        let over = connection.is_closed() || connection.has_failed();
        self.timer = match &self.application {
            Some(application) if application.stopped || over => Time::NEVER,
            Some(application) => connection.timer().min(application.timer()),
            None => connection.timer(),
        };
    }
}

impl Application {
    fn timer(&self) -> Time {
        self.next.min(self.plan.stop)
    }

    fn act(&mut self, now: Time, connection: &mut Connection, mss: u32) {
        if now >= self.plan.stop {
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
        if self.plan.pace != Pace::Held {
            self.begun = self.begun.min(now);
        }
        match self.plan.pace {
            Pace::Held => {
                self.next = Time::NEVER;
                return;
            }
            Pace::AtOnce => {
                connection.write(now, self.left.unwrap_or(ENDLESS));
                self.left = self.left.map(|_| 0);
                self.next = Time::NEVER;
            }
            Pace::At(rate) => {
                let chunk = self.left.map_or(u64::from(mss), |left| left.min(u64::from(mss)));
                connection.write(now, chunk);
                self.left = self.left.map(|left| left - chunk);
                self.next = self.clock.send(self.next, chunk as u32, rate);
            }
        }
        if self.left == Some(0) {
            self.next = Time::NEVER;
            connection.close(now);
        }
    }
}
