"""The scenarios of draft-irtf-iccrg-tcpeval-01, with long transfers in place of recorded traffic.

Rates above ``most_bits_per_s`` are scaled down to it; delays, and queues as time at the rate, stay as they
are in the draft. Every transfer has hosts of its own, so that the links to them count what it got.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from longhaul.benchmark.cc.case import Camp, Case, Cross, Flow, document
from longhaul.benchmark.cc.measures import measure
from longhaul.benchmark.suite import Json, Measured, Scenario, Size

LEFT_MS = (0.0, 12.0, 25.0)
RIGHT_MS = (2.0, 37.0, 75.0)
"""One-way delays of the edge links (section 4.1): round trips of 4 to 200 ms beside the central link."""

M = 1_000_000
G = 1_000_000_000


@dataclass(frozen=True, kw_only=True)
class ControlCase(Case):
    """A case whose subject is the congestion control of the tested flows."""

    def document(self, *, subject: str, standard: str | None, seed: int) -> Json:
        """The scenario file of one run."""
        return document(self, control=subject, standard=standard, seed=seed)

    def measure(self, directory: Path, summary: Mapping[str, Any], *, stopped: float) -> Measured:
        """The measures of a run."""
        return measure(self, directory, summary, stopped=stopped)


def _scaled(bits_per_s: int, size: Size, most: int | None = None) -> tuple[int, float]:
    limits = [each for each in (size.most_bits_per_s, most if size.most_bits_per_s else None) if each]
    rate = min([bits_per_s, *limits])
    return rate, rate / bits_per_s


def _link(rate: int, **settings: Any) -> dict[str, Json]:
    """One congested link."""
    return {"central": {"endpoints": ["r1", "r2"], "rate": f"{rate}bit", **settings}}


def _basic(
    name: str,
    *,
    bits_per_s: int,
    delay_ms: float,
    queue_ms: float,
    seconds: float,
    left_ms: Sequence[float] = LEFT_MS,
    right_ms: Sequence[float] = RIGHT_MS,
    central: Json | None = None,
    pairs: Sequence[tuple[float, float]] | None = None,
    every_ms: int = 20,
    label: str = "",
) -> Callable[[Size], list[ControlCase]]:
    def cases(size: Size) -> list[ControlCase]:
        rate, scale = _scaled(bits_per_s, size)
        inner = {"delay": f"{delay_ms}ms", "queue": f"{queue_ms:g}ms", **(central or {})}
        if central and "reverse" in central:
            inner["reverse"] = {**central["reverse"], "rate": f"{rate // 10}bit"}
        to_s = seconds * size.stretch
        flows = [
            Flow(f"t{number}", one, other, spread_s=0.1 * to_s)
            for number, (one, other) in enumerate(
                pairs or [(one, other) for one in left_ms for other in right_ms], start=1
            )
        ]
        rtt_ms = 2 * (delay_ms + max(left_ms) + max(right_ms))
        return [
            ControlCase(
                scenario=name,
                label=label,
                kind="basic",
                central=_link(rate, **inner),
                flows=tuple(flows),
                bits_per_s=rate,
                scale=scale,
                from_s=0.25 * to_s,
                to_s=to_s,
                rtt_s=rtt_ms / 1000,
                every_ms=every_ms,
            )
        ]

    return cases


def _tradeoff(size: Size) -> list[ControlCase]:
    """Section 5.1: the access link with queues of 10 to 200 % of the BDP at 100 ms."""
    shares = (10, 20, 50, 100, 200) if size.every_case else (10, 50, 200)
    found: list[ControlCase] = []
    for share in shares:
        make = _basic(
            "trade-off",
            bits_per_s=100 * M,
            delay_ms=2,
            queue_ms=share,
            seconds=10,
            label=f"queue {share} %",
        )
        found += make(size)
    return found


_PAIRS_MS = {
    "80 and 80 ms": (0, 0, 38, 38),
    "120 and 30 ms": (23, 12, 35, 1),
    "30 and 120 ms": (12, 23, 1, 35),
}
"""Table 8 of the draft: edge delays of both senders and both receivers; the second flow joins the first."""


def _ramp_up(size: Size) -> list[ControlCase]:
    """Section 5.2, without background, and with slow start, which no kernel can leave out."""
    found = []
    for draft in (10 * M, G) if size.every_case else (10 * M,):
        for label, (one, two, three, four) in _PAIRS_MS.items():
            if not size.every_case and label != "80 and 80 ms":
                continue
            rate, scale = _scaled(draft, size)
            joins_s, to_s = 6 * size.stretch, 28 * size.stretch
            found.append(
                ControlCase(
                    scenario="ramp-up",
                    label=label if draft == 10 * M else f"{label}, fast",
                    kind="ramp-up",
                    central=_link(rate, delay="2ms", queue="80ms"),
                    flows=(
                        Flow("first", one, three),
                        Flow("second", two, four, start_s=joins_s, spread_s=1),
                    ),
                    bits_per_s=rate,
                    scale=scale,
                    from_s=joins_s,
                    to_s=to_s,
                    rtt_s=max(4 + 2 * (one + three), 4 + 2 * (two + four)) / 1000,
                    event_s=joins_s,
                )
            )
    return found


TRANSIENT = 20 * M
"""The fastest link of transients at a live machine's scale: at more, Reno would not fill it in 14 s."""


