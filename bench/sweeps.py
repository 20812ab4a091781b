"""What a sweep adds to the runs in it, how fast it is, and how much memory many points take.

CPU time of all threads, so that other work on the machine changes little; the best of three. Writes
``bench/sweeps.json``. ``--points N`` measures memory over so many points, ``--slurm`` a Slurm of one node.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from figures import Row, row, write_part

from longhaul import _longhaul
from longhaul.scenario.sweeps.options import Options
from longhaul.sweeps import sweep as sweeps
from longhaul.sweeps.cluster import Cluster
from longhaul.sweeps.job import point_plan, with_seed
from longhaul.sweeps.local import Threads, Workers
from longhaul.sweeps.place import Place
from longhaul.sweeps.preparation import Prepared, prepare

HERE = Path(__file__).parent
SCENARIO = """
version: 1
name: bench
duration: {duration}
nodes: {{a: {{kind: host}}, b: {{kind: host}}}}
links: {{wan: {{endpoints: [a, b], delay: 5ms, rate: {rate}, loss: 0.01%, queue: 1bdp}}}}
traffic: {{bulk: {{kind: tcp, from: a, to: b, cc: reno}}}}
"""
KINDS = {"no-op": ("1ms", "10Mbit"), "10 ms": ("2s", "400Mbit"), "1 s": ("300s", "400Mbit")}
"""Duration and rate of runs that take about so long on one core."""


def prepared(place: Path, kind: str, *, variants: int, repeat: int) -> Prepared:
    """A sweep over ``variants`` delays."""
    duration, rate = KINDS[kind]
    path = place / "bench.yaml"
    path.write_text(SCENARIO.format(duration=duration, rate=rate))
    delays = f"{{from: 5ms, to: 6ms, steps: {variants}}}" if variants > 1 else "5ms"
    options = Options(axes={"links.wan.delay": delays}, repeat=repeat)
    return prepare(path, settings={}, options=options)


def native_s(sweep: Prepared, points: int) -> float:
    """CPU seconds of the first runs alone, whose plans are there already."""
    texts = []
    for variant in range(points):
        plan, _traffic, rest = point_plan(
            sweep.job.base, sweep.design.values(variant % sweep.design.variants)
        )
        texts.append(with_seed(rest, plan["seed"] + variant // sweep.design.variants))
    began = time.process_time()
    _longhaul.simulate_many(texts)
    return time.process_time() - began


def swept(sweep: Prepared, workers: AbstractContextManager[Workers], place: Path) -> dict[str, float]:
    """CPU seconds of this process, and the wall's, from the first shard to the summary."""
    folder = sweeps.begin(sweep, runs=place / "runs", argv=[])
    with workers as hands:
        began, cpu = time.perf_counter(), time.process_time()
        done = sweeps.execute(folder, sweep, hands, report=False)
        wall, cpu = time.perf_counter() - began, time.process_time() - cpu
    assert done.exit_code == 0, done.summary
    return {"wall_s": wall, "cpu_s": cpu}


def overhead(kind: str, *, variants: int, repeat: int) -> dict[str, Any]:
    """What resolving, rows, Parquet and summary add to the runs of a kind."""
    points = variants * repeat
    best: dict[str, Any] = {}
    for _ in range(3):
        with tempfile.TemporaryDirectory() as folder:
            sweep = prepared(Path(folder), kind, variants=variants, repeat=repeat)
            alone_s = native_s(sweep, points)
            found = swept(sweep, Threads(), Path(folder))
        added_s = (found["cpu_s"] - alone_s) / points
        if not best or added_s < best["added_s"]:
            best = {
                "kind": kind,
                "variants": variants,
                "repeat": repeat,
                "run_s": alone_s / points,
                "added_s": added_s,
                "added_share": added_s * points / alone_s,
                "points_per_s": points / found["wall_s"],
                "cores_used": found["cpu_s"] / found["wall_s"],
            }
    return best


def on_cluster(kind: str, place_: Place, *, variants: int, repeat: int) -> dict[str, Any]:
    """Points a second of a cluster, with its start left out."""
    with tempfile.TemporaryDirectory() as folder:
        sweep = prepared(Path(folder), kind, variants=variants, repeat=repeat)
        found = swept(sweep, Cluster(place_), Path(folder))
    points = variants * repeat
    rate = points / found["wall_s"]
    return row(f"{place_.kind}, {kind}: runs", rate, "a second", "", True) | {
        "kind": kind,
        "cluster": place_.kind,
        "points": points,
        "wall_s": found["wall_s"],
        "points_per_s": rate,
        "client_cpu_s": found["cpu_s"],
    }


