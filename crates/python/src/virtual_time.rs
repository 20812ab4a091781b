//! Runs on the virtual clock: their kernels, and hosts that other machines run.

use super::{error, read_plan};
use longhaul_live::{Connection, HostMachine, Kernel, SecretKey};
use pyo3::prelude::*;
use std::os::fd::{BorrowedFd, FromRawFd, OwnedFd};
use std::path::PathBuf;
use std::sync::Arc;

/// The kernel of the hosts of a run on the virtual clock.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct KernelArguments {
    file: PathBuf,
    init: Vec<String>,
    memory_bytes: Vec<u64>,
    cpu_scale: u64,
    patience_s: u64,
    directory: PathBuf,
    machines: Vec<HostMachineArguments>,
}

impl From<KernelArguments> for Kernel {
    fn from(given: KernelArguments) -> Self {
        let KernelArguments { file, init, memory_bytes, cpu_scale, patience_s, directory, machines } = given;
        let machines = machines.into_iter().map(HostMachine::from).collect();
        Kernel { file, init, memory_bytes, cpu_scale, patience_s, directory, machines }
    }
}

/// A machine that runs hosts of a run on the virtual clock.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct HostMachineArguments {
    name: String,
    stream: i32,
    key: Option<SecretKey>,
    hosts: Vec<usize>,
}

impl From<HostMachineArguments> for HostMachine {
    #[expect(unsafe_code, reason = "a descriptor comes as a number from the process that made it")]
    fn from(HostMachineArguments { name, stream, key, hosts }: HostMachineArguments) -> Self {
        // SAFETY: the caller was started with this descriptor and uses it for nothing else.
        let stream = unsafe { OwnedFd::from_raw_fd(stream) };
        HostMachine { name, stream: Arc::new(stream), key, hosts }
    }
}

/// Runs hosts on this machine as the controller of the virtual clock says, which is at the other end of the descriptors
/// `incoming` and `outgoing`. In the end it is sent the archive that `pack` makes and names.
#[expect(unsafe_code, reason = "a descriptor comes as a number from the process that made it")]
#[expect(clippy::too_many_arguments, reason = "named in Python")]
#[pyfunction]
#[pyo3(signature = (plan, *, directory, kernel, hosts, incoming, outgoing, key, pack))]
pub fn serve_hosts(
    py: Python<'_>,
    plan: &str,
    directory: PathBuf,
    kernel: KernelArguments,
    hosts: Vec<usize>,
    incoming: i32,
    outgoing: i32,
    key: Option<SecretKey>,
    pack: Py<PyAny>,
) -> PyResult<()> {
    let plan = read_plan(plan)?;
    let kernel = Kernel::from(kernel);
    // SAFETY: the caller has these descriptors open, and uses them for nothing else until this returns.
    let [input, output] = [incoming, outgoing].map(|fd| unsafe { BorrowedFd::borrow_raw(fd) });
    let mut packed = || {
        Python::attach(|py| pack.call0(py)?.extract::<PathBuf>(py))
            .map_err(|error| std::io::Error::other(error.to_string()))
    };
    let connection = Connection { input, output, key };
    py.detach(|| longhaul_live::serve_hosts(&plan, &kernel, &directory, &hosts, connection, &mut packed))
        .map_err(error::live)
}

/// Runs as the first process of a host that is a kernel of its own; powers it off in the end.
#[pyfunction]
pub fn run_as_init() -> PyResult<()> {
    longhaul_live::run_as_init().map(drop).map_err(error::live)
}
