"""Checks of this machine for live runs, and their remedies."""

import os
import platform
import resource
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from longhaul.calibrate import user_namespaces
from longhaul.errors import LonghaulError
from longhaul.subprocesses import find_program
from longhaul.units.text import rate_text, time_text

State = Literal["good", "poor", "missing"]
_FILE_SYSTEMS = Path("/proc/filesystems")
_MODULES = Path("/lib/modules")
_MPTCP = Path("/proc/sys/net/mptcp")


@dataclass(frozen=True)
class Finding:
    """One thing looked at. ``poor`` costs accuracy or comfort; ``missing`` makes live runs impossible."""

    what: str
    state: State
    detail: str
    fix: str | None = None


def examine(*, self_test: bool = True) -> Iterator[Finding]:
    """Check everything, in the order in which a user would fix it."""
    checks: list[Callable[[], Finding]] = [
        _kernel,
        _tun,
        _privilege,
        _real_time,
        _locked_memory,
        _processors,
        load,
        _clock,
        _congestion_control,
        _loadable_algorithms,
        _socket_buffers,
        _control_groups,
        _limits_of_hosts,
        _root_directories,
        _multipath_tcp,
        _foreign_namespaces,
        _interfaces,
        _programs,
        _certificate,
    ]
    for check in checks:
        yield check()
    if self_test:
        yield _self_test()
        yield from _mpi()


def _release() -> tuple[int, ...]:
    """The first two numbers of the kernel's version."""
    return tuple(int(part) for part in platform.release().split("-")[0].split(".")[:2] if part.isdigit())


def _kernel() -> Finding:
    release = platform.release()
    if _release() < (5, 11):
        return Finding("kernel", "missing", release, "use Linux 5.11 or later")
    note = "" if _release() >= (6, 2) else " (no UDP super-packets before 6.2)"
    return Finding("kernel", "good", release + note)


def _tun() -> Finding:
    device = Path("/dev/net/tun")
    if not device.exists():
        return Finding("/dev/net/tun", "missing", "does not exist", "sudo modprobe tun")
    if os.access(device, os.R_OK | os.W_OK):
        return Finding(
            "/dev/net/tun", "good", f"mode {device.stat().st_mode & 0o777:04o}, accessible to this user"
        )
    return Finding(
        "/dev/net/tun",
        "missing",
        "not accessible to this user",
        "sudo chmod 0666 /dev/net/tun, or run as root",
    )


def _privilege() -> Finding:
    if os.geteuid() == 0:
        return Finding("privilege", "good", "root")
    refused = user_namespaces.refusal()
    if refused is None:
        return Finding("privilege", "good", "unprivileged user namespaces")
    found = user_namespaces.obstacle(refused)
    return Finding("privilege", "missing", found.detail, found.remedy)


def _root_directories() -> Finding:
    """What ``rootfs``, ``image`` and ``files`` of hosts need."""
    what = "root directories of hosts"
    known = {line.split()[-1] for line in _FILE_SYSTEMS.read_text().splitlines() if line}
    # The kernel loads a module when the file system is mounted.
    modules = _MODULES / platform.release()
    if "overlay" in known or any(modules.glob("kernel/fs/overlayfs/overlay.ko*")):
        stores = [f"{engine}'s store" for engine in ("podman", "docker") if find_program(engine)]
        return Finding(what, "good", f"overlayfs; images of {', '.join(['OCI layouts', *stores])}")
    detail = "this kernel has no overlayfs: hosts have no rootfs, image or added files"
    return Finding(what, "poor", detail, "use a kernel with CONFIG_OVERLAY_FS")


def _multipath_tcp() -> Finding:
    """What ``mptcp`` of hosts and traffic needs."""
    what = "Multipath TCP"
    if not _MPTCP.exists():
        detail = "this kernel has none: it is left to simulations"
        return Finding(what, "poor", detail, "use Linux 5.6 or later with CONFIG_MPTCP")
    if find_program("mptcpize") is None:
        detail = "mptcpize is missing, which starts the programs of traffic"
        return Finding(what, "poor", detail, "sudo apt-get install mptcpize")
    return Finding(what, "good", "available")


def _foreign_namespaces() -> Finding:
    """What ports inside namespaces and containers need."""
    what = "ports in namespaces and containers"
    if os.geteuid() != 0:
        return Finding(what, "poor", "need root of this machine", "longhaul run --sudo")
    programs = {"docker": "docker", "podman": "podman", "k8s": "crictl"}
    found = [engine for engine, program in programs.items() if find_program(program)]
    return Finding(what, "good", f"netns{''.join(f', {engine}' for engine in found)}")


