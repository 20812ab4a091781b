//! The hosts of a run on the virtual clock, as the network sees them, and those whose kernels run on this machine.

use super::agent::launcher;
use super::kernels::{Kernel, Kernels};
use super::messages::Setup;
use crate::device::mac_of;
use crate::error::{Error, Result};
use crate::supervisor::environment;
use longhaul_plan::{NodeKind, Plan};
use longhaul_virtual::{Card, GuestCounters, GuestSpec, Guests, NetConfig, Port, Progress, Sent};
use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Unix time of the moment at which the kernels boot: 2026-01-01, so that programs see the same dates in every run.
pub const UNIX_NS: u64 = 1_767_225_600_000_000_000;
/// How long kernels may take to connect, of real time.
const CONNECTION_TIMEOUT: Duration = Duration::from_secs(60);

/// The kernels of all hosts, which run when the controller of the clock lets them. Hosts are called by their number: their
/// place among the hosts of the plan. Times are nanoseconds since the kernels booted.
pub trait Hosts {
    /// When a host has something to do next; `None` if all wait for ever, or some run.
    fn next_ns(&self) -> Option<u64>;

    /// Gives `bytes` to a device of a host at `due_ns`, or, if it has run further, then.
    fn deliver(&mut self, host: usize, due_ns: u64, port: Port, bytes: &[u8]);

    /// Lets every host run until it has nothing to do before `horizon_ns`. Without a message of theirs for `silence`,
    /// returns; it may be called again to go on.
    ///
    /// # Errors
    /// If a kernel breaks a protocol, or a connection fails.
    fn run_until(&mut self, horizon_ns: u64, silence: Duration) -> Result<Progress>;

    /// Hosts that run.
    fn busy(&self) -> Vec<usize>;

    /// Whether a host runs.
    fn is_any_busy(&self) -> bool;

    /// What hosts have sent since the last call, in order of time; at one instant in order of the hosts.
    fn take_sent(&mut self) -> Vec<Sent>;

    /// Takes back what [`take_sent`](Self::take_sent) has given, to use its memory again.
    fn recycle(&mut self, sent: Vec<Sent>);

    /// A host whose kernel has ended, and how.
    fn ended(&mut self) -> Option<(usize, String)>;

    /// Keeps a line with what the kernel of a host says.
    fn log(&mut self, host: usize, line: &[u8]);

    /// The [`Setup`] of a host, as its machine names it.
    fn setup_file(&self, host: usize) -> &Path;

    /// What has happened to packets at each host, by number.
    fn counters(&mut self) -> Vec<GuestCounters>;

    /// Keeps connections to machines alive: to be called at least every second while no host runs.
    ///
    /// # Errors
    /// If the connection to a machine is lost.
    fn keep_alive(&mut self) -> Result<()> {
        Ok(())
    }

    /// Ends the hosts; brings what their programs have written into the run directory, if that is elsewhere.
    ///
    /// # Errors
    /// If that fails.
    fn finish(&mut self, directory: &Path) -> Result<()>;
}

/// The nodes of a plan that are hosts: a host's number is its place here.
pub fn nodes_of(plan: &Plan) -> Vec<usize> {
    (0..plan.nodes.len()).filter(|&node| plan.nodes[node].kind == NodeKind::Host).collect()
}

/// Hosts whose kernels run on this machine.
pub struct LocalHosts {
    guests: Guests,
    kernels: Kernels,
    directory: PathBuf,
    setup_file: PathBuf,
    numbers: Vec<usize>,
    /// Of all hosts of the run, by number.
    names: Vec<String>,
}

