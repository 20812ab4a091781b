//! Bindings: they translate, and decide nothing.
#![expect(clippy::needless_pass_by_value, reason = "PyO3 gives arguments, and map_err errors, by value")]

mod capture;
mod error;
mod kernels;
mod many;
mod relay;
mod rewrite;
mod routes;
mod virtual_time;

use longhaul_congestion::AlgorithmSettings;
use longhaul_live::{Entry, ForeignPlace, Kernel, Options};
use longhaul_plan::{Plan, from_json};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::collections::{BTreeMap, HashMap};
use std::os::fd::FromRawFd;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;

#[pymodule]
mod _longhaul {
    #[pymodule_export]
    const LEAST_THREAD_DELAY_NS: u64 = longhaul_live::LEAST_THREAD_DELAY.ns();
    #[pymodule_export]
    const MOST_CARDS: usize = longhaul_live::MOST_CARDS;
    #[pymodule_export]
    use super::Simulation;
    #[pymodule_export]
    use super::capture::{CaptureReader, exchange};
    #[pymodule_export]
    use super::error::{InvalidValueError, LiveError};
    #[pymodule_export]
    use super::kernels::{
        add_stencil, count_keys, distribute_keys, interpolate, multiply_sparse, relax, restrict,
    };
    #[pymodule_export]
    use super::many::{Stop, simulate_many};
    #[pymodule_export]
    use super::relay::{check_relay_plan, run_relay};
    #[pymodule_export]
    use super::rewrite::RewrittenCapture;
    #[pymodule_export]
    use super::routes::Routes;
    #[pymodule_export]
    use super::virtual_time::{run_as_init, serve_hosts};
    #[pymodule_export]
    use super::{
        algorithms, bpf_algorithms, cgroup_prefix, check_algorithm, check_bpf_algorithm, check_limits,
        check_plan, draw, engine_status, joined_jobs, live_cuts, oom_kills, oom_kills_since, own_cgroup,
        path, replay, run_in_host, run_live, strict_capabilities, system_directories, trial, uniforms,
        version,
    };
}

#[pyfunction]
fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}

#[pyfunction]
fn check_plan(plan: &str) -> PyResult<()> {
    read_plan(plan).map(drop)
}

/// The names of all congestion-control algorithms.
#[pyfunction]
fn algorithms() -> [&'static str; longhaul_congestion::NAMES.len()] {
    longhaul_congestion::NAMES
}

fn read_algorithm(text: &str) -> PyResult<AlgorithmSettings> {
    let algorithm: AlgorithmSettings = from_json(text.as_bytes()).map_err(error::invalid)?;
    algorithm.check().map_err(error::invalid)?;
    Ok(algorithm)
}

/// Checks a congestion-control algorithm in JSON.
#[pyfunction]
fn check_algorithm(algorithm: &str) -> PyResult<()> {
    read_algorithm(algorithm).map(drop)
}

/// Checks that a congestion-control algorithm in JSON can be loaded into a kernel.
#[pyfunction]
fn check_bpf_algorithm(algorithm: &str) -> PyResult<()> {
    longhaul_live::check_bpf_algorithm(&read_algorithm(algorithm)?).map_err(error::invalid)
}

