"""Active queue management against its RFC: which packets come out, are dropped, are marked."""

import numpy as np
import pytest
from numpy.typing import NDArray

from longhaul import _longhaul
from longhaul.run.trial import trial

from .oracles import RATE, SERVICE_NS, SIZE, CodelQueue, FqCodelQueue, PieQueue, RedQueue, Wire


def load(seed: int, count: int = 6000) -> NDArray[np.float64]:
    """Arrivals in whole microseconds: overload, bursts and silences in turn."""
    rng = np.random.default_rng(seed)
    mean = np.repeat(rng.choice([0.3, 0.7, 1.0, 1.4, 6.0], size=count // 100), 100) * SERVICE_NS
    gaps = rng.exponential(mean)
    gaps[rng.random(count) < 0.002] += 400_000_000
    return np.floor(np.cumsum(gaps) / 1000) * 1000 + 1


def compare(oracle: Wire, discipline: dict, at: NDArray[np.float64], *, ect: list[bool]) -> tuple[int, int]:
    flow = [0] * len(at)
    oracle.run(at, ect=ect, flow=flow)
    out = trial(
        {
            "rate": {"model": "constant", "bits_per_s": RATE},
            "queue": {"limit_packets": None, "limit_bytes": None, "discipline": discipline},
        },
        at_ns=at,
        size=SIZE,
        traffic_class=[2 if each else 0 for each in ect],
        name="oracle",
    )
    dropped = sorted(packet for packet, fate in oracle.fates.items() if fate == "dropped")
    assert out.ended("dropped") == dropped
    delivered = out.fate == "delivered"
    assert out.packet[delivered].tolist() == oracle.order
    assert out.due_ns[delivered].tolist() == pytest.approx(oracle.departures, abs=1)
    assert set(out.packet[delivered & out.marked].tolist()) == oracle.marked & set(oracle.order)
    return len(dropped), len(oracle.marked)


ECT = {"no": lambda _n: False, "all": lambda _n: True, "some": lambda n: n % 3 == 0}


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("ect", ECT)
def test_codel_drops_and_marks_what_rfc_8289_does(seed: int, ect: str) -> None:
    at = load(seed)
    for target, interval in ((5e6, 100e6), (15e6, 50e6), (1e6, 20e6)):
        discipline = {"kind": "codel", "target_ns": int(target), "interval_ns": int(interval), "ecn": True}
        oracle = CodelQueue(target, interval, ecn=True)
        dropped, marked = compare(oracle, discipline, at, ect=[ECT[ect](n) for n in range(len(at))])
        assert dropped + marked > 20, "a load that tests nothing"


@pytest.mark.parametrize("seed", range(12))
def test_fq_codel_serves_and_drops_what_rfc_8290_does(seed: int) -> None:
    at = load(seed)
    rng = np.random.default_rng(seed)
    # One greedy flow, two modest ones, and some that come with a packet now and then.
    flow = [
        int(each)
        for each in rng.choice([1, 2, 3, *range(10, 60)], p=[0.6, 0.15, 0.15] + [0.1 / 50] * 50, size=len(at))
    ]
    for target, interval, quantum, limit in (
        (5e6, 100e6, 1514, 10_240),
        (5e6, 50e6, 300, 10_240),
        (20e6, 100e6, 3000, 97),
    ):
        oracle = FqCodelQueue(target=target, interval=interval, quantum=quantum, limit=limit)
        oracle.run(at, ect=[False] * len(at), flow=flow)
        discipline = {
            "kind": "fq-codel",
            "target_ns": int(target),
            "interval_ns": int(interval),
            "quantum_bytes": quantum,
            "flows": 65_536,
            "ecn": False,
        }
        out = trial(
            {
                "rate": {"model": "constant", "bits_per_s": RATE},
                "queue": {"limit_packets": limit, "limit_bytes": None, "discipline": discipline},
            },
            at_ns=at,
            size=SIZE,
            flow=flow,
        )
        assert "dropped" in oracle.fates.values(), "a load that tests nothing"
        assert limit > 100 or "overflowed" in oracle.fates.values(), "a limit that tests nothing"
        if oracle.tied:
            continue
        assert out.packet[out.fate == "delivered"].tolist() == oracle.order
        for fate in ("dropped", "overflowed"):
            assert out.ended(fate) == sorted(packet for packet, end in oracle.fates.items() if end == fate)


def test_drr_gives_flows_the_same_bytes_whatever_their_packets() -> None:
    """Shreedhar and Varghese 1995, lemma 2: over any busy time two flows differ by less than 3 packets."""
    count = 4000
    at = np.zeros(count)
    flow = [n % 2 for n in range(count)]
    sizes = [1500 if each == 0 else 300 for each in flow]
    discipline = {"kind": "drr", "quantum_bytes": 1500, "flows": 1024}
    out = trial(
        {
            "rate": {"model": "constant", "bits_per_s": RATE},
            "queue": {"limit_packets": None, "limit_bytes": None, "discipline": discipline},
        },
        at_ns=at,
        size=sizes,
        flow=flow,
    )
    sent = np.array(sizes)[out.packet]
    of = np.array(flow)[out.packet]
    both = np.cumsum(np.where(of == 0, sent, -sent))
    busy = np.cumsum(of == 1) < count / 2  # until the flow of small packets has run dry
    assert np.abs(both[busy]).max() < 3 * 1500


def test_strict_priority_sends_the_first_band_first() -> None:
    bands = [1] * 64
    bands[46], bands[8] = 0, 2
    classes = [[0, 46 << 2, 8 << 2][n % 3] for n in range(300)]
    out = trial(
        {
            "rate": {"model": "constant", "bits_per_s": RATE},
            "queue": {
                "limit_packets": None,
                "limit_bytes": None,
                "discipline": {"kind": "priority", "bands": bands},
            },
        },
        at_ns=np.zeros(300),
        traffic_class=classes,
    )
    order = [classes[packet] >> 2 for packet in out.packet]
    # The first packet found the wire free; then all of band 0, all of 1, all of 2.
    assert order == [0, *[46] * 100, *[0] * 99, *[8] * 100]


def test_head_drop_keeps_the_newest() -> None:
    out = trial(
        {
            "rate": {"model": "constant", "bits_per_s": RATE},
            "queue": {"limit_packets": 3, "limit_bytes": None, "discipline": {"kind": "head-drop"}},
        },
        at_ns=np.zeros(10),
    )
    assert out.packet[out.fate == "delivered"].tolist() == [0, 7, 8, 9]
    assert out.ended("overflowed") == [1, 2, 3, 4, 5, 6]


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("ect", ECT)
def test_pie_drops_and_marks_what_rfc_8033_does(seed: int, ect: str) -> None:
    at = load(seed)
    draws = _longhaul.uniforms(1, "oracle/queue", len(at))
    for target, update in ((15e6, 15e6), (20e6, 30e6), (5e6, 10e6)):
        discipline = {
            "kind": "pie", "target_ns": int(target), "update_ns": int(update), "alpha": 0.125, "beta": 1.25,
            "burst_ns": 150_000_000, "ecn": True,
        }  # fmt: skip
        oracle = PieQueue(target=target, update=update, burst=150e6, ecn=True, draws=draws)
        compare(oracle, discipline, at, ect=[ECT[ect](n) for n in range(len(at))])


def test_pie_drops_at_all() -> None:
    at = np.arange(20_000, dtype=float) * SERVICE_NS * 0.8 + 1
    draws = _longhaul.uniforms(1, "oracle/queue", len(at))
    discipline = {
        "kind": "pie", "target_ns": 15_000_000, "update_ns": 15_000_000, "alpha": 0.125, "beta": 1.25,
        "burst_ns": 150_000_000, "ecn": False,
    }  # fmt: skip
    oracle = PieQueue(target=15e6, update=15e6, burst=150e6, ecn=False, draws=draws)
    dropped, _ = compare(oracle, discipline, at, ect=[False] * len(at))
    # In the long run a fifth of the offered load is too much: the rest keeps the delay near its target.
    assert dropped == pytest.approx(0.2 * len(at), rel=0.25)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("gentle", [False, True])
@pytest.mark.parametrize("ect", ECT)
def test_red_drops_and_marks_what_its_paper_does(seed: int, gentle: bool, ect: str) -> None:
    at = load(seed)
    draws = _longhaul.uniforms(1, "oracle/queue", len(at))
    for least, most, max_p, w in (
        (7500, 22500, 0.1, 0.002),
        (3000, 30000, 0.02, 0.01),
        (1500, 9000, 0.5, 0.2),
    ):
        discipline = {
            "kind": "red", "least_bytes": least, "most_bytes": most, "probability": max_p, "weight": w,
            "gentle": gentle, "ecn": True, "packet_bytes": SIZE,
        }  # fmt: skip
        oracle = RedQueue(least=least, most=most, max_p=max_p, w=w, gentle=gentle, draws=draws)
        dropped, marked = compare(oracle, discipline, at, ect=[ECT[ect](n) for n in range(len(at))])
        assert dropped + marked > 20, "a load that tests nothing"
