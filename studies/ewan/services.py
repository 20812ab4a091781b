"""The transport services: both transfers at once at half the rate (TS_1), or in series (TS_2)."""

from collections.abc import Mapping
from itertools import product
from typing import Any

from testbed import CONTROLS, FRAME, SEGMENT, Limit, Trial, bucket, paced, simulate

from longhaul.analysis.fairness import jain
from longhaul.report.mpl import Axes
from longhaul.report.plotting import figure, paper
from longhaul.run.api import Result
from longhaul.studies import Figures, Study, holds_if
from longhaul.studies.drawing import colour, legend_below
from longhaul.transfers.plan import Point, Request, access_points, instance
from longhaul.transfers.plan.plans import Plan
from longhaul.transfers.plan.policies import plan

VOLUME_BYTES = 500_000_000
"""The paper says 500 GB, which no gigabit carries in 60 s."""
DEADLINE_S = 60
SMALL_S = 6
"""To try the study out: the second transfer has begun."""
CAPACITY = 1e9 * SEGMENT / FRAME
"""Payload of the access link, in bit/s."""
SERVICES = {"TS_1": "fair", "TS_2": "serial-fcfs", "TS_2 by the clock": "serial-fcfs"}
"""TS_2 waits for the end of the first transfer; by the clock, the second starts when the plan says."""
TOOLS = ("token bucket", "PSPacer")
FASTEST_MBITS = 930
"""PSPacer's, on a gigabit."""


def planned(policy: str, *, volume_bytes: float = VOLUME_BYTES) -> Plan:
    """What a service makes of the paper's two requests."""
    network = access_points({"lan": Point(CAPACITY, CAPACITY)} | {site: Point(1e9, 1e9) for site in "xy"})
    requests = [
        Request(name=name, source="lan", destination=site, volume_bytes=volume_bytes, deadline_s=DEADLINE_S)
        for name, site in (("a", "x"), ("b", "y"))
    ]
    return plan(instance(requests, network=network), policy=policy)


def limits(bits_per_s: float) -> Mapping[str, Limit]:
    """Both tools, at such a rate of payload."""
    wire_mbits = round(bits_per_s / 1e6 * FRAME / SEGMENT, 3)
    return {
        "token bucket": bucket(wire_mbits),
        "PSPacer": paced(min(wire_mbits, FASTEST_MBITS), waits="10000p"),
    }


def study_services(study: Study) -> None:
    """Plan, simulate what was planned with each tool and control, evaluate the claims."""
    refused = planned("fair", volume_bytes=1e9 * study.numbers("half-a-terabyte")["volume_gb"])
    study.evaluate(
        "half-a-terabyte",
        holds_if("", all(each.satisfied for each in refused.outcomes), str(refused.outcomes[0].reason)),
    )
    plans = {service: planned(policy) for service, policy in SERVICES.items()}
    cases = list(product(SERVICES, TOOLS, CONTROLS))
    firsts = [
        _trial(("TS_2", tool, control), plans["TS_2"], None) for tool, control in product(TOOLS, CONTROLS)
    ]
    alone = dict(
        zip(
            product(TOOLS, CONTROLS),
            (_end_s(result, "a") for _t, result in simulate(study, firsts, small_s=SMALL_S)),
            strict=True,
        )
    )
    begins = {case: plans[case[0]].outcomes[1].start_s for case in cases}
    begins |= {case: alone[case[1:]] or DEADLINE_S for case in cases if case[0] == "TS_2"}
    trials = [_trial(case, plans[case[0]], begins[case]) for case in cases]
    found = {
        case: result
        for case, (_trial, result) in zip(cases, simulate(study, trials, small_s=SMALL_S), strict=True)
    }
    rows = [_row(case, plans[case[0]], begins[case], found[case]) for case in cases]
    study.table("services", rows)
    by_case = {(row["service"], row["limit"], row["control"]): row for row in rows}
    main = [(service, control) for service, control in product(("TS_1", "TS_2"), CONTROLS)]
    study.evaluate(
        "in-time-with-pacer",
        [
            holds_if(
                f"{service}, {control}",
                by_case[service, "PSPacer", control]["satisfied"] == 2,
                _told(by_case[service, "PSPacer", control]),
            )
            for service, control in main
        ],
    )
    study.evaluate(
        "f1-and-f2",
        [
            holds_if(control, two["f1_s"] < one["f1_s"] and one["f2"] > two["f2"], text)
            for control in CONTROLS
            for one, two in [[by_case[service, "PSPacer", control] for service in ("TS_1", "TS_2")]]
            for text in [f"f1 {one['f1_s']} and {two['f1_s']} s, f2 {one['f2']} and {two['f2']}"]
        ],
    )
    study.evaluate(
        "reno-behind-bucket-late",
        [
            holds_if(service, not row["satisfied"], _told(row))
            for service in SERVICES
            for row in [by_case[service, "token bucket", "Reno"]]
        ],
    )


def _told(row: Mapping[str, Any]) -> str:
    ends = [f"{row[f'{name}_finish_s']} s" if row[f"{name}_finish_s"] else "not in time" for name in "ab"]
    return f"{ends[0]} and {ends[1]} (planned {row['a_planned_s']} and {row['b_planned_s']})"


