//! Sets of capabilities of this process: prctl(2), capget(2) and capset(2).

use nix::errno::Errno;

/// `_LINUX_CAPABILITY_VERSION_3` of linux/capability.h: two sets of 32 bits each.
const VERSION_3: u32 = 0x2008_0522;

#[repr(C)]
struct Header {
    version: u32,
    pid: i32,
}

#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Sets {
    effective: u32,
    permitted: u32,
    inheritable: u32,
}

/// Removes a capability from the bounding set; false if the kernel does not know it, or this process may not.
pub fn drop_from_bounding_set(capability: u32) -> bool {
    // SAFETY: PR_CAPBSET_DROP takes all its arguments by value.
    unsafe { libc::prctl(libc::PR_CAPBSET_DROP, libc::c_ulong::from(capability), 0, 0, 0) == 0 }
}

/// Empties the ambient set.
pub fn clear_ambient_set() {
    let clear = libc::PR_CAP_AMBIENT_CLEAR_ALL as libc::c_ulong;
    // SAFETY: PR_CAP_AMBIENT takes all its arguments by value.
    unsafe { libc::prctl(libc::PR_CAP_AMBIENT, clear, 0, 0, 0) };
}

/// Removes all capabilities from the effective, permitted and inheritable sets but those whose bits are set in `mask`.
pub fn retain(mask: u64) -> Result<(), Errno> {
    let header = Header { version: VERSION_3, pid: 0 };
    let mut sets = [Sets::default(); 2];
    // SAFETY: `header` is valid for reads, and `sets` for writes of the two sets that version 3 has.
    let result = unsafe { libc::syscall(libc::SYS_capget, &header, sets.as_mut_ptr()) };
    Errno::result(result)?;
    for (set, mask) in sets.iter_mut().zip([mask as u32, (mask >> 32) as u32]) {
        set.effective &= mask;
        set.permitted &= mask;
        set.inheritable &= mask;
    }
    // SAFETY: `header` and the two sets are valid for reads.
    let result = unsafe { libc::syscall(libc::SYS_capset, &header, sets.as_ptr()) };
    Errno::result(result).map(drop)
}
