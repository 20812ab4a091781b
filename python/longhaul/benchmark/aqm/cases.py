"""The scenarios of RFC 7928, sections 5 to 9."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from pathlib import Path
from typing import Any

from longhaul.benchmark.aqm.case import Change, QueueCase, Source, document
from longhaul.benchmark.aqm.measures import measure
from longhaul.benchmark.suite import Json, Measured, Scenario, Size

M = 1_000_000
RATE = 10 * M
"""Of the congested link; the RFC leaves it to the tester."""
RTT_MS = 100.0
FLOW_PACKETS = 40
"""Of a short transfer: more than 10 and fewer than 100 (section 5.1.2)."""
SEGMENT_BYTES = 1448
PHASE_S = 20.0
"""Of varying load and capacity (sections 8.2.5 and 8.2.6)."""
LOSS_RATES = {"mild": 0.001, "medium": 0.005, "heavy": 0.01}
"""Projected loss rates of the levels of congestion (sections 8.2.2 to 8.2.4)."""
RTTS_MS = (5, 20, 50, 100, 200, 400, 560)
FEW_RTTS_MS = (20, 200)


@dataclass(frozen=True, kw_only=True)
class DisciplineCase(QueueCase):
    """A case whose subject is the discipline of the congested queue."""

    def document(self, *, subject: str, standard: str | None, seed: int) -> Json:  # noqa: ARG002
        """The scenario file of one run."""
        return document(self, discipline=subject, seed=seed)

    def measure(self, directory: Path, summary: Mapping[str, Any], *, stopped: float) -> Measured:
        """The measures of a run."""
        return measure(self, directory, summary, stopped=stopped)


def flows_for(loss: float, window_packets: float) -> int:
    """How many bulk flows bring about a loss rate with tail drop.

    Section 8.2.1, after equation 3 of Morris 2000: loss = 0.76 N^2 / S^2, with S = ``window_packets``, the
    bandwidth-delay product and the buffer together.
    """
    return max(1, round(window_packets * sqrt(loss / 0.76)))


def _case(
    scenario: str,
    kind: str,
    sources: Sequence[Source],
    size: Size,
    *,
    label: str = "",
    from_s: float = 8.0,
    to_s: float = 20.0,
    **others: Any,
) -> DisciplineCase:
    return DisciplineCase(
        scenario=scenario,
        label=label,
        kind=kind,
        sources=tuple(sources),
        bits_per_s=others.pop("bits_per_s", RATE),
        scale=1.0,
        from_s=from_s * size.stretch,
        to_s=to_s * size.stretch,
        rtt_s=max(each.rtt_ms for each in sources) / 1000,
        every_ms=100,
        **others,
    )


def _bulk(count: int = 1, *, name: str = "tcp", cc: str = "reno", **others: Any) -> Source:
    others.setdefault("spread_s", 1.0)
    return Source(name, ({"kind": "tcp", "cc": cc},) * count, **others)


def _udp(name: str, bits_per_s: int, size_bytes: int = SEGMENT_BYTES, **others: Any) -> Source:
    return Source(name, ({"kind": "udp", "rate": f"{bits_per_s}bit", "size": f"{size_bytes}B"},), **others)


def _web(pages: int = 1) -> Source:
    """Six connections of a page at a time fetch objects of 1 kB and more (section 7.2)."""
    each = {
        "kind": "requests",
        "gap": {"dist": "exponential", "mean": "600ms"},
        "size": {"dist": "pareto", "shape": 1.5, "mean": "6kB"},
        "cc": "reno",
    }
    return Source("web", (each,) * (6 * pages))


def _video() -> Source:
    """25 frames/s of 10 kB, each sent at 80 Mbit/s."""
    each = {"kind": "udp", "rate": "80Mbit", "size": "1250B", "on": "1ms", "off": "39ms"}
    return Source("video", (each,))


CBR = _udp("cbr", M, 1000)
"""1 Mbit/s."""
VOIP = Source("voip", ({"kind": "udp", "rate": "68800bit", "size": "172B"},))
"""G.711: 160 bytes of voice and 12 of RTP every 20 ms."""


def _friendly(size: Size) -> list[DisciplineCase]:
    return [_case("tcp-friendly", "single", [_bulk()], size, initial_window=3, to_s=24)]


def _initial_window(size: Size) -> list[DisciplineCase]:
    short = {
        "kind": "requests",
        "gap": "500ms",
        "size": f"{FLOW_PACKETS * SEGMENT_BYTES}B",
        "cc": "reno",
    }
    return [
        _case(
            "initial-window",
            "short",
            [_bulk(name="long"), Source("short", (short,), start_s=6 * size.stretch)],
            size,
            label=f"{window} packets",
            initial_window=window,
        )
        for window in (3, 10)
    ]


def _aggressive(size: Size) -> list[DisciplineCase]:
    return [_case("aggressive", "single", [_bulk(cc="cubic")], size, to_s=24)]


def _unresponsive(size: Size) -> list[DisciplineCase]:
    beside = [_bulk(), _udp("udp", 7 * M)]
    return [
        _case("unresponsive", "overload", [_udp("udp", 12 * M)], size, label="alone", from_s=3, to_s=10),
        _case("unresponsive", "beside-udp", beside, size, label="beside TCP"),
    ]


def _background(size: Size) -> list[DisciplineCase]:
    return [_case("background", "background", [_bulk(), _bulk(name="background", cc="vegas")], size)]


def _rtt_fairness(size: Size) -> list[DisciplineCase]:
    return [
        _case(
            "rtt-fairness",
            "rtt",
            [_bulk(name="one"), _bulk(name="two", rtt_ms=float(rtt_ms))],
            size,
            label=f"{rtt_ms} ms",
            to_s=28,
        )
        for rtt_ms in (RTTS_MS if size.every_case else FEW_RTTS_MS)
    ]


def _bursts(size: Size) -> list[DisciplineCase]:
    cases = {
        "I": [_web(), CBR],
        "II": [_web(), CBR, _bulk()],
        "III": [_video(), _web(), CBR],
        "IV": [_video(), _web(), CBR, _bulk()],
    }
    return [
        _case("bursts", "frames" if "III" in label or label == "IV" else "bursts", sources, size, label=label)
        for label, sources in cases.items()
        if size.every_case or label in ("II", "IV")
    ]


def window_packets(bits_per_s: int = RATE, rtt_ms: float = RTT_MS) -> float:
    """S of section 8.2.1: the bandwidth-delay product, and a buffer of the same size, in full packets."""
    return 2 * bits_per_s * rtt_ms / 1000 / 8 / 1500


def _congestion(size: Size) -> list[DisciplineCase]:
    return [
        _case("congestion", "load", [_bulk(flows_for(loss, window_packets()))], size, label=level)
        for level, loss in LOSS_RATES.items()
    ]


def _varying_load(size: Size) -> list[DisciplineCase]:
    phase_s = PHASE_S * size.stretch
    counts = [flows_for(loss, window_packets()) for loss in LOSS_RATES.values()]
    added = [counts[0], counts[1] - counts[0], counts[2] - counts[1]]
    sources = [
        _bulk(count, name=f"tcp{number + 1}", start_s=number * phase_s) for number, count in enumerate(added)
    ]
    return [_case("varying-load", "varying", sources, size, from_s=5, to_s=3 * PHASE_S, event_s=phase_s)]


def _varying_capacity(size: Size) -> list[DisciplineCase]:
    found = []
    for label, phase_s, to_s in (("slow", PHASE_S, 3 * PHASE_S), ("fast", 0.1, 12.0)):
        if label == "fast" and not size.every_case:
            continue
        times = [phase_s * number for number in range(1, round(to_s / phase_s))]
        found.append(
            _case(
                "varying-capacity",
                "varying",
                [_bulk()],
                size,
                label=label,
                bits_per_s=100 * M,
                changes=tuple(
                    Change(time, 10 * M if number % 2 == 0 else 100 * M) for number, time in enumerate(times)
                ),
                from_s=2,
                to_s=to_s,
                event_s=phase_s,
            )
        )
    return found


def _mix(size: Size) -> list[DisciplineCase]:
    back = Source("voip-back", VOIP.entries, back=True)
    chunks = Source("chunks", ({"kind": "requests", "gap": "2s", "size": "500kB", "cc": "reno"},))
    return [_case("mix", "mix", [VOIP, back, _web(6), CBR, chunks, _bulk(5)], size, to_s=24)]


def _both_ways(size: Size) -> list[DisciplineCase]:
    count = flows_for(LOSS_RATES["mild"], window_packets())
    return [_case("both-ways", "both-ways", [_bulk(count), _bulk(count, name="back", back=True)], size)]


SCENARIOS: tuple[Scenario, ...] = (
    Scenario(
        "tcp-friendly",
        "TCP-friendly sender",
        "one long transfer of Reno, initial window of 3",
        "5.1.1",
        _friendly,
    ),
    Scenario(
        "initial-window",
        "Different initial windows",
        "short transfers of 40 packets beside a long one, initial windows of 3 and 10",
        "5.1.2",
        _initial_window,
    ),
    Scenario("aggressive", "Aggressive sender", "one long transfer of CUBIC", "5.2", _aggressive),
    Scenario(
        "unresponsive",
        "Unresponsive sender",
        "12 Mbit/s of datagrams alone; 7 Mbit/s beside one transfer of Reno",
        "5.3",
        _unresponsive,
    ),
    Scenario(
        "background",
        "Less-than-best-effort sender",
        "one transfer of Vegas, in place of LEDBAT, beside one of Reno",
        "5.4",
        _background,
    ),
    Scenario(
        "rtt-fairness",
        "Fairness of round-trip times",
        "two transfers of Reno: 100 ms, and another round-trip time",
        "6",
        _rtt_fairness,
    ),
    Scenario(
        "bursts",
        "Burst absorption",
        "web objects and datagrams (I); with a long transfer (II), frames of video (III), both (IV)",
        "7",
        _bursts,
    ),
    Scenario(
        "congestion",
        "Levels of congestion",
        "6, 14 and 19 long transfers: mild, medium and heavy congestion",
        "8.2",
        _congestion,
    ),
    Scenario(
        "varying-load",
        "Varying congestion",
        "mild, medium and heavy congestion for 20 s each",
        "8.2.5",
        _varying_load,
    ),
    Scenario(
        "varying-capacity",
        "Varying capacity",
        "one transfer while the link has 100, 10 and 100 Mbit/s",
        "8.2.6",
        _varying_capacity,
    ),
    Scenario(
        "mix",
        "Traffic mix",
        "a call of VoIP, six web pages, 1 Mbit/s of datagrams, video in chunks, five long transfers",
        "9.1",
        _mix,
    ),
    Scenario(
        "both-ways",
        "Traffic in both directions",
        "mild congestion in both directions",
        "9.2",
        _both_ways,
    ),
)
