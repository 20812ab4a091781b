//! The agent: the first process of a host that is a kernel of its own. It makes the host what the plan says, and starts,
//! watches and ends its programs as the run's supervisor orders.

mod executions;
pub mod launcher;
mod mounts;

use super::messages::{Command, Execution, LineBuffer, Order, Report, Setup};
use crate::clock::{Clock, monotonic_ns};
use crate::counters;
use crate::credentials::Credentials;
use crate::error::{Error, Result};
use crate::host;
use crate::host_files;
use crate::host_mounts;
use crate::host_root::make_file;
use crate::netlink::{self, Netlink};
use crate::oom;
use crate::program::{self, LocalHost, ProgramEnvironment, ProgramHost};
use crate::readiness::{readable, wait_writable};
use crate::sockets::SocketDiag;
use crate::supervisor::ending::{block_signals, wait_with_signals};
use crate::sys::wait;
use crate::traffic::{SharedStart, TrafficGenerator};
use executions::{Ends, RunningExecution};
use launcher::{Launch, Launcher};
use longhaul_network::Network;
use longhaul_plan::{Isolation, Plan, Program};
use nix::sys::reboot::{RebootMode, reboot};
use nix::sys::signal::{Signal, killpg};
use nix::sys::termios::{SetArg, cfmakeraw, tcgetattr, tcsetattr};
use nix::unistd::{Pid, SysconfVar, sysconf};
use std::collections::{BTreeMap, HashMap};
use std::convert::Infallible;
use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// The console that leads to the supervisor.
const CONSOLE: &str = "/dev/hvc0";
/// Interval between two checks whether a service listens.
const READY_POLL_INTERVAL_NS: u64 = 5_000_000;
/// With nothing to wait for, the agent looks around at this interval.
const LONGEST_WAIT_NS: u64 = 86_400_000_000_000;

/// Runs as process 1 of a host until the supervisor orders it to power off.
///
/// # Errors
/// It returns only if the host cannot be prepared, or cannot be powered off.
pub fn run_as_init() -> Result<Infallible> {
    block_signals();
    mounts::prepare()?;
    let mut console = Console::open()?;
    console.report(&Report::Booted)?;
    let outcome = serve(&mut console);
    if let Err(error) = &outcome {
        let _ = console.report(&Report::Failed { message: error.to_string() });
    }
    nix::unistd::sync();
    reboot(RebootMode::RB_POWER_OFF).map_err(|error| Error::wrap("power off", error))
}

fn serve(console: &mut Console) -> Result<()> {
    let (node, setup) = loop {
        match console.next_order()? {
            Order::Configure { node, file } => {
                let text = fs::read(&file)
                    .map_err(|error| Error::wrap(format!("read {}", file.display()), error))?;
                let setup: Setup =
                    serde_json::from_slice(&text).map_err(|error| Error::wrap("read the setup", error))?;
                break (node, setup);
            }
            Order::PowerOff => return Ok(()),
            _ => {}
        }
    };
    let text =
        fs::read(setup.directory.join("plan.json")).map_err(|error| Error::wrap("read the plan", error))?;
    let plan: Plan = longhaul_plan::from_json(&text).map_err(Error::from)?;
    let settings =
        plan.nodes.get(node).ok_or_else(|| Error::new("the plan has no such host"))?.settings.as_ref();
    mounts::enter_root(&setup, settings)?;
    configure_host(&plan, node)?;
    if let Some(settings) = settings {
        host_files::mount_files_in_root(&settings.files, &setup.directory)?;
    }
    console.report(&Report::Configured)?;
    let mut agent = Agent {
        plan: &plan,
        host: LocalHost {
            name: plan.nodes[node].name.clone(),
            hostname: plan.nodes[node].hostname().to_owned(),
            credentials: settings.map(Credentials::of_host).transpose()?.unwrap_or_default(),
            has_root: settings.is_some_and(|settings| settings.root.is_some()),
        },
        setup: &setup,
        network: None,
        start_time: SharedStart::new().map_err(|error| Error::wrap("share the start time", error))?,
        running: HashMap::new(),
        commands: HashMap::new(),
        executions: Vec::new(),
        awaited: Vec::new(),
        launcher: Launcher::open()?,
        socket_diag: SocketDiag::open()?,
    };
    agent.serve(console)
}

