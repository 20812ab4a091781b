"""A collection: probes at their times, rows in a file, and a complete file at any end."""

import platform
import socket
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError
from longhaul.traces.collect.connections import Endpoint, dial, soon
from longhaul.traces.collect.handshake import begin
from longhaul.traces.collect.probe_styles import PERIODS_NS, Ping, Style, columns, settings
from longhaul.traces.collect.prober import Peer, Prober, Sample, reason
from longhaul.traces.collect.prober_registry import prober
from longhaul.traces.collect.retransmission_timeout import FIRST_S
from longhaul.traces.collect.reverse_direction import ReverseProber
from longhaul.traces.collect.trace_file import Link, TraceFile, check_absent
from longhaul.units.configured import rate as configured_rate
from longhaul.units.configured import span
from longhaul.units.text import count_text

_LEAST_PERIOD_NS = 1_000_000
"""Of pings that do not wait for one another."""
_PROGRESS_NS = 5 * 10**9

Tell = Callable[[str], None]


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What to collect."""

    to: Endpoint
    style: Style
    out: Path
    period_ns: int | None = None
    """``None``: that of the style."""
    duration_ns: int | None = None
    count: int | None = None
    """Probes in each direction."""
    both: bool = False
    secret: bytes | None = None
    source: str | None = None
    """How this end is called; ``None``: as the host."""
    destination: str | None = None
    force: bool = False


@dataclass(frozen=True)
class Collected:
    """What there is at the end."""

    rows: int
    interrupted: bool


def collect(plan: Plan, *, tell: Tell) -> Collected:
    """Collect until the plan ends, or the user ends it. Raises :class:`LonghaulError`."""
    check_absent(plan.out, force=plan.force)
    period_ns = PERIODS_NS[plan.style.name] if plan.period_ns is None else plan.period_ns
    unconnected = isinstance(plan.style, Ping) and plan.style.over != "tcp"
    if unconnected and period_ns < _LEAST_PERIOD_NS:
        remedy = "write 1ms or more"
        raise LonghaulError(
            Code.ARGUMENT_INVALID, f"--period is too short for {plan.style.name}", remedy=remedy, exit_code=2
        )
    if unconnected and plan.both:
        remedy = "a round trip is the same from both ends; or take --over tcp"
        message = "pings without a connection go one way only"
        raise LonghaulError(Code.OPTION_CONFLICT, message, remedy=remedy, exit_code=2)
    icmp = isinstance(plan.style, Ping) and plan.style.over == "icmp"
    place, there = (plan.to.resolve(), {}) if icmp else _find(plan)
    peer = Peer(plan.to, partial(dial, place), plan.secret)
    forward = Link(label(plan.source or platform.node() or "here"), label(plan.destination or plan.to.host))
    sources: list[tuple[Link, Prober]] = []
    try:
        if plan.both:
            back = Link(forward.destination, forward.source)
            sources.append((back, ReverseProber(peer, plan.style, period_ns)))
        sources.insert(0, (forward, prober(plan.style, peer, place, period_ns)))
    except OSError as error:
        raise _unreachable(plan.to, error) from None
    start_ns = time.monotonic_ns()
    about = {
        "started_utc": datetime.now(UTC).isoformat(timespec="microseconds"),
        "clock": "CLOCK_MONOTONIC of src, or of dst where it asked src to measure",
        "style": {"name": plan.style.name, **settings(plan.style)},
        "hosts": {forward.source: this_host(), forward.destination: there},
    }
    file = TraceFile(
        plan.out,
        [link for link, _prober in sources],
        plan.style.name,
        period_ns,
        start_ns,
        columns(plan.style),
    )
    pace = Pace(
        period_ns=period_ns,
        end_ns=None if plan.duration_ns is None else start_ns + plan.duration_ns,
        count=plan.count,
    )
    interrupted = keep_probing(sources, pace, file, about, tell)
    return Collected(file.rows, interrupted)


@dataclass(frozen=True, kw_only=True)
class Pace:
    """When to probe, and how long."""

    period_ns: int
    end_ns: int | None
    """On the monotonic clock."""
    count: int | None


def keep_probing(
    sources: Sequence[tuple[Link, Prober]],
    pace: Pace,
    file: TraceFile,
    about: Mapping[str, Any],
    tell: Tell,
) -> bool:
    """Probe each source in turn, once a period; whether the user ended it. The file is whole at any end."""
    interrupted = False
    try:
        try:
            _rounds(sources, pace, file, tell)
        except KeyboardInterrupt:
            interrupted = True
        for link, each in sources:
            _write(file, link, each.finish())
    except LonghaulError as error:
        rows = file.rows
        with suppress(LonghaulError):  # the first error says why
            file.finish({**about, "ended": error.message})
        if rows:
            message = f"{error.message}; the {rows} rows before are in {file.path}"
            raise LonghaulError(error.code, message, remedy=error.remedy, exit_code=error.exit_code) from None
        raise
    except BaseException:
        file.finish({**about, "ended": "interrupted"})
        raise
    file.finish({**about, "ended": "interrupted" if interrupted else "as planned"})
    return interrupted


def label(text: str) -> str:
    """A name as it stands in a trace: nothing that a row or a heading would take for its own."""
    return "".join("-" if each in ' ,\t\n\r"#=' else each for each in text) or "host"


def this_host() -> dict[str, Any]:
    """What a measurement may depend on."""
    return {
        "name": platform.node(),
        "system": platform.system(),
        "kernel": platform.release(),
        "machine": platform.machine(),
        "congestion_control": _congestion_control(),
    }


def _rounds(sources: Sequence[tuple[Link, Prober]], pace: Pace, file: TraceFile, tell: Tell) -> None:
    begun_ns = time.monotonic_ns()
    due_ns, done = begun_ns, 0
    told_ns: int | None = None
    latest: Sample | None = None
    while pace.count is None or done < pace.count:
        if pace.end_ns is not None and time.monotonic_ns() >= pace.end_ns:
            return
        for link, each in sources:
            samples = each.measure()
            _write(file, link, samples)
            latest = samples[-1] if samples else latest
        done += 1
        now_ns = time.monotonic_ns()
        if latest is not None and (told_ns is None or now_ns - told_ns >= _PROGRESS_NS):
            tell(f"{(now_ns - begun_ns) / 1e9:.0f} s: {count_text(file.rows, 'row')}; {describe(latest)}")
            told_ns = now_ns
        if pace.period_ns:
            # Instants that have passed are left out: probes do not run after them.
            due_ns += pace.period_ns * max(1, -(-(now_ns - due_ns) // pace.period_ns))
            last = pace.count is not None and done >= pace.count
            until_ns = min(due_ns, pace.end_ns or due_ns)
            if not last:
                sources[0][1].rest(until_ns)


def describe(sample: Sample) -> str:
    """In one line."""
    if sample.failure is not None:
        return f"a gap: {sample.failure}"
    rtt = None if sample.rtt_ns is None else span(sample.rtt_ns)
    rate = None if sample.bits_per_s is None else configured_rate(sample.bits_per_s)
    return ", ".join(each for each in (rtt, rate) if each) or "nothing new"


def _write(file: TraceFile, link: Link, samples: Sequence[Sample]) -> None:
    for sample in samples:
        file.write(link, sample)


def _find(plan: Plan) -> tuple[Endpoint, dict[str, Any]]:
    """The first of the server's addresses that answers, and what the server says of its host."""
    failure: OSError | None = None
    for place in plan.to.addresses():
        try:
            connection, reply = begin(
                partial(dial, place),
                {"do": "hello"},
                secret=plan.secret,
                until_ns=soon(FIRST_S),
                peer=plan.to,
            )
        except OSError as error:
            failure = error
            continue
        connection.close()
        host = reply.get("host")
        return place, host if isinstance(host, dict) else {}
    raise _unreachable(plan.to, failure or OSError("it has no address")) from None


def _unreachable(peer: object, error: OSError) -> LonghaulError:
    remedy = "start longhaul trace collect --serve there, or correct the address"
    return LonghaulError(Code.PEER_UNREACHABLE, f"{peer}: {reason(error)}", remedy=remedy)


def _congestion_control() -> str | None:
    try:
        with socket.socket() as stream:
            name = stream.getsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, 16)
    except OSError:
        return None
    return name.rstrip(b"\0").decode("ascii", "replace")
