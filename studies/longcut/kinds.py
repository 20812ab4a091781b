"""Figure 5: PingPong between Odense and Aalborg, by NWS, by EventSpace's trace and by its means."""

from collections.abc import Mapping
from statistics import fmean
from typing import Any

from playing import KINDS, SAMPLED, by_round, drawn, pingpong, relayed, simulated

from longhaul.report.plotting import paper
from longhaul.studies import Figures, Study, at_least, at_most, exact, holds_if, measured

SECONDS = 45


def study_simulated(study: Study) -> None:
    """Simulate each kind; evaluate."""
    found = study.measured(
        "kinds",
        lambda: {
            kind: list(curve.mean.items())
            for kind, curve in simulated(study, seconds=study.size(60, small=1)).items()
        },
    )
    curves = {kind: {int(size): took for size, took in pairs} for kind, pairs in (found or {}).items()}
    study.table(
        "figure5",
        [
            {"kind": kind, "bytes": size, "mean_ms": round(took * 1e3, 4)}
            for kind, curve in curves.items()
            for size, took in curve.items()
        ],
    )
    nearer(study, "pingpong", "PingPong", curves)


def draw(figures: Figures) -> None:
    """Figure 5, simulated."""
    with paper():
        made = drawn("figure 5, simulated", by_round(figures.rows("figure5"), "kind"))
        figures.add(made, "figure-5", data=["figure5"])


def draw_relayed(figures: Figures) -> None:
    """Figure 5 through relays."""
    with paper():
        made = drawn("figure 5, through relays", by_round(figures.rows("figure5-relayed"), "kind"))
        figures.add(made, "figure-5-relayed", data=["figure5-relayed"])


def study_relayed(study: Study, *, rounds: int) -> None:
    """Through relays; evaluate."""
    rows: list[dict[str, Any]] = []
    for number in range(rounds):
        for kind in KINDS:
            found = study.measured(f"relayed/{kind}/{number}", lambda kind=kind: _relayed(study, kind))
            rows += [{"kind": kind, "round": number, **each} for each in found or []]
    study.table("figure5-relayed", rows)

    def curve(kind: str, number: int) -> dict[int, float]:
        return {r["bytes"]: r["mean_ms"] for r in rows if (r["kind"], r["round"]) == (kind, number)}

    alike = study.numbers("pingpong-nws-relayed")["alike"]
    study.evaluate(
        "pingpong-constant-relayed",
        at_most(
            "",
            measured([_off(curve("constant", n), curve("eventspace", n)) for n in range(rounds)]),
            alike,
            percent=True,
        ),
    )
    study.evaluate(
        "pingpong-nws-relayed",
        at_least(
            "",
            measured([_off(curve("nws", n), curve("eventspace", n)) for n in range(rounds)]),
            alike,
            percent=True,
        ),
    )


def _relayed(study: Study, kind: str) -> list[dict[str, float]]:
    with relayed(study, kind=kind) as client:
        curve = pingpong(client, SECONDS)
    return [
        {
            "bytes": size,
            "mean_ms": round(took * 1e3, 3),
            "median_ms": round(curve.middle[size] * 1e3, 3),
            "mbit_per_s": round(curve.megabits_per_s()[size], 4),
        }
        for size, took in curve.mean.items()
    ]


def _off(times: Mapping[int, float], others: Mapping[int, float]) -> float:
    """How far times are from others, as a share, on average over sizes."""
    return fmean(abs(times[size] / took - 1) for size, took in others.items())


def nearer(study: Study, name: str, what: str, times: Mapping[str, Mapping[int, float]]) -> None:
    """The claims of ``name``: constants are as good as EventSpace's trace, and NWS is not."""
    alike = study.numbers(f"{name}-nws")["alike"]
    off = {kind: _off(times[kind], times["eventspace"]) for kind in ("constant", SAMPLED, "nws")}
    by_size = {
        kind: ", ".join(f"{times[kind][size] / took - 1:+.0%}" for size, took in times["eventspace"].items())
        for kind in off
    }
    study.evaluate(
        f"{name}-constant",
        [
            holds_if(label, off[kind] <= alike, f"{off[kind]:.1%} (by size {by_size[kind]})")
            for kind, label in (
                ("constant", "constants that the trace is drawn from (derived from the answer)"),
                (SAMPLED, "the means of another minute (independent)"),
            )
        ],
    )
    study.evaluate(
        f"{name}-nws", holds_if("", off["nws"] > alike, f"{off['nws']:.1%} (by size {by_size['nws']})")
    )
    for kind, value in off.items():
        study.value(f"{what}, {kind}", exact(value), percent=True)