impl LocalHosts {
    /// Starts the kernels of the hosts with these numbers, and lets them boot. Files go into `directory`. `on_start` is
    /// called with the number of kernels started so far.
    ///
    /// # Errors
    /// If a kernel does not start.
    pub fn start(
        plan: &Plan,
        kernel: &Kernel,
        directory: &Path,
        numbers: &[usize],
        mut on_start: impl FnMut(usize),
    ) -> Result<Self> {
        make_directories(directory)?;
        let setup_file = write_setup(plan, directory, kernel.cpu_scale > 0)?;
        let nodes = nodes_of(plan);
        let spec = |&number: &usize| {
            let node = nodes[number];
            let interfaces: Vec<usize> = plan.interfaces(node).collect();
            GuestSpec { number, name: plan.nodes[node].name.clone(), cards: cards(plan, node, &interfaces) }
        };
        let specs: Vec<GuestSpec> = numbers.iter().map(spec).collect();
        let mut kernels = Kernels::new();
        let guests = Guests::listen(&kernel.directory, specs.clone(), UNIX_NS)?;
        for (started, GuestSpec { number, name, cards }) in specs.iter().enumerate() {
            let seed = plan.seed.wrapping_add(*number as u64);
            let memory_bytes = kernel.memory_bytes[nodes[*number]];
            kernels.start(kernel, *number, memory_bytes, cards, seed, &console_log(directory, name))?;
            on_start(started + 1);
        }
        let names = nodes.iter().map(|&node| plan.nodes[node].name.clone()).collect();
        let (directory, numbers) = (directory.to_path_buf(), numbers.to_vec());
        let mut hosts = LocalHosts { guests, kernels, directory, setup_file, numbers, names };
        if !hosts.guests.wait_for_connections(CONNECTION_TIMEOUT)? {
            let found = hosts
                .numbers
                .clone()
                .into_iter()
                .find_map(|number| hosts.how_ended(number).zip(Some(number)));
            return Err(found.map_or_else(
                || {
                    let seconds = CONNECTION_TIMEOUT.as_secs();
                    Error::new(format!("the hosts' kernels did not start within {seconds} s"))
                },
                |(how, number)| kernel_ended(&hosts.names[number], &how, &hosts.directory),
            ));
        }
        hosts.guests.boot()?;
        Ok(hosts)
    }

    /// What has happened to packets at each host that is here, by number.
    pub fn counters_here(&mut self) -> Vec<(usize, GuestCounters)> {
        self.numbers.iter().map(|&number| (number, self.guests.counters(number))).collect()
    }

    /// How the kernel of a host has ended, if it has, with the last line that it wrote.
    fn how_ended(&mut self, number: usize) -> Option<String> {
        let how = self.kernels.ended(number)?;
        let text = fs::read_to_string(console_log(&self.directory, &self.names[number])).unwrap_or_default();
        let last = crate::stderr_capture::last_line(&text);
        Some(last.map_or_else(|| format!("({how})"), |line| format!("({how}): {line}")))
    }
}

impl Hosts for LocalHosts {
    fn next_ns(&self) -> Option<u64> {
        self.guests.next_ns()
    }

    fn deliver(&mut self, host: usize, due_ns: u64, port: Port, bytes: &[u8]) {
        self.guests.deliver(host, due_ns, port, bytes);
    }

    fn run_until(&mut self, horizon_ns: u64, silence: Duration) -> Result<Progress> {
        let progress = self.guests.run_until(horizon_ns, silence)?;
        self.kernels.processors.decide(self.guests.overlap());
        Ok(progress)
    }

    fn busy(&self) -> Vec<usize> {
        self.guests.busy().collect()
    }

    fn is_any_busy(&self) -> bool {
        self.guests.busy().next().is_some()
    }

    fn take_sent(&mut self) -> Vec<Sent> {
        self.guests.take_sent()
    }

    fn recycle(&mut self, sent: Vec<Sent>) {
        self.guests.recycle(sent);
    }

    fn ended(&mut self) -> Option<(usize, String)> {
        let number = self.guests.ended().next()?;
        let how = self.how_ended(number);
        Some((number, how.unwrap_or_else(|| "(its connection is closed)".to_owned())))
    }

