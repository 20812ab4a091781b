"""Requests as files, and plans as plain data."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from longhaul.transfers.plan.instances import Point, Request
from longhaul.transfers.plan.measures import measures
from longhaul.transfers.plan.plans import Outcome, Plan, loads
from longhaul.transfers.plan.request_files import COLUMNS
from longhaul.units.quantities import Rate, Size, Span


def as_yaml(points: Mapping[str, Point], requests: Sequence[Request]) -> str:
    """A file that :func:`longhaul.transfers.plan.request_files.parse_requests` reads back."""
    lines = ["version: 1", *(["points:"] if points else [])]
    for name, point in points.items():
        into, out = Rate(round(point.in_bits_per_s)), Rate(round(point.out_bits_per_s))
        lines.append(f"  {name}: {into}" if into == out else f"  {name}: {{in: {into}, out: {out}}}")
    lines.append("requests:")
    for each in requests:
        name, *cells = _cells(each)
        pairs = zip(COLUMNS[1:], cells, strict=True)
        lines.append(f"  {name}: {{{', '.join(f'{key}: {cell}' for key, cell in pairs if cell)}}}")
    return "\n".join(lines) + "\n"


def as_csv(requests: Sequence[Request]) -> str:
    """The same as CSV, without access points."""
    return "\n".join([",".join(COLUMNS), *(",".join(_cells(each)) for each in requests)]) + "\n"


def plan_as_plain(plan: Plan) -> dict[str, Any]:
    """A plan for JSON: policy, measures, requests, links."""
    peaks = [float(load.max(initial=0.0)) for _times, load in loads(plan)]
    return {
        "policy": plan.policy,
        "measures": asdict(measures(plan)),
        "congestion": plan.congestion,
        "requests": [_plain(each) for each in plan.outcomes],
        "links": [
            {"link": link.name, "bits_per_s": link.bits_per_s, "peak_bits_per_s": peak}
            for link, peak in zip(plan.instance.links, peaks, strict=True)
        ],
    }


def asked(request: Request) -> dict[str, Any]:
    """A request in plain data; without a deadline that is ``None``."""
    return {
        "request": request.name,
        "from": request.source,
        "to": request.destination,
        "volume_bytes": request.volume_bytes,
        "release_s": request.release_s,
        "deadline_s": None if math.isinf(request.deadline_s) else request.deadline_s,
    }


def _plain(outcome: Outcome) -> dict[str, Any]:
    moves = bool(outcome.pieces)
    return {
        **asked(outcome.request),
        "satisfied": outcome.satisfied,
        "reason": outcome.reason or None,
        "start_s": outcome.start_s if moves else None,
        "finish_s": outcome.finish_s if moves else None,
        "bits_per_s": outcome.bits_per_s if moves else None,
        "pieces": [asdict(piece) for piece in outcome.pieces],
    }


def _cells(request: Request) -> tuple[str, ...]:
    endless, free = math.isinf(request.deadline_s), math.isinf(request.max_bits_per_s)
    return (
        request.name,
        request.source,
        request.destination,
        _volume(request.volume_bytes),
        str(Span(round(request.release_s * 1e9))),
        "" if endless else str(Span(round(request.deadline_s * 1e9))),
        "" if free else str(Rate(round(request.max_bits_per_s))),
    )


def _volume(count: int) -> str:
    """In decimal units, where whole thousands of them are meant."""
    for unit in ("TB", "GB", "MB", "kB"):
        if count % Size.units[unit] == 0:
            return f"{count // Size.units[unit]}{unit}"
    return f"{count}B"