def _interfaces() -> Finding:
    """What ports that are network interfaces of this machine need."""
    what = "ports at network interfaces"
    if os.geteuid() != 0:
        return Finding(what, "poor", "need root of this machine", "longhaul run --sudo")
    if _release() < (6, 6):
        return Finding(
            what, "poor", "forwarding at the interface must be off before Linux 6.6", "use Linux 6.6 or later"
        )
    return Finding(what, "good", "nic, tap")


def _real_time() -> Finding:
    try:
        before = os.sched_getscheduler(0)
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
        os.sched_setscheduler(0, before, os.sched_param(0))
    except PermissionError:
        user = os.environ.get("USER", "you")
        return Finding(
            "real-time priority",
            "poor",
            "not allowed: packets will be late under load",
            f"echo '{user} - rtprio 60' | sudo tee /etc/security/limits.d/longhaul.conf, log in anew",
        )
    limit = Path("/proc/sys/kernel/sched_rt_runtime_us").read_text().strip()
    return Finding(
        "real-time priority", "good", f"SCHED_FIFO allowed (limit {limit} µs of each second, kept to)"
    )


def _locked_memory() -> Finding:
    soft, _hard = resource.getrlimit(resource.RLIMIT_MEMLOCK)
    if os.geteuid() == 0 or soft == resource.RLIM_INFINITY or soft >= 1 << 30:
        return Finding("locked memory", "good", "allowed")
    user = os.environ.get("USER", "you")
    return Finding(
        "locked memory",
        "poor",
        f"only {soft >> 10} KiB: a swapped page delays a packet",
        f"echo '{user} - memlock unlimited' | sudo tee -a /etc/security/limits.d/longhaul.conf, log in anew",
    )


def _processors() -> Finding:
    count = len(os.sched_getaffinity(0))
    if count == 1:
        return Finding(
            "processors", "poor", "1: programs and the engine share it", "use a machine with two or more"
        )
    return Finding("processors", "good", str(count))


def load() -> Finding:
    """How busy the processors are without us."""
    busy = os.getloadavg()[0]
    count = len(os.sched_getaffinity(0))
    if busy > count * 0.7:
        return Finding(
            "load", "poor", f"{busy:.1f} on {count} processors", "wait, or stop what else is running"
        )
    return Finding("load", "good", f"{busy:.1f} on {count} processors")


def _clock() -> Finding:
    path = Path("/sys/devices/system/clocksource/clocksource0/current_clocksource")
    name = path.read_text().strip() if path.exists() else "unknown"
    if name in ("hpet", "acpi_pm", "jiffies"):
        return Finding("clock", "poor", f"{name}: slow to read", "boot with clocksource=tsc")
    return Finding("clock", "good", name)


def _congestion_control() -> Finding:
    def read(name: str) -> str:
        path = Path(f"/proc/sys/net/ipv4/{name}")
        return path.read_text().strip() if path.exists() else "?"

    default, available = read("tcp_congestion_control"), read("tcp_available_congestion_control")
    allowed = read("tcp_allowed_congestion_control")
    detail = f"default {default}; available {available}; for unprivileged programs {allowed}"
    if "cubic" not in allowed.split():
        detail += "; flows that name no algorithm use reno instead of cubic"
    refused = [name for name in available.split() if name not in allowed.split()]
    if refused:
        fix = f'sudo sysctl -w net.ipv4.tcp_allowed_congestion_control="{available}"'
        return Finding("congestion control", "poor", detail, fix)
    return Finding("congestion control", "good", detail)


def _loadable_algorithms() -> Finding:
    """Load every algorithm of ours into the kernel and unload it, if we may; else tell what is known."""
    from longhaul import _longhaul

    what = "loadable algorithms"
    names = ", ".join(name for name, _ in _longhaul.bpf_algorithms(load=False))
    if os.geteuid() != 0:
        lack = _lack_for_loading()
        if lack:
            return Finding(what, "poor", f"none: {lack[0]}", lack[1])
        return Finding(what, "good", f"{names}; in runs of root alone: longhaul run --sudo")
    refused = [(name, why) for name, why in _longhaul.bpf_algorithms(load=True) if why]
    if not refused:
        return Finding(what, "good", names)
    reason, remedy = refused[0][1]
    left = [name for name in names.split(", ") if name not in dict(refused)]
    detail = f"{', '.join(left) or 'none'}: {reason}"
    return Finding(what, "poor", detail, remedy or "simulate such traffic (simulated: true)")


