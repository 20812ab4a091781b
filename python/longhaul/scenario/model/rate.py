"""Rate models."""

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, model_validator

from longhaul.diagnostics import Code
from longhaul.scenario.model.base import AlsoText, Column, FileName, Strict, TracedHost, problem
from longhaul.scenario.model.chosen import Chosen
from longhaul.units.quantities import Rate, Size


class ConstantRate(Strict):
    """Exactly this fast."""

    rate: Rate


class PacedRate(Strict):
    """Packets go at the line's rate, spaced by the byte clock of a slower one."""

    paced: Rate
    line_rate: Rate

    @model_validator(mode="after")
    def _slower(self) -> "PacedRate":
        if self.line_rate < self.paced:
            message = f"{self.line_rate} is slower than the paced rate of {self.paced}"
            raise problem(Code.RATE_MODEL_INVALID, message, "write the line's own rate", at="line_rate")
        return self


class TokenBucket(Strict):
    """A bucket of tokens that fills at a rate; a packet goes when there are tokens for all of it."""

    bucket: Rate
    burst: Size
    peak: Rate | None = None
    """How fast packets leave that have their tokens; at once if left out."""

    @model_validator(mode="after")
    def _possible(self) -> "TokenBucket":
        if not self.burst.bytes:
            raise problem(
                Code.ZERO_VALUE, "an empty bucket sends nothing", "write a packet or more", at="burst"
            )
        if self.peak is not None and self.peak < self.bucket:
            message = f"{self.peak} is slower than the bucket's {self.bucket}"
            raise problem(Code.RATE_MODEL_INVALID, message, "write a faster one, or remove it", at="peak")
        return self


class RateTrace(Strict):
    """The rate from a CSV file with a header, in steps."""

    trace: FileName
    column: Column | None = None
    """Ends in _bit, _kbit, _mbit or _gbit; the first such if left out."""
    time: Column | None = None
    """Ends in _ns, _us, _ms or _s; the first such if left out."""
    at_end: Literal["hold", "loop", "end"] = "hold"
    """Hold the last value, begin again, or end the run."""
    source: Annotated[TracedHost | None, Field(alias="from")] = None
    to: TracedHost | None = None
    """Which link, of a file with several."""

    @model_validator(mode="after")
    def _both_ends(self) -> "RateTrace":
        if (self.source is None) != (self.to is None):
            raise problem(Code.KEY_MISSING, "a link has two ends", "write both from and to, or neither")
        return self


class Opportunities(Strict):
    """Times at which some bytes may go: mahimahi's packet-delivery traces, one time in ms a line."""

    opportunities: FileName
    bytes: Size = Size(1500)

    @model_validator(mode="after")
    def _something(self) -> "Opportunities":
        if not self.bytes.bytes:
            raise problem(Code.ZERO_VALUE, "carries nothing", "write for example 1500B", at="bytes")
        return self


_KINDS = {"paced": "by pace", "bucket": "by tokens", "trace": "by trace", "opportunities": "by opportunity"}


def _rate(value: Any) -> Any:
    if not isinstance(value, dict):
        return {"rate": value}
    named = [key for key in _KINDS if key in value]
    if len(named) != 1:
        what = "mixes several models" if named else "names no model of rates"
        raise problem(
            Code.KEYS_CONFLICT if named else Code.KEY_MISSING,
            what,
            'write "1Gbit", or one of paced, bucket, trace and opportunities',
        )
    return value


def _kind(value: Any) -> str:
    return next((kind for key, kind in _KINDS.items() if key in value), "by number")


RateModel = Annotated[
    ConstantRate | PacedRate | TokenBucket | RateTrace | Opportunities,
    Chosen(
        _kind,
        {
            "by number": ConstantRate,
            "by pace": PacedRate,
            "by tokens": TokenBucket,
            "by trace": RateTrace,
            "by opportunity": Opportunities,
        },
    ),
    BeforeValidator(_rate),
    AlsoText(Rate.pattern(), "1Gbit"),
]
