//! The system call bpf(2), as far as laws need it; structures as in the kernel's include/uapi/linux/bpf.h.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

/// What a 16-byte instruction holds: a map, or an address in a map's only value.
pub const IS_MAP: u8 = 1;
pub const IS_VALUE: u8 = 2;

const MAP_CREATE: i32 = 0;
const MAP_UPDATE: i32 = 2;
const PROGRAM_LOAD: i32 = 5;
const TYPES_LOAD: i32 = 18;
const MAP_FREEZE: i32 = 22;
const LINK_CREATE: i32 = 28;

const ARRAY: u32 = 2;
const SOCKET_STORAGE: u32 = 24;
const STRUCT_OPS: u32 = 26;
const NO_PREALLOCATION: u32 = 1;
const READ_ONLY: u32 = 1 << 7;
const BY_LINK: u32 = 1 << 13;
const STRUCT_OPS_PROGRAM: u32 = 27;
const STRUCT_OPS_LINK: u32 = 44;
/// What the kernel asks of programs that it calls in place of its own; MIT is one half of the laws' own licence.
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
    let mut wanted = MapAttributes { key_bytes: 4, entries: 1, ..MapAttributes::default() };
    match *kind {
        MapKind::OfSockets { types, key_type, value_type, value_bytes } => {
            (wanted.kind, wanted.entries, wanted.flags) = (SOCKET_STORAGE, 0, NO_PREALLOCATION);
            wanted.value_bytes = value_bytes as u32;
            (wanted.types, wanted.key_type, wanted.value_type) =
                (types.as_raw_fd() as u32, key_type, value_type);
        }
        MapKind::Constants { bytes } => {
            (wanted.kind, wanted.value_bytes, wanted.flags) = (ARRAY, bytes as u32, READ_ONLY);
        }
        MapKind::Operations { types, value_type, value_bytes } => {
            // The kernel asks for a description of types, though the value's is its own.
            wanted.types = types.as_raw_fd() as u32;
            (wanted.kind, wanted.value_bytes, wanted.flags) = (STRUCT_OPS, value_bytes as u32, BY_LINK);
            wanted.kernel_value_type = value_type;
        }
    }
    descriptor(call(MAP_CREATE, &mut wanted)?)
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
    let mut wanted = UpdateAttributes {
        map: map.as_raw_fd() as u32,
        unused: 0,
        key: (&raw const key).addr() as u64,
        value: value.as_ptr().addr() as u64,
        flags: 0,
    };
    call(MAP_UPDATE, &mut wanted).map(drop)
}

/// From here on a map's values are what they are.
pub fn freeze(map: BorrowedFd<'_>) -> io::Result<()> {
    call(MAP_FREEZE, &mut (map.as_raw_fd() as u32)).map(drop)
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
    let mut wanted = TypesAttributes {
        types: types.as_ptr().addr() as u64,
        bytes: types.len() as u32,
        ..TypesAttributes::default()
    };
    descriptor(call(TYPES_LOAD, &mut wanted)?)
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

/// Loads a program; an error comes with what the kernel's verifier said.
pub fn load_program(text: &ProgramText<'_>) -> Result<OwnedFd, (io::Error, String)> {
    let mut name = [0; 16];
    for (to, from) in name.iter_mut().take(15).zip(text.member.bytes()) {
        *to = from;
    }
    let address = |bytes: &[u8]| bytes.as_ptr().addr() as u64;
    let mut log = Vec::new();
    for log_bytes in [0, LOG_BYTES] {
        log = vec![0_u8; log_bytes];
        let mut wanted = ProgramAttributes {
            kind: STRUCT_OPS_PROGRAM,
            instruction_count: (text.instructions.len() / 8) as u32,
            instructions: address(text.instructions),
            licence: LICENCE.as_ptr().addr() as u64,
            log_level: u32::from(log_bytes > 0),
            log_bytes: log_bytes as u32,
            log: if log_bytes > 0 { log.as_mut_ptr().addr() as u64 } else { 0 },
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
        match call(PROGRAM_LOAD, &mut wanted).and_then(descriptor) {
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
    let mut wanted =
        LinkAttributes { map: map.as_raw_fd() as u32, target: 0, kind: STRUCT_OPS_LINK, flags: 0 };
    descriptor(call(LINK_CREATE, &mut wanted)?)
}

fn call<T>(command: i32, attributes: &mut T) -> io::Result<i32> {
    // SAFETY: the structure is as long as said and has no padding that is not a field; the addresses in it are of
    // slices that the callers hold until this returns, with their lengths.
    let result = unsafe { libc::syscall(libc::SYS_bpf, command, attributes as *mut T, size_of::<T>()) };
    i32::try_from(result).ok().filter(|result| *result >= 0).ok_or_else(io::Error::last_os_error)
}

fn descriptor(number: i32) -> io::Result<OwnedFd> {
    // SAFETY: the kernel has just made it, for us alone, and closes it when we execute another program.
    Ok(unsafe { OwnedFd::from_raw_fd(number) })
}
