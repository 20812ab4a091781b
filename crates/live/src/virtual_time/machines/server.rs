//! The hosts of this machine, which do what the controller of the clock says.

use super::stream::{Found, SecretKey, Side, Stream};
use super::wire::{self, Contents, Failed, Incoming, InvalidMessage, Kind, Started};
use super::{KEEPALIVE_INTERVAL, KEEPALIVE_TIMEOUT};
use crate::error::{Error, Result};
use crate::virtual_time::hosts::{Hosts, LocalHosts};
use crate::virtual_time::kernels::Kernel;
use longhaul_plan::Plan;
use longhaul_virtual::Progress;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::BorrowedFd;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Interval of real time at which the hosts that run are reported to the controller.
const SILENCE: Duration = Duration::from_millis(200);
/// Of the archive of files, in one message.
const PIECE_BYTES: usize = 1 << 18;

/// The connection to the controller: where it is read and written, and the key of a connection of its own.
#[derive(Clone, Copy, Debug)]
pub struct Connection<'a> {
    /// What the controller sends.
    pub input: BorrowedFd<'a>,
    /// What it receives.
    pub output: BorrowedFd<'a>,
    /// Without one, what carries the connection protects it.
    pub key: Option<SecretKey>,
}

/// Runs the hosts of `plan` with these numbers as the controller says. Files go into `directory`. When the run is over,
/// `pack` makes one archive of those that the controller wants, and they are sent. The kernels have ended when this returns.
///
/// # Errors
/// If the controller does not speak this protocol.
pub fn serve_hosts(
    plan: &Plan,
    kernel: &Kernel,
    directory: &Path,
    numbers: &[usize],
    connection: Connection<'_>,
    pack: &mut dyn FnMut() -> io::Result<PathBuf>,
) -> Result<()> {
    let Connection { input, output, key } = connection;
    let stream = Stream::new(input, output, key.as_ref(), Side::Machine)
        .map_err(|error| Error::wrap("talk to the controller", error))?;
    let mut server =
        Server { numbers, hosts: None, stream, incoming: Incoming::default(), last_received: Instant::now() };
    if server.serve(plan, kernel, directory)? == Served::Finished {
        server.send_files(pack);
    }
    Ok(())
}

/// How serving has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Served {
    /// The run is over: the controller waits for the files.
    Finished,
    /// The connection to the controller is lost.
    ControllerLost,
}

struct Server<'a> {
    numbers: &'a [usize],
    /// None before the kernels boot, and after they could not go on.
    hosts: Option<LocalHosts>,
    stream: Stream,
    incoming: Incoming,
    /// When the controller last sent a message.
    last_received: Instant,
}

