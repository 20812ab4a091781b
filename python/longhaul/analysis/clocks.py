"""What the virtual or the simulated clock of a run says of itself, with the digest of equal runs."""

from collections.abc import Mapping
from typing import Any

from longhaul.units.text import few_text, time_text


def virtual_text(summary: Mapping[str, Any]) -> str | None:
    """How long a run on the virtual clock took, and its digest if equal runs repeat it; else ``None``."""
    clock = summary.get("virtual_clock")
    if clock is None:
        return None
    took = f"virtual clock: {summary['duration_ns'] / 1e9:.3f} s took {clock['wall_s']:.2f} s"
    if machines := [each["name"] for each in clock.get("machines") or ()]:
        took += f" with the hosts on {few_text(machines)}"
    if clock["cpu_speed"] is None:
        return f"{took}; equal runs have the digest {clock['digest']}"
    return (
        f"{took}; computing took measured time, on processors of {clock['cpu_speed']:g} times the speed of "
        "this machine's, so runs differ in detail"
    )


def simulated_text(summary: Mapping[str, Any]) -> str | None:
    """The same of a simulation, with its number of shards; ``None`` for other runs."""
    account = summary.get("simulation")
    if account is None:
        return None
    shards = f" in {account['shards']} shards" if account["shards"] > 1 else ""
    return (
        f"{time_text(summary['duration_ns'])} in {account['wall_s']:.2f} s{shards}, "
        f"{account['hops']} packet-hops, digest {account['digest']}"
    )


def clock_text(summary: Mapping[str, Any]) -> str | None:
    """What the clock of a run says, whichever it was; ``None`` for the real one."""
    simulated = simulated_text(summary)
    return virtual_text(summary) if simulated is None else f"simulated clock: {simulated}"