/// An algorithm, and why this kernel refuses it: message, and remedy if there is one.
type Obstacle = (&'static str, Option<(String, Option<String>)>);

/// Every algorithm that BPF programs implement; with `load`, each with the reason why this kernel refuses it.
#[pyfunction]
#[pyo3(signature = (*, load))]
fn bpf_algorithms(load: bool) -> Vec<Obstacle> {
    let parts = |error: longhaul_live::Error| (error.message().to_owned(), error.remedy().map(str::to_owned));
    longhaul_live::BPF_ALGORITHMS
        .iter()
        .map(|name| (*name, load.then(|| longhaul_live::try_loading(name).err()).flatten().map(parts)))
        .collect()
}

/// The links from one node to another in the network of a run, as (link, whether it is taken in reverse).
#[pyfunction]
fn path(plan: &str, from: u32, to: u32) -> PyResult<Option<Vec<(usize, bool)>>> {
    let plan = read_plan(plan)?;
    let nodes = plan.nodes.len() as u32;
    if from >= nodes || to >= nodes {
        return Err(PyValueError::new_err(format!("there are {nodes} nodes")));
    }
    let network = longhaul_network::Network::new(&plan).map_err(error::invalid)?;
    let path = network.path(longhaul_network::NodeId(from), longhaul_network::NodeId(to));
    Ok(path.map(|path| {
        path.iter()
            .map(|direction| (direction.link(), direction.way() == longhaul_plan::Way::Reverse))
            .collect()
    }))
}

/// The links at which a live run of a plan can be divided among machines, each with its least delay in nanoseconds.
#[pyfunction]
fn live_cuts(plan: &str) -> PyResult<Vec<(usize, u64)>> {
    let plan = read_plan(plan)?;
    let network = longhaul_network::Network::new(&plan).map_err(error::invalid)?;
    Ok(network.live_cuts(&plan).iter().map(|cut| (cut.link, cut.lookahead.ns())).collect())
}

/// What the engines of several machines say of the run, each as JSON, as one engine would say it.
#[pyfunction]
fn engine_status(engines: Vec<String>) -> PyResult<String> {
    longhaul_live::engine_status(&engines).map_err(|error| PyValueError::new_err(error.to_string()))
}

/// The results of simulated programs, of those of each machine or engine thread, each as JSON.
#[pyfunction]
fn joined_jobs(shards: Vec<String>) -> PyResult<String> {
    let joined = shards
        .iter()
        .map(|jobs| serde_json::from_str(jobs))
        .collect::<serde_json::Result<Vec<_>>>()
        .and_then(|shards| longhaul_live::joined_jobs(&shards))
        .and_then(|jobs| serde_json::to_string(&jobs));
    joined.map_err(|error| PyValueError::new_err(error.to_string()))
}

type Trial = (Vec<u32>, Vec<&'static str>, Vec<u64>, Vec<bool>, Vec<bool>);

/// Packets through one direction alone: (packet, fate, due in ps or 0, marked, corrupted), each a list.
#[pyfunction]
#[pyo3(signature = (direction, *, seed, name, at_ps, sizes, flow, class_))]
fn trial(
    direction: &str,
    seed: u64,
    name: &str,
    at_ps: Vec<u64>,
    sizes: Vec<u32>,
    flow: Vec<u32>,
    class_: Vec<u8>,
) -> PyResult<Trial> {
    let model: longhaul_plan::Direction = from_json(direction.as_bytes()).map_err(error::invalid)?;
    if [sizes.len(), flow.len(), class_.len()] != [at_ps.len(); 3] {
        return Err(PyValueError::new_err("all lists must be equally long"));
    }
    if at_ps.windows(2).any(|pair| pair[0] > pair[1]) {
        return Err(PyValueError::new_err("at_ps: times must not go back"));
    }
    let offers: Vec<longhaul_network::Offer> = (0..at_ps.len())
        .map(|n| longhaul_network::Offer {
            at: longhaul_units::Time::from_ps(at_ps[n]),
            bytes: sizes[n],
            flow: flow[n],
            class: class_[n],
        })
        .collect();
    let mut result = Trial::default();
    for passage in longhaul_network::trial(&model, seed, name, &offers) {
        result.0.push(passage.packet);
        result.1.push(match passage.end {
            Ok(_) => "delivered",
            Err(fate) => longhaul_network::Fate::from(fate).name(),
        });
        result.2.push(passage.end.map_or(0, longhaul_units::Time::ps));
        result.3.push(passage.marked);
        result.4.push(passage.corrupted);
    }
    Ok(result)
}

/// Feeds a journal's inputs to a fresh network, or to the shard of which it is: counts, and the first departure that differs.
#[pyfunction]
#[pyo3(signature = (plan, journal, shard = None))]
fn replay<'py>(
    py: Python<'py>,
    plan: &str,
    journal: &str,
    shard: Option<(Vec<u32>, u32)>,
) -> PyResult<Bound<'py, PyDict>> {
    let plan = read_plan(plan)?;
    let mut file = std::io::BufReader::with_capacity(1 << 20, std::fs::File::open(journal)?);
    let result = py
        .detach(|| match &shard {
            None => longhaul_network::replay(&plan, &mut file),
            Some((partition, own)) => longhaul_network::replay_shard(&plan, (partition, *own), &mut file),
        })
        .map_err(error::replay)?;
    let dict = PyDict::new(py);
    dict.set_item("injected", result.injected)?;
    dict.set_item("changes", result.changes)?;
    dict.set_item("equal", result.equal)?;
    dict.set_item("imported", result.imported)?;
    dict.set_item("delivered", result.delivered)?;
    dict.set_item("crossed", result.crossed)?;
    let difference = result.difference.map(|each| (describe(each.recorded), describe(each.replayed)));
    dict.set_item("difference", difference)?;
    Ok(dict)
}

