"""Queues as their RFCs and papers have them, written from the text and in its words.

They know nothing of the link, and decide for a queue in front of a wire of constant rate.
"""

import math
from collections import deque

import numpy as np
from numpy.typing import NDArray

RATE = 10_000_000
SIZE = 1500
NO_LIMIT = {"limit_packets": None, "limit_bytes": None}
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


class FqCodelQueue(Wire):
    """RFC 8290, section 4, with one CoDel queue for each flow; flows never collide here."""

    def __init__(self, *, target: float, interval: float, quantum: int, limit: int) -> None:
        super().__init__()
        self.target, self.interval, self.quantum, self.limit = target, interval, quantum, limit
        self.flows: dict[int, CodelQueue] = {}
        self.credits: dict[int, int] = {}
        self.new: list[int] = []
        self.old: list[int] = []
        self.tied = False

    def waiting(self) -> int:
        return sum(len(flow.queue) for flow in self.flows.values())

    def enqueue(self, packet: int, now: float, *, ect: bool, flow: int) -> None:
        idle = not self.waiting() and self.free_at <= now
        if flow not in self.flows:
            self.flows[flow] = CodelQueue(self.target, self.interval, ecn=False)
            self.flows[flow].fates = self.fates
        self.flows[flow].enqueue(packet, now, ect=ect, flow=flow)
        if flow not in self.new and flow not in self.old:
            self.new.append(flow)
            self.credits[flow] = self.quantum
        if not idle and self.waiting() > self.limit:
            # All packets are equally large; which of two equally long flows suffers, the RFC leaves open.
            lengths = sorted(len(each.queue) for each in self.flows.values())
            self.tied |= len(lengths) > 1 and lengths[-1] == lengths[-2]
            longest = max(self.flows.values(), key=lambda each: len(each.queue))
            half = len(longest.queue) / 2
            for dropped in range(1, 65):
                self.fates[longest.queue.popleft()[0]] = "overflowed"
                if dropped >= half:
                    break

    def dequeue(self, now: float) -> int | None:
        while self.new or self.old:
            which = self.new if self.new else self.old
            flow = which[0]
            if self.credits[flow] <= 0:
                self.credits[flow] += self.quantum
                which.pop(0)
                self.old.append(flow)
                continue
            packet = self.flows[flow].dequeue(now)
            if packet is None:
                which.pop(0)
                if which is self.new and self.old:
                    self.old.append(flow)
                continue
            self.credits[flow] -= SIZE
            return packet
        return None


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
