//! The hosts of other machines, as the controller of the clock sees them.

use super::stream::{Found, Side, Stream};
use super::wire::{self, Contents, Failed, Incoming, InvalidMessage, Kind, Reached, RunMessage, Started};
use super::{HostMachine, KEEPALIVE_INTERVAL, KEEPALIVE_TIMEOUT};
use crate::error::{Error, Result};
use crate::virtual_time::hosts::Hosts;
use longhaul_virtual::{GuestCounters, Port, Progress, Sent};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use std::fs::{self, File};
use std::io::Write;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How long a machine may take until its kernels boot.
const START_TIMEOUT: Duration = Duration::from_secs(90);
/// How long a machine may take until more of its files come.
const FILES_TIMEOUT: Duration = Duration::from_secs(30);

/// Hosts whose kernels run on other machines.
pub struct RemoteHosts {
    machines: Vec<Machine>,
    /// The machine of each host.
    machine_of: Vec<usize>,
    sent: Vec<Sent>,
    spare: Vec<Vec<u8>>,
    /// When keepalive messages were last sent.
    last_keepalive: Instant,
}

/// A machine.
struct Machine {
    name: String,
    stream: Stream,
    hosts: Vec<usize>,
    /// What it wrote where its messages do not go.
    errors: PathBuf,
    incoming: Incoming,
    /// The next message that lets its hosts run, and when the first delivery in it is due.
    run: RunMessage,
    earliest_ns: Option<u64>,
    state: State,
    /// When one of its hosts has something to do next, and those that were busy when it last said so.
    next_ns: Option<u64>,
    busy: Vec<usize>,
    last_received: Instant,
    setup_file: Option<PathBuf>,
    ended: Vec<(usize, String)>,
    counters: Option<Vec<(usize, GuestCounters)>>,
    files: Option<Files>,
}

/// The archive of a machine's files, as far as it has come.
struct Files {
    file: File,
    is_whole: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Its kernels boot, and have not been let run since.
    Boots,
    /// Its hosts run to a horizon.
    Runs,
    /// They have come to it.
    Waits,
    /// It cannot go on, but can still send its files.
    Failed,
    /// Its connection is lost.
    Lost,
}

impl RemoteHosts {
    /// Waits until the kernels of all machines boot; there are `count` hosts in all. The machines' errors are in `logs`.
    ///
    /// # Errors
    /// If a machine cannot start its kernels.
    pub fn connect(machines: &[HostMachine], count: usize, logs: &Path) -> Result<Self> {
        let mut machine_of = vec![0; count];
        let mut all = Vec::with_capacity(machines.len());
        for (number, HostMachine { name, stream, key, hosts }) in machines.iter().enumerate() {
            let stream = Stream::new(stream.as_fd(), stream.as_fd(), key.as_ref(), Side::Controller)
                .map_err(|error| Error::wrap(format!("talk to machine {name}"), error))?;
            for &host in hosts {
                machine_of[host] = number;
            }
            all.push(Machine {
                name: name.clone(),
                stream,
                hosts: hosts.clone(),
                errors: logs.join(format!("machine-{name}.err")),
                incoming: Incoming::default(),
                run: RunMessage::new(),
                earliest_ns: None,
                state: State::Boots,
                next_ns: None,
                busy: hosts.clone(),
                last_received: Instant::now(),
                setup_file: None,
                ended: Vec::new(),
                counters: None,
                files: None,
            });
        }
        let now = Instant::now();
        let mut hosts = RemoteHosts {
            machines: all,
            machine_of,
            sent: Vec::new(),
            spare: Vec::new(),
            last_keepalive: now,
        };
        while let Some(late) = hosts.machines.iter().find(|machine| machine.setup_file.is_none()) {
            if now.elapsed() > START_TIMEOUT {
                let seconds = START_TIMEOUT.as_secs();
                return Err(late.lost_error(&format!("its hosts did not start within {seconds} s")));
            }
            hosts.turn(KEEPALIVE_INTERVAL, |machine| machine.setup_file.is_none())?;
        }
        Ok(hosts)
    }