/// What the limit of this host's memory did, as [control groups](crate::cgroup) count it, and that limit.
fn memory_effects() -> impl Iterator<Item = (String, u64)> {
    let kills = oom::kills_of_this_kernel().map(|count| ("memory.oom_kills".to_owned(), count));
    let limit = sysconf(SysconfVar::PAGE_SIZE).ok().flatten().unwrap_or(0) as u64 * pages();
    kills.into_iter().chain([("memory.limit_bytes".to_owned(), limit)])
}

/// Memory of this kernel, in pages.
fn pages() -> u64 {
    sysconf(SysconfVar::_PHYS_PAGES).ok().flatten().unwrap_or(0) as u64
}

/// Gives this kernel the names, addresses and settings of a host.
fn configure_host(plan: &Plan, position: usize) -> Result<()> {
    let node = &plan.nodes[position];
    nix::unistd::sethostname(node.hostname()).map_err(|error| Error::wrap("set the host name", error))?;
    let write = |path: &str, text: String| {
        // In a root directory of its own it may be a link that leads nowhere.
        make_file(Path::new(path))
            .and_then(|()| fs::write(path, text))
            .map_err(|error| Error::wrap(format!("write {path}"), error))
    };
    write("/etc/hostname", format!("{}\n", node.hostname()))?;
    write("/etc/hosts", host_mounts::hosts_file(&plan.nodes))?;
    write("/etc/resolv.conf", "# Names of a run are in /etc/hosts; there are no name servers.\n".into())?;
    // A kernel with little memory gives TCP so little that it drops what waits for a lost segment; a real host has
    // room for the buffers that the scenario asks for.
    let pages = pages();
    write("/proc/sys/net/ipv4/tcp_mem", format!("{} {} {}", pages / 4, pages / 3, pages / 2))?;
    host::prepare_interfaces()?;
    let netlink = Netlink::open()?;
    for (number, interface) in plan.interfaces(position).enumerate() {
        if plan.switch_at(interface).is_some() {
            continue;
        }
        netlink.without_neighbours(netlink::index_of(&host::interface_name(number))?)?;
    }
    host::configure(plan, position)
}

struct Agent<'a> {
    plan: &'a Plan,
    host: LocalHost,
    setup: &'a Setup,
    /// The network as traffic generators need it, once one is started.
    network: Option<Network>,
    start_time: SharedStart,
    /// Programs by their process.
    running: HashMap<libc::pid_t, usize>,
    /// Commands that other hosts have asked for, by their process.
    commands: HashMap<libc::pid_t, usize>,
    /// Commands of users.
    executions: Vec<RunningExecution>,
    launcher: Launcher,
    socket_diag: SocketDiag,
    /// Services that are to listen, and until when.
    awaited: Vec<(usize, u64)>,
}

