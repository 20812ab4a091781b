"""Responses about captures of links that were begun from the page."""

from typing_extensions import TypedDict


class CaptureNow(TypedDict):
    """A link whose packets are captured, at ``nodes``; ``new`` says that it was not captured before."""

    link: str
    nodes: list[str]
    snaplen_bytes: int
    new: bool


class CapturedPacketRow(TypedDict):
    """A packet that passed one end of a link; ``leaves``: off the link, and otherwise onto it."""

    number: int
    t_ns: int
    leaves: bool
    source: str
    destination: str
    protocol: str
    info: str
    bytes: int


class CapturedPackets(TypedDict):
    """The packets at one end with higher numbers than was asked; of many, the latest.

    ``count`` is the number of all so far, ``ended`` whether no more will come.
    """

    packets: list[CapturedPacketRow]
    count: int
    ended: bool


class PacketDetails(TypedDict):
    """One packet: its bytes in hexadecimal digits, and how ``tshark`` explains it, if that is installed."""

    number: int
    content: str
    explained: str | None
