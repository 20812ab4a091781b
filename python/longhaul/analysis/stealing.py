"""Bandwidth that one flow takes from the others, compared with another congestion-control algorithm.

Steal time, the CPU time that a hypervisor takes, is judged in :mod:`longhaul.analysis.fidelity`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from longhaul.analysis.estimates import Digests, Estimate, difference_half_width, estimate
from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError


@dataclass(frozen=True)
class Stolen:
    """What the others lost, as a share of what they had."""

    flow: str
    base: Estimate
    """Goodput of all other flows together in the runs of the baseline, in bit/s."""
    variant: Estimate
    """The same in the runs with the other congestion control."""
    share: float
    """(base - variant) / base; negative if the others gained."""
    half_width: float | None
    """Of its confidence interval; ``None`` if a group has a single run."""


def cross_bits_per_s(summary: Mapping[str, Any], flow: str) -> float:
    """Goodput of all flows of a run but ``flow`` together.

    Raises LonghaulError if there is no such flow, or no other.
    """
    flows = summary["flows"]
    names = sorted({name for each in flows for name in (each["name"], each["flow"])})
    if flow not in names:
        raise LonghaulError(
            Code.RUNS_NOT_COMPARABLE,
            f'there is no flow "{flow}"',
            remedy=f"name one of {', '.join(names) or '(none)'}",
        )
    others = [each["goodput_bits_per_s"] or 0.0 for each in flows if flow not in (each["name"], each["flow"])]
    if not others:
        raise LonghaulError(
            Code.RUNS_NOT_COMPARABLE,
            f'"{flow}" is the only flow',
            remedy="add cross traffic to take bandwidth from",
        )
    return float(sum(others))


def stolen_bandwidth(
    flow: str,
    base: Sequence[float],
    variant: Sequence[float],
    *,
    digests: tuple[Digests | None, Digests | None] = (None, None),
) -> Stolen:
    """From the cross traffic's goodput in each run of two groups.

    The interval is that of a ratio of two independent means, by linear expansion (the delta method), with
    the degrees of freedom of Welch and Satterthwaite. ``digests`` are those of both groups' results. Raises
    LonghaulError if the baseline has no cross traffic.
    """
    before, after = (estimate(each, equal) for each, equal in zip((base, variant), digests, strict=True))
    had, has = before.mean, after.mean
    if had <= 0:
        raise LonghaulError(
            Code.RUNS_NOT_COMPARABLE,
            "the others sent nothing in the baseline",
            remedy="name a baseline with cross traffic",
        )
    half = difference_half_width(
        estimate([each * has / had**2 for each in base], digests[0]),
        estimate([each / had for each in variant], digests[1]),
    )
    return Stolen(flow, before, after, (had - has) / had, half)
