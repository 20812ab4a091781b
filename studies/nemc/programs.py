"""The parallel programs of figures 6 and 7, how much they compute, and how long they take in a simulation."""

from functools import cache
from pathlib import Path

from skeletons import STEP_S, STEPS, Program, one_rank_s

import longhaul

SCENARIO = Path(__file__).parent / "applications.yaml"
KERNELS = ("ep", "is", "mg", "cg", "ft")
PAPER_S = {"ep": 82.5, "is": 50.3, "mg": 24.4}
"""On four hosts, class B."""
SMALL, LARGE = 4, 8
"""Ranks: one cluster, both."""
LAN_US = 20


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
def communication_s(name: str, runs: Path) -> float:
    """What a kernel of class B takes on four hosts if it computes nothing."""
    return simulate(Program(name, "B", 1e-6), SMALL, [0], runs)[0]


def paper_programs(runs: Path) -> dict[str, Program]:
    """Class B, with as much computing as makes the paper's times on four hosts.

    For CG and FT the paper has none: as much as in MG, in the proportion in which they compute here.
    """
    found = {
        name: Program(name, "B", SMALL * (paper_s - communication_s(name, runs)))
        for name, paper_s in PAPER_S.items()
    }
    for name in KERNELS:
        if name not in found:
            ratio = one_rank_s(name, "B") / one_rank_s("mg", "B")
            found[name] = Program(name, "B", found["mg"].compute_s * ratio)
    return {**{name: found[name] for name in KERNELS}, "molecules": Program("molecules", "", STEPS * STEP_S)}


def scaled(program: Program, problem: str) -> Program:
    """The same hosts with a smaller problem."""
    if program.name == "molecules":
        return program
    ratio = one_rank_s(program.name, problem) / one_rank_s(program.name, program.problem)
    return Program(program.name, problem, program.compute_s * ratio)
