"""Real programs from Debian on the same clusters: GROMACS with a box of water, and the HPC Challenge.

They compute for real, on this machine's cores: eight ranks cannot be faster than four on two cores. They show
that unmodified programs run, and what the delay costs them.
"""

import itertools
import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from applications import TIMEOUT_S
from programs import SCENARIO
from skeletons import ATOMS

import longhaul
from longhaul.report.plotting import figure, paper
from longhaul.studies import Figures, Study, at_most, between, measured, ratios
from longhaul.studies.drawing import draw_measured, legend_below

MPIRUN = "mpirun.openmpi"
"""Debian's, which its programs are built with."""
MOVES = [
    "gmx_mpi",
    "-quiet",
    "mdrun",
    "-s",
    "md.tpr",
    "-ntomp",
    "1",
    "-pin",
    "off",
    "-dlb",
    "no",
    "-notunepme",
]
INSTALL = "apt-get install gromacs hpcc openmpi-bin"
DELAYS_US = (100, 1000, 4000)
BOX_NM = 3
STEP_NS = 2e-6
"""Of simulated time: dt below."""
EXAMPLE = Path("/usr/share/doc/hpcc/examples/_hpccinf.txt")

TOPOLOGY = """#include "oplsaa.ff/forcefield.itp"
#include "oplsaa.ff/spc.itp"
[ system ]
water
[ molecules ]
SOL {molecules}
"""
FORCES = """cutoff-scheme = Verlet
coulombtype = reaction-field
rcoulomb = 0.9
rvdw = 0.9
nstlist = 10
"""
RELAX = f"integrator = steep\nnsteps = 100\n{FORCES}"
MOVE = f"""integrator = md
dt = 0.002
nsteps = 200
{FORCES}tcoupl = v-rescale
tc-grps = System
tau-t = 0.5
ref-t = 300
gen-vel = yes
gen-temp = 300
gen-seed = 1
"""


def study_installed(study: Study, *, rounds: int) -> None:
    """Run them in every round, if they are installed."""
    require(MPIRUN, "gmx", "gmx_mpi", "hpcc")
    if not EXAMPLE.exists():
        raise RuntimeError(f"{EXAMPLE} not installed ({INSTALL})")
    folder = study.directory / "installed"
    folder.mkdir(exist_ok=True)
    water(folder, BOX_NM)
    found = [
        study.measured(f"installed/{number}", lambda: one_round(study, folder)) for number in range(rounds)
    ]
    rows = [{"round": number, **row} for number, each in enumerate(found) if each for row in each["gromacs"]]
    study.table("gromacs", rows)
    speeds = {
        delay: [
            row["ns_per_day"] for row in rows if (row["hosts"], row["delay_us"]) == (8 if delay else 4, delay)
        ]
        for delay in (0, *DELAYS_US)
    }
    study.evaluate(
        "installed-gromacs-slower",
        [at_most(f"{delay} µs", ratios(speeds[delay], speeds[0]), 1) for delay in DELAYS_US],
    )
    study.evaluate(
        "installed-gromacs-delay",
        [
            at_most(f"{b} against {a} µs", ratios(speeds[b], speeds[a]), 1)
            for a, b in itertools.pairwise(DELAYS_US)
        ],
    )
    near, far = (measured([each["latencies_us"][place] for each in found if each]) for place in (0, 1))
    limits = study.numbers("hpcc-latencies")
    study.evaluate(
        "hpcc-latencies",
        [
            at_most("least", near, limits["near_us"], "µs"),
            between("largest", far, limits["least_us"], limits["most_us"], "µs"),
        ],
    )
    study.value("gromacs-step", measured([each["step_ms"] for each in found if each]), "ms")


def require(*programs: str) -> None:
    """Raise RuntimeError if one of them is not installed."""
    missing = [name for name in programs if shutil.which(name) is None]
    if missing:
        raise RuntimeError(f"{', '.join(missing)} not installed ({INSTALL})")


def one_round(study: Study, folder: Path) -> dict[str, Any]:
    """GROMACS on four hosts and on eight, HPCC on eight, and a step of GROMACS on one core alone."""
    with study.network(SCENARIO) as network:
        network.set("backbone", delay="0us")
        rows = [{"hosts": 4, "delay_us": 0, "ns_per_day": gromacs(network, 4, folder)}]
        for delay in DELAYS_US:
            network.set("backbone", delay=f"{delay}us")
            rows.append({"hosts": 8, "delay_us": delay, "ns_per_day": gromacs(network, 8, folder)})
        network.set("backbone", delay="1ms")
        latencies = challenge(network, folder)
        alone = gromacs(network, 1, folder)
    # Of so many atoms as the skeleton has, where the box of water has fewer.
    step_ms = 86_400e3 / (alone / STEP_NS) * ATOMS / atoms(folder)
    return {"gromacs": rows, "latencies_us": latencies, "step_ms": step_ms}


