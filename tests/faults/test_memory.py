"""A run that needs more memory than it may use ends early, with a reason and its results so far."""

import json
import os
import re
import shlex
import sys
import time
from itertools import count
from pathlib import Path

import pytest
from click.testing import CliRunner
from machine import why_not_live
from transferring import SCENARIO as TWO_SITES
from transferring import SMALL, carried

from longhaul.cli.experiments import simulate
from longhaul.cli.main import longhaul as command
from longhaul.results import ending
from longhaul.results.directory import read_run
from longhaul.results.outcomes import read_outcome
from longhaul.run import live, memory, sockets
from longhaul.run.api import run_sim
from longhaul.run.available_memory import available_in_group
from longhaul.run.check import report
from longhaul.run.conclusion import conclude, ignore
from longhaul.run.memory import MemoryLimit
from longhaul.scenario import load_scenario, resolve
from longhaul.scenario.lower.link_memory import held_bytes
from longhaul.scenario.sweeps.options import Options
from longhaul.sweeps import sweep as sweeps
from longhaul.sweeps.arrays import write_scripts
from longhaul.sweeps.cluster import Cluster
from longhaul.sweeps.job import run_shard
from longhaul.sweeps.limited import run_limited_shard
from longhaul.sweeps.local import Threads
from longhaul.sweeps.place import Place
from longhaul.sweeps.preparation import prepare
from longhaul.units.quantities import Size

SCENARIO = """
version: 1
name: full
duration: %(duration)s
nodes: {a: {kind: host}, b: {kind: host}}
links: {wan: {endpoints: [a, b], delay: 5ms, rate: 1Mbit, queue: {kind: fifo, limit: 9999TB}}}
traffic:
  load: {kind: udp, from: a, to: b, rate: %(rate)s, simulated: %(simulated)s}
"""


LONG = "100s"
"""Simulated in a second: memory is compared with the limit five times a second."""


def scenario(place: Path, *, duration: str = "40s", rate: str = "10Gbit", simulated: bool = True) -> Path:
    path = place / "full.yaml"
    path.write_text(SCENARIO % {"duration": duration, "rate": rate, "simulated": str(simulated).lower()})
    return path


def test_check_warns_of_links_that_may_hold_more_than_a_run_may_use(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory, "available_bytes", lambda: 20 * 10**9)
    text, code = report([scenario(tmp_path)], settings={}, as_json=False)
    assert code == 0
    assert (
        "the run may end early, because its links can hold 50 GB in queues and in transit, more than the 10 "
        "GB that a run may use, half of the free memory" in text
    ), "10 Gbit/s for 40 s"
    text, _code = report([scenario(tmp_path, duration="7s")], settings={}, as_json=False)
    assert "memory" not in text, "8.75 GB are less than half"
    resolved = resolve(load_scenario(scenario(tmp_path)))
    assert memory.concerns(resolved, 60 * 10**9) == (), "the limit is that of the run"
    assert "more than the 4 GB that a run may use; write" in memory.concerns(resolved, 4 * 10**9)[0].headline


def test_links_hold_no_more_than_their_queues_and_delays(tmp_path: Path) -> None:
    path = scenario(tmp_path)
    path.write_text(path.read_text().replace("9999TB", "3MB"))
    # 1 Mbit/s for 5 ms in transit, both ways.
    assert held_bytes(resolve(load_scenario(path))) == 2 * (3_000_000 + 625)
    path.write_text(path.read_text().replace("3MB", "100p"))
    assert held_bytes(resolve(load_scenario(path))) == 2 * (100 * 1500 + 625)