def _lack_for_loading() -> tuple[str, str] | None:
    """What keeps even root from loading algorithms, as far as a user can see it; and what helps."""
    if not Path("/sys/kernel/btf/vmlinux").exists():
        return "the kernel does not describe its types (no /sys/kernel/btf/vmlinux)", "use one with BTF"
    parts = tuple(int(part) for part in platform.release().split("-")[0].split(".")[:2] if part.isdigit())
    return ("Linux 6.4 brought them", "use Linux 6.4 or later") if parts < (6, 4) else None


def _socket_buffers() -> Finding:
    values = {}
    for name in ("rmem_max", "wmem_max"):
        path = Path(f"/proc/sys/net/core/{name}")
        values[name] = int(path.read_text()) if path.exists() else 0
    detail = ", ".join(f"net.core.{name} {value >> 10} KiB" for name, value in values.items())
    if min(values.values()) < 4 << 20:
        return Finding(
            "socket buffers",
            "poor",
            f"{detail}: fast UDP receivers lose packets",
            "sudo sysctl -w net.core.rmem_max=16777216 net.core.wmem_max=16777216",
        )
    detail += "; the most for programs that set their own (iperf3 -w); TCP's are set for each host"
    return Finding("socket buffers", "good", detail)


def _control_groups() -> Finding:
    from longhaul import _longhaul

    own = _longhaul.own_cgroup()
    if own and os.access(own, os.W_OK):
        return Finding("control groups", "good", own)
    return Finding(
        "control groups",
        "poor",
        "not available to this user: no CPU time per host",
        "systemd-run --user --scope -p Delegate=yes longhaul ...",
    )


def _limits_of_hosts() -> Finding:
    from longhaul import _longhaul

    missing, remedy = [], None
    for name in ("cpu", "memory"):
        try:
            _longhaul.check_limits(cpu=name == "cpu", memory=name == "memory")
        except _longhaul.LiveError as error:
            missing.append(name)
            remedy = error.remedy
    if missing:
        detail = f"not available to this user: {', '.join(missing)} of hosts cannot be limited"
        return Finding("limits of hosts", "poor", detail, remedy)
    return Finding("limits of hosts", "good", "cpu, memory")


def _programs() -> Finding:
    packages = {"ping": "iputils-ping", "iperf3": "iperf3", "traceroute": "traceroute", "ip": "iproute2"}
    missing = [name for name in packages if find_program(name) is None]
    if missing:
        install = " ".join(packages[name] for name in missing)
        return Finding(
            "programs", "poor", f"missing: {', '.join(missing)}", f"sudo apt-get install {install}"
        )
    return Finding("programs", "good", ", ".join(packages))


def _certificate() -> Finding:
    from longhaul.results.certificate import load_certificate

    shown = load_certificate()
    if shown is None or "faithful_packets_per_s" not in shown:
        detail = "none: runs do not know the limits of this machine"
        return Finding("certificate", "poor", detail, "longhaul calibrate")
    limits = f"{rate_text(shown['faithful_bits_per_s'])}, {shown['faithful_packets_per_s']:,} packets/s"
    detail = f"{limits} on time; measured {shown['measured'][:10]}"
    if not shown["faithful_bits_per_s"]:
        return Finding("certificate", "poor", detail, "longhaul calibrate, while nothing else runs")
    return Finding("certificate", "good", detail)


def _self_test() -> Finding:
    """Bring two hosts up and ping between them: what a run really needs."""
    from longhaul.calibrate import plans
    from longhaul.calibrate.probe import measure

    if find_program("ping") is None:
        return Finding("self-test", "poor", "needs ping", "sudo apt-get install iputils-ping")
    try:
        run = measure(plans.pair(delay_ns=1_000_000, programs=[plans.ping(count=20, interval_s=0.01)]))
    except LonghaulError as error:
        return Finding("self-test", "missing", error.message, error.remedy)
    rtts = run.rtts_s()
    if len(rtts) < 20:
        return Finding("self-test", "missing", f"{20 - len(rtts)} of 20 pings over 1 ms each way were lost")
    best, p99 = time_text(min(rtts) * 1e9, digits=4), time_text(run.lateness_ns("p99"))
    return Finding(
        "self-test",
        "good",
        f"20 pings over 1 ms each way: best {best}, lateness p99 {p99}",
    )


def _mpi() -> Iterator[Finding]:
    """Let every MPI that is installed exchange messages between two hosts, and count them on the link."""
    from longhaul.calibrate import mpi

    outcomes = list(mpi.examine())
    for outcome in outcomes:
        state: State = "good" if outcome.works else "missing" if outcome.bypassed else "poor"
        yield Finding("MPI", state, f"{outcome.name}: {outcome.detail}", outcome.remedy)
    if not outcomes:
        yield Finding("MPI", "good", "none installed; programs without MPI need none")
