//! The system call bpf(2), as far as the loader needs it; constants and structures as in linux/bpf.h.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

/// Values of the source register of a 16-byte load: the immediate value is a map, or an address in a map's value.
pub const BPF_PSEUDO_MAP_FD: u8 = 1;
pub const BPF_PSEUDO_MAP_VALUE: u8 = 2;

/// `enum bpf_cmd`.
#[derive(Clone, Copy)]
enum Command {
    MapCreate = 0,
    MapUpdateElem = 2,
    ProgLoad = 5,
    BtfLoad = 18,
    MapFreeze = 22,
    LinkCreate = 28,
}

const BPF_MAP_TYPE_ARRAY: u32 = 2;
const BPF_MAP_TYPE_SK_STORAGE: u32 = 24;
const BPF_MAP_TYPE_STRUCT_OPS: u32 = 26;
const BPF_F_NO_PREALLOC: u32 = 1;
const BPF_F_RDONLY_PROG: u32 = 1 << 7;
const BPF_F_LINK: u32 = 1 << 13;
const BPF_PROG_TYPE_SCHED_CLS: u32 = 3;
const BPF_PROG_TYPE_STRUCT_OPS: u32 = 27;
const BPF_TCX_INGRESS: u32 = 46;
/// `r0 = TCX_DROP; exit`.
const DROP_ALL: [u8; 16] = [0xb7, 0, 0, 0, 2, 0, 0, 0, 0x95, 0, 0, 0, 0, 0, 0, 0];
const BPF_STRUCT_OPS: u32 = 44;
/// The licence that the kernel demands of `struct_ops` programs; MIT is one half of the programs' own licence.
const LICENCE: &std::ffi::CStr = c"Dual MIT/GPL";
const LOG_BYTES: usize = 1 << 16;