def _trial(case: tuple[str, str, str], made: Plan, begin_s: float | None) -> Trial:
    """Both transfers, the second from ``begin_s`` on; or the first alone."""
    service, tool, control = case
    outcomes = {each.request.name: each for each in made.outcomes}
    starts = {"a": outcomes["a"].start_s} | ({} if begin_s is None else {"b": begin_s})
    flows = {
        name: f"kind: tcp, from: {name}, to: {site}, cc: {CONTROLS[control]}, bytes: {VOLUME_BYTES}B,"
        f" start: {starts[name]:.6f}s"
        for name, site in (("a", "x"), ("b", "y"))
        if name in starts and starts[name] < DEADLINE_S
    }
    name = (
        f"{service}-{tool}-{control}{'' if begin_s is not None else '-first'}".lower()
        .replace(" ", "-")
        .replace("_", "")
    )
    return Trial(name, flows, limits(outcomes["a"].bits_per_s)[tool], seconds=DEADLINE_S)


def _end_s(result: Result, name: str) -> float | None:
    """When all of a transfer had arrived; None if that was not within the run."""
    flow = result.flow(name)
    return flow["end_ns"] / 1e9 if flow["bytes"] >= VOLUME_BYTES and flow["end_ns"] is not None else None


def _row(case: tuple[str, str, str], made: Plan, begin_s: float, result: Result) -> dict[str, Any]:
    service, tool, control = case
    row: dict[str, Any] = {"service": service, "limit": tool, "control": control}
    there = {flow["flow"] for flow in result.summary["flows"]}
    ends, spans, rates = [], [], []
    for outcome, start in zip(made.outcomes, (made.outcomes[0].start_s, begin_s), strict=True):
        name = outcome.request.name
        carried = result.flow(name)["bytes"] if name in there else 0
        end = _end_s(result, name) if name in there else None
        row |= {
            f"{name}_start_s": round(start, 2),
            f"{name}_planned_start_s": round(outcome.start_s, 2),
            f"{name}_planned_s": round(outcome.finish_s, 2),
            f"{name}_finish_s": round(end, 2) if end else None,
            f"{name}_mbytes": round(carried / 1e6, 1),
        }
        ends.append(end)
        spans.append((end or DEADLINE_S) - start)
        rates.append(carried * 8 / spans[-1] if spans[-1] else 0.0)
    carried_bits = (row["a_mbytes"] + row["b_mbytes"]) * 8e6
    return row | {
        "satisfied": sum(end is not None and end <= DEADLINE_S for end in ends),
        "f1_s": round(max(spans), 2),
        "f2": round(carried_bits / (CAPACITY * max(end or DEADLINE_S for end in ends)), 3),
        "jain": round(jain(rates) or 0, 4),
    }


def draw(figures: Figures) -> None:
    """Both transfers of each service, as planned and as simulated."""
    rows = figures.rows("services")
    with paper():
        made = figure(3.8, width_in=10.5)
        for number, axes in enumerate(made.subplots(1, len(SERVICES), sharey=True)):
            service = list(SERVICES)[number]
            mine = [row for row in rows if row["service"] == service]
            for place, row in enumerate(mine):
                for lane, name in enumerate("ab"):
                    _bar(axes, place + 0.2 - 0.4 * (1 - lane), row, name)
            axes.set_yticks(range(len(mine)), [f"{row['control']},\n{row['limit']}" for row in mine])
            axes.set(xlim=(0, DEADLINE_S + 1), ylim=(3.55, -0.55), xlabel="time [s]", title=TITLES[service])
            axes.grid(axis="y", visible=False)
            axes.set_axisbelow(True)
        for number, label in enumerate(("first transfer", "second transfer")):
            axes.barh(-9, 1, color=colour(number), label=label)
        axes.barh(-9, 1, fill=False, edgecolor="black", label="as planned")
        legend_below(made)
        figures.add(made, "services", data=["services"])


TITLES = {
    "TS_1": "TS_1: both at once",
    "TS_2": "TS_2: one after the other",
    "TS_2 by the clock": "TS_2, the second as planned",
}


def _bar(axes: Axes, place: float, row: Mapping[str, Any], name: str) -> None:
    """One transfer, and over it what was planned."""
    start, end, mbytes = row[f"{name}_start_s"], row[f"{name}_finish_s"], row[f"{name}_mbytes"]
    shade = 1 if end else 0.35
    length = (end or DEADLINE_S) - start
    axes.barh(place, length, left=start, height=0.32, color=colour("ab".index(name)), alpha=shade)
    first, last = row[f"{name}_planned_start_s"], row[f"{name}_planned_s"]
    axes.barh(place, last - first, left=first, height=0.32, fill=False, edgecolor="black", linewidth=0.9)
    label = f"{end:.1f} s" if end else f"{mbytes:.0f} of 500 MB"
    at = end + 0.8 if end else DEADLINE_S - 1
    axes.text(at, place, label, va="center", ha="left" if end else "right", fontsize=7.5)
