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

/// Adds a capability that is permitted and inheritable to the ambient set, which programs keep.
pub fn raise_ambient(capability: u32) {
    let raise = libc::PR_CAP_AMBIENT_RAISE as libc::c_ulong;
    // SAFETY: PR_CAP_AMBIENT takes all its arguments by value.
    unsafe { libc::prctl(libc::PR_CAP_AMBIENT, raise, libc::c_ulong::from(capability), 0, 0) };
}

/// Lets the permitted set outlive a change of the user.
pub fn keep_over_setuid() -> Result<(), Errno> {
    // SAFETY: PR_SET_KEEPCAPS takes all its arguments by value.
    Errno::result(unsafe { libc::prctl(libc::PR_SET_KEEPCAPS, 1, 0, 0, 0) }).map(drop)
}

/// Becomes a user for good. The kernel's calls, as those of the C library concern other threads.
pub fn set_user(uid: u32, gid: u32, groups: &[u32]) -> Result<(), Errno> {
    // SAFETY: the kernel reads `groups.len()` groups.
    Errno::result(unsafe { libc::syscall(libc::SYS_setgroups, groups.len(), groups.as_ptr()) })?;
    // SAFETY: setresgid(2) takes its arguments by value.
    Errno::result(unsafe { libc::syscall(libc::SYS_setresgid, gid, gid, gid) })?;
    // SAFETY: setresuid(2) takes its arguments by value.
    Errno::result(unsafe { libc::syscall(libc::SYS_setresuid, uid, uid, uid) }).map(drop)
}

/// Makes the capabilities in `mask` that are permitted also effective and inheritable, and removes all others.
pub fn retain_for_programs(mask: u64) -> Result<(), Errno> {
    change(
        |set, mask| {
            let kept = set.permitted & mask;
            *set = Sets { effective: kept, permitted: kept, inheritable: kept };
        },
        mask,
    )
}

/// Removes all capabilities from the effective, permitted and inheritable sets but those whose bits are set in `mask`.
pub fn retain(mask: u64) -> Result<(), Errno> {
    change(
        |set, mask| {
            set.effective &= mask;
            set.permitted &= mask;
            set.inheritable &= mask;
        },
        mask,
    )
}

fn change(each: impl Fn(&mut Sets, u32), mask: u64) -> Result<(), Errno> {
    let header = Header { version: VERSION_3, pid: 0 };
    let mut sets = [Sets::default(); 2];
    // SAFETY: `header` is valid for reads, and `sets` for writes of the two sets that version 3 has.
    let result = unsafe { libc::syscall(libc::SYS_capget, &header, sets.as_mut_ptr()) };
    Errno::result(result)?;
    for (set, mask) in sets.iter_mut().zip([mask as u32, (mask >> 32) as u32]) {
        each(set, mask);
    }
    // SAFETY: `header` and the two sets are valid for reads.
    let result = unsafe { libc::syscall(libc::SYS_capset, &header, sets.as_ptr()) };
    Errno::result(result).map(drop)
}
