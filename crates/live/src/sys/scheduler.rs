//! Priorities: setpriority(2) and `sched_setscheduler(2)`.

/// Sets the nice value of this thread; false if the kernel refuses it.
pub fn set_nice(value: libc::c_int) -> bool {
    // SAFETY: setpriority(2) has no precondition.
    unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, value) == 0 }
}

/// Sets the scheduling policy of this thread and its priority within the policy; false if the kernel refuses them.
pub fn set_policy(policy: libc::c_int, priority: libc::c_int) -> bool {
    let parameter = libc::sched_param { sched_priority: priority };
    // SAFETY: `parameter` is valid for reads during the call.
    unsafe { libc::sched_setscheduler(0, policy, &raw const parameter) == 0 }
}
