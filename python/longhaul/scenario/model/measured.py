"""Measured delay and rate of a link."""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from longhaul.diagnostics import Code
from longhaul.scenario.model.base import FileName, Strict, TracedHost, problem


class Measured(Strict):
    """Delay and rate of both directions, from a built-in set or a file with several links."""

    set: Literal["longcut"] | None = None
    trace: FileName | None = None
    kind: Literal["nws", "eventspace", "constant", "collective"] | None = None
    """Of a set, which measurement; of a file only constant: its means in place of its values."""
    source: Annotated[TracedHost | None, Field(alias="from")] = None
    """The host that the first endpoint stands for; the endpoint's own name if left out."""
    to: TracedHost | None = None
    """The host that the second endpoint stands for."""
    interpolate: Literal["step", "linear"] = "step"
    """Of the delay."""
    at_end: Literal["hold", "loop", "end"] = "loop"
    """Hold the last value, begin again, or end the run."""

    @model_validator(mode="after")
    def _one_of_both(self) -> "Measured":
        if (self.set is None) == (self.trace is None):
            what = "names no trace" if self.set is None else "names two traces"
            code = Code.KEY_MISSING if self.set is None else Code.KEYS_CONFLICT
            raise problem(code, what, "write one of set: longcut and trace: FILE")
        if self.set is not None and self.kind is None:
            remedy = "write kind: nws, eventspace, constant or collective"
            raise problem(Code.KEY_MISSING, "does not say which measurement of the set", remedy, at="set")
        if self.trace is not None and self.kind not in (None, "constant"):
            message = f'a file has no kind "{self.kind}"'
            raise problem(
                Code.KEY_OUT_OF_PLACE,
                message,
                "write kind: constant for its means, or leave it out",
                at="kind",
            )
        return self

    @property
    def file(self) -> str:
        """The trace with all links."""
        return self.trace or f"{self.set}:{self.kind}"
