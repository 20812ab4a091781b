//! Laws of the window that the kernel learns for the time of a run, as BPF programs (struct_ops).
//!
//! What keeps a law in the kernel is a descriptor, the link. It is held by the run's processes and nobody else, so
//! that however they end, the kernel forgets the law with the last of them. Connections that still follow it go on
//! as long as they live.

mod system;
#[cfg(test)]
mod tests;

use crate::error::{Error, Result};
use longhaul_bpf_cc::{BpfAlgorithm, Object, Program, Reference, SlowStartLimit, Types, bpf_algorithm};
use longhaul_congestion::AlgorithmSettings;
use std::collections::BTreeMap;
use std::fs;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use system::MapKind;

/// The kernel's description of its own types.
const KERNEL_TYPES: &str = "/sys/kernel/btf/vmlinux";
/// The longest name of a congestion control, in bytes.
const NAME_BYTES: usize = 15;
/// The structure of a congestion control, and that around it for programs.
const OPERATIONS: &str = "tcp_congestion_ops";
const VALUE: &str = "bpf_struct_ops_tcp_congestion_ops";
/// TCP_CONG_NON_RESTRICTED: unprivileged programs may choose it, and hosts have it by default.
const FOR_ALL: u32 = 1;

pub use longhaul_bpf_cc::NAMES as LAWS;

/// Whether kernels can follow the law with these settings.
///
/// # Errors
/// What they cannot do.
pub fn check_law(settings: &AlgorithmSettings) -> Result<()> {
    bpf_algorithm(settings, SlowStartLimit::Acknowledged).map(drop).map_err(Error::new)
}

/// Loads the law of this name and unloads it.
///
/// # Errors
/// Why this kernel cannot, or this process may not.
pub fn try_law(name: &str) -> Result<()> {
    let settings =
        AlgorithmSettings::named(name).ok_or_else(|| Error::new(format!("there is no law {name}")))?;
    Teacher::new()?.load(&settings, &format!("lh_try_{}", std::process::id())).map(drop)
}

/// A law that the kernel follows under a name of its own, until this is dropped.
#[derive(Debug)]
pub struct LoadedLaw {
    _link: OwnedFd,
}

/// A kernel that can be taught laws.
#[derive(Debug)]
pub struct Teacher {
    types: Vec<u8>,
}

impl Teacher {
    /// This machine's. An error says what it lacks.
    pub fn new() -> Result<Self> {
        let types = fs::read(KERNEL_TYPES).map_err(|error| {
            Error::wrap(format!("read {KERNEL_TYPES}"), error).with_remedy(
                "use a kernel with CONFIG_DEBUG_INFO_BTF, as those of the large distributions are",
            )
        })?;
        Ok(Teacher { types })
    }

    /// Teaches it the law with these settings under this name.
    pub fn load(&self, settings: &AlgorithmSettings, name: &str) -> Result<LoadedLaw> {
        let law = bpf_algorithm(settings, SlowStartLimit::Acknowledged).map_err(Error::new)?;
        self.load_law(&law, name).map_err(|error| error.at(format!("law {} as {name}", law.name)))
    }

    fn load_law(&self, law: &BpfAlgorithm, name: &str) -> Result<LoadedLaw> {
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

        let object = Object::read(law.object).ok_or_else(|| unreadable("the law's own object"))?;
        let made = Materials::make(&object, &law.parameters)?;
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
        let map =
            system::make_map(&MapKind::Operations { types: made.types.as_fd(), value_type, value_bytes })
                .map_err(|error| refused("make a place for its programs", &error))?;
        system::write_map(map.as_fd(), &value).map_err(|error| refused("hand over its programs", &error))?;
        let link = system::link(map.as_fd()).map_err(|error| match error.raw_os_error() {
            Some(libc::EEXIST) => Error::new("the kernel has a congestion control of this name")
                .with_remedy("start the run again"),
            _ => refused("register it", &error),
        })?;
        Ok(LoadedLaw { _link: link })
    }
}

/// What the programs of a law share.
struct Materials {
    types: OwnedFd,
    connections: OwnedFd,
    constants: OwnedFd,
}

impl Materials {
    fn make(object: &Object<'_>, parameters: &[u64]) -> Result<Self> {
        let broken = || Error::new("the law's own object is broken");
        let own = Types::read(object.types).ok_or_else(broken)?;
        let (value_type, value_bytes) = own.structure("connection").ok_or_else(broken)?;
        let key_type = own.integer("int").ok_or_else(broken)?;
        let bytes = object.constants_with(parameters).ok_or_else(broken)?;
        let types =
            system::load_types(object.types).map_err(|error| refused("describe its types", &error))?;
        let kind = MapKind::OfSockets { types: types.as_fd(), key_type, value_type, value_bytes };
        let connections =
            system::make_map(&kind).map_err(|error| refused("make a place for its connections", &error))?;
        let constants = system::make_map(&MapKind::Constants { bytes: bytes.len() })
            .and_then(|map| {
                system::write_map(map.as_fd(), &bytes)?;
                system::freeze(map.as_fd())?;
                Ok(map)
            })
            .map_err(|error| refused("hand over its parameters", &error))?;
        Ok(Materials { types, connections, constants })
    }

    fn load(&self, program: &Program<'_>, operations: u32, position: u32) -> Result<OwnedFd> {
        let mut instructions = program.instructions.to_vec();
        for (at, reference) in &program.references {
            let (kind, map, offset) = match reference {
                Reference::Connections => (system::IS_MAP, self.connections.as_fd(), 0),
                Reference::Constants(offset) => (system::IS_VALUE, self.constants.as_fd(), *offset),
            };
            refer(&mut instructions, *at, kind, map, offset)
                .ok_or_else(|| Error::new("the law's own object is broken"))?;
        }
        system::load_program(&system::ProgramText {
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
    Error::new("this kernel takes no congestion controls from programs").with_remedy("use Linux 6.4 or later")
}

fn refused(what: &str, error: &std::io::Error) -> Error {
    let refused = Error::wrap(what, error);
    match error.raw_os_error() {
        Some(libc::EPERM | libc::EACCES) => refused.with_remedy(
            "only root of the machine itself may load laws (CAP_BPF, CAP_NET_ADMIN, CAP_PERFMON): \
             run it with --sudo, or simulate this traffic (simulated: true)",
        ),
        Some(libc::EINVAL | libc::E2BIG | libc::ENOTSUP) | Some(524) => refused
            .with_remedy("Linux 6.4 or later with CONFIG_BPF_JIT is needed, and net.core.bpf_jit_enable=1"),
        _ => refused,
    }
}