def _transient(kind: str) -> Callable[[Size], list[ControlCase]]:
    def cases(size: Size) -> list[ControlCase]:
        """Section 5.3: three quarters of the link are taken, or become free, at once."""
        rate, scale = _scaled(100 * M, size, TRANSIENT)
        packets = max(round(1024 * scale), 16)
        at_s, to_s = 6 * size.stretch, 20 * size.stretch
        # The draft's 75 Mbit/s of 100: with headers, so that they are three quarters of what is on the wire.
        bits = round(0.75 * rate * 1472 / 1500)
        if kind == "release":
            cross = Cross("cross", 0, 25, bits, 0.0, at_s)
        else:
            cross = Cross("cross", 0, 25, bits, at_s)
        return [
            ControlCase(
                scenario=kind,
                label="",
                kind="release" if kind == "release" else "arrival",
                central=_link(rate, delay="25ms", queue=f"{packets}p"),
                flows=(Flow("transfer", 0, 25, spread_s=1),),
                cross=(cross,),
                bits_per_s=rate,
                scale=scale,
                from_s=at_s,
                to_s=to_s,
                rtt_s=0.1,
                event_s=at_s,
            )
        ]

    return cases


def _impact(size: Size) -> list[ControlCase]:
    """Section 6.1: each flow of the standard camp has a twin under test."""
    found = []
    for draft in (10 * M, G) if size.every_case else (10 * M,):
        rate, scale = _scaled(draft, size)
        to_s = 22 * size.stretch
        flows = [
            Flow(f"{camp}-{number}", near_ms, RIGHT_MS[1], camp, spread_s=0.1 * to_s)
            for number, near_ms in enumerate(LEFT_MS, start=1)
            for camp in CAMPS
        ]
        found.append(
            ControlCase(
                scenario="impact",
                label="" if draft == 10 * M else "fast",
                kind="impact",
                central=_link(rate, delay="2ms", queue="100ms"),
                flows=tuple(flows),
                bits_per_s=rate,
                scale=scale,
                from_s=0.25 * to_s,
                to_s=to_s,
                rtt_s=0.128,
                standards=("reno", "cubic"),
            )
        )
    return found


def _fairness(
    first_ms: int, others: Sequence[int], few: Sequence[int]
) -> Callable[[Size], list[ControlCase]]:
    def cases(size: Size) -> list[ControlCase]:
        found = []
        queues = (25, 50, 100, 200) if size.every_case else (100,)
        for second_ms in others if size.every_case else few:
            one_ms = first_ms or second_ms
            for queue_ms in queues:
                rate, scale = _scaled(10 * M, size)
                to_s = 24 * size.stretch
                label = f"{one_ms} and {second_ms} ms"
                found.append(
                    ControlCase(
                        scenario="rtt-fairness" if first_ms else "fairness",
                        label=label + (f", queue {queue_ms} %" if len(queues) > 1 else ""),
                        kind="fairness",
                        central=_link(rate, delay="2ms", queue=f"{queue_ms}ms"),
                        flows=(
                            Flow("first", 0, one_ms / 2 - 2, spread_s=0.1 * to_s),
                            Flow("second", 0, second_ms / 2 - 2, spread_s=0.1 * to_s),
                        ),
                        bits_per_s=rate,
                        scale=scale,
                        from_s=0.25 * to_s,
                        to_s=to_s,
                        rtt_s=one_ms / 1000,
                    )
                )
        return found

    return cases


def _bottlenecks(size: Size) -> list[ControlCase]:
    """Section 6.3: a flow across three congested links, against one across each; all of 60 ms."""
    rate, scale = _scaled(100 * M, size, TRANSIENT)
    inner = {
        name: {"endpoints": [one, other], "delay": "10ms", "rate": f"{rate}bit", "queue": "60ms"}
        for name, one, other in (("a", "r1", "r2"), ("b", "r2", "r3"), ("c", "r3", "r4"))
    }
    to_s = 20 * size.stretch
    routers = {"long": ("r1", "r4"), "a": ("r1", "r2"), "b": ("r2", "r3"), "c": ("r3", "r4")}
    edge_ms = {"long": 0, "a": 10, "b": 10, "c": 10}
    return [
        ControlCase(
            scenario="bottlenecks",
            label="",
            kind="bottlenecks",
            central=inner,
            flows=tuple(
                Flow(name, edge_ms[name], edge_ms[name], spread_s=0.1 * to_s, enters=enters, leaves=leaves)
                for name, (enters, leaves) in routers.items()
            ),
            bits_per_s=rate,
            scale=scale,
            from_s=0.25 * to_s,
            to_s=to_s,
            rtt_s=0.06,
        )
    ]