    /// Takes what machines that are `awaited` have sent, after waiting for it for at most `timeout`.
    fn turn(&mut self, timeout: Duration, awaited: impl Fn(&Machine) -> bool) -> Result<()> {
        let RemoteHosts { machines, sent, spare, .. } = self;
        let ready: Vec<usize> = {
            let waited: Vec<usize> =
                (0..machines.len()).filter(|&number| awaited(&machines[number])).collect();
            let mut polled: Vec<PollFd<'_>> = waited
                .iter()
                .map(|&number| PollFd::new(machines[number].stream.fd(), PollFlags::POLLIN))
                .collect();
            // Rounded up: a time below a millisecond would become none.
            let timeout = timeout + Duration::from_micros(999);
            match poll(&mut polled, PollTimeout::try_from(timeout).unwrap_or(PollTimeout::MAX)) {
                Ok(_) | Err(nix::errno::Errno::EINTR) => {}
                Err(error) => return Err(Error::wrap("wait for machines", error)),
            }
            let is_ready = |fd: &PollFd<'_>| fd.any().unwrap_or(false);
            waited.into_iter().zip(&polled).filter(|(_, fd)| is_ready(fd)).map(|(number, _)| number).collect()
        };
        ready.into_iter().try_for_each(|number| machines[number].receive(sent, spare))
    }

    /// Sends keepalive messages, and checks those of the machines, if it is time.
    fn send_keepalives_if_due(&mut self) -> Result<()> {
        if self.last_keepalive.elapsed() < KEEPALIVE_INTERVAL {
            return Ok(());
        }
        self.last_keepalive = Instant::now();
        let RemoteHosts { machines, sent, spare, .. } = self;
        for machine in machines.iter_mut().filter(|machine| machine.state != State::Lost) {
            machine.send(&wire::message_of(Kind::Keepalive, &[]))?;
            machine.receive(sent, spare)?;
            if machine.last_received.elapsed() > KEEPALIVE_TIMEOUT {
                let seconds = KEEPALIVE_TIMEOUT.as_secs();
                return Err(machine.mark_lost(&format!("it has sent no message for {seconds} s")));
            }
        }
        Ok(())
    }
}

impl Hosts for RemoteHosts {
    fn next_ns(&self) -> Option<u64> {
        self.machines.iter().filter_map(Machine::work_ns).min()
    }

    fn deliver(&mut self, host: usize, due_ns: u64, port: Port, bytes: &[u8]) {
        let machine = &mut self.machines[self.machine_of[host]];
        machine.run.add(host, due_ns, port, bytes);
        machine.earliest_ns = Some(machine.earliest_ns.map_or(due_ns, |earliest_ns| earliest_ns.min(due_ns)));
    }

    fn run_until(&mut self, horizon_ns: u64, silence: Duration) -> Result<Progress> {
        self.send_keepalives_if_due()?;
        for machine in &mut self.machines {
            let has_work = machine.work_ns().is_some_and(|next_ns| next_ns < horizon_ns);
            if machine.state == State::Boots || (machine.state == State::Waits && has_work) {
                machine.let_run(horizon_ns)?;
            }
        }
        let running = |hosts: &Self| hosts.machines.iter().filter(|each| each.state == State::Runs).count();
        let (mut left, mut since) = (running(self), Instant::now());
        while left > 0 {
            self.turn(silence.saturating_sub(since.elapsed()), |machine| machine.state == State::Runs)?;
            self.send_keepalives_if_due()?;
            let now = running(self);
            if now < left {
                (left, since) = (now, Instant::now());
            } else if since.elapsed() >= silence {
                return Ok(Progress::Silent);
            }
        }
        Ok(Progress::Reached)
    }

    fn busy(&self) -> Vec<usize> {
        let running = self.machines.iter().filter(|machine| machine.is_busy());
        running.flat_map(|machine| machine.busy.iter().copied()).collect()
    }

    fn is_any_busy(&self) -> bool {
        self.machines.iter().any(Machine::is_busy)
    }

