"""The effect of limits of hosts: throttled CPU time, and processes that the kernel killed."""

from collections.abc import Iterator, Mapping
from typing import Any

from longhaul.plan import Plan
from longhaul.units.text import bytes_text, time_text

OOM_KILLS = "memory.oom_kills"
COUNTED = ("cpu.throttled_periods", "cpu.throttled_ns", OOM_KILLS, "memory.peak_bytes")
"""The kernel's counts of a host's control groups; absent where it has none."""
OWN_LIMIT = "memory.limit_bytes"
"""The memory that the kernel of a host on the virtual clock has for programs, sockets and itself."""


def summarise_limits(plan: Plan, accounts: Mapping[str, Mapping[str, int]] | None) -> list[dict[str, Any]]:
    """Each host with a limit (CPUs, bytes), and its effect (periods of 100 ms, ns, bytes).

    A host on the virtual clock whose scenario names no limit is among them if its memory did not suffice.
    """
    found = []
    for node in plan["nodes"]:
        settings = node.get("settings") or {}
        millicores, memory = settings.get("cpu_millicores"), settings.get("memory_bytes")
        account = (accounts or {}).get(node["name"], {})
        if memory is None and account.get(OOM_KILLS):
            memory = account.get(OWN_LIMIT)
        if millicores is None and memory is None:
            continue
        found.append(
            {
                "host": node["name"],
                "cpu": None if millicores is None else millicores / 1000,
                "memory_bytes": memory,
                **{name.partition(".")[2]: account.get(name) for name in COUNTED},
            }
        )
    return found


def limit_texts(limits: list[dict[str, Any]]) -> Iterator[str]:
    """A line for each host whose limit did something."""
    for each in limits:
        done = []
        if each["throttled_ns"]:
            done.append(
                f"was throttled for {time_text(each['throttled_ns'])} at its limit of {each['cpu']:g} CPUs"
            )
        if each["oom_kills"]:
            count = each["oom_kills"]
            processes = "1 process" if count == 1 else f"{count} processes"
            limit = bytes_text(each["memory_bytes"])
            done.append(f"had {processes} killed at its memory limit of {limit}; memory of the host sets it")
        if done:
            yield f"{each['host']} {'; '.join(done)}"