def water(folder: Path, box_nm: float) -> None:
    """A box of water that has relaxed, as ``md.tpr``."""
    gmx(folder, "solvate", "-cs", "spc216.gro", "-box", *[str(box_nm)] * 3, "-o", "water.gro")
    (folder / "topol.top").write_text(TOPOLOGY.format(molecules=atoms(folder) // 3), encoding="ascii")
    for name, text, start in (("em", RELAX, "water.gro"), ("md", MOVE, "em.gro")):
        (folder / f"{name}.mdp").write_text(text, encoding="ascii")
        gmx(folder, "grompp", "-f", f"{name}.mdp", "-c", start, "-p", "topol.top", "-o", f"{name}.tpr")
        if name == "em":
            gmx(folder, "mdrun", "-deffnm", "em", "-nt", "1")


def atoms(folder: Path) -> int:
    """How many the box has."""
    return int((folder / "water.gro").read_text(encoding="ascii").splitlines()[1])


def gmx(folder: Path, *arguments: str) -> None:
    """One of GROMACS's tools."""
    subprocess.run(["gmx", "-quiet", *arguments], cwd=folder, check=True, capture_output=True)


def parallel(network: longhaul.Network, folder: Path, ranks: int, argv: Sequence[str]) -> None:
    """An MPI program in ``folder``, from host a1."""
    start = f"{MPIRUN} -x OMP_NUM_THREADS -n {ranks} {' '.join(argv)}"
    inside = f"cd '{folder}' && OMP_NUM_THREADS=1 exec timeout {TIMEOUT_S} {start}"
    network.run("a1", ["sh", "-c", inside])


def gromacs(network: longhaul.Network, ranks: int, folder: Path) -> float:
    """Simulated ns a day."""
    name = f"md-{ranks}"
    parallel(network, folder, ranks, [*MOVES, "-deffnm", name])
    return ns_per_day((folder / f"{name}.log").read_text(encoding="utf-8", errors="replace"))


def ns_per_day(said: str) -> float:
    """What GROMACS says of its speed."""
    return float(re.findall(r"^Performance:\s+([\d.]+)", said, re.MULTILINE)[-1])


def challenge(network: longhaul.Network, folder: Path) -> tuple[float, float]:
    """The least and the largest ping-pong latency that HPCC finds among eight ranks, in us."""
    text = EXAMPLE.read_text(encoding="ascii")
    text = re.sub(r"^1000 ( *Ns)$", r"400 \1", text, flags=re.MULTILINE)
    text = re.sub(r"^2 ( *Qs)$", r"4 \1", text, flags=re.MULTILINE)
    (folder / "hpccinf.txt").write_text(text, encoding="ascii")
    (folder / "hpccoutf.txt").unlink(missing_ok=True)
    parallel(network, folder, 8, ["hpcc"])
    found = dict(
        re.findall(r"^(\w+)=([\d.e+-]+)$", (folder / "hpccoutf.txt").read_text(encoding="utf-8"), re.M)
    )
    return float(found["MinPingPongLatency_usec"]), float(found["MaxPingPongLatency_usec"])


def draw(figures: Figures) -> None:
    """Figure 7b with a box of water: four hosts, and eight by the delay between the clusters."""
    rows = figures.rows("gromacs")
    cases = list(dict.fromkeys((row["hosts"], row["delay_us"]) for row in rows))
    with paper():
        made = figure(3.2, width_in=5.5)
        axes = made.subplots()
        found = [
            measured([row["ns_per_day"] for row in rows if (row["hosts"], row["delay_us"]) == case])
            for case in cases
        ]
        draw_measured(axes, range(len(cases)), found, label="GROMACS, a box of water")
        labels = [f"{delay / 1000:g} ms" if hosts > 4 else "4x1" for hosts, delay in cases]
        axes.set_xticks(range(len(cases)), labels)
        axes.set(
            xlabel="one cluster, or two by the delay between them, one way",
            ylabel="simulated time [ns/day]",
            ylim=(0, None),
        )
        axes.set_title("figure 7b, with a box of water")
        legend_below(made)
        figures.add(made, "gromacs", data=["gromacs"])
