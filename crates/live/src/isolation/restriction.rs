//! Capabilities and system calls that a program of a host does not get, however it became root.

use std::io;

/// Capabilities that programs keep, by the numbers of capability(7): those about files, users and processes of
/// their own, and all about networks. SYS_ADMIN is what entering another host of the run needs; the system calls
/// for which it would be dangerous are refused.
const KEPT: [u32; 21] = [
    0,  // CHOWN
    1,  // DAC_OVERRIDE
    3,  // FOWNER
    4,  // FSETID
    5,  // KILL
    6,  // SETGID
    7,  // SETUID
    8,  // SETPCAP
    10, // NET_BIND_SERVICE
    11, // NET_BROADCAST
    12, // NET_ADMIN
    13, // NET_RAW
    14, // IPC_LOCK
    15, // IPC_OWNER
    18, // SYS_CHROOT
    21, // SYS_ADMIN
    23, // SYS_NICE
    24, // SYS_RESOURCE
    28, // LEASE
    29, // AUDIT_WRITE
    31, // SETFCAP
];

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

#[cfg(target_arch = "x86_64")]
const ARCHITECTURE: u32 = 0xC000_003E;
#[cfg(target_arch = "aarch64")]
const ARCHITECTURE: u32 = 0xC000_00B7;

/// Restricts this process, which must have one thread, and all that it will start.
pub fn restrict() -> Result<(), (&'static str, io::Error)> {
    // SAFETY: plain system calls on this process.
    unsafe {
        for capability in (0..64).filter(|number| !KEPT.contains(number)) {
            if libc::prctl(libc::PR_CAPBSET_DROP, capability, 0, 0, 0) != 0 {
                break; // the kernel has no more
            }
        }
        libc::prctl(libc::PR_CAP_AMBIENT, libc::PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
    }
    keep_capabilities().map_err(|error| ("cannot drop capabilities", error))?;
    // SAFETY: a plain system call on this process.
    if unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) } != 0 {
        return Err(("cannot set no_new_privs", io::Error::last_os_error()));
    }
    refuse_calls().map_err(|error| ("cannot filter system calls", error))
}

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

/// Keeps of the capabilities that this process has those of [`KEPT`].
fn keep_capabilities() -> io::Result<()> {
    const VERSION_3: u32 = 0x2008_0522;
    let header = Header { version: VERSION_3, pid: 0 };
    let mut sets = [Sets::default(); 2];
    // SAFETY: version 3 reads and writes two sets, and all structures outlive the calls.
    unsafe {
        if libc::syscall(libc::SYS_capget, &header, sets.as_mut_ptr()) != 0 {
            return Err(io::Error::last_os_error());
        }
        for (half, set) in sets.iter_mut().enumerate() {
            let kept = KEPT.iter().filter(|&&number| number as usize / 32 == half);
            let mask = kept.fold(0, |mask, number| mask | 1 << (number % 32));
            set.effective &= mask;
            set.permitted &= mask;
            set.inheritable &= mask;
        }
        if libc::syscall(libc::SYS_capset, &header, sets.as_ptr()) != 0 {
            return Err(io::Error::last_os_error());
        }
    }
    Ok(())
}

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
fn refuse_calls() -> io::Result<()> {
    let program = filter();
    let header = libc::sock_fprog { len: program.len() as u16, filter: program.as_ptr().cast_mut() };
    // SAFETY: the kernel copies the program, which outlives the call.
    let failed = unsafe { libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &header, 0, 0) } != 0;
    if failed { Err(io::Error::last_os_error()) } else { Ok(()) }
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn refuse_calls() -> io::Result<()> {
    Ok(())
}

/// The filter: calls of other architectures and those after [`NEWEST_REVIEWED`] do not exist (ENOSYS, upon which
/// C libraries fall back to older calls), [`REFUSED`] are not permitted (EPERM), all others are allowed.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
fn filter() -> Vec<libc::sock_filter> {
    const LOAD: u16 = (libc::BPF_LD | libc::BPF_W | libc::BPF_ABS) as u16;
    const EQUAL: u16 = (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16;
    const AT_LEAST: u16 = (libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K) as u16;
    const RETURN: u16 = (libc::BPF_RET | libc::BPF_K) as u16;
    /// Where in `seccomp_data` the number and the architecture are.
    const NUMBER: u32 = 0;
    const ARCH: u32 = 4;
    const FIRST_UNREVIEWED: u32 = NEWEST_REVIEWED as u32 + 1;
    let step = |code, k, jt, jf| libc::sock_filter { code, jt, jf, k };
    let errno = |code: i32| libc::SECCOMP_RET_ERRNO | code as u32;
    let mut program = vec![
        step(LOAD, ARCH, 0, 0),
        step(EQUAL, ARCHITECTURE, 1, 0),
        step(RETURN, errno(libc::ENOSYS), 0, 0),
        step(LOAD, NUMBER, 0, 0),
        // The numbers of x32 are higher, too.
        step(AT_LEAST, FIRST_UNREVIEWED, 0, 1),
        step(RETURN, errno(libc::ENOSYS), 0, 0),
    ];
    for call in REFUSED {
        program.push(step(EQUAL, call as u32, 0, 1));
        program.push(step(RETURN, errno(libc::EPERM), 0, 0));
    }
    program.push(step(RETURN, libc::SECCOMP_RET_ALLOW, 0, 0));
    program
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether a child that is restricted passes.
    fn passes(test: impl FnOnce() -> bool) -> bool {
        // SAFETY: the child restricts itself, makes system calls, and ends without the parent's destructors.
        match unsafe { libc::fork() } {
            0 => {
                let good = restrict().is_ok() && test();
                // SAFETY: as above.
                unsafe { libc::_exit(i32::from(!good)) }
            }
            child => {
                let mut status = 0;
                // SAFETY: waits for the child; the status outlives the call.
                unsafe { libc::waitpid(child, &mut status, 0) };
                libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0
            }
        }
    }

    /// What the filter answers to a call: an error number, or 0 if it is allowed.
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    fn answer(architecture: u32, call: u32) -> i32 {
        let program = filter();
        let (mut loaded, mut at) = (0, 0);
        loop {
            let libc::sock_filter { code, jt, jf, k } = program[at];
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
            let refused = |call| {
                // SAFETY: refused calls touch nothing; their arguments are null.
                let answer = unsafe { libc::syscall(call, 0, 0, 0, 0, 0, 0) };
                answer == -1 && io::Error::last_os_error().raw_os_error() == Some(libc::EPERM)
            };
            REFUSED.iter().all(|&call| refused(call))
        }));
    }

    #[test]
    fn what_everybody_may_do_stays() {
        // SAFETY: a plain system call.
        assert!(passes(|| unsafe { libc::getppid() } > 0 && std::fs::metadata("/").is_ok()));
    }
}
