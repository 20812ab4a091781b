"""Figures 5 and 7 at the paper's rates on the virtual clock: Linux's TCP, and Open MPI with 32 ranks."""

from collections.abc import Mapping

from kernels import (
    DELAYED,
    DELAYED_WAYS,
    RTTS_MS,
    SLOT_RANKS,
    SMALLEST,
    USUAL,
    Seconds,
    draw_kernels,
    evaluate,
    one_way,
    rows_of,
    scenario,
    simulate,
    ways,
)
from on_virtual_clock import ranks_command, read_kernels, run
from skeletons import one_rank_s

from longhaul.studies import Figures, Study, between, exact

SIZES = {"ft": "A", "mg": "A", "cg": "A"}
"""MG of class A is B with a fifth of its iterations; FT of class A sends a thirteenth of what B sends."""
LINUX = "congestion_control: bic, sysctls: {net.ipv4.tcp_recovery: 0}"
"""Linux 2.6.22 found losses by duplicates, and adapted their number."""


def study_virtual(study: Study) -> None:
    """Every kernel over every way, MG at round trips over those of figure 7, and the same simulated."""
    sizes = study.size(SIZES, small=SMALLEST)
    seconds: dict[tuple[str, str, int], list[float]] = {}
    for way, algorithms in ways():
        for rtt in RTTS_MS if way in DELAYED_WAYS else (0,):
            chosen = {DELAYED: sizes[DELAYED]} if rtt else sizes
            key = f"kernels-virtual/{way}/{rtt}"
            found = study.measured(key, lambda a=algorithms, r=rtt, c=chosen: kernels_over(study, a, r, c))
            if found is None:
                raise RuntimeError(f"kernels did not run over {way}, and claims need it")
            for name, value in found.items():
                seconds[name, way, rtt] = [value]
    model = study.measured("kernels-virtual/simulated", lambda: simulate(study, sizes, USUAL, RTTS_MS))
    if model is None:
        raise RuntimeError("kernels were not simulated")
    alike: Seconds = {(each["kernel"], each["way"], each["rtt_ms"]): [each["s"]] for each in model}
    study.table(
        "kernels-virtual",
        rows_of({"virtual": seconds, "simulated": {key: alike[key] for key in seconds}}),
    )
    evaluate(study, {"virtual": seconds}, usual="virtual", end="-virtual")
    limits = study.numbers("virtual-as-simulated")
    study.evaluate(
        "virtual-as-simulated",
        [
            between(
                f"{name.upper()}, {way}, {rtt} ms",
                exact(value / alike[name, way, rtt][0]),
                limits["least"],
                limits["most"],
            )
            for (name, way, rtt), (value,) in seconds.items()
        ],
    )


def kernels_over(study: Study, algorithms: str, rtt_ms: int, sizes: Mapping[str, str]) -> dict[str, float]:
    """Seconds of each kernel, of its class, over one way."""
    what = [f"{name}:{problem}={USUAL * one_rank_s(name, problem):.6f}" for name, problem in sizes.items()]
    text = scenario("kernels-virtual", algorithms, study.runs).read_text(encoding="utf-8")
    logs = run(
        study,
        "kernels-virtual",
        text.replace("recovery: sack-adaptive", LINUX),
        ranks_command(SLOT_RANKS, what),
        "[a1..4, b1..4]",
        slots=SLOT_RANKS // 8,
        delay=one_way(rtt_ms),
    )
    return {name: round(each["wall_s"], 6) for name, each in read_kernels(logs, list(sizes)).items()}


def draw(figures: Figures) -> None:
    """Figures 5 and 7 with Linux's TCP."""
    draw_kernels(figures, "virtual", "-virtual", "kernels-virtual", "Linux on the virtual clock")