fn describe(departure: Option<longhaul_network::journal::Departure>) -> Option<String> {
    let each = departure?;
    let end = match each.end {
        Ok(host) if each.exit.is_some() => format!("went to another shard for node {}, due", host.0),
        Ok(host) => format!("delivered to node {}", host.0),
        Err(fate) => fate.name().to_owned(),
    };
    let longhaul_network::journal::Departure { body, segment, class, damage, .. } = each;
    Some(format!("packet {body}.{segment} {end} at {} ps (class {class}, damage {damage})", each.at.ps()))
}

/// See `Simulation.load`.
type Load = (Option<&'static str>, Vec<f64>, Vec<(usize, usize, f64, f64)>, Vec<(usize, usize)>);

/// A simulated run of a plan in JSON, which writes `raw/` and `captures/` into the directory of a run, or nothing.
#[pyclass]
struct Simulation(longhaul_sim::Simulation);

#[pymethods]
impl Simulation {
    #[new]
    #[pyo3(signature = (plan, *, directory, scheduler = "automatic"))]
    fn new(plan: &str, directory: Option<std::path::PathBuf>, scheduler: &str) -> PyResult<Self> {
        use longhaul_sim::Scheduler;
        let scheduler = match scheduler {
            "automatic" => Scheduler::Automatic,
            "calendar" => Scheduler::Calendar,
            "lookahead" => Scheduler::Lookahead,
            other => return Err(PyValueError::new_err(format!("scheduler: there is no {other}"))),
        };
        let plan = read_plan(plan)?;
        let records = match directory {
            None => longhaul_sim::Records::none(),
            Some(directory) => longhaul_sim::Records::new(&plan, |name| {
                let path = directory.join(if name.contains('/') { "" } else { "raw" }).join(name);
                path.parent().map_or(Ok(()), std::fs::create_dir_all)?;
                Ok(Box::new(longhaul_storage::Appender::create(&longhaul_storage::Disk, &path)?))
            })?,
        };
        let simulation = longhaul_sim::Simulation::new(plan, records).map_err(error::invalid)?;
        Ok(Simulation(simulation.with_scheduler(scheduler)))
    }

    /// What the simulation of `plan`, which this is, will have to do, to divide it into shards by: what stands against that,
    /// computing time of each node in ns for a simulated second, each link (its ends, packets a second, lookahead in ns or 0 if
    /// it cannot be cut), and interfaces with their hosts.
    fn load(&self, plan: &str) -> PyResult<Load> {
        let longhaul_sim::LoadGraph { obstacle, nodes, links, interfaces } = self.0.load(&read_plan(plan)?);
        let link = |link: longhaul_sim::LoadedLink| {
            let [near, far] = link.endpoints;
            (near, far, link.packets_per_s, link.lookahead.as_secs_f64() * 1e9)
        };
        Ok((obstacle, nodes, links.into_iter().map(link).collect(), interfaces))
    }

    #[classattr]
    const WINDOWS_PER_LOOKAHEAD: u64 = longhaul_sim::WINDOWS_PER_LOOKAHEAD;

    /// Divides the run among shards: `partition` is the shard of each node.
    fn divide(&mut self, partition: Vec<u32>) -> PyResult<()> {
        self.0.divide(&partition).map_err(error::invalid)
    }

    /// Runs on for so many events at most, and up to an instant; true when the run has ended.
    #[pyo3(signature = (events, *, until_ns = None))]
    fn advance(&mut self, py: Python<'_>, events: u64, until_ns: Option<u64>) -> bool {
        let until = until_ns.map_or(longhaul_units::Time::NEVER, longhaul_units::Time::from_ns);
        py.detach(|| self.0.advance(until, events))
    }

    /// Lets a bulk transfer hand over at a rate from now on; 0: nothing.
    fn pace(&mut self, flow: u32, bits_per_s: u64) -> PyResult<()> {
        let rate = longhaul_units::Rate::from_bits_per_s(bits_per_s);
        if self.0.pace(flow, rate) {
            return Ok(());
        }
        Err(PyValueError::new_err(format!("flow {flow} is not a bulk transfer over TCP")))
    }

    /// How far bulk transfers have come: flow, bytes that have arrived, when all had (ns), whether one failed.
    fn progress(&mut self) -> Vec<(u32, u64, Option<u64>, bool)> {
        let all = self.0.progress().into_iter();
        all.map(|each| (each.flow, each.received, each.arrived.map(longhaul_units::Time::ns), each.failed))
            .collect()
    }

    /// The results so far, as JSON; the records so far are handed to the operating system.
    fn so_far(&mut self) -> PyResult<String> {
        Ok(self.0.interim_results()?.to_string())
    }

    /// The simulated time, in ns.
    fn now_ns(&self) -> u64 {
        self.0.now().ns()
    }

    /// What was counted, as JSON; call it once, at the end.
    fn finish(&mut self) -> PyResult<String> {
        Ok(self.0.finish()?.to_string())
    }
}

/// The first draw of a named stream from a distribution of the plan, in JSON.
#[pyfunction]
fn draw(seed: u64, name: &str, distribution: &str) -> PyResult<f64> {
    let distribution: longhaul_plan::Distribution =
        from_json(distribution.as_bytes()).map_err(error::invalid)?;
    Ok(distribution.draw(&mut longhaul_random::Seed::new(seed).stream(name)))
}

/// The first draws of a named stream, uniform on [0, 1).
#[pyfunction]
fn uniforms(seed: u64, name: &str, count: usize) -> Vec<f64> {
    let mut stream = longhaul_random::Seed::new(seed).stream(name);
    (0..count).map(|_| stream.uniform()).collect()
}

#[pyfunction]
#[pyo3(signature = (plan, *, directory, run, line, client, socket, keep, scratch, memory_bytes, kernel, foreign, machines, shards))]
#[expect(unsafe_code, reason = "a descriptor comes as a number from the process that made it")]
#[expect(clippy::too_many_arguments, reason = "named in Python")]
fn run_live(
    plan: &str,
    directory: &str,
    run: &str,
    line: Option<i32>,
    client: Option<i32>,
    socket: Option<String>,
    keep: bool,
    scratch: Vec<PathBuf>,
    memory_bytes: Option<u64>,
    kernel: Option<virtual_time::KernelArguments>,
    foreign: Vec<ForeignArguments>,
    machines: Option<MachinesArguments>,
    shards: Option<Vec<u32>>,
) -> PyResult<i32> {
    let mut plan = read_plan(plan)?;
    // SAFETY: the caller was started with this descriptor and uses it for nothing else.
    let line = line.map(|fd| unsafe { UnixStream::from_raw_fd(fd) });
    if machines.as_ref().is_some_and(|machines| machines.partition.len() != plan.nodes.len()) {
        return Err(PyValueError::new_err("machines: each node has one"));
    }
    let mut machines = machines.map(MachinesArguments::settings).transpose()?;
    if let Some(machines) = &mut machines {
        // Others run the rest.
        machines.keep_own_programs(&mut plan.programs);
    }
    if shards.as_ref().is_some_and(|shards| shards.len() != plan.nodes.len()) {
        return Err(PyValueError::new_err("shards: each node has one"));
    }
    let options = Options {
        directory: directory.into(),
        run: run.into(),
        line,
        client,
        socket: socket.map(Into::into),
        keep,
        scratch,
        memory_bytes,
        kernel: kernel.map(Kernel::from),
        foreign: foreign
            .into_iter()
            .map(|each| ForeignPlace { node: each.node, name: each.name, path: each.path, pid: each.pid })
            .collect(),
        machines,
        shards,
    };
    Ok(longhaul_live::run(&plan, options))
}

/// A network namespace of a host that is not the run's own.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct ForeignArguments {
    node: usize,
    name: String,
    path: PathBuf,
    pid: Option<i32>,
}

