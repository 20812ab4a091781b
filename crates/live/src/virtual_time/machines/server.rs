//! The hosts of this machine, which do what the controller of the clock says.

use super::stream::{self, Found};
use super::wire::{self, Contents, Damaged, Failed, Incoming, Kind, Started};
use super::{ALIVE, SILENT};
use crate::error::{Error, Result};
use crate::virtual_time::hosts::{Hosts, LocalHosts};
use crate::virtual_time::kernels::Kernel;
use longhaul_plan::Plan;
use longhaul_virtual::Progress;
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use std::os::fd::BorrowedFd;
use std::path::Path;
use std::time::{Duration, Instant};

/// Real time after which the controller is told which hosts run.
const SILENCE: Duration = Duration::from_millis(200);

/// How serving has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Served {
    /// The run is over: the controller waits for the files.
    Finished,
    /// The controller is gone.
    Alone,
}

/// Runs the hosts of `plan` with these numbers as the controller says, which is at the other end of `input` and `output`.
/// Files go into `directory`. The kernels have ended when this returns.
///
/// # Errors
/// If the controller does not speak this protocol.
pub fn serve_hosts(
    plan: &Plan,
    kernel: &Kernel,
    directory: &Path,
    numbers: &[usize],
    input: BorrowedFd<'_>,
    output: BorrowedFd<'_>,
) -> Result<Served> {
    let flags = |fd: BorrowedFd<'_>| fcntl(fd, FcntlArg::F_GETFL).map(OFlag::from_bits_retain);
    let failed = |error: nix::errno::Errno| Error::wrap("talk to the controller", error);
    let before = [flags(input).map_err(failed)?, flags(output).map_err(failed)?];
    for (fd, flags) in [input, output].into_iter().zip(before) {
        fcntl(fd, FcntlArg::F_SETFL(flags | OFlag::O_NONBLOCK)).map_err(failed)?;
    }
    let mut server =
        Server { numbers, hosts: None, input, output, incoming: Incoming::default(), heard: Instant::now() };
    let served = server.serve(plan, kernel, directory);
    drop(server);
    for (fd, flags) in [input, output].into_iter().zip(before) {
        fcntl(fd, FcntlArg::F_SETFL(flags)).map_err(failed)?;
    }
    served
}

struct Server<'a> {
    numbers: &'a [usize],
    /// None before the kernels boot, and after they could not go on.
    hosts: Option<LocalHosts>,
    input: BorrowedFd<'a>,
    output: BorrowedFd<'a>,
    incoming: Incoming,
    /// When the controller last sent a message.
    heard: Instant,
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
        self.heard = Instant::now();
        loop {
            // Taken out, so that hosts run while a message is read.
            let mut incoming = std::mem::take(&mut self.incoming);
            while let Some((kind, contents)) = incoming.next().map_err(|error| damaged(error))? {
                if let Some(served) = self.handle(kind, contents)? {
                    return Ok(served);
                }
            }
            let more = std::mem::replace(&mut self.incoming, incoming);
            self.incoming.bytes.extend(more.bytes);
            if !self.receive(ALIVE) {
                return Ok(Served::Alone);
            }
        }
    }

    /// Reads what has come, after waiting for it for at most `timeout`, in which it says that it is there; returns
    /// whether the controller still is.
    fn receive(&mut self, timeout: Duration) -> bool {
        match stream::read(self.input, &mut self.incoming.bytes, timeout) {
            Ok(Found::Some) => self.heard = Instant::now(),
            Ok(Found::Nothing) if !timeout.is_zero() => self.send(&wire::message_of(Kind::Alive, &[])),
            Ok(Found::Nothing) => {}
            Ok(Found::End) | Err(_) => return false,
        }
        self.heard.elapsed() < SILENT
    }

    fn handle(&mut self, kind: Kind, mut contents: Contents<'_>) -> Result<Option<Served>> {
        match kind {
            Kind::Alive => {}
            Kind::Run => return self.run(&mut contents),
            Kind::Log => {
                let (host, line) = contents.line().map_err(damaged)?;
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
                self.send(&wire::message_of(Kind::Files, &[]));
                return Ok(Some(Served::Finished));
            }
            Kind::Started | Kind::Failed | Kind::Silent | Kind::Reached | Kind::Counters | Kind::Files => {
                return Err(damaged(Damaged));
            }
        }
        Ok(None)
    }

    /// Lets the hosts run, and says what they have done.
    fn run(&mut self, contents: &mut Contents<'_>) -> Result<Option<Served>> {
        let horizon_ns = contents.u64().map_err(damaged)?;
        let Some(mut hosts) = self.hosts.take() else { return Ok(None) };
        while !contents.is_empty() {
            let (due_ns, host, port, bytes) = contents.packet().map_err(damaged)?;
            if !self.numbers.contains(&host) {
                return Err(damaged(Damaged));
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
                        return Ok(Some(Served::Alone));
                    }
                    if let Some(served) = self.handle_meanwhile()? {
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

    /// Handles messages that have come while hosts compute: the run may end before they have done that.
    fn handle_meanwhile(&mut self) -> Result<Option<Served>> {
        let mut incoming = std::mem::take(&mut self.incoming);
        let mut served = None;
        while let Some((kind, contents)) = incoming.next().map_err(damaged)? {
            if kind == Kind::Run {
                return Err(damaged(Damaged));
            }
            served = self.handle(kind, contents)?;
        }
        self.incoming = incoming;
        Ok(served)
    }

    fn fail(&self, error: &Error) {
        let (message, remedy) = (error.message().to_owned(), error.remedy().map(ToOwned::to_owned));
        self.send_json(Kind::Failed, &Failed { message, remedy });
    }

    fn send_json(&self, kind: Kind, content: &impl serde::Serialize) {
        self.send(&wire::message_of(kind, &serde_json::to_vec(content).unwrap_or_default()));
    }

    /// Sends a message; a controller that is gone shows when it is listened to.
    fn send(&self, message: &[u8]) {
        let _ = stream::write(self.output, message);
    }
}

fn damaged(error: Damaged) -> Error {
    Error::new(format!("the controller has sent {error}"))
}
