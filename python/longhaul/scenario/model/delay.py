"""Delay and reordering models."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, model_validator

from longhaul.diagnostics import Code
from longhaul.scenario.model.base import (
    AlsoText,
    Column,
    Count,
    FileName,
    Strict,
    TracedHost,
    choice,
    problem,
)
from longhaul.scenario.model.chosen import Chosen, Member
from longhaul.scenario.model.distribution import AnyTimes, Table, members
from longhaul.units.quantities import Share, Span


class UniformJitter(Strict):
    """The delay is uniform on base plus or minus the half width."""

    dist: Literal["uniform"]
    half_width: Span


class NormalJitter(Strict):
    """The delay is normal around the base, cut at zero."""

    dist: Literal["normal"]
    sd: Span


_JITTERS: Mapping[str, Member] = {
    "uniform": UniformJitter,
    "normal": NormalJitter,
    **members(
        Span,
        (
            "lognormal",
            "weibull",
            "gamma",
            "pareto",
            "exponential",
            "log-logistic",
            "inverse-gaussian",
            "generalised-pareto",
            "gev",
            "wakeby",
        ),
    ),
    "table": Table,
    **members(Span, ("empirical",)),
}


def _jitter(value: Any) -> Any:
    if not isinstance(value, dict):
        raise problem(
            Code.WRONG_TYPE, "must be a distribution", 'write for example "{dist: normal, sd: 1ms}"'
        )
    choice(value, "dist", tuple(_JITTERS), (), "distribution")
    return value


Jitter = Annotated[
    UniformJitter | NormalJitter | AnyTimes | Table,
    Chosen("dist", _JITTERS),
    BeforeValidator(_jitter),
]


class Ticks(Strict):
    """An emulator that releases packets at the ticks of a clock."""

    hz: Annotated[int, Count(at_least=1, at_most=10**9)]
    rounding: Literal["nearest", "up"]
    """Nearest as NIST Net, up as netem on kernels without high-resolution timers."""


class Delay(Strict):
    """The one-way delay of the wire."""

    base: Span
    jitter: Jitter | None = None
    correlation: Share | None = None
    """Of one packet's jitter with the next one's."""
    reorder: bool = False
    """Whether a packet may overtake another because its jitter was smaller."""
    ticks: Ticks | None = None

    @model_validator(mode="after")
    def _possible(self) -> "Delay":
        if isinstance(self.jitter, UniformJitter) and self.jitter.half_width > self.base:
            message = f"half_width {self.jitter.half_width} exceeds the base of {self.base}"
            raise problem(
                Code.DELAY_IMPOSSIBLE, message, "a delay cannot be negative: write less", at="jitter"
            )
        if self.correlation is not None and self.jitter is None:
            raise problem(
                Code.KEY_OUT_OF_PLACE, "belongs to a jitter", "add jitter, or remove it", at="correlation"
            )
        if self.correlation is not None and self.correlation.share >= 1:
            raise problem(
                Code.DISTRIBUTION_INVALID,
                "with a correlation of 1 the value never changes",
                "write less than 100%",
                at="correlation",
            )
        if self.ticks is not None and self.jitter is not None:
            raise problem(
                Code.KEYS_CONFLICT,
                "a clock with ticks has no jitter",
                "write one of ticks and jitter",
                at="ticks",
            )
        return self


class DelayTrace(Strict):
    """The one-way delay from a CSV file with a header, or half of its round trip."""

    trace: FileName
    column: Column | None = None
    """Ends in _ns, _us, _ms or _s; the first such but the time if left out. Of rtt_ms half."""
    time: Column | None = None
    """Ends in _ns, _us, _ms or _s; the first such if left out."""
    interpolate: Literal["step", "linear"] = "step"
    at_end: Literal["hold", "loop", "end"] = "hold"
    """Hold the last value, begin again, or end the run."""
    source: Annotated[TracedHost | None, Field(alias="from")] = None
    to: TracedHost | None = None
    """Which link, of a file with several."""
    reorder: bool = False

    @model_validator(mode="after")
    def _both_ends(self) -> "DelayTrace":
        if (self.source is None) != (self.to is None):
            raise problem(Code.KEY_MISSING, "a link has two ends", "write both from and to, or neither")
        return self


def _delay(value: Any) -> Any:
    return value if isinstance(value, dict) else {"base": value}


def _kind(value: Any) -> str:
    return "by trace" if isinstance(value, dict) and "trace" in value else "by base"


DelayModel = Annotated[
    Delay | DelayTrace,
    Chosen(_kind, {"by base": Delay, "by trace": DelayTrace}),
    BeforeValidator(_delay),
    AlsoText(Span.pattern(), "38ms"),
]


class BlockReordering(Strict):
    """One packet, chosen at random, in every block takes another delay (NemC's ooo_rate, ooo_delay)."""

    every: Annotated[int, Count(at_least=1)]
    delay: Span


class ShareReordering(Strict):
    """Each packet by itself takes another delay."""

    share: Share
    delay: Span


class EarlyReordering(Strict):
    """Of every so many packets one may go without delay (netem's gap and reorder)."""

    gap: Annotated[int, Count(at_least=1)]
    early: Share


class InOrder(Strict):
    """No packet is reordered."""

    none: Literal["none"]


def _reordering(value: Any) -> Any:
    if value == "none":
        return {"none": "none"}
    if not isinstance(value, dict):
        raise problem(
            Code.WRONG_TYPE,
            "must be a mapping of keys to values",
            'write for example "{every: 100, delay: 5ms}", or "none"',
        )
    if len({"every", "share", "gap"} & value.keys()) > 1:
        raise problem(Code.KEYS_CONFLICT, "mixes several models", "write one of every, share and gap")
    return value


def _reordering_kind(value: Any) -> str:
    if "none" in value:
        return "none"
    if "share" in value:
        return "by share"
    return "by gap" if "gap" in value or "early" in value else "by block"


Reordering = Annotated[
    BlockReordering | ShareReordering | EarlyReordering | InOrder,
    Chosen(
        _reordering_kind,
        {
            "by block": BlockReordering,
            "by share": ShareReordering,
            "by gap": EarlyReordering,
            "none": InOrder,
        },
    ),
    BeforeValidator(_reordering),
    AlsoText("^none$", "none"),
]
