"""Figures 5 and 7 at the paper's rates on the virtual clock: Linux's TCP, and Open MPI with 32 ranks."""

from kernels import (
    RTTS_MS,
    SIMULATED,
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

DELAYED = "mg"
"""The kernel of figure 7."""


def study_virtual(study: Study) -> None:
    """Every kernel over every way, MG at every round trip, and the same simulated."""
    seconds: dict[tuple[str, str, int], list[float]] = {}
    for way, algorithms in ways():
        for rtt in RTTS_MS:
            key = f"kernels-virtual/{way}/{rtt}"
            found = study.measured(key, lambda a=algorithms, r=rtt: kernels_over(study, a, r))
            if found is None:
                raise RuntimeError(f"kernels did not run over {way}, and claims need it")
            for name, value in found.items():
                seconds[name, way, rtt] = [value]
    model = study.measured("kernels-virtual/simulated", lambda: simulate(study, USUAL, RTTS_MS))
    if model is None:
        raise RuntimeError("kernels were not simulated")
    alike: Seconds = {(each["kernel"], each["way"], each["rtt_ms"]): [each["s"]] for each in model}
    study.table(
        "kernels-virtual",
        rows_of({"virtual": seconds, "simulated": {key: alike[key] for key in seconds}}),
    )
    evaluate(study, {"virtual": seconds}, "-virtual")
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


def kernels_over(study: Study, algorithms: str, rtt_ms: int) -> dict[str, float]:
    """Seconds of every kernel over one way; at a round trip, of MG."""
    kernels = study.size(SIMULATED, small=SMALLEST)
    chosen = [name for name in kernels if not rtt_ms or name == DELAYED]
    what = [f"{name}:{kernels[name]}={USUAL * one_rank_s(name, kernels[name]):.6f}" for name in chosen]
    path = scenario("kernels-virtual", algorithms, study.runs)
    text = path.read_text(encoding="utf-8").replace(
        # Linux 2.6.22 found losses by duplicates, and adapted their number.
        "recovery: sack-adaptive",
        "congestion_control: bic, sysctls: {net.ipv4.tcp_recovery: 0}",
    )
    path.write_text(text, encoding="utf-8")
    params = {"delay": one_way(rtt_ms)}
    logs = run(study, path, ranks_command(SLOT_RANKS, what), "[a1..4, b1..4]", params=params, slots=4)
    return {name: round(each["wall_s"], 4) for name, each in read_kernels(logs, len(chosen)).items()}


def draw(figures: Figures) -> None:
    """Figures 5 and 7 with Linux's TCP."""
    draw_kernels(figures, "virtual", "-virtual", "kernels-virtual", "Linux on the virtual clock")