    fn take_sent(&mut self) -> Vec<Sent> {
        let mut sent = std::mem::take(&mut self.sent);
        sent.sort_by_key(|sent| (sent.at_ns, sent.guest));
        sent
    }

    fn recycle(&mut self, mut sent: Vec<Sent>) {
        self.spare.extend(sent.drain(..).map(|sent| sent.bytes));
        if self.sent.is_empty() {
            self.sent = sent;
        }
    }

    fn ended(&mut self) -> Option<(usize, String)> {
        self.machines.iter().find_map(|machine| machine.ended.first().cloned())
    }

    fn log(&mut self, host: usize, line: &[u8]) {
        let mut log = Vec::new();
        wire::message(&mut log, Kind::Log, |out| wire::put_line(out, host, line));
        let machine = &mut self.machines[self.machine_of[host]];
        if machine.state != State::Lost {
            // A lost one is found when it is waited for.
            let _ = machine.send(&log);
        }
    }

    fn setup_file(&self, host: usize) -> &Path {
        self.machines[self.machine_of[host]].setup_file.as_deref().unwrap_or(Path::new(""))
    }

    fn counters(&mut self) -> Vec<GuestCounters> {
        for machine in self.machines.iter_mut().filter(|machine| machine.state == State::Waits) {
            let _ = machine.send(&wire::message_of(Kind::Count, &[]));
        }
        let is_awaited = |machine: &Machine| machine.state == State::Waits && machine.counters.is_none();
        let began = Instant::now();
        while self.machines.iter().any(is_awaited) && began.elapsed() < KEEPALIVE_TIMEOUT {
            // Lost machines have none.
            let _ = self.turn(KEEPALIVE_INTERVAL, is_awaited);
        }
        let mut all = vec![GuestCounters::default(); self.machine_of.len()];
        for (host, counters) in self.machines.iter().filter_map(|machine| machine.counters.as_ref()).flatten()
        {
            if let Some(place) = all.get_mut(*host) {
                *place = *counters;
            }
        }
        all
    }

    fn keep_alive(&mut self) -> Result<()> {
        self.send_keepalives_if_due()
    }

    fn finish(&mut self, directory: &Path) -> Result<()> {
        let present = |machine: &&mut Machine| machine.state != State::Lost;
        // All pack their files at the same time.
        for machine in self.machines.iter_mut().filter(present) {
            let place = directory.join(format!("raw/machine-{}.tar.gz", machine.name));
            let file = File::create(&place)
                .map_err(|error| Error::wrap(format!("write {}", place.display()), error))?;
            machine.files = Some(Files { file, is_whole: false });
            let _ = machine.send(&wire::message_of(Kind::Finish, &[]));
        }
        let mut result = Ok(());
        for machine in self.machines.iter_mut().filter(present) {
            result = result.and(machine.receive_files());
        }
        result
    }
}

impl Machine {
    fn is_busy(&self) -> bool {
        matches!(self.state, State::Boots | State::Runs)
    }

    /// When one of its hosts has something to do next, as far as it is known here.
    fn work_ns(&self) -> Option<u64> {
        [self.next_ns, self.earliest_ns].into_iter().flatten().min().filter(|_| self.state == State::Waits)
    }

    fn let_run(&mut self, horizon_ns: u64) -> Result<()> {
        let run = self.run.finished(horizon_ns);
        let written = self.stream.write(run);
        written.map_err(|error| self.mark_lost(&format!("it takes no messages: {error}")))?;
        self.run.clear();
        (self.earliest_ns, self.next_ns, self.state) = (None, None, State::Runs);
        self.busy.clone_from(&self.hosts);
        Ok(())
    }

    fn send(&mut self, message: &[u8]) -> Result<()> {
        self.stream.write(message).map_err(|error| self.mark_lost(&format!("it takes no messages: {error}")))
    }

