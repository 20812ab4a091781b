"""iperf3's JSON as a trace: its intervals, with TCP's round-trip time."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from statistics import fmean
from typing import Any

from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError
from longhaul.traces.collect.collection import label
from longhaul.traces.collect.prober import Sample
from longhaul.traces.collect.trace_file import Link, TraceFile, check_absent

_MOST_BYTES = 256 * 1024 * 1024


@dataclass(frozen=True)
class Imported:
    """What a file held."""

    links: Sequence[Link]
    rows: Sequence[tuple[Link, Sample]]
    """In order of time; instants count from the start of the measurement, in ns."""
    period_ns: int
    about: Mapping[str, Any]


def read_iperf3(path: Path) -> Imported:
    """The intervals of a run with ``--json``; raises :class:`LonghaulError`.

    A row stands at the begin of its interval; intervals that iperf3 was told to omit are left out. An
    interval in which nothing went through is a gap.
    """
    remedy = "give what iperf3 --json printed"
    try:
        if path.stat().st_size > _MOST_BYTES:
            raise LonghaulError(
                Code.FILE_TOO_LARGE, f"{path} is larger than 256 MiB", remedy=remedy, exit_code=2
            )
        content = json.loads(path.read_bytes())
    except OSError as error:
        message = f"{path}: {(error.strerror or 'cannot be read').lower()}"
        raise LonghaulError(
            Code.FILE_UNREADABLE, message, remedy="name a file that can be read", exit_code=2
        ) from None
    except (ValueError, RecursionError):
        raise LonghaulError(
            Code.FOREIGN_FILE_MALFORMED, f"{path} is not JSON", remedy=remedy, exit_code=2
        ) from None
    if isinstance(content, dict) and content.get("error") and not content.get("intervals"):
        message = f"{path}: iperf3 has failed: {content['error']}"
        raise LonghaulError(Code.MEASUREMENT_FAILED, message, remedy="measure again", exit_code=2)
    try:
        return _imported(content)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError):
        raise LonghaulError(
            Code.FOREIGN_FILE_MALFORMED, f"{path} is not a report of iperf3", remedy=remedy, exit_code=2
        ) from None


def convert_iperf3(path: Path, out: Path, *, force: bool) -> int:
    """Write the intervals in ``path`` as a trace; the number of its rows. Raises :class:`LonghaulError`."""
    found = read_iperf3(path)
    if out.with_suffix(".json").resolve() == path.resolve():
        remedy = "choose another name for the trace"
        raise LonghaulError(Code.FILE_EXISTS, f"{path} would be written over", remedy=remedy, exit_code=2)
    check_absent(out, force=force)
    has_rtts = any(sample.rtt_ns is not None for _link, sample in found.rows)
    columns = ("rtt_ms", "rate_mbit") if has_rtts else ("rate_mbit",)
    file = TraceFile(out, found.links, "iperf3", found.period_ns, 0, columns)
    try:
        for link, sample in found.rows:
            file.write(link, sample)
    except LonghaulError:
        file.discard()
        raise
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    file.finish({**found.about, "imported": {"file": path.name, "sha256": digest}})
    return file.rows


def _imported(content: Any) -> Imported:
    start = content["start"]
    test = start["test_start"]
    ends = start["connected"][0]
    here, there = str(ends["local_host"]), str(ends["remote_host"])
    forward = Link(label(here), label(there if there != here else f"{there}:{ends['remote_port']}"))
    if test.get("reverse"):
        forward = Link(forward.destination, forward.source)
    back = Link(forward.destination, forward.source)
    both = "sum_bidir_reverse" in content["intervals"][0]
    rows = []
    for interval in content["intervals"]:
        for link, key in ((forward, "sum"), (back, "sum_bidir_reverse")) if both else ((forward, "sum"),):
            total = interval.get(key)
            if total is None or total.get("omitted"):
                continue
            # In both directions only the streams that this end sends have a round trip.
            sends = [each for each in interval["streams"] if not both or each.get("sender") is (key == "sum")]
            rtts = [float(each["rtt"]) for each in sends if each.get("rtt")]
            rate = float(total["bits_per_second"])
            rows.append(
                (
                    link,
                    Sample(
                        round(float(total["start"]) * 1e9),
                        round(fmean(rtts) * 1000) if rtts else None,
                        rate if rate > 0 else None,
                        None if rate > 0 else "nothing went through",
                    ),
                )
            )
    if not rows:
        raise ValueError("no intervals")
    rows.sort(key=lambda row: row[1].at_ns)
    seconds = float(content["intervals"][0]["sum"]["seconds"])
    started = datetime.fromtimestamp(float(start["timestamp"]["timesecs"]), UTC)
    about = {
        "started_utc": started.isoformat(),
        "clock": "that of iperf3",
        "hosts": {forward.source: {}, forward.destination: {}},
        "style": {
            "name": "iperf3",
            "version": str(start.get("version", "")),
            "protocol": str(test.get("protocol", "")),
            "streams": int(test.get("num_streams", 1)),
            "buffer_bytes": int(start.get("sock_bufsize", 0)) or None,
        },
        "ended": "as planned" if not content.get("error") else str(content["error"]),
    }
    return Imported((forward, back) if both else (forward,), rows, round(seconds * 1e3) * 10**6, about)
