"""The policies by name."""

from collections.abc import Callable
from dataclasses import dataclass

from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError
from longhaul.scenario.syntax.problems import did_you_mean
from longhaul.transfers.plan import exact, fair, greedy, least_used, linear_program, serial, slots
from longhaul.transfers.plan.instances import Instance
from longhaul.transfers.plan.plans import Plan


@dataclass(frozen=True)
class Settings:
    """What some policies want to know."""

    f: float = 0.5
    """Of greedy-f and window-f: the share of the greatest rate."""
    window_s: float = 60.0
    """Of window-min and window-f: how long requests are collected."""


@dataclass(frozen=True)
class Policy:
    """One way to plan."""

    what: str
    """In a line."""
    plan: Callable[[Instance, Settings], Plan]
    wants: tuple[str, ...] = ()
    """Of :class:`Settings`."""


POLICIES = {
    "fair": Policy("all start at release and share max-min fairly (TS_1)", lambda case, _: fair.fair(case)),
    "serial-fcfs": Policy(
        "one at a time per bottleneck, by release (TS_2)", lambda case, _: serial.serial_fcfs(case)
    ),
    "serial-sjf": Policy("the same, smallest volume first", lambda case, _: serial.serial_sjf(case)),
    "serial-edf": Policy("the same, earliest deadline first", lambda case, _: serial.serial_edf(case)),
    "fcfs-rigid": Policy("on arrival the greatest rate, or refused", lambda case, _: greedy.fcfs_rigid(case)),
    "greedy-min": Policy(
        "on arrival the least rate that meets the deadline", lambda case, _: greedy.greedy_min(case)
    ),
    "greedy-max": Policy("on arrival as much as there is room for", lambda case, _: greedy.greedy_max(case)),
    "greedy-f": Policy(
        "on arrival f times the greatest rate, or what the deadline needs",
        lambda case, settings: greedy.greedy_f(case, f=settings.f),
        ("f",),
    ),
    "window-min": Policy(
        "collect for a while, then the smallest shares first, at the least rate",
        lambda case, settings: greedy.window(case, window_s=settings.window_s),
        ("window",),
    ),
    "window-f": Policy(
        "the same at f times the greatest rate",
        lambda case, settings: greedy.window(case, window_s=settings.window_s, f=settings.f),
        ("f", "window"),
    ),
    "slots-cumulated": Policy(
        "slot by slot, what is cheap and nearly moved first", lambda case, _: slots.slots_cumulated(case)
    ),
    "slots-minbw": Policy("slot by slot, the smallest rate first", lambda case, _: slots.slots_minbw(case)),
    "slots-minvol": Policy(
        "slot by slot, the smallest volume first", lambda case, _: slots.slots_minvol(case)
    ),
    "minused": Policy(
        "next the one that leaves its links emptiest", lambda case, _: least_used.minused(case)
    ),
    "linear": Policy(
        "all, with the least congestion, by changing rates", lambda case, _: linear_program.linear(case)
    ),
    "exact": Policy(
        "the most that can be served, by trying all; 12 at most", lambda case, _: exact.exact(case)
    ),
    "milp": Policy("the same by a mixed-integer programme", lambda case, _: linear_program.milp(case)),
}


def known(policy: str) -> None:
    """Raise :class:`LonghaulError` for a policy that there is not."""
    if policy not in POLICIES:
        message = f'there is no policy "{policy}"'
        raise LonghaulError(Code.WORD_UNKNOWN, message, remedy=did_you_mean(policy, POLICIES), exit_code=2)


def settings(policy: str, *, f: float | None = None, window_s: float | None = None) -> Settings:
    """What a policy is told; raises :class:`LonghaulError` for what it has no use for, and f beyond 1."""
    known(policy)
    for name, value in (("f", f), ("window", window_s)):
        if value is not None and name not in POLICIES[policy].wants:
            users = " and ".join(each for each, known in POLICIES.items() if name in known.wants)
            raise LonghaulError(
                Code.OPTION_CONFLICT, f"{policy} has no use for {name}", remedy=f"{users} have", exit_code=2
            )
    if f is not None and not 0 < f <= 1:
        raise LonghaulError(
            Code.ARGUMENT_INVALID,
            f"f is {f:g}",
            remedy="a share of the greatest rate: over 0, up to 1",
            exit_code=2,
        )
    plain = Settings()
    return Settings(plain.f if f is None else f, plain.window_s if window_s is None else window_s)


def plan(instance: Instance, *, policy: str, settings: Settings | None = None) -> Plan:
    """The plan that ``policy`` makes; raises :class:`LonghaulError` for one that is not known."""
    known(policy)
    return POLICIES[policy].plan(instance, settings or Settings())