    /// Takes all messages that have come.
    fn receive(&mut self, sent: &mut Vec<Sent>, spare: &mut Vec<Vec<u8>>) -> Result<()> {
        let found = self.stream.read(&mut self.incoming.bytes, Duration::ZERO);
        match found {
            Ok(Found::Some) => self.last_received = Instant::now(),
            Ok(Found::Nothing) => return Ok(()),
            Ok(Found::End) => return Err(self.mark_lost("it has ended")),
            Err(error) => return Err(self.mark_lost(&error.to_string())),
        }
        let mut incoming = std::mem::take(&mut self.incoming);
        let taken = self.take_all(&mut incoming, sent, spare);
        self.incoming = incoming;
        match taken {
            Ok(None) => Ok(()),
            Ok(Some(Failed { message, remedy })) => {
                self.state = State::Failed;
                let error = Error::new(format!("machine {}: {message}", self.name));
                Err(match remedy {
                    Some(remedy) => error.with_remedy(remedy),
                    None => error,
                })
            }
            Err(invalid) => Err(self.mark_lost(&invalid.to_string())),
        }
    }

    fn take_all(
        &mut self,
        incoming: &mut Incoming,
        sent: &mut Vec<Sent>,
        spare: &mut Vec<Vec<u8>>,
    ) -> std::result::Result<Option<Failed>, InvalidMessage> {
        while let Some((kind, mut contents)) = incoming.next()? {
            match kind {
                Kind::Keepalive => {}
                Kind::Started => {
                    let Started { setup_file } = from_json(&mut contents)?;
                    self.setup_file = Some(setup_file);
                }
                Kind::Failed => return Ok(Some(from_json(&mut contents)?)),
                Kind::Silent => self.busy = contents.hosts()?,
                Kind::Reached if self.state == State::Runs => {
                    let Reached { next_ns, ended, sent: more } = contents.reached(spare)?;
                    if more.iter().any(|sent| !self.hosts.contains(&sent.guest)) {
                        return Err(InvalidMessage);
                    }
                    sent.extend(more);
                    (self.next_ns, self.ended, self.state) = (next_ns, ended, State::Waits);
                }
                Kind::Counters => self.counters = Some(contents.counters()?),
                Kind::Files => {
                    let Some(files) = &mut self.files else { return Err(InvalidMessage) };
                    let piece = contents.rest();
                    files.is_whole = piece.is_empty();
                    files.file.write_all(piece).map_err(|_| InvalidMessage)?;
                }
                Kind::Reached | Kind::Run | Kind::Log | Kind::Count | Kind::Finish => {
                    return Err(InvalidMessage);
                }
            }
        }
        Ok(None)
    }

    /// Waits until the files of its hosts have been written, packed.
    fn receive_files(&mut self) -> Result<()> {
        let (mut nothing, mut unused) = (Vec::new(), Vec::new());
        while self.files.as_ref().is_some_and(|files| !files.is_whole) {
            if self.last_received.elapsed() > FILES_TIMEOUT {
                return Err(self.mark_lost("it does not send its files"));
            }
            let mut polled = [PollFd::new(self.stream.fd(), PollFlags::POLLIN)];
            let _ = poll(&mut polled, PollTimeout::try_from(KEEPALIVE_INTERVAL).unwrap_or(PollTimeout::MAX));
            // What its hosts have sent since is of no use.
            self.receive(&mut nothing, &mut unused)?;
        }
        Ok(())
    }

    /// Gives its connection up; returns the error.
    fn mark_lost(&mut self, why: &str) -> Error {
        self.state = State::Lost;
        self.lost_error(why)
    }

    fn lost_error(&self, why: &str) -> Error {
        let said = fs::read_to_string(&self.errors).unwrap_or_default();
        let last =
            crate::stderr_capture::last_line(&said).map(|line| format!(" ({line})")).unwrap_or_default();
        Error::crash(format!("machine {}: {why}{last}", self.name))
            .with_remedy("check the machine and the network to it")
    }
}

fn from_json<T: serde::de::DeserializeOwned>(
    contents: &mut Contents<'_>,
) -> std::result::Result<T, InvalidMessage> {
    serde_json::from_slice(contents.rest()).map_err(|_| InvalidMessage)
}
