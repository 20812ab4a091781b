//! The hosts' kernels: processes of User-Mode Linux.

use super::machines::HostMachine;
use super::processors::Processors;
use crate::error::{Error, Result};
use longhaul_virtual::{Card, Port, TIME_SOCKET, socket_name};
use nix::sys::personality::Persona;
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use std::collections::BTreeMap;
use std::fs::File;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// A kernel, and what it runs first.
#[derive(Clone, Debug)]
pub struct Kernel {
    /// The kernel's file.
    pub file: PathBuf,
    /// What every host starts as its first process: the agent, with its arguments.
    pub init: Vec<String>,
    /// Memory of each node of the plan, in bytes.
    pub memory_bytes: Vec<u64>,
    /// Virtual picoseconds for each nanosecond that a program computes; 0 if computing takes no time.
    pub cpu_scale: u64,
    /// Real time without a message of a kernel after which the run warns, in seconds.
    pub patience_s: u64,
    /// Where kernels and this process meet: an empty directory, which nobody else may enter and whose maker removes it.
    pub directory: PathBuf,
    /// The machines on which the kernels run, if it is not this one.
    pub machines: Vec<HostMachine>,
}

/// Running kernels; they are ended when this is dropped.
pub struct Kernels {
    /// By the numbers of their hosts.
    running: BTreeMap<usize, Child>,
    pub processors: Processors,
}

impl Kernels {
    /// None runs yet.
    pub fn new() -> Self {
        Kernels { running: BTreeMap::new(), processors: Processors::new() }
    }

    /// Starts the kernel of host `number` with so many bytes of memory and these network cards, which finds its sockets in
    /// the directory. What it says goes to `log`.
    pub fn start(
        &mut self,
        kernel: &Kernel,
        number: usize,
        memory_bytes: u64,
        cards: &[Card],
        seed: u64,
        log: &Path,
    ) -> Result<()> {
        let failed = |error: std::io::Error| {
            Error::wrap(format!("start the kernel {}", kernel.file.display()), error)
                .with_remedy("build one with: longhaul kernel build")
        };
        let log =
            File::create(log).map_err(|error| Error::wrap(format!("write {}", log.display()), error))?;
        let device =
            |port: Port| format!("virtio_uml.device={}:{}", socket_name(number, port), port.virtio_id());
        let [program, arguments @ ..] = kernel.init.as_slice() else {
            return Err(Error::new("no program is given to start in each host"));
        };
        // Where the machine puts the kernel decides how much memory is left to it. Children inherit this; it has no
        // effect on this process.
        let _ = nix::sys::personality::get()
            .and_then(|now| nix::sys::personality::set(now | Persona::ADDR_NO_RANDOMIZE));
        // With TX NAPI, a buffer is charged to its socket until the card returns it, as TCP small queues need. Without it,
        // the driver orphans buffers at once, which saves an interrupt for each.
        let napi_tx = u8::from(cards.iter().any(|card| card.line_bits_per_s.is_some()));
        // Equal in every run of a scenario: the kernel mixes its command line into what is random.
        let child = Command::new(&kernel.file)
            .arg(format!("mem={}M", memory_bytes >> 20))
            .args(["root=/dev/root", "rootfstype=hostfs", "rootflags=/", "ro"])
            .arg(format!("init={program}"))
            .arg(format!("time-travel=ext:{number}:{TIME_SOCKET}"))
            .args(Port::all(cards.len()).map(device))
            .arg(format!("tt-seed={seed}"))
            .args((kernel.cpu_scale > 0).then(|| format!("tt-cpu={}", kernel.cpu_scale)))
            // What it writes of itself is in its working directory, and goes with it.
            .arg("uml_dir=.")
            .arg(format!("virtio_net.napi_tx={napi_tx}"))
            .args(["con=null", "con0=null,fd:1", "con1=null,fd:1"])
            .args(["quiet", "loglevel=4", "panic=-1"])
            // Becomes a variable of the first process: time does not pass while a traffic generator spins.
            .args(["LONGHAUL_SPIN=never", "--"])
            .args(arguments)
            .env_clear()
            .env("TMPDIR", memory_directory())
            .env("HOME", "/")
            .current_dir(&kernel.directory)
            .stdin(Stdio::null())
            .stdout(log.try_clone().map_err(failed)?)
            .stderr(log)
            .process_group(0)
            .spawn()
            .map_err(failed)?;
        self.processors.add(Pid::from_raw(child.id() as i32));
        self.running.insert(number, child);
        Ok(())
    }

    /// The kernel of a host that has ended, in words.
    pub fn ended(&mut self, number: usize) -> Option<String> {
        let status = self.running.get_mut(&number)?.try_wait().ok()??;
        Some(status.to_string())
    }
}

impl Drop for Kernels {
    fn drop(&mut self) {
        for child in self.running.values_mut() {
            // Its group has the processes in which its programs run.
            let _ = killpg(Pid::from_raw(child.id() as i32), Signal::SIGKILL);
            let _ = child.wait();
        }
    }
}

/// Where the hosts' memory is kept: in memory, if files there may be executed, as the kernel demands.
fn memory_directory() -> PathBuf {
    let shared = Path::new("/dev/shm");
    let may_execute = nix::sys::statvfs::statvfs(shared)
        .is_ok_and(|found| !found.flags().contains(nix::sys::statvfs::FsFlags::ST_NOEXEC));
    if may_execute { shared.into() } else { std::env::temp_dir() }
}