/// How a run is divided among machines.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct MachinesArguments {
    own: u32,
    partition: Vec<u32>,
    machines: Vec<(String, String)>,
    socket: i32,
    key: String,
    encrypts: bool,
    engine_number: usize,
    stays_up: bool,
    launcher: Vec<String>,
}

impl MachinesArguments {
    #[expect(unsafe_code, reason = "a descriptor comes as a number from the process that made it")]
    fn settings(self) -> PyResult<longhaul_live::Machines> {
        let wrong = |what: &str| PyValueError::new_err(format!("machines: {what}"));
        let address = |(name, address): (String, String)| {
            let address =
                address.parse().map_err(|_| wrong(&format!("{address} is not an address and port")))?;
            Ok((name, address))
        };
        let machines = self.machines.into_iter().map(address).collect::<PyResult<Vec<_>>>()?;
        let count = machines.len() as u32;
        if self.own >= count || self.partition.iter().any(|&machine| machine >= count) {
            return Err(wrong(&format!("there are {count}")));
        }
        let mut key = [0; 32];
        let digits = self.key.as_bytes().chunks_exact(2);
        if self.key.len() != 2 * key.len() {
            return Err(wrong("the key has 64 hexadecimal digits"));
        }
        for (byte, pair) in key.iter_mut().zip(digits) {
            let text = std::str::from_utf8(pair).unwrap_or_default();
            *byte = u8::from_str_radix(text, 16).map_err(|_| wrong("the key has 64 hexadecimal digits"))?;
        }
        // SAFETY: the caller was started with this descriptor and uses it for nothing else.
        let socket = unsafe { std::net::UdpSocket::from_raw_fd(self.socket) };
        Ok(longhaul_live::Machines {
            own: self.own,
            partition: self.partition,
            machines,
            socket,
            key,
            encrypts: self.encrypts,
            engine_number: self.engine_number,
            stays_up: self.stays_up,
            launcher: self.launcher,
            awaited: BTreeMap::new(),
        })
    }
}

