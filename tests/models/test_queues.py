"""Active queue management against its RFC: the pseudocode as an oracle of its own, packet by packet.

The oracles are written from the RFCs' text in the RFCs' words, know nothing of the link, and decide
for a queue in front of a wire of constant rate. Compared is which packets come out, which are dropped
and which are marked.
"""

import math
from collections import deque

import numpy as np
import pytest
from numpy.typing import NDArray

from longhaul import _longhaul
from longhaul.run.trial import trial

RATE = 10_000_000
SIZE = 1500
SERVICE_NS = SIZE * 8 * 1_000_000_000 // RATE  # 1.2 ms, a whole number of picoseconds


class Wire:
    """A server of constant rate before which a queue decides: what any discipline is run on."""

    def __init__(self) -> None:
        self.free_at = 0.0
        self.fates: dict[int, str] = {}
        self.marked: set[int] = set()
        self.order: list[int] = []
        self.departures: list[float] = []

    def enqueue(self, packet: int, now: float, *, ect: bool, flow: int) -> None: ...

    def dequeue(self, now: float) -> int | None: ...

    def waiting(self) -> int: ...

    def run(self, at_ns: NDArray[np.float64], *, ect: list[bool], flow: list[int]) -> None:
        for packet, now in enumerate(at_ns):
            self.serve(now)
            self.enqueue(packet, now, ect=ect[packet], flow=flow[packet])
            if self.free_at <= now:
                self.free_at = now
                self.serve(now)
        self.serve(math.inf)

    def serve(self, now: float) -> None:
        while self.free_at <= now and self.waiting():
            packet = self.dequeue(self.free_at)
            if packet is None:
                continue
            self.order.append(packet)
            self.fates[packet] = "delivered"
            self.free_at += SERVICE_NS
            self.departures.append(self.free_at)


class CodelQueue(Wire):
    """RFC 8289, section 5: codel_queue_t."""

    def __init__(self, target: float, interval: float, *, ecn: bool) -> None:
        super().__init__()
        self.TARGET, self.INTERVAL, self.ecn = target, interval, ecn
        self.queue: deque[tuple[int, float, bool]] = deque()
        self.first_above_time = 0.0
        self.drop_next = 0.0
        self.count = 0
        self.lastcount = 0
        self.dropping = False

    def enqueue(self, packet: int, now: float, *, ect: bool, flow: int) -> None:
        self.queue.append((packet, now, ect))

    def waiting(self) -> int:
        return len(self.queue)

    def dodequeue(self, now: float) -> tuple[tuple[int, float, bool] | None, bool]:
        ok_to_drop = False
        if not self.queue:
            self.first_above_time = 0
            return None, ok_to_drop
        p = self.queue.popleft()
        sojourn_time = now - p[1]
        if sojourn_time < self.TARGET or len(self.queue) * SIZE <= SIZE:
            self.first_above_time = 0
        elif self.first_above_time == 0:
            self.first_above_time = now + self.INTERVAL
        elif now >= self.first_above_time:
            ok_to_drop = True
        return p, ok_to_drop

    def control_law(self, t: float) -> float:
        return t + self.INTERVAL / math.sqrt(self.count)

    def drop(self, p: tuple[int, float, bool]) -> None:
        self.fates[p[0]] = "dropped"

    def mark(self, p: tuple[int, float, bool]) -> bool:
        if self.ecn and p[2]:
            self.marked.add(p[0])
            return True
        return False

    def dequeue(self, now: float) -> int | None:
        p, ok_to_drop = self.dodequeue(now)
        if self.dropping:
            if not ok_to_drop:
                self.dropping = False
            while now >= self.drop_next and self.dropping and p is not None:
                self.count += 1
                if self.mark(p):
                    self.drop_next = self.control_law(self.drop_next)
                    return p[0]
                self.drop(p)
                p, ok_to_drop = self.dodequeue(now)
                if not ok_to_drop:
                    self.dropping = False
                else:
                    self.drop_next = self.control_law(self.drop_next)
        elif ok_to_drop and p is not None:
            if not self.mark(p):
                self.drop(p)
                p, _ = self.dodequeue(now)
            self.dropping = True
            delta = self.count - self.lastcount
            self.count = 1
            if delta > 1 and now - self.drop_next < 16 * self.INTERVAL:
                self.count = delta
            self.drop_next = self.control_law(now)
            self.lastcount = self.count
        return p[0] if p is not None else None