    fn log(&mut self, host: usize, line: &[u8]) {
        let path = console_log(&self.directory, &self.names[host]);
        let log = OpenOptions::new().append(true).custom_flags(libc::O_NOFOLLOW).open(path);
        let _ = log.and_then(|mut log| log.write_all(&[line, b"\n"].concat()));
    }

    fn setup_file(&self, _host: usize) -> &Path {
        &self.setup_file
    }

    fn counters(&mut self) -> Vec<GuestCounters> {
        self.counters_here().into_iter().map(|(_, counters)| counters).collect()
    }

    fn finish(&mut self, _directory: &Path) -> Result<()> {
        // They end with this.
        Ok(())
    }
}

/// Makes the directories of a run's records and logs.
pub fn make_directories(directory: &Path) -> Result<()> {
    for folder in [directory.join("raw/hosts.d"), directory.join("logs")] {
        fs::create_dir_all(&folder)
            .map_err(|error| Error::wrap(format!("make {}", folder.display()), error))?;
    }
    Ok(())
}

/// The error of a host whose kernel has ended, with how it did.
pub fn kernel_ended(host: &str, how: &str, directory: &Path) -> Error {
    Error::crash(format!("host {host}: its kernel has ended {how}"))
        .with_remedy(format!("its console is in {}", console_log(directory, host).display()))
}

/// Where it is kept what the kernel of a host says.
fn console_log(directory: &Path, host: &str) -> PathBuf {
    directory.join(format!("logs/{host}.console"))
}

/// The network cards of a host with these interfaces.
fn cards(plan: &Plan, host: usize, interfaces: &[usize]) -> Vec<Card> {
    let card = |&interface: &usize| {
        let mtu = u16::try_from(plan.nodes[interface].mtu).unwrap_or(u16::MAX);
        let config = NetConfig { mac: mac_of(interface), mtu };
        Card { config, line_bits_per_s: plan.nodes[host].line_bits_per_s }
    };
    interfaces.iter().map(card).collect()
}

/// Writes what the hosts of this machine become; returns the file. `computes`: whether computing takes time.
fn write_setup(plan: &Plan, directory: &Path, computes: bool) -> Result<PathBuf> {
    let cwd = std::env::current_dir().map_err(|error| Error::wrap("find the working directory", error))?;
    let files = directory.join("raw/hosts.d");
    let spans = plan.programs.iter().map(|program| environment::parallel_environment(plan, program, &files));
    let spans = spans.collect::<Result<_>>()?;
    let env = environment_of(plan, directory, computes)?;
    let setup = Setup { directory: directory.to_path_buf(), cwd, env, spans };
    let file = files.join("setup.json");
    let text = serde_json::to_vec(&setup).map_err(|error| Error::wrap("write the setup", error))?;
    fs::write(&file, text).map_err(|error| Error::wrap(format!("write {}", file.display()), error))?;
    Ok(file)
}

/// Lets glibc keep memory that a program frees (mallopt(3)), where it would return large blocks at once. Each page that a
/// program takes anew stops it, which costs more here than on a machine of its own, and is measured as computing.
const KEEPS_MEMORY: [(&str, &str); 2] = [("MALLOC_MMAP_MAX_", "0"), ("MALLOC_TRIM_THRESHOLD_", "8000000000")];

/// Variables of every program of the run. `computes`: whether computing takes time.
fn environment_of(plan: &Plan, directory: &Path, computes: bool) -> Result<BTreeMap<String, String>> {
    // Programs of a live run have the environment of the one that was started; the first process of a kernel has none.
    let mut env: BTreeMap<String, String> = std::env::vars().collect();
    for (name, value) in KEEPS_MEMORY.iter().filter(|_| computes) {
        env.entry((*name).into()).or_insert_with(|| (*value).into());
    }
    env.extend(environment::environment(plan, directory, Path::new(launcher::SCRIPT))?);
    env.insert("TMPDIR".into(), "/tmp".into());
    Ok(env)
}
