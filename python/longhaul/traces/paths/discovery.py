"""Discovery of the paths to hosts with all available probers, as a scenario."""

import socket
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from longhaul.analysis.paths import map_paths
from longhaul.analysis.traces import Trace
from longhaul.diagnostics import Code, printable
from longhaul.errors import LonghaulError
from longhaul.scenario.expand.topologies.draft import Draft
from longhaul.scenario.expand.topologies.naming import node_name
from longhaul.scenario.syntax.problems import did_you_mean
from longhaul.traces.paths.draft import Written, draft
from longhaul.traces.paths.outputs import HERE, read_saved
from longhaul.traces.paths.prober import Pace, probe
from longhaul.traces.paths.programs import PROGRAMS, installed, run_program
from longhaul.units.quantities import Rate, UnitError

OWN = "own"
MEANS = (OWN, *PROGRAMS)
Version = Literal["4", "6"]


@dataclass(frozen=True)
class Search:
    """How paths are probed."""

    means: tuple[str, ...] = ()
    """Of :data:`MEANS`; our own probes and what is installed, if left out."""
    version: Version | None = None
    """Of IP; what the name resolves to first, if left out."""
    pace: Pace = field(default_factory=Pace)
    pings: int = 20
    """Pings of the end."""


def discover(
    hosts: Sequence[str],
    saved: Sequence[str],
    *,
    search: Search,
    written: Written,
    progress: Callable[[str], None] = lambda _step: None,
) -> Draft:
    """A scenario of the paths to ``hosts`` and in ``saved`` outputs; raises :class:`LonghaulError`."""
    if not hosts and not saved:
        raise LonghaulError(
            Code.ARGUMENT_MISSING,
            "there is no host to find",
            remedy="name one, or a saved output by --from",
            exit_code=2,
        )
    means = _means(search)
    traces = [trace for words in saved for trace in read_saved(words)]
    addresses = {host: resolved(host, search.version) for host in hosts}
    for host, address in addresses.items():
        for name in means:
            progress(f"{name} to {host} ({address})")
            traces += _by(name, host, address, search)
    if not any(trace.reached or any(hop.answers for hop in trace.hops) or _echoed(trace) for trace in traces):
        asked = ", ".join(dict.fromkeys(trace.target for trace in traces))
        remedy = "look at ip route, try --with ping, or read saved outputs by --from"
        raise LonghaulError(Code.PEER_UNREACHABLE, f"nothing answered on the way to {asked}", remedy=remedy)
    return draft(map_paths(traces), written)


def resolved(host: str, version: Version | None = None) -> str:
    """An address of ``host``; raises :class:`LonghaulError`."""
    family = {None: socket.AF_UNSPEC, "4": socket.AF_INET, "6": socket.AF_INET6}[version]
    try:
        found = socket.getaddrinfo(host, 33434, family, socket.SOCK_DGRAM)
    except (OSError, UnicodeError):
        what = f" by IPv{version}" if version else ""
        message = f'no address is known of "{printable(host)}"{what}'
        raise LonghaulError(
            Code.PEER_UNREACHABLE, message, remedy="correct the name, or give an address", exit_code=2
        ) from None
    return str(found[0][4][0])


def _means(search: Search) -> tuple[str, ...]:
    for name in search.means:
        if name not in MEANS:
            message = f'there is no way to probe by "{printable(name)}"'
            raise LonghaulError(Code.WORD_UNKNOWN, message, remedy=did_you_mean(name, MEANS), exit_code=2)
    if search.means:
        return tuple(dict.fromkeys(search.means))
    tracer = next((name for name in ("mtr", "traceroute", "tracepath") if installed(name)), None)
    return (OWN, *([tracer] if tracer else []), *(["ping"] if installed("ping") else []))


def _by(name: str, host: str, address: str, search: Search) -> list[Trace]:
    if name == OWN:
        return [probe(address, source=HERE, target=host, pace=search.pace)]
    try:
        found = run_program(name, address, source=HERE, target=host, pace=search.pace, pings=search.pings)
    except LonghaulError:
        # What was asked for must work; what was merely there need not.
        if name in search.means:
            raise
        return []
    return [replace(trace, target=host, address=trace.address or address) for trace in found]


def _echoed(trace: Trace) -> bool:
    return trace.pings is not None and trace.pings.received > 0


def searched(given: Mapping[str, Any]) -> Search:
    """The search that the options of ``longhaul path`` ask for."""
    pace = Pace(rounds=given["probes"], wait_s=given["wait"], farthest=given["max_hops"])
    return Search(given["means"], given["version"], pace, given["pings"])


def written_as(given: Mapping[str, Any], name: str) -> Written:
    """What its options say beside what is measured; raises :class:`LonghaulError`."""
    speeds = {}
    for word in given["speeds"]:
        hop, equals, rate = word.rpartition("=")
        if not equals or not hop:
            remedy = "write for example --interface-speed 10.0.0.1=10Gbit"
            raise LonghaulError(
                Code.ARGUMENT_INVALID, f'"{printable(word)}" is not HOP=RATE', remedy=remedy, exit_code=2
            )
        try:
            speeds[hop] = Rate.parse(rate)
        except UnitError as error:
            message = f"--interface-speed {printable(hop)}: {error.message}"
            raise LonghaulError(error.code, message, remedy=error.remedy, exit_code=2) from None
    return Written(node_name(name, otherwise="paths"), given["rate"], speeds, given["jitter"])
