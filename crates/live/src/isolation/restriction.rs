//! Capabilities and system calls that a program of a host does not get, however it became root.

use crate::sys::capabilities;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
use crate::sys::seccomp;
use nix::errno::Errno;
use nix::sys::prctl::set_no_new_privs;

/// Capabilities that programs keep, with the numbers of linux/capability.h: those about files, users and processes of
/// their own, and all about networks. `SysAdmin` is what entering another host of the run needs; the system calls for
/// which it would be dangerous are refused.
#[derive(Clone, Copy)]
enum Capability {
    Chown = 0,
    DacOverride = 1,
    Fowner = 3,
    Fsetid = 4,
    Kill = 5,
    Setgid = 6,
    Setuid = 7,
    Setpcap = 8,
    NetBindService = 10,
    NetBroadcast = 11,
    NetAdmin = 12,
    NetRaw = 13,
    IpcLock = 14,
    IpcOwner = 15,
    SysChroot = 18,
    SysAdmin = 21,
    SysNice = 23,
    SysResource = 24,
    Lease = 28,
    AuditWrite = 29,
    Setfcap = 31,
}

impl Capability {
    const ALL: [Self; 21] = [
        Self::Chown,
        Self::DacOverride,
        Self::Fowner,
        Self::Fsetid,
        Self::Kill,
        Self::Setgid,
        Self::Setuid,
        Self::Setpcap,
        Self::NetBindService,
        Self::NetBroadcast,
        Self::NetAdmin,
        Self::NetRaw,
        Self::IpcLock,
        Self::IpcOwner,
        Self::SysChroot,
        Self::SysAdmin,
        Self::SysNice,
        Self::SysResource,
        Self::Lease,
        Self::AuditWrite,
        Self::Setfcap,
    ];
    /// A bit for each.
    const MASK: u64 = {
        let (mut mask, mut index) = (0, 0);
        while index < Self::ALL.len() {
            mask |= 1 << Self::ALL[index] as u32;
            index += 1;
        }
        mask
    };
}

/// `open_tree_attr(2)` of Linux 6.15, which has one number on all architectures.
const SYS_OPEN_TREE_ATTR: libc::c_long = 467;

/// The newest system call that [`REFUSED`] takes into account: `file_setattr` of Linux 6.17, which has one number on
/// all architectures. Programs find newer calls absent, as on an older kernel.
const NEWEST_REVIEWED: libc::c_long = 469;

/// System calls that concern the whole machine.
const REFUSED: [libc::c_long; 37] = [
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_move_mount,
    libc::SYS_open_tree,
    SYS_OPEN_TREE_ATTR,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    libc::SYS_open_by_handle_at,
    libc::SYS_fanotify_init,
    libc::SYS_quotactl,
    libc::SYS_quotactl_fd,
    libc::SYS_acct,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_reboot,
    libc::SYS_kexec_load,
    libc::SYS_kexec_file_load,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_clock_adjtime,
    libc::SYS_adjtimex,
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_keyctl,
    libc::SYS_syslog,
    libc::SYS_vhangup,
    libc::SYS_lookup_dcookie,
    libc::SYS_nfsservctl,
];

/// `AUDIT_ARCH_X86_64` and `AUDIT_ARCH_AARCH64` of linux/audit.h: the number of the architecture in ELF, with marks
/// of 64 bits and of little-endian order.
#[cfg(target_arch = "x86_64")]
const ARCHITECTURE: u32 = libc::EM_X86_64 as u32 | AUDIT_ARCH_64BIT | AUDIT_ARCH_LE;
#[cfg(target_arch = "aarch64")]
const ARCHITECTURE: u32 = libc::EM_AARCH64 as u32 | AUDIT_ARCH_64BIT | AUDIT_ARCH_LE;
const AUDIT_ARCH_64BIT: u32 = 0x8000_0000;
const AUDIT_ARCH_LE: u32 = 0x4000_0000;

/// A bit for each capability that strict isolation leaves to programs.
pub fn strict_capabilities() -> u64 {
    Capability::MASK
}

/// Restricts this process, which must have one thread, and all that it will start. Async-signal-safe.
pub fn restrict() -> Result<(), (&'static str, Errno)> {
    for capability in (0..u64::BITS).filter(|number| Capability::MASK >> number & 1 == 0) {
        if !capabilities::drop_from_bounding_set(capability) {
            break; // the kernel has no more
        }
    }
    capabilities::clear_ambient_set();
    capabilities::retain(Capability::MASK).map_err(|error| ("cannot drop capabilities", error))?;
    set_no_new_privs().map_err(|error| ("cannot set no_new_privs", error))?;
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    seccomp::install(&FILTER).map_err(|error| ("cannot filter system calls", error))?;
    Ok(())
}

