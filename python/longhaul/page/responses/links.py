"""Responses about the links of a live run."""

from typing_extensions import TypedDict

from longhaul.page.responses.runs import WayName


class ImpairmentRow(TypedDict):
    """A preset that was applied to a link and has not been undone; ``way`` is ``None`` for both."""

    id: str
    link: str
    way: WayName | None
    preset: str
    title: str
    flapping: bool


class ImpairmentPreset(TypedDict):
    """A kind of impairment that can be applied to a link."""

    name: str
    title: str
    description: str


class LinkDirection(TypedDict):
    """The model of a direction now: its numbers, and ``models`` as ``longhaul set`` takes them.

    ``bits_per_s`` is ``None`` for an unlimited rate, ``loss`` where time decides. ``described`` are models
    that were read from files, in words.
    """

    delay_ns: int
    bits_per_s: int | None
    loss: float | None
    up: bool
    models: dict[str, str]
    described: dict[str, str]


class LinkNow(TypedDict):
    """A link of a live run as it is configured now."""

    link: str
    forward: LinkDirection
    reverse: LinkDirection
    impairment: ImpairmentRow | None
    presets: list[ImpairmentPreset]