impl Server<'_> {
    fn serve(&mut self, plan: &Plan, kernel: &Kernel, directory: &Path) -> Result<Served> {
        match LocalHosts::start(plan, kernel, directory, self.numbers, |_| ()) {
            Ok(hosts) => {
                let started = Started { setup_file: hosts.setup_file(0).to_path_buf() };
                self.hosts = Some(hosts);
                self.send_json(Kind::Started, &started);
            }
            Err(error) => self.fail(&error),
        }
        self.last_received = Instant::now();
        loop {
            if let Some(served) = self.handle_received()? {
                return Ok(served);
            }
            if !self.receive(KEEPALIVE_INTERVAL) {
                return Ok(Served::ControllerLost);
            }
        }
    }

    /// Reads what has come, after waiting for it for at most `timeout`; then sends a keepalive message. Returns
    /// whether the connection holds.
    fn receive(&mut self, timeout: Duration) -> bool {
        match self.stream.read(&mut self.incoming.bytes, timeout) {
            Ok(Found::Some) => self.last_received = Instant::now(),
            Ok(Found::Nothing) if !timeout.is_zero() => self.send(&wire::message_of(Kind::Keepalive, &[])),
            Ok(Found::Nothing) => {}
            Ok(Found::End) | Err(_) => return false,
        }
        self.last_received.elapsed() < KEEPALIVE_TIMEOUT
    }

    fn handle(&mut self, kind: Kind, mut contents: Contents<'_>) -> Result<Option<Served>> {
        match kind {
            Kind::Keepalive => {}
            Kind::Run => return self.run(&mut contents),
            Kind::Log => {
                let (host, line) = contents.line().map_err(invalid)?;
                if let Some(hosts) = self.hosts.as_mut().filter(|_| self.numbers.contains(&host)) {
                    hosts.log(host, line);
                }
            }
            Kind::Count => {
                let counters = self.hosts.as_mut().map(LocalHosts::counters_here).unwrap_or_default();
                let mut reply = Vec::new();
                wire::message(&mut reply, Kind::Counters, |out| wire::put_counters(out, &counters));
                self.send(&reply);
            }
            Kind::Finish => {
                self.hosts = None;
                return Ok(Some(Served::Finished));
            }
            Kind::Started | Kind::Failed | Kind::Silent | Kind::Reached | Kind::Counters | Kind::Files => {
                return Err(invalid(InvalidMessage));
            }
        }
        Ok(None)
    }

    /// Lets the hosts run, and says what they have done.
    fn run(&mut self, contents: &mut Contents<'_>) -> Result<Option<Served>> {
        let horizon_ns = contents.u64().map_err(invalid)?;
        // There are none while they run already, and after a failure.
        let mut hosts = self.hosts.take().ok_or_else(|| invalid(InvalidMessage))?;
        while !contents.is_empty() {
            let (due_ns, host, port, bytes) = contents.packet().map_err(invalid)?;
            if !self.numbers.contains(&host) {
                return Err(invalid(InvalidMessage));
            }
            hosts.deliver(host, due_ns, port, bytes);
        }
        loop {
            match hosts.run_until(horizon_ns, SILENCE) {
                Ok(Progress::Reached) => break,
                Ok(Progress::Silent) => {
                    let mut message = Vec::new();
                    wire::message(&mut message, Kind::Silent, |out| wire::put_hosts(out, &hosts.busy()));
                    self.send(&message);
                    if !self.receive(Duration::ZERO) {
                        return Ok(Some(Served::ControllerLost));
                    }
                    if let Some(served) = self.handle_received()? {
                        return Ok(Some(served));
                    }
                }
                Err(error) => {
                    self.fail(&error);
                    return Ok(None);
                }
            }
        }
        let sent = hosts.take_sent();
        let ended: Vec<_> = hosts.ended().into_iter().collect();
        let mut reply = Vec::new();
        wire::message(&mut reply, Kind::Reached, |out| {
            wire::put_reached(out, hosts.next_ns(), &ended, &sent);
        });
        self.send(&reply);
        hosts.recycle(sent);
        self.hosts = Some(hosts);
        Ok(None)
    }

    /// Handles all messages that have come. While hosts compute, another may end the run.
    fn handle_received(&mut self) -> Result<Option<Served>> {
        let mut incoming = std::mem::take(&mut self.incoming);
        while let Some((kind, contents)) = incoming.next().map_err(invalid)? {
            if let Some(served) = self.handle(kind, contents)? {
                return Ok(Some(served));
            }
        }
        // What was read while these were handled comes behind them.
        incoming.bytes.append(&mut self.incoming.bytes);
        self.incoming = incoming;
        Ok(None)
    }

    /// Sends the files of the hosts; nothing but the end if they cannot be packed.
    fn send_files(&mut self, pack: &mut dyn FnMut() -> io::Result<PathBuf>) {
        let mut archive = pack().and_then(File::open).ok();
        let mut piece = vec![0; PIECE_BYTES];
        while let Some(file) = &mut archive {
            match file.read(&mut piece) {
                Ok(count) if count > 0 => self.send(&wire::message_of(Kind::Files, &piece[..count])),
                _ => archive = None,
            }
        }
        self.send(&wire::message_of(Kind::Files, &[]));
    }

    fn fail(&mut self, error: &Error) {
        let (message, remedy) = (error.message().to_owned(), error.remedy().map(ToOwned::to_owned));
        self.send_json(Kind::Failed, &Failed { message, remedy });
    }

    fn send_json(&mut self, kind: Kind, content: &impl serde::Serialize) {
        self.send(&wire::message_of(kind, &serde_json::to_vec(content).unwrap_or_default()));
    }

    /// Sends a message. A lost connection is found by the next read.
    fn send(&mut self, message: &[u8]) {
        let _ = self.stream.write(message);
    }
}

fn invalid(error: InvalidMessage) -> Error {
    Error::new(format!("the controller has sent {error}"))
}
