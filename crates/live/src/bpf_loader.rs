//! Congestion-control algorithms that are loaded into the kernel for the run, as BPF programs (`struct_ops`).
//!
//! A descriptor, the BPF link, keeps an algorithm registered. Only the run's processes hold it, so that the kernel
//! unregisters the algorithm when the last of them ends, however it ends. Connections that still use it keep it
//! until they are closed.

#[cfg(test)]
mod tests;

use crate::error::{Error, Result};
use crate::sys::bpf::{self, MapKind};
use longhaul_bpf_cc::{BpfAlgorithm, Object, Program, Reference, SlowStartLimit, Types, bpf_algorithm};
use longhaul_congestion::AlgorithmSettings;
use longhaul_units::InvalidValue;
use std::collections::BTreeMap;
use std::fs;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

/// The kernel's description of its own types.
const KERNEL_TYPES: &str = "/sys/kernel/btf/vmlinux";
/// The longest name of a congestion control, in bytes.
const NAME_BYTES: usize = 15;
/// The structure of a congestion control, and that around it for programs.
const OPERATIONS: &str = "tcp_congestion_ops";
const VALUE: &str = "bpf_struct_ops_tcp_congestion_ops";
/// `TCP_CONG_NON_RESTRICTED`: unprivileged programs may choose it, and hosts have it by default.
const FOR_ALL: u32 = 1;

pub use longhaul_bpf_cc::NAMES as BPF_ALGORITHMS;

/// Checks that a BPF program implements the algorithm with these settings.
///
/// # Errors
/// The setting that no BPF program has.
pub fn check_bpf_algorithm(settings: &AlgorithmSettings) -> std::result::Result<(), InvalidValue> {
    bpf_algorithm(settings, SlowStartLimit::Acknowledged).map(drop)
}

/// Loads the algorithm of this name and unloads it.
///
/// # Errors
/// Why this kernel cannot, or this process may not.
pub fn try_loading(name: &str) -> Result<()> {
    let settings = AlgorithmSettings::named(name)
        .ok_or_else(|| Error::new(format!("unknown congestion-control algorithm {name}")))?;
    Loader::new()?.load(&settings, &format!("lh_try_{}", std::process::id())).map(drop)
}

/// An algorithm that is registered with the kernel under a name of its own until this is dropped.
#[derive(Debug)]
pub struct LoadedAlgorithm {
    _link: OwnedFd,
}

/// Loads algorithms into the kernel of this machine.
#[derive(Debug)]
pub struct Loader {
    types: Vec<u8>,
}

impl Loader {
    /// Reads the kernel's types.
    ///
    /// # Errors
    /// What this kernel lacks.
    pub fn new() -> Result<Self> {
        let types = fs::read(KERNEL_TYPES).map_err(|error| {
            Error::wrap(format!("read {KERNEL_TYPES}"), error).with_remedy(
                "use a kernel with CONFIG_DEBUG_INFO_BTF, as those of the large distributions are",
            )
        })?;
        Ok(Loader { types })
    }

    /// Loads the algorithm with these settings and registers it under this name.
    pub fn load(&self, settings: &AlgorithmSettings, name: &str) -> Result<LoadedAlgorithm> {
        let algorithm = bpf_algorithm(settings, SlowStartLimit::Acknowledged)?;
        self.load_object(&algorithm, name)
            .map_err(|error| error.at(format!("algorithm {} as {name}", algorithm.name)))
    }

    fn load_object(&self, algorithm: &BpfAlgorithm, name: &str) -> Result<LoadedAlgorithm> {
        if name.is_empty() || name.len() > NAME_BYTES {
            return Err(Error::new(format!("the name {name:?} does not have 1 to {NAME_BYTES} bytes")));
        }
        let unreadable = |what: &str| Error::new(format!("cannot read {what}"));
        let kernel = Types::read(&self.types).ok_or_else(|| unreadable(KERNEL_TYPES))?;
        let (operations, _) = kernel.structure(OPERATIONS).ok_or_else(too_old)?;
        let (value_type, value_bytes) = kernel.structure(VALUE).ok_or_else(too_old)?;
        let members: BTreeMap<String, (u32, usize)> = (0..)
            .zip(kernel.members(OPERATIONS))
            .map(|(position, member)| (member.name, (position, member.offset)))
            .collect();
        let place = |member: &str| members.get(member).copied().ok_or_else(too_old);
        let data = kernel.members(VALUE).into_iter().find(|each| each.name == "data").ok_or_else(too_old)?;

        let object =
            Object::read(algorithm.object).ok_or_else(|| unreadable("the algorithm's own object"))?;
        let made = KernelObjects::make(&object, &algorithm.parameters)?;
        let mut value = vec![0; value_bytes];
        let mut write = |offset: usize, bytes: &[u8]| {
            let start = data.offset + offset;
            value.get_mut(start..start + bytes.len()).map(|at| at.copy_from_slice(bytes)).ok_or_else(too_old)
        };
        let mut held = Vec::new();
        for program in &object.programs {
            let (position, offset) = place(program.member)?;
            let loaded = made.load(program, operations, position)?;
            write(offset, &(loaded.as_raw_fd() as u64).to_le_bytes())?;
            held.push(loaded);
        }
        write(place("name")?.1, name.as_bytes())?;
        write(place("flags")?.1, &FOR_ALL.to_le_bytes())?;
        let map = bpf::make_map(&MapKind::Operations { types: made.types.as_fd(), value_type, value_bytes })
            .map_err(|error| refused("make a place for its programs", &error))?;
        bpf::write_map(map.as_fd(), &value).map_err(|error| refused("hand over its programs", &error))?;
        let link = bpf::link(map.as_fd()).map_err(|error| match error.raw_os_error() {
            Some(libc::EEXIST) => Error::new("the kernel has a congestion control of this name")
                .with_remedy("start the run again"),
            _ => refused("register it", &error),
        })?;
        Ok(LoadedAlgorithm { _link: link })
    }
}

