"""Detailed measurements of links."""

from pydantic import field_validator

from longhaul.diagnostics import Code
from longhaul.scenario.model.base import Names, Strict, problem
from longhaul.units.quantities import Span


class Monitor(Strict):
    """Links of which bytes, packets, drops and queue are counted in short bins of time."""

    links: Names | None = None
    """The wide-area links if left out, at most eight; all links if there are none."""
    every: Span = Span(10**6)
    """How long a bin is."""
    flows: bool = False
    """Whether each flow is counted by itself, too."""

    @field_validator("every")
    @classmethod
    def _a_useful_bin(cls, value: Span) -> Span:
        if not 10**4 <= value.ns <= 10**10:
            raise problem(
                Code.OUT_OF_RANGE, f"{value} is not a useful bin", "write 10us to 10s, such as 500us"
            )
        return value
