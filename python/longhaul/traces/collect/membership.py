"""A member of a clique: it serves the others, and measures while it holds the token."""

import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError
from longhaul.traces.collect.clique import Clique, Token
from longhaul.traces.collect.collection import Tell, describe, label, this_host
from longhaul.traces.collect.connections import Connection, Endpoint, dial_any, soon
from longhaul.traces.collect.handshake import RefusedError, begin
from longhaul.traces.collect.probe_styles import PERIODS_NS, Ping, Sockets, Style, columns, settings
from longhaul.traces.collect.prober import Peer, Prober, Sample
from longhaul.traces.collect.prober_registry import stream_prober
from longhaul.traces.collect.retransmission_timeout import RetransmissionTimeout
from longhaul.traces.collect.server import Server, Special
from longhaul.traces.collect.trace_file import Link, TraceFile, check_absent
from longhaul.traces.collect.wire import Json, WrongLineError, whole, write_object

_MOST_GENERATION = 2**53
_LEAST_PERIOD_NS = 50_000_000


@dataclass(frozen=True, kw_only=True)
class CliquePlan:
    """What a member does."""

    members: Sequence[Endpoint]
    me: Endpoint
    """As it stands in ``members``."""
    listen: Endpoint
    style: Style
    out: Path
    period_ns: int | None = None
    duration_ns: int | None = None
    secret: bytes | None = None
    force: bool = False


Observe = Callable[[Endpoint, int, int], None]
"""Hears whom a probe went to, and when it began and ended on the monotonic clock."""


@dataclass
class Member:
    """The clique's rules with sockets and a lock."""

    members: Sequence[Endpoint]
    me: int
    rules: Clique
    secret: bytes | None
    log: Tell
    changed: threading.Condition = field(default_factory=threading.Condition)
    rto: dict[Endpoint, RetransmissionTimeout] = field(default_factory=dict)

    def take_token(self, connection: Connection, request: Json) -> bool:
        """Serve a member that passes the token on."""
        token = Token(
            whole(request, "generation", 1, _MOST_GENERATION),
            whole(request, "rank", 0, len(self.members) - 1),
            whole(request, "hops", 0, _MOST_GENERATION),
        )
        if request.get("members") != [str(each) for each in self.members]:
            connection.send(write_object({"error": "the clique here has other members"}), soon(5))
            raise WrongLineError("a token of another clique")
        with self.changed:
            taken = self.rules.offer(token, time.monotonic_ns())
            generation = self.rules.newest.generation
            self.changed.notify_all()
        connection.send(write_object({"ok": True, "taken": taken, "generation": generation}), soon(5))
        return False

    def be_alive(self, connection: Connection, _request: Json) -> bool:
        """Serve a member that looks for a leader."""
        connection.send(write_object({"ok": True, "generation": self.rules.newest.generation}), soon(5))
        return False

    def wait(self, end_ns: int | None) -> bool:
        """Wait until this member may measure; false at the end."""
        while True:
            now_ns = time.monotonic_ns()
            if end_ns is not None and now_ns >= end_ns:
                return False
            with self.changed:
                holds = self.rules.held is not None
                due_ns = self.rules.due_ns() if holds else self.rules.expires_ns()
                if now_ns <= due_ns:
                    left_ns = min(due_ns, end_ns or due_ns) - now_ns
                    self.changed.wait(left_ns / 1e9 + 1e-4)
                    continue
                if holds and self.rules.may_begin(now_ns):
                    return True
                missed = self.rules.expired(now_ns)
            if missed:
                self.log("the token is missed")
                self.elect()

    def elect(self) -> None:
        """Make a token, unless a lower member is alive or someone knows a newer one."""
        lower = self.rules.lower()
        heard = [self._ask(self.members[each], {"do": "alive"}) for each in lower]
        with self.changed:
            for reply in heard:
                self._learn(reply)
            if self.rules.held is not None:
                return
            if any(reply is not None for reply in heard):
                self.rules.defer(time.monotonic_ns())
                return
            self.rules.lead(time.monotonic_ns())
            self.log(f"a new token, generation {self.rules.newest.generation}")

    def begin(self) -> None:
        """The lowest member makes the first token, unless the others have had one already."""
        heard = [self._ask(self.members[each], {"do": "alive"}) for each in self.rules.successors()]
        with self.changed:
            for reply in heard:
                self._learn(reply)
            if self.me == 0 and self.rules.newest.generation == 0:
                self.rules.lead(time.monotonic_ns())

    def pass_on(self) -> None:
        """Give the token to the next member that takes it."""
        for each in self.rules.successors():
            with self.changed:
                token = self.rules.next_token()
            if token is None:
                return
            request = {
                "do": "token",
                "generation": token.generation,
                "rank": token.rank,
                "hops": token.hops,
                "members": [str(member) for member in self.members],
            }
            reply = self._ask(self.members[each], request)
            if reply is None:
                continue
            with self.changed:
                if reply.get("taken") is True:
                    self.rules.passed(token, time.monotonic_ns())
                    return
                self._learn(reply)
                if self.rules.next_token() is not None:
                    # It has seen this one already: it goes round without us.
                    self.rules.passed(token, time.monotonic_ns())
                return
        with self.changed:
            self.rules.kept(time.monotonic_ns())

    def _learn(self, reply: Json | None) -> None:
        with suppress(WrongLineError):
            if reply is not None:
                self.rules.heard_of(whole(reply, "generation", 0, _MOST_GENERATION))

    def _ask(self, member: Endpoint, request: Json) -> Json | None:
        rto = self.rto.setdefault(member, RetransmissionTimeout())
        # A member that has gone must not hold the others up for long.
        most_s = max(0.2, self.rules.timeout_ns / 1e9 / 4)
        begun_ns = time.monotonic_ns()
        try:
            connection, reply = begin(
                partial(dial_any, member),
                request,
                secret=self.secret,
                until_ns=soon(min(rto.seconds(), most_s)),
                peer=member,
            )
        except RefusedError:
            raise
        except (OSError, LonghaulError):
            rto.back_off()
            return None
        connection.close()
        rto.add_sample((time.monotonic_ns() - begun_ns) / 1e9)
        return reply