/// Where the kernel counts processes of this control group that it killed for memory, and how many so far.
#[pyfunction]
fn oom_kills() -> Option<(String, u64)> {
    longhaul_live::OomKills::now().as_record()
}

/// In words, those that it has killed since it had killed `count`; none if there are none.
#[pyfunction]
fn oom_kills_since(file: &str, count: u64) -> Option<String> {
    longhaul_live::OomKills::of_record(file, count).since().map(|kills| kills.to_string())
}

#[expect(clippy::too_many_arguments, reason = "named in Python")]
#[pyfunction]
#[pyo3(signature = (*, supervisor, namespaces, argv, env, cwd, cgroups, credentials, strict))]
fn run_in_host(
    py: Python<'_>,
    supervisor: i32,
    namespaces: HashMap<String, i32>,
    argv: Vec<String>,
    env: HashMap<String, String>,
    cwd: &str,
    cgroups: Vec<String>,
    credentials: &str,
    strict: bool,
) -> PyResult<i32> {
    let of = |kind: &str| {
        namespaces
            .get(kind)
            .copied()
            .ok_or_else(|| PyValueError::new_err(format!("namespaces: {kind} is missing")))
    };
    let entry = Entry {
        supervisor,
        net: of("net")?,
        uts: of("uts")?,
        ipc: of("ipc")?,
        mnt: of("mnt")?,
        pid: namespaces.get("pid").copied(),
        cgroups,
        credentials: serde_json::from_str(credentials)
            .map_err(|error| PyValueError::new_err(format!("credentials: {error}")))?,
        strict,
    };
    let env: Vec<(String, String)> = env.into_iter().collect();
    let mut interruption = None;
    let code = longhaul_live::run_in_host(&entry, &argv, &env, cwd, || {
        interruption = interruption.take().or(py.check_signals().err());
        interruption.is_some()
    });
    match interruption {
        Some(interruption) => Err(interruption),
        None => code.map_err(error::live),
    }
}

/// Directories that are read-only for programs of hosts, and to which files of a host can be added.
#[pyfunction]
fn system_directories() -> Vec<&'static str> {
    longhaul_live::SYSTEM_DIRECTORIES.to_vec()
}

/// A bit for each capability that strict isolation leaves to programs of hosts.
#[pyfunction]
fn strict_capabilities() -> u64 {
    longhaul_live::strict_capabilities()
}

/// Raises an error if hosts of a run of this process could not be limited so.
#[pyfunction]
#[pyo3(signature = (*, cpu, memory))]
fn check_limits(cpu: bool, memory: bool) -> PyResult<()> {
    let cpu = cpu.then_some(longhaul_live::Controller::Cpu);
    let memory = memory.then_some(longhaul_live::Controller::Memory);
    let needed: Vec<_> = cpu.into_iter().chain(memory).collect();
    longhaul_live::check_limits(&needed).map_err(error::live)
}

#[pyfunction]
fn own_cgroup() -> Option<String> {
    longhaul_live::own_group().map(|group| group.display().to_string())
}

#[pyfunction]
fn cgroup_prefix() -> &'static str {
    longhaul_live::CGROUP_PREFIX
}

fn read_plan(plan: &str) -> PyResult<Plan> {
    Plan::from_json(plan.as_bytes()).map_err(error::invalid)
}
