use crate::agent::{AgentContext, Way};
use crate::payload::PayloadSink;
use longhaul_congestion::{AlgorithmSettings, Coupling, Subflow};
use longhaul_network::NodeId;
use longhaul_random::Seed;
use longhaul_transport::{Connection, Info, Segment, Settings};
use longhaul_units::{Histogram, Rate, Serialiser, Span, Time};
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
    end: End,
    /// The connection's timer as it was last, so that asking costs nothing.
    timer: Time,
    /// Of every acknowledgement that gave one; `None` before the first.
    round_trips: Option<Box<Histogram>>,
    config: Arc<StreamConfig>,
    /// Which of the flow's connections.
    number: u32,
    /// The connection over several paths that this is a subflow of, or [`NO_MPTCP`].
    mptcp: u32,
    /// Whether it keeps round trips.
    measured: bool,
    /// The application has stopped: nothing is sent or received any more.
    stopped: bool,
}

/// Which end of the connection it is.
enum End {
    /// The end that opens and sends.
    Opening {
        application: Box<Application>,
        /// The application's timer as it was last.
        next: Time,
    },
    /// The end that listens and reads.
    Listening {
        /// When it had everything, and closed, too; [`Time::NEVER`] before.
        ended: Time,
    },
}

/// Instead of `None`, which would take more memory for each connection.
const NO_MPTCP: u32 = u32::MAX;

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
    /// What it hands over goes to this connection, or to whichever subflow is next.
    share: Share,
}

/// Where what an application hands over goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Share {
    /// To this connection.
    Whole,
    /// To all subflows of a connection.
    First,
    /// This is a further subflow, which is [given](TcpEndpoint::give) its data; it opens on [`TcpEndpoint::join`].
    Joining,
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
            share: Share::Whole,
        }
    }

    /// That of a subflow of a connection over several paths: the first one, or one that [joins](TcpEndpoint::join).
    pub fn of_subflow(plan: Plan, joins: bool) -> Self {
        let share = if joins { Share::Joining } else { Share::First };
        let made = Application::new(plan);
        let left = Some(plan.bytes.unwrap_or(ENDLESS));
        Application { share, left, next: if joins { Time::NEVER } else { made.next }, ..made }
    }
}

impl TcpEndpoint {
    pub fn new(config: Arc<StreamConfig>, number: u32, way: Way, application: Option<Application>) -> Self {
        let measured = config.measured && application.is_some();
        let (end, timer) = match application.map(Box::new) {
            Some(application) => {
                let next = application.timer();
                (End::Opening { application, next }, next)
            }
            None => (End::Listening { ended: Time::NEVER }, Time::NEVER),
        };
        TcpEndpoint {
            connection: State::Unopened,
            way,
            end,
            timer,
            round_trips: None,
            config,
            number,
            mptcp: NO_MPTCP,
            measured,
            stopped: false,
        }
    }

    /// As a subflow of this connection over several paths.
    pub fn of(self, mptcp: u32) -> Self {
        TcpEndpoint { mptcp, ..self }
    }

    /// The connection over several paths that it is a subflow of.
    #[inline]
    pub fn mptcp(&self) -> Option<u32> {
        (self.mptcp != NO_MPTCP).then_some(self.mptcp)
    }

    pub fn receive(
        &mut self,
        segment: &Segment,
        marked: bool,
        context: &mut AgentContext<'_, impl PayloadSink>,
    ) {
        if self.stopped {
            return;
        }
        if matches!((&self.connection, &self.end), (State::Unopened, End::Listening { .. })) {
            self.create_connection("destination");
        }
        let State::Open(connection) = &mut self.connection else { return };
        connection.receive(context.now, segment, marked);
        if self.measured
            && let Some(rtt) = connection.take_round_trip()
        {
            self.round_trips.get_or_insert_default().add(rtt, 1);
        }
        if let End::Listening { ended } = &mut self.end
            && *ended == Time::NEVER
            && connection.has_ended()
        {
            *ended = context.now;
            connection.close(context.now);
        }
        self.transmit(context);
    }