def memory(points: int) -> dict[str, Any]:
    """Resident memory of a sweep of no-op points while it runs, and its most at the end."""
    repeat = 10
    seen: list[tuple[float, int, float]] = []
    with tempfile.TemporaryDirectory() as folder:
        sweep = prepared(Path(folder), "no-op", variants=points // repeat, repeat=repeat)
        directory = sweeps.begin(sweep, runs=Path(folder) / "runs", argv=[])
        shard_points = directory.read()["shard_points"]
        ended = threading.Event()
        began = time.perf_counter()

        def watch() -> None:
            while not ended.wait(0.5):
                seen.append(
                    (time.perf_counter() - began, len(directory.done()) * shard_points, resident_mb())
                )

        watcher = threading.Thread(target=watch)
        watcher.start()
        with Threads() as threads:
            done = sweeps.execute(directory, sweep, threads, report=False)
        ended.set()
        watcher.join()
        size = sum(path.stat().st_size for path in directory.parts.iterdir())
    assert done.summary["points"] == points
    at = {share: next((mb for _, n, mb in seen if n >= share * points), None) for share in (0.1, 0.5, 0.9)}
    return {
        "points": points,
        "wall_s": time.perf_counter() - began,
        "resident_mb_at_10_percent": at[0.1],
        "resident_mb_at_50_percent": at[0.5],
        "resident_mb_at_90_percent": at[0.9],
        "resident_mb_most_with_summary": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "parts_mb": size / 1e6,
    }


def resident_mb() -> float:
    """What this process holds in memory now."""
    pages = int(Path("/proc/self/statm").read_text(encoding="utf-8").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def main() -> None:
    """Measure, print a line for each result, and write all of them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--points", type=int, help="measure memory over so many points, and nothing else")
    parser.add_argument("--slurm", action="store_true", help="on a Slurm of one node too (root, slurm-wlm)")
    asked = parser.parse_args()
    if asked.points:
        print(json.dumps(memory(asked.points)))
        return
    results: dict[str, list[Row]] = {"local": [], "cluster": []}
    for kind, counts in (
        ("no-op", ((1, 5000), (2000, 1))),
        ("10 ms", ((2, 150), (300, 1))),
        ("1 s", ((2, 3),)),
    ):
        for variants, repeat in counts:
            found = overhead(kind, variants=variants, repeat=repeat)
            what = f"{kind}, {variants} x {repeat}: added to a run"
            results["local"].append(row(what, found["added_s"] * 1e3, "ms", "", True) | found)
    for kind, repeat in (("no-op", 5000), ("10 ms", 400), ("1 s", 8)):
        local = Place("local", options={"n_workers": len(os.sched_getaffinity(0)), "dashboard_address": None})
        results["cluster"].append(on_cluster(kind, local, variants=2, repeat=repeat // 2))
    if asked.slurm:
        results["cluster"] += on_slurm()
    command = [sys.executable, __file__, "--points", "100000"]
    text = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    used = json.loads(text)
    results["memory"] = [
        row(f"memory, {used['points']:,} runs", used["resident_mb_at_90_percent"], "MB", "", True) | used
    ]
    for name, rows in results.items():
        write_part(HERE / "sweeps.json", name, rows, rounds=1)


def on_slurm() -> list[dict[str, Any]]:
    """The same on Slurm, which is started here."""
    sys.path.insert(0, str(HERE.parent))
    from tests.run import slurm

    found = []
    with (
        tempfile.TemporaryDirectory() as folder,
        slurm.running(Path(folder) / "slurm", cpus=2) as environment,
    ):
        os.environ.update(environment)
        place = Place(
            "slurm",
            2,
            {"cores": 1, "memory": "1GB", "interface": "lo", "walltime": "00:20:00", "log_directory": folder},
        )
        for kind, repeat in (("no-op", 5000), ("10 ms", 400), ("1 s", 8)):
            found.append(on_cluster(kind, place, variants=2, repeat=repeat // 2))
    return found


if __name__ == "__main__":
    main()
