"""The schema of request files."""

from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from longhaul.diagnostics import Code
from longhaul.scenario.model.base import Name, Strict, problem
from longhaul.units.quantities import Rate, Size, Span


class PointEntry(Strict):
    """What an access point takes from its site into the network, and gives to it."""

    into: Rate = Field(alias="in")
    out: Rate


class RequestEntry(Strict):
    """A volume to be moved."""

    source: Name = Field(alias="from")
    destination: Name = Field(alias="to")
    volume: Size
    release: Span = Span(0)
    deadline: Span | None = None
    max_rate: Rate | None = None

    @model_validator(mode="after")
    def _window(self) -> Self:
        if self.volume.bytes == 0:
            raise problem(Code.ZERO_VALUE, "moves nothing", "write a byte or more", at="volume")
        if self.deadline is not None and self.deadline <= self.release:
            message = f"is not after the release at {self.release}"
            raise problem(
                Code.STOP_BEFORE_START,
                message,
                "deadlines are times from the start of the plan, not spans",
                at="deadline",
            )
        return self


def _each_way(value: Any) -> Any:
    return value if isinstance(value, dict) or value is None else {"in": value, "out": value}


class RequestDocument(Strict):
    """The file."""

    version: Literal[1]
    points: dict[Name, Annotated[PointEntry, BeforeValidator(_each_way)]] = Field(default_factory=dict)
    requests: dict[Name, RequestEntry] = Field(min_length=1)
