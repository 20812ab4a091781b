"""Real programs from Debian on the same clusters: GROMACS with a box of water, and the HPC Challenge.

They compute for real, on this machine's cores: eight ranks cannot be faster than four on two cores. What they
show is that unmodified programs run, and what the delay costs them.
"""

import itertools
import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from programs import SCENARIO
from study import Study

import longhaul

MPIRUN = "mpirun.openmpi"
"""Debian's, which its programs are built with."""
INSTALL = "apt-get install gromacs hpcc openmpi-bin"
DELAYS_US = (100, 1000, 4000)
BOX_NM = 3
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


def study_installed(study: Study) -> None:
    """Run them, if they are installed."""
    missing = [name for name in (MPIRUN, "gmx", "gmx_mpi", "hpcc") if shutil.which(name) is None]
    if missing or not EXAMPLE.exists():
        study.say(f"left out: {', '.join(missing) or EXAMPLE} not installed ({INSTALL})")
        return
    folder = study.directory / "installed"
    folder.mkdir(exist_ok=True)
    water(folder)
    with longhaul.up(SCENARIO, runs=study.directory / "runs") as network:
        rows = [{"hosts": 4, "delay_us": 0, "ns_per_day": gromacs(network, 4, folder)}]
        for delay in DELAYS_US:
            network.set("backbone", delay=f"{delay}us")
            rows.append({"hosts": 8, "delay_us": delay, "ns_per_day": gromacs(network, 8, folder)})
        for row in rows:
            study.say(
                f"GROMACS on {row['hosts']} hosts, {row['delay_us']} us: {row['ns_per_day']:.2f} ns a day"
            )
        study.table("gromacs", rows)
        network.set("backbone", delay="1ms")
        latencies = challenge(network, folder)
    speeds = [row["ns_per_day"] for row in rows]
    study.claim(
        "GROMACS is slower on two clusters at every delay, and the more so the longer it is",
        all(one > other for one, other in itertools.pairwise(speeds)),
    )
    near, far = latencies
    study.say(
        f"HPCC at 1 ms: ping-pong latency {near:.0f} us inside a cluster at least, {far:.0f} us at most"
    )
    study.claim(
        "HPCC finds the backbone: 1.04 ms at least between clusters, and within one far less",
        near < 300 and 1040 <= far < 2080,
    )


def water(folder: Path) -> None:
    """A box of water that has relaxed, as ``md.tpr``."""
    gmx(folder, "solvate", "-cs", "spc216.gro", "-box", *[str(BOX_NM)] * 3, "-o", "water.gro")
    atoms = int((folder / "water.gro").read_text(encoding="ascii").splitlines()[1])
    (folder / "topol.top").write_text(TOPOLOGY.format(molecules=atoms // 3), encoding="ascii")
    for name, text, start in (("em", RELAX, "water.gro"), ("md", MOVE, "em.gro")):
        (folder / f"{name}.mdp").write_text(text, encoding="ascii")
        gmx(folder, "grompp", "-f", f"{name}.mdp", "-c", start, "-p", "topol.top", "-o", f"{name}.tpr")
        if name == "em":
            gmx(folder, "mdrun", "-deffnm", "em", "-nt", "1")


def gmx(folder: Path, *arguments: str) -> None:
    """One of GROMACS's tools."""
    subprocess.run(["gmx", "-quiet", *arguments], cwd=folder, check=True, capture_output=True)


def parallel(network: longhaul.Network, folder: Path, ranks: int, argv: Sequence[str]) -> None:
    """An MPI program in ``folder``, from host a1."""
    start = f"cd '{folder}' && OMP_NUM_THREADS=1 exec {MPIRUN} -x OMP_NUM_THREADS -n {ranks} {' '.join(argv)}"
    network.run("a1", ["sh", "-c", start])


def gromacs(network: longhaul.Network, ranks: int, folder: Path) -> float:
    """Simulated ns a day."""
    name = f"md-{ranks}"
    run = ["gmx_mpi", "-quiet", "mdrun", "-s", "md.tpr", "-deffnm", name, "-ntomp", "1", "-pin", "off"]
    parallel(network, folder, ranks, [*run, "-dlb", "no", "-notunepme"])
    log = (folder / f"{name}.log").read_text(encoding="utf-8", errors="replace")
    return float(re.findall(r"^Performance:\s+([\d.]+)", log, re.MULTILINE)[-1])


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