impl Agent<'_> {
    fn serve(&mut self, console: &mut Console) -> Result<()> {
        loop {
            while let Some((pid, status, usage)) = wait::collect_any() {
                if libc::WIFSTOPPED(status) {
                    continue;
                }
                if let Some(program) = self.running.remove(&pid) {
                    console.report(&Report::Ended { program, status, used: (&usage).into() })?;
                } else if let Some(number) = self.commands.remove(&pid) {
                    console.report(&Report::CommandEnded { number, code: wait::code_of(status) })?;
                } else if let Some(place) = self.executions.iter().position(|each| each.pid == pid) {
                    let mut ended = self.executions.swap_remove(place);
                    let number = ended.number;
                    report_output(number, ended.read_rest(), console)?;
                    console.report(&Report::CommandEnded { number, code: wait::code_of(status) })?;
                }
            }
            for execution in &mut self.executions {
                let (number, taken) = (execution.number, execution.write());
                if taken > 0 {
                    console.report(&Report::Taken { number, bytes: taken })?;
                }
                report_output(number, execution.read(), console)?;
            }
            self.check_services(console)?;
            let wait_ns = if self.awaited.is_empty() { LONGEST_WAIT_NS } else { READY_POLL_INTERVAL_NS };
            let rests_ns = self.executions.iter().filter_map(RunningExecution::rest_ns);
            let wait_ns = rests_ns.fold(wait_ns, u64::min);
            let mut watched = vec![readable(console.file.as_fd()), readable(self.launcher.fd())];
            watched.extend(self.executions.iter().flat_map(RunningExecution::watched));
            wait_with_signals(&mut watched, wait_ns);
            for Launch { ticket, host, command } in self.launcher.launches() {
                console.report(&Report::Launch { ticket, host, command })?;
            }
            for order in console.orders()? {
                if let Order::PowerOff = order {
                    return Ok(());
                }
                self.handle_order(&order, console)?;
            }
        }
    }

    fn handle_order(&mut self, order: &Order, console: &mut Console) -> Result<()> {
        match *order {
            Order::Configure { .. } | Order::PowerOff => Ok(()),
            Order::RunCommand { number, ref command } => match self.run(number, command) {
                Ok(pid) => {
                    self.commands.insert(pid, number);
                    Ok(())
                }
                Err(_) => console.report(&Report::CommandEnded { number, code: 127 }),
            },
            Order::CommandEnded { ticket, code } => {
                launcher::send_exit_code(ticket, code);
                Ok(())
            }
            Order::Execute { number, ref execution } => match self.execute(number, execution) {
                Ok(running) => {
                    self.executions.push(running);
                    Ok(())
                }
                Err(error) => {
                    let bytes = format!("longhaul: {error}\n").into_bytes();
                    console.report(&Report::Output { number, stream: 2, bytes })?;
                    console.report(&Report::CommandEnded { number, code: 127 })
                }
            },
            Order::ForExecution { number, ref order } => {
                if let Some(running) = self.executions.iter_mut().find(|each| each.number == number) {
                    running.handle_order(order);
                }
                Ok(())
            }
            Order::StartClock { after_ns } => self
                .start_time
                .publish(Clock::starting_at(monotonic_ns() + after_ns))
                .map_err(|error| Error::wrap("publish the start time to traffic generators", error)),
            Order::Start { program } => {
                let report = match self.start(program) {
                    Ok(pid) => {
                        self.running.insert(pid, program);
                        Report::Started { program }
                    }
                    Err(error) => Report::NotStarted { program, message: error.to_string() },
                };
                console.report(&report)
            }
            Order::AwaitReady { program, within_ns } => {
                self.awaited.push((program, monotonic_ns().saturating_add(within_ns)));
                Ok(())
            }
            Order::Signal { program, number } => {
                let found = self.running.iter().find(|&(_, &running)| running == program);
                if let (Some((&pid, _)), Ok(signal)) = (found, Signal::try_from(number)) {
                    // The child has made this group for itself.
                    let _ = killpg(Pid::from_raw(pid), signal);
                }
                Ok(())
            }
            Order::ReadSockets => {
                let mut sockets = Vec::new();
                self.socket_diag
                    .read(|socket| sockets.push(socket.clone()))
                    .map_err(|error| Error::wrap("read the state of TCP connections", error))?;
                console.report(&Report::Sockets { sockets })
            }
            Order::ReadCounters => {
                let mut counted = counters::read_here(counters::is_ours);
                counted.all.extend(memory_effects());
                let congestion_control = counters::congestion_control();
                console.report(&Report::Counters {
                    dropped: counted.drops,
                    all: counted.all,
                    congestion_control,
                })
            }
        }
    }

    fn start(&mut self, program: usize) -> Result<libc::pid_t> {
        let planned =
            self.plan.programs.get(program).ok_or_else(|| Error::new("the plan has no such program"))?;
        let mut env = self.setup.env.clone();
        env.extend(self.setup.spans.get(program).cloned().unwrap_or_default());
        let environment = environment(self.setup, &env);
        let place = ProgramHost::Local(&self.host);
        let Some(part) = &planned.plays else { return program::start(planned, &place, &environment) };
        let network = match &mut self.network {
            Some(network) => network,
            None => self.network.insert(Network::new(self.plan)?),
        };
        let generator = TrafficGenerator::new(self.plan, network, part)?;
        program::start_traffic_generator(planned, generator, &self.start_time, &place, &environment)
    }

    /// Starts a command of a user.
    fn execute(&self, number: usize, execution: &Execution) -> Result<RunningExecution> {
        let (ends, streams) = Ends::open(execution)?;
        let mut program = unplanned(format!("exec.{number}"), execution.argv.clone());
        // A root directory of its own has other directories.
        program.cwd = execution.cwd.clone().filter(|_| !self.host.has_root);
        program.env = execution.env.clone();
        let place = ProgramHost::Local(&self.host);
        let pid = program::start_with(streams, &program, &place, &environment(self.setup, &self.setup.env))?;
        Ok(RunningExecution::new(number, pid, ends))
    }

    /// Starts a command that another host has asked for.
    fn run(&self, number: usize, command: &Command) -> Result<libc::pid_t> {
        const SHELL: &str = r#"cd "$0" 2>/dev/null; eval "$1""#;
        let argv = ["/bin/sh", "-c", SHELL, &command.cwd, &command.text];
        let program = unplanned(format!("launched.{number}"), argv.map(String::from).to_vec());
        program::start(&program, &ProgramHost::Local(&self.host), &environment(self.setup, &self.setup.env))
    }

    fn check_services(&mut self, console: &mut Console) -> Result<()> {
        let (plan, running) = (self.plan, &self.running);
        let mut reports = Vec::new();
        self.awaited.retain(|&(program, until_ns)| {
            let pid = running.iter().find(|&(_, &each)| each == program).map(|(&pid, _)| pid);
            let port =
                plan.programs.get(program).and_then(|each| each.ready.as_ref()).map(|ready| ready.tcp_port);
            let listens = pid.zip(port).is_some_and(|(pid, port)| program::listens(pid, port));
            let report = match pid {
                _ if listens => Report::Ready { program },
                Some(_) if monotonic_ns() < until_ns => return true,
                _ => Report::NotReady { program },
            };
            reports.push(report);
            false
        });
        reports.iter().try_for_each(|report| console.report(report))
    }
}