/// What a map is for.
pub enum MapKind<'a> {
    /// A value for each connection.
    OfSockets { types: BorrowedFd<'a>, key_type: u32, value_type: u32, value_bytes: usize },
    /// One value that programs read.
    Constants { bytes: usize },
    /// The kernel's structure of programs, of its type `value_type`.
    Operations { types: BorrowedFd<'a>, value_type: u32, value_bytes: usize },
}

#[repr(C)]
#[derive(Default)]
struct MapAttributes {
    kind: u32,
    key_bytes: u32,
    value_bytes: u32,
    entries: u32,
    flags: u32,
    inner: u32,
    node: u32,
    name: [u8; 16],
    device: u32,
    types: u32,
    key_type: u32,
    value_type: u32,
    kernel_value_type: u32,
}

/// Makes a map.
pub fn make_map(kind: &MapKind<'_>) -> io::Result<OwnedFd> {
    let mut attributes = MapAttributes { key_bytes: 4, entries: 1, ..MapAttributes::default() };
    match *kind {
        MapKind::OfSockets { types, key_type, value_type, value_bytes } => {
            (attributes.kind, attributes.entries, attributes.flags) =
                (BPF_MAP_TYPE_SK_STORAGE, 0, BPF_F_NO_PREALLOC);
            attributes.value_bytes = value_bytes as u32;
            (attributes.types, attributes.key_type, attributes.value_type) =
                (types.as_raw_fd() as u32, key_type, value_type);
        }
        MapKind::Constants { bytes } => {
            (attributes.kind, attributes.value_bytes, attributes.flags) =
                (BPF_MAP_TYPE_ARRAY, bytes as u32, BPF_F_RDONLY_PROG);
        }
        MapKind::Operations { types, value_type, value_bytes } => {
            // The kernel asks for a description of types, though the value's is its own.
            attributes.types = types.as_raw_fd() as u32;
            (attributes.kind, attributes.value_bytes, attributes.flags) =
                (BPF_MAP_TYPE_STRUCT_OPS, value_bytes as u32, BPF_F_LINK);
            attributes.kernel_value_type = value_type;
        }
    }
    // SAFETY: the attributes hold no addresses.
    unsafe { call(Command::MapCreate, &mut attributes) }.map(descriptor)
}

#[repr(C)]
struct UpdateAttributes {
    map: u32,
    unused: u32,
    key: u64,
    value: u64,
    flags: u64,
}

/// Writes the only value of a map, which must be as long as the map's values are.
pub fn write_map(map: BorrowedFd<'_>, value: &[u8]) -> io::Result<()> {
    let key = 0_u32;
    let mut attributes = UpdateAttributes {
        map: map.as_raw_fd() as u32,
        unused: 0,
        key: (&raw const key).expose_provenance() as u64,
        value: value.as_ptr().expose_provenance() as u64,
        flags: 0,
    };
    // SAFETY: `key` and `value` are valid for reads during the call.
    unsafe { call(Command::MapUpdateElem, &mut attributes) }.map(drop)
}

/// From here on a map's values are what they are.
pub fn freeze(map: BorrowedFd<'_>) -> io::Result<()> {
    // SAFETY: the attributes hold no addresses.
    unsafe { call(Command::MapFreeze, &mut (map.as_raw_fd() as u32)) }.map(drop)
}

#[repr(C)]
#[derive(Default)]
struct TypesAttributes {
    types: u64,
    log: u64,
    bytes: u32,
    log_bytes: u32,
    log_level: u32,
    padding: u32,
}

/// Hands descriptions of types to the kernel.
pub fn load_types(types: &[u8]) -> io::Result<OwnedFd> {
    let mut attributes = TypesAttributes {
        types: types.as_ptr().expose_provenance() as u64,
        bytes: types.len() as u32,
        ..TypesAttributes::default()
    };
    // SAFETY: `types` is valid for reads during the call; there is no log.
    unsafe { call(Command::BtfLoad, &mut attributes) }.map(descriptor)
}

/// A program as it goes to the kernel.
pub struct ProgramText<'a> {
    /// Its name.
    pub member: &'a str,
    /// Complete: all that it refers to is filled in.
    pub instructions: &'a [u8],
    /// Records of 8 bytes.
    pub functions: &'a [u8],
    /// Records of 16 bytes.
    pub fields: &'a [u8],
    /// What both refer to.
    pub types: BorrowedFd<'a>,
    /// The kernel's number of the structure that it is for, and the position of the member in it.
    pub operations: u32,
    pub position: u32,
}

#[repr(C)]
#[derive(Default)]
struct ProgramAttributes {
    kind: u32,
    instruction_count: u32,
    instructions: u64,
    licence: u64,
    log_level: u32,
    log_bytes: u32,
    log: u64,
    kernel: u32,
    flags: u32,
    name: [u8; 16],
    device: u32,
    position: u32,
    types: u32,
    function_bytes: u32,
    functions: u64,
    function_count: u32,
    line_bytes: u32,
    lines: u64,
    line_count: u32,
    structure: u32,
    structure_from: u32,
    field_count: u32,
    descriptors: u64,
    fields: u64,
    field_bytes: u32,
    padding: u32,
}