    pub fn expire(&mut self, context: &mut AgentContext<'_, impl PayloadSink>) {
        if self.stopped {
            return;
        }
        if let (End::Opening { application, .. }, State::Unopened) = (&self.end, &self.connection) {
            if context.now >= application.plan.stop {
                // The run ends before the flow begins.
                self.stopped = true;
                self.timer = Time::NEVER;
                return;
            }
            self.create_connection("source");
        }
        let State::Open(connection) = &mut self.connection else { return };
        if let End::Opening { application, next } = &mut self.end
            && *next <= context.now
        {
            if context.now >= application.plan.stop {
                self.stopped = true;
            } else {
                application.act(context.now, connection, u32::from(self.config.settings.mss));
                *next = application.timer();
            }
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
        matches!(self.end, End::Listening { .. }) || self.stopped || self.is_over()
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
        self.application().map(|application| application.plan)
    }

    /// Its application hands over at `rate` from `at` on, or nothing if there is none; either way, it opens
    /// the connection if it has not yet. A rate that changes brings the next segment forward to `at`.
    pub fn pace(&mut self, at: Time, rate: Option<Rate>) {
        let over = self.is_over();
        let End::Opening { application, next } = &mut self.end else { return };
        if self.stopped || application.left == Some(0) || over {
            return;
        }
        application.plan.pace = rate.map_or(Pace::Held, Pace::At);
        application.next = if rate.is_none() && application.opened { Time::NEVER } else { at };
        application.clock = Serialiser::default();
        *next = application.timer();
        self.timer = match &self.connection {
            State::Open(connection) => connection.timer().min(*next),
            _ => *next,
        };
    }

    /// What the application of a connection's first subflow has handed over, in bytes.
    pub fn handed(&self) -> u64 {
        self.application().map_or(0, |application| {
            application.plan.bytes.unwrap_or(ENDLESS) - application.left.unwrap_or(0)
        })
    }

    /// Opens a further subflow at `now`.
    pub fn join(&mut self, now: Time) {
        if let End::Opening { application, next } = &mut self.end {
            application.next = now;
            *next = application.timer();
            self.timer = *next;
        }
    }

    /// Sends `bytes` of a connection over several paths.
    pub fn give(&mut self, bytes: u64, context: &mut AgentContext<'_, impl PayloadSink>) {
        if let State::Open(connection) = &mut self.connection {
            connection.write(context.now, bytes);
            self.transmit(context);
        }
    }

    /// All data of a connection over several paths have arrived: it closes, or gives up what it waits for in vain.
    pub fn end(&mut self, context: &mut AgentContext<'_, impl PayloadSink>) {
        match (&mut self.connection, &self.end) {
            (State::Open(connection), _) if connection.is_established() && !connection.has_timed_out() => {
                connection.close(context.now);
                self.transmit(context);
            }
            (_, End::Opening { .. }) => {
                self.stopped = true;
                self.timer = Time::NEVER;
            }
            _ => {}
        }
    }

    fn open(&self) -> Option<&Connection> {
        match &self.connection {
            State::Open(connection) if !self.stopped => Some(connection),
            _ => None,
        }
    }

    /// See [`Connection::is_established`].
    pub fn is_established(&self) -> bool {
        self.open().is_some_and(Connection::is_established)
    }

    /// See [`Connection::wants_data`].
    pub fn wants_data(&self) -> bool {
        self.open().is_some_and(Connection::wants_data)
    }

    /// See [`Connection::has_timed_out`].
    pub fn has_timed_out(&self) -> bool {
        self.open().is_some_and(Connection::has_timed_out)
    }

    /// See [`Connection::srtt`].
    pub fn srtt(&self) -> Span {
        self.open().map_or(Span::ZERO, Connection::srtt)
    }

    /// See [`Connection::subflow`].
    pub fn subflow(&self) -> Option<Subflow> {
        self.open().and_then(Connection::subflow)
    }

    /// See [`Connection::couple`].
    pub fn couple(&mut self, coupling: &Coupling<'_>) {
        if let State::Open(connection) = &mut self.connection {
            connection.couple(coupling);
        }
    }

    /// Payload received in order, in bytes.
    pub fn received(&self) -> u64 {
        match &self.connection {
            State::Unopened => 0,
            State::Open(connection) => connection.received(),
            State::Reaped(info) => info.bytes_received,
        }
    }

    /// Payload that the peer has acknowledged, in bytes.
    pub fn acknowledged(&self) -> u64 {
        match &self.connection {
            State::Unopened => 0,
            State::Open(connection) => connection.acknowledged(),
            State::Reaped(info) => info.bytes_acknowledged,
        }
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
        self.application().map(|application| application.begun).filter(|&at| at != Time::NEVER)
    }

    /// When the listening end had everything.
    pub fn ended(&self) -> Option<Time> {
        match self.end {
            End::Listening { ended } if ended != Time::NEVER => Some(ended),
            _ => None,
        }
    }

    /// Whether it gave up.
    pub fn has_failed(&self) -> bool {
        matches!(&self.connection, State::Open(connection) if connection.has_failed())
    }

    #[cold]
    fn create_connection(&mut self, end: &str) {
        let StreamConfig { name, settings, algorithm, seed, .. } = &*self.config;
        let rng = seed.stream(&format!("{name}/{}/{end}", self.number));
        let made = if self.application().is_some() {
            Connection::connect(settings, algorithm, rng)
        } else {
            Connection::listen(settings, algorithm, rng)
        };
        self.connection = State::Open(Box::new(made));
    }

    fn application(&self) -> Option<&Application> {
        match &self.end {
            End::Opening { application, .. } => Some(application),
            End::Listening { .. } => None,
        }
    }

    /// Puts everything on the wire that may go, and notes the next deadline.
    fn transmit(&mut self, context: &mut AgentContext<'_, impl PayloadSink>) {
        let State::Open(connection) = &mut self.connection else { return };
        while let Some(segment) = connection.poll(context.now) {
            context.send_segment(&self.way, &segment);
        }
        let over = connection.is_closed() || connection.has_failed();
        self.timer = match self.end {
            End::Opening { .. } if self.stopped || over => Time::NEVER,
            End::Opening { next, .. } => connection.timer().min(next),
            End::Listening { .. } => connection.timer(),
        };
    }
}

impl Application {
    fn timer(&self) -> Time {
        self.next.min(self.plan.stop)
    }

    fn act(&mut self, now: Time, connection: &mut Connection, mss: u32) {
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
                self.write(now, self.left.unwrap_or(ENDLESS), connection);
                self.left = self.left.map(|_| 0);
                self.next = Time::NEVER;
            }
            Pace::At(_) if self.share == Share::Joining => self.next = Time::NEVER,
            Pace::At(rate) => {
                let chunk = self.left.map_or(u64::from(mss), |left| left.min(u64::from(mss)));
                self.write(now, chunk, connection);
                self.left = self.left.map(|left| left - chunk);
                self.next = self.clock.send(self.next, chunk as u32, rate);
            }
        }
        if self.left == Some(0) {
            self.next = Time::NEVER;
            if self.share == Share::Whole {
                connection.close(now);
            }
        }
    }

    /// Hands over to the connection, or leaves it to [`TcpEndpoint::give`] to do so.
    fn write(&self, now: Time, bytes: u64, connection: &mut Connection) {
        if self.share == Share::Whole {
            connection.write(now, bytes);
        }
    }
}