DIAL_UP_PAIRS = tuple(zip(LEFT_MS, RIGHT_MS, strict=True))
CAMPS: tuple[Camp, Camp] = ("standard", "tested")

SCENARIOS: tuple[Scenario, ...] = (
    Scenario(
        "access",
        "Access link",
        "100 Mbit/s, 2 ms, queue 100 ms; nine transfers, round trips of 8 to 204 ms",
        "4.4.2",
        _basic("access", bits_per_s=100 * M, delay_ms=2, queue_ms=100, seconds=14),
    ),
    Scenario(
        "data-centre",
        "Data centre",
        "1 Gbit/s, no delay, queue 10 ms; nine transfers, round trips of 40 to 400 us",
        "4.4.1",
        _basic(
            "data-centre",
            bits_per_s=G,
            delay_ms=0,
            queue_ms=10,
            seconds=5,
            left_ms=(0.01, 0.01, 0.1),
            right_ms=(0.01, 0.1, 0.1),
            every_ms=5,
        ),
    ),
    Scenario(
        "trans-oceanic",
        "Trans-oceanic link",
        "1 Gbit/s, 65 ms, queue 100 ms; nine transfers, round trips of 134 to 330 ms",
        "4.4.3",
        _basic("trans-oceanic", bits_per_s=G, delay_ms=65, queue_ms=100, seconds=18),
    ),
    Scenario(
        "satellite",
        "Geostationary satellite",
        "40 Mbit/s down, 4 up, 300 ms, queues 100 ms and 1 s; nine transfers, 604 to 800 ms",
        "4.4.4",
        _basic(
            "satellite",
            bits_per_s=40 * M,
            delay_ms=300,
            queue_ms=100,
            seconds=24,
            central={"reverse": {"queue": "1s"}},
        ),
    ),
    Scenario(
        "wireless",
        "Wireless access",
        "6 Mbit/s, 2 ms, queue 100 ms, 0.5 % lost on the air; nine transfers, round trips of 8 to 204 ms",
        "4.4.5",
        _basic(
            "wireless",
            bits_per_s=6 * M,
            delay_ms=2,
            queue_ms=100,
            seconds=14,
            central={"forward": {"loss": "0.5%"}},
        ),
    ),
    Scenario(
        "dial-up",
        "Dial-up",
        "64 kbit/s, 5 ms, queue 1250 ms; three transfers",
        "4.4.6",
        _basic(
            "dial-up",
            bits_per_s=64_000,
            delay_ms=5,
            queue_ms=1250,
            seconds=24,
            pairs=DIAL_UP_PAIRS,
            every_ms=50,
        ),
    ),
    Scenario(
        "trade-off",
        "Delay against throughput",
        "the access link with queues from 10 to 200 ms",
        "5.1",
        _tradeoff,
    ),
    Scenario(
        "ramp-up",
        "A second transfer joins",
        "10 Mbit/s, queue 80 ms: how soon the first makes room",
        "5.2",
        _ramp_up,
    ),
    Scenario(
        "release",
        "Bandwidth becomes free",
        "datagrams that took three quarters of the link end; round trip 100 ms",
        "5.3",
        _transient("release"),
    ),
    Scenario(
        "arrival",
        "Bandwidth is taken",
        "datagrams come that take three quarters of the link; round trip 100 ms",
        "5.3",
        _transient("arrival"),
    ),
    Scenario(
        "impact",
        "Impact on standard TCP",
        "three transfers under test beside three of Reno, and of CUBIC; 10 Mbit/s",
        "6.1",
        _impact,
    ),
    Scenario(
        "fairness",
        "Two transfers alike",
        "equal round trips; 10 Mbit/s, queue 100 ms",
        "6.2.2.1",
        _fairness(0, (10, 20, 40, 80, 160), (40,)),
    ),
    Scenario(
        "rtt-fairness",
        "Unequal round trips",
        "160 ms against a shorter one; 10 Mbit/s, queue 100 ms",
        "6.2.2.2",
        _fairness(160, (10, 20, 40, 80), (40,)),
    ),
    Scenario(
        "bottlenecks",
        "Three bottlenecks in a row",
        "one transfer across three links, one across each; round trips of 60 ms",
        "6.3",
        _bottlenecks,
    ),
)
