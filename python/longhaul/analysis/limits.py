"""The effect of limits of hosts: throttled CPU time, and processes that the kernel killed."""

from collections.abc import Iterator, Mapping
from typing import Any

from longhaul.plan import Plan
from longhaul.units.text import bytes_text, time_text

COUNTED = ("cpu.throttled_periods", "cpu.throttled_ns", "memory.oom_kills", "memory.peak_bytes")
"""The kernel's counts of a host's control groups; absent where it has none."""


def summarise_limits(plan: Plan, accounts: Mapping[str, Mapping[str, int]] | None) -> list[dict[str, Any]]:
    """Each host with a limit (CPUs, bytes), and its effect (periods of 100 ms, ns, bytes)."""
    found = []
    for node in plan["nodes"]:
        settings = node.get("settings") or {}
        millicores, memory = settings.get("cpu_millicores"), settings.get("memory_bytes")
        if millicores is None and memory is None:
            continue
        account = (accounts or {}).get(node["name"], {})
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
            processes = "1 process was" if count == 1 else f"{count} processes were"
            done.append(f"{processes} killed at its memory limit of {bytes_text(each['memory_bytes'])}")
        if done:
            yield f"{each['host']} {'; '.join(done)}"