/// A program without a place in the plan.
fn unplanned(name: String, argv: Vec<String>) -> Program {
    Program {
        name,
        host: 0,
        argv,
        cwd: None,
        env: BTreeMap::new(),
        start_ns: 0,
        after: Vec::new(),
        stop_ns: None,
        service: false,
        ready: None,
        expect_exit: None,
        may_end: true,
        span: None,
        plays: None,
    }
}

fn report_output(number: usize, outputs: Vec<executions::Output>, console: &mut Console) -> Result<()> {
    for (stream, bytes) in outputs {
        console.report(&Report::Output { number, stream, bytes })?;
    }
    Ok(())
}

fn environment<'a>(setup: &'a Setup, env: &'a BTreeMap<String, String>) -> ProgramEnvironment<'a> {
    // The kernel is the program's own: it can do no harm to the machine.
    ProgramEnvironment { cwd: &setup.cwd, directory: &setup.directory, env, isolation: Isolation::None }
}

/// The console, read and written as a plain stream of bytes.
struct Console {
    file: File,
    lines: LineBuffer,
    orders: std::collections::VecDeque<Order>,
}

impl Console {
    fn open() -> Result<Self> {
        let failed = |error: &dyn std::fmt::Display| Error::wrap(format!("open {CONSOLE}"), error);
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .custom_flags(libc::O_NOCTTY | libc::O_NONBLOCK)
            .open(Path::new(CONSOLE))
            .map_err(|error| failed(&error))?;
        let mut settings = tcgetattr(&file).map_err(|error| failed(&error))?;
        cfmakeraw(&mut settings);
        tcsetattr(&file, SetArg::TCSANOW, &settings).map_err(|error| failed(&error))?;
        Ok(Console { file, lines: LineBuffer::default(), orders: std::collections::VecDeque::new() })
    }

    fn report(&mut self, report: &Report) -> Result<()> {
        let failed = |error: &dyn std::fmt::Display| Error::wrap("report to the supervisor", error);
        let mut line = serde_json::to_vec(report).map_err(|error| failed(&error))?;
        line.push(b'\n');
        let mut rest = &line[..];
        while !rest.is_empty() {
            match self.file.write(rest) {
                Ok(written) => rest = &rest[written..],
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    wait_writable(&self.file, LONGEST_WAIT_NS);
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(failed(&error)),
            }
        }
        Ok(())
    }

    /// The orders that have come since the last call.
    fn orders(&mut self) -> Result<Vec<Order>> {
        self.read()?;
        Ok(self.orders.drain(..).collect())
    }

    /// Waits for the next order.
    fn next_order(&mut self) -> Result<Order> {
        loop {
            if let Some(order) = self.orders.pop_front() {
                return Ok(order);
            }
            wait_with_signals(&mut [readable(self.file.as_fd())], LONGEST_WAIT_NS);
            self.read()?;
        }
    }

    fn read(&mut self) -> Result<()> {
        let mut buffer = [0u8; 4_096];
        loop {
            match self.file.read(&mut buffer) {
                Ok(0) => return Ok(()),
                Ok(read) => {
                    for line in self.lines.take(&buffer[..read]) {
                        let order = serde_json::from_slice(&line)
                            .map_err(|error| Error::wrap("read an order", error))?;
                        self.orders.push_back(order);
                    }
                }
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {
                    return Ok(());
                }
                Err(error) => return Err(Error::wrap("receive from the supervisor", error)),
            }
        }
    }
}
