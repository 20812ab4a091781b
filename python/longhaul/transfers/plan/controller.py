"""Execution of a plan, with replanning on arrivals, lateness, failures and changes of links.

It has no clock. Whoever drives it calls :meth:`Controller.advance` at :meth:`Controller.next_s`, or earlier,
and tells it what happens; it answers with the rates that transfers are to have from now on.
"""

import math
from collections.abc import Sequence
from dataclasses import replace

from longhaul.transfers.plan.instances import SLACK, Instance, Request
from longhaul.transfers.plan.plans import Outcome, Plan, impossible
from longhaul.transfers.plan.policies import plan
from longhaul.transfers.plan.progress import (
    Care,
    Decision,
    Order,
    Transfer,
    achieved_outcome,
    differs,
    pieces_text,
    until,
)
from longhaul.units.configured import rate as rate_words
from longhaul.units.configured import size

AT_START = ("serial-", "window-")
"""Policies that promise nothing before a transfer starts; others keep what they have accepted."""
PATIENCE_S = 1.0
"""Between two plans for the same late transfer."""


class Controller:
    """Carries out requests on a network, by a policy."""

    def __init__(self, case: Instance, care: Care, *, round_trips_s: Sequence[float]) -> None:
        """``case`` has all requests; of each nothing is known before its release."""
        self.case, self.care = case, care
        self.round_trips_s = round_trips_s
        self.transfers = [Transfer(each) for each in case.requests]
        self.decisions: list[Decision] = []
        self._capacities = [link.bits_per_s for link in case.links]
        order = sorted(range(len(case.requests)), key=lambda each: case.requests[each].release_s)
        self._coming = order[::-1]
        self._arrived: list[int] = []
        self._why = ""

    @property
    def is_over(self) -> bool:
        """Whether nothing is left to do."""
        return not self._coming and all(each.is_over for each in self.transfers)

    def next_s(self, now_s: float) -> float:
        """When the plan next wants something; infinite: not without news."""
        times = [self.case.requests[self._coming[-1]].release_s] if self._coming else []
        for index in self._active():
            for piece in self.transfers[index].future:
                times += [each for each in (piece.start_s, piece.finish_s) if each > now_s]
        return min(times, default=math.inf)

    def advance(self, now_s: float) -> list[Order]:
        """Take in what was released by now, plan again if there is a reason, and return what changes."""
        newcomers = []
        while self._coming and self.case.requests[self._coming[-1]].release_s <= now_s + SLACK:
            index = self._coming.pop()
            self._arrived.append(index)
            self.transfers[index].state = "waiting"
            newcomers.append(index)
        if newcomers or self._why:
            self._plan(now_s, newcomers, "arrival" if newcomers else self._why)
            self._why = ""
        return self._orders(now_s)

    def tell_progress(self, index: int, received_bytes: int, now_s: float) -> None:
        """So much has arrived; a transfer that is too far behind is planned again."""
        transfer = self.transfers[index]
        if transfer.state != "moving":
            return
        transfer.received_bytes = max(transfer.received_bytes, received_bytes)
        self._expect(transfer, now_s)
        rate = transfer.ordered_bits_per_s
        if not rate or now_s - transfer.planned_at_s < PATIENCE_S:
            return
        behind_s = (transfer.expected_bits - 8 * transfer.received_bytes) / rate
        if behind_s > self._allowed_s(index) and not transfer.hopeless:
            transfer.planned_at_s = now_s
            moved = 8 * transfer.received_bytes
            transfer.expected_bits = moved
            self._note(now_s, "lateness", index, f"is {behind_s:.3g} s behind its plan")
            self._why = "lateness"

    def tell_done(self, index: int, at_s: float) -> None:
        """All of it has arrived."""
        transfer = self.transfers[index]
        transfer.state, transfer.done_s = "done", at_s
        transfer.received_bytes = transfer.request.volume_bytes
        transfer.future, transfer.ordered_bits_per_s = (), 0.0
        if any(
            self.transfers[each].state == "waiting" and not self.transfers[each].future
            for each in self._arrived
        ):
            self._why = self._why or "end"

    def tell_failure(self, index: int, now_s: float, *, why: str) -> None:
        """Its sender is gone; what has not arrived is planned again, unless it was begun too often."""
        transfer = self.transfers[index]
        transfer.ordered_bits_per_s, transfer.future = 0.0, ()
        again = transfer.attempts < self.care.attempts
        transfer.state = "waiting" if again else "failed"
        transfer.reason = why
        left = size(transfer.left_bytes)
        self._note(now_s, "failure", index, f"{why}; {left} are left" + ("" if again else ", given up"))
        self._why = "failure"

    def tell_link(self, link: int, bits_per_s: float, now_s: float) -> None:
        """A link carries so much payload from now on; 0: it is down."""
        if math.isclose(self._capacities[link], bits_per_s, rel_tol=1e-9):
            return
        self._capacities[link] = bits_per_s
        words = f"carries {rate_words(round(bits_per_s))}" if bits_per_s else "is down"
        self.decisions.append(Decision(now_s, "link", "", f"{self.case.links[link].name} {words}"))
        for index in self._active():
            if link in self.case.paths[index]:
                self.transfers[index].planned_at_s = now_s
        self._why = "link"

    def planned(self) -> Plan:
        """What was planned, with what was known at the last arrival."""
        made = [
            Outcome(each.request, each.accepted, each.planned, each.reason if not each.accepted else "")
            for each in self.transfers
        ]
        return Plan(self.care.policy, self.case, tuple(made))

    def achieved(self) -> Plan:
        """What came of it: of each transfer its mean rate from its begin until all had arrived."""
        return Plan(self.care.policy, self.case, tuple(map(achieved_outcome, self.transfers)))

    def _active(self) -> list[int]:
        return [each for each in self._arrived if self.transfers[each].state in ("waiting", "moving")]

    def _note(self, now_s: float, why: str, index: int, what: str) -> None:
        self.decisions.append(Decision(now_s, why, self.transfers[index].request.name, what))

    def _allowed_s(self, index: int) -> float:
        """How far a transfer may be behind."""
        transfer = self.transfers[index]
        first, last = transfer.planned[0].start_s, transfer.planned[-1].finish_s
        share_s = self.care.tolerance * (last - first)
        return max(share_s, self.care.least_lag_s) + self.round_trips_s[index]

    def _expect(self, transfer: Transfer, now_s: float) -> None:
        span_s = now_s - transfer.expected_at_s
        bits = transfer.expected_bits + span_s * transfer.ordered_bits_per_s
        transfer.expected_bits = min(bits, transfer.request.volume_bits)
        transfer.expected_at_s = now_s

    def _is_bound(self, index: int) -> bool:
        """Whether it must not be refused any more."""
        transfer = self.transfers[index]
        if transfer.attempts or transfer.state == "moving":
            return True
        return transfer.accepted and not self.care.policy.startswith(AT_START)

    def _plan(self, now_s: float, newcomers: Sequence[int], why: str) -> None:
        for index in newcomers:
            reason = impossible(self.case, index)
            if reason:
                self._refuse(now_s, index, reason, why)
        known = [
            each for each in self._active() if all(self._capacities[link] for link in self.case.paths[each])
        ]
        cut_off = [each for each in self._active() if each not in known]
        for index in cut_off:
            self.transfers[index].future = ()
        bound = [each for each in known if self._is_bound(each)]
        open_ = [each for each in known if each not in bound]
        made = self._made(now_s, known)
        displaced = [each for each in bound if not made[each].pieces]
        if displaced and open_:
            names = ", ".join(self.transfers[each].request.name for each in displaced)
            for index in open_:
                self._refuse(now_s, index, f"would displace {names}", why)
            made, open_ = self._made(now_s, bound), []
            displaced = [each for each in bound if not made[each].pieces]
        if displaced:
            # Not all that was promised can be kept any more: nobody is left waiting for good.
            for index in displaced:
                self._note(now_s, why, index, f"{made[index].reason}: all that was accepted shares fairly")
            for index in open_:
                self._refuse(now_s, index, "what was accepted is late already", why)
            made, open_ = self._made(now_s, bound, policy="fair"), []
        for index in [*bound, *open_]:
            self._adopt(now_s, index, made[index], why, bound=index in bound)
        if not cut_off and not any(self.transfers[each].future for each in known):
            for index in [each for each in known if self.transfers[each].state == "waiting"]:
                self._refuse(now_s, index, self.transfers[index].reason, why)

    def _made(self, now_s: float, chosen: Sequence[int], *, policy: str = "") -> dict[int, Outcome]:
        """What the policy makes of what is left of the requests ``chosen``, from now on."""
        if not chosen:
            return {}
        held: dict[int, float] = {}
        requests, tops = [], []
        for place, index in enumerate(chosen):
            transfer = self.transfers[index]
            top = min((self._capacities[link] for link in self.case.paths[index]), default=math.inf)
            top = min(top, transfer.request.max_bits_per_s)
            requests.append(self._left(now_s, index, top))
            tops.append(top)
            on_time = transfer.planned_at_s < now_s and transfer.state == "moving"
            if on_time and transfer.ordered_bits_per_s:
                held[place] = min(transfer.ordered_bits_per_s, top)
        links = tuple(
            replace(link, bits_per_s=bits or 1.0)
            for link, bits in zip(self.case.links, self._capacities, strict=True)
        )
        paths = tuple(self.case.paths[each] for each in chosen)
        case = Instance(tuple(requests), links, paths, tuple(tops), held)
        made = plan(case, policy=policy or self.care.policy, settings=self.care.settings)
        return dict(zip(chosen, made.outcomes, strict=True))

    def _left(self, now_s: float, index: int, top: float) -> Request:
        """What is left of a request; with a deadline that can be met, also where it cannot any more."""
        transfer, asked = self.transfers[index], self.transfers[index].request
        release_s = max(asked.release_s, now_s)
        deadline_s = asked.deadline_s
        if self.care.policy.startswith("serial-") and self._is_bound(index):
            # Whoever has begun gets another turn, however late.
            deadline_s = math.inf
        if math.isfinite(deadline_s):
            reserve_s = self.care.margin * (asked.deadline_s - asked.release_s) if self.care.margin else 0.0
            deadline_s -= reserve_s + (self.round_trips_s[index] if self.care.margin else 0.0)
            left_bits = 8.0 * transfer.left_bytes
            least_s = release_s + left_bits / top
            on_time = transfer.state == "moving" and transfer.planned_at_s < now_s
            if deadline_s < least_s * (1 - SLACK):
                if least_s <= asked.deadline_s * (1 + SLACK):
                    # The reserve is there to be used up.
                    deadline_s = asked.deadline_s
                elif self._is_bound(index):
                    if not transfer.hopeless:
                        self._note(
                            now_s, "lateness", index, "cannot meet its deadline any more, and moves on"
                        )
                    transfer.hopeless = True
                    rate = transfer.ordered_bits_per_s if on_time and transfer.ordered_bits_per_s else top
                    deadline_s = release_s + left_bits / min(rate, top) * (1 + 1e-6)
        deadline_s = max(deadline_s, math.nextafter(release_s, math.inf))
        return replace(asked, volume_bytes=transfer.left_bytes, release_s=release_s, deadline_s=deadline_s)

    def _put_off(self, now_s: float, index: int, reason: str, why: str) -> None:
        """Refuse it; unless its turn may come yet, if others are refused then or end early."""
        transfer = self.transfers[index]
        top = self.case.tops_bits_per_s[index]
        late = now_s + 8 * transfer.left_bytes / top > transfer.request.deadline_s * (1 + SLACK)
        others = any(self.transfers[each].future for each in self._active() if each != index)
        if self.care.policy.startswith("serial-") and others and not late:
            transfer.future, transfer.reason = (), reason
            return
        self._refuse(now_s, index, reason, why)

    def _refuse(self, now_s: float, index: int, reason: str, why: str) -> None:
        transfer = self.transfers[index]
        transfer.state, transfer.reason, transfer.future = "refused", reason, ()
        self._note(now_s, why, index, f"refused: {reason}")

    def _adopt(self, now_s: float, index: int, made: Outcome, why: str, *, bound: bool) -> None:
        transfer = self.transfers[index]
        if not made.pieces:
            if not bound:
                self._put_off(now_s, index, made.reason, why)
                return
            if transfer.future or transfer.state == "moving":
                self._note(now_s, why, index, f"waits: {made.reason}")
            transfer.future = ()
            return
        changes = differs(transfer, made.pieces, now_s)
        if not transfer.planned:
            meets = made.satisfied or made.finish_s <= transfer.request.deadline_s * (1 + SLACK)
            transfer.accepted, transfer.reason = meets, "" if meets else made.reason
            self._note(now_s, why, index, f"accepted: {pieces_text(made.pieces)}")
        elif changes:
            self._note(now_s, why, index, pieces_text(made.pieces))
        if why == "arrival" and (changes or not transfer.planned):
            past = tuple(until(piece, now_s) for piece in transfer.planned if piece.start_s < now_s)
            transfer.planned = (*past, *made.pieces)
        elif not transfer.planned:
            transfer.planned = made.pieces
        transfer.future = made.pieces

    def _orders(self, now_s: float) -> list[Order]:
        orders = []
        for index in self._active():
            transfer = self.transfers[index]
            rate = transfer.rate_at(now_s + SLACK)
            if transfer.state == "waiting" and rate:
                transfer.state, transfer.attempts = "moving", transfer.attempts + 1
                transfer.begun_s = now_s if transfer.begun_s is None else transfer.begun_s
                transfer.expected_bits, transfer.expected_at_s = 8.0 * transfer.received_bytes, now_s
            elif math.isclose(rate, transfer.ordered_bits_per_s, rel_tol=1e-9) or transfer.state == "waiting":
                continue
            self._expect(transfer, now_s)
            transfer.ordered_bits_per_s = rate
            orders.append(Order(index, rate))
        # Who slows down does so before others take the room.
        return sorted(orders, key=lambda each: each.bits_per_s)