def test_a_simulation_that_reaches_its_limit_has_failed_and_keeps_its_results(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(memory, "available_bytes", lambda: 20 * 10**9)
    runs = tmp_path / "runs"
    code = simulate(
        scenario(tmp_path), settings={}, runs=runs, argv=[], report=False, memory_bytes=60_000_000
    )
    assert code == 1
    assert "its limit is 60 MB; shorten queues" in capsys.readouterr().out
    assert caplog.text.count("its links can hold 50 GB") == 1
    directory = (runs / "full" / "latest").resolve()
    summary = json.loads((directory / "summary.json").read_text())
    assert summary["ended"] == "failed"
    assert 0 < summary["duration_ns"] < 40 * 10**9
    assert summary["flows"][0]["goodput_bits_per_s"] > 0
    record = json.loads((directory / "run.json").read_text())
    assert record["status"] == "failed"
    assert record["reason"].startswith("the run ended early: it used ")
    assert read_outcome(directory).state == "failed"
    again = conclude(directory, reason="failed", report=False)
    assert again["outcome"]["detail"] == summary["outcome"]["detail"], (
        "the same reason whenever results are written again"
    )


def test_a_sweep_that_reaches_its_limit_is_incomplete_and_resumes(tmp_path: Path) -> None:
    path = scenario(tmp_path, duration=LONG, rate="1Gbit")
    prepared = prepare(path, settings={}, options=Options(axes={"links.wan.delay": "1ms,2ms"}, repeat=1))
    folder = sweeps.begin(prepared, runs=tmp_path / "runs", argv=[])
    with Threads(1, memory_bytes=20_000_000) as workers:
        swept = sweeps.execute(folder, prepared, workers, report=False)
    assert swept.exit_code == 1
    assert swept.summary["status"] == "incomplete"
    assert "its limit is 20 MB" in json.loads((folder.path / "sweep.json").read_text())["reason"]
    with Threads(1) as workers:
        swept = sweeps.execute(*sweeps.prepare_rest(folder.path), workers, report=False)
    assert swept.exit_code == 0
    assert swept.summary["points"] == 2


def test_a_worker_of_a_cluster_that_reaches_its_limit_ends_the_sweep_as_incomplete(tmp_path: Path) -> None:
    pytest.importorskip("distributed", reason="clusters need longhaul[dask]")
    path = scenario(tmp_path, duration=LONG, rate="1Gbit")
    options = Options(axes={"links.wan.delay": "1ms"}, repeat=1)
    prepared = prepare(path, settings={}, options=options)
    folder = sweeps.begin(prepared, runs=tmp_path / "runs", argv=[])
    # A worker in this process starts at once.
    local = Place("local", options={"n_workers": 1, "processes": False})
    with Cluster(local, memory_bytes=20_000_000) as workers:
        swept = sweeps.execute(folder, prepared, workers, report=False)
    assert swept.exit_code == 1
    assert swept.summary["status"] == "incomplete"
    assert "its limit is 20 MB" in json.loads((folder.path / "sweep.json").read_text())["reason"]
    (shard,) = prepared.shards(0, None, size=1)
    assert run_limited_shard(prepared.job, shard, 2_000_000_000) == run_shard(prepared.job, shard)


def test_jobs_of_an_array_have_the_memory_limit_of_the_sweep(tmp_path: Path) -> None:
    option = re.compile(r"'?--memory'? '?(\w+)'?")
    for path, _start in write_scripts(tmp_path, jobs=3, memory_bytes=2_000_000_000):
        (limit,) = option.findall(path.read_text())
        assert Size.parse(limit).bytes == 2_000_000_000, path.name
    for path, _start in write_scripts(tmp_path, jobs=3):
        assert not option.findall(path.read_text())


def test_the_default_limit_is_half_of_what_is_free(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "available_bytes", lambda: 1000)
    assert MemoryLimit().limit_bytes == 500


@pytest.mark.skipif(why_not_live() is not None, reason=str(why_not_live()))
def test_a_live_run_that_reaches_its_limit_has_failed_and_keeps_its_results(tmp_path: Path) -> None:
    path = scenario(tmp_path, duration="30s")
    late = "  late: {kind: ping, from: a, to: b, start: 25s, simulated: true}\n"
    path.write_text(f"{path.read_text()}{late}expect: [{{metric: probes.late.b.rtt.max, max: 1s}}]\n")
    prepared = live.prepare(resolve(load_scenario(path)), runs=tmp_path / "runs", argv=[])
    finished = live.run(prepared, progress=ignore, memory_bytes=40_000_000)
    assert finished.reason == "failed"
    summary = conclude(finished.directory, reason=finished.reason, report=False)
    assert summary["outcome"]["state"] == summary["ended"] == "failed"
    assert summary["outcome"]["reason"].startswith("the run ended early: it used ")
    assert "its limit is 40 MB" in summary["outcome"]["reason"]
    assert [each["state"] for each in summary["expectations"]] == ["failed"], "not excused as not measured"
    assert 0 < summary["duration_ns"] < 20 * 10**9


@pytest.mark.skipif(why_not_live() is not None, reason=str(why_not_live()))
def test_programs_of_hosts_do_not_count_in_a_live_run(tmp_path: Path) -> None:
    code = "kept = bytearray(b'1') * 300_000_000; import time; time.sleep(1); print(len(kept))"
    path = tmp_path / "program.yaml"
    line = json.dumps(f"{sys.executable} -c {shlex.quote(code)}")
    path.write_text(
        "version: 1\nname: program\nnodes: {a: {kind: host}, b: {kind: host}}\n"
        "links: {a-b: {endpoints: [a, b], delay: 1ms}}\n"
        f"programs:\n  large: {{run: {line}, host: a}}\n"
    )
    prepared = live.prepare(resolve(load_scenario(path)), runs=tmp_path / "runs", argv=[])
    finished = live.run(prepared, progress=ignore, memory_bytes=200_000_000)
    assert finished.reason == "programs"
    assert (finished.directory / "logs/large.out").read_text() == "300000000\n"


@pytest.mark.skipif(why_not_live() is not None, reason=str(why_not_live()))
def test_a_network_that_is_up_ends_at_its_memory_limit(tmp_path: Path) -> None:
    path = scenario(tmp_path, duration="30s")
    name = f"memory-{os.getpid()}"
    runs = tmp_path / "runs"
    options = ["--name", name, "--runs", str(runs), "--memory", "400MB"]
    result = CliRunner().invoke(command, ["up", str(path), *options])
    assert result.exit_code == 0, result.output
    assert "more than the 400 MB that a run may use" in result.stderr
    (directory,) = (runs / "full").glob("*-mixed-*")
    until_s = time.monotonic() + 30
    while ending.settle(directory).is_running and time.monotonic() < until_s:
        time.sleep(0.05)
    ended = read_run(directory)
    assert ended["status"] == "failed"
    assert ended["reason"].startswith("the run ended early: it used ")
    assert not sockets.is_alive(sockets.socket_path(name))
    assert CliRunner().invoke(command, ["report", str(directory)]).exit_code == 0
    outcome = json.loads((directory / "summary.json").read_text())["outcome"]
    assert outcome["state"] == "failed"
    assert "its limit is 400 MB" in outcome["reason"]


def test_simulated_transfers_that_reach_the_limit_have_failed_and_keep_their_results(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    grown = count(step=2_000_000)
    monkeypatch.setattr(memory, "resident_bytes", lambda: next(grown))
    requests = tmp_path / "requests.yaml"
    requests.write_text(SMALL)
    arguments = [str(requests), "--scenario", TWO_SITES, "--policy", "serial-fcfs", "--sim"]
    code, summary = carried(tmp_path, *arguments, "--memory", "5MB")
    assert code == 1
    assert summary["ended"] == "failed"
    assert "it used 6 MB of memory; its limit is 5 MB" in summary["outcome"]["reason"]
    assert summary["planned_transfers"]["requests"][0]["state"] != "done"


def test_a_run_of_the_library_warns_of_its_memory_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(memory, "available_bytes", lambda: 300_000_000)
    path = scenario(tmp_path, duration="200ms")
    run_sim(path, runs=tmp_path / "runs", report=False)
    assert caplog.text.count("its links can hold 250 MB") == 1


GROUP_2 = {
    "memory.max": "1000000000",
    "memory.current": "900000000",
    "memory.stat": "anon 100000000\nfile 750000000\ninactive_file 500000000\nactive_file 200000000\n"
    "slab_reclaimable 50000000\n",
}
GROUP_1 = {
    "memory.limit_in_bytes": "1000000000",
    "memory.usage_in_bytes": "900000000",
    "memory.stat": "cache 1\ninactive_file 1\ntotal_inactive_file 500000000\ntotal_active_file 250000000\n",
}


@pytest.mark.parametrize("files", [GROUP_1, GROUP_2], ids=["version 1", "version 2"])
def test_page_cache_of_a_control_group_is_available(tmp_path: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (tmp_path / name).write_text(f"{text}\n")
    assert available_in_group(tmp_path) == 10**9 - 900_000_000 + 750_000_000


def test_a_control_group_without_a_limit_leaves_everything(tmp_path: Path) -> None:
    assert available_in_group(tmp_path) is None
    for name, text in {**GROUP_2, "memory.max": "max"}.items():
        (tmp_path / name).write_text(f"{text}\n")
    assert available_in_group(tmp_path) is None


def test_a_size_without_a_unit_is_refused(tmp_path: Path) -> None:
    result = CliRunner().invoke(command, ["sim", str(scenario(tmp_path)), "--memory", "4"])
    assert result.exit_code == 2
    assert '"4" has no unit' in result.output
