"""``longhaul trace collect``, from its options to its output."""

import signal
from collections.abc import Mapping
from pathlib import Path
from types import FrameType
from typing import Any

from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError
from longhaul.traces.collect.collection import Plan, Tell, collect, this_host
from longhaul.traces.collect.connections import Endpoint
from longhaul.traces.collect.iperf3 import convert_iperf3
from longhaul.traces.collect.membership import CliquePlan, join, parse_members
from longhaul.traces.collect.probe_styles import Style, make_style
from longhaul.traces.collect.reverse_direction import Measuring
from longhaul.traces.collect.server import Server
from longhaul.traces.collect.wire import read_token
from longhaul.units.text import count_text

Given = Mapping[str, Any]

_SETTINGS = ("latency_bytes", "message_bytes", "messages", "buffer_bytes", "over", "congestion_control")


def carry_out(given: Given, *, say: Tell, tell: Tell) -> None:
    """Serve, measure, join a clique, or read a file. Raises :class:`LonghaulError`.

    ``say`` is for results, ``tell`` for how it goes.
    """
    signal.signal(signal.SIGTERM, _stop)
    jobs = [each for each in ("serve", "to", "clique", "iperf3") if given[each]]
    match jobs:
        case ["serve"]:
            _serve(given, say, tell)
        case ["to"]:
            _collect(given, say, tell)
        case ["serve", "clique"]:
            _join(given, say, tell)
        case ["iperf3"]:
            out = _out(given)
            rows = convert_iperf3(given["iperf3"], out, force=given["force"])
            say(f"wrote {out}: {count_text(rows, 'row')}")
        case _:
            remedy = "give one of --serve, --to, --serve with --clique, --from-iperf3"
            raise LonghaulError(Code.ARGUMENT_MISSING, "no action is given", remedy=remedy, exit_code=2)


def chosen_style(given: Given) -> Style:
    """The style with what was said of it; raises :class:`LonghaulError`."""
    said = {key: given[key] for key in _SETTINGS if given[key] is not None}
    if given["nagle"]:
        said["nodelay"] = False
    if given["less_latency"]:
        said["less_latency"] = True
    return make_style(given["style"], said)


def _serve(given: Given, say: Tell, tell: Tell) -> None:
    measuring = Measuring()
    server = Server(
        Endpoint.parse(given["serve"]),
        read_token(given["token_file"]),
        tell,
        this_host(),
        {"measure": measuring.measure, "attach": measuring.attach},
    )
    say(f"serving at {server.endpoint}")
    try:
        server.serve()
    except KeyboardInterrupt:
        tell("stopped")
    finally:
        server.close()


def _collect(given: Given, say: Tell, tell: Tell) -> None:
    plan = Plan(
        to=Endpoint.parse(given["to"] if _has_port(given) else f"{given['to']}:0"),
        style=chosen_style(given),
        out=_out(given),
        period_ns=_ns(given["period"]),
        duration_ns=_ns(given["duration"]),
        count=given["count"],
        both=given["both"],
        secret=read_token(given["token_file"]),
        source=given["source_name"],
        destination=given["target_name"],
        force=given["force"],
    )
    done = collect(plan, tell=tell)
    if not done.rows:
        raise LonghaulError(
            Code.MEASUREMENT_FAILED,
            "nothing was measured",
            remedy="let it run longer",
            exit_code=130 if done.interrupted else 1,
        )
    say(f"wrote {plan.out}: {count_text(done.rows, 'row')}" + (", interrupted" if done.interrupted else ""))


def _join(given: Given, say: Tell, tell: Tell) -> None:
    if given["both"] or given["count"]:
        remedy = "members measure in both directions, for a --duration"
        raise LonghaulError(
            Code.OPTION_CONFLICT, "--both and --count are not for a clique", remedy=remedy, exit_code=2
        )
    listen = Endpoint.parse(given["serve"])
    plan = CliquePlan(
        members=parse_members(given["clique"]),
        me=Endpoint.parse(given["me"]) if given["me"] else listen,
        listen=listen,
        style=chosen_style(given),
        out=_out(given),
        period_ns=_ns(given["period"]),
        duration_ns=_ns(given["duration"]),
        secret=read_token(given["token_file"]),
        force=given["force"],
    )
    rows = join(plan, tell=tell)
    say(f"wrote {plan.out}: {count_text(rows, 'row')}" if rows else "nothing was measured")


def _has_port(given: Given) -> bool:
    """ICMP has no ports."""
    port = str(given["to"]).rpartition(":")[2]
    return given["over"] != "icmp" or port.isdecimal()


def _out(given: Given) -> Path:
    if given["out"] is None:
        raise LonghaulError(
            Code.ARGUMENT_MISSING, "no output file is given", remedy="add -o trace.csv", exit_code=2
        )
    out: Path = given["out"]
    return out


def _ns(span: Any) -> int | None:
    return None if span is None else int(span.ns)


def _stop(_signal: int, _frame: FrameType | None) -> None:
    """Ended by a signal as by Ctrl-C, once."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    raise KeyboardInterrupt