class PieQueue(Wire):
    """RFC 8033, sections 4.1, 4.2 and 4.4, with delays from time stamps and fixed seeds for its random()."""

    MAX_PROB = 1.0

    def __init__(self, *, target: float, update: float, burst: float, ecn: bool, draws: list[float]) -> None:
        super().__init__()
        self.QDELAY_REF, self.T_UPDATE, self.MAX_BURST, self.ecn = target, update, burst, ecn
        self.alpha, self.beta = 0.125, 1.25
        self.draws = iter(draws)
        self.queue: deque[tuple[int, float]] = deque()
        self.drop_prob = 0.0
        self.burst_allowance = burst
        self.qdelay_old = 0.0
        self.qdelay = 0.0
        self.next_update = update

    def waiting(self) -> int:
        return len(self.queue)

    def timers(self, now: float) -> None:
        while self.next_update <= now:
            self.calculate_drop_prob()
            self.next_update += self.T_UPDATE

    def calculate_drop_prob(self) -> None:
        s = 1e9
        p = self.alpha * (self.qdelay - self.QDELAY_REF) / s + self.beta * (self.qdelay - self.qdelay_old) / s
        for below, divisor in ((1e-6, 2048), (1e-5, 512), (1e-4, 128), (1e-3, 32), (1e-2, 8), (1e-1, 2)):
            if self.drop_prob < below:
                p /= divisor
                break
        if self.drop_prob >= 0.1 and p > 0.02:
            p = 0.02
        self.drop_prob += p
        if self.qdelay == 0 and self.qdelay_old == 0:
            self.drop_prob *= 0.98
        self.drop_prob = min(max(self.drop_prob, 0.0), self.MAX_PROB)
        self.burst_allowance = max(0.0, self.burst_allowance - self.T_UPDATE)
        if (
            self.drop_prob == 0
            and self.qdelay < self.QDELAY_REF / 2
            and self.qdelay_old < self.QDELAY_REF / 2
        ):
            self.burst_allowance = self.MAX_BURST
        self.qdelay_old = self.qdelay

    def drop_early(self) -> bool:
        u = next(self.draws)
        if self.burst_allowance > 0:
            return False
        if self.qdelay_old < self.QDELAY_REF / 2 and self.drop_prob < 0.2:
            return False
        if len(self.queue) * SIZE <= 2 * SIZE:
            return False
        return u < self.drop_prob

    def enqueue(self, packet: int, now: float, *, ect: bool, flow: int) -> None:
        self.timers(now)
        if self.drop_early():
            if self.ecn and ect and self.drop_prob <= 0.1:
                self.marked.add(packet)
            else:
                self.fates[packet] = "dropped"
                return
        self.queue.append((packet, now))

    def dequeue(self, now: float) -> int | None:
        self.timers(now)
        packet, since = self.queue.popleft()
        self.qdelay = now - since if self.queue else 0.0
        return packet


class RedQueue(Wire):
    """Floyd and Jacobson 1993, figure 2, with averages in bytes; gentle after Floyd 2000."""

    def __init__(
        self, *, least: float, most: float, max_p: float, w: float, gentle: bool, draws: list[float]
    ) -> None:
        super().__init__()
        self.min_th, self.max_th, self.max_p, self.w_q = least, most, max_p, w
        self.gentle = gentle
        self.draws = iter(draws)
        self.queue: deque[int] = deque()
        self.avg = 0.0
        self.count = -1

    def waiting(self) -> int:
        return len(self.queue)

    def enqueue(self, packet: int, now: float, *, ect: bool, flow: int) -> None:
        if not self.queue and self.free_at <= now:
            m = (now - self.free_at) / SERVICE_NS
            self.avg = (1 - self.w_q) ** m * self.avg
        self.avg += self.w_q * (len(self.queue) * SIZE - self.avg)
        u = next(self.draws)
        verdict = "pass"
        if self.avg < self.min_th:
            self.count = -1
        elif self.avg < self.max_th or (self.gentle and self.avg < 2 * self.max_th):
            self.count += 1
            if self.avg < self.max_th:
                p_b = self.max_p * (self.avg - self.min_th) / (self.max_th - self.min_th)
            else:
                p_b = self.max_p + (1 - self.max_p) * (self.avg - self.max_th) / self.max_th
            p_a = p_b / (1 - self.count * p_b) if self.count * p_b < 1 else 1.0
            if u < p_a or self.count * p_b >= 1:
                verdict = "mark"
                self.count = 0
        else:
            verdict = "drop"
            self.count = 0
        if verdict == "drop" or (verdict == "mark" and not ect):
            self.fates[packet] = "dropped"
            return
        if verdict == "mark":
            self.marked.add(packet)
        self.queue.append(packet)

    def dequeue(self, now: float) -> int | None:
        return self.queue.popleft()


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
            "rate": {"law": "constant", "bits_per_s": RATE},
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
        discipline = {"law": "codel", "target_ns": int(target), "interval_ns": int(interval), "ecn": True}
        oracle = CodelQueue(target, interval, ecn=True)
        dropped, marked = compare(oracle, discipline, at, ect=[ECT[ect](n) for n in range(len(at))])
        assert dropped + marked > 20, "a load that tests nothing"


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("ect", ECT)
def test_pie_drops_and_marks_what_rfc_8033_does(seed: int, ect: str) -> None:
    at = load(seed)
    draws = _longhaul.uniforms(1, "oracle/queue", len(at))
    for target, update in ((15e6, 15e6), (20e6, 30e6), (5e6, 10e6)):
        discipline = {
            "law": "pie", "target_ns": int(target), "update_ns": int(update), "alpha": 0.125, "beta": 1.25,
            "burst_ns": 150_000_000, "ecn": True,
        }  # fmt: skip
        oracle = PieQueue(target=target, update=update, burst=150e6, ecn=True, draws=draws)
        compare(oracle, discipline, at, ect=[ECT[ect](n) for n in range(len(at))])


def test_pie_drops_at_all() -> None:
    at = np.arange(20_000, dtype=float) * SERVICE_NS * 0.8 + 1
    draws = _longhaul.uniforms(1, "oracle/queue", len(at))
    discipline = {
        "law": "pie", "target_ns": 15_000_000, "update_ns": 15_000_000, "alpha": 0.125, "beta": 1.25,
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
            "law": "red", "least_bytes": least, "most_bytes": most, "probability": max_p, "weight": w,
            "gentle": gentle, "ecn": True, "packet_bytes": SIZE,
        }  # fmt: skip
        oracle = RedQueue(least=least, most=most, max_p=max_p, w=w, gentle=gentle, draws=draws)
        dropped, marked = compare(oracle, discipline, at, ect=[ECT[ect](n) for n in range(len(at))])
        assert dropped + marked > 20, "a load that tests nothing"