/// The kernel's objects that the programs of an algorithm share.
struct KernelObjects {
    types: OwnedFd,
    connections: OwnedFd,
    constants: OwnedFd,
}

impl KernelObjects {
    fn make(object: &Object<'_>, parameters: &[u64]) -> Result<Self> {
        let broken = || Error::new("the algorithm's own object is broken");
        let own = Types::read(object.types).ok_or_else(broken)?;
        let (value_type, value_bytes) = own.structure("connection").ok_or_else(broken)?;
        let key_type = own.integer("int").ok_or_else(broken)?;
        let bytes = object.constants_with(parameters).ok_or_else(broken)?;
        let types = bpf::load_types(object.types).map_err(|error| refused("describe its types", &error))?;
        let kind = MapKind::OfSockets { types: types.as_fd(), key_type, value_type, value_bytes };
        let connections =
            bpf::make_map(&kind).map_err(|error| refused("make a place for its connections", &error))?;
        let constants = bpf::make_map(&MapKind::Constants { bytes: bytes.len() })
            .and_then(|map| {
                bpf::write_map(map.as_fd(), &bytes)?;
                bpf::freeze(map.as_fd())?;
                Ok(map)
            })
            .map_err(|error| refused("hand over its parameters", &error))?;
        Ok(KernelObjects { types, connections, constants })
    }

    fn load(&self, program: &Program<'_>, operations: u32, position: u32) -> Result<OwnedFd> {
        let mut instructions = program.instructions.to_vec();
        for (at, reference) in &program.references {
            let (kind, map, offset) = match reference {
                Reference::Connections => (bpf::BPF_PSEUDO_MAP_FD, self.connections.as_fd(), 0),
                Reference::Constants(offset) => (bpf::BPF_PSEUDO_MAP_VALUE, self.constants.as_fd(), *offset),
            };
            refer(&mut instructions, *at, kind, map, offset)
                .ok_or_else(|| Error::new("the algorithm's own object is broken"))?;
        }
        bpf::load_program(&bpf::ProgramText {
            member: program.member,
            instructions: &instructions,
            functions: &program.functions,
            fields: program.fields,
            types: self.types.as_fd(),
            operations,
            position,
        })
        .map_err(|(error, log)| {
            let said = log.lines().rev().find(|line| !line.starts_with("processed")).unwrap_or_default();
            let refused = refused(&format!("load its program {}", program.member), &error);
            if said.is_empty() { refused } else { Error::new(format!("{refused} ({said})")) }
        })
    }
}

/// Makes the instruction of 16 bytes at `at` hold a map, or an address in its value.
fn refer(instructions: &mut [u8], at: usize, kind: u8, map: BorrowedFd<'_>, offset: u32) -> Option<()> {
    let both = instructions.get_mut(at..at.checked_add(16)?)?;
    let registers = both.get_mut(1)?;
    *registers = *registers & 0x0f | kind << 4;
    both.get_mut(4..8)?.copy_from_slice(&map.as_raw_fd().to_le_bytes());
    both.get_mut(12..16)?.copy_from_slice(&offset.to_le_bytes());
    Some(())
}

fn too_old() -> Error {
    Error::new("this kernel does not support congestion-control algorithms in BPF")
        .with_remedy("use Linux 6.4 or later")
}

fn refused(what: &str, error: &std::io::Error) -> Error {
    let refused = Error::wrap(what, error);
    match error.raw_os_error() {
        Some(libc::EPERM | libc::EACCES) => refused.with_remedy(
            "only root of the machine itself may load congestion-control algorithms (CAP_BPF, CAP_NET_ADMIN, CAP_PERFMON): \
             run it with --sudo, or simulate this traffic (simulated: true)",
        ),
        Some(libc::EINVAL | libc::E2BIG | libc::ENOTSUP | 524) => refused
            .with_remedy("Linux 6.4 or later with CONFIG_BPF_JIT is needed, and net.core.bpf_jit_enable=1"),
        _ => refused,
    }
}