/// Loads a program; an error includes the log of the kernel's verifier.
pub fn load_program(text: &ProgramText<'_>) -> Result<OwnedFd, (io::Error, String)> {
    let mut name = [0; 16];
    for (to, from) in name.iter_mut().take(15).zip(text.member.bytes()) {
        *to = from;
    }
    let address = |bytes: &[u8]| bytes.as_ptr().expose_provenance() as u64;
    let mut log = Vec::new();
    for log_bytes in [0, LOG_BYTES] {
        log = vec![0_u8; log_bytes];
        let mut attributes = ProgramAttributes {
            kind: BPF_PROG_TYPE_STRUCT_OPS,
            instruction_count: (text.instructions.len() / 8) as u32,
            instructions: address(text.instructions),
            licence: LICENCE.as_ptr().expose_provenance() as u64,
            log_level: u32::from(log_bytes > 0),
            log_bytes: log_bytes as u32,
            log: if log_bytes > 0 { log.as_mut_ptr().expose_provenance() as u64 } else { 0 },
            name,
            position: text.position,
            types: text.types.as_raw_fd() as u32,
            function_bytes: 8,
            functions: address(text.functions),
            function_count: (text.functions.len() / 8) as u32,
            structure: text.operations,
            field_count: (text.fields.len() / 16) as u32,
            fields: address(text.fields),
            field_bytes: 16,
            ..ProgramAttributes::default()
        };
        // SAFETY: the slices of `text` and the licence are valid for reads during the call, with the lengths that the
        // attributes give, and `log` is valid for writes.
        match unsafe { call(Command::ProgLoad, &mut attributes) }.map(descriptor) {
            Ok(loaded) => return Ok(loaded),
            Err(error) if log_bytes > 0 => {
                let end = log.iter().position(|byte| *byte == 0).unwrap_or(log.len());
                log.truncate(end);
                return Err((error, String::from_utf8_lossy(&log).into_owned()));
            }
            Err(_) => {}
        }
    }
    drop(log);
    Err((io::Error::last_os_error(), String::new()))
}

#[repr(C)]
struct LinkAttributes {
    map: u32,
    target: u32,
    kind: u32,
    flags: u32,
}

/// Registers the structure in this map until the link is closed.
pub fn link(map: BorrowedFd<'_>) -> io::Result<OwnedFd> {
    let mut attributes =
        LinkAttributes { map: map.as_raw_fd() as u32, target: 0, kind: BPF_STRUCT_OPS, flags: 0 };
    // SAFETY: the attributes hold no addresses.
    unsafe { call(Command::LinkCreate, &mut attributes) }.map(descriptor)
}

#[repr(C)]
struct DeviceLinkAttributes {
    program: u32,
    device: u32,
    kind: u32,
    flags: u32,
    /// Where among other programs of the device: the kernel's own choice.
    relative: u32,
    padding: u32,
    revision: u64,
}

/// Keeps what the device with this `index` receives from the kernel's protocols, until the result is closed: packet
/// sockets get it before. Since Linux 6.6.
pub fn drop_received(index: u32) -> io::Result<OwnedFd> {
    let mut attributes = ProgramAttributes {
        kind: BPF_PROG_TYPE_SCHED_CLS,
        instruction_count: (DROP_ALL.len() / 8) as u32,
        instructions: DROP_ALL.as_ptr().expose_provenance() as u64,
        licence: LICENCE.as_ptr().expose_provenance() as u64,
        position: BPF_TCX_INGRESS,
        ..ProgramAttributes::default()
    };
    // SAFETY: the instructions and the licence are constants, with the lengths that the attributes give.
    let program = unsafe { call(Command::ProgLoad, &mut attributes) }.map(descriptor)?;
    let mut attributes = DeviceLinkAttributes {
        program: program.as_raw_fd() as u32,
        device: index,
        kind: BPF_TCX_INGRESS,
        flags: 0,
        relative: 0,
        padding: 0,
        revision: 0,
    };
    // SAFETY: the attributes hold no addresses.
    unsafe { call(Command::LinkCreate, &mut attributes) }.map(descriptor)
}

/// Calls bpf(2).
///
/// # Safety
/// `attributes` is the structure that the command reads, without padding. The addresses in it are valid during the
/// call, for as many bytes as it says.
unsafe fn call<T>(command: Command, attributes: &mut T) -> io::Result<i32> {
    let bytes = size_of::<T>();
    // SAFETY: `attributes` is valid for reads and writes of `bytes` bytes, and the caller promises the rest.
    let result = unsafe { libc::syscall(libc::SYS_bpf, command as libc::c_int, &raw mut *attributes, bytes) };
    i32::try_from(result).ok().filter(|result| *result >= 0).ok_or_else(io::Error::last_os_error)
}

/// The descriptor that a command has returned.
fn descriptor(number: i32) -> OwnedFd {
    // SAFETY: the kernel has just opened the descriptor (with CLOEXEC), and nothing else owns it.
    unsafe { OwnedFd::from_raw_fd(number) }
}
