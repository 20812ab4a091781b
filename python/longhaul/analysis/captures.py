"""Flows of a capture, and the gaps between their losses."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from longhaul.analysis.gaps import SECONDS, UNITS, Gaps, merged, step_note
from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError

Integers = NDArray[np.int64]

ALL = "all"
"""The name of all flows together."""


@dataclass(frozen=True, eq=False)
class Losses:
    """Transmissions that did not arrive, in the order in which they were sent; each field has one of each."""

    at_ns: Integers
    """When the packet passed the capture, or was missed there; since 1970."""
    flow_packets: Integers
    """Packets with data of the flow that were sent before it."""
    all_packets: Integers
    """The same of all flows at the interface."""
    position_bytes: Integers
    """Data of the flow before its own."""
    data_bytes: Integers
    transmission: Integers
    """1 the first time that the data were sent."""
    repaired_ns: Integers
    """When the data were retransmitted."""
    beyond: NDArray[np.bool_]
    """Lost behind the capture, where it had been seen; otherwise before, where it was only missed."""
    flow: Integers
    """Number of the flow, from 1."""


@dataclass(frozen=True, eq=False)
class Flow:
    """Data that one end of a connection sent to the other."""

    number: int
    """In the capture, from 1; 0 for all together."""
    interface: str
    sender: str
    """Address and port, as ``10.0.0.1:5201`` or ``[fd00::1]:5201``."""
    receiver: str
    first_ns: int
    last_ns: int
    packets: int
    """Seen, with data, as on the wire."""
    data_bytes: int
    retransmissions: int
    spurious: int
    """Retransmissions of what had arrived."""
    reordered: int
    reordering_extent: int
    copies: int
    unseen: int
    """Packets that the receiver has and the capture has not."""
    joined: int
    """Packets that an adapter cut later, or joined before."""
    astray: int
    forgotten: int
    acknowledgements: int
    rtt_min_s: float | None
    """From the capture to the receiver and back."""
    rtt_median_s: float | None
    rtt_max_s: float | None
    rtts: int
    sender_s: float | None
    """The shortest time from the capture to the sender and back."""
    receiver_s: float | None
    view: str
    """Where the capture was taken: sender, receiver, between or unknown."""
    losses: Losses

    @property
    def name(self) -> str:
        """As ``--flow`` takes it."""
        return f"{self.sender}-{self.receiver}" if self.number else ALL

    @property
    def packets_per_s(self) -> float | None:
        """Its mean rate, if it lasted."""
        seconds = (self.last_ns - self.first_ns) / 1e9
        return self.packets / seconds if seconds > 0 else None


@dataclass(frozen=True, eq=False)
class Capture:
    """What a file holds."""

    name: str
    begin_ns: int
    """Time of its first packet, since 1970."""
    packets: int
    flows: tuple[Flow, ...]
    notes: tuple[str, ...]
    """What was left out, and why."""


def within(capture: Capture, interface: str | None) -> Capture:
    """What was captured at one interface; everything if it is ``None``.

    Raises :class:`LonghaulError` if there is none of that name.
    """
    names = list(dict.fromkeys(flow.interface for flow in capture.flows))
    if interface is None:
        return capture
    if interface not in names:
        message = f'{capture.name} has no TCP data of interface "{interface}"'
        remedy = f"there are: {', '.join(names)}" if names else "leave out --interface"
        raise LonghaulError(Code.CAPTURE_UNUSABLE, message, remedy=remedy, exit_code=2)
    return replace(capture, flows=tuple(flow for flow in capture.flows if flow.interface == interface))


def chosen(capture: Capture, *, name: str | None = None, direction: str | None = None) -> Flow:
    """The flow called ``name``, the only one if there is no name, or :data:`ALL` together.

    A name is ``A:port-B:port``, data from A to B, or a flow's number. ``direction`` is ``forward``, or
    ``reverse`` for the data that the other end sent. Of a connection without a name, ``forward`` is the
    direction with more packets.

    Raises :class:`LonghaulError` if there is no such flow, or more than one.
    """
    if not capture.flows:
        remedy = "; ".join(capture.notes) or "capture at least the first 100 bytes of each packet"
        raise LonghaulError(
            Code.CAPTURE_UNUSABLE, f"{capture.name} has no TCP data", remedy=remedy, exit_code=2
        )
    if name == ALL:
        if direction is not None:
            raise LonghaulError(
                Code.OPTION_CONFLICT,
                "the flows have different directions",
                remedy="leave out --direction",
                exit_code=2,
            )
        return _together(capture)
    forward = _only(capture) if name is None else _named(capture, name)
    if direction != "reverse":
        return forward
    for flow in capture.flows:
        if (flow.interface, flow.sender, flow.receiver) == (
            forward.interface,
            forward.receiver,
            forward.sender,
        ):
            return flow
    message = f"{forward.receiver} sent no data to {forward.sender}"
    raise LonghaulError(Code.CAPTURE_UNUSABLE, message, remedy="leave out --direction", exit_code=2)


def _only(capture: Capture) -> Flow:
    connections = {(flow.interface, *sorted((flow.sender, flow.receiver))) for flow in capture.flows}
    if len(connections) > 1:
        message = f"{capture.name} has {len(connections)} connections with data"
        remedy = f"name one with --flow, by its number or by both ends; or all together: --flow {ALL}"
        raise LonghaulError(Code.CAPTURE_UNUSABLE, message, remedy=remedy, exit_code=2)
    return max(capture.flows, key=lambda flow: flow.packets)


def _named(capture: Capture, name: str) -> Flow:
    found = [flow for flow in capture.flows if name in (flow.name, str(flow.number))]
    if len(found) == 1:
        return found[0]
    if found:
        numbers = ", ".join(str(flow.number) for flow in found)
        message = f"{capture.name} has {len(found)} flows {name}"
        raise LonghaulError(
            Code.CAPTURE_UNUSABLE, message, remedy=f"name one by its number: {numbers}", exit_code=2
        )
    turned = "-".join(reversed(name.split("-")))
    if any(flow.name == turned for flow in capture.flows):
        message, remedy = f"no data went that way: {name}", f"write --flow {turned}"
        raise LonghaulError(Code.CAPTURE_UNUSABLE, message, remedy=remedy, exit_code=2)
    largest = max(capture.flows, key=lambda flow: flow.packets)
    message = f"{capture.name} has no flow {name}"
    raise LonghaulError(
        Code.CAPTURE_UNUSABLE, message, remedy=f"there is {largest.name}, for example", exit_code=2
    )


def _together(capture: Capture) -> Flow:
    if len({flow.interface for flow in capture.flows}) > 1:
        message = f"{capture.name} has several interfaces, at which the same packets may have passed"
        raise LonghaulError(
            Code.CAPTURE_UNUSABLE, message, remedy="name one of them with --interface", exit_code=2
        )
    flows = capture.flows
    parts = [flow.losses for flow in flows]
    order = np.argsort(np.concatenate([part.all_packets for part in parts]), kind="stable")

    def joined(field: str) -> NDArray[np.int64]:
        column: NDArray[np.int64] = np.concatenate([getattr(part, field) for part in parts])[order]
        return column

    losses = Losses(
        **{field: joined(field) for field in Losses.__dataclass_fields__ if field != "beyond"},
        beyond=joined("beyond").astype(np.bool_),
    )
    counted = (
        "packets",
        "data_bytes",
        "retransmissions",
        "spurious",
        "reordered",
        "copies",
        "unseen",
        "joined",
        "astray",
        "forgotten",
        "acknowledgements",
        "rtts",
    )
    largest = max(flows, key=lambda flow: flow.packets)
    return replace(
        largest,
        number=0,
        first_ns=min(flow.first_ns for flow in flows),
        last_ns=max(flow.last_ns for flow in flows),
        reordering_extent=max(flow.reordering_extent for flow in flows),
        losses=losses,
        **{field: sum(getattr(flow, field) for flow in flows) for field in counted},
    )


def loss_gaps(
    capture: Capture, flow: Flow, *, unit: str = "s", merge: float | None = None, merge_rtt: bool = False
) -> Gaps:
    """The gaps between losses of ``flow``, in a unit of time or in packets.

    Losses within ``merge`` (in ``unit``) of the first of them, or within the shortest round trip, are one
    event; so are losses of one instant. What lies before the first and behind the last is left out.

    Raises :class:`LonghaulError` if there are too few losses for a gap, or no round trip is known.
    """
    if unit not in UNITS:
        raise LonghaulError(
            Code.ARGUMENT_INVALID, f'"{unit}" is not a unit of gaps', remedy="write s or packets", exit_code=2
        )
    losses = flow.losses
    seconds = (losses.at_ns - capture.begin_ns) / 1e9
    packets = (losses.all_packets if flow.number == 0 else losses.flow_packets).astype(np.float64)
    if len(seconds) < 2:
        message = f"{flow.name} has {len(seconds)} losses in {flow.packets} packets: no gap"
        raise LonghaulError(
            Code.SAMPLE_UNUSABLE, message, remedy="fit a longer capture, or --flow all", exit_code=2
        )
    if merge_rtt:
        starts = np.unique(np.searchsorted(seconds, merged(np.sort(seconds), round_trip_s(flow))))
        seconds, packets = seconds[starts], packets[starts]
    values = packets if unit == "packets" else np.sort(seconds) / SECONDS[unit]
    events = merged(values, merge or 0.0)
    gaps = np.diff(events)
    if not len(gaps):
        message = f"the {len(values)} losses of {flow.name} are one event"
        raise LonghaulError(Code.SAMPLE_UNUSABLE, message, remedy="merge within a shorter span", exit_code=2)
    notes = [*knowledge(flow), *step_note(gaps)]
    if len(events) < len(losses.at_ns):
        notes.insert(0, f"{len(losses.at_ns):,} losses are {len(events):,} events")
    return Gaps(gaps, unit, f"{capture.name}, {flow.name}", tuple(notes))


def round_trip_s(flow: Flow) -> float:
    """The shortest round trip between the ends. Raises :class:`LonghaulError` if it is not known."""
    if flow.receiver_s is None:
        message = f"{flow.name} shows no round trip"
        raise LonghaulError(
            Code.CAPTURE_UNUSABLE, message, remedy="write how long it is: --merge 0.065", exit_code=2
        )
    return (flow.sender_s or 0.0) + flow.receiver_s


def knowledge(flow: Flow) -> tuple[str, ...]:
    """What this capture can and cannot know of the losses of ``flow``."""
    notes = []
    before = int((~flow.losses.beyond).sum())
    if before and flow.view == "receiver":
        notes.append(
            "captured at the receiver: a loss is known by its hole, at the time of the packet behind it;"
            " repetitions that were lost, and losses that no packet followed, are not seen"
        )
    elif before:
        notes.append(
            f"{before:,} of {len(flow.losses.beyond):,} were lost before they came to the capture: their"
            " times are those of the packets behind them"
        )
    if not flow.acknowledgements:
        notes.append("there are no acknowledgements: needless retransmissions count as losses")
    if flow.unseen:
        notes.append(
            f"{flow.unseen:,} packets arrived that the capture missed; it may have missed losses, too"
        )
    if flow.joined:
        notes.append(
            f"{flow.joined:,} packets are larger than the wire's: numbers of packets are counted as if they"
            " were full"
        )
    if flow.forgotten:
        notes.append(f"{flow.forgotten:,} packets were given up: too many were not acknowledged")
    return tuple(notes)
