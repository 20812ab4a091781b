"""Figure 5: PingPong between Odense and Aalborg, by NWS, by EventSpace's trace and by its means."""

from collections.abc import Mapping
from statistics import fmean

from playing import KINDS, Curve, drawn, pingpong, relayed, simulated
from study import Study

from longhaul.report.plotting import paper

SECONDS = 45


def study_kinds(study: Study) -> None:
    """Through relays and simulated; judge and draw."""
    real: dict[str, Curve] = {}
    for kind in KINDS:
        with relayed(study, kind=kind) as client:
            real[kind] = pingpong(client, SECONDS)
    every = {"relayed": real, "simulated": simulated(study)}
    study.table(
        "figure5",
        [
            {
                "how": how,
                "kind": kind,
                "bytes": size,
                "mean_ms": round(took * 1e3, 3),
                "median_ms": round(curve.middle[size] * 1e3, 3),
                "mbit_per_s": round(curve.megabits_per_s()[size], 4),
            }
            for how, curves in every.items()
            for kind, curve in curves.items()
            for size, took in curve.mean.items()
        ],
    )
    for how, curves in every.items():
        nearer(study, f"PingPong {how}", {kind: curve.mean for kind, curve in curves.items()})
    draw(study, every)


def nearer(study: Study, what: str, times: Mapping[str, Mapping[int, float]]) -> None:
    """Whether constants are nearer to EventSpace's trace than NWS is, and by how much each is off."""
    off = {
        kind: {size: times[kind][size] / took - 1 for size, took in times["eventspace"].items()}
        for kind in ("constant", "nws")
    }
    mean = {kind: fmean(abs(value) for value in values.values()) for kind, values in off.items()}
    signed = {kind: ", ".join(f"{value:+.1%}" for value in values.values()) for kind, values in off.items()}
    study.say(f"{what}: against eventspace, constant {signed['constant']} by size")
    study.say(f"{what}: against eventspace, nws {signed['nws']} by size")
    study.claim(
        f"{what}: constant is within 10 % of eventspace on average over sizes ({mean['constant']:.1%}),"
        f" nws further away ({mean['nws']:.1%})",
        mean["constant"] < 0.1 and mean["nws"] > mean["constant"],
    )


def draw(study: Study, every: Mapping[str, Mapping[str, Curve]]) -> None:
    """Latency of small messages and bandwidth of all."""
    with paper():
        made, _latency, bandwidth = drawn(
            (curve, {"label": f"{kind}, {how}", "linestyle": line, "marker": marker, "color": colour})
            for how, line in (("relayed", "-"), ("simulated", ":"))
            for (kind, curve), marker, colour in zip(
                every[how].items(), "os^", ("C0", "C1", "C2"), strict=True
            )
        )
        bandwidth.legend(fontsize=8)
        study.figure(made, "figure5")