/// The filter: calls of other architectures and those after [`NEWEST_REVIEWED`] do not exist (ENOSYS, upon which
/// C libraries fall back to older calls), [`REFUSED`] are not permitted (EPERM), all others are allowed.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
static FILTER: [libc::sock_filter; 7 + 2 * REFUSED.len()] = {
    use std::mem::offset_of;
    const LOAD: u16 = (libc::BPF_LD | libc::BPF_W | libc::BPF_ABS) as u16;
    const EQUAL: u16 = (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16;
    const AT_LEAST: u16 = (libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K) as u16;
    const RETURN: u16 = (libc::BPF_RET | libc::BPF_K) as u16;
    const NUMBER: u32 = offset_of!(libc::seccomp_data, nr) as u32;
    const ARCH: u32 = offset_of!(libc::seccomp_data, arch) as u32;
    const FIRST_UNREVIEWED: u32 = NEWEST_REVIEWED as u32 + 1;
    const ABSENT: u32 = libc::SECCOMP_RET_ERRNO | libc::ENOSYS as u32;
    const DENIED: u32 = libc::SECCOMP_RET_ERRNO | libc::EPERM as u32;
    const fn step(code: u16, k: u32, jt: u8, jf: u8) -> libc::sock_filter {
        libc::sock_filter { code, jt, jf, k }
    }
    // The last instruction, which the others precede.
    let mut program = [step(RETURN, libc::SECCOMP_RET_ALLOW, 0, 0); 7 + 2 * REFUSED.len()];
    program[0] = step(LOAD, ARCH, 0, 0);
    program[1] = step(EQUAL, ARCHITECTURE, 1, 0);
    program[2] = step(RETURN, ABSENT, 0, 0);
    program[3] = step(LOAD, NUMBER, 0, 0);
    // The numbers of x32 are higher, too.
    program[4] = step(AT_LEAST, FIRST_UNREVIEWED, 0, 1);
    program[5] = step(RETURN, ABSENT, 0, 0);
    let mut index = 0;
    while index < REFUSED.len() {
        program[6 + 2 * index] = step(EQUAL, REFUSED[index] as u32, 0, 1);
        program[7 + 2 * index] = step(RETURN, DENIED, 0, 0);
        index += 1;
    }
    program
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::fork::{Process, exit, fork};
    use crate::sys::wait;

    /// Whether a child that is restricted passes.
    fn passes(test: impl FnOnce() -> bool) -> bool {
        match fork().unwrap() {
            Process::Child => exit(i32::from(!(restrict().is_ok() && test()))),
            Process::Parent(child) => wait::exit_code(child, || ()) == 0,
        }
    }

    /// What the filter answers to a call: an error number, or 0 if it is allowed.
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    fn answer(architecture: u32, call: u32) -> i32 {
        let (mut loaded, mut at) = (0, 0);
        loop {
            let libc::sock_filter { code, jt, jf, k } = FILTER[at];
            at += 1;
            let holds = match u32::from(code) {
                code if code == libc::BPF_LD | libc::BPF_W | libc::BPF_ABS => {
                    loaded = if k == 4 { architecture } else { call };
                    continue;
                }
                code if code == libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K => loaded == k,
                code if code == libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K => loaded >= k,
                code if code == libc::BPF_RET | libc::BPF_K => {
                    let is_error = k & libc::SECCOMP_RET_ACTION_FULL == libc::SECCOMP_RET_ERRNO;
                    assert!(is_error || k == libc::SECCOMP_RET_ALLOW, "{k:#x}");
                    return if is_error { (k & libc::SECCOMP_RET_DATA) as i32 } else { 0 };
                }
                other => panic!("instruction {other:#x}"),
            };
            at += usize::from(if holds { jt } else { jf });
        }
    }

    #[test]
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    fn calls_that_nobody_has_reviewed_do_not_exist() {
        let newest = NEWEST_REVIEWED as u32;
        assert_eq!(answer(ARCHITECTURE, newest), 0);
        for unknown in [newest + 1, 1_000, 0x4000_0000, u32::MAX] {
            assert_eq!(answer(ARCHITECTURE, unknown), libc::ENOSYS, "{unknown}");
        }
        assert_eq!(answer(ARCHITECTURE, 467), libc::EPERM, "open_tree_attr");
        assert_eq!(answer(ARCHITECTURE, libc::SYS_clone3 as u32), 0);
        assert_eq!(answer(ARCHITECTURE ^ 1, libc::SYS_getpid as u32), libc::ENOSYS);
    }

    #[test]
    fn the_clock_modules_and_mounts_are_not_for_programs_of_a_host() {
        assert!(passes(|| {
            REFUSED.iter().all(|&call| seccomp::call_without_arguments(call) == Err(Errno::EPERM))
        }));
    }

    #[test]
    fn what_everybody_may_do_stays() {
        assert!(passes(|| nix::unistd::getppid().as_raw() > 0 && std::fs::metadata("/").is_ok()));
    }
}