def join(plan: CliquePlan, *, tell: Tell, observe: Observe = lambda _to, _begin, _end: None) -> int:
    """Take part until the plan or the user ends it; the rows that were written. Raises LonghaulError."""
    check_absent(plan.out, force=plan.force)
    members, me = sorted(set(plan.members)), plan.me
    if me not in members or len(members) < 2:
        remedy = "name this member by --as, as it is written in --clique"
        raise LonghaulError(
            Code.ARGUMENT_INVALID,
            f"{me} is not a member of the clique of {len(members)}",
            remedy=remedy,
            exit_code=2,
        )
    period_ns = PERIODS_NS[plan.style.name] if plan.period_ns is None else plan.period_ns
    if period_ns < _LEAST_PERIOD_NS:
        remedy = "write --period 50ms or more"
        raise LonghaulError(Code.ARGUMENT_MISSING, "a clique needs a period", remedy=remedy, exit_code=2)
    if isinstance(plan.style, Sockets) or (isinstance(plan.style, Ping) and plan.style.over != "tcp"):
        remedy = "take nws, eventspace, or ping --over tcp"
        raise LonghaulError(Code.OPTION_CONFLICT, "a clique's probes have an end", remedy=remedy, exit_code=2)
    place = members.index(me)
    start_ns = time.monotonic_ns()
    rules = Clique(place, len(members), period_ns, start_ns)
    member = Member(members, place, rules, plan.secret, tell)
    specials: dict[str, Special] = {"token": member.take_token, "alive": member.be_alive}
    server = Server(plan.listen, plan.secret, tell, this_host(), specials)
    server.start()
    others = [each for each in members if each != me]
    short = len({each.host for each in members}) == len(members)
    names = {each: label(each.host if short else str(each)) for each in members}
    links = {each: Link(names[me], names[each]) for each in others}
    try:
        file = TraceFile(
            plan.out, list(links.values()), plan.style.name, period_ns, start_ns, columns(plan.style)
        )
    except LonghaulError:
        server.close()
        raise
    about = {
        "started_utc": datetime.now(UTC).isoformat(timespec="microseconds"),
        "clock": "CLOCK_MONOTONIC of src",
        "style": {"name": plan.style.name, **settings(plan.style)},
        "hosts": {names[me]: this_host()},
        "clique": [str(each) for each in members],
    }
    tell(f"{me} serves at {server.endpoint}, member {place + 1} of {len(members)}")
    end_ns = None if plan.duration_ns is None else start_ns + plan.duration_ns
    ended = "as planned"
    try:
        member.begin()
        _visit(member, plan.style, period_ns, links, file, end_ns, observe)
    except KeyboardInterrupt:
        ended = "interrupted"
    except LonghaulError as error:
        ended = error.message
        raise
    finally:
        server.close()
        file.finish({**about, "ended": ended, "tokens": rules.newest.generation})
    return file.rows


def _visit(
    member: Member,
    style: Style,
    period_ns: int,
    links: dict[Endpoint, Link],
    file: TraceFile,
    end_ns: int | None,
    observe: Observe,
) -> None:
    probers: dict[Endpoint, Prober] = {}
    while member.wait(end_ns):
        for other, link in links.items():
            begun_ns = time.monotonic_ns()
            with member.changed:
                if not member.rules.may_go_on(begun_ns):
                    break
            samples = _probe(probers, other, style, member.secret, period_ns)
            observe(other, begun_ns, time.monotonic_ns())
            for sample in samples:
                file.write(link, sample)
            member.log(f"{link.source} to {link.destination}: {describe(samples[-1])}")
        member.pass_on()


def _probe(
    probers: dict[Endpoint, Prober], other: Endpoint, style: Style, secret: bytes | None, period_ns: int
) -> Sequence[Sample]:
    at_ns = time.monotonic_ns()
    try:
        if other not in probers:
            peer = Peer(other, partial(dial_any, other), secret)
            probers[other] = stream_prober(style, peer, period_ns)
        return probers[other].measure() or (Sample(at_ns, failure="nothing new"),)
    except OSError as error:
        return (Sample(at_ns, failure=str(error.strerror or error).lower()),)


def parse_members(text: str) -> list[Endpoint]:
    """``a:7000,b:7000``; raises :class:`LonghaulError`."""
    return [Endpoint.parse(each.strip()) for each in text.split(",")]
