"""Links, profiles and link models."""

from typing import Annotated, Any

from pydantic import BeforeValidator, Field, field_validator

from longhaul.diagnostics import Code
from longhaul.scenario.model.base import Count, HostName, Name, problem
from longhaul.scenario.model.measured import Measured
from longhaul.scenario.model.routes import Effects, Framing, Routes
from longhaul.units.quantities import Size

DEFAULT_MTU = 1500


class LinkModel(Effects):
    """What a direction does to packets; all may be left out."""

    count: Framing | None = None
    """What the rate counts: IP bytes alone, or what Ethernet, VLAN or ATM put around them too."""
    routes: Routes | None = None


def _mtu(value: Any) -> int:
    if isinstance(value, bool | dict | list):
        raise problem(Code.WRONG_TYPE, "must be a number of bytes", 'write for example "1500"')
    mtu = value if isinstance(value, int) else Size.parse(value).bytes
    if not 576 <= mtu <= 9000:
        raise problem(
            Code.MTU_INVALID,
            f"must lie between 576 and 9000 bytes, not {str(mtu)[:20]}",
            "write for example 1500 or 9000",
        )
    return mtu


Mtu = Annotated[int, BeforeValidator(_mtu), Count(at_least=576, at_most=9000)]
"""Bytes of the largest packet."""


class Profile(LinkModel):
    """Models under a name, for links and attachments to share."""

    forward: LinkModel | None = None
    """What is different from the first endpoint to the second."""
    reverse: LinkModel | None = None
    """What is different from the second endpoint to the first."""
    measured: Measured | None = None
    """Delay and rate of both directions from a trace, where the models do not say otherwise."""
    mtu: Mtu | None = None


class Link(Profile):
    """A link between two nodes."""

    endpoints: Annotated[tuple[HostName, HostName], Field(strict=False, examples=[["par", "nyc"]])]
    """Forward is from the first to the second."""
    profile: Name | None = None

    @field_validator("endpoints", mode="before")
    @classmethod
    def _two(cls, value: Any) -> Any:
        if not isinstance(value, list) or len(value) != 2:
            raise problem(Code.WRONG_LENGTH, "must name two nodes", 'write for example "[par, nyc]"')
        return value
