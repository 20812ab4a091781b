"""The parallel programs of figures 6 and 7, how much they compute, and how long they take in a simulation."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from skeletons import Program, one_rank_s

import longhaul
from longhaul.studies import StudyFolder

SCENARIO = Path(__file__).parent / "applications.yaml"
KERNELS = ("ep", "is", "mg", "cg", "ft")
_FOUR_HOSTS = StudyFolder(Path(__file__).parent).claims.numbers("four-hosts-times")
PAPER_S = {name: _FOUR_HOSTS[f"{name}_s"] for name in ("ep", "is", "mg")}
"""On four hosts, class B."""
SMALL, LARGE = 4, 8
"""Ranks: one cluster, both."""

DERIVED, SCALED, OWN = "paper's times", "EP's time", "this machine"
INPUTS: Mapping[str, str] = {
    DERIVED: "derived from the answer: as much computing as makes the paper's own times of EP, IS and MG on"
    " four hosts; CG and FT in the proportion to MG in which they compute here",
    SCALED: "independent: computing as measured here, times one factor for all, which makes EP's"
    f" {PAPER_S['ep']} s",
    OWN: "independent: computing as measured here",
}
"""How much the kernels compute. The paper says nothing of it but these times."""


def simulate(program: Program, ranks: int, delays_us: list[int], runs: Path) -> dict[int, float]:
    """Seconds that it takes on so many hosts, for each delay of the backbone."""
    path = runs / f"{program.name}-{program.problem or 'x'}-{ranks}.yaml"
    messages = path.with_suffix(".csv")
    program.record(ranks, messages)
    hosts = "[a1..4]" if ranks == SMALL else "[a1..4, b1..4]"
    text = SCENARIO.read_text(encoding="utf-8").replace("name: applications", f"name: {path.stem.lower()}")
    what = f"{{kind: recorded, file: {messages.name}}}"
    path.write_text(f"{text}\nprograms:\n  app: {{simulate: {what}, hosts: {hosts}}}\n", encoding="utf-8")
    swept = longhaul.sweep(
        path, axes={"delay": [f"{delay}us" for delay in delays_us]}, runs=runs, report=False
    )
    table = swept.table("parts")
    rows = zip(table["variant"], table["item"], table["wall_ns"], strict=True)
    return {delays_us[variant]: wall / 1e9 for variant, item, wall in rows if item == "programs.app"}


@cache
def communication_s(name: str, problem: str, runs: Path) -> float:
    """What a kernel takes on four hosts if it computes nothing."""
    return simulate(Program(name, problem, 1e-6), SMALL, [0], runs)[0]


def kernels(given: str, runs: Path, problem: str = "B") -> dict[str, Program]:
    """The kernels of a class, with as much computing as one of :data:`INPUTS` says."""
    own = {name: one_rank_s(name, problem) for name in KERNELS}
    if given == OWN:
        return {name: Program(name, problem, own[name]) for name in KERNELS}
    makes = {
        name: SMALL * (seconds - communication_s(name, problem, runs)) for name, seconds in PAPER_S.items()
    }
    if given == SCALED:
        return {name: Program(name, problem, makes["ep"] * own[name] / own["ep"]) for name in KERNELS}
    return {
        name: Program(name, problem, makes.get(name, makes["mg"] * own[name] / own["mg"])) for name in KERNELS
    }


def smaller(program: Program, problem: str) -> Program:
    """The same hosts with a smaller problem."""
    ratio = one_rank_s(program.name, problem) / one_rank_s(program.name, program.problem)
    return Program(program.name, problem, program.compute_s * ratio)
